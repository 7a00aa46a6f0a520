//! Everything that real servers do is a behaviour of the model.
//!
//! The replay of `conformance` shows that every step of the model is real. Here is the other direction: real servers run freely,
//! under the machine's clock, with clients that ask whenever they like and an operator who does harm (`run`, `nodes`). What
//! everybody saw is recorded with the interval in which it happened (`record`), and the model must be able to do the same
//! (`search`); what it cannot do is made small (`shrink`). Records that are kept in `records/` have no explanation in a model
//! that lacks one of its actions.

mod clients;
mod clock;
mod links;
mod nodes;
mod operator;
mod record;
mod run;
mod search;
mod shrink;
mod world;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use lockstep_model::ActionKind;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{for_every_version_at_once, servers};
use serde::{Deserialize, Serialize};

use crate::record::{Deed, Record};
use crate::run::run;
use crate::search::{Explanation, search};
use crate::shrink::{least, unexplained};
use crate::world::{FreeRun, Harm};

/// Runs on each server version; `LOCKSTEP_FREE_RUNS` asks for another number.
const RUNS: u64 = Harm::ALL.len() as u64;

/// The actions without which the model must fail to explain a kept record of real servers.
const NEEDED: [ActionKind; 18] = [
    ActionKind::Replicate,
    ActionKind::Promote,
    ActionKind::Expire,
    ActionKind::VanishKey,
    ActionKind::PersistKey,
    ActionKind::Abandon,
    ActionKind::PauseNode,
    ActionKind::RefuseWrites,
    ActionKind::HandOver,
    ActionKind::RestartNode,
    ActionKind::Snapshot,
    ActionKind::StartClient,
    ActionKind::GoBack,
    ActionKind::Recount,
    ActionKind::CutLink,
    ActionKind::Resync,
    ActionKind::Demote,
    ActionKind::ClockJump,
];

/// A record that is kept, and the action without which it has no explanation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    needs: ActionKind,
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
        let (mut explained, mut undecided) = (0, 0);
        for number in 0..runs {
            let free_run = FreeRun::drawn(seed + number, server);
            let record = run(server, free_run);
            println!("{server}: {free_run}");
            match search(&record, None) {
                Explanation::Explained => explained += 1,
                Explanation::Undecided(why) => {
                    println!("{server}: {free_run}: {why}");
                    undecided += 1;
                }
                Explanation::Unexplained { .. } => {
                    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("free-run-{}.json", free_run.seed));
                    fs::write(&file, serde_json::to_string(&record).expect("plain values")).expect("it is written");
                    panic!("{server}: {free_run}: kept as {}\n{}", file.display(), unexplained(&record))
                }
            }
        }
        println!("{server}: {explained} runs explained, {undecided} undecided");
        assert!(undecided * 10 <= runs, "{undecided} of {runs} runs are undecided");
    });
}

/// Each action was seen at work: what real servers did has an explanation with it and none without it.
#[test]
fn a_record_of_real_servers_has_no_explanation_in_a_model_that_lacks_an_action() {
    if from_environment("LOCKSTEP_WRITE_RECORDS", 0) == 1 {
        keep_new_records();
    }
    for needs in NEEDED {
        let name = needs.name();
        let kept = read_record(needs).unwrap_or_else(|error| {
            panic!("the record of {name}: {error}\nwith LOCKSTEP_WRITE_RECORDS=1 this test makes the records that are missing")
        });
        assert_eq!(kept.needs, needs);
        assert_eq!(search(&kept.record, None), Explanation::Explained, "{name}: {}", unexplained(&kept.record));
        let without = search(&kept.record, Some(needs));
        assert!(matches!(without, Explanation::Unexplained { .. }), "{name}: {without:?}");
    }
}

fn path_of(needs: ActionKind) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("inclusion/records/{}.json", needs.name()))
}

fn read_record(needs: ActionKind) -> Result<Kept, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(path_of(needs))?)?)
}

/// Makes runs until each action has one that needs it. Those that have a record keep it.
fn keep_new_records() {
    let server = &servers()[0];
    let mut missing: Vec<_> = NEEDED.into_iter().filter(|needs| !path_of(*needs).exists()).collect();
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

/// Whether somebody saw what cannot be explained without this action. That one deed of the operator needs another one before it
/// says nothing of the servers.
fn is_seen(record: &Record, needs: ActionKind) -> bool {
    let Explanation::Unexplained { end_us, progress, .. } = search(record, Some(needs)) else { return false };
    let stuck = record.parties.iter().zip(progress).filter_map(|(events, place)| events.get(place));
    stuck.filter(|event| event.to_us < end_us).all(|event| !matches!(event.what, Deed::Did(_)))
}
