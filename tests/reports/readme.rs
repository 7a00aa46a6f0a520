//! README.md matches the repository: its console blocks show the real output, its table is generated, its map lists
//! every directory, and it stays short.
//!
//! The text between `<!-- made: NAME -->` and `<!-- end -->` is generated here. In a console block `…` marks an
//! omission: alone on a line it replaces any number of lines, within a line any text. A command may name the example
//! scenario of the page, [`EXAMPLE`].

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_model::LockKind;
use lockstep_model::config::{MAX_CLIENTS, MAX_REPLICAS};
use lockstep_model::locks::StoringMasters;
use lockstep_sim::exit::Exit;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::command::lockstep;

use lockstep_tests::page::{self, table};

const README: &str = "README.md";

/// The file name of the example scenario on the page.
const EXAMPLE: &str = "my-lock.toml";

/// Nobody reads a longer front page.
const MOST_LINES: usize = 150;

#[test]
fn the_readme_says_what_its_runs_say() {
    let committed = page::committed(README);
    let folder = with_example(&committed);
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
            made += &console(&block, folder.path());
            made += "```\n";
        }
    }
    page::keep(README, &made);
}

fn part(name: &str) -> String {
    match name {
        "exit codes" => {
            let row = |exit: &Exit| vec![exit.code().to_string(), exit.meaning().to_owned()];
            table(&["code#", "means"], &Exit::ALL.iter().map(row).collect::<Vec<_>>())
        }
        _ => panic!("{README}: nothing is made under {name}"),
    }
}

/// A folder that contains the example scenario: readers will copy it, so the page must show its real output.
fn with_example(readme: &str) -> tempfile::TempDir {
    let (_, rest) = readme.split_once("```toml\n").expect("the page shows a scenario");
    let (text, _) = rest.split_once("```").expect("the scenario ends");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join(EXAMPLE), text).expect("a file in it");
    folder
}

/// The expected block: the current output of the command, or the block itself if it has omissions and the rest matches.
fn console(block: &[&str], folder: &Path) -> String {
    let (command, said) = block.split_first().expect("a console block has a command");
    let command = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{README}: not a command: {command}"));
    let arguments: Vec<_> = match command {
        // A test below checks the Makefile's own line.
        "make check" => vec!["check"],
        _ => command.strip_prefix("lockstep ").unwrap_or_else(|| panic!("not ours: {command}")).split(' ').collect(),
    };
    let printed = printed(&arguments, folder);
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

fn printed(arguments: &[&str], folder: &Path) -> String {
    let output = lockstep(arguments).current_dir(folder).output().expect("the binary starts");
    String::from_utf8(output.stdout).expect("results are text")
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

#[test]
fn the_readme_is_short() {
    let lines = page::committed(README).lines().count();
    assert!(lines <= MOST_LINES, "{README} has {lines} lines, {MOST_LINES} are the most");
}

#[test]
fn the_map_of_the_readme_has_every_directory() {
    let readme = page::committed(README);
    let folders: BTreeSet<String> = fs::read_dir(in_house(""))
        .expect("the repository")
        .filter_map(|entry| {
            let entry = entry.expect("an entry of the repository");
            let name = entry.file_name().to_string_lossy().into_owned();
            (entry.path().is_dir() && !name.starts_with('.') && name != "target").then_some(name)
        })
        .collect();
    for folder in folders {
        assert!(readme.contains(&format!("\n{folder}/ ")), "{README}: the map lacks {folder}/");
    }
}

#[test]
fn contributors_are_told_of_every_test() {
    let contributing = page::committed("CONTRIBUTING.md");
    let manifest = fs::read_to_string(in_house("tests/Cargo.toml")).expect("tests/Cargo.toml");
    for test in manifest.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix("/main.rs\"")) {
        assert!(contributing.contains(&format!("`{test}`")), "CONTRIBUTING.md says nothing of the test {test}");
    }
}

/// Facts written by hand here that other pages take from runs.
#[test]
fn the_readme_names_the_servers_and_the_bounds() {
    // A line may end anywhere in a sentence.
    let readme = page::committed(README).split_whitespace().collect::<Vec<_>>().join(" ");
    let loss = page::committed("reports/lock-loss.md");
    let asked = loss.split_once("Asked: ").and_then(|(_, rest)| rest.split_once(". ")).expect("servers were asked").0;
    assert!(readme.contains(asked), "{README} names other servers than {asked}");
    let bounds = format!("at most {MAX_CLIENTS} clients, {MAX_REPLICAS} replicas");
    assert!(readme.contains(&bounds), "{README} has other bounds than {bounds}");
}

/// The one profile that is modelled for a lock on several masters.
const LOCKSTEP: &str = "[protocol]\nprofile = \"lockstep\"\n";

/// What the reader of scenarios refuses as not modelled stands on the front page, in the words of the file.
#[test]
fn the_readme_lists_what_is_not_modelled_yet() {
    let readme = page::committed(README);
    let (_, rest) = readme.split_once("**Not modelled yet**").expect("the paragraph");
    let listed = rest.split("\n\n").next().expect("it ends");
    let split = "[network]\nmode = \"split\"\n[protocol]\nreceipts = true\n";
    let jumps = "[faults]\nclock_jump = 1";
    let of = |time: &str, tables: &str| scenario_with("lock = \"reentrant\"", time, tables);
    let queues = LockKind::ALL.iter().find(|kind| kind.facts().queue.is_there()).expect("a kind with a queue");
    let with_queue = |tables: &str| scenario_with(&format!("lock = \"{}\"", queues.name()), "queue_wait = 3", tables);
    let shares = LockKind::ALL.iter().find(|kind| kind.facts().sharing.is_there()).expect("a kind with readers");
    let with_readers =
        |tables: &str| scenario_with(&format!("lock = \"{}\"", shares.name()), "", &format!("threads = 2\n{tables}"));
    let issues = LockKind::ALL.iter().find(|kind| kind.facts().tokens.is_there()).expect("a kind that issues tokens");
    let with_tokens = |tables: &str| scenario_with(&format!("lock = \"{}\"", issues.name()), "", tables);
    let spins = LockKind::ALL.iter().find(|kind| kind.facts().spins()).expect("a kind that spins");
    let with_spinners = |time: &str, tables: &str| scenario_with(&format!("lock = \"{}\"", spins.name()), time, tables);
    let parts = LockKind::ALL.iter().find(|kind| kind.facts().parts.is_there()).expect("a kind with parts");
    let with_parts = |tables: &str| scenario_with(&format!("lock = \"{}\"", parts.name()), "round_wait = 1", tables);
    let names =
        LockKind::ALL.iter().find(|kind| kind.facts().value_sets.is_there()).expect("a kind with sets of values");
    let with_values = |tables: &str| scenario_with(&format!("lock = \"{}\"", names.name()), "", tables);
    let masters =
        LockKind::ALL.iter().find(|kind| kind.facts().masters.are_several()).expect("a kind on several masters");
    let with_masters = |time: &str, tables: &str| {
        scenario_with(&format!("lock = \"{}\"", masters.name()), time, &format!("[cluster]\ngroups = 3\n{tables}"))
    };
    let locks =
        LockKind::ALL.iter().find(|kind| kind.facts().masters == StoringMasters::Locks).expect("a kind of such locks");
    let with_master_locks = |time: &str, tables: &str| {
        scenario_with(&format!("lock = \"{}\"", locks.name()), time, &format!("[cluster]\ngroups = 3\n{tables}"))
    };
    let others = [
        (with_masters("", &format!("replicas = 2\n{LOCKSTEP}")), vec!["a red lock with", "`replicas = 2`"]),
        (with_masters("", &format!("{LOCKSTEP}[network]\nmode = \"split\"")), vec!["mode = \"split\""]),
        (with_masters("", &format!("{LOCKSTEP}[faults]\ninterrupt = 1")), vec!["`interrupt`"]),
        (
            with_master_locks("wait_limit = 3", "replicas = 1"),
            vec!["a redisson-red lock with", "a `wait_limit` other than 0 beside `replicas`"],
        ),
        (with_master_locks("wait_limit = 0", "[faults]\nlate_ask = 1"), vec!["`late_ask`"]),
        (with_master_locks("wait_limit = 0", LOCKSTEP), vec!["a `profile` that is not Redisson's"]),
        (of("jump = 4", &format!("[cluster]\nreplicas = 1\nwait_for = 1\n{jumps}")), vec!["clock_jump", "wait_for"]),
        (of("jump = 4", &format!("[cluster]\nreplicas = 1\nmin_replicas = 1\n{jumps}")), vec!["min_replicas"]),
        (
            of("jump = -4", &format!("[cluster]\nfsync = \"everysec\"\n{jumps}\ncrash_node = 1\nrestart_node = 1")),
            vec!["fsync = \"everysec\""],
        ),
        (of("jump = 4", &format!("{split}{jumps}")), vec!["clock_jump", "receipts"]),
        (of("", &format!("{split}[faults]\nvanish_key = 1")), vec!["vanish_key", "receipts"]),
        (with_queue("[network]\nmode = \"split\""), vec!["a fair lock with", "mode = \"split\""]),
        (with_queue("[faults]\npersist_key = 1"), vec!["persist_key"]),
        (with_queue("threads = 2"), vec!["threads"]),
        (with_readers("[network]\nmode = \"split\""), vec!["a read-write lock with", "mode = \"split\""]),
        (with_readers("[cluster]\nreplicas = 1\nwait_for = 1"), vec!["wait_for"]),
        (with_readers("[faults]\npersist_key = 1"), vec!["persist_key"]),
        (with_readers("[resource]\nfencing = \"none\""), vec!["[resource]"]),
        (with_tokens("[network]\nmode = \"split\""), vec!["a fenced lock with", "mode = \"split\""]),
        (with_tokens("[protocol]\nprofile = \"redisson-3.15\"\nreceipts = true"), vec!["profile = \"redisson-3.15\""]),
        (with_tokens("[protocol]\nreceipts = false"), vec!["receipts = false"]),
        (with_parts("[network]\nmode = \"split\""), vec!["a multi lock with", "mode = \"split\""]),
        (with_parts("[cluster]\nreplicas = 1\nwait_for = 1"), vec!["wait_for"]),
        (with_parts("[resource]\nfencing = \"none\""), vec!["[resource]"]),
        (with_parts("[protocol]\nprofile = \"lockstep\""), vec!["missed_renewal = \"tell-holder\""]),
        (with_spinners("", "[network]\nmode = \"split\""), vec!["a spin lock with", "mode = \"split\""]),
        (with_spinners("wait_limit = 3", "[protocol]\nprofile = \"redisson-3.15\""), vec!["wait_limit"]),
        (with_values("[network]\nmode = \"split\""), vec!["a lock over several values with", "mode = \"split\""]),
        (with_values("[resource]\nfencing = \"none\""), vec!["a `[resource]`"]),
        (with_values("[faults]\ninterrupt = 1"), vec!["`interrupt`"]),
        (of("", "[cluster]\nreplicas = 1\nmin_replicas = 1\nttls = \"relative\""), vec!["ttls = \"relative\""]),
        (
            of(
                "",
                "[cluster]\nreplicas = 2\ncut_together = [\"n2\"]\n[faults]\ncut_link = 1\nkill_node = 1\nrestart_node = 1",
            ),
            vec!["cut_together", "restart_node"],
        ),
    ];
    for (text, words) in others {
        let refused = Scenario::parse("example", &text).expect_err("it is not modelled");
        assert!(refused.is_not_modelled(), "{refused}");
        for word in words {
            assert!(listed.contains(word), "{README}: `{word}` is refused as not modelled, and not listed");
        }
    }
}

fn scenario_with(lock: &str, time: &str, tables: &str) -> String {
    format!("story = \"s\"\n{lock}\n[time]\nlease = 3\n{time}\n[clients]\ncount = 2\n{tables}\n")
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
