//! The model keeps its properties, or breaks them as declared, and each property can fail.
//!
//! `beliefs` has worlds that are worked out by hand; `capacities` asserts that no verdict rests on a bound of the model;
//! `disks` has histories of late disks; `engine` checks with all options of the engine; `interrupts` has histories of interrupted releases; `normal_forms`
//! compares small worlds with full ones; `verdicts` compares the built-in scenarios with what they declare, with both
//! engines; `replica_count` has histories about `INFO` and `WAIT`; `mutants` breaks one rule after the other and asserts
//! which property fails; `rules` and `judge` test the step function and the judge; `laws` widens worlds, and nothing that was
//! broken may hold then; `unlike` has clients that differ; `values` tells the
//! acquires of a thread apart.

mod beliefs;
mod capacities;
mod coverage;
mod disks;
mod engine;
mod frontier;
mod interrupts;
mod judge;
mod laws;
mod mutants;
mod normal_forms;
mod replica_count;
mod rules;
mod standstills;
mod unlike;
mod values;
mod verdicts;

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, check, check_as};
use lockstep_sim::scenario::{Scenario, builtin};

/// The built-in scenario with that name.
fn scenario(name: &str) -> Scenario {
    builtin().into_iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name}"))
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

/// Explores every state, with these options of the engine.
fn exhaust_as(scenario: &Scenario, native: Options) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    check_as(scenario, How { native, ..How::by(Engine::Native) }, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The verdict on a property.
fn verdict(outcome: &CheckOutcome, property: Property) -> Verdict {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.unwrap_or_else(|| panic!("{property} does not apply to {}", outcome.scenario)).verdict
}
