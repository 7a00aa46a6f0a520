//! The histories in which the model breaks a property.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::trace::Trace;
use lockstep_sim::check::{Engine, How, Limits, check_as};
use lockstep_sim::scenario::Scenario;

/// One for each property that is broken, to be replayed: whether there is a shorter one is not asked.
///
/// # Panics
/// The engine is wrong.
pub fn counterexamples(scenario: &Scenario) -> Vec<Trace> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let how = How { seeks_shorter: false, ..How::by(Engine::Native) };
    let outcome = check_as(scenario, how, &Limits::none(&stop, &progress)).unwrap_or_else(|error| panic!("{error}"));
    outcome.properties.into_iter().filter_map(|found| found.trace).collect()
}
