//! The fenced lock: one holder, who may enter again, and a counter that every grant raises; Redisson's `RFencedLock`.
//!
//! Read beside `impl/src/locks/fenced.rs`, which tells Redis the same rules. The hash has those of the [`CountedHold`]. The
//! counter is a key of its own without a TTL: neither release nor expiry takes it away, and it is replicated, lost and evicted
//! like all else. Who reads it, and what the resource makes of it, is not here (`world/tokens`).
//! Source: docs/facts/family.md#fenced-lock.

use core::hash::{Hash, Hasher};

use super::contract::{
    KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold, StoredToken, Writes,
};
use super::counted_hold::CountedHold;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::HeldTokens;
use super::values::NoValues;
use crate::mutants::Mutant;
use crate::time::Timer;

/// The hash under the lock's key with its TTL, and the counter beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fenced {
    hold: CountedHold,
    /// The newest token that it has issued; 0: there is no such key.
    counter: u8,
}

impl Fenced {
    /// Of what was done to the hash: the counter stays as it is.
    fn around(self, outcome: Outcome<CountedHold>) -> Outcome<Self> {
        outcome.map(|hold| Self { hold, ..self })
    }

    /// Raises the counter first, and then takes the lock or enters once more: a refused caller raises nothing.
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let taken = self.hold.acquire(context, holder);
        if let LockReply::Busy { .. } = taken.reply {
            return self.around(taken);
        }
        let is_raised = !context.is_mutated(Mutant::TokenReused) || self.counter == 0;
        let counter = self.counter + u8::from(is_raised);
        let granted = taken.map(|hold| Self { hold, counter });
        let writes = granted.writes.and(Writes::NONE.content(KeyFamily::Token));
        Outcome { writes, token: Some(StoredToken(counter)), ..granted }
    }
}

impl Lock for Fenced {
    const FACTS: Facts = Facts {
        name: "fenced",
        other_names: &["fencedlock", "rfencedlock", "redissonfencedlock", "fencing"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
        receipts: Support::Yes,
        force: Support::Yes,
        value: Support::No { why: "the field of the hash is the holder" },
        two_commands: Support::No { why: "its script writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the field of a holder" },
        names: Support::No { why: "each has a counter of its own" },
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::Yes,
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "lockAndGetToken()",
            try_acquire: "tryLockAndGetToken(..)",
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
    type Tokens = HeldTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            other => self.around(self.hold.execute(context, other)),
        }
    }

    fn lacks_key_of(&self, request: LockRequest) -> bool {
        matches!(request, LockRequest::Acquire(_)) && (self.is_absent() || self.counter == 0)
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.hold.holders()
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let (hold, lapsed) = self.hold.pass(context, ticks);
        (Self { hold, ..self }, lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self { hold: CountedHold::default(), ..self },
            KeyFamily::Token => Self { counter: 0, ..self },
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Hold => self,
        }
    }

    fn with_untimed_of(self, other: Self) -> Self {
        Self { counter: other.counter, ..self }
    }

    fn token_counter(&self) -> u8 {
        self.counter
    }

    fn with_token_counter(self, counter: u8) -> Self {
        Self { counter, ..self }
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
        if self.counter > 0 {
            let value = KeyValue::String(self.counter.to_string());
            keys.push(Key { slot: KeySlot::Token, value, ttl: Timer::OFF });
        }
        keys
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { hold: self.hold.renamed(rename), ..self }
    }
}

impl Hash for Fenced {
    // In words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { hold, counter } = *self;
        hold.hash(hasher);
        hasher.write_u32(u32::from(counter));
    }
}
