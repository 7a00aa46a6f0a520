//! One step of a history: what the model says of it, and the state before it.

use lockstep_model::Action;
use lockstep_model::Happening;
use lockstep_model::action::Party;
use lockstep_model::trace::{State, TraceStep};

/// One step of a history, with the state before it.
#[derive(Clone, Copy)]
pub struct HistoryStep<'a> {
    /// The action, the reply, what happened, and the state after it.
    pub step: &'a TraceStep,
    /// The state before it.
    pub before: &'a State,
}

/// Where in a history something was compared.
#[derive(Clone, Copy)]
pub struct StepPlace {
    /// The number of the step; 1 for the first.
    pub step: usize,
    /// The action of that step.
    pub action: Action,
}

impl HistoryStep<'_> {
    /// Where differences of this step are reported.
    pub const fn place(&self) -> StepPlace {
        StepPlace { step: self.step.number, action: self.step.action }
    }

    /// Whether this happened in the step.
    pub fn has(&self, happening: Happening) -> bool {
        self.step.happenings.contains(&happening)
    }
}

/// The client that acts, from 0; `None` where a node acts, or time passes.
pub fn client_of(action: Action) -> Option<usize> {
    match action.party() {
        Party::Thread(holder) => Some(usize::from(holder.client())),
        Party::Client(client) => Some(usize::from(client)),
        Party::Node(_) | Party::World => None,
    }
}
