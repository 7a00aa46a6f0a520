//! Worlds and histories that are worked out by hand: read from a text, and played step by step.

use lockstep_model::trace::{About, State, Trace};
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder::{self, TraceError};
use lockstep_sim::scenario::Scenario;

/// The scenario of this text.
pub fn scenario_of(text: &str) -> Scenario {
    Scenario::parse("by-hand", text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// The steps of a history. An error: one of them cannot happen where it stands.
pub fn record(config: &Config, actions: &[Action]) -> Result<Trace, TraceError> {
    recorder::record("by-hand", "", config, About::Drawn, actions, "")
}

/// The steps of a history, each of which can happen where it stands.
#[track_caller]
pub fn history(config: &Config, actions: &[Action]) -> Trace {
    record(config, actions).unwrap_or_else(|error| panic!("{actions:?}: {error:?}"))
}

/// Whether the last of these actions cannot happen where it stands. Those before it can.
#[track_caller]
pub fn is_refused(config: &Config, actions: &[Action]) -> bool {
    match record(config, actions) {
        Ok(_) => false,
        Err(TraceError::NotEnabled { step, .. }) if step == actions.len() => true,
        Err(error) => panic!("{actions:?}: {error:?}"),
    }
}

/// The state in the end.
pub fn last(trace: &Trace) -> &State {
    trace.state_after(trace.steps.len())
}

/// The answer to the last action.
pub fn last_answer(trace: &Trace) -> Reply {
    trace.steps.last().expect("there are steps").answer
}
