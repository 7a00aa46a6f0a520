//! The plain lock: a key that only its creator deletes. No re-entry, no message.
//!
//! Read beside `impl/src/locks/plain.rs`, which tells Redis the same rules.
//! Source: docs/facts/redisson.md#plain-lock, the form in the Redis documentation: the value is unique per acquire, so that
//! a late release or renewal of an earlier hold changes nothing. With `value = "per-client"` all acquires of a holder store
//! one value. With `release = "delete"` a release deletes the key, whoever has created it. With
//! `acquire = "setnx-expire"` the key has no TTL until its creator has set that by a second command, and with
//! `acquire = "own-or-free"` it is granted again to whoever brings its value. With `extend = "overwrite"` an extension stores its
//! own value in whatever key is there.

use core::hash::{Hash, Hasher};
use core::num::NonZeroU8;

use super::contract::{
    HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold, Writes,
};
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::HoldValues;
use crate::limits::{MAX_CLIENTS, MAX_THREADS, MAX_VALUES};
use crate::mutants::Mutant;
use crate::time::Timer;

/// The string under the lock's key, which names its creator and the acquire, and the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plain {
    creator: Option<Creator>,
    remaining: Timer,
}

/// Who created the key, and by which acquire, in one byte: a small world is a small value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Creator(NonZeroU8);

impl Creator {
    /// One more than the largest number of an acquire; 0: all acquires of a holder store the same.
    const NUMBERS: u8 = MAX_VALUES + 1;

    const fn new(Requester { holder, value }: Requester) -> Self {
        const { assert!((MAX_CLIENTS * MAX_THREADS) as u16 * (Self::NUMBERS as u16) < 256, "a byte for both") };
        Self(NonZeroU8::MIN.saturating_add((holder.client() * MAX_THREADS + holder.thread()) * Self::NUMBERS + value))
    }

    const fn requester(self) -> Requester {
        let number = self.0.get() - 1;
        let (holder, value) = (number / Self::NUMBERS, number % Self::NUMBERS);
        Requester { holder: Holder::new(holder / MAX_THREADS, holder % MAX_THREADS), value }
    }
}

impl Lock for Plain {
    const FACTS: Facts = Facts {
        name: "plain",
        other_names: &["setnx", "set nx px"],
        waiting: Waiting::Polls,
        reentry: Support::No { why: "the key is there or not, and counts nothing" },
        busy_is_write: true,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
        receipts: Support::No { why: "a second delete finds nothing, or another client's key" },
        force: Support::No { why: "only its creator deletes the key" },
        value: Support::Yes,
        two_commands: Support::Yes,
        bare_release: Support::Yes,
        bare_extend: Support::Yes,
        names: Support::No { why: "each key is extended by a request of its own" },
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "SET NX PX",
            try_acquire: "SET NX PX",
            renew: "extend",
            release: "delete if own",
            force_release: "DEL",
        },
        reader_calls: None,
    };

    const HAS_SMALL_WORLDS: bool = false;

    type Values = HoldValues;
    type Calls = NoCalls;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(requester) => self.acquire(context, requester),
            LockRequest::SetTtl(_) => self.given_ttl(context),
            LockRequest::Renew(requester) => self.extend(context, requester),
            LockRequest::Release(requester) => self.release(context, requester),
            LockRequest::LeaveQueue(_) | LockRequest::AskIfHeld(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
            LockRequest::Force => self.force(),
        }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let remaining = self.remaining;
        let hold = move |by| StoredHold { by, mode: HoldMode::Exclusive, count: 1, remaining };
        self.requester().map(hold).into_iter()
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
        let is_unwritten = self.creator.is_some() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        let key = |Requester { holder, value }| Key {
            slot: KeySlot::Lock,
            value: KeyValue::String(if value == 0 { holder.to_string() } else { format!("{holder}:{value}") }),
            ttl: self.remaining,
        };
        self.requester().map(key).into_iter().collect()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        self.recreated(|by| Requester { holder: rename(by.holder), ..by })
    }

    fn renumbered(self, renumber: impl Fn(Requester) -> u8) -> Self {
        self.recreated(|by| Requester { value: renumber(by), ..by })
    }
}

impl Plain {
    /// Who created the key, and by which acquire.
    fn requester(self) -> Option<Requester> {
        self.creator.map(Creator::requester)
    }

    /// The same key, created by somebody else.
    fn recreated(self, change: impl Fn(Requester) -> Requester) -> Self {
        Self { creator: self.requester().map(change).map(Creator::new), ..self }
    }

    /// A key that this acquire has just created.
    const fn created_by(requester: Requester, context: LockContext) -> Self {
        let remaining = if context.sets_ttl_apart { Timer::OFF } else { context.lease() };
        Self { creator: Some(Creator::new(requester)), remaining }
    }

    /// `SET key value NX PX lease`, or `SETNX key value`.
    fn acquire(self, context: LockContext, requester: Requester) -> Outcome<Self> {
        if context.takes_own {
            return self.acquired_by_script(context, requester);
        }
        if self.creator.is_some() && !context.is_mutated(Mutant::AcquireIgnoresHolder) {
            // Its own creator is refused too: NX asks whether the key is there, not whose it is.
            let busy = LockReply::Busy { remaining: self.remaining };
            return Outcome::of(self, Writes::ATTEMPT, busy);
        }
        let granted = Self::created_by(requester, context);
        Outcome::of(granted, Writes::NONE.key(KeyFamily::Lock), LockReply::Acquired)
    }

    /// A script that looks first: the key is not there, or has the caller's own value.
    fn acquired_by_script(self, context: LockContext, requester: Requester) -> Outcome<Self> {
        if self.requester() == Some(requester) {
            let granted_again = Self { remaining: context.lease(), ..self };
            return Outcome::of(granted_again, Writes::NONE.ttl(KeyFamily::Lock), LockReply::Acquired);
        }
        if self.creator.is_some() && !context.is_mutated(Mutant::AcquireIgnoresHolder) {
            return Outcome::of(self, Writes::NONE, LockReply::Busy { remaining: self.remaining });
        }
        let granted = Self::created_by(requester, context);
        Outcome::of(granted, Writes::NONE.key(KeyFamily::Lock), LockReply::Acquired)
    }

    /// `PEXPIRE key lease`, as the second command of an acquire: it cannot know whose key it is by now.
    fn given_ttl(self, context: LockContext) -> Outcome<Self> {
        if self.creator.is_none() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NoTtlSet);
        }
        let given = Self { remaining: context.lease(), ..self };
        Outcome::of(given, Writes::NONE.ttl(KeyFamily::Lock), LockReply::TtlSet)
    }

    /// `SET key value XX PX lease`: whoever has created it, it has this value from now on.
    fn overwritten(self, context: LockContext, requester: Requester) -> Outcome<Self> {
        if self.creator.is_none() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::RenewalMissed);
        }
        let overwritten = Self::created_by(requester, context);
        Outcome::of(overwritten, Writes::NONE.key(KeyFamily::Lock), LockReply::Renewed)
    }

    /// The documentation's "extend": compare, then set the TTL. With `extend = "overwrite"` nobody compares.
    fn extend(self, context: LockContext, requester: Requester) -> Outcome<Self> {
        if context.has_bare_extend {
            return self.overwritten(context, requester);
        }
        if self.requester() == Some(requester) {
            let extended = Self { remaining: context.lease(), ..self };
            return Outcome::of(extended, Writes::NONE.ttl(KeyFamily::Lock), LockReply::Renewed);
        }
        if context.is_mutated(Mutant::RenewalRecreatesLock) && self.creator.is_none() {
            let recreated = Self::created_by(requester, context);
            return Outcome::of(recreated, Writes::NONE.key(KeyFamily::Lock), LockReply::Renewed);
        }
        Outcome::of(self, Writes::NONE, LockReply::RenewalMissed)
    }

    /// Compare, then delete. With `release = "delete"` nobody compares.
    fn release(self, context: LockContext, requester: Requester) -> Outcome<Self> {
        if context.has_bare_release {
            return self.deleted();
        }
        let is_mine = self.requester() == Some(requester)
            || (self.creator.is_some() && context.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::Released)
    }

    /// `DEL`, as a release: it cannot know whose key it was.
    fn deleted(self) -> Outcome<Self> {
        if self.creator.is_none() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NotHeld);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::Released)
    }

    /// `DEL`. No client offers it for this kind ([`Facts::force`]).
    fn force(self) -> Outcome<Self> {
        if self.creator.is_none() {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease);
        }
        Outcome::of(Self::default(), Writes::NONE.key(KeyFamily::Lock), LockReply::ForceReleased)
    }
}

impl Hash for Plain {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { creator: _, remaining } = *self;
        let by = self.requester();
        let (holder, value) = (by.map(|by| by.holder), by.map_or(0, |by| by.value));
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), remaining.byte(), value, 0]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_tells_every_holder_and_every_acquire_of_it_apart() {
        for client in 0..MAX_CLIENTS {
            for thread in 0..MAX_THREADS {
                for value in 0..=MAX_VALUES {
                    let requester = Requester { holder: Holder::new(client, thread), value };
                    assert_eq!(Creator::new(requester).requester(), requester);
                }
            }
        }
    }
}
