//! What a user sees of Redisson before a JVM has anything to do; with real JVMs, see tests/redisson/.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lockstep_model::config::Profile;
use tempfile::TempDir;

use crate::command::{Ran, lockstep, run, words};

/// A folder with a driver of Redisson 4.7.0 whose JVM is this shell script.
pub fn driver_that(script: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("4.7.0")).expect("a folder");
    fs::write(folder.path().join("4.7.0/driver.jar"), "").expect("a file");
    let java = folder.path().join("java");
    fs::write(&java, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&java, Permissions::from_mode(0o755)).expect("a program");
    folder
}

/// Runs this with that driver. Returns the exit code, and what the errors say.
fn with_driver(driver: &TempDir, arguments: &[&str]) -> (Option<i32>, String) {
    let asked = lockstep(arguments).env("LOCKSTEP_REDISSON", driver.path()).output().expect("it starts");
    (asked.status.code(), words(&String::from_utf8_lossy(&asked.stderr)))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Its classes were no jar then.
#[test]
fn a_driver_that_an_earlier_lockstep_has_built_is_to_be_built_again() {
    let driver = driver_that("exit 1");
    fs::remove_file(driver.path().join("4.7.0/driver.jar")).expect("it is there");
    fs::create_dir(driver.path().join("4.7.0/classes")).expect("a folder");
    let (code, told) = with_driver(&driver, &["fuzz", "two-clients-one-node", "--cases", "1", "--on", "redisson"]);
    assert_eq!(code, Some(5), "{told}");
    assert!(
        told.contains("is of another version of lockstep; build it again with tools/redisson/install 4.7.0"),
        "{told}"
    );
}

/// A JVM says on its standard output why it cannot start, where the lines of a driver would come.
#[test]
fn what_keeps_a_jvm_from_starting_is_printed() {
    let driver = driver_that("echo 'Could not reserve enough space for object heap'\nexit 1");
    let (code, told) = with_driver(&driver, &["fuzz", "two-clients-one-node", "--cases", "1", "--on", "redisson"]);
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("it has ended (exit status: 1) Could not reserve enough space for object heap"), "{told}");
}

/// A search would find one state, and the rest would be told as inconclusive.
#[test]
fn replay_says_before_it_searches_that_redisson_cannot_follow_a_scenario() {
    let driver = driver_that("exit 1");
    let search = ["--max-states", "1", "--on", "redisson"];
    let (code, told) = with_driver(&driver, &[&["replay", "plain-two-clients-one-node"], &search[..]].concat());
    assert_eq!(code, Some(2), "{told}");
    assert_eq!(told, "error: not on redisson 4.7.0: it has no plain lock");
}

#[test]
fn clients_whose_profile_is_none_of_redisson_are_told_apart_from_it() {
    let driver = driver_that("exit 1");
    let file = driver.path().join("ours.toml");
    let world = "story = 'Ours.'\nlock = 'reentrant'\n[time]\nlease = 3\n[clients]\ncount = 2\n[protocol]\nprofile = 'lockstep'\n";
    fs::write(&file, world).expect("a file");
    let (_, told) = with_driver(&driver, &["fuzz", text(&file), "--cases", "1", "--on", "redisson"]);
    assert!(told.contains("the clients of ours are those of the profile lockstep"), "{told}");
}

#[test]
fn a_java_that_cannot_be_started_is_named_with_its_path_and_an_empty_version_is_refused() {
    let driver = driver_that("exit 0");
    let java = driver.path().join("java");
    fs::set_permissions(&java, Permissions::from_mode(0o644)).expect("no program");
    let (code, told) = with_driver(&driver, &["replay", "two-clients-one-node", "--on", "redisson"]);
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains(&java.display().to_string()), "{told}");
    for command in
        [&["replay", "two-clients-one-node", "--on", "redisson", "--redisson", ""][..], &["museum", "--redisson", ""]]
    {
        let refused = run(command);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("--redisson <VERSION>"), "{}", refused.stderr);
    }
}

#[test]
fn the_profiles_and_the_deployments_are_explained() {
    let explained = |what: &str| {
        let Ran { code, stdout, stderr } = run(&["explain", what]);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let sets = explained("redisson-3.52");
    assert!(sets.contains("profile = \"redisson-3.52\" sets\n"), "{sets}");
    assert!(sets.contains("\n  answered_receipt = \"keep\"\n"), "{sets}");
    let of_node = words(&explained("redlock-5"));
    assert!(of_node.contains("node-redlock 5.0.0-beta: `src/index.ts`, commit afe5cf92"), "{of_node}");
    assert!(of_node.contains("stops_at = \"validity\""), "{of_node}");
    let deployment = words(&explained("deployment"));
    for refused in ["restart_node", "names = 2", "hand_over, cut_link, refuse_writes and pause_node"] {
        assert!(deployment.contains(refused), "{refused}: {deployment}");
    }
}

/// With it, a folder that was there before stays.
#[test]
fn fuzz_leaves_no_folder_that_it_has_made_and_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (made, kept) = (folder.path().join("made"), folder.path().join("kept"));
    fs::create_dir(&kept).expect("a folder");
    for out in [&made, &kept] {
        assert_eq!(run(&["fuzz", "two-clients-one-node", "--cases", "1", "--out", text(out)]).code, 0);
    }
    assert_eq!((made.exists(), kept.exists()), (false, true));
}

#[test]
fn what_a_profile_was_read_in_is_what_the_facts_say() {
    let facts = include_str!("../../docs/facts/libraries.md");
    for profile in Profile::ALL.into_iter().filter(|profile| profile.is_of_one_key()) {
        let row = facts.lines().find(|line| line.ends_with(&format!("`{}` |", profile.name()))).expect("it has a row");
        // One was run as it is published, and not read at a commit.
        let read = profile.source().split_once("commit ").map_or("4.2.0 as npm has it", |(_, commit)| &commit[..8]);
        assert!(row.contains(read) && profile.source().contains(read), "{}: {row}", profile.name());
    }
}
