//! The toy lock: it refuses every second acquire. For tests only, behind the feature `toy`: it proves that a kind needs no
//! line outside its own files but one registration in each crate.
//!
//! Read beside `impl/src/locks/toy.rs`, which tells Redis the same rules.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;

use super::contract::{
    HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold, Writes,
};
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{HashValue, Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::NoValues;
use crate::time::Timer;

/// A hash under the lock's key: whether the next acquire is refused, and the holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toy {
    holder: Option<Holder>,
    refuses_next: bool,
    /// Of the key, which outlives a release; off: there is no key.
    remaining: Timer,
}

impl Lock for Toy {
    const FACTS: Facts = Facts {
        name: "toy",
        other_names: &[],
        waiting: Waiting::Polls,
        reentry: Support::No { why: "a holder that asks again is refused" },
        busy_is_write: true,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
        receipts: Support::No { why: "a second release finds no hold" },
        force: Support::No { why: "only its holder releases the lock" },
        value: Support::No { why: "a holder is stored by its name" },
        two_commands: Support::No { why: "its script writes both at once" },
        bare_release: Support::No { why: "its release says whose count it lowers" },
        bare_extend: Support::No { why: "its renewal says whose lease it extends" },
        names: Support::No { why: "each renewal is a request of its own" },
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "acquire",
            try_acquire: "acquire",
            renew: "renew",
            release: "release",
            force_release: "force",
        },
        reader_calls: None,
    };

    type Values = NoValues;
    type Calls = NoCalls;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) | LockRequest::AskIfHeld(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.release(holder),
            // No client offers it for this kind (`Facts::force`).
            LockRequest::Force => Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease),
        }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let remaining = self.remaining;
        let mode = HoldMode::Exclusive;
        let hold = move |holder| StoredHold { by: Requester::of(holder), mode, count: 1, remaining };
        self.holder.map(hold).into_iter()
    }

    fn pass(self, _: LockContext, ticks: i8) -> (Self, Lapsed) {
        match self.remaining.moved(ticks) {
            Some(remaining) => (Self { remaining, ..self }, Lapsed::NONE),
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
        let is_unwritten = self != Self::default() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        if *self == Self::default() {
            return Vec::new();
        }
        let mut fields = BTreeMap::from([("refuses".to_owned(), HashValue::from(u64::from(self.refuses_next)))]);
        fields.extend(self.holder.map(|holder| (holder.to_string(), HashValue::from(1))));
        vec![Key { slot: KeySlot::Lock, value: KeyValue::Hash(fields), ttl: self.remaining }]
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self { holder: self.holder.map(rename), ..self }
    }
}

impl Toy {
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let asked = Self { refuses_next: !self.refuses_next, ..self };
        if self.refuses_next || self.holder.is_some() {
            let busy = LockReply::Busy { remaining: self.remaining };
            return Outcome::of(asked, Writes::NONE.content(KeyFamily::Lock), busy);
        }
        let granted = Self { holder: Some(holder), remaining: context.lease(), ..asked };
        Outcome::of(granted, Writes::NONE.key(KeyFamily::Lock), LockReply::Acquired)
    }

    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if self.holder != Some(holder) {
            return Outcome::of(self, Writes::NONE, LockReply::RenewalMissed);
        }
        let renewed = Self { remaining: context.lease(), ..self };
        Outcome::of(renewed, Writes::NONE.ttl(KeyFamily::Lock), LockReply::Renewed)
    }

    fn release(self, holder: Holder) -> Outcome<Self> {
        if self.holder != Some(holder) {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        let released = Self { holder: None, ..self };
        Outcome::of(released, Writes::NONE.content(KeyFamily::Lock), LockReply::Released)
    }
}

impl Hash for Toy {
    // In one word, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, refuses_next, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), remaining.byte(), u8::from(refuses_next), 0]));
    }
}
