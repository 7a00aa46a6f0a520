//! Histories of the model on real Redisson: what the clients of the model do, it does.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

use lockstep_model::Config;
use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{FuzzFailure, FuzzOptions, Fuzzed, fuzz};
use lockstep_sim::replay::redisson::{RedissonProgram, has_rules_of_its_version};
use lockstep_sim::replay::{Difference, Player, ReplayError, ServerProgram, suited};
use lockstep_sim::scenario::{self, Scenario};
pub use lockstep_tests::built_in::scenario as built_in;
use lockstep_tests::counterexamples::counterexamples;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;

/// Random histories of each scenario that Redisson can follow, and of each one of a split network, which are fewer;
/// `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 2;
const HISTORIES_OF_SPLIT: u32 = 5;
/// The built-in scenarios that Redisson can follow so far: a new one that it can is added here.
const FOLLOWED: u32 = 239;
/// At least so many histories are those of a split network, and as many are not.
const LEAST: u32 = 100;
/// How many scenarios are replayed at once.
const AT_ONCE: usize = 2;

/// The version that is the profile of this scenario.
pub fn version_of(config: &Config) -> RedissonProgram {
    redisson(config.protocol.profile.redisson_version().unwrap_or("4.7.0"))
}

/// Whether it can follow the scenario, or else why not.
fn suitability(scenario: &Scenario) -> Result<(), ReplayError> {
    Player::start(&servers()[0], &scenario.config, version_of(&scenario.config)).map(|_| ())
}

pub fn random_histories(scenario: &Scenario, program: RedissonProgram, cases: u32, seed: u64) -> Fuzzed {
    try_random_histories(scenario, program, cases, seed).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

pub fn try_random_histories(
    scenario: &Scenario,
    program: RedissonProgram,
    cases: u32,
    seed: u64,
) -> Result<Fuzzed, FuzzFailure> {
    histories_on(&servers()[0], scenario, program, cases, seed)
}

pub fn histories_on(
    server: &ServerProgram,
    scenario: &Scenario,
    program: RedissonProgram,
    cases: u32,
    seed: u64,
) -> Result<Fuzzed, FuzzFailure> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    fuzz(scenario, server, program, FuzzOptions { cases, seed }, &Limits::none(&stop, &progress))
}

#[test]
fn redisson_does_what_the_clients_of_the_model_do_in_every_scenario_that_it_can_follow() {
    let in_world_of_server = |scenario: Scenario| {
        let config = suited(&scenario.config, &servers()[0]);
        Scenario { config, ..scenario }
    };
    let scenarios: Vec<_> = scenario::builtin().into_iter().map(in_world_of_server).collect();
    // A replay waits more than it computes.
    let counts: Vec<FollowedHistories> = thread::scope(|scope| {
        let part = |first: usize| scenarios.iter().skip(first).step_by(AT_ONCE);
        let started: Vec<_> = (0..AT_ONCE).map(|first| scope.spawn(move || replay_all(part(first)))).collect();
        started.into_iter().map(|part| part.join().expect("it is replayed")).collect()
    });
    let sum = |of: fn(&FollowedHistories) -> u32| counts.iter().map(of).sum::<u32>();
    let (followed, histories, left) = (sum(|one| one.followed), sum(|one| one.histories), sum(|one| one.left));
    let split = sum(|one| one.split);
    let differences: Vec<_> = counts.iter().flat_map(|one| &one.differences).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} of {followed} scenarios differ\n{}", differences.len(), differences.join("\n"));
    println!(
        "{followed} scenarios, {histories} histories, {left} of them not followed to their end; {split} on a split network"
    );
    assert!(
        split >= LEAST && histories - split >= LEAST,
        "{split} on a split network, {} on no such",
        histories - split
    );
    assert_eq!(followed, FOLLOWED);
    assert!(left * 3 < histories, "{left} of {histories} were not followed to their end");
}

#[derive(Default)]
struct FollowedHistories {
    followed: u32,
    histories: u32,
    /// So many of them on a split network.
    split: u32,
    left: u32,
    differences: Vec<String>,
}

fn replay_all<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> FollowedHistories {
    let mut counts = FollowedHistories::default();
    for scenario in scenarios {
        if !has_rules_of_its_version(&scenario.config) {
            continue;
        }
        match suitability(scenario) {
            Ok(()) => {}
            Err(ReplayError::NotForRedisson { .. }) => continue,
            Err(error) => panic!("{}: {error}", scenario.name),
        }
        let cases = if scenario.config.is_split() { HISTORIES_OF_SPLIT } else { HISTORIES };
        let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", cases);
        let found = match try_random_histories(scenario, version_of(&scenario.config), cases, 1) {
            Ok(found) => found,
            Err(error) => {
                counts.differences.push(format!("{}: {error}", scenario.name));
                continue;
            }
        };
        counts.differences.extend(found.counterexample.map(|(_, one)| format!("{}: {one:#?}", scenario.name)));
        counts.followed += 1;
        counts.left += found.left;
        counts.histories += found.cases;
        counts.split += if scenario.config.is_split() { found.cases } else { 0 };
    }
    counts
}

/// A late answer to a renewal ends the renewal of the next hold; and an acquire whose caller was interrupted is renewed for ever.
/// Renewal timers multiply, and a key of a wrong type or a late replica ends the renewal of other locks. The model finds all of this, and each
/// shortest trace is what Redisson does, step by step.
#[test]
fn redisson_breaks_a_lock_as_the_model_says_where_answers_come_late_or_threads_are_interrupted() {
    let names = [
        "late-renewal-after-release",
        "interrupted-acquire-is-renewed-for-ever",
        "renewal-timers-multiply",
        "overwritten-lock-ends-other-renewals",
        "late-replica-ends-other-renewals",
    ];
    for name in names {
        let replayed = replayed_counterexamples(&built_in(name));
        assert!(!replayed.is_empty(), "{name}");
        for (difference, left) in replayed {
            assert_eq!((difference, left), (None, None), "{name}");
        }
    }
}

/// Every counterexample that the model has, on Redisson: where the two differ, and why it was left before its end.
pub fn replayed_counterexamples(scenario: &Scenario) -> Vec<(Option<Difference>, Option<&'static str>)> {
    let mut player = Player::start(&servers()[0], &scenario.config, version_of(&scenario.config)).expect("it starts");
    let replayed = counterexamples(scenario).into_iter().map(|trace| player.replay(&trace, false).expect("it answers"));
    replayed.map(|replayed| (replayed.difference, replayed.left)).collect()
}
