//! No page is wider than the terminal, which would break its lines at any place.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_sim::check::{Engine, Limits, check};
use lockstep_sim::render::Paint;
use lockstep_sim::render::text::{TextOptions, picture};
use lockstep_sim::render::verdicts::{CheckedScenario, page};
use lockstep_sim::scenario::{KEYS, TABLES, builtin, builtin_files};
use tempfile::TempDir;

use crate::command::lockstep;

const WIDTHS: [usize; 4] = [60, 80, 100, 120];
/// Enough for most scenarios; the others show a page of what is not known.
const MOST_STATES: u64 = 5_000;

/// Asserts that no line is wider. A command may be, if it stands alone on its line: it is copied in one piece.
fn assert_fits(text: &str, width: usize, what: &str) {
    for line in text.lines() {
        let is_command = line.strip_prefix("next").unwrap_or(line).trim_start().starts_with("lockstep ");
        assert!(is_command || line.chars().count() <= width, "{what} at {width}: {line}");
    }
}

fn printed(arguments: &[&str], width: usize) -> String {
    let ended = lockstep(arguments).env("COLUMNS", width.to_string()).output().expect("the binary starts");
    assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(ended.stdout).expect("text")
}

#[test]
fn the_page_of_check_and_every_picture_fit() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: Some(MOST_STATES), ..Limits::none(&stop, &progress) };
    let mut all = Vec::new();
    for scenario in builtin() {
        let outcome = check(&scenario, Engine::Native, &limits).unwrap_or_else(|error| panic!("{error}"));
        for trace in outcome.properties.iter().filter_map(|found| found.trace.as_ref()) {
            for width in WIDTHS {
                let options = TextOptions { width, found: Some("a reason".to_owned()), ..TextOptions::default() };
                assert_fits(&picture(trace, &options), width, &scenario.name);
            }
        }
        let limits = format!(" --max-states {MOST_STATES}");
        all.push(CheckedScenario { argument: scenario.name.clone(), limits, outcome });
    }
    for width in WIDTHS {
        assert_fits(&page(&all, Paint::Plain, width), width, "check");
        for one in &all {
            assert_fits(&page(std::slice::from_ref(one), Paint::Plain, width), width, &one.argument);
        }
    }
    let text = page(&all, Paint::Plain, 100);
    assert!(text.lines().any(|line| line.contains(": inconclusive (stopped after ")), "a limit ends some of them");
}

/// What is not known is said once, whether it was claimed or not.
#[test]
fn a_reason_for_unknown_verdicts_is_printed_once() {
    let ran = lockstep(&["check", "failover-loses-the-grant", "--max-states", "100"]).output().expect("it starts");
    let said = String::from_utf8(ran.stdout).expect("text");
    assert_eq!(said.matches("stopped after").count(), 1, "{said}");
}

#[test]
fn explanations_and_lists_fit() {
    for width in WIDTHS {
        assert_fits(&printed(&["scenarios"], width), width, "scenarios");
    }
    let [narrowest, wider @ ..] = WIDTHS;
    let tables = TABLES.iter().map(|(table, _)| *table).filter(|table| !table.is_empty());
    let topics = ["one-believer", "waiter-served", "exit-4", "S008", "vacuous", "tick", "fencing token"];
    let topics = builtin_files().iter().map(|file| file.name).chain(tables).chain(topics);
    // Each at one of the others, by turns: a process explains one.
    for (number, topic) in topics.chain(KEYS.iter().map(|key| key.name)).enumerate() {
        for width in [narrowest, wider[number % wider.len()]] {
            assert_fits(&printed(&["explain", topic], width), width, topic);
        }
    }
}

#[test]
fn frontiers_fit() {
    let [narrowest, usual, .., widest] = WIDTHS;
    let every_repair = &["frontier", "two-clients-one-node", "--most", "1", "--quiet"][..];
    let one_repair = &["frontier", "failover-loses-the-grant", "--most", "1", "--repair", "wait-for-all", "--quiet"];
    for (width, arguments) in [(narrowest, every_repair), (usual, one_repair), (widest, one_repair)] {
        assert_fits(&printed(arguments, width), width, "frontier");
    }
}

/// What to do about a mistake in a file is as wide as the terminal, too.
#[test]
fn the_errors_of_a_file_fit() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("wrong.toml");
    let text =
        "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\n[clients]\ncount = 2\nroles = [\"a\"]\n[weather]\n";
    fs::write(&file, text).expect("a file");
    let name = file.to_str().expect("a path of letters");
    for width in WIDTHS {
        let ended = lockstep(&["check", name]).env("COLUMNS", width.to_string()).output().expect("the binary starts");
        assert_eq!(ended.status.code(), Some(2));
        let said = String::from_utf8(ended.stderr).expect("text");
        let helps: Vec<_> = said.lines().skip_while(|line| !line.contains("= help: ")).collect();
        assert!(helps.len() > 3, "{said}");
        let help: Vec<_> = helps.into_iter().take_while(|line| !line.is_empty()).collect();
        assert_fits(&help.join("\n"), width, "the help of an error");
    }
}

/// Where there is no room for the lanes, the events are told, and how to see the lanes.
#[test]
fn a_narrow_terminal_gets_one_event_per_line() {
    let narrow = printed(&["show", "failover-loses-the-grant", "--property", "one-believer"], 60);
    assert_fits(&narrow, 60, "show");
    assert!(narrow.contains("the master n1 crashes") || narrow.contains("n2 is promoted"), "{narrow}");
    let narrow: Vec<_> = narrow.split_whitespace().collect();
    assert!(narrow.join(" ").contains("set COLUMNS="), "{narrow:?}");
    let wide = printed(&["show", "failover-loses-the-grant", "--property", "one-believer"], 100);
    assert!(wide.contains("n1 master") && !wide.contains("COLUMNS"), "{wide}");
}
