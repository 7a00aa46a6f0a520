//! `lockstep frontier`: its table, its JSON, and what it says of faults and repairs that do not apply.

use std::fs;

use tempfile::TempDir;

use crate::command::{json, run, words};

#[test]
fn the_frontier_of_a_split_network_names_what_stops_what_and_what_does_not_apply() {
    let of_world = ["frontier", "renewals-on-a-split-network", "--most", "1", "--without", "pause_node"];
    let repairs = ["--repair", "registration-before-the-answer", "--repair", "told-holder", "--repair", "resend-all"];
    let arguments = [&of_world[..], &repairs].concat();
    let ran = run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(words(&ran.stdout).contains(", without pause_node: "), "{}", ran.stdout);
    for line in
        ["no-orphan by lose_reply registration-before-the-answer stops it", "told-holder breaks no-orphan, by no fault"]
    {
        // The spacing of columns is up to the table.
        let is_it = |said: &str| said.split_whitespace().eq(line.split(' '));
        assert!(ran.stdout.lines().any(is_it), "{line}\n{}", ran.stdout);
    }
    let line = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    let said = words(&ran.stdout);
    assert!(said.contains("repairs without effect: resend-all (the scenario has it already) "), "{}", ran.stdout);
    let left_out =
        said.split_once("faults left out: ").and_then(|(_, rest)| rest.split_once(" key ")).expect("a line").0;
    assert!(left_out.contains("cut_link"), "{}", ran.stdout);
    assert!(left_out.contains(" (not possible here; --format json says why); "), "{}", ran.stdout);
    assert!(left_out.ends_with("; overwrite_key (not modelled here, so not checked)"), "{}", ran.stdout);
    assert!(line("key ").contains("bare: without any repair; lasts: "), "{}", ran.stdout);

    let told = json(&[arguments.as_slice(), &["--alone", "delay", "--format", "json"]].concat());
    assert_eq!(told["alone"], serde_json::json!(["delay"]));
    assert_eq!(told["without"], serde_json::json!(["pause_node"]));
    let stops = serde_json::json!({
        "property": "no-orphan",
        "faults": { "lose_reply": 1 },
        "repair": "registration-before-the-answer",
        "effect": "stops it",
    });
    assert!(told["cells"].as_array().expect("a list").contains(&stops));
    let impossible = serde_json::json!({ "repair": "resend-all", "reason": "the scenario has it already" });
    assert!(told["impossible_repairs"].as_array().expect("a list").contains(&impossible));

    let reason = "there is no other node that one could be cut off from";
    let left_out = serde_json::json!({ "fault": "cut_link", "modelled": true, "reason": reason });
    assert!(told["impossible_faults"].as_array().expect("a list").contains(&left_out));

    let wrong = run(&["frontier", "--alone", "bad_luck"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stdout);
    assert!(wrong.stderr.contains("there is no fault `bad_luck`"), "{}", wrong.stderr);
}

#[test]
fn the_frontier_says_what_prevents_a_violation_that_needs_no_fault() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mine.toml");
    let story = "story = \"A job outlives its lease.\"\nlock = \"reentrant\"\n";
    fs::write(&file, format!("{story}[time]\nlease = 3\nhold_at_most = 5\nwait_limit = 0\n[clients]\ncount = 2\n"))
        .unwrap();
    let file = file.display().to_string();
    let rows = |arguments: &[&str]| {
        let ran = run(&[&["frontier", &file, "--most", "1"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    let all = rows(&[]);
    let is_row = |line: &str| line.split_whitespace().eq("one-believer by no fault watchdog stops it".split(' '));
    assert!(all.lines().any(is_row), "{all}");
    let none = rows(&["--repair", "fencing"]);
    let said = "broken without any fault, and no repair that was checked changes it: one-believer, counts-agree ";
    assert!(words(&none).contains(said), "{none}");
}

/// A file in seconds is answered in seconds, and how long a tick is follows from it.
#[test]
fn the_frontier_counts_as_the_file_does() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mine.toml");
    let row = |times: &str| {
        let text =
            format!("story = \"s\"\nlock = \"reentrant\"\n[time]\n{times}\nwait_limit = 0\n[clients]\ncount = 2\n");
        fs::write(&file, text).unwrap();
        let ran = run(&["frontier", &file.display().to_string(), "--most", "1", "--bare"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let row = ran.stdout.lines().find(|line| line.starts_with("one-believer ")).expect("it is broken").to_owned();
        (row, ran.stderr)
    };
    let (seconds, said) = row("lease = \"30s\"\nhold_at_most = \"50s\"");
    assert!(seconds.contains(" at most ") && seconds.ends_with(" s"), "{seconds}");
    assert!(said.contains("mine: a tick is 10 s (the greatest common divisor of 50 s and 30 s)"), "{said}");
    let (ticks, said) = row("lease = 3\nhold_at_most = 5");
    assert!(ticks.contains(" at most ") && ticks.contains(" tick"), "{ticks}");
    assert!(!said.contains("a tick is"), "{said}");
}
