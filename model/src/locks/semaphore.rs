//! The semaphore of one permit: a sorted set, in which the holder of the permit stands with the time at which it got it.
//!
//! Read beside `impl/src/locks/semaphore.rs`, which tells Redis the same rules.
//! That time is by the wall clock of the client. Whoever asks removes first whom it finds older than a lease by its own. The key has a TTL
//! as well, by the clock of its node.
//! Source: docs/facts/libraries.md#redis-semaphore.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;

use super::contract::{
    HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold, Writes,
};
use super::deadline::Deadline;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::NoValues;
use crate::mutants::Mutant;
use crate::time::Timer;

/// The sorted set, or no key: one without a member is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Semaphore {
    member: Option<Holder>,
    /// A lease after its score.
    deadline: Deadline,
    /// Of the key.
    remaining: Timer,
}

impl Lock for Semaphore {
    const FACTS: Facts = Facts {
        name: "semaphore",
        other_names: &["redis-semaphore", "redissemaphore", "permit"],
        waiting: Waiting::Polls,
        reentry: Support::No { why: "its holder has the only permit, and is refused as others are" },
        // It removes first whose time is over.
        busy_is_write: true,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Grants,
        receipts: Support::No { why: "a second release finds no member to remove" },
        force: Support::No { why: "a client removes its own member only" },
        value: Support::No { why: "its member names the holder, in all its acquires" },
        two_commands: Support::No { why: "its script writes member and TTL at once" },
        bare_release: Support::No { why: "its release removes the member of its holder" },
        bare_extend: Support::No { why: "its renewal looks for the member of its holder" },
        names: Support::No { why: "each renewal is a request of its own" },
        queue: Support::No { why: "whoever asks first when the permit is free has it" },
        sharing: Support::No { why: "it has one permit" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "acquire()",
            try_acquire: "tryAcquire()",
            renew: "refresh",
            release: "release()",
            force_release: "DEL",
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
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.release(context, holder),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) | LockRequest::AskIfHeld(_) | LockRequest::Force => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
        }
    }

    /// Until its deadline by a clock that is right, also where its member is there yet, and no longer than the key lives.
    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let hold = |holder| {
            // At its deadline it is over for everybody: no clock is behind the right one.
            let left = self.deadline.left(0).filter(|left| *left > 0)?;
            let remaining = Timer::ticks(self.remaining.left().map_or(left, |of_key| of_key.min(left)));
            Some(StoredHold { by: Requester::of(holder), mode: HoldMode::Exclusive, count: 1, remaining })
        };
        self.member.and_then(hold).into_iter()
    }

    fn is_absent(&self) -> bool {
        self.member.is_none()
    }

    fn has_all_of(&self, _: LockContext, requester: Requester) -> bool {
        self.member == Some(requester.holder)
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        match self.remaining.moved(ticks) {
            Some(remaining) => (Self { remaining, ..self }, Lapsed::NONE),
            None if context.is_mutated(Mutant::LeaseNeverEnds) => {
                (Self { remaining: Timer::DUE, ..self }, Lapsed::NONE)
            }
            None => (Self::default(), Lapsed::NONE.and(KeyFamily::Lock)),
        }
    }

    fn deadlines_pass(self) -> Self {
        Self { deadline: self.deadline.later(), ..self }
    }

    fn has_due(&self) -> bool {
        self.remaining.is_due()
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self::default(),
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Hold | KeyFamily::Token => self,
        }
    }

    fn without_ttl(self) -> Self {
        Self { remaining: Timer::UNWRITTEN, ..self }
    }

    fn persisted(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = self.member.is_some() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        let key = |member: Holder| {
            let deadline = self.deadline.left(0).unwrap_or(0);
            let members = BTreeMap::from([(member.to_string(), deadline.into())]);
            Key { slot: KeySlot::Lock, value: KeyValue::Zset(members), ttl: self.remaining }
        };
        self.member.map(key).into_iter().collect()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { member: self.member.map(rename), ..self }
    }
}

impl Semaphore {
    /// What a script finds once it has removed whom it takes for over (`ZREMRANGEBYSCORE`).
    fn cleared(self, context: LockContext) -> Self {
        if self.member.is_none() || self.deadline.keeps_out(context).is_some() { self } else { Self::default() }
    }

    /// A grant or a renewal of this moment.
    const fn of(holder: Holder, context: LockContext) -> Self {
        Self { member: Some(holder), deadline: Deadline::of(context), remaining: context.lease() }
    }

    /// Takes the permit, if nobody has it.
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let found = self.cleared(context);
        if found.member.is_some() && !context.is_mutated(Mutant::AcquireIgnoresHolder) {
            // Also by the caller itself: it is counted who is there, and not who it is. The script tells no time.
            let left = self.deadline.keeps_out(context).unwrap_or(0);
            let remaining = Timer::ticks(self.remaining.left().map_or(left, |of_key| of_key.min(left)));
            return Outcome::of(self, Writes::ATTEMPT, LockReply::Busy { remaining });
        }
        Outcome::of(Self::of(holder, context), Writes::NONE.key(KeyFamily::Lock), LockReply::Acquired)
    }

    /// Begins the lease anew, if the caller is there.
    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let found = self.cleared(context);
        let is_missed = found.member != Some(holder);
        if is_missed && !(context.is_mutated(Mutant::RenewalRecreatesLock) && found.is_absent()) {
            let writes = if found == self { Writes::ATTEMPT } else { Writes::NONE.key(KeyFamily::Lock) };
            return Outcome::of(found, writes, LockReply::RenewalMissed);
        }
        let renewed = Self::of(holder, context);
        // A score that stays as it is writes nothing (`ZADD`).
        let is_rewritten = is_missed || renewed.deadline != self.deadline;
        let writes = Writes::NONE.ttl(KeyFamily::Lock);
        let writes = if is_rewritten { writes.content(KeyFamily::Lock) } else { writes };
        Outcome::of(renewed, writes, LockReply::Renewed)
    }

    /// Removes the caller: its time may be over.
    fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let is_mine = self.member == Some(holder)
            || (self.member.is_some() && context.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NotHeld);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::Released)
    }
}

impl Hash for Semaphore {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { member, deadline, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(member), deadline.byte(), remaining.byte(), 0]));
    }
}
