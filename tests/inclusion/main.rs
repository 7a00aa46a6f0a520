//! Everything that real servers do is a behaviour of the model.
//!
//! The replay of `conformance` shows that every step of the model is real. Here is the other direction: real servers run freely,
//! under the machine's clock, with clients that ask whenever they like and an operator who does harm (`run`, `nodes`). What
//! everybody saw is recorded with the interval in which it happened (`record`), and the model must be able to do the same
//! (`search`). `rules` takes rules from the model: records that are kept in `records/` have no explanation without them.

mod nodes;
mod record;
mod rules;
mod run;
mod search;
mod shrink;

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::{for_every_version_at_once, servers};
use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::rules::Rule;
use crate::run::{FreeRun, run};
use crate::search::{Explanation, search};
use crate::shrink::shrunk;

/// Runs on each server version; `LOCKSTEP_FREE_RUNS` asks for another number.
const RUNS: u64 = 12;

/// A record that is kept, and the rule without which it has no explanation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    needs: Rule,
    record: Record,
}

fn records() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("inclusion/records")
}

#[test]
fn what_real_servers_do_in_free_runs_is_a_behaviour_of_the_model() {
    let (seed, runs) = (from_environment("LOCKSTEP_DRAW_SEED", 0), from_environment("LOCKSTEP_FREE_RUNS", RUNS));
    for_every_version_at_once(|server| {
        let (mut explained, mut undecided) = (0, 0);
        for number in 0..runs {
            let free_run = FreeRun::drawn(seed + number);
            let record = run(server, free_run);
            match search(&record, None) {
                Explanation::Explained => explained += 1,
                Explanation::Undecided(why) => {
                    println!("{server}: {free_run}: {why}");
                    undecided += 1;
                }
                Explanation::Unexplained { .. } => panic!("{server}: {free_run}:\n{}", shrunk(&record)),
            }
        }
        println!("{server}: {explained} runs explained, {undecided} undecided");
        assert!(undecided * 10 <= runs, "{undecided} of {runs} runs are undecided");
    });
}

/// Each rule was seen at work: a record of real servers has an explanation with it and none without it.
#[test]
fn a_record_of_real_servers_has_no_explanation_in_a_model_without_the_rule() {
    if from_environment("LOCKSTEP_WRITE_RECORDS", 0) == 1 {
        keep_new_records();
    }
    for rule in Rule::ALL {
        let path = records().join(format!("{}.json", rule.name()));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kept: Kept = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(kept.needs, rule);
        assert_eq!(search(&kept.record, None), Explanation::Explained, "{}", rule.name());
        let without = search(&kept.record, Some(rule));
        assert!(matches!(without, Explanation::Unexplained { .. }), "{}: {without:?}", rule.name());
    }
}

/// Makes runs until each rule has one that needs it.
fn keep_new_records() {
    let server = &servers()[0];
    let mut needed: Vec<Rule> = Rule::ALL.to_vec();
    for seed in 0..1000 {
        if needed.is_empty() {
            return;
        }
        let record = run(server, FreeRun::drawn(seed));
        assert_eq!(search(&record, None), Explanation::Explained, "{}", shrunk(&record));
        needed.retain(|&rule| {
            let is_needed = matches!(search(&record, Some(rule)), Explanation::Unexplained { .. });
            if is_needed {
                let kept = Kept { needs: rule, record: record.clone() };
                let text = serde_json::to_string(&kept).expect("plain values");
                fs::write(records().join(format!("{}.json", rule.name())), text + "\n").expect("it is written");
            }
            !is_needed
        });
    }
    panic!("no run needed {needed:?}");
}
