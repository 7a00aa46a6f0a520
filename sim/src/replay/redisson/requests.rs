//! The requests of Redisson's clients on a split network: each waits at its client's gate until the history says that a node
//! executes it, and its reply until the history says that the client hears it.

use lockstep_model::Action;
use lockstep_model::client::Slot;

use super::gate::HeldCommand;
use super::wire_words::replicas_asked_for;
use crate::replay::history_step::HistoryStep;
use crate::replay::translate::{ClientPart, RequestKey, ScriptRequest, request_state};

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatedStage {
    /// It is held.
    Sent,
    /// A node has executed it, and its reply is held.
    Executed,
    /// The client has the reply.
    Heard,
    /// It is lost, or its reply, with the connection.
    Lost,
}

/// The `WAIT` behind a request, in one batch with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GatedWait {
    /// There is none, or its script was not executed yet.
    #[default]
    None,
    /// The server has it, and the model's node counts replicas.
    Sent,
    /// It is held at the gate: the model does not have it.
    Extra {
        /// For how many replicas.
        replicas: u8,
        /// Whether its script was answered with an error.
        is_behind_error: bool,
    },
    /// Its answer is held, behind that of the script.
    Answered,
}

/// A request that the history knows of.
#[derive(Clone)]
pub struct GatedRequest {
    /// Its client, and its slot there.
    pub key: RequestKey,
    /// What Redisson has sent.
    pub held: HeldCommand,
    /// What the model says that it sends.
    pub request: ScriptRequest,
    /// How far it has come.
    pub stage: GatedStage,
    /// The `WAIT` behind it.
    pub wait: GatedWait,
    /// Whether its answer says that the server lacks replicas.
    pub lacks_replicas: bool,
}

/// The requests of all clients that the history knows of. What else is held at a gate was sent too early, or by mistake.
#[derive(Default)]
pub struct GatedRequests {
    requests: Vec<GatedRequest>,
}

impl GatedRequests {
    /// The history has come to the step that sends it.
    pub fn add(&mut self, key: RequestKey, held: HeldCommand, request: ScriptRequest) {
        let (stage, wait) = (GatedStage::Sent, GatedWait::None);
        self.requests.push(GatedRequest { key, held, request, stage, wait, lacks_replicas: false });
    }

    /// The request in this slot.
    pub fn get_mut(&mut self, key: RequestKey) -> Option<&mut GatedRequest> {
        self.requests.iter_mut().find(|request| request.key == key)
    }

    /// Those whose `WAIT` a server has and has not answered.
    pub fn waiting(&self) -> Vec<RequestKey> {
        let waits = self.requests.iter().filter(|request| request.wait == GatedWait::Sent);
        waits.map(|request| request.key).collect()
    }

    /// Forgets the request in this slot.
    pub fn take(&mut self, key: RequestKey) -> Option<GatedRequest> {
        let at = self.requests.iter().position(|request| request.key == key)?;
        Some(self.requests.swap_remove(at))
    }

    /// Whether the history has come to the step that sends this.
    pub fn is_sent(&self, client: usize, held: &HeldCommand) -> bool {
        let is_same = |request: &GatedRequest| usize::from(request.key.0) == client && request.held == *held;
        self.requests.iter().any(|request| request.stage == GatedStage::Sent && is_same(request))
    }

    /// Whether this is the `WAIT` behind a request that the history has come to: Redisson sends both at once.
    pub fn is_wait_behind(&self, client: usize, held: &HeldCommand) -> bool {
        let is_before = |request: &GatedRequest| {
            let (connection, next) = (request.held.connection, request.held.number + 1);
            let is_open = matches!(request.stage, GatedStage::Sent | GatedStage::Executed);
            is_open && usize::from(request.key.0) == client && (connection, next) == (held.connection, held.number)
        };
        replicas_asked_for(held).is_some() && self.requests.iter().any(is_before)
    }

    /// Whether another one than this is under way over its connection.
    pub fn shares_connection(&self, one: &GatedRequest) -> bool {
        self.requests.iter().any(|other| {
            let is_under_way = matches!(other.stage, GatedStage::Sent | GatedStage::Executed);
            let is_same_way = (other.key.0, other.held.connection) == (one.key.0, one.held.connection);
            is_under_way && is_same_way && other.key != one.key
        })
    }

    /// Whether a request of a client, or its reply, is on its way.
    pub fn has_under_way(&self, client: u8) -> bool {
        let is_under_way = |stage| matches!(stage, GatedStage::Sent | GatedStage::Executed);
        self.requests.iter().any(|request| request.key.0 == client && is_under_way(request.stage))
    }

    /// Whether a client waits for anything.
    pub fn has_any_of(&self, client: u8) -> bool {
        self.requests.iter().any(|request| request.key.0 == client)
    }

    /// A request whose caller gives it up moves to the slot from which it may still be executed, or stays there if its caller was
    /// interrupted before. Returns one that has none, because nothing can come of it any more.
    pub fn give_up(&mut self, step: HistoryStep<'_>) -> Option<GatedRequest> {
        let key = ClientPart::of(step.step.action).given_up()?;
        let mut given_up = self.take(key)?;
        // What is sent again stays in its slot, and the attempt before it moves.
        let is_sent_again = matches!(step.step.action, Action::Resend { .. });
        let is_new = |slot: &Slot| {
            let at = (key.0, *slot);
            let is_free = request_state(step.before, at).is_none() || *slot == key.1 && !is_sent_again;
            request_state(&step.step.state, at).is_some() && is_free
        };
        let Some(slot) = Slot::LATE.into_iter().find(is_new) else { return Some(given_up) };
        given_up.key = (key.0, slot);
        self.requests.push(given_up);
        None
    }
}
