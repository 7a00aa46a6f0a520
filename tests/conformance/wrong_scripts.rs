//! The replay notices mistakes: a script with one wrong rule is caught on the real server, in the scenario that is about the
//! rule, by the comparison that is named.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use lockstep_redis::Scripts;
use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{FuzzOptions, fuzz};
use lockstep_sim::replay::{ServerProgram, TargetProgram};
use lockstep_tests::at_once::at_once;
use lockstep_tests::servers::{for_every_version_at_once, servers};

use crate::KINDS;
use crate::counted_hold::{EXECUTED_AGAIN, OF_RECEIPTS};
use crate::histories::{builtin_scenario, can_replay, on};
use crate::kinds::{KindProofs, WrongScript};

/// Histories drawn before a wrong script counts as not caught.
const MOST_CASES: u32 = 2_000;
/// Histories of each scenario whose releases are sent again, on each server.
const CASES_SENT_AGAIN: u32 = 20;

#[test]
fn every_wrong_script_is_caught_by_the_replay() {
    let version = servers().swap_remove(0);
    let all: Vec<_> = all().collect();
    let missed: Vec<String> =
        at_once(&all, |(kind, wrong)| not_caught(kind, wrong, &version)).into_iter().flatten().collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// In the worlds in which a script is caught that executes it once more.
#[test]
fn a_release_that_is_sent_again_is_answered_by_its_receipt_and_changes_nothing_on_any_server() {
    let again = all().filter(|(_, wrong)| wrong.rule == EXECUTED_AGAIN.rule);
    let names: BTreeSet<_> = again.map(|(_, wrong)| wrong.scenario).collect();
    let replayed = AtomicUsize::new(0);
    for_every_version_at_once(|version| {
        for scenario in names.iter().map(|name| builtin_scenario(name)).filter(|one| can_replay(version, one)) {
            let target = TargetProgram::ScriptsSentAgain(Scripts::built_in());
            let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
            let options = FuzzOptions { cases: CASES_SENT_AGAIN, seed: 1 };
            let found = fuzz(&on(version, scenario), version, target, options, &Limits::none(&stop, &progress));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            assert!(found.counterexample.is_none(), "{:#?}", found.counterexample);
            replayed.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(replayed.into_inner() > names.len(), "on more than one server");
}

#[test]
fn every_script_is_made_wrong_somehow() {
    let made_wrong: BTreeSet<_> = all().map(|(_, wrong)| wrong.script).collect();
    let known: BTreeSet<_> = Scripts::built_in().iter().map(lockstep_redis::Script::name).collect();
    assert_eq!(made_wrong, known);
}

fn all() -> impl Iterator<Item = (&'static KindProofs, &'static WrongScript)> {
    KINDS.iter().flat_map(|kind| kind.wrong_scripts.iter().map(move |wrong| (kind, wrong)))
}

/// Why this one is not caught as it should be, if so.
fn not_caught(kind: &KindProofs, wrong: &WrongScript, version: &ServerProgram) -> Option<String> {
    let WrongScript { script, rule, right, instead, scenario, caught_by } = wrong;
    let text = Scripts::built_in().get(script).text().to_owned();
    assert!(text.contains(right), "{script} does not contain {right:?} any more");
    let scripts = Scripts::built_in().replace(script, &text.replacen(right, instead, 1));
    let scenario = (kind.scenario)(scenario).unwrap_or_else(|| builtin_scenario(scenario));
    let options = FuzzOptions { cases: MOST_CASES, seed: 1 };
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let is_of_receipts = OF_RECEIPTS.contains(rule);
    let target = if is_of_receipts { TargetProgram::ScriptsSentAgain(scripts) } else { scripts.into() };
    let found =
        fuzz(&scenario, version, target, options, &limits).unwrap_or_else(|error| panic!("{script}, {rule}: {error}"));
    let by = found.counterexample.map(|(_, difference)| difference.what);
    (by.as_deref() != Some(*caught_by)).then(|| format!("{script}, {rule}: {by:?} and not {caught_by:?}"))
}
