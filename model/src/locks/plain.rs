//! The plain lock: a key that only its creator deletes. No re-entry, no message.
//!
//! Read beside `impl/src/locks/plain.rs`, which tells Redis the same rules.
//! Source: docs/facts/redisson.md#plain-lock, the form in the Redis documentation.

use core::hash::{Hash, Hasher};

use super::contract::{
    CallNames, Facts, HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, StoredHold,
    Support, Waiting, Writes,
};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use crate::mutants::Mutant;
use crate::time::Timer;

/// The string under the lock's key, which names its creator, and the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plain {
    holder: Option<Holder>,
    remaining: Timer,
}

impl Lock for Plain {
    const FACTS: Facts = Facts {
        name: "plain",
        other_names: &["setnx", "set nx px"],
        waiting: Waiting::Polls,
        reentry: Support::No { why: "the key is there or not, and counts nothing" },
        busy_is_write: true,
        receipts: Support::No { why: "a second delete finds nothing, or another client's key" },
        force: Support::No { why: "only its creator deletes the key" },
        calls: CallNames {
            acquire: "SET NX PX",
            try_acquire: "SET NX PX",
            renew: "extend",
            release: "delete if own",
            force_release: "DEL",
        },
    };

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(holder) => self.acquire(context, holder),
            LockRequest::Renew(holder) => self.extend(context, holder),
            LockRequest::Release(holder) => self.release(context, holder),
            LockRequest::Force => self.force(),
        }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let remaining = self.remaining;
        let hold = move |holder| StoredHold { holder, mode: HoldMode::Exclusive, count: 1, remaining };
        self.holder.map(hold).into_iter()
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

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self::default(),
            KeyFamily::Receipt => self,
        }
    }

    fn without_ttl(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = self.holder.is_some() && self.remaining == Timer::OFF;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        let key = |holder: Holder| Key {
            slot: KeySlot::Lock,
            value: KeyValue::String(holder.to_string()),
            ttl: self.remaining,
        };
        self.holder.map(key).into_iter().collect()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { holder: self.holder.map(rename), ..self }
    }
}

impl Plain {
    /// `SET key value NX PX lease`.
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if self.holder.is_some() && !context.is_mutated(Mutant::AcquireIgnoresHolder) {
            // Its own creator is refused too: NX asks whether the key is there, not whose it is.
            let busy = LockReply::Busy { remaining: self.remaining };
            return Outcome::of(self, Writes::ATTEMPT, busy);
        }
        let granted = Self { holder: Some(holder), remaining: context.lease() };
        Outcome::of(granted, Writes::NONE.key(KeyFamily::Lock), LockReply::Acquired)
    }

    /// The documentation's "extend": compare, then set the TTL.
    fn extend(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if self.holder == Some(holder) {
            let extended = Self { remaining: context.lease(), ..self };
            return Outcome::of(extended, Writes::NONE.ttl(KeyFamily::Lock), LockReply::Renewed);
        }
        if context.is_mutated(Mutant::RenewalRecreatesLock) && self.holder.is_none() {
            let recreated = Self { holder: Some(holder), remaining: context.lease() };
            return Outcome::of(recreated, Writes::NONE.key(KeyFamily::Lock), LockReply::Renewed);
        }
        Outcome::of(self, Writes::NONE, LockReply::RenewalMissed)
    }

    /// Compare, then delete.
    fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let is_mine = self.holder == Some(holder)
            || (self.holder.is_some() && context.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::Released)
    }

    /// `DEL`. No client offers it for this kind ([`Facts::force`]).
    fn force(self) -> Outcome<Self> {
        if self.holder.is_none() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::ForceReleased)
    }
}

impl Hash for Plain {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), remaining.byte(), 0, 0]));
    }
}
