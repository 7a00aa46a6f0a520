//! README.md against the house: its console blocks print what they say, its tables are made from runs, its scenario can
//! be read and is as it declares, its map has every folder.
//!
//! Between `<!-- made: NAME -->` and `<!-- end -->` stands what is made here. In a console block `…` stands for what is
//! left out: alone in a line for any number of lines, within one for any text.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_model::config::{MAX_CLIENTS, MAX_EFFECTS_UNDER_WAY, MAX_REPLICAS};
use lockstep_sim::exit::Exit;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::command::run;

use crate::anomalies;
use crate::page::{self, table};
use crate::runs::exhaust;

const README: &str = "README.md";

#[test]
fn the_readme_says_what_its_runs_say() {
    let committed = page::committed(README);
    let mut made = String::new();
    let mut lines = committed.lines();
    while let Some(line) = lines.next() {
        made += line;
        made.push('\n');
        if let Some(name) = line.strip_prefix("<!-- made: ").and_then(|rest| rest.strip_suffix(" -->")) {
            let end = lines.by_ref().find(|line| *line == "<!-- end -->");
            assert!(end.is_some(), "{README}: what is made under {name} has no end");
            made += &part(name);
            made += "<!-- end -->\n";
        } else if line == "```console" {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            made += &console(&block);
            made += "```\n";
        }
    }
    page::keep(README, &made);
}

fn part(name: &str) -> String {
    match name {
        "anomalies" => anomalies::anomalies(),
        "exit codes" => {
            let row = |exit: &Exit| vec![exit.code().to_string(), exit.meaning().to_owned()];
            table(&["code#", "means"], &Exit::ALL.iter().map(row).collect::<Vec<_>>())
        }
        _ => panic!("{README}: nothing is made under {name}"),
    }
}

/// The block as it must be: what the command prints now, unless the block leaves things out and the rest is so.
fn console(block: &[&str]) -> String {
    let (command, said) = block.split_first().expect("a console block has a command");
    let command = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{README}: not a command: {command}"));
    if command == "make test" {
        assert_announces_tests(said);
        return block.join("\n") + "\n";
    }
    let arguments: Vec<_> = match command {
        // The Makefile's own line is held to this below.
        "make check" => vec!["check"],
        _ => command.strip_prefix("lockstep ").unwrap_or_else(|| panic!("not ours: {command}")).split(' ').collect(),
    };
    let printed = run(&arguments).stdout;
    let leaves_out = said.iter().any(|line| line.contains('…'));
    if leaves_out {
        let printed: Vec<_> = printed.lines().collect();
        assert!(
            matches(said, &printed),
            "{README}: `{command}` does not print (a block that leaves things out is edited by hand)\n{}\nbut\n{}",
            said.join("\n"),
            printed.join("\n")
        );
        return block.join("\n") + "\n";
    }
    format!("$ {command}\n{printed}")
}

fn matches(said: &[&str], printed: &[&str]) -> bool {
    match (said, printed) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        ([line, said @ ..], [first, printed @ ..]) => line_matches(line, first) && matches(said, printed),
        _ => false,
    }
}

fn line_matches(said: &str, printed: &str) -> bool {
    match said.split_once('…') {
        None => said == printed,
        Some((head, tail)) => {
            let rest = printed.strip_prefix(head);
            rest.is_some_and(|rest| {
                rest.char_indices().any(|(at, _)| line_matches(tail, &rest[at..])) || tail.is_empty()
            })
        }
    }
}

/// `make test` cannot run within itself: what it announces must be there to be announced.
fn assert_announces_tests(said: &[&str]) {
    let manifest = fs::read_to_string(in_house("tests/Cargo.toml")).expect("tests/Cargo.toml");
    let servers = fs::read_to_string(in_house("tools/servers")).expect("tools/servers");
    for line in said {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["…"] | ["test", "result:", "ok.", ..] => {}
            ["Running", path, ..] => {
                assert!(manifest.contains(&format!("path = \"{path}\"")), "{README}: there is no test {path}");
            }
            [name, version, "…"] => {
                let fetched = format!("{}-{version}", name.to_lowercase());
                assert!(servers.contains(&fetched), "{README}: tools/servers does not fetch {fetched}");
            }
            _ => panic!("{README}: make test does not print {line}"),
        }
    }
}

fn in_house(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the house").join(path)
}

#[test]
fn make_check_is_lockstep_check() {
    let makefile = fs::read_to_string(in_house("Makefile")).expect("the Makefile");
    assert!(makefile.contains("check:\n\tcargo run --release --locked -q -p lockstep-sim -- check\n"));
    for target in ["check", "test", "reports"] {
        assert!(makefile.contains(&format!("\n{target}:\n")), "make {target}");
        assert!(page::committed(README).contains(&format!("`make {target}`")), "make {target}");
    }
}

/// Somebody will copy it.
#[test]
fn the_scenario_of_the_readme_is_as_it_declares() {
    let readme = page::committed(README);
    let (_, rest) = readme.split_once("```toml\n").expect("an example");
    let (text, _) = rest.split_once("```").expect("it ends");
    let scenario = Scenario::parse("my-lock", text).unwrap_or_else(|error| panic!("{error}"));
    assert!(!scenario.expect.is_empty(), "it claims something");
    for found in exhaust(&scenario).properties {
        assert!(found.is_as_declared(), "{}: {}", found.property, found.verdict);
    }
}

#[test]
fn the_map_of_the_readme_has_every_folder_and_every_test() {
    let readme = page::committed(README);
    let folders: BTreeSet<String> = fs::read_dir(in_house(""))
        .expect("the house")
        .filter_map(|entry| {
            let entry = entry.expect("an entry of the house");
            let name = entry.file_name().to_string_lossy().into_owned();
            (entry.path().is_dir() && !name.starts_with('.') && name != "target").then_some(name)
        })
        .collect();
    for folder in folders {
        assert!(readme.contains(&format!("\n{folder}/ ")), "{README}: the map lacks {folder}/");
    }
    let manifest = fs::read_to_string(in_house("tests/Cargo.toml")).expect("tests/Cargo.toml");
    for test in manifest.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix("/main.rs\"")) {
        assert!(readme.contains(&format!("`{test}`")), "{README}: says nothing of the test {test}");
    }
}

/// What it says by hand and others say by run.
#[test]
fn the_readme_names_the_servers_and_the_bounds() {
    let (readme, loss) = (page::committed(README), page::committed("reports/lock-loss.md"));
    let asked = loss.split_once("Asked: ").and_then(|(_, rest)| rest.split_once(". ")).expect("servers were asked").0;
    assert!(readme.contains(asked), "{README} names other servers than {asked}");
    let bounds = format!("at most {MAX_CLIENTS} clients, {MAX_REPLICAS} replicas, {MAX_EFFECTS_UNDER_WAY} effects");
    assert!(readme.contains(&bounds), "{README} has other bounds than {bounds}");
}

#[test]
fn what_a_block_leaves_out_may_be_anything_and_the_rest_must_be_so() {
    let printed = ["one", "two  0.01 s  ok", "three", "four"];
    for said in [&["…"][..], &["…", "four"], &["one", "two  … s  ok", "…"], &["one", "…", "three", "…", "four"]]
    {
        assert!(matches(said, &printed), "{said:?}");
    }
    for said in [&["one"][..], &["…", "three"], &["two  … s  ok", "…"], &["one", "two  …  no", "…"]] {
        assert!(!matches(said, &printed), "{said:?}");
    }
}
