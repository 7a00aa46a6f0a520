//! The histories in which the model breaks a property.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::trace::Trace;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{Engine, How, Limits, check_as};
use lockstep_sim::scenario::{BuiltIn, Others, Scenario};

/// One for each broken property, to be replayed; there may be a shorter one. A built-in scenario declares each property that is broken
/// (the tests of `safety` compare all verdicts). If all of these are properties of single states, one search for each is quicker than a
/// whole one, because it ends as soon as the property is broken.
///
/// # Panics
/// The engine is wrong.
pub fn counterexamples(scenario: &Scenario) -> Vec<Trace> {
    let built_in = BuiltIn::named(&scenario.name).map(|built_in| built_in.scenario());
    let as_declared = built_in.filter(|built_in| built_in.config == scenario.config && built_in.others == Others::Hold);
    let broken: Option<Vec<Property>> = as_declared.map(|built_in| {
        built_in
            .expect
            .iter()
            .filter(|(_, verdict)| **verdict == Verdict::Violated)
            .map(|(property, _)| *property)
            .collect()
    });
    match broken.filter(|broken| broken.iter().all(|property| Property::SAFETY.contains(property))) {
        Some(broken) => {
            let traces: Vec<_> = broken.into_iter().map(|property| found(scenario, Some(property))).collect();
            let is_each_found = traces.iter().all(|found| !found.is_empty());
            assert!(is_each_found, "{}: a property is not broken as declared", scenario.name);
            traces.concat()
        }
        None => found(scenario, None),
    }
}

/// Those of one property, or of all.
fn found(scenario: &Scenario, only: Option<Property>) -> Vec<Trace> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let native = Options { until: only, ..Options::default() };
    let how = How { seeks_shorter: false, only, native, ..How::by(Engine::Native) };
    let outcome = check_as(scenario, how, &Limits::none(&stop, &progress)).unwrap_or_else(|error| panic!("{error}"));
    outcome.properties.into_iter().filter_map(|found| found.trace).collect()
}
