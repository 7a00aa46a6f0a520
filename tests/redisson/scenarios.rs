//! Histories of the model on real Redisson: what the clients of the model do, it does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::Config;
use lockstep_sim::check::Limits;
use lockstep_sim::fuzz::{FuzzFailure, FuzzOptions, Fuzzed, fuzz};
use lockstep_sim::replay::redisson::{RedissonProgram, has_rules_of_its_version, refuse_on_server, refuse_world};
use lockstep_sim::replay::{Difference, Flavour, Player, ReplayError, ServerProgram, refuse_unsuited, suited};
use lockstep_sim::scenario::{self, Scenario};
use lockstep_tests::at_once::at_once;
pub use lockstep_tests::built_in::scenario as built_in;
use lockstep_tests::counterexamples::counterexamples;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;

/// Random histories of each scenario that Redisson can follow, and of each one of a split network, which are fewer;
/// `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 1;
const HISTORIES_OF_SPLIT: u32 = 5;
/// The built-in scenarios that Redisson can follow so far on servers like the first of the tests: a new one that it can is added here.
const FOLLOWED: usize = 280;
/// The same on Redis 6.2, and on Valkey.
const FOLLOWED_ON_6_2: usize = 260;
const FOLLOWED_ON_VALKEY: usize = 275;
/// At least so many histories are those of a split network, and as many are not.
const LEAST: u32 = 100;
/// The kinds of lock that Redisson has.
const KINDS: usize = 8;
/// Where so many are asked for of each scenario, there are at least so many of each kind.
const MANY: u32 = 50;
const LEAST_OF_KIND: u32 = 200;

/// The version that is the profile of this scenario.
pub fn version_of(config: &Config) -> RedissonProgram {
    redisson(config.protocol.profile.redisson_version().unwrap_or("4.7.0"))
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
    let followed_on = |server: &ServerProgram| -> Vec<_> {
        let in_its_world = |scenario: Scenario| {
            let config = suited(&scenario.config, server);
            (server.clone(), Scenario { config, ..scenario })
        };
        let all = scenario::builtin().into_iter().map(in_its_world);
        all.filter(|(server, scenario)| can_be_followed(server, scenario)).collect()
    };
    let all_servers = servers();
    let of_servers: Vec<_> = all_servers.iter().map(followed_on).collect();
    for (server, followed) in all_servers.iter().zip(&of_servers) {
        let expected = match (server.flavour(), server.names_errors_of_scripts()) {
            (Flavour::Valkey, _) => FOLLOWED_ON_VALKEY,
            (Flavour::Redis, true) => FOLLOWED,
            (Flavour::Redis, false) => FOLLOWED_ON_6_2,
        };
        assert_eq!(followed.len(), expected, "{server}");
    }
    let is_on_each = from_environment("LOCKSTEP_EVERY_SERVER", 0) > 0;
    let on = if is_on_each { all_servers.len() } else { 1 };
    let scenarios: Vec<_> = of_servers.into_iter().take(on).flatten().collect();
    let replayed = at_once(&scenarios, |(server, scenario)| replay(server, scenario));
    let differences: Vec<_> = replayed.iter().filter_map(|one| one.difference.as_deref()).collect();
    assert!(
        differences.is_empty(),
        "{} of {} scenarios differ\n{}",
        differences.len(),
        scenarios.len(),
        differences.join("\n")
    );
    let sum = |of: fn(&ScenarioHistories) -> u32| replayed.iter().map(of).sum::<u32>();
    let (histories, left) = (sum(|one| one.histories), sum(|one| one.left));
    let split = sum(|one| if one.is_split { one.histories } else { 0 });
    // Of each kind of lock on each server: how many histories were begun, and how many of them followed to their end.
    let mut of_kinds: BTreeMap<(String, &str), (u32, u32)> = BTreeMap::new();
    for ((server, scenario), one) in scenarios.iter().zip(&replayed) {
        let kind = (server.to_string(), scenario.config.lock.name());
        let (begun, followed) = of_kinds.entry(kind).or_default();
        *begun += one.histories;
        *followed += one.histories - one.left;
    }
    println!(
        "{} scenarios, {histories} histories, {left} of them not followed to their end; {split} on a split network; of each kind, and followed: {of_kinds:?}",
        scenarios.len()
    );
    assert!(
        split >= LEAST && histories - split >= LEAST,
        "{split} on a split network, {} on no such",
        histories - split
    );
    assert!(left * 3 < histories, "{left} of {histories} were not followed to their end");
    let is_many = from_environment("LOCKSTEP_REDISSON_HISTORIES", 0) >= MANY;
    // Of a lock on several masters that a watchdog renews, few are followed to their end (`order-inside-the-jvm`).
    let (least, least_followed) = if is_many { (LEAST_OF_KIND, 1) } else { (1, 0) };
    let is_enough = |(begun, followed): &(u32, u32)| *begun >= least && *followed >= least_followed;
    assert!(of_kinds.len() == KINDS * on && of_kinds.values().all(is_enough), "{of_kinds:?}");
}

fn can_be_followed(server: &ServerProgram, scenario: &Scenario) -> bool {
    let (config, program) = (&scenario.config, version_of(&scenario.config));
    // A server that does not do what a scenario is about cannot replay it; `conformance` does so on the others.
    if !has_rules_of_its_version(config) || refuse_unsuited(server, config).is_err() {
        return false;
    }
    match refuse_world(config, &program).and_then(|()| refuse_on_server(config, &program, server)) {
        Ok(()) => true,
        Err(ReplayError::NotForRedisson { .. }) => false,
        Err(error) => panic!("{}: {error}", scenario.name),
    }
}

/// What became of the random histories of a scenario.
#[derive(Default)]
struct ScenarioHistories {
    histories: u32,
    left: u32,
    is_split: bool,
    difference: Option<String>,
}

fn replay(server: &ServerProgram, scenario: &Scenario) -> ScenarioHistories {
    let is_split = scenario.config.is_split();
    let cases = if is_split { HISTORIES_OF_SPLIT } else { HISTORIES };
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", cases);
    match histories_on(server, scenario, version_of(&scenario.config), cases, 1) {
        Ok(found) => {
            let difference = found.counterexample.map(|(_, one)| format!("{} on {server}: {one:#?}", scenario.name));
            ScenarioHistories { histories: found.cases, left: found.left, is_split, difference }
        }
        Err(error) => {
            let difference = Some(format!("{} on {server}: {error}", scenario.name));
            ScenarioHistories { difference, ..ScenarioHistories::default() }
        }
    }
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
