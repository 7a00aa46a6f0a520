//! One step of a history: what the model says of it, and the state before it.

use lockstep_model::action::Party;
use lockstep_model::config::WaitAfter;
use lockstep_model::trace::{NodeRole, NodeState, State, TraceStep};
use lockstep_model::{Action, Config, Happening, Reply};

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
    /// The client that waits for replicas behind its renewal in this step: its master has answered that, and is asked how many have
    /// acknowledged it, unless the client knows of none.
    pub fn renewal_that_waits(&self, config: &Config) -> Option<u8> {
        let (Action::Renew { client } | Action::RenewAcknowledged { client }) = self.step.action else { return None };
        let is_answer = matches!(self.step.answer, Reply::Renewed | Reply::RenewedInPart { .. } | Reply::RenewalMissed);
        let waits = config.of_client(client).protocol.wait_after == WaitAfter::GrantsAndRenewals && is_answer;
        // Read before the script, and a `WAIT` is never answered so that it would become 0.
        let knows_of_none = self.step.state.clients[usize::from(client)].replicas_known == Some(0);
        (waits && !knows_of_none).then_some(client)
    }

    /// After this step: how many replicas have applied all that this node has written.
    pub fn replicas_with_all_of(&self, node: &str) -> usize {
        let state = &self.step.state;
        let acting = state.acting_master().map(|master| &master.name);
        let has_all = |replica: &&NodeState| {
            let follows = replica.follows.as_ref().or(acting).is_some_and(|master| master == node);
            replica.role == NodeRole::Replica && follows && replica.under_way.is_empty() && !replica.is_paused
        };
        state.nodes.iter().filter(has_all).count()
    }

    /// Ticks since the start of the history, after this step.
    pub fn ticks_after(&self) -> u32 {
        self.step.at_tick + u32::from(self.step.action == Action::Tick)
    }

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
