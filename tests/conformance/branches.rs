//! Replays take every branch of every script: a branch that no history reaches could do anything.
//!
//! The scripts that are replayed here report in the log of their server which branch they take. Nothing else is different: a report
//! writes no data, is not replicated, and reaches no client. Counted are the branches of statements: that a script runs, each block of
//! an `if` and that none of its conditions holds, the body of a loop and that its condition ends it. The operands of `and` and `or` are not
//! counted: most of them are told apart by the wrong scripts.
//!
//! Releases are sent twice, as if a reply had been lost: what is behind a receipt is reached in that way, also by kinds whose requests
//! are not made again by themselves (a split network is not modelled beside all kinds).

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_redis::Scripts;
use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{FuzzOptions, fuzz};
use lockstep_sim::replay::{ServerProgram, TargetProgram};
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::servers::servers;
use tempfile::TempDir;

use crate::KINDS;
use crate::histories::{builtin_scenario, can_replay, on};

/// Random histories of each scenario in one round.
const HISTORIES: u32 = 30;
/// Rounds before a branch counts as not taken. After the first one, only kinds with such a branch are replayed.
const MOST_ROUNDS: u64 = 20;
/// What a report in the log begins with; the number of the branch follows.
const REPORT: &str = "lockstep-branch ";

/// Branches that no history can take, and why.
const UNREACHABLE: [(&str, &str); 2] = [
    (
        "fair/acquire_once, line 25, for _, waiter in ipairs(redis.call('zrange', deadlines, 0, -1)) do: its block",
        "who does not wait never stands in the queue, and an empty queue leaves no deadline behind",
    ),
    (
        "value_multi/acquire, line 13, if deadline then: no condition holds",
        "who is named as the holder of a value has a deadline for it: both are set together, and deleted together",
    ),
];

/// Worlds for what the other scenarios reach too rarely or not at all.
const WORLDS: [&str; 12] = [
    // A reply is lost, and the release is made again.
    "lock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 4\nwait_limit = 0\n[clients]\ncount = 1\nmax_holds = 2\nacquires = 3\n\
     [network]\nmode = 'split'\n[protocol]\nresend = 'all'\n[faults]\nlose_reply = 2",
    // The lease ends before the release or the renewal.
    "lock = 'reentrant'\n[time]\nlease = 2\nhold_at_most = 4\nwait_limit = 0\n[clients]\ncount = 1\nmax_holds = 2\nacquires = 3\n\
     [protocol]\nreceipts = false",
    "lock = 'spin'\n[time]\nlease = 2\nhold_at_most = 4\nwait_limit = 0\n[clients]\ncount = 2\nacquires = 3\n\
     [protocol]\nreceipts = false",
    "lock = 'read-write'\n[time]\nlease = 2\nhold_at_most = 4\nwait_limit = 0\n[clients]\nthreads = 2\nmax_holds = 2\nacquires = 3\n\
     [protocol]\ndowngrade = 'publishes'\n[[client]]\nrole = 'writer'\n[[client]]\nrole = 'writer'",
    "lock = 'read-write'\n[time]\nlease = 2\nrenew_every = 1\nhold_at_most = 6\nwait_limit = 0\n[clients]\nthreads = 2\nacquires = 3\n\
     [faults]\npause_client = 2\n[[client]]\nrole = 'reader'",
    "lock = 'read-write'\n[time]\nlease = 2\nrenew_every = 1\nhold_at_most = 6\nwait_limit = 0\n[clients]\nthreads = 2\nacquires = 3\n\
     [protocol]\nread_renewal = 'all-holds'\n[faults]\npause_client = 2\n[[client]]\nrole = 'reader'",
    "lock = 'fair'\n[time]\nlease = 2\nhold_at_most = 4\nqueue_wait = 1\n[clients]\ncount = 2\nmax_holds = 2\nacquires = 3\n\
     [protocol]\nreceipts = false",
    // The first in the queue is dead when somebody else comes, or gives up before the others.
    "lock = 'fair'\n[time]\nlease = 2\nrenew_every = 1\nhold_at_most = 6\nqueue_wait = 1\n[clients]\nmax_holds = 2\nacquires = 3\n\
     [faults]\nforce_release = 2\n[[client]]\nwait_limit = 0\n[[client]]\nacquires = 1",
    "lock = 'fair'\n[time]\nlease = 1\nhold_at_most = 3\nqueue_wait = 1\n[clients]\nacquires = 3\n\
     [faults]\ncrash_client = 1\nforce_release = 2\n[[client]]\nwait_limit = 0\n[[client]]\nacquires = 2",
    "lock = 'fair'\n[time]\nlease = 1\nhold_at_most = 4\nqueue_wait = 1\n[clients]\ncount = 2\nacquires = 1\n\
     [faults]\ncrash_client = 1\nforce_release = 2",
    "lock = 'fair'\n[time]\nlease = 1\nhold_at_most = 4\nqueue_wait = 1\n[clients]\ncount = 2\nacquires = 1\n\
     [faults]\ncrash_client = 1",
    "lock = 'fair'\n[time]\nlease = 2\nrenew_every = 1\nhold_at_most = 6\nqueue_wait = 1\nwait_limit = 1\n[clients]\ncount = 3\nacquires = 2\n\
     [protocol]\nreceipts = false",
];

#[test]
fn replays_take_every_branch_of_every_script() {
    let server = LoggingServer::of(&servers().swap_remove(0));
    let scenarios: Vec<_> = scenarios()
        .chain(worlds())
        .filter(|scenario| can_replay(&server.program, scenario))
        .map(|scenario| on(&server.program, scenario))
        .collect();
    let watched = WatchedScripts::of(&Scripts::built_in());
    let is_reachable = |branch: &&Branch| UNREACHABLE.iter().all(|(name, _)| *name != branch.to_string());
    let mut missing = BTreeSet::new();
    for seed in 0..MOST_ROUNDS {
        let is_meant = |scenario: &&Scenario| seed == 0 || runs_one_of(scenario, &missing);
        let meant: Vec<_> = scenarios.iter().filter(is_meant).collect();
        server.replay(&meant, &watched.scripts, FuzzOptions { cases: HISTORIES, seed });
        let taken = server.taken(&watched);
        let of_all = watched.branches.iter().zip(&taken).filter(|(_, times)| **times > 0);
        let (rarest, times) = of_all.min_by_key(|(_, times)| **times).expect("a branch");
        missing = watched.not_taken(&taken).into_iter().filter(is_reachable).collect();
        let (meant, branches, missing) = (meant.len(), taken.len(), missing.len());
        println!("seed {seed}: {meant} scenarios, {branches} branches, {missing} not taken; {times} times: {rarest}");
        if missing == 0 {
            break;
        }
    }
    let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
    assert!(missing.is_empty(), "no history takes these branches:\n{}", missing.join("\n"));
    let taken = server.taken(&watched);
    let never: BTreeSet<_> = watched.not_taken(&taken).iter().map(ToString::to_string).collect();
    let listed: BTreeSet<_> = UNREACHABLE.iter().map(|(branch, _)| (*branch).to_owned()).collect();
    assert_eq!(never, listed, "every branch that is listed as unreachable is one, and is not taken");
}

/// A script gets a branch that it cannot take.
#[test]
fn a_branch_that_no_history_takes_is_missing() {
    const SCRIPT: &str = "reentrant/acquire";
    let server = LoggingServer::of(&servers().swap_remove(0));
    let scenario = builtin_scenario("two-clients-one-node");
    let scripts = Scripts::built_in();
    let text = format!("if false then\n  return 0\nend\n{}", scripts.get(SCRIPT).text());
    let watched = WatchedScripts::of(&scripts.replace(SCRIPT, &text));
    server.replay(&[&scenario], &watched.scripts, FuzzOptions { cases: 20, seed: 1 });
    let missing = watched.not_taken(&server.taken(&watched));
    let of_script: Vec<_> = missing.iter().filter(|branch| branch.script == SCRIPT).map(ToString::to_string).collect();
    assert_eq!(of_script, [format!("{SCRIPT}, line 1, if false then: its block")]);
    assert!(missing.iter().any(|branch| branch.script != SCRIPT), "what no scenario calls is missing too");
}

#[test]
fn each_way_through_a_script_is_a_branch() {
    let text = "\
while a do
  if b then
    break
  elseif c then
    return 1
  end
end
if d then
  return 2
else
  return 3
end
";
    let mut branches = Vec::new();
    let watched = watched_text("spin/acquire", text, &mut branches);
    let ways: Vec<_> = branches.iter().map(|branch| (branch.line, branch.way)).collect();
    let expected = [(0, RUNS), (1, BLOCK), (2, BLOCK), (4, BLOCK), (2, NO_BLOCK), (1, ENDED), (8, BLOCK), (10, BLOCK)];
    assert_eq!(ways, expected);
    let without_reports: Vec<_> =
        watched.lines().filter(|line| !line.contains("redis.log") && !line.contains("is_broken")).collect();
    assert_eq!(without_reports, text.lines().collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "spin/acquire, line 1")]
fn a_block_on_one_line_is_refused() {
    watched_text("spin/acquire", "if a then return 1 end\n", &mut Vec::new());
}

/// The scenarios in which the wrong scripts are caught: each is about a rule of a script.
fn scenarios() -> impl Iterator<Item = Scenario> {
    KINDS.iter().flat_map(|kind| {
        let names: BTreeSet<_> = kind.wrong_scripts.iter().map(|wrong| wrong.scenario).collect();
        names.into_iter().map(|name| (kind.scenario)(name).unwrap_or_else(|| builtin_scenario(name)))
    })
}

/// The worlds of this file.
fn worlds() -> impl Iterator<Item = Scenario> {
    (1..).zip(WORLDS).map(|(number, text)| {
        let name = format!("branches-{number}");
        Scenario::parse(&name, &format!("story = 's'\n{text}")).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Whether the kind of this scenario has the script of one of these branches.
fn runs_one_of(scenario: &Scenario, branches: &BTreeSet<&Branch>) -> bool {
    let kind = KINDS.iter().filter(|kind| kind.kind == scenario.config.lock);
    let scripts: BTreeSet<_> = kind.flat_map(|kind| kind.wrong_scripts).map(|wrong| wrong.script).collect();
    branches.iter().any(|branch| scripts.contains(branch.script))
}

/// A server whose nodes all write the same log, which outlives them.
struct LoggingServer {
    program: ServerProgram,
    log: PathBuf,
    _folder: TempDir,
}

impl LoggingServer {
    fn of(server: &ServerProgram) -> Self {
        let folder = TempDir::new().expect("a folder");
        let (file, log) = (folder.path().join("server"), folder.path().join("reports"));
        // Of two options with one name, the last one counts.
        let text = format!("#!/bin/sh\nexec '{}' \"$@\" --logfile '{}'\n", server.path().display(), log.display());
        // A process that another thread starts meanwhile would inherit a file that is open for writing here, and until it has closed it
        // the file is no program.
        let write = Command::new("sh")
            .args(["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", &text])
            .arg(&file)
            .status();
        assert!(write.expect("a shell").success(), "the program is written");
        let program = ServerProgram::find(Some(&file)).expect("it is a server");
        Self { program, log, _folder: folder }
    }

    /// Plays random histories of these scenarios. They agree with the model: scripts that report do the same as those that do not.
    fn replay(&self, scenarios: &[&Scenario], scripts: &Scripts, options: FuzzOptions) {
        let differing = at_once(scenarios, |scenario| {
            let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
            let limits = Limits::none(&stop, &progress);
            let target = TargetProgram::ScriptsSentAgain(scripts.clone());
            let found = fuzz(scenario, &self.program, target, options, &limits)
                .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
            found.counterexample.map(|(_, difference)| format!("{}: {}", scenario.name, difference.what))
        });
        let differing: Vec<_> = differing.into_iter().flatten().collect();
        assert!(differing.is_empty(), "{}", differing.join("\n"));
    }

    /// How often each branch was taken since the server was made.
    fn taken(&self, watched: &WatchedScripts) -> Vec<u64> {
        let log = fs::read(&self.log).expect("a log");
        let mut taken = vec![0; watched.branches.len()];
        for line in String::from_utf8_lossy(&log).lines() {
            if let Some((_, number)) = line.split_once(REPORT) {
                let number: usize = number.parse().expect("the number of a branch");
                taken[number] += 1;
            }
        }
        taken
    }
}

/// Scripts that report which branches they take.
struct WatchedScripts {
    scripts: Scripts,
    branches: Vec<Branch>,
}

impl WatchedScripts {
    fn of(scripts: &Scripts) -> Self {
        let mut branches = Vec::new();
        let watched = scripts.iter().fold(scripts.clone(), |watched, script| {
            watched.replace(script.name(), &watched_text(script.name(), script.text(), &mut branches))
        });
        Self { scripts: watched, branches }
    }

    fn not_taken(&self, taken: &[u64]) -> BTreeSet<&Branch> {
        self.branches.iter().zip(taken).filter(|(_, times)| **times == 0).map(|(branch, _)| branch).collect()
    }
}

/// One way through a script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Branch {
    script: &'static str,
    /// The line that it depends on, from 1; 0: it is the whole script.
    line: usize,
    /// The text of that line.
    code: String,
    way: &'static str,
}

const RUNS: &str = "it runs";
const BLOCK: &str = "its block";
const NO_BLOCK: &str = "no condition holds";
const ENDED: &str = "its condition ends it";

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, line, code, way } = self;
        if *line == 0 { write!(f, "{script}: {way}") } else { write!(f, "{script}, line {line}, {code}: {way}") }
    }
}

/// A statement that has begun, and the line in which it did.
struct OpenStatement<'a> {
    line: usize,
    code: &'a str,
    is_loop: bool,
    has_else: bool,
}

/// The script with its reports. Their numbers continue those of `branches`.
///
/// # Panics
/// A statement with blocks is not written in the form that all scripts have: each head, `else`, `break` and `end` on a line of its own.
fn watched_text(script: &'static str, text: &str, branches: &mut Vec<Branch>) -> String {
    const WORDS: [&str; 12] =
        ["if", "then", "elseif", "else", "end", "for", "while", "do", "break", "repeat", "until", "function"];
    let mut report = |line: usize, code: &str, way: &'static str| {
        branches.push(Branch { script, line, code: code.to_owned(), way });
        format!("redis.log(redis.LOG_WARNING, '{REPORT}{}')", branches.len() - 1)
    };
    let mut lines = vec![report(0, "", RUNS)];
    let mut open: Vec<OpenStatement<'_>> = Vec::new();
    for (line, written) in (1..).zip(text.lines()) {
        // No string in a script contains two hyphens.
        let code = written.split("--").next().unwrap_or_default().trim();
        let words: Vec<_> = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let within = match *words.as_slice() {
            ["if" | "elseif", ref within @ .., "then"] | ["for" | "while", ref within @ .., "do"] => within,
            ["else" | "break" | "end"] => &[],
            ref other => other,
        };
        let is_known = within.iter().all(|word| !WORDS.contains(word));
        assert!(is_known, "{script}, line {line}: {code}: a statement that is not known here");
        match words[0] {
            "if" => {
                lines.extend([written.to_owned(), report(line, code, BLOCK)]);
                open.push(OpenStatement { line, code, is_loop: false, has_else: false });
            }
            "elseif" => lines.extend([written.to_owned(), report(line, code, BLOCK)]),
            "else" => {
                lines.extend([written.to_owned(), report(line, code, BLOCK)]);
                open.last_mut().expect("an if").has_else = true;
            }
            "for" | "while" => {
                let not_broken = format!("local is_broken_{line} = false");
                lines.extend([not_broken, written.to_owned(), report(line, code, BLOCK)]);
                open.push(OpenStatement { line, code, is_loop: true, has_else: false });
            }
            "break" => {
                let innermost = open.iter().rfind(|statement| statement.is_loop).expect("a loop");
                lines.extend([format!("is_broken_{} = true", innermost.line), written.to_owned()]);
            }
            "end" => {
                let OpenStatement { line, code, is_loop, has_else } = open.pop().expect("a statement that ends");
                if is_loop {
                    let ended = report(line, code, ENDED);
                    lines.extend([written.to_owned(), format!("if not is_broken_{line} then {ended} end")]);
                } else if has_else {
                    lines.push(written.to_owned());
                } else {
                    lines.extend([format!("else {}", report(line, code, NO_BLOCK)), written.to_owned()]);
                }
            }
            _ => lines.push(written.to_owned()),
        }
    }
    assert!(open.is_empty(), "{script}: a statement does not end");
    lines.join("\n")
}
