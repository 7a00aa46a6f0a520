//! Edge cases: worlds that are too large, two files with one name, invalid names, paths that are not files, a full
//! disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_model::trace::Trace;
use lockstep_sim::render::words::thousands;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ran, binary, lockstep, run};
use crate::interrupted::LARGE;

const NAME: &str = "failover-loses-the-grant";
/// A scenario in which a lease expires while its holder believes, and one in which no property is violated.
const BROKEN: &str = "story = \"A lease ends.\"\nlock = \"reentrant\"\n[time]\nlease = 1\n[clients]\ncount = 2\n";
const WHOLE: &str =
    "story = \"One client.\"\nlock = \"reentrant\"\n[time]\nlease = 1\nrenew_every = 1\n[clients]\ncount = 1\n";

fn text(path: &Path) -> String {
    path.to_str().expect("a path of letters").to_owned()
}

fn written(folder: &Path, name: &str, scenario: &str) -> PathBuf {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().expect("it has a folder")).expect("a folder");
    fs::write(&file, scenario).expect("a file");
    file
}

/// Runs a command as a user would paste it into a shell.
fn pasted(command: &str) -> Ran {
    let command = command.strip_prefix("lockstep ").expect("a command of ours");
    let line = format!("'{}' {command}", binary().display());
    let ended = Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output().expect("a shell");
    let said = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: ended.status.code().expect("it ends"), stdout: said(ended.stdout), stderr: said(ended.stderr) }
}

#[test]
fn who_shows_or_replays_may_say_how_far_to_look() {
    let folder = TempDir::new().expect("a folder");
    let file = text(&written(folder.path(), "whole.toml", WHOLE));
    for limit in ["--max-states=2", "--max-memory=1"] {
        let ran = run(&["show", &file, limit]);
        assert_eq!(ran.code, 3, "{limit}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("inconclusive (stopped after"), "{limit}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(run(&["show", &file, "--max-states", "1000000", "--timeout", "1h"]).code, 0);
    assert_eq!(run(&["show", NAME, "--property", "one-believer", "--max-states", "2"]).code, 3);
    assert_eq!(run(&["replay", NAME, "--timeout", "0"]).code, 2);
    let ran = run(&["replay", &file, "--max-states", "2"]);
    assert!(ran.stderr.contains("what was found so far is replayed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: whole: inconclusive"), "it continues: {}", ran.stderr);
    // A missing server is reported before the search begins: which world to search depends on the server.
    let ran = run(&["replay", &file, "--server", "/no/such/server"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (5, ""));
    assert!(ran.stderr.starts_with("error: no server at /no/such/server"), "{}", ran.stderr);
}

/// The number is the number of visited states, and never smaller than the limit.
#[test]
fn a_search_that_was_stopped_says_how_far_it_came() {
    for limit in [2, 100, 500] {
        let ran = run(&["check", NAME, "--max-states", &limit.to_string(), "--format", "json"]);
        let found: Value = serde_json::from_str(&ran.stdout).expect("an object");
        let scenario = &found["scenarios"][0];
        let states = scenario["states"].as_u64().expect("a number");
        assert!(states >= limit, "{states} {limit}");
        let says = format!("stopped after {} states by --max-states {limit}", thousands(states));
        let properties = scenario["properties"].as_array().expect("a list");
        let unknown: Vec<_> = properties.iter().filter(|found| found["verdict"] == "inconclusive").collect();
        assert!(!unknown.is_empty());
        assert!(unknown.iter().all(|found| found["why"] == says), "{says}: {unknown:?}");
    }
}

/// With the default blocks the search would visit 37 528 states.
#[test]
fn a_search_stops_near_its_limit_on_states() {
    let folder = TempDir::new().expect("a folder");
    let file = text(&written(folder.path(), "large.toml", LARGE));
    let ran = run(&["check", &file, "--max-states", "20000", "--format", "json"]);
    let found: Value = serde_json::from_str(&ran.stdout).expect("an object");
    let states = found["scenarios"][0]["states"].as_u64().expect("a number");
    assert!((20_000..25_000).contains(&states), "{states}");
}

/// Without them the suggested command would search for longer than the user wanted to wait.
#[test]
fn what_is_said_to_be_typed_next_has_the_limits_that_were_given() {
    let folder = TempDir::new().expect("a folder");
    let file = text(&written(folder.path(), "large.toml", LARGE));
    let limits = "--max-states 5000 --timeout 3600s";
    let limited = ["--max-states", "5000", "--timeout", "1h"];

    let printed = run(&[&["check", &file], limited.as_slice()].concat()).stdout;
    let hint = printed.lines().find_map(|line| Some(&line[line.find("lockstep show")?..])).expect("a hint");
    assert!(hint.ends_with(&format!(" {limits}")), "{hint}");
    let shown = pasted(hint);
    assert_eq!(shown.code, 0, "{hint}: {}", shown.stderr);
    for page in [&printed, &shown.stdout] {
        let next = hint.replacen("lockstep show", "next  lockstep replay", 1);
        assert!(page.contains(&format!("{next}\n")), "{page}");
    }

    let options = ["--symmetry", "--fingerprint", "128", "--format", "json"];
    let found = run(&[&["check", &file], limited.as_slice(), &options].concat()).stdout;
    let found: Value = serde_json::from_str(&found).expect("an object");
    let properties = found["scenarios"][0]["properties"].as_array().expect("a list");
    let reproduce = properties.iter().find_map(|found| found["trace"]["reproduce"].as_str()).expect("a violation");
    assert_eq!(reproduce, format!("lockstep check {file} --symmetry --fingerprint 128 {limits}"));
}

#[test]
fn two_scenarios_of_one_name_do_not_share_a_folder() {
    let folder = TempDir::new().expect("a folder");
    let one = text(&written(folder.path(), "one/same.toml", BROKEN));
    let other = text(&written(folder.path(), "other/same.toml", WHOLE));
    let out = folder.path().join("traces");
    let ran = run(&["check", &one, &other, "--out", &text(&out)]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("are both called same"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&one), "{}", ran.stderr);
    assert!(!out.exists(), "nothing is written");
    assert_ne!(run(&["check", &one, &other]).code, 2, "without traces they do no harm");
    assert_eq!(run(&["fuzz", &one, &other, "--out", &text(&out)]).code, 2);
}

/// This holds for every command that is printed or stored for a user's file.
#[test]
fn what_is_said_to_be_typed_next_can_be_typed() {
    let folder = TempDir::new().expect("a folder");
    let file = written(folder.path(), "a folder/and one below/my-lock.toml", BROKEN);
    let out = text(&folder.path().join("traces"));
    for given in [text(&file), text(folder.path()), text(&folder.path().join("a folder"))] {
        let ran = run(&["check", &given, "--out", &out, "--format", "json"]);
        let found: Value = serde_json::from_str(&ran.stdout).expect("an object");
        let properties = found["scenarios"][0]["properties"].as_array().expect("a list");
        let reproduce = properties.iter().find_map(|found| found["trace"]["reproduce"].as_str()).expect("a violation");
        let again = pasted(reproduce);
        assert_eq!(again.code, 1, "{reproduce}: {}", again.stderr);

        let shown = run(&["show", &given]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        let printed = run(&["check", &given]).stdout;
        let hint = printed.lines().find_map(|line| Some(&line[line.find("lockstep show")?..])).expect("a hint");
        assert_eq!(pasted(hint).code, 0, "{hint}");

        let explained = run(&["explain", &given]).stdout;
        let (_, hints) = explained.split_once("\nnext  ").expect("hints");
        assert_eq!(hints.lines().count(), 2, "{hints}");
        for hint in hints.lines().map(str::trim) {
            assert_eq!(pasted(hint).stderr, "", "{hint}");
        }
    }
    let trace: Trace = serde_json::from_str(&run(&["show", &text(&file), "--format", "json"]).stdout).expect("a trace");
    assert!(trace.reproduce.contains(&text(&file)), "{}", trace.reproduce);
}

/// Opening a pipe waits for a writer, perhaps for ever.
#[test]
fn a_pipe_or_a_device_is_refused() {
    let folder = TempDir::new().expect("a folder");
    for (command, name) in
        [("check", "pipe.toml"), ("show", "pipe.json"), ("replay", "pipe.json"), ("fuzz", "pipe.toml")]
    {
        let pipe = folder.path().join(name);
        if !pipe.exists() {
            assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
        }
        let ran = run(&[command, &text(&pipe)]);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("a pipe or a device"), "{command}: {}", ran.stderr);
    }
    let link = folder.path().join("endless.toml");
    std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
    assert!(run(&["check", &text(&link)]).stderr.contains("a pipe or a device"));
}

#[test]
fn a_folder_that_nothing_can_be_written_into_is_refused_at_once() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let inside = text(&file.path().join("traces"));
    for out in [text(file.path()), inside, "/proc/self".to_owned()] {
        for command in ["check", "fuzz"] {
            let ran = run(&[command, NAME, "--out", &out]);
            assert_eq!(ran.code, 5, "{command} {out}: {}", ran.stderr);
            let says = ran.stderr.contains("cannot make the folder") || ran.stderr.contains("cannot write into");
            assert!(says, "{command} {out}: {}", ran.stderr);
            assert_eq!(ran.stdout, "");
        }
    }
}

/// They make a text look like another one.
#[test]
fn characters_that_change_the_direction_of_text_or_have_no_width_are_refused_with_their_place() {
    let folder = TempDir::new().expect("a folder");
    let mut trace: Value = serde_json::from_str(&run(&["show", NAME, "--format", "json"]).stdout).expect("a trace");
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'];
    let narrow = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
    let turns = turns.map(|hidden| (hidden, "that changes the direction of text"));
    for (hidden, what) in turns.into_iter().chain(narrow.map(|hidden| (hidden, "without width"))) {
        let says = format!("has a character {what} in it (U+{:04X})", u32::from(hidden));
        let story = format!("A lease {hidden}never{hidden} ends.");
        trace["story"] = story.as_str().into();
        let scenario = BROKEN.replace("A lease ends.", &story);
        let written_out = BROKEN.replace("A lease ends.", &format!("A \\u{:04x} lease", u32::from(hidden)));
        let files = [
            (written(folder.path(), "given.json", &trace.to_string()), format!("/story {says}")),
            (written(folder.path(), "given.toml", &scenario), format!("`story` {says}")),
            (written(folder.path(), "escaped.toml", &written_out), format!("`story` {says}")),
        ];
        for (file, says) in files {
            let ran = run(&["show", &text(&file)]);
            assert_eq!(ran.code, 2, "{}", ran.stderr);
            assert!(ran.stderr.contains(&says), "{says:?} is not in\n{}", ran.stderr);
            assert!(ran.stderr.contains(&text(&file)), "{}", ran.stderr);
            assert!(!ran.stderr.contains(hidden), "it is not printed: {:?}", ran.stderr);
            if file.extension().is_some_and(|kind| kind == "toml") {
                assert!(ran.stderr.contains(".toml:1:"), "the line is named: {}", ran.stderr);
            }
        }
    }
}

/// A terminal would execute them.
#[test]
fn control_characters_are_refused_and_never_printed() {
    let folder = TempDir::new().expect("a folder");
    let mut trace: Value = serde_json::from_str(&run(&["show", NAME, "--format", "json"]).stdout).expect("a trace");
    for key in ["scenario", "story", "reproduce"] {
        let before = trace[key].take();
        trace[key] = "\u{1b}]0;mine\u{7}".into();
        let file = written(folder.path(), "given.json", &trace.to_string());
        let ran = run(&["show", &text(&file)]);
        assert_eq!(ran.code, 2, "{key}");
        assert!(ran.stderr.contains(&format!("/{key} has a control character")), "{}", ran.stderr);
        trace[key] = before;
    }
    for name in ["\u{1b}[31mred.json", "\u{1b}[31mred.toml"] {
        for file in [folder.path().join(name), written(folder.path(), name, "nothing")] {
            let ran = run(&["show", &text(&file)]);
            assert_eq!(ran.code, 2);
            assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'), "{:?}", ran.stderr);
        }
    }
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let ended = lockstep(arguments).stdout(full).stderr(Stdio::null()).status().expect("it starts");
        assert_eq!(ended.code(), Some(5), "{arguments:?}");
    }
}
