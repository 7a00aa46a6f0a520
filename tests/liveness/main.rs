//! Liveness violations on fair paths are found, and nothing else is reported.
//!
//! `graphs` are built by hand, with verdicts worked out by hand; `brute_force` tries every set of edges of small random
//! graphs; `orbits` has random worlds whose masters are alike; `verdicts` compares the scenarios with what fairness means; `judge` and `traces` tamper with lassos;
//! `possible` asks whether the lock can still be had.

mod brute_force;
mod drawn;
mod graphs;
mod judge;
mod lasting;
mod orbits;
mod possible;
mod strong;
mod threads;
mod traces;
mod verdicts;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use lockstep_model::Property;
use lockstep_model::trace::Trace;
use lockstep_sim::check::liveness::{Found, Liveness, LivenessQuestion, Whom, look};
use lockstep_sim::check::{CheckOutcome, Engine, Limits, Stopped, check};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::built_in::scenario;
use lockstep_tests::drawn::from_environment;

/// The built-in scenarios whose graphs are so small that each is looked at in several ways: most of them.
/// `LOCKSTEP_COMPARED_STATES` asks for larger ones; `make soak` for all.
static SMALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    const MOST_STATES: u64 = 5_000;
    /// What `make soak` asks for.
    const EVERY_STATE: u64 = 1_000_000;
    let most = from_environment("LOCKSTEP_COMPARED_STATES", MOST_STATES);
    let all: Vec<_> = builtin();
    let count = all.len();
    let small: Vec<_> =
        all.into_iter().filter(|scenario| pass(scenario, Whom::OneClient, Some(most)).is_ok()).collect();
    let enough = if most >= EVERY_STATE { count } else { count / 2 };
    assert!(small.len() >= enough, "{} of {count} scenarios are small", small.len());
    small
});

/// Explores every state.
fn exhaust(scenario: &Scenario, engine: Engine) -> CheckOutcome {
    limited(scenario, engine, None)
}

/// Explores at most this many states, if a limit is given.
fn limited(scenario: &Scenario, engine: Engine, max_states: Option<u64>) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    check(scenario, engine, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs the liveness pass alone.
fn pass(scenario: &Scenario, whom: Whom, max_states: Option<u64>) -> Result<Liveness, Stopped> {
    pass_as(scenario, LivenessQuestion { properties: &Property::LIVENESS, whom, normal_forms: true }, max_states)
}

fn pass_as(scenario: &Scenario, asked: LivenessQuestion<'_>, max_states: Option<u64>) -> Result<Liveness, Stopped> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    let looked = look(&scenario.config, asked, 1, &limits, Instant::now(), false)?;
    let stopped = looked.found.iter().find_map(|found| if let Found::Stopped(why) = found { Some(*why) } else { None });
    stopped.map_or(Ok(looked), Err)
}

/// The lasso that violates the property in the scenario.
fn lasso(name: &str, property: Property) -> Trace {
    let outcome = exhaust(&scenario(name), Engine::Native);
    let found = outcome.properties.into_iter().find(|found| found.property == property);
    found.and_then(|found| found.trace).unwrap_or_else(|| panic!("{property} is not violated in {name}"))
}
