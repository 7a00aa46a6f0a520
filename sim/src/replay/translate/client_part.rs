//! What an action means to the clients: what they ask by a script, or which part of a request's way it is. Both the
//! translation and the targets read it.

use lockstep_model::client::Slot;
use lockstep_model::trace::{RequestState, State, TraceStep};
use lockstep_model::{Action, Config, Reply};

/// A client and the slot of its request.
pub type RequestKey = (u8, Slot);

/// The request in this slot, as the model has it.
pub fn request_state(state: &State, (client, slot): RequestKey) -> Option<&RequestState> {
    state.clients.get(usize::from(client))?.requests.iter().find(|request| request.slot == slot)
}

/// What a node has answered to the `WAIT` behind a request; `None`: nothing yet, or there is none.
pub fn count_of(request: &RequestState) -> Option<Reply> {
    let of_grant = |reply: &Reply| matches!(reply, Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. });
    request.answer.filter(of_grant).or(request.acknowledged_by.map(|replicas| Reply::Acknowledged { replicas }))
}

/// What a client asks by a script of its lock's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptVerb {
    /// For the lock.
    Acquire {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// To give one hold back.
    Release {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// To give back a grant that too few replicas have.
    Undo {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// To set the TTL of the lock that it has taken.
    SetTtl {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// For the counter of fencing tokens.
    ReadToken {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// Whether it holds.
    AskIfHeld {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// For a full lease of what its watchdog renews.
    Renew {
        /// From 0.
        client: u8,
    },
    /// To leave the queue, where there is one.
    LeaveQueue {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// To delete the lock, whoever holds it.
    ForceRelease,
}

/// What the clients do in a step, or what happens to their requests and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientPart {
    /// A thread asks by a script, if the step sends a request at all.
    Asks(ScriptVerb),
    /// The answer to a thread's `WAIT`, or its timeout.
    Confirms {
        /// From 0.
        client: u8,
        /// From 0.
        thread: u8,
    },
    /// An unlock message reaches a client, or is lost on the way.
    TakesMessage {
        /// From 0.
        client: u8,
    },
    /// A node executes a request in flight.
    Executes(RequestKey),
    /// The caller receives the answer to a request in flight.
    Answers(RequestKey),
    /// The caller sends the request again, and gives the old one up.
    Resends(RequestKey),
    /// The caller gives the request up.
    GivesUp(RequestKey),
    /// Nothing that is sent or received.
    Nothing,
}

impl ClientPart {
    /// Of this step: also an interrupted waiter may ask to leave the queue, and then it is answered.
    pub fn of_step(config: &Config, step: &TraceStep) -> Self {
        let is_holder = |client: u8| step.state.clients[usize::from(client)].threads[0].holds > 0;
        match step.action {
            Action::Interrupt { client, thread } if step.answer != Reply::Interrupted => {
                Self::Asks(ScriptVerb::LeaveQueue { client, thread })
            }
            // Of what a client asks slowly: a holder extends its lease.
            Action::SlowReply { client, .. } if config.extends_in_rounds() && is_holder(client) => {
                Self::Asks(ScriptVerb::Renew { client })
            }
            action => Self::of(action),
        }
    }

    /// Of this action.
    pub const fn of(action: Action) -> Self {
        match action {
            Action::Acquire { client, thread }
            | Action::NextPart { client, thread }
            | Action::SecondAsk { client, thread }
            | Action::WakeByMessage { client, thread }
            | Action::WakeByTimer { client, thread } => Self::Asks(ScriptVerb::Acquire { client, thread }),
            Action::AskMaster { client, .. } | Action::SlowReply { client, .. } | Action::ArriveLate { client, .. } => {
                Self::Asks(ScriptVerb::Acquire { client, thread: 0 })
            }
            Action::ReleaseAt { client, .. } => Self::Asks(ScriptVerb::Release { client, thread: 0 }),
            Action::Release { client, thread }
            | Action::GiveBack { client, thread }
            | Action::ForeignRelease { client, thread } => Self::Asks(ScriptVerb::Release { client, thread }),
            Action::Undo { client, thread } => Self::Asks(ScriptVerb::Undo { client, thread }),
            Action::GiveUp { client, thread } => Self::Asks(ScriptVerb::LeaveQueue { client, thread }),
            Action::SetTtl { client, thread } => Self::Asks(ScriptVerb::SetTtl { client, thread }),
            Action::SetTtlAt { client, .. } => Self::Asks(ScriptVerb::SetTtl { client, thread: 0 }),
            Action::ReadToken { client, thread } => Self::Asks(ScriptVerb::ReadToken { client, thread }),
            Action::AskIfHeld { client, thread } => Self::Asks(ScriptVerb::AskIfHeld { client, thread }),
            Action::Renew { client } | Action::RenewAcknowledged { client } | Action::ExtendAt { client, .. } => Self::Asks(ScriptVerb::Renew { client }),
            Action::ForceRelease { .. } => Self::Asks(ScriptVerb::ForceRelease),
            Action::Confirm { client, thread } => Self::Confirms { client, thread },
            Action::Deliver { client } | Action::LoseMessage { client } => Self::TakesMessage { client },
            Action::Execute { client, slot } => Self::Executes((client, slot)),
            Action::Answer { client, slot } => Self::Answers((client, slot)),
            Action::Resend { client, slot } => Self::Resends((client, slot)),
            Action::Abandon { client, slot } => Self::GivesUp((client, slot)),
            Action::Interrupt { client, thread } => Self::GivesUp((client, Slot::of_thread(thread))),
            // The state after the step says which requests are lost, and which subscriptions there are.
            Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Subscribe { .. }
            | Action::Resubscribe { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            // Inside a client's process.
            | Action::HearMaster { .. }
            | Action::LoseAsk { .. }
            | Action::LateAsk { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Work { .. }
            | Action::Arrive { .. }
            | Action::Discover { .. }
            | Action::DiscoverMaster { .. }
            | Action::GoBack { .. }
            | Action::StartClient { .. }
            | Action::PauseClient { .. }
            | Action::Resume { .. }
            | Action::ClientClockJump { .. }
            // Servers, links and time.
            | Action::Replicate { .. }
            | Action::Promote { .. }
            | Action::Resync { .. }
            | Action::LeaveMaster { .. }
            | Action::Demote { .. }
            | Action::Fsync { .. }
            | Action::Heal { .. }
            | Action::Recount { .. }
            | Action::NoticeDeath { .. }
            | Action::AcceptWrites { .. }
            | Action::RefuseWrites { .. }
            | Action::Expire { .. }
            | Action::ExpirePart { .. }
            | Action::ExpireReceipts { .. }
            | Action::RestartNode { .. }
            | Action::KillNode { .. }
            | Action::ShutdownNode { .. }
            | Action::FinishShutdown { .. }
            | Action::FinishHandOver { .. }
            | Action::GiveUpHandOver { .. }
            | Action::Snapshot { .. }
            | Action::CutLink { .. }
            | Action::PauseNode { .. }
            | Action::ResumeNode { .. }
            | Action::CountReplicas { .. }
            | Action::VanishKey { .. }
            | Action::BreakLink { .. }
            | Action::MoveSlot { .. }
            | Action::MoveKeys { .. }
            | Action::FinishMove { .. }
            | Action::PersistKey { .. }
            | Action::VanishReceipts { .. }
            | Action::VanishToken { .. }
            | Action::OverwriteKey { .. }
            | Action::ClockJump { .. }
            | Action::CrashNode { .. }
            | Action::HandOver { .. }
            | Action::Tick => Self::Nothing,
        }
    }

    /// The request that the caller gives up, though it may still be executed.
    pub const fn given_up(self) -> Option<RequestKey> {
        match self {
            Self::Resends(key) | Self::GivesUp(key) => Some(key),
            Self::Asks(_)
            | Self::Confirms { .. }
            | Self::TakesMessage { .. }
            | Self::Executes(_)
            | Self::Answers(_)
            | Self::Nothing => None,
        }
    }

    /// The request whose slot may hold a new request after the step, though it held one before.
    pub const fn renewed(self) -> Option<RequestKey> {
        match self {
            Self::Resends(key) | Self::Answers(key) => Some(key),
            Self::Asks(_)
            | Self::Confirms { .. }
            | Self::TakesMessage { .. }
            | Self::Executes(_)
            | Self::GivesUp(_)
            | Self::Nothing => None,
        }
    }
}
