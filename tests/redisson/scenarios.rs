//! Histories of the model on real Redisson: what the clients of the model do, it does.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

use lockstep_model::config::{
    FailedRenewal, InterruptedAcquire, MissedRenewal, Profile, Protocol, RenewalTimer, RequestId, StaleRenewal,
};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Config, Reply};
use lockstep_sim::check::{Engine, Limits, check};
use lockstep_sim::fuzz::{FuzzOptions, Fuzzed, fuzz};
use lockstep_sim::replay::redisson::RedissonProgram;
use lockstep_sim::replay::{Difference, Player, ReplayError, suited};
use lockstep_sim::scenario::{self, Scenario};
use lockstep_tests::drawn::from_environment;
use lockstep_tests::servers::servers;

use crate::redisson;

/// Random histories of each scenario that Redisson can follow; `LOCKSTEP_REDISSON_HISTORIES` asks for another number.
const HISTORIES: u32 = 2;
/// The built-in scenarios that Redisson can follow so far: a new one that it can is added here.
const FOLLOWED: u32 = 91;
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
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let options = FuzzOptions { cases, seed };
    fuzz(scenario, &servers()[0], program, options, &Limits::none(&stop, &progress))
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
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
        started.into_iter().map(|part| part.join().expect("nothing differs")).collect()
    });
    let sum = |of: fn(&FollowedHistories) -> u32| counts.iter().map(of).sum::<u32>();
    let (followed, histories, left) = (sum(|one| one.followed), sum(|one| one.histories), sum(|one| one.left));
    println!("{followed} scenarios, {histories} histories, {left} of them not followed to their end");
    assert_eq!(followed, FOLLOWED);
    assert!(left * 3 < histories, "{left} of {histories} were not followed to their end");
}

#[derive(Default)]
struct FollowedHistories {
    followed: u32,
    histories: u32,
    left: u32,
}

fn replay_all<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> FollowedHistories {
    let cases = from_environment("LOCKSTEP_REDISSON_HISTORIES", HISTORIES);
    let mut counts = FollowedHistories::default();
    for scenario in scenarios {
        if !is_of_redisson(&scenario.config) {
            continue;
        }
        match suitability(scenario) {
            Ok(()) => {}
            Err(ReplayError::NotForRedisson { .. }) => continue,
            Err(error) => panic!("{}: {error}", scenario.name),
        }
        let found = random_histories(scenario, version_of(&scenario.config), cases, 1);
        let difference = found.counterexample.map(|(_, difference)| difference);
        assert_eq!(difference, None, "{}", scenario.name);
        counts.followed += 1;
        counts.left += found.left;
        counts.histories += found.cases;
    }
    counts
}

/// Whether the clients of a scenario have the rules of a version of Redisson: some say what a client with others would do.
pub fn is_of_redisson(config: &Config) -> bool {
    let (protocol, calls) = (config.protocol, config.calls);
    // On which node it subscribes is a setting.
    let own = Protocol { subscribe_to: protocol.subscribe_to, ..protocol.profile.protocol() };
    let are_its_calls = calls.stale_renewal == StaleRenewal::Believe
        && (config.faults.interrupt == 0 || calls.interrupted_acquire == InterruptedAcquire::Renew);
    protocol.profile != Profile::Lockstep && protocol == own && are_its_calls
}

/// A late answer to a renewal ends the renewal of the next hold; and an acquire whose caller was interrupted is renewed for ever.
/// Renewal timers multiply, and a key of a wrong type ends the renewal of other locks. The model finds all of this, and each shortest trace is what Redisson does, step by step.
#[test]
fn redisson_breaks_a_lock_as_the_model_says_where_answers_come_late_or_threads_are_interrupted() {
    let names = [
        "late-renewal-after-release",
        "interrupted-acquire-is-renewed-for-ever",
        "renewal-timers-multiply",
        "overwritten-lock-ends-other-renewals",
    ];
    for name in names {
        let replayed = replayed_counterexamples(&built_in(name));
        assert!(!replayed.is_empty(), "{name}");
        for (difference, left) in replayed {
            assert_eq!((difference, left), (None, None), "{name}");
        }
    }
}

/// A wrong switch is seen: with the other value Redisson does something else, in random histories or in the counterexamples
/// that the model has with it.
#[test]
fn redisson_contradicts_a_wrong_switch_of_the_protocol() {
    let flipped = |name: &str, change: &dyn Fn(&mut Config)| {
        let mut scenario = built_in(name);
        change(&mut scenario.config);
        scenario
    };
    for (name, receipts) in [("missed-renewal-of-2026", false), ("missed-renewal-of-2021", true)] {
        assert!(differs_at_random(&flipped(name, &|config| config.protocol.receipts = receipts)), "{name}: receipts");
    }
    for (name, timer) in
        [("missed-renewal-of-2026", RenewalTimer::PerLock), ("missed-renewal-of-2021", RenewalTimer::Shared)]
    {
        assert!(differs_at_random(&flipped(name, &|config| config.protocol.renewal_timer = timer)), "{name}: timer");
    }
    let in_turn = flipped("two-locks-in-one-renewal", &|config| config.protocol.renewal_batch = 1);
    assert!(differs_at_random(&in_turn), "renewal_batch");
    let stops = flipped("missed-renewal-of-2026", &|config| config.protocol.missed_renewal = MissedRenewal::StopTimer);
    assert!(differs_in_a_counterexample(&stops), "missed_renewal");
    for kept in [InterruptedAcquire::Keep, InterruptedAcquire::Release] {
        let wrong = flipped("interrupted-acquire-is-renewed-for-ever", &|config| {
            config.calls.interrupted_acquire = kept;
        });
        assert!(differs_at_random(&wrong), "{kept:?}");
    }
    let per_try = flipped("resent-requests", &|config| config.calls.request_id = RequestId::PerTry);
    assert!(differs_at_random(&per_try), "request_id");
    let forgets = flipped("renewals-that-fail", &|config| {
        config.protocol = Protocol { failed_renewal: FailedRenewal::Forget, ..Profile::Redisson47.protocol() };
    });
    assert!(differs_in_a_counterexample(&forgets), "failed_renewal");
    let ignores = flipped("late-renewal-after-release", &|config| config.calls.stale_renewal = StaleRenewal::Ignore);
    assert!(differs_where_the_watchdog_stops(&ignores), "stale_renewal");
}

pub fn built_in(name: &str) -> Scenario {
    scenario::builtin().into_iter().find(|one| one.name == name).expect("it is built in")
}

fn differs_at_random(scenario: &Scenario) -> bool {
    random_histories(scenario, version_of(&scenario.config), 200, 1).counterexample.is_some()
}

fn differs_in_a_counterexample(scenario: &Scenario) -> bool {
    replayed_counterexamples(scenario).iter().any(|(difference, _)| difference.is_some())
}

/// The shortest history in which a watchdog finds nothing to renew although its client holds, in a world where it goes on.
fn differs_where_the_watchdog_stops(wrong: &Scenario) -> bool {
    let right = counterexamples(&built_in(&wrong.name));
    let stops = right.iter().find_map(|trace| {
        let last = trace.steps.iter().position(|step| step.answer == Reply::NothingToRenew)?;
        Some(trace.steps[..=last].iter().map(|step| step.action).collect::<Vec<_>>())
    });
    let actions = stops.expect("a watchdog stops");
    let trace = Trace::record(&wrong.name, "", &wrong.config, About::Drawn, &actions, "").expect("it can happen");
    let mut player = Player::start(&servers()[0], &wrong.config, version_of(&wrong.config)).expect("it starts");
    player.replay(&trace, false).expect("it answers").difference.is_some()
}

/// Every counterexample that the model has, on Redisson: where the two differ, and why it was left before its end.
pub fn replayed_counterexamples(scenario: &Scenario) -> Vec<(Option<Difference>, Option<&'static str>)> {
    let mut player = Player::start(&servers()[0], &scenario.config, version_of(&scenario.config)).expect("it starts");
    let replayed = counterexamples(scenario).into_iter().map(|trace| player.replay(&trace, false).expect("it answers"));
    replayed.map(|replayed| (replayed.difference, replayed.left)).collect()
}

fn counterexamples(scenario: &Scenario) -> Vec<Trace> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcome =
        check(scenario, Engine::Native, &Limits::none(&stop, &progress)).unwrap_or_else(|error| panic!("{error}"));
    outcome.properties.into_iter().filter_map(|found| found.trace).collect()
}
