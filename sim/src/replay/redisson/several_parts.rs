//! Locks of several parts: one call of an application takes or gives back all of them, and sends its requests by itself.

use lockstep_model::Reply;
use lockstep_model::client::Phase;
use lockstep_model::config::{InterruptedCall, PartOrder};
use lockstep_model::trace::ThreadState;

use super::calls::{self, ToldWords};
use super::clients::RedissonClients;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::ScriptVerb;

/// Redisson draws the lease by which it asks for a part in a later round: the model says only that it is longer than any run.
#[derive(Clone, Copy)]
pub(super) struct DrawnLease {
    /// From here on a lease is that long, ms; `None`: the lock is not taken in rounds.
    far_ms: Option<i64>,
}

impl DrawnLease {
    /// These words of a request, without such a lease.
    pub(super) fn masked(self, words: String) -> String {
        let Some((far_ms, (keys, args))) = self.far_ms.zip(words.split_once(" | ")) else { return words };
        let is_far = |arg: &str| arg.parse::<i64>().is_ok_and(|ms| ms >= far_ms);
        let args: Vec<_> = args.split(' ').map(|arg| if is_far(arg) { "FAR" } else { arg }).collect();
        format!("{keys} | {}", args.join(" "))
    }
}

impl RedissonClients {
    /// How the lease of a later round is compared.
    pub(super) fn drawn_lease(&self) -> DrawnLease {
        let draws = self.config.has_parts() || self.config.asks_master_locks();
        DrawnLease { far_ms: draws.then(|| self.config.far_ms()) }
    }

    pub(super) fn without_drawn_lease(&self, words: String) -> String {
        self.drawn_lease().masked(words)
    }

    /// What the driver calls the lock of a client that takes parts: in its order, or the one part alone. `None`: the lock has no parts.
    pub(super) fn parts_of(&self, client: u8) -> Option<String> {
        if !self.config.has_parts() {
            return None;
        }
        let name = |part: u8| self.translator.lock_name(part);
        let order: PartOrder = self.config.of_client(client).clients.parts;
        let first = order.first();
        Some(match order.after(first) {
            Some(second) => format!("{}{},{}", self.translator.driver_prefix(), name(first), name(second)),
            None => name(first).to_owned(),
        })
    }

    /// The thread of the model whose call it is that a request for this one belongs to.
    pub(super) fn caller(&self, client: u8, thread: u8) -> u8 {
        if self.config.has_parts() { self.config.of_client(client).clients.parts.first() } else { thread }
    }

    /// Whether a client of a lock with parts is inside a call after this step.
    pub(super) fn is_in_parts(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let is_calling = |thread: &ThreadState| !matches!(thread.phase, Phase::Idle | Phase::Dead);
        self.config.has_parts() && step.step.state.clients[usize::from(client)].threads.iter().any(is_calling)
    }

    /// Whether the calls of this client take an interrupt for a refusal.
    pub(super) fn goes_on_interrupted(&self, client: u8) -> bool {
        let own = self.config.of_client(client);
        own.takes_several() && own.protocol.interrupted_call == InterruptedCall::GoesOn
    }

    /// A call goes on to its next part. At the instant at which its time is over it may give up here, and Redisson's does.
    pub(super) fn ask_for_part(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        self.ask((client, Some(thread)), ScriptVerb::Acquire { client, thread }, step, testbed)
    }

    /// What the model says that the application is told by this step of a call about several parts; `None`: the lock has none.
    pub(super) fn told_of_parts(&self, client: u8, verb: ScriptVerb, step: HistoryStep<'_>) -> Option<ToldWords> {
        if !self.config.has_parts() {
            return None;
        }
        let holds = |clients: &[lockstep_model::trace::ClientState]| {
            clients[usize::from(client)].threads.iter().map(|thread| thread.holds).sum::<u8>()
        };
        if self.is_in_parts(client, step) {
            return Some(calls::INSIDE.into());
        }
        let (before, after) = (holds(&step.before.clients), holds(&step.step.state.clients));
        let is_acquire = matches!(verb, ScriptVerb::Acquire { .. } | ScriptVerb::SetTtl { .. });
        let is_single = self.config.of_client(client).clients.parts.count() == 1;
        let is_answered = matches!(step.step.answer, Reply::Released | Reply::StillHeld);
        Some(match (is_acquire, self.is_unlock(client, step)) {
            (true, _) if after > 0 => calls::GRANTED.into(),
            // Only the last step and a lock of one part say what went wrong.
            (true, _) if matches!(verb, ScriptVerb::SetTtl { .. }) => calls::JOINED_IN_VAIN.into(),
            (true, _) if is_single => self.told_of_refusal(client, step.step.answer).unwrap_or(calls::REFUSED).into(),
            (true, _) | (false, false) => calls::REFUSED.into(),
            (false, true) if is_answered && before > after => calls::RELEASED.into(),
            (false, true) => self.told_of_refusal(client, step.step.answer).unwrap_or(calls::NOT_ITS_OWN).into(),
        })
    }

    /// Whether the release of this step is one of `unlock()`, and not of an acquire that has failed.
    fn is_unlock(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let first = self.caller(client, 0);
        let threads = &step.before.clients[usize::from(client)].threads;
        let gives_back = threads.iter().position(|thread| thread.phase == Phase::GivingBack);
        gives_back.is_none_or(|part| part != usize::from(first) && threads[part].wait_left.is_none())
    }
}
