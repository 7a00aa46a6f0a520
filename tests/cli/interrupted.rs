//! Ctrl-C in a search that would take long: what is known by then is printed, and what is not known is said.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::command::{Ran, lockstep};

/// Two clients, a replica and three faults: a first file of many millions of states.
pub const LARGE: &str = "story = \"Two clients.\"\nlock = \"reentrant\"\n[time]\nlease = 3\nrenew_every = 1\n[clients]\n\
                         count = 2\nmax_holds = 2\n[cluster]\nreplicas = 1\n[faults]\ncrash_node = 1\npause_client = 1\n\
                         crash_client = 1\n";

/// How long a process may take to work for as long as it should.
const PATIENCE: Duration = Duration::from_secs(120);

/// Clock ticks of the kernel that a search may work before it is interrupted: half a second.
pub const WORK: u64 = 50;

/// The result of the command on the large scenario, interrupted while it searches.
fn interrupted(arguments: &[&str]) -> Ran {
    interrupted_by(&[Signal::INT], arguments)
}

/// The same by these signals, one directly after the other.
fn interrupted_by(interrupts: &[Signal], arguments: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("large.toml");
    fs::write(&file, LARGE).expect("a file");
    let (command, options) = arguments.split_first().expect("a command");
    let file = file.to_str().expect("a path of letters");
    let mut child = lockstep(&[&[*command, file], options].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let started = Instant::now();
    // Work and not time: on a busy machine a process may not have begun after seconds.
    while worked(&child) < WORK {
        assert!(child.try_wait().expect("our own child").is_none(), "{arguments:?} ended before it was interrupted");
        assert!(started.elapsed() < PATIENCE, "{arguments:?} does not work");
        thread::sleep(Duration::from_millis(5));
    }
    for interrupt in interrupts {
        kill_process(Pid::from_child(&child), *interrupt).expect("our own child");
        // The kernel makes one of two equal signals that come at once.
        thread::sleep(Duration::from_millis(1));
    }
    let ended = child.wait_with_output().expect("it ends");
    let said = |bytes| String::from_utf8(bytes).expect("text");
    Ran {
        code: ended.status.code().expect("it ends by itself"),
        stdout: said(ended.stdout),
        stderr: said(ended.stderr),
    }
}

/// The processor time that the process has used so far, in clock ticks.
pub fn worked(child: &Child) -> u64 {
    let line = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("Linux");
    // Format: pid (name) state …; user time is the twelfth field after the name.
    let mut fields = line.rsplit_once(')').expect("a name").1.split_whitespace();
    fields.nth(11).and_then(|ticks| ticks.parse().ok()).expect("a number")
}

#[test]
fn show_draws_the_counterexample_that_is_known() {
    let ran = interrupted(&["show", "--quiet"]);
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(ran.stdout.contains("VIOLATED, but not declared   one-believer   5 steps"), "{}", ran.stdout);
}

/// `timeout` signals a process, and then the group that it is in.
#[test]
fn two_interrupts_at_once_are_one() {
    let ran = interrupted_by(&[Signal::TERM, Signal::INT], &["show", "--quiet"]);
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(ran.stdout.contains("VIOLATED, but not declared   one-believer   5 steps"), "{}", ran.stdout);
}

#[test]
fn fuzz_says_in_json_that_it_was_interrupted_and_nothing_of_agreement() {
    let ran = interrupted(&["fuzz", "--cases", "1000000", "--format", "json"]);
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    let object: serde_json::Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout));
    assert_eq!(object["agrees"], serde_json::Value::Null, "{object}");
    let stopped = object["scenarios"][0]["stopped"].as_str();
    assert!(stopped.is_none_or(|stopped| stopped.starts_with("interrupted after ")), "{object}");
    assert!(stopped.is_some() || object["scenarios"].as_array().is_some_and(Vec::is_empty), "{object}");
}

#[test]
fn show_says_that_no_counterexample_is_known() {
    let ran = interrupted(&["show", "--property", "only-holder-releases"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (130, ""));
    assert!(ran.stderr.contains("large: interrupted after "), "{}", ran.stderr);
    assert!(ran.stderr.contains(" states: no counterexample to only-holder-releases so far"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
}

#[test]
fn replay_says_why_it_skips_histories() {
    let ran = interrupted(&["replay"]);
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert!(ran.stdout.ends_with(" skipped: interrupted\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("0 agree, 0 diverged"), "{}", ran.stdout);
}
