//! Server processes of our own: they end when we end, and what they write before they end is shown in errors.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use redis::Value;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, getppid, getrlimit, kill_process,
    kill_process_group, prlimit, waitid,
};

use super::clock;
use super::connection::ServerConnection;
use super::control::Control;
use super::limits::{ANSWER_WAIT, DISK_WAIT, END_WAIT, MOST_CONSOLE, MOST_FILE, START_WAIT};
use crate::replay::error::ReplayError;
use crate::stop;

/// The files in a process's folder that its messages go to: the server's log, and the console for what the loader and the
/// server write before the log is open.
#[derive(Debug)]
pub struct ServerLog {
    /// The process's folder.
    pub folder: PathBuf,
}

impl ServerLog {
    const LINES: usize = 12;
    const COLUMNS: usize = 400;

    /// The server's own log.
    pub fn file(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Sends what the process writes to stdout and stderr to the console file, and takes stdin away.
    ///
    /// # Errors
    /// `System` if the file cannot be created.
    pub fn redirect(&self, command: &mut Command) -> Result<(), ReplayError> {
        let console = File::create(self.console()).map_err(ReplayError::system("create a log file"))?;
        let second = console.try_clone().map_err(ReplayError::system("share a log file"))?;
        command.stdin(Stdio::null()).stdout(console).stderr(second);
        Ok(())
    }

    /// The last lines of both files.
    pub fn tail(&self) -> String {
        let all = end_of(&self.console()) + &end_of(&self.file());
        let lines: Vec<_> = all.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return "it wrote no log".to_owned();
        }
        let tail = &lines[lines.len().saturating_sub(Self::LINES)..];
        let shortened = |line: &&str| format!("  {}", line.chars().take(Self::COLUMNS).collect::<String>());
        tail.iter().map(shortened).collect::<Vec<_>>().join("\n")
    }

    /// How many bytes the console has.
    pub fn console_size(&self) -> u64 {
        fs::metadata(self.console()).map_or(0, |file| file.len())
    }

    fn console(&self) -> PathBuf {
        self.folder.join("console")
    }
}

/// The end of a file, which may be of any size.
fn end_of(path: &Path) -> String {
    const MOST: u64 = 16 << 10;
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A process of our own with everything that it starts, as one process group. Dropping it kills them all.
#[derive(Debug)]
pub struct OwnProcess {
    child: Child,
    program: PathBuf,
    /// Its id may belong to somebody else once its end was read.
    has_ended: bool,
}

/// The process groups that run, for [`kill_all`].
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

impl OwnProcess {
    /// Starts the process. The kernel kills it when this process ends, and Ctrl-C does not reach it.
    ///
    /// # Errors
    /// `System` if it does not start.
    pub fn start(mut command: Command) -> Result<Self, ReplayError> {
        // A terminal sends Ctrl-C to a whole process group: only this process shall receive it.
        command.process_group(0);
        let ends_with_us = command.get_envs().any(|(name, _)| name == clock::PARENT);
        if !ends_with_us {
            end_with_us(&mut command);
        }
        let program = PathBuf::from(command.get_program());
        let child = launch(command)?;
        limit_files(child.id());
        running().insert(child.id());
        Ok(Self { child, program, has_ended: false })
    }

    /// The process id, which is also that of its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipes to its standard input and from its standard output, if it was started with them; once.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Whether the process lives. Others of its group may live longer.
    pub fn is_running(&self) -> bool {
        !self.has_ended && self.ended().is_ok_and(|ended| !ended)
    }

    /// How the process has ended, if nothing here has ended it: `signal: 9 (SIGKILL)`, `exit status: 1`.
    pub fn unasked_end(&self) -> Option<ExitStatus> {
        if self.has_ended {
            return None;
        }
        let status = self.look_for_end().ok()??;
        // As wait() would say it: a code is in the second byte.
        let raw = status.terminating_signal().or_else(|| status.exit_status().map(|code| code << 8))?;
        Some(ExitStatus::from_raw(raw))
    }

    /// Whether the process stands still by a signal, whoever has sent it.
    pub fn is_stopped(&self) -> bool {
        // The name, in brackets, may contain anything.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T'))
    }

    /// Makes the process stand still (SIGSTOP), and waits until it does.
    ///
    /// # Errors
    /// `System` if the kernel refuses; `TimedOut` if it runs on.
    pub fn pause(&self) -> Result<(), ReplayError> {
        send_to_group(self.id(), Signal::STOP);
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let begin = Instant::now();
        loop {
            let stopped = waitid(WaitId::Pid(Pid::from_child(&self.child)), look);
            if stopped.map_err(|errno| ReplayError::system("stop a server process")(errno.into()))?.is_some() {
                return Ok(());
            }
            if begin.elapsed() > END_WAIT {
                let awaited = format!("process {} to stop after SIGSTOP", self.id());
                return Err(ReplayError::TimedOut { awaited, waited: begin.elapsed() });
            }
            thread::sleep(Duration::from_micros(50));
        }
    }

    /// Lets the process go on (SIGCONT).
    pub fn resume(&self) {
        send_to_group(self.id(), Signal::CONT);
    }

    /// Kills the whole group (SIGKILL) and waits for the end of the process. Does nothing if that was done.
    ///
    /// # Errors
    /// `System` if the kernel refuses; `TimedOut` if the process does not end.
    pub fn kill(&mut self) -> Result<(), ReplayError> {
        if self.has_ended {
            return Ok(());
        }
        kill_group(self.id());
        self.wait(END_WAIT, || ()).map(drop)
    }

    /// Tells the process to end (SIGTERM), in its own way.
    ///
    /// # Errors
    /// `System` if the kernel refuses.
    pub fn tell_to_end(&self) -> Result<(), ReplayError> {
        if self.has_ended {
            return Ok(());
        }
        let told = kill_process(Pid::from_child(&self.child), Signal::TERM);
        told.map_err(|errno| ReplayError::system("tell a server to end")(errno.into()))
    }

    /// Waits for the end of a process that was told to end: it syncs its disk first. `meanwhile` is called again and again
    /// until then.
    ///
    /// # Errors
    /// As `kill`.
    pub fn wait_for_end(&mut self, meanwhile: impl FnMut()) -> Result<(), ReplayError> {
        if self.has_ended { Ok(()) } else { self.wait(DISK_WAIT, meanwhile).map(drop) }
    }

    /// Waits for the first connection that answers, and checks that this very process answers there: a shell script that
    /// runs the server as its child would be killed in the server's place.
    ///
    /// # Errors
    /// `WouldNotStart`, with the last lines of the log; `NotItself`; `Stopped`.
    pub fn wait_for_answer(&mut self, server: &str, socket: &Path, log: &ServerLog) -> Result<Control, ReplayError> {
        let who = self.described(server);
        let would_not_start =
            |reason: String| ReplayError::WouldNotStart { server: server.to_owned(), reason, log_tail: log.tail() };
        let begin = Instant::now();
        loop {
            let left = START_WAIT.saturating_sub(begin.elapsed());
            let answer = ServerConnection::open_within(socket, Arc::clone(&who), left).and_then(|mut connection| {
                let _: Value = redis::cmd("PING").query(&mut connection)?;
                Ok(connection)
            });
            let error = match answer {
                Ok(mut connection) => {
                    connection.set_patience(ANSWER_WAIT);
                    return self.check_itself(Control::new(connection));
                }
                Err(error) => error,
            };
            if stop::is_asked() {
                return Err(ReplayError::Stopped);
            }
            if self.ended()? {
                let status = self.wait(END_WAIT, || ())?;
                return Err(would_not_start(format!("it ended with {status}")));
            }
            if log.console_size() > MOST_CONSOLE {
                return Err(would_not_start(format!("it wrote more than {MOST_CONSOLE} bytes before it answered")));
            }
            if begin.elapsed() > START_WAIT {
                return Err(would_not_start(format!("no answer within {} s: {error}", START_WAIT.as_secs())));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The server that this process runs, as errors name it.
    pub fn described(&self, server: &str) -> Arc<str> {
        format!("{server} (process {})", self.id()).into()
    }

    fn check_itself(&self, mut control: Control) -> Result<Control, ReplayError> {
        let says = control.info("server")?.remove("process_id").unwrap_or_default();
        if says == self.id().to_string() {
            return Ok(control);
        }
        // It may have left the process group that is killed now. Its socket is in our folder: it is our server.
        let _ = control.ask::<Value>("SHUTDOWN", redis::cmd("SHUTDOWN").arg("NOSAVE"));
        Err(ReplayError::NotItself { path: self.program.clone(), started: self.id(), says })
    }

    /// Whether the process has ended. It stays a zombie, so that its id and its group's stay its own.
    fn ended(&self) -> Result<bool, ReplayError> {
        let found = self.look_for_end();
        Ok(found.map_err(|errno| ReplayError::system("check on a server process")(errno.into()))?.is_some())
    }

    /// How it has ended, if it has. It stays a zombie.
    fn look_for_end(&self) -> rustix::io::Result<Option<WaitIdStatus>> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), look)
    }

    /// Waits for its end, after everything in its group was killed, or it was told to end.
    fn wait(&mut self, patience: Duration, mut meanwhile: impl FnMut()) -> Result<ExitStatus, ReplayError> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !self.ended()? {
            if begin.elapsed() > patience {
                let awaited = format!("process {} to end after a signal", self.id());
                return Err(ReplayError::TimedOut { awaited, waited: begin.elapsed() });
            }
            meanwhile();
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        // While the zombie has the id: others of the group may have outlived it.
        kill_group(self.id());
        running().remove(&self.id());
        self.has_ended = true;
        self.child.wait().map_err(ReplayError::system("await the end of a server"))
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        // There is nobody to report an error to, and the kernel ends the process with ours anyway.
        let _ = self.kill();
    }
}

/// Kills every process that this one has started and not ended: for an end without clean-up.
pub fn kill_all() {
    running().iter().copied().for_each(kill_group);
}

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill_group(id: u32) {
    send_to_group(id, Signal::KILL);
}

fn send_to_group(id: u32, what: Signal) {
    let group = i32::try_from(id).ok().and_then(Pid::from_raw);
    // An error says that nobody is left in it.
    let _ = group.map(|group| kill_process_group(group, what));
}

/// Limits the size of the files that this process writes. An error means that the process has ended.
fn limit_files(id: u32) {
    let given = getrlimit(Resource::Fsize);
    let most = given.maximum.map_or(MOST_FILE, |most| most.min(MOST_FILE));
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    let process = i32::try_from(id).ok().and_then(Pid::from_raw);
    let _ = process.map(|process| prlimit(Some(process), Resource::Fsize, limit));
}

/// A child without our clock asks the kernel for its end before it becomes the server, which takes a `fork` of this process. One with our
/// clock asks by itself (`sim/clock/lib.rs`).
fn end_with_us(command: &mut Command) {
    let us = getpid();
    let prepare = move || {
        end_with_parent()?;
        // If this process ended before the line above, the kernel sends nothing any more.
        if getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    #[expect(unsafe_code, reason = "what runs between fork and exec must be safe there")]
    // SAFETY: system calls and no allocation: an error kind is a plain value.
    unsafe {
        command.pre_exec(prepare);
    }
}

#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Starts a process from a thread that lives as long as this process: what the kernel calls the death of a parent is the
/// death of the *thread* that forked (prctl(2), `PR_SET_PDEATHSIG`).
fn launch(command: Command) -> Result<Child, ReplayError> {
    type LaunchOrder = (Command, mpsc::Sender<io::Result<Child>>);
    static LAUNCHER: OnceLock<Option<mpsc::Sender<LaunchOrder>>> = OnceLock::new();

    let launcher = LAUNCHER.get_or_init(|| {
        let (orders, incoming) = mpsc::channel::<LaunchOrder>();
        let launch_all = move || {
            for (mut command, answer) in incoming {
                // If the thread that asked is gone, the child must end too.
                if let Err(mpsc::SendError(Ok(mut child))) = answer.send(command.spawn()) {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        };
        thread::Builder::new().name("launcher".to_owned()).spawn(launch_all).ok().map(|_| orders)
    });
    let program = PathBuf::from(command.get_program());
    let (answer, child) = mpsc::channel();
    let sent = launcher.as_ref().and_then(|launcher| launcher.send((command, answer)).ok());
    let child = sent.and_then(|()| child.recv_timeout(START_WAIT).ok());
    let no_thread = || Err(io::Error::other("the thread that starts servers does not answer"));
    let named = |source: io::Error| io::Error::new(source.kind(), format!("{}: {source}", program.display()));
    child.map_or_else(no_thread, |child| child.map_err(named)).map_err(ReplayError::system("start a program"))
}
