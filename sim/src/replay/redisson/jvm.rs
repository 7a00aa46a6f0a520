//! The JVM in which real Redisson runs, and the lines by which it is driven (tools/redisson/README.md).

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::gate::{ClientGate, CountedConnections};
use super::jvm_clock::{JvmClock, JvmPage};
use super::quiet::WatchedThreads;
use crate::replay::error::ReplayError;
use crate::replay::servers::{LockfileDir, OwnProcess};
use crate::stop;

/// How long anything of a JVM is waited for. A start takes a second.
const JVM_WAIT: Duration = Duration::from_secs(60);
/// After so long it is looked whether somebody has stopped it.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// How long after its pipes were closed its end is waited for.
const END_WAIT: Duration = Duration::from_secs(1);
/// The number of the driver's commands that are sent here, as in tools/redisson/src/main/java/lockstep/Driver.java.
const COMMANDS: &str = "13";
/// How it says that it has ended a call which had no end.
const ENDLESS: [&str; 2] = ["clear endless", "interrupted endless"];
/// No answer of the driver is longer, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// So many lines of those that a JVM writes before it is ready are kept.
const LINES_BEFORE: usize = 10;
/// The monotonic clock has nanoseconds.
pub const NS_OF_MS: i64 = 1_000_000;

/// The driver of a version of Redisson, as tools/redisson/install has built it.
#[derive(Clone, Debug)]
pub struct RedissonDriver {
    /// Its version: `4.7.0`.
    pub version: String,
    /// The program that runs it.
    pub java: PathBuf,
    /// The folder with its jars, and the archive of their classes.
    pub folder: PathBuf,
}

/// The driver itself, in its folder.
const DRIVER_JAR: &str = "driver.jar";

impl RedissonDriver {
    /// Whether a folder has a driver.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(DRIVER_JAR).is_file()
    }

    /// Where its JVM finds classes: the archive knows them in this order.
    pub fn class_path(&self) -> String {
        [DRIVER_JAR, "jars/*"].map(|part| self.folder.join(part).to_string_lossy().into_owned()).join(":")
    }

    /// What `install` has archived of its classes, if it could.
    fn archive(&self) -> Option<PathBuf> {
        Some(self.folder.join("classes.jsa")).filter(|archive| archive.is_file())
    }
}

/// A JVM whose time stands still.
#[derive(Debug)]
pub struct Jvm {
    /// Ends with this value.
    process: OwnProcess,
    clock: JvmClock,
    input: ChildStdin,
    output: ChildStdout,
    unread: Vec<u8>,
    /// What it wrote before it was ready, which no driver writes.
    said_before: Vec<String>,
    /// Ends of calls that nobody has asked for yet.
    ended: Vec<(u64, String)>,
    number: u64,
    threads: WatchedThreads,
    /// What had reached it when it could last do nothing more by itself.
    quiet_after: Option<JvmInput>,
    folder: LockfileDir,
}

/// All that can wake a JVM that is quiet.
#[derive(Debug, PartialEq, Eq)]
struct JvmInput {
    commands: u64,
    moves_of_time: u32,
    connections: CountedConnections,
}

impl Jvm {
    /// Starts the driver at this wall clock.
    ///
    /// # Errors
    /// `JvmFailed` with what it wrote; `OtherDriver`; `NeedsLinux`; `System`.
    pub fn start(driver: &RedissonDriver, start_ms: i64) -> Result<Self, ReplayError> {
        let folder = LockfileDir::new().map_err(ReplayError::system("create a folder"))?;
        let clock = JvmClock::create(folder.path(), start_ms)?;
        let console = File::create(console(folder.path())).map_err(ReplayError::system("create a log file"))?;
        let mut command = Command::new(&driver.java);
        let never = |what| format!("-XX:{what}Interval=0");
        command
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData"])
            // Each thread costs time whenever it is looked whether all of them sleep.
            .args(["-XX:CICompilerCount=1", "-XX:+DisableAttachMechanism"])
            // A signal ends it at once. What it would do at its end waits for times that stand still.
            .arg("-Xrs")
            // Otherwise threads of the JVM's own wake up four times a second, and in most seconds nothing else happens.
            .args(["-XX:+UnlockDiagnosticVMOptions", "-XX:+IgnoreUnrecognizedVMOptions"])
            .args(["GuaranteedSafepoint", "AsyncDeflation", "GuaranteedAsyncDeflation"].map(never))
            .arg(format!("-XX:ErrorFile={}", folder.path().join("hs_err.log").display()))
            .args(["--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED"])
            // The archive of its classes takes half of the time that it needs to be there. Without one the JDK's own is used.
            .args(driver.archive().map(|archive| format!("-XX:SharedArchiveFile={}", archive.display())))
            // By itself a JVM notes on standard output, beside the answers, that an archive is of another JDK.
            .args(["-Xlog:disable", "-Xlog:all=warning:stderr"])
            .args(["-Dio.netty.leakDetection.level=disabled", "-cp", &driver.class_path(), "lockstep.Driver"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(console);
        clock.apply_to(&mut command);
        let mut process = OwnProcess::start(command)?;
        let (input, output) = process.take_pipes().ok_or_else(|| ReplayError::link("a JVM without pipes"))?;
        let set = fcntl_getfl(&output).and_then(|flags| fcntl_setfl(&output, flags | OFlags::NONBLOCK));
        set.map_err(|errno| ReplayError::system("set up the pipe of a JVM")(errno.into()))?;
        let threads = WatchedThreads::of(process.id());
        let (unread, ended) = (Vec::new(), Vec::new());
        let said_before = Vec::new();
        let mut jvm = Self {
            process,
            clock,
            input,
            output,
            unread,
            said_before,
            ended,
            number: 0,
            threads,
            quiet_after: None,
            folder,
        };
        let ready = jvm.wait_for("it to be ready", &mut [], Self::take_ready)?;
        jvm.said_before.clear();
        let words: Vec<_> = ready.split(' ').collect();
        if words.get(1) == Some(&COMMANDS) && words.get(3) != Some(&driver.version.as_str()) {
            let said = words.get(3).unwrap_or(&"another version");
            let place = driver.folder.display();
            return Err(jvm
                .failed(&format!("its driver in {place} says that it is of Redisson {said}, not {}", driver.version)));
        }
        if words.get(1) != Some(&COMMANDS) {
            return Err(ReplayError::OtherDriver { folder: driver.folder.clone(), version: driver.version.clone() });
        }
        Ok(jvm)
    }

    /// The same before a history begins. A client whose first connection breaks tries again after a while: where the JVM can do
    /// nothing more by itself, its time goes on to what comes next.
    ///
    /// # Errors
    /// As `command`.
    pub fn command_over_time(&mut self, words: &str, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        self.obey_over_time(words, gates, ClientGate::agrees_with)
    }

    /// Writes a command to its standard input. Returns its number.
    fn send(&mut self, words: &str) -> Result<u64, ReplayError> {
        self.number += 1;
        let line = format!("{} {words}\n", self.number);
        let written = self.input.write_all(line.as_bytes());
        written.map_err(|error| self.failed_at_its_end(&format!("it does not read: {error}")))?;
        Ok(self.number)
    }

    /// Sends a command, and moves the time whenever the JVM can do nothing more by itself and is silent.
    fn obey_over_time(
        &mut self,
        words: &str,
        gates: &mut [&mut ClientGate],
        is_silent: impl Fn(&[&ClientGate], &JvmPage) -> bool,
    ) -> Result<(), ReplayError> {
        let number = self.send(words)?;
        let begin = Instant::now();
        loop {
            take_arrived(gates)?;
            if let Some(answer) = self.take_answer(number)? {
                return if answer.starts_with("ok ") {
                    Ok(())
                } else {
                    Err(self.failed(&format!("{words}: {answer}")))
                };
            }
            self.check_among(gates, begin, &format!("it to obey `{words}`"))?;
            thread::sleep(Duration::from_micros(200));
            let page = self.clock.page();
            let gates = shared(gates);
            if is_silent(&gates, page) && self.threads.are_quiet(page, || is_silent(&gates, page)) {
                self.clock.move_to(page.next_due_ns());
            }
        }
    }

    /// Sends a command, and waits until it was obeyed. The gates pass what they may meanwhile. Returns its number.
    ///
    /// # Errors
    /// `JvmFailed` if it was not obeyed, or the JVM has ended.
    pub fn command(&mut self, words: &str, gates: &mut [&mut ClientGate]) -> Result<u64, ReplayError> {
        self.ask(words, gates).map(|(number, _)| number)
    }

    /// Sends a command. Returns its number, and what was answered.
    fn ask(&mut self, words: &str, gates: &mut [&mut ClientGate]) -> Result<(u64, String), ReplayError> {
        let number = self.send(words)?;
        let awaited = format!("it to obey `{words}`");
        let answer = self.wait_for(&awaited, gates, |jvm| jvm.take_answer(number))?;
        match answer.strip_prefix("ok ") {
            Some(told) => Ok((number, told.to_owned())),
            None => Err(self.failed(&format!("{words}: {answer}"))),
        }
    }

    /// When something in a JVM that is quiet is to happen by itself. The wheels of timers turn every tenth of a second; only those rounds
    /// count in which a timer fires.
    fn next_due_ns(&mut self, gates: &mut [&mut ClientGate]) -> Result<i64, ReplayError> {
        let page = self.clock.page();
        let (of_threads, beside_wheels) = (page.next_due_ns(), page.next_due_beside_wheels_ns());
        // The thread that answers sets no timer, and waits for no time.
        let (_, timers) = self.ask("timers", gates)?;
        let of_timers = match timers.parse::<i64>() {
            // A wheel sleeps whole milliseconds, and may be late by one.
            Ok(due_ns) if due_ns <= self.clock.now_ns() => of_threads,
            Ok(due_ns) => due_ns,
            Err(_) if timers == "none" => i64::MAX,
            // Some are not on the wheel yet.
            Err(_) => of_threads,
        };
        Ok(of_timers.min(beside_wheels))
    }

    /// Shuts a client down, which waits for times: so time passes until it is done.
    ///
    /// # Errors
    /// As `command`.
    pub fn close(&mut self, client: &str, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        self.obey_over_time(&format!("close {client}"), gates, |_, _| true)
    }

    /// Waits until a call has ended. What it waits for is to come by itself: a server's reply through an open gate.
    ///
    /// # Errors
    /// `JvmFailed` if it does not end.
    pub fn wait_for_end(&mut self, number: u64, gates: &mut [&mut ClientGate]) -> Result<String, ReplayError> {
        self.wait_for("a call to end", gates, |jvm| {
            jvm.take_ends()?;
            Ok(jvm.end_of(number))
        })
    }

    /// How a call has ended; `None`: it has not.
    pub fn end_of(&mut self, number: u64) -> Option<String> {
        let at = self.ended.iter().position(|(ended, _)| *ended == number)?;
        Some(self.ended.remove(at).1)
    }

    /// Waits until the JVM can do nothing more by itself, and everything that it has sent is held at a gate.
    ///
    /// # Errors
    /// `JvmFailed` if that does not come.
    pub fn wait_until_quiet(&mut self, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            let is_silent = self.is_silent(gates)?;
            let came = self.input_so_far(gates);
            // It was quiet, and nothing has come since.
            if is_silent && self.quiet_after.as_ref() == Some(&came) {
                return self.take_ends();
            }
            let mut error = None;
            let page = self.clock.page();
            let quiet = is_silent
                && self.threads.are_quiet(page, || {
                    is_silent_at(gates, page).unwrap_or_else(|failed| {
                        error = Some(failed);
                        false
                    })
                });
            if let Some(error) = error {
                return Err(error);
            }
            if quiet {
                self.quiet_after = Some(came);
                return self.take_ends();
            }
            if begin.elapsed() > JVM_WAIT {
                return Err(self.failed(&format!(
                    "waited {} s for it to be quiet: {}",
                    JVM_WAIT.as_secs(),
                    self.unrest(gates)
                )));
            }
            self.check(begin, "it to be quiet")?;
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }

    /// Whether nothing is on its way between it and its gates.
    fn is_silent(&self, gates: &mut [&mut ClientGate]) -> Result<bool, ReplayError> {
        is_silent_at(gates, self.clock.page())
    }

    fn input_so_far(&self, gates: &[&mut ClientGate]) -> JvmInput {
        JvmInput {
            commands: self.number,
            moves_of_time: self.clock.page().moves.load(Ordering::SeqCst),
            connections: ClientGate::counted(&shared(gates)),
        }
    }

    /// The monotonic clock, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        self.clock.now_ns()
    }

    /// Whether a call has ended.
    pub fn has_ended(&self, number: u64) -> bool {
        self.ended.iter().any(|(ended, _)| *ended == number)
    }

    /// Lets time pass. It stops at every moment that some thread waits for, until that thread and all it leads to are done.
    ///
    /// # Errors
    /// As `wait_until_quiet`.
    pub fn pass_ms(&mut self, ms: i64, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        let until_ns = self.clock.now_ns() + ms * NS_OF_MS;
        self.pass_until(until_ns, gates, |_, _| false).map(|_| ())
    }

    /// The same until the monotonic clock shows `until_ns`, or until `is_done`, which is asked whenever the JVM can do nothing
    /// more by itself. Returns whether it is done.
    ///
    /// # Errors
    /// As `wait_until_quiet`.
    pub fn pass_until(
        &mut self,
        until_ns: i64,
        gates: &mut [&mut ClientGate],
        mut is_done: impl FnMut(&mut Self, &[&mut ClientGate]) -> bool,
    ) -> Result<bool, ReplayError> {
        loop {
            self.wait_until_quiet(gates)?;
            if is_done(self, gates) {
                return Ok(true);
            }
            if self.clock.now_ns() >= until_ns {
                return Ok(false);
            }
            let before = ClientGate::counted(&shared(gates));
            let due_ns = self.next_due_ns(gates)?;
            // Where something has come meanwhile, it is done first.
            if ClientGate::counted(&shared(gates)) == before {
                self.clock.move_to(due_ns.min(until_ns));
            }
        }
    }

    /// Moves the clocks at once, as they move for a process that stood still, and waits until all that leads to is done.
    ///
    /// # Errors
    /// As `wait_until_quiet`.
    pub fn jump_to(&mut self, to_ns: i64, gates: &mut [&mut ClientGate]) -> Result<(), ReplayError> {
        if to_ns > self.clock.now_ns() {
            self.clock.move_to(to_ns);
        }
        self.wait_until_quiet(gates)
    }

    /// The wall clock shows this time, whatever has passed before.
    pub fn set_wall_clock(&mut self, ms: i64) {
        self.clock.page().wall_ms.store(ms, Ordering::SeqCst);
    }

    /// The wall clock jumps; the monotonic one does not.
    pub fn jump_wall_clock(&mut self, ms: i64) {
        self.clock.page().wall_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Repeats `attempt` until it gives something.
    fn wait_for<T>(
        &mut self,
        awaited: &str,
        gates: &mut [&mut ClientGate],
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>, ReplayError>,
    ) -> Result<T, ReplayError> {
        let begin = Instant::now();
        loop {
            take_arrived(gates)?;
            if let Some(done) = attempt(self)? {
                return Ok(done);
            }
            self.check_among(gates, begin, awaited)?;
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// The line by which the driver says that it is there. A JVM that cannot start says why before it ends.
    fn take_ready(&mut self) -> Result<Option<String>, ReplayError> {
        while let Some(line) = self.next_line()? {
            if line.starts_with("ready ") {
                return Ok(Some(line));
            }
            if self.said_before.len() < LINES_BEFORE {
                self.said_before.push(line);
            }
        }
        Ok(None)
    }

    fn take_answer(&mut self, number: u64) -> Result<Option<String>, ReplayError> {
        while let Some(line) = self.next_line()? {
            if let Some(answer) = line.strip_prefix(&format!("answer {number} ")) {
                return Ok(Some(answer.to_owned()));
            }
            self.keep_end(&line)?;
        }
        Ok(None)
    }

    fn take_ends(&mut self) -> Result<(), ReplayError> {
        while let Some(line) = self.next_line()? {
            self.keep_end(&line)?;
        }
        Ok(())
    }

    fn keep_end(&mut self, line: &str) -> Result<(), ReplayError> {
        let end = line.strip_prefix("ended ").and_then(|end| end.split_once(' '));
        if end.is_some_and(|(_, how)| ENDLESS.contains(&how)) {
            return Err(ReplayError::EndlessCall);
        }
        let end = end.and_then(|(number, how)| Some((number.parse().ok()?, how.to_owned())));
        self.ended.push(end.ok_or_else(|| self.failed(&format!("it wrote {line:?}")))?);
        Ok(())
    }

    fn next_line(&mut self) -> Result<Option<String>, ReplayError> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            match self.output.read(&mut buffer) {
                Ok(0) => return Err(self.failed_at_its_end("it has closed its output")),
                Ok(_) if self.unread.len() > LONGEST_LINE => return Err(self.failed("it wrote a line without an end")),
                Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(ReplayError::system("read what a JVM wrote")(error)),
            }
        }
    }

    /// As `check`, and says what the JVM does meanwhile.
    fn check_among(&self, gates: &[&mut ClientGate], begin: Instant, awaited: &str) -> Result<(), ReplayError> {
        if begin.elapsed() > JVM_WAIT {
            let waited = format!("waited {} s for {awaited}: {}", JVM_WAIT.as_secs(), self.unrest(gates));
            return Err(self.failed(&waited));
        }
        self.check(begin, awaited)
    }

    fn check(&self, begin: Instant, awaited: &str) -> Result<(), ReplayError> {
        if stop::is_asked() {
            return Err(ReplayError::Stopped);
        }
        if !self.is_running() {
            return Err(self.failed("it has ended"));
        }
        if begin.elapsed() > STOP_WAIT && self.process.is_stopped() {
            return Err(self.failed("it stands still"));
        }
        if begin.elapsed() > JVM_WAIT {
            return Err(self.failed(&format!("waited {} s for {awaited}", JVM_WAIT.as_secs())));
        }
        Ok(())
    }

    /// The id of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Whether its process lives.
    pub fn is_running(&self) -> bool {
        self.process.is_running()
    }

    /// What keeps it from being quiet, in words.
    fn unrest(&self, gates: &[&mut ClientGate]) -> String {
        let page = self.clock.page();
        let gates = shared(gates);
        let timer = match page.next_due_ns() {
            i64::MAX => "none".to_owned(),
            due_ns => format!("in {} ms", due_ns.saturating_sub(self.now_ns()) / NS_OF_MS),
        };
        let awake = self.threads.awake(page).join(", ");
        format!(
            "threads that sleep by the machine's clock: {}; its next timer: {timer}; threads that run: {}; its connections: {}",
            page.sleepers.load(Ordering::SeqCst),
            if awake.is_empty() { "none" } else { &awake },
            ClientGate::disagreement(&gates, page).as_deref().unwrap_or("as the gates have them")
        )
    }

    /// It has closed a pipe: its end can be read a moment later.
    fn failed_at_its_end(&self, otherwise: &str) -> ReplayError {
        let begin = Instant::now();
        while self.is_running() && begin.elapsed() < END_WAIT {
            thread::sleep(Duration::from_millis(1));
        }
        self.failed(otherwise)
    }

    fn failed(&self, reason: &str) -> ReplayError {
        let written = std::fs::read_to_string(console(self.folder.path())).unwrap_or_default();
        // What each JVM says at its start explains nothing.
        let is_usual = |line: &&str| {
            ["SLF4J", "Async deflation is disabled", "[cds"].into_iter().any(|usual| line.contains(usual))
        };
        // What keeps a JVM from starting it writes to its output, where the driver's lines would come.
        let output = String::from_utf8_lossy(&self.unread);
        let said = self.said_before.iter().map(String::as_str).chain(output.lines());
        let lines: Vec<_> = said.chain(written.lines()).filter(|line| !is_usual(line)).collect();
        let reason = match self.process.unasked_end() {
            Some(status) => format!("it has ended ({status})"),
            None if self.process.is_stopped() => {
                format!("its process {} was stopped by a signal, and nothing here has stopped it", self.process_id())
            }
            None => reason.to_owned(),
        };
        ReplayError::JvmFailed { reason, log_tail: lines[lines.len().saturating_sub(5)..].join("\n") }
    }
}

fn is_silent_at(gates: &mut [&mut ClientGate], page: &JvmPage) -> Result<bool, ReplayError> {
    Ok(!take_arrived(gates)? && ClientGate::agrees_with(&shared(gates), page))
}

fn shared<'a>(gates: &'a [&mut ClientGate]) -> Vec<&'a ClientGate> {
    gates.iter().map(|gate| &**gate).collect()
}

fn take_arrived(gates: &mut [&mut ClientGate]) -> Result<bool, ReplayError> {
    let mut has_moved = false;
    for gate in gates {
        has_moved |= gate.take_arrived()?;
    }
    Ok(has_moved)
}

fn console(folder: &Path) -> PathBuf {
    folder.join("console")
}
