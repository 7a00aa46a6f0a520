//! No file is thousands of lines long, and no file contains paths of the machine it was written on.

use crate::{File, assert_none, house};

/// A source file longer than this should be split.
const MOST_LINES: usize = 700;

/// `main.rs` only dispatches to other modules, so it stays short.
const MOST_LINES_OF_MAIN: usize = 30;

/// First folders of paths that exist on one machine only.
const MACHINE_FOLDERS: [&str; 5] = ["home", "root", "Users", "work", "mnt"];

fn too_long(file: &File) -> Option<String> {
    let most = match (file.path.as_str(), file.extension()) {
        ("sim/src/main.rs", _) => MOST_LINES_OF_MAIN,
        (_, "rs" | "lua") => MOST_LINES,
        _ => return None,
    };
    let lines = file.text.lines().count();
    (lines > most).then(|| format!("{}: {lines} lines, {most} are the most", file.path))
}

fn machine_paths(file: &File) -> Vec<String> {
    // An absolute path begins at a slash that does not continue a longer path.
    let begins_here = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || "_-.}".contains(last));
    let names_one = |line: &str| {
        MACHINE_FOLDERS
            .iter()
            .any(|folder| line.match_indices(&format!("/{folder}/")).any(|(at, _)| begins_here(&line[..at])))
    };
    let bad = file.text.lines().enumerate().filter(|(_, line)| names_one(line));
    bad.map(|(index, line)| format!("{}:{}: a path of one machine: {}", file.path, index + 1, line.trim())).collect()
}

#[test]
fn no_file_is_too_long() {
    assert_none(&house().iter().filter_map(too_long).collect::<Vec<_>>());
}

#[test]
fn a_file_that_is_too_long_is_noticed() {
    let of_lines = |path: &str, lines: usize| too_long(&File::invented(path, &"\n".repeat(lines)));
    assert_eq!(of_lines("sim/src/main.rs", 30), None);
    assert!(of_lines("sim/src/main.rs", 31).is_some());
    assert_eq!(of_lines("model/src/step.rs", 700), None);
    assert!(of_lines("model/src/step.rs", 701).is_some());
    assert!(of_lines("impl/scripts/fair/acquire.lua", 701).is_some());
    assert_eq!(of_lines("Cargo.lock", 5000), None);
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    assert_none(&house().iter().flat_map(machine_paths).collect::<Vec<_>>());
}

#[test]
fn a_path_of_one_machine_is_noticed() {
    for folder in MACHINE_FOLDERS {
        let file = File::invented("README.md", &format!("one line\nsee /{folder}/me/lockstep\n"));
        assert_eq!(machine_paths(&file).len(), 1, "{folder}");
    }
    for fine in ["https://example.org/home/page", "/usr/bin/redis-server", "./home/x", "target/root/y"] {
        assert_none(&machine_paths(&File::invented("README.md", fine)));
    }
}
