//! Everything that real servers do is a behaviour of the model.
//!
//! The replay of `conformance` shows that every step of the model is real. Here is the other direction: real servers run freely,
//! under the machine's clock, with clients that ask whenever they like and an operator who does harm (`run`). What
//! everybody saw is recorded with the interval in which it happened (`record`), and the model must be able to do the same
//! (`search`); what it cannot do is made small (`shrink`). Records that are kept in `records/` have no explanation in a model
//! that lacks something (`lack`).

mod clients;
mod clock;
mod lack;
mod links;
mod operator;
mod record;
mod resource;
mod run;
mod search;
mod shrink;
mod world;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lockstep_model::mutants::Mutant;
use lockstep_model::{Action, ActionKind};
use lockstep_sim::replay::ServerProgram;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::page;
use lockstep_tests::servers::{for_every_version_at_once, servers};
use serde::{Deserialize, Serialize};

use crate::lack::Lack;
use crate::record::{Deed, Event, Record};
use crate::run::run;
use crate::search::{Explanation, search};
use crate::shrink::{least, unexplained};
use crate::world::{FreeRun, Harm};

/// Runs on each server version; `LOCKSTEP_FREE_RUNS` asks for another number.
const RUNS: u64 = Harm::ALL.len() as u64;
/// Runs at the same time on each version: they wait more than they compute.
const STREAMS: usize = 4;

/// What the model must not lack: without it there is no explanation for a kept record of real servers. And what the record shows.
const NEEDED: [(Lack, &str); 26] = [
    (Lack::Action(ActionKind::Expire), "a key with no time left may be gone at that very instant"),
    (Lack::Action(ActionKind::RefuseWrites), "a master whose save failed refuses writes"),
    (Lack::Action(ActionKind::PauseNode), "a node that stands still answers nothing"),
    (Lack::Action(ActionKind::Recount), "a master counts a silent replica for a while, and not for ever"),
    (Lack::Rule(Mutant::SlackIgnored), "a master counts a silent replica for longer than max-lag"),
    (Lack::Action(ActionKind::CutLink), "an old master goes on behind a partition"),
    (Lack::Action(ActionKind::Promote), "a replica takes the master's place"),
    (Lack::Action(ActionKind::Resync), "a replica takes the new master's data some time after the promotion"),
    (Lack::Action(ActionKind::Demote), "an old master becomes a replica"),
    (Lack::Action(ActionKind::Replicate), "a replica applies later what the master has"),
    (Lack::Action(ActionKind::StartClient), "a client that was not there at the beginning asks"),
    (Lack::Action(ActionKind::GoBack), "a client is granted by an old master that says it is one"),
    (Lack::Action(ActionKind::HandOver), "a master hands over (`FAILOVER`), and writes wait meanwhile"),
    (Lack::Rule(Mutant::FailoverRewritesFile), "a master that handed over restarts as a master"),
    (Lack::Rule(Mutant::NoReplicaStays), "a replica stays with a master that was replaced, which goes on writing"),
    (
        Lack::Action(ActionKind::LeaveMaster),
        "a replica that is told of the new master leaves the old one, which writes no more",
    ),
    (
        Lack::Rule(Mutant::DeadReplicaIsTold),
        "a replica that restarts follows the master that its file names, which goes on writing",
    ),
    (Lack::Rule(Mutant::ForceWaits), "a forced hand-over (`FAILOVER … FORCE`) loses what its replica does not have"),
    (Lack::Rule(Mutant::ShutdownSavesNothing), "a node that is told to end saves what it has"),
    (Lack::Action(ActionKind::RestartNode), "a node is killed and starts again"),
    (Lack::Action(ActionKind::Snapshot), "a node starts with the data of its last snapshot"),
    (Lack::Action(ActionKind::PersistKey), "a key has lost its TTL, and is never freed"),
    (Lack::Action(ActionKind::VanishKey), "a key is gone before its time"),
    (Lack::Action(ActionKind::ClockJump), "the clock of a node jumps"),
    (
        Lack::Action(ActionKind::Arrive),
        "a write to the resource arrives after its client has released the lock, or lost it",
    ),
    (Lack::Action(ActionKind::Abandon), "a caller waits for an answer no longer than its time-out"),
];

/// A record that is kept, and what must be lacking so that it has no explanation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    needs: Lack,
    record: Record,
}

#[test]
fn what_real_servers_do_in_free_runs_is_a_behaviour_of_the_model() {
    // A record that a run has kept, looked at again.
    if let Ok(file) = std::env::var("LOCKSTEP_RECORD") {
        let record = serde_json::from_str(&fs::read_to_string(file).expect("it is there")).expect("it is a record");
        assert_eq!(search(&record, None), Explanation::Explained, "{}", unexplained(&record));
        return;
    }
    let (seed, runs) = (from_environment("LOCKSTEP_DRAW_SEED", 0), from_environment("LOCKSTEP_FREE_RUNS", RUNS));
    for_every_version_at_once(|server| {
        let (next, undecided) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            let stream = || loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= runs {
                    return;
                }
                if !is_explained(server, FreeRun::drawn(seed + number, server)) {
                    undecided.fetch_add(1, Ordering::Relaxed);
                }
            };
            (0..STREAMS).for_each(|_| _ = scope.spawn(stream));
        });
        let undecided = undecided.into_inner();
        println!("{server}: {} runs explained, {undecided} undecided", runs - undecided);
        assert!(undecided * 10 <= runs, "{undecided} of {runs} runs are undecided");
    });
}

/// Makes a run. Whether the model explains it; otherwise nobody knows.
fn is_explained(server: &ServerProgram, free_run: FreeRun) -> bool {
    let record = run(server, free_run);
    println!("{server}: {free_run}");
    match search(&record, None) {
        Explanation::Explained => true,
        Explanation::Undecided(why) => {
            println!("{server}: {free_run}: {why}: kept as {}", keep(&record, server, free_run).display());
            false
        }
        Explanation::Unexplained { .. } => {
            let file = keep(&record, server, free_run);
            panic!("{server}: {free_run}: kept as {}\n{}", file.display(), unexplained(&record))
        }
    }
}

/// Writes the record to a file, so that it can be looked at again.
fn keep(record: &Record, server: &ServerProgram, free_run: FreeRun) -> PathBuf {
    let name = format!("free-run-{}-{}.json", server.version(), free_run.seed);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, serde_json::to_string(record).expect("plain values")).expect("it is written");
    file
}

/// Each of these was seen at work: what real servers did has an explanation with it and none without it. The page lists them.
#[test]
fn a_record_of_real_servers_has_no_explanation_in_a_model_that_lacks_something() {
    if from_environment("LOCKSTEP_WRITE_RECORDS", 0) == 1 {
        keep_new_records();
    }
    let mut rows = Vec::new();
    for (needs, shows) in NEEDED {
        let name = needs.name();
        let kept = read_record(needs).unwrap_or_else(|error| {
            panic!("the record of {name}: {error}\nwith LOCKSTEP_WRITE_RECORDS=1 this test makes the records that are missing")
        });
        assert_eq!(kept.needs, needs);
        assert_eq!(search(&kept.record, None), Explanation::Explained, "{name}: {}", unexplained(&kept.record));
        let without = search(&kept.record, Some(needs));
        let Explanation::Unexplained { end_us, .. } = without else { panic!("{name}: {without:?}") };
        let events = kept.record.parties.iter().flatten().count();
        let lacks = match needs {
            Lack::Action(_) => format!("without the action `{name}`"),
            Lack::Rule(_) => format!("with the wrong rule `{name}`"),
        };
        let file = format!("[record](../tests/inclusion/records/{name}.json)");
        rows.push(vec![shows.to_owned(), lacks, kept.record.server, events.to_string(), milliseconds(end_us), file]);
    }
    let head = ["what real servers did", "has no explanation", "server", "events#", "beyond#", ""];
    page::keep(
        "reports/free-runs.md",
        &format!(
            "# Free runs\n\nMade by `make reports` from kept records; a test fails when it is stale.\n\n\
             Real servers run freely, with clients that ask whenever they like and an operator who does harm, and what everybody \
             saw must be a behaviour of the model (`make test` runs some, `make soak` thousands). Each line here is one such run, \
             made as small as it can be: the model explains it, and the same model without one action, or with one wrong rule, \
             does not. Release receipts are in no line, and neither is `WAIT`: the clients of free runs have none.\n\n{}\nUpdated by `make reports`.\n",
            page::table(&head, &rows)
        ),
    );
}

fn milliseconds(us: i64) -> String {
    format!("{} ms", us / 1000)
}

fn path_of(needs: Lack) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("inclusion/records/{}.json", needs.name()))
}

fn read_record(needs: Lack) -> Result<Kept, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(path_of(needs))?)?)
}

/// Makes runs until each of the needed has a record. Those that have a record keep it.
fn keep_new_records() {
    let server = &servers()[0];
    let mut missing: Vec<_> =
        NEEDED.into_iter().map(|(needs, _)| needs).filter(|needs| !path_of(*needs).exists()).collect();
    for seed in 0..1000 {
        if missing.is_empty() {
            return;
        }
        let record = run(server, FreeRun::drawn(seed, server));
        match search(&record, None) {
            Explanation::Explained => {}
            Explanation::Undecided(_) => continue,
            Explanation::Unexplained { .. } => panic!("{}", unexplained(&record)),
        }
        missing.retain(|&needs| {
            if !is_seen(&record, needs) {
                return true;
            }
            let Some(record) = least(&record, Some(needs)) else { return true };
            let text = serde_json::to_string(&Kept { needs, record }).expect("plain values");
            fs::write(path_of(needs), text + "\n").expect("it is written");
            false
        });
    }
    panic!("no run needed {missing:?}");
}

/// Whether somebody saw what cannot be explained without this. That one deed of the operator needs another one before it
/// says nothing of the servers.
fn is_seen(record: &Record, needs: Lack) -> bool {
    let Explanation::Unexplained { end_us, progress, .. } = search(record, Some(needs)) else { return false };
    let stuck = record.parties.iter().zip(progress).filter_map(|(events, place)| events.get(place));
    // Who goes back was told by the node that it is master, and what arrives the resource has seen.
    let is_of_servers = |event: &Event| match event.what {
        Deed::Did(action) => matches!(action, Action::GoBack { .. } | Action::Arrive { .. }),
        Deed::Sent { .. } | Deed::Heard { .. } | Deed::Saw { .. } => true,
    };
    stuck.filter(|event| event.to_us < end_us).all(is_of_servers)
}
