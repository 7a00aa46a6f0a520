//! Strong fairness in the scenarios: which waiters it serves, which it does not, and what a lasso must then state.

use std::sync::LazyLock;

use lockstep_model::trace::{InLoop, Trace};
use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::judge::{LassoWitness, Rejection, judge_lassos};
use lockstep_sim::check::{CheckOutcome, Engine};
use lockstep_sim::recorder;
use lockstep_sim::render::json::TRACE_SCHEMA;
use lockstep_sim::render::words;
use lockstep_sim::scenario::Scenario;

use crate::{SMALL, exhaust};

fn strong(mut scenario: Scenario) -> Scenario {
    scenario.config.strong_fairness = true;
    scenario
}

/// What is found in the built-in scenarios that are small enough, and in each with strong fairness.
static WEAK: LazyLock<Vec<CheckOutcome>> =
    LazyLock::new(|| SMALL.iter().map(|scenario| exhaust(scenario, Engine::Native)).collect());
static STRONG: LazyLock<Vec<CheckOutcome>> =
    LazyLock::new(|| SMALL.iter().map(|scenario| exhaust(&strong(scenario.clone()), Engine::Native)).collect());

/// The states are the same; only the fairness assumptions are stronger.
#[test]
fn strong_fairness_serves_nobody_in_the_small_scenarios() {
    let mut violated = 0;
    for (outcome, strong) in WEAK.iter().zip(STRONG.iter()) {
        assert_eq!((outcome.states, outcome.generated), (strong.states, strong.generated), "{}", outcome.scenario);
        for (weak, strong) in outcome.properties.iter().zip(&strong.properties) {
            let told = format!("{} in {}", weak.property, outcome.scenario);
            assert_eq!(weak.verdict, strong.verdict, "{told}");
            violated += u32::from(Property::LIVENESS.contains(&weak.property) && weak.verdict == Verdict::Violated);
        }
    }
    assert!(violated > 5, "{violated} lassos were looked for");
}

fn lassos(outcome: &CheckOutcome) -> impl Iterator<Item = (Property, &Trace)> {
    let liveness = outcome.properties.iter().filter(|found| Property::LIVENESS.contains(&found.property));
    liveness.filter_map(|found| Some((found.property, found.trace.as_ref()?)))
}

/// Being disabled now and then is no excuse for a strongly fair action, and the lasso claims no such excuse.
#[test]
fn a_lasso_says_of_what_is_strongly_fair_that_it_is_taken_or_never_possible() {
    let schema = serde_json::from_str(TRACE_SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    let mut never = 0;
    for outcome in STRONG.iter() {
        for (property, trace) in lassos(outcome) {
            assert_eq!(recorder::retrace(trace), Ok(()));
            assert!(validator.is_valid(&serde_json::to_value(trace).expect("a trace is JSON")), "{property}");
            for fair in trace.fairness.as_ref().expect("a lasso") {
                let is_excused = matches!(fair.in_loop, InLoop::DisabledAfter(_));
                assert!(!is_excused || fair.action == Action::Tick, "{property}: {fair:?}");
                never += u32::from(fair.in_loop == InLoop::NeverPossible);
            }
            let lines = words::fairness(trace);
            assert!(lines.iter().all(|line| !line.starts_with("disabled") || line.ends_with(": tick")), "{lines:?}");
        }
    }
    assert!(never > 0, "something is never possible in some loop");
}

/// The judge detects this independently: some weakly fair lassos are not strongly fair and are rejected.
#[test]
fn a_lasso_that_is_fair_only_weakly_is_rejected_where_fairness_is_strong() {
    let (mut rejected, mut accepted) = (0, 0);
    for (scenario, outcome) in SMALL.iter().zip(WEAK.iter()) {
        for (property, trace) in lassos(outcome) {
            let actions = trace.actions();
            let witness = LassoWitness { property, actions: &actions, loop_start: trace.loop_start.expect("a lasso") };
            assert_eq!(judge_lassos(&scenario.config, std::slice::from_ref(&witness)), Ok(()));
            let excuses =
                trace.fairness.iter().flatten().filter(|fair| matches!(fair.in_loop, InLoop::DisabledAfter(_)));
            match judge_lassos(&strong(scenario.clone()).config, &[witness]) {
                Ok(()) => accepted += 1,
                Err(Rejection::NotFair { action, .. }) => {
                    rejected += 1;
                    assert!(excuses.clone().any(|fair| fair.action == action), "{action:?} in {}", scenario.name);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(rejected > 0, "{rejected} {accepted}");
    assert!(accepted > 0, "{rejected} {accepted}");
}
