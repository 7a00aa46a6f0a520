//! Which program is taken for a server, and what is said of one that cannot be used.

use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_sim::replay::{Flavour, ReplayError, ServerNode, ServerProgram};
use lockstep_tests::servers::{START_MS, servers};

use crate::harness::{is_the_victim, this_program};

#[test]
fn without_a_server_the_error_says_how_to_install_one() {
    if is_the_victim() {
        println!(
            "\nfound: {}",
            ServerProgram::find(None).map_or_else(|error| error.to_string(), |server| server.to_string())
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let find = |name: &str, value: &Path| {
        let mut command = this_program("programs::without_a_server_the_error_says_how_to_install_one");
        command.env_remove("LOCKSTEP_REDIS_SERVER").env(name, value);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        output.lines().find_map(|line| line.strip_prefix("found: ").map(str::to_owned)).unwrap()
    };
    let nothing = find("PATH", folder.path());
    assert!(nothing.contains("apt-get install redis-server"), "{nothing}");
    let named = find("LOCKSTEP_REDIS_SERVER", &folder.path().join("gone"));
    assert!(named.contains("LOCKSTEP_REDIS_SERVER names"), "{named}");
    let valkey = fake(folder.path(), "valkey-server", "Valkey server v=8.1.0 sha=00000000:0");
    assert_eq!(find("PATH", valkey.parent().unwrap()), "Valkey 8.1.0");
    fake(folder.path(), "redis-server", "Redis server v=7.2.4 sha=00000000:0");
    assert_eq!(find("PATH", folder.path()), "Redis 7.2.4");
    assert_eq!(find("LOCKSTEP_REDIS_SERVER", &valkey), "Valkey 8.1.0");
}

#[test]
fn a_server_that_is_too_old_or_none_at_all_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = fake(folder.path(), "old", "Redis server v=5.0.7 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64");
    let error = ServerProgram::find(Some(&old)).unwrap_err();
    assert!(matches!(error, ReplayError::WrongVersion { flavour: Flavour::Redis, .. }));
    assert!(error.to_string().ends_with("is Redis 5.0.7; 6.2.0 or newer is needed"), "{error}");
    let other = fake(folder.path(), "other", "PostgreSQL 16");
    assert!(matches!(ServerProgram::find(Some(&other)), Err(ReplayError::NotAServer { .. })));
    let named = ServerProgram::find(Some(&folder.path().join("gone"))).unwrap_err();
    assert!(named.to_string().contains("--server names"), "{named}");
}

#[test]
fn a_server_that_does_not_start_shows_the_end_of_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let script = "case $1 in --version) echo Redis server v=7.0.0;; *) echo the disk is full; exit 1;; esac";
    let broken = script_file(folder.path(), "broken", script);
    let error = ServerNode::start(&ServerProgram::find(Some(&broken)).unwrap(), START_MS).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

/// The times of a server that uses another clock would mean nothing.
#[test]
fn a_server_that_escapes_the_clock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let real = servers().swap_remove(0);
    let escaped =
        script_file(folder.path(), "escaped", &format!("unset LD_PRELOAD\nexec '{}' \"$@\"", real.path().display()));
    let error = ServerNode::start(&ServerProgram::find(Some(&escaped)).unwrap(), START_MS).unwrap_err();
    assert!(matches!(error, ReplayError::ClockNotInForce { set_ms: START_MS, .. }), "{error}");
}

fn fake(folder: &Path, name: &str, version: &str) -> PathBuf {
    script_file(folder, name, &format!("echo '{version}'"))
}

/// A separate process writes the file: a program that is open for writing cannot be run, and every fork of this process
/// would keep our open file for a moment.
fn script_file(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
    let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(&path).arg(script).status().unwrap();
    assert!(status.success());
    path
}
