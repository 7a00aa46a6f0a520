//! The fair lock: who is refused and waits stands in a queue in Redis, and the lock is given to the first.
//!
//! Read beside `impl/src/locks/fair.rs`, which tells Redis the same rules.
//! Whoever is in the queue has a deadline, which each client reads by its own wall clock: somebody else who acts after it removes a
//! first one that is dead. What is held and how often is as in a [`CountedHold`].
//! Source: docs/facts/family.md#fair.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;

use super::contract::{
    KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Publish, QueuedWaiter, Requester,
    StoredHold, Writes,
};
use super::counted_hold::CountedHold;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::NoValues;
use crate::limits::{MAX_CLIENTS, MAX_DEADLINE_TICKS};
use crate::mutants::Mutant;
use crate::time::Timer;

/// The hash under the lock's key, and the queue: a list and a sorted set without a TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fair {
    hold: CountedHold,
    queue: WaitQueue,
}

/// One place for each client: the scenario reader refuses this kind beside clients of several threads.
const PLACES: usize = MAX_CLIENTS as usize;

/// Those who wait, the first first. No deadline is before that of the one before it: it is reckoned from that. Free places come
/// last, and are in their default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
struct WaitQueue {
    waiters: [Option<Holder>; PLACES],
    /// Ticks until each deadline, by a clock that is right. One that is over has 0: by how much it is over is never read, since no clock
    /// is behind the right one, and whoever reads a deadline has removed those that are over before.
    left_ticks: [u8; PLACES],
}

impl WaitQueue {
    fn iter(&self) -> impl Iterator<Item = QueuedWaiter> {
        let waiters = self.waiters.into_iter().zip(self.left_ticks);
        waiters.map_while(|(holder, left_ticks)| Some(QueuedWaiter { holder: holder?, left_ticks }))
    }

    fn first(self) -> Option<QueuedWaiter> {
        self.iter().next()
    }

    fn has(self, holder: Holder) -> bool {
        self.waiters.contains(&Some(holder))
    }

    fn of(waiters: impl Iterator<Item = QueuedWaiter>) -> Self {
        let mut queue = Self::default();
        for (at, QueuedWaiter { holder, left_ticks }) in waiters.take(PLACES).enumerate() {
            (queue.waiters[at], queue.left_ticks[at]) = (Some(holder), left_ticks);
        }
        queue
    }

    /// The same, each deadline so much earlier.
    fn earlier(self, ticks: u8) -> Self {
        Self { left_ticks: self.left_ticks.map(|left| left.saturating_sub(ticks)), ..self }
    }

    /// Without the first ones whose deadlines are over. Nothing else is changed, no other deadline either.
    fn without_dead_heads(self, context: LockContext) -> Self {
        if context.is_mutated(Mutant::DeadHeadStays) {
            return self;
        }
        Self::of(self.iter().skip_while(|waiter| waiter.left_ticks <= context.clock_ahead_ticks))
    }

    /// Without this one. The deadlines of those behind it are earlier by its own wait.
    fn without(self, holder: Holder, wait_ticks: u8) -> Self {
        let Some(at) = self.waiters.iter().position(|waiter| *waiter == Some(holder)) else { return self };
        let before = self.iter().take(at);
        let behind = self.earlier(wait_ticks);
        Self::of(before.chain(behind.iter().skip(at + 1)))
    }

    /// With this one at the end.
    fn with(self, last: QueuedWaiter) -> Self {
        Self::of(self.iter().chain([last]))
    }
}

impl Lock for Fair {
    const FACTS: Facts = Facts {
        name: "fair",
        other_names: &["fairlock", "redissonfairlock"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Queue,
        receipts: Support::Yes,
        force: Support::Yes,
        value: Support::No { why: "the field of the hash is the holder" },
        two_commands: Support::No { why: "its script writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the field of a holder" },
        names: Support::No { why: "each has a queue of its own" },
        queue: Support::Yes,
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "lock()",
            try_acquire: "tryLock()",
            renew: "renew",
            release: "unlock()",
            force_release: "forceUnlock()",
        },
        reader_calls: None,
    };
    const HAS_SMALL_WORLDS: bool = false;
    const HAS_SPLIT_WORLDS: bool = false;

    type Values = NoValues;
    type Calls = NoCalls;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            LockRequest::SetTtl(_) | LockRequest::AskIfHeld(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
            LockRequest::Renew(Requester { holder, .. }) => {
                self.hold.renew(context, holder).map(|hold| Self { hold, ..self })
            }
            LockRequest::Release(Requester { holder, .. }) => self.release(context, holder),
            LockRequest::LeaveQueue(Requester { holder, .. }) => self.leave_queue(context, holder),
            LockRequest::Force => self.force(context),
        }
    }

    fn lacks_key_of(&self, request: LockRequest) -> bool {
        let has_queue = self.queue.first().is_some();
        match request {
            LockRequest::Acquire(_) => self.is_absent() || !has_queue,
            LockRequest::LeaveQueue(_) => !has_queue,
            _ => false,
        }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.hold.holders()
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let (hold, lapsed) = self.hold.pass(context, ticks);
        (Self { hold, ..self }, lapsed)
    }

    fn deadlines_pass(self) -> Self {
        Self { queue: self.queue.earlier(1), ..self }
    }

    fn queue(&self) -> impl Iterator<Item = QueuedWaiter> {
        self.queue.iter()
    }

    fn with_untimed_of(self, other: Self) -> Self {
        Self { queue: other.queue, ..self }
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self { hold: CountedHold::default(), ..self },
            KeyFamily::Receipt | KeyFamily::Hold | KeyFamily::Token => self,
            KeyFamily::Queue => Self { queue: WaitQueue::default(), ..self },
        }
    }

    fn without_ttl(self) -> Self {
        Self { hold: self.hold.without_ttl(), ..self }
    }

    fn persisted(self) -> Self {
        Self { hold: self.hold.persisted(), ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        Self { hold: self.hold.with_ttl_of(own.hold), ..self }
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = self.hold.keys();
        if self.queue.first().is_some() {
            let names = self.queue.iter().map(|waiter| waiter.holder.to_string());
            let deadline = |waiter: QueuedWaiter| (waiter.holder.to_string(), waiter.left_ticks.into());
            let deadlines: BTreeMap<_, _> = self.queue.iter().map(deadline).collect();
            let key = |slot, value| Key { slot, value, ttl: Timer::OFF };
            keys.push(key(KeySlot::Queue, KeyValue::List(names.collect())));
            keys.push(key(KeySlot::Deadlines, KeyValue::Zset(deadlines)));
        }
        keys
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        let Self { hold, queue } = self;
        let waiters = queue.waiters.map(|waiter| waiter.map(&rename));
        Self { hold: hold.renamed(rename), queue: WaitQueue { waiters, ..queue } }
    }
}

impl Fair {
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let cleaned = self.cleaned(context);
        let Self { hold, queue } = cleaned;
        let is_next = queue.first().is_none_or(|first| first.holder == holder);
        let is_overtaking = context.is_mutated(Mutant::QueueIsIgnored);
        let is_others = !hold.is_free() && !hold.is_held_by(holder);
        let is_taken_away = is_others && context.is_mutated(Mutant::AcquireIgnoresHolder);
        if hold.is_free() && (is_next || is_overtaking) || is_taken_away {
            // With the caller gone from the queue, everybody behind it waits less.
            let queue = if queue.has(holder) {
                queue.without(holder, context.queue_wait_ticks)
            } else {
                queue.earlier(context.queue_wait_ticks)
            };
            return self.wrote_queue(hold.acquire(context, holder).map(|hold| Self { hold, queue }));
        }
        if hold.is_held_by(holder) {
            return self.wrote_queue(hold.acquire(context, holder).map(|hold| Self { hold, queue }));
        }
        let refused =
            |after, remaining| self.wrote_queue(Outcome::of(after, Writes::NONE, LockReply::Busy { remaining }));
        if !context.may_queue {
            // It is answered 1, and no TTL.
            return refused(cleaned, Timer::OFF);
        }
        // A free lock behind somebody else, who may be dead, has no time left: whoever waits asks again at once.
        let remaining = if hold.is_free() { Timer::DUE } else { hold.remaining() };
        if queue.has(holder) {
            return refused(cleaned, remaining);
        }
        // What the last one has left by the caller's clock, or the lock; the deadline is reckoned from the former by that clock as well.
        let by_own_clock = |last: QueuedWaiter| Timer::ticks(last.left_ticks.saturating_sub(context.clock_ahead_ticks));
        let ahead = queue.iter().last().map_or(remaining, by_own_clock);
        let own = ahead.left().unwrap_or(0).saturating_add(context.clock_ahead_ticks);
        let left_ticks = own.saturating_add(context.queue_wait_ticks).min(MAX_DEADLINE_TICKS);
        refused(Self { hold, queue: queue.with(QueuedWaiter { holder, left_ticks }) }, ahead)
    }

    fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let Self { hold, queue } = self.cleaned(context);
        if hold.is_free() {
            // Its caller is told that it has released, and the first one that the lock is free; a receipt is left as well.
            let writes = if context.leaves_receipts { Writes::ATTEMPT } else { Writes::NONE };
            let outcome = self.wrote_queue(Outcome::of(Self { hold, queue }, writes, LockReply::Released));
            // The receipt comes after the message, and dead heads are removed before it.
            let publishes_first = queue == self.queue;
            return Outcome { publishes_first, ..Self::telling_the_first(outcome) };
        }
        let outcome = self.wrote_queue(hold.release(context, holder).map(|hold| Self { hold, queue }));
        if outcome.publish.is_some() { Self::telling_the_first(outcome) } else { outcome }
    }

    fn force(self, context: LockContext) -> Outcome<Self> {
        let Self { hold, queue } = self.cleaned(context);
        let outcome = self.wrote_queue(hold.force().map(|hold| Self { hold, queue }));
        if outcome.publish.is_some() { Self::telling_the_first(outcome) } else { outcome }
    }

    /// Dead heads stay: only acquires and releases remove them.
    fn leave_queue(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let queue = self.queue.without(holder, context.queue_wait_ticks);
        self.wrote_queue(Outcome::of(Self { queue, ..self }, Writes::ATTEMPT, LockReply::LeftQueue))
    }

    fn cleaned(self, context: LockContext) -> Self {
        Self { queue: self.queue.without_dead_heads(context), ..self }
    }

    /// What was written of the queue, beside the rest.
    fn wrote_queue(self, outcome: Outcome<Self>) -> Outcome<Self> {
        let is_written = outcome.stored.queue != self.queue;
        let writes = if is_written { outcome.writes.content(KeyFamily::Queue) } else { outcome.writes };
        Outcome { writes, ..outcome }
    }

    /// Nobody in the queue, and nothing is published.
    fn telling_the_first(outcome: Outcome<Self>) -> Outcome<Self> {
        let first = outcome.stored.queue.first();
        Outcome { publish: first.map(|first| Publish::UnlockFor(first.holder)), ..outcome }
    }
}

impl Hash for Fair {
    // In words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { hold, queue: WaitQueue { waiters, left_ticks } } = *self;
        hold.hash(hasher);
        let [first, second, third, fourth] = waiters.map(Holder::byte);
        hasher.write_u32(u32::from_le_bytes([first, second, third, fourth]));
        hasher.write_u32(u32::from_le_bytes(left_ticks));
    }
}
