//! The reentrant lock: one holder, who may enter again.
//!
//! Read beside `impl/src/locks/reentrant.rs`, which tells Redis the same rules.
//! Waiting is not here (`client/wait_loop`), nor is keeping the lock alive (`client/watchdog`).
//! Source: docs/facts/redisson.md#reentrant-lock.

use core::hash::{Hash, Hasher};

use super::contract::{
    CallNames, Facts, HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Publish,
    Requester, StoredHold, Support, Waiting, Writes,
};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::named::Named;
use super::values::NoValues;
use crate::mutants::Mutant;
use crate::time::Timer;

/// The hash under the lock's key, with one field for the holder and its hold count, and the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
pub struct Reentrant {
    holder: Option<Holder>,
    hold_count: u8,
    remaining: Timer,
}

impl Lock for Reentrant {
    const FACTS: Facts = Facts {
        name: "reentrant",
        other_names: &["rlock", "redissonlock", "redisson"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        receipts: Support::Yes,
        force: Support::Yes,
        value: Support::No { why: "the field of the hash is the holder" },
        two_commands: Support::No { why: "its script writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        names: Support::Yes,
        calls: CallNames {
            acquire: "lock()",
            try_acquire: "tryLock()",
            renew: "renew",
            release: "unlock()",
            force_release: "forceUnlock()",
        },
    };

    type Values = NoValues;
    type Several = Named<Self>;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            LockRequest::SetTtl(_) => unreachable!("the scenario reader allows it for kinds that have it only"),
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.release(context, holder),
            LockRequest::Force => self.force(),
        }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let (count, remaining) = (self.hold_count, self.remaining);
        let mode = HoldMode::Exclusive;
        let hold = move |holder| StoredHold { by: Requester::of(holder), mode, count, remaining };
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
        Self { remaining: Timer::UNWRITTEN, ..self }
    }

    fn persisted(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = self.holder.is_some() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        let key = |holder: Holder| Key {
            slot: KeySlot::Lock,
            value: KeyValue::Hash([(holder.to_string(), self.hold_count.into())].into()),
            ttl: self.remaining,
        };
        self.holder.map(key).into_iter().collect()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { holder: self.holder.map(rename), ..self }
    }
}

impl Reentrant {
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
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

    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
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

    fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
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

    fn force(self) -> Outcome<Self> {
        if self.holder.is_none() {
            // A DEL is a write, even of nothing.
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease);
        }
        let writes = Writes::NONE.key(KeyFamily::Lock);
        Outcome::of(Self::default(), writes, LockReply::ForceReleased).publishing(Publish::Unlock)
    }
}

impl Hash for Reentrant {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, hold_count, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), hold_count, remaining.byte(), 0]));
    }
}
