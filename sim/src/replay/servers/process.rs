//! Server processes of our own: they end when we end, and what they write before they end is shown in errors.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use redis::Value;

use super::control::{Control, connect};
use super::limits::START_WAIT;
use super::server::ServerProgram;
use crate::replay::error::ReplayError;

/// The files in a process's folder that its messages go to: the server's log, and the console for what the loader and the
/// server write before the log is open.
#[derive(Debug)]
pub struct ServerLog {
    /// The process's folder.
    pub folder: PathBuf,
}

impl ServerLog {
    const LINES: usize = 12;

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
        let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let all = read(self.console()) + &read(self.file());
        let lines: Vec<_> = all.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return "it wrote no log".to_owned();
        }
        let tail = &lines[lines.len().saturating_sub(Self::LINES)..];
        tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    }

    fn console(&self) -> PathBuf {
        self.folder.join("console")
    }
}

/// A child process that is killed when it is dropped, unless it was `keep`t: a server that fails to start leaves no process.
pub struct StartingChild(Option<Child>);

impl StartingChild {
    /// Starts the process. The kernel kills it when this process ends, and Ctrl-C does not reach it.
    ///
    /// # Errors
    /// `System` if it does not start.
    pub fn start(mut command: Command) -> Result<Self, ReplayError> {
        // A terminal sends Ctrl-C to a whole process group: only this process shall receive it.
        command.process_group(0);
        end_with_this_process(&mut command);
        launch(command).map(|child| Self(Some(child)))
    }

    /// Waits for the first connection that answers.
    ///
    /// # Errors
    /// `WouldNotStart`, with the last lines of the log.
    pub fn wait_for_answer(
        &mut self,
        server: &ServerProgram,
        socket: &Path,
        log: &ServerLog,
    ) -> Result<Control, ReplayError> {
        let child = self.0.as_mut().ok_or_else(no_child)?;
        let would_not_start =
            |reason: String| ReplayError::WouldNotStart { server: server.to_string(), reason, log_tail: log.tail() };
        let begin = Instant::now();
        loop {
            let answer = connect(socket).and_then(|mut connection| {
                let _: Value = redis::cmd("PING").query(&mut connection)?;
                Ok(connection)
            });
            let error = match answer {
                Ok(connection) => return Ok(Control::new(connection)),
                Err(error) => error,
            };
            if let Some(status) = child.try_wait().map_err(ReplayError::system("check on a server process"))? {
                return Err(would_not_start(format!("it ended with {status}")));
            }
            if begin.elapsed() > START_WAIT {
                return Err(would_not_start(format!("no answer within {} s: {error}", START_WAIT.as_secs())));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The process, which from now on belongs to the caller.
    ///
    /// # Errors
    /// `Link` if it was taken before: a defect of ours.
    pub fn keep(mut self) -> Result<Child, ReplayError> {
        self.0.take().ok_or_else(no_child)
    }
}

impl Drop for StartingChild {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn no_child() -> ReplayError {
    ReplayError::link("a server process was taken twice")
}

#[cfg(target_os = "linux")]
fn end_with_this_process(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let us = getpid();
    let ask_kernel = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If this process ended before the line above, the kernel sends nothing any more.
        if getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    #[expect(unsafe_code, reason = "what runs between fork and exec must be safe there")]
    // SAFETY: two system calls and no allocation: an error kind is a plain value.
    unsafe {
        command.pre_exec(ask_kernel);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_this_process(_: &mut Command) {}

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
    let (answer, child) = mpsc::channel();
    let sent = launcher.as_ref().and_then(|launcher| launcher.send((command, answer)).ok());
    let child = sent.and_then(|()| child.recv_timeout(START_WAIT).ok());
    let no_thread = || Err(io::Error::other("the thread that starts servers does not answer"));
    child.unwrap_or_else(no_thread).map_err(ReplayError::system("start the server"))
}
