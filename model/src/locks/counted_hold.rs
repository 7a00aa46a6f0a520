//! One holder, who may enter again: the hash under the lock's key, with one field for the holder and its hold count, and the
//! key's TTL. What several kinds have in common.
//!
//! Source: docs/facts/redisson.md#reentrant-lock.

use core::hash::{Hash, Hasher};

use super::contract::{
    HoldMode, KeyFamily, Lapsed, LockContext, LockReply, LockRequest, Outcome, Publish, Requester, StoredHold, Writes,
};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use crate::mutants::Mutant;
use crate::time::Timer;

/// The hash, or no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
pub struct CountedHold {
    holder: Option<Holder>,
    hold_count: u8,
    remaining: Timer,
}

impl CountedHold {
    /// Whether nobody holds.
    pub(super) const fn is_free(self) -> bool {
        self.holder.is_none()
    }

    /// Whether this holder holds.
    pub(super) fn is_held_by(self, holder: Holder) -> bool {
        self.holder == Some(holder)
    }

    /// Until the key expires; off: it has no TTL, or there is none.
    pub(super) const fn remaining(self) -> Timer {
        self.remaining
    }

    /// With another TTL.
    pub(super) const fn with_ttl(self, remaining: Timer) -> Self {
        Self { remaining, ..self }
    }

    /// The holder, if there is one.
    pub(super) fn holders(self) -> impl Iterator<Item = StoredHold> {
        let Self { holder, hold_count: count, remaining } = self;
        let mode = HoldMode::Exclusive;
        let hold = move |holder| StoredHold { by: Requester::of(holder), mode, count, remaining };
        holder.map(hold).into_iter()
    }

    /// What the script of a request does to it.
    pub(super) fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.release(context, holder),
            LockRequest::Force => self.force(),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) | LockRequest::AskIfHeld(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
        }
    }

    /// The same of a lock that is a part of another one: its TTL can be set by a request of its own.
    pub(super) fn execute_part(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::SetTtl(Requester { holder, .. }) => self.set_ttl(context, holder),
            other => self.execute(context, other),
        }
    }

    /// Sets the TTL of the key if there is one, whoever holds (`PEXPIRE`), or only that of the caller's own hold.
    fn set_ttl(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if context.sets_own_ttl && !self.is_held_by(holder) {
            return Outcome::of(self, Writes::NONE, LockReply::NoTtlSet);
        }
        if self.is_free() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NoTtlSet);
        }
        Outcome::of(self.with_ttl(context.lease()), Writes::NONE.ttl(KeyFamily::Lock), LockReply::TtlSet)
    }

    /// Takes it, or enters once more, unless somebody else holds.
    pub(super) fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let remaining = context.lease();
        let writes = Writes::NONE.key(KeyFamily::Lock);
        match self.holder {
            // A re-entry resets the TTL: it does not add to it.
            Some(stored) if stored == holder => {
                let hold_count = self.hold_count + u8::from(!context.is_mutated(Mutant::ReentryWithoutCount));
                Outcome::of(Self { hold_count, remaining, ..self }, writes, LockReply::Reentered)
            }
            Some(_) if !context.is_mutated(Mutant::AcquireIgnoresHolder) => {
                Outcome::of(self, Writes::NONE, LockReply::Busy { remaining: self.remaining })
            }
            Some(_) | None => {
                Outcome::of(Self { holder: Some(holder), hold_count: 1, remaining }, writes, LockReply::Acquired)
            }
        }
    }

    /// Makes the lease whole again, if the caller holds.
    pub(super) fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let remaining = context.lease();
        if self.holder == Some(holder) {
            let renewed = Self { remaining, ..self };
            return Outcome::of(renewed, Writes::NONE.ttl(KeyFamily::Lock), LockReply::Renewed);
        }
        if context.is_mutated(Mutant::RenewalRecreatesLock) && self.holder.is_none() {
            let recreated = Self { holder: Some(holder), hold_count: 1, remaining };
            return Outcome::of(recreated, Writes::NONE.key(KeyFamily::Lock), LockReply::Renewed);
        }
        Outcome::of(self, Writes::NONE, LockReply::RenewalMissed)
    }

    /// Gives back one hold of the caller.
    pub(super) fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let is_mine = self.holder == Some(holder)
            || (self.holder.is_some() && context.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        let writes = Writes::NONE.key(KeyFamily::Lock);
        if self.hold_count > 1 && !context.is_mutated(Mutant::ReleaseDropsAllHolds) {
            // A partial release sets the full lease for the holds that remain.
            let rest = Self { hold_count: self.hold_count - 1, remaining: context.lease(), ..self };
            return Outcome::of(rest, writes, LockReply::StillHeld);
        }
        Outcome::of(Self::default(), writes, LockReply::Released).publishing(Publish::Unlock)
    }

    /// Deletes the key, whoever holds.
    pub(super) fn force(self) -> Outcome<Self> {
        if self.holder.is_none() {
            // A DEL is a write, even of nothing.
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease);
        }
        let writes = Writes::NONE.key(KeyFamily::Lock);
        Outcome::of(Self::default(), writes, LockReply::ForceReleased).publishing(Publish::Unlock)
    }

    /// `ticks` pass on the node's clock.
    pub(super) fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        match self.remaining.moved(ticks) {
            Some(remaining) => (Self { remaining, ..self }, Lapsed::NONE),
            None if context.is_mutated(Mutant::LeaseNeverEnds) => {
                (Self { remaining: Timer::DUE, ..self }, Lapsed::NONE)
            }
            None => (Self::default(), Lapsed::NONE.and(KeyFamily::Lock)),
        }
    }

    /// Without a TTL in an effect.
    pub(super) fn without_ttl(self) -> Self {
        Self { remaining: Timer::UNWRITTEN, ..self }
    }

    /// Without a TTL (`PERSIST`).
    pub(super) fn persisted(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    /// With the TTL of the replica's own, if it brings none.
    pub(super) fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = self.holder.is_some() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    /// The key, if there is one.
    pub(super) fn keys(self) -> Vec<Key> {
        let key = |holder: Holder| Key {
            slot: KeySlot::Lock,
            value: KeyValue::Hash([(holder.to_string(), u64::from(self.hold_count).into())].into()),
            ttl: self.remaining,
        };
        self.holder.map(key).into_iter().collect()
    }

    /// The same with the holder renamed.
    pub(super) fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { holder: self.holder.map(rename), ..self }
    }
}

impl Hash for CountedHold {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, hold_count, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), hold_count, remaining.byte(), 0]));
    }
}
