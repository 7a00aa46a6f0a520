//! Runs the real binary, which lies beside this test executable.

use std::path::PathBuf;
use std::process::{Command, Output};

/// The binary of this build.
pub fn binary() -> PathBuf {
    let me = std::env::current_exe().expect("a running test has a path");
    let profile = me.parent().and_then(|deps| deps.parent()).expect("tests lie in target/PROFILE/deps");
    let binary = profile.join(format!("lockstep{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "there is no {}: run cargo build first", binary.display());
    binary
}

/// The result of a command.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// The results, from stdout.
    pub stdout: String,
    /// The messages, from stderr.
    pub stderr: String,
}

/// The words of a text, without its lines: long sentences are broken between words.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The `lockstep` command, not yet started.
pub fn lockstep(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments);
    for variable in ["LOCKSTEP_REDIS_SERVER", "LOCKSTEP_MAX_MEMORY", "COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// Runs it until it exits.
pub fn run(arguments: &[&str]) -> Ran {
    let Output { status, stdout, stderr } = lockstep(arguments).output().expect("the binary starts");
    let stderr = String::from_utf8(stderr).expect("messages are text");
    assert!(!stderr.contains("panicked"), "{stderr}");
    Ran {
        code: status.code().expect("it ends by itself"),
        stdout: String::from_utf8(stdout).expect("results are text"),
        stderr,
    }
}

/// Runs a command that prints one JSON object, and ends with 0.
///
/// # Panics
/// It does something else.
pub fn json(arguments: &[&str]) -> serde_json::Value {
    let ran = run(arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("the result is one JSON object")
}
