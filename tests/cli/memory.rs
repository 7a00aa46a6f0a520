//! Limits of memory and time as a user meets them: a world that is too large ends as inconclusive, in every command, and
//! what was found by then is printed. Without a limit the kernel would end the process, and nothing would be printed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use lockstep_tests::command::{Ran, lockstep, words};
use lockstep_tests::servers::servers;
use serde_json::Value;
use tempfile::TempDir;

use crate::interrupted::LARGE;

/// The variable that limits memory.
const VARIABLE: &str = "LOCKSTEP_MAX_MEMORY";
/// Far more than the small scenario needs, and far less than the large one.
const ENOUGH_FOR_THE_SMALL_ONE: &str = "64M";
/// Less than any process of ours uses before it begins.
const NOT_ENOUGH: &str = "1M";
const SMALL: &str = "failover-loses-the-grant";
/// What is violated in the large scenario.
const VIOLATED: &str = "[expect]\nothers = \"holds\"\none-believer = \"violated\"\ngrant-survives = \"violated\"\ncounts-agree = \"violated\"\n\
                        no-sleeping-waiter = \"violated\"\nrenewed-while-held = \"violated\"\n";

/// The large scenario as a file, with its claims.
fn large(folder: &TempDir) -> String {
    let file = folder.path().join("large.toml");
    fs::write(&file, format!("{LARGE}{VIOLATED}")).expect("a file");
    file.to_str().expect("a path of letters").to_owned()
}

fn within(memory: &str, arguments: &[&str]) -> Ran {
    let ended = lockstep(arguments).env(VARIABLE, memory).env("COLUMNS", "150").output().expect("the binary starts");
    let said = |bytes| String::from_utf8(bytes).expect("text");
    let (stdout, stderr) = (said(ended.stdout), said(ended.stderr));
    let code = ended.status.code().unwrap_or_else(|| panic!("it does not end by itself: {}\n{stderr}", ended.status));
    Ran { code, stdout, stderr }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn check_prints_what_it_has_finished_when_memory_is_short() {
    let folder = TempDir::new().expect("a folder");
    let file = large(&folder);
    for engine in ["native", "stateright", "both"] {
        let mut arguments = vec!["check", SMALL, &file, "--engine", engine];
        if engine == "native" {
            // Each thread has some memory of its own, and a machine may have many.
            arguments.extend(["--threads", "2"]);
        }
        let ran = within(ENOUGH_FOR_THE_SMALL_ONE, &arguments);
        assert_eq!(ran.code, 3, "{engine}: {}{}", ran.stdout, ran.stderr);
        let row = |name: &str| {
            let row = ran.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
            row.unwrap_or_else(|| panic!("{engine}: no row of {name} in\n{}", ran.stdout))
        };
        assert!(row(SMALL).ends_with("as declared"), "{engine}: {}", ran.stdout);
        assert!(row("large").ends_with("inconclusive"), "{engine}: {}", ran.stdout);
        // A long reason is several lines, the others indented.
        let why = words(&ran.stdout);
        let why = why.find("large: inconclusive (stopped after ").map(|start| &why[start..]);
        let why = why.unwrap_or_else(|| panic!("{engine}: no reason in\n{}", ran.stdout));
        for said in ["--max-memory is 64M", "MiB of memory", "fewer clients", "--max-states"] {
            assert!(why.contains(said), "{engine}: {said:?} is not in\n{why}");
        }
        assert_eq!(ran.stdout.lines().last(), Some("1 passed, 0 failed, 1 inconclusive, 0 skipped"), "{engine}");
    }
}

/// What the large scenario used is given back: it does not count against the small one.
#[test]
fn a_scenario_that_is_too_large_does_not_spoil_the_next_one() {
    let folder = TempDir::new().expect("a folder");
    let file = large(&folder);
    let ran = within(ENOUGH_FOR_THE_SMALL_ONE, &["check", &file, SMALL, "--threads", "2"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.lines().last(), Some("1 passed, 0 failed, 1 inconclusive, 0 skipped"), "{}", ran.stdout);
}

#[test]
fn show_says_that_memory_was_short() {
    let folder = TempDir::new().expect("a folder");
    let file = large(&folder);
    let property = ["--property", "only-holder-releases"];
    let ran = within(ENOUGH_FOR_THE_SMALL_ONE, &[&["show", &file], property.as_slice()].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("--max-memory is 64M"), "{}", ran.stderr);
    // A counterexample that was found before is shown.
    let ran = within(ENOUGH_FOR_THE_SMALL_ONE, &["show", &file, "--property", "one-believer"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("one-believer"), "{}", ran.stdout);
}

#[test]
fn replay_replays_what_was_found_when_memory_is_short() {
    let folder = TempDir::new().expect("a folder");
    let file = large(&folder);
    let server = servers().swap_remove(0);
    let ran = within(ENOUGH_FOR_THE_SMALL_ONE, &["replay", &file, "--server", text(server.path())]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("large: inconclusive (stopped after "), "{}", ran.stderr);
    assert!(ran.stderr.contains("--max-memory is 64M"), "{}", ran.stderr);
    let last = ran.stdout.lines().last().unwrap_or_default();
    assert!(last.contains(" agree, 0 diverged") && !last.starts_with("0 "), "{}", ran.stdout);
}

#[test]
fn fuzz_says_that_memory_was_short() {
    let server = servers().swap_remove(0);
    let arguments = ["fuzz", "third-client-is-woken", SMALL, "--seed", "1", "--server", text(server.path())];
    let ran = within(NOT_ENOUGH, &arguments);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let why = "third-client-is-woken: inconclusive (stopped after 0 histories: lockstep uses ";
    let said = words(&ran.stdout);
    assert!(said.contains(why) && said.contains("--max-memory is 1M"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().last(), Some("0 passed, 0 failed, 2 skipped"));
}

#[test]
fn frontier_names_the_limit_that_it_has_reached() {
    let ran = within(NOT_ENOUGH, &["frontier", "--bare", "--most", "1"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\nINCOMPLETE: a limit was reached; 0 of "), "{}", ran.stdout);
    let said = words(&ran.stdout);
    let (_, why) = said.split_once("the first limit, with no fault: stopped after ").expect("a reason");
    assert!(why.contains("--max-memory is 1M"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("nothing breaks it"), "{}", ran.stdout);
}

/// The page goes on: a reader may walk through the states all the same.
#[test]
fn explore_says_that_memory_was_short() {
    let mut child = lockstep(&["explore", SMALL, "--port", "0", "--format", "json"])
        .env(VARIABLE, NOT_ENOUGH)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut object = String::new();
    for line in lines {
        let line = line.expect("text");
        object += &line;
        if line == "}" {
            break;
        }
    }
    let mut message = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut message).expect("a line");
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    let object: Value = serde_json::from_str(&object).expect("an object");
    assert_eq!(object["complete"], false);
    assert!(message.contains("were searched for counterexamples (stopped after "), "{message}");
    assert!(message.contains("--max-memory is 1M"), "{message}");
}

#[test]
fn a_wrong_value_of_the_variable_is_refused_and_named() {
    for command in ["check", "show", "replay", "fuzz", "explore", "frontier"] {
        for wrong in ["lots", "0", "", "-5M"] {
            let ran = within(wrong, &[command, SMALL]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command} {wrong:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("is not a size"), "{command} {wrong:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(VARIABLE), "{command} {wrong:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn the_option_counts_more_than_the_variable() {
    let ran = within(NOT_ENOUGH, &["check", SMALL, "--max-memory", "4G"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(within(NOT_ENOUGH, &["check", SMALL]).code, 3);
}

#[test]
fn every_command_that_works_long_says_in_its_help_how_memory_is_limited() {
    for command in ["check", "show", "replay", "fuzz", "explore", "frontier"] {
        let ran = within(NOT_ENOUGH, &[command, "--help"]);
        assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in ["--max-memory <BYTES>", "60 % of the memory", VARIABLE] {
            assert!(words.contains(said), "{command}: {said:?} is not in\n{}", ran.stdout);
        }
        assert!(!ran.stdout.contains(NOT_ENOUGH), "{command}: help is the same everywhere");
    }
}

/// A first file once ran for ten minutes under a limit of some seconds: the limit was that of each set.
#[test]
fn the_time_limit_of_the_frontier_is_that_of_the_whole_command() {
    let folder = TempDir::new().expect("a folder");
    let file = large(&folder);
    let arguments = ["frontier", file.as_str(), "--repair", "fencing", "--timeout", "1s"];
    let ran = within("4G", &arguments);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let line = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    let head = line("INCOMPLETE: ");
    assert!(head.starts_with("INCOMPLETE: the time limit was reached; "), "{}", ran.stdout);
    assert!(head.ends_with(" sets were checked without a repair, and 0 of 1 repairs"), "{}", ran.stdout);
    let unchecked = line("not checked: ");
    assert!(unchecked.ends_with(" sets, and all sets with fencing"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("the first limit, with"), "{}", ran.stdout);

    let object = within("4G", &[arguments.as_slice(), &["--format", "json"]].concat()).stdout;
    let object: Value = serde_json::from_str(&object).expect("an object");
    assert_eq!(object["time_limit_reached"], true);
    let bare = &object["variants"][0];
    assert!(bare["checked"].as_u64() < bare["sets"].as_u64(), "{bare}");
    assert_eq!(object["repairs_not_looked_at"], serde_json::json!(["fencing"]));
}
