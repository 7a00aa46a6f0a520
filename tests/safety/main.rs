//! The model keeps its properties, or breaks them as declared, and each property can fail.
//!
//! What each file is about stands at its head: worlds and histories that were worked out by hand, one subject each; the
//! engine with all its options; the laws that every world obeys; and the built-in scenarios with what they declare.

mod applications;
mod beliefs;
mod by_hand;
mod capacities;
mod coverage;
mod dead_ends;
mod deaths;
mod disks;
mod engine;
mod followers;
mod frontier;
mod hand_overs;
mod held_keys;
mod held_query;
mod interrupts;
mod judge;
mod late_writes;
mod laws;
mod master_locks;
mod masters;
mod mutants;
mod named_locks;
mod normal_forms;
mod queues;
mod readers;
mod refusals;
mod renewal_timers;
mod repeats;
mod replica_count;
mod rules;
mod slot_moves;
mod spins;
mod standstills;
mod starts;
mod ties;
mod tokens;
mod two_commands;
mod unlike;
mod validity;
mod values;
mod verdicts;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, check, check_as};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::at_once::at_once;
use lockstep_tests::built_in::scenario;
use lockstep_tests::drawn::from_environment;

/// What the native engine visits in each built-in scenario, in their order. A search for one property visits what a search for all
/// does, but where the witness of another one could not be executed among normal forms: that is so in none of them, or the page on state
/// spaces would tell of other sizes.
/// The verdicts on all are for `reports`, where the pass over runs takes several times the search.
static BUILT_IN: LazyLock<Vec<CheckOutcome>> = LazyLock::new(|| {
    let found = |scenario: &Scenario| {
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let how = How { only: Some(Property::OnlyHolderReleases), ..NO_SHORTER_SOUGHT };
        let outcome = check_as(scenario, how, &Limits::none(&stop, &progress));
        outcome.unwrap_or_else(|error| panic!("{error}"))
    };
    at_once(&builtin(), found)
});

/// The native engine, whose traces are executed again and need not be shortest.
const NO_SHORTER_SOUGHT: How = How { seeks_shorter: false, ..How::by(Engine::Native) };

/// The built-in scenarios on which ways to search are compared with each other: those that have at most so many states among normal
/// forms (two of five), and a large one with three clients. `LOCKSTEP_COMPARED_STATES` asks for larger ones; `make soak` for all.
const COMPARED_STATES: u64 = 800;
const ALWAYS_COMPARED: &str = "third-client-is-woken";

static COMPARED: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let most = from_environment("LOCKSTEP_COMPARED_STATES", COMPARED_STATES);
    let all = builtin().into_iter().zip(BUILT_IN.iter());
    all.filter(|(scenario, found)| found.states <= most || scenario.name == ALWAYS_COMPARED)
        .map(|(scenario, _)| scenario)
        .collect()
});

fn compared() -> impl Iterator<Item = &'static Scenario> {
    COMPARED.iter()
}

/// Explores every state.
fn exhaust(scenario: &Scenario, engine: Engine) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    check(scenario, engine, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The same without normal forms: every world is a state of its own.
fn every_world(scenario: &Scenario, max_states: Option<u64>) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    let how = How { native: Options { normal_forms: false, ..Options::default() }, ..How::by(Engine::Native) };
    check_as(scenario, how, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// Explores every state, with these options of the engine, for verdicts and states: no trace that is shorter is sought.
fn exhaust_as(scenario: &Scenario, native: Options) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    check_as(scenario, How { native, ..NO_SHORTER_SOUGHT }, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// Explores until the property is violated; every state, if it is not. The verdict on it.
fn verdict_on(scenario: &Scenario, property: Property) -> Verdict {
    verdict(&exhaust_as(scenario, Options { until: Some(property), ..Options::default() }), property)
}

/// The verdict on a property.
fn verdict(outcome: &CheckOutcome, property: Property) -> Verdict {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.unwrap_or_else(|| panic!("{property} does not apply to {}", outcome.scenario)).verdict
}
