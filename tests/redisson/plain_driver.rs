//! The driver of real Redisson by the machine's clock and without a gate.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::redisson;

/// How long a line is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process of its own; it ends when this is dropped.
pub struct PlainDriver {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Ends of calls that nobody has asked for yet.
    ended: Vec<String>,
    number: u32,
}

impl PlainDriver {
    /// Starts the driver of this version.
    pub fn start(version: &str) -> Self {
        let program = redisson(version);
        let driver = program.driver();
        let mut process = Command::new(&driver.java)
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData"])
            .args(["--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED"])
            .args(["-cp", &driver.class_path(), "lockstep.Driver"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let (say, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        Self { process, input, lines, ended: Vec::new(), number: 0 }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Writes these commands at once. Returns the number of the last.
    pub fn send(&mut self, commands: &[&str]) -> u32 {
        let mut text = String::new();
        for words in commands {
            self.number += 1;
            writeln!(text, "{} {words}", self.number).expect("a String takes everything");
        }
        self.input.as_mut().expect("it is open").write_all(text.as_bytes()).expect("it reads");
        self.number
    }

    /// Waits until the command with this number was obeyed.
    pub fn wait_until_obeyed(&mut self, number: u32) {
        let begin = format!("answer {number} ");
        loop {
            let line = self.next_line();
            if let Some(answer) = line.strip_prefix(&begin) {
                assert!(answer.starts_with("ok "), "{answer}");
                return;
            }
            if line.starts_with("ended ") {
                self.ended.push(line);
            }
        }
    }

    /// Gives a command, and waits until it was obeyed. Returns its number.
    pub fn tell(&mut self, words: &str) -> u32 {
        let number = self.send(&[words]);
        self.wait_until_obeyed(number);
        number
    }

    /// How the call with this number ends: `returned VALUE`, or `threw CLASS…`.
    pub fn end_of(&mut self, number: u32) -> String {
        let begin = format!("ended {number} ");
        loop {
            if let Some(at) = self.ended.iter().position(|line| line.starts_with(&begin)) {
                let line = self.ended.remove(at);
                let (_, how) = line[begin.len()..].split_once(' ').expect("whether it is interrupted");
                return how.to_owned();
            }
            let line = self.next_line();
            self.ended.push(line);
        }
    }

    /// Makes a call (`A 1 lock invoices`), and waits for its end.
    pub fn call(&mut self, words: &str) -> String {
        let number = self.tell(&format!("call {words}"));
        self.end_of(number)
    }

    fn next_line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the driver says something")
    }
}

impl Drop for PlainDriver {
    fn drop(&mut self) {
        // At the end of its input it ends; what keeps it from that is ended too.
        drop(self.input.take());
        let _: std::io::Result<()> = self.process.kill();
        let _: std::io::Result<std::process::ExitStatus> = self.process.wait();
    }
}
