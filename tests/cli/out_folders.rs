//! Folders that `--out` names: a later run replaces or removes what an earlier one left, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{Ran, run};

/// A lease that ends while its holder believes, and the same world with one client and a watchdog.
const BROKEN: &str = "story = \"A lease ends.\"\nlock = \"reentrant\"\n[time]\nlease = 1\n[clients]\ncount = 2\n";
const MENDED: &str = "story = \"One client.\"\nlock = \"reentrant\"\n[time]\nlease = 2\nrenew_every = 1\n[clients]\n\
                      count = 1\n";

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Writes the scenario and runs `check --out` on it.
fn check(folder: &Path, name: &str, scenario: &str, options: &[&str]) -> Ran {
    let file = folder.join(format!("{name}.toml"));
    fs::write(&file, scenario).expect("a file");
    run(&[&["check", text(&file), "--out", text(&folder.join("out"))], options].concat())
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    entries.map(|name| name.into_string().expect("letters")).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_mended_scenario_leaves_no_counterexample_and_nothing_else_goes() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    assert_eq!(check(folder.path(), "other", BROKEN, &[]).code, 1);
    let others = names(&out);
    assert!(others.contains("other.one-believer.json"), "{others:?}");
    assert_eq!(check(folder.path(), "mine", BROKEN, &[]).code, 1);
    assert!(out.join("mine.one-believer.json").exists());
    fs::write(out.join("mine.notes.json"), "notes").expect("a file");

    // What is not known to be mended stays.
    assert_eq!(check(folder.path(), "mine", MENDED, &["--max-states", "2"]).code, 3);
    assert!(out.join("mine.one-believer.json").exists());

    let ran = check(folder.path(), "mine", MENDED, &[]);
    assert!(ran.stderr.contains("mine.one-believer.json: one-believer is not violated any more"), "{}", ran.stderr);
    assert_eq!(names(&out), &others | &set(&["mine.notes.json"]));
}

#[test]
fn a_counterexample_is_replaced_by_the_one_of_the_last_run() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("out/mine.one-believer.json");
    assert_eq!(check(folder.path(), "mine", BROKEN, &[]).code, 1);
    let first = fs::read_to_string(&file).expect("a trace");
    assert_eq!(check(folder.path(), "mine", &BROKEN.replace("lease = 1", "lease = 2"), &[]).code, 1);
    let second = fs::read_to_string(&file).expect("a trace");
    let steps = |trace: &str| serde_json::from_str::<Value>(trace).expect("JSON")["steps"].as_array().map(Vec::len);
    assert!(steps(&second) > steps(&first), "a longer lease ends later");
}

/// Before the search: nothing is printed, and nothing is written.
#[test]
fn a_file_of_somebody_else_is_not_overwritten_by_check() {
    let trace = |changed: (&str, Value)| {
        let mut trace = json!({
            "schema": 2, "scenario": "mine", "config": {}, "about": { "property": "one-believer" }, "steps": [],
        });
        trace[changed.0] = changed.1;
        trace.to_string()
    };
    let foreign = [
        "notes".to_owned(),
        trace(("schema", json!(1))),
        trace(("scenario", json!("another"))),
        trace(("about", json!({ "property": "no-orphan" }))),
        trace(("steps", json!(0))),
    ];
    for content in foreign {
        // Violated or not: a file that is not its own stops the run.
        for scenario in [BROKEN, MENDED] {
            let folder = TempDir::new().expect("a folder");
            let out = folder.path().join("out");
            fs::create_dir(&out).expect("a folder");
            let file = out.join("mine.one-believer.json");
            fs::write(&file, &content).expect("a file");
            let ran = check(folder.path(), "mine", scenario, &[]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{content}: {}", ran.stderr);
            for says in ["mine.one-believer.json is there already", "not overwritten", "help: "] {
                assert!(ran.stderr.contains(says), "no {says:?} in {}", ran.stderr);
            }
            assert_eq!(fs::read_to_string(&file).expect("it is there"), content);
            assert_eq!(names(&out), set(&["mine.one-believer.json"]));
        }
    }
    let folder = TempDir::new().expect("a folder");
    fs::create_dir_all(folder.path().join("out/mine.one-believer.json")).expect("a folder");
    assert_eq!(check(folder.path(), "mine", BROKEN, &[]).code, 2);
}

#[test]
fn a_frontier_names_its_world_and_replaces_only_its_own_files() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let frontier = |name: &str| {
        let file = folder.path().join(format!("{name}.toml"));
        let world = "story = \"A job outlives its lease.\"\nlock = \"reentrant\"\n[time]\nlease = 3\nhold_at_most = 5\n\
                     wait_limit = 0\n[clients]\ncount = 2\n";
        fs::write(&file, world).expect("a file");
        run(&["frontier", text(&file), "--bare", "--most", "1", "--out", text(&out)])
    };
    let ran = frontier("mine");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mine = names(&out);
    let one = "mine--one-believer--no-fault--bare.toml";
    assert!(mine.contains(one), "{mine:?}");
    assert!(mine.iter().all(|name| name.starts_with("mine--")), "{mine:?}");
    assert_eq!(run(&["check", text(&out.join(one))]).code, 0, "its claims are those that were found");

    // The same world of another name, and the same world again.
    assert_eq!(frontier("yours").code, 0);
    let both = names(&out);
    assert_eq!(both.len(), 2 * mine.len(), "{both:?}");
    assert_eq!(frontier("mine").code, 0);
    assert_eq!(names(&out), both);

    // A file of a frontier is a world as well, and has one first line.
    let again = folder.path().join("again");
    let ran = run(&["frontier", text(&out.join(one)), "--bare", "--most", "1", "--out", text(&again)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for name in names(&again) {
        let written = fs::read_to_string(again.join(&name)).expect("a file");
        assert_eq!(written.matches("# Written by").count(), 1, "{name}: {written}");
    }

    // A file that only begins in the same way is in nobody's way; one of a name that is needed is.
    fs::write(out.join("mine--notes.toml"), "notes").expect("a file");
    assert_eq!(frontier("mine").code, 0);
    fs::write(out.join(one), BROKEN).expect("a file");
    let ran = frontier("mine");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{one} is there already")), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(out.join(one)).expect("it is there"), BROKEN);
    assert_eq!(frontier("yours").code, 0);
}
