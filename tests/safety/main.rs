//! The model keeps its properties, or breaks them as declared, and each property can fail.
//!
//! `capacities` asserts that no verdict rests on a bound of the model; `engine` checks with all options of the engine; `verdicts` compares the built-in scenarios with what they declare,
//! with both engines; `mutants` breaks one rule after the other and asserts which property fails; `rules` and `judge`
//! test the step function and the judge.

mod capacities;
mod coverage;
mod engine;
mod frontier;
mod judge;
mod mutants;
mod rules;
mod verdicts;

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine, Limits, check};
use lockstep_sim::scenario::{Scenario, builtin};

/// The built-in scenario with that name.
fn scenario(name: &str) -> Scenario {
    builtin().into_iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name}"))
}

/// Explores every state.
fn exhaust(scenario: &Scenario, engine: Engine) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits {
        max_states: None,
        max_bytes: None,
        resident: None,
        time_limit: None,
        stop: &stop,
        progress: &progress,
    };
    check(scenario, engine, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The verdict on a property.
fn verdict(outcome: &CheckOutcome, property: Property) -> Verdict {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.unwrap_or_else(|| panic!("{property} does not apply to {}", outcome.scenario)).verdict
}
