//! The model keeps its properties, or breaks them as declared, and each can fail.
//!
//! `engine` looks in every way that the engine can; `verdicts` holds the built-in scenarios to what they declare, with both engines; `mutants` breaks one rule after
//! the other and watches the property that notices; `rules` and `judge` look at the step function and at the judge.

mod coverage;
mod engine;
mod frontier;
mod judge;
mod mutants;
mod rules;
mod verdicts;

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{Engine, Limits, Outcome, check};
use lockstep_sim::scenario::{Scenario, builtin};

/// The built-in scenario of that name.
fn scenario(name: &str) -> Scenario {
    builtin().into_iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name}"))
}

/// Looks at every state.
fn exhaust(scenario: &Scenario, engine: Engine) -> Outcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: None, max_bytes: None, time_limit: None, stop: &stop, progress: &progress };
    check(scenario, engine, &limits).unwrap_or_else(|error| panic!("{error}"))
}

/// What was found of a property.
fn verdict(outcome: &Outcome, property: Property) -> Verdict {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.unwrap_or_else(|| panic!("{property} does not apply to {}", outcome.scenario)).verdict
}
