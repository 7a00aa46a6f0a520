//! Locks of several parts: one call of an application takes or gives back all of them, and sends its requests by itself.

use lockstep_model::client::Phase;
use lockstep_model::config::PartOrder;
use lockstep_model::trace::ThreadState;
use lockstep_model::{Config, Reply};

use super::calls::{self, ToldWords};
use super::clients::RedissonClients;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptVerb, far_ms};

/// How long one round takes for each part, where the call names no lease (docs/facts/family.md#multi).
const ROUND_MS_PER_PART: u64 = 1_500;

/// Why the rounds of this client are not those of Redisson; `None`: they are, or there are none.
pub(super) fn refused_rounds(own: &Config) -> Option<String> {
    let ms = |ticks: u8| u64::from(ticks) * u64::from(own.time.tick_ms);
    let round_ms = own.time.round_wait.filter(|_| own.takes_in_rounds()).map(ms)?;
    let usual_ms = ROUND_MS_PER_PART * u64::from(own.clients.parts.count());
    if own.time.renew_every.is_some() {
        let reason = format!("a round of its calls takes {usual_ms} ms; set round_wait to that");
        return (round_ms != usual_ms).then_some(reason);
    }
    let lease_ms = ms(own.time.lease);
    if lease_ms % 1000 != 0 {
        return Some("such a call names its lease in seconds; use a lease of whole seconds".to_owned());
    }
    let drawn = if lease_ms <= usual_ms { lease_ms / 2..lease_ms } else { usual_ms..lease_ms };
    let reason = format!(
        "it draws the time of a round from {} to less than {} ms where the call names a lease; set round_wait to such a time",
        drawn.start, drawn.end
    );
    (!drawn.contains(&round_ms)).then_some(reason)
}

/// The call of an acquire that takes several parts in rounds and names its lease: in seconds, since it is that unit by which later rounds
/// multiply it. The driver makes it draw the wait of the first round that the scenario says.
pub(super) fn acquire_in_rounds(own: &Config) -> Option<String> {
    let ms = |ticks: u8| u64::from(ticks) * u64::from(own.time.tick_ms);
    if !own.takes_in_rounds() || own.time.renew_every.is_some() {
        return None;
    }
    let wait_ms = ms(own.time.round_wait?);
    Some(format!("lock-lease-seconds {} {wait_ms}", ms(own.time.lease) / 1000))
}

/// Redisson draws the lease by which it asks for a part in a later round: the model says only that it is longer than any run.
#[derive(Clone, Copy)]
pub(super) struct DrawnLease {
    /// From here on a lease is that long, ms; `None`: the lock has no parts.
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
        DrawnLease { far_ms: self.config.has_parts().then(|| far_ms(self.config.time.tick_ms)) }
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

    /// Whether a client is inside a call after this step.
    pub(super) fn is_in_parts(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let is_calling = |thread: &ThreadState| !matches!(thread.phase, Phase::Idle | Phase::Dead);
        step.step.state.clients[usize::from(client)].threads.iter().any(is_calling)
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
        let profile = self.config.of_client(client).protocol.profile;
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
            (true, _) if is_single || matches!(verb, ScriptVerb::SetTtl { .. }) => {
                calls::told_of_refusal(step.step.answer, profile).unwrap_or(calls::REFUSED).into()
            }
            (true, _) | (false, false) => calls::REFUSED.into(),
            (false, true) if is_answered && before > after => calls::RELEASED.into(),
            (false, true) => calls::told_of_refusal(step.step.answer, profile).unwrap_or(calls::NOT_ITS_OWN).into(),
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
