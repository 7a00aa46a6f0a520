//! The lock on several independent masters, as the Redis documentation publishes it (RedLock): a key on each of them, which only its
//! creator deletes. Whoever has it on most of them holds it.
//!
//! On each master it is a plain lock, by the same commands; what a client makes of the answers stands in `client/masters.rs`. The
//! number that a [`Requester`](super::contract::Requester) has beside its holder is here 0 for what the round of its call has
//! stored in which the client is, and 1 for what was stored in earlier ones: each round brings a random value of its own, by which no later
//! one finds those. Two that are left from two earlier rounds differ as well, and nobody can tell.
//!
//! Read beside `impl/src/locks/red.rs`. Source: docs/facts/family.md#redlock-as-published.

use super::contract::{KeyFamily, Lapsed, Lock, LockContext, LockRequest, Outcome, Requester, StoredHold};
use super::facts::{CallNames, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::Key;
use super::master_calls::MastersCall;
use super::plain::Plain;
use super::tokens::NoTokens;
use super::values::NoValues;

/// What one master stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Red(Plain);

impl Lock for Red {
    const FACTS: Facts = Facts {
        name: "red",
        other_names: &["redlock", "quorum"],
        waiting: Waiting::Polls,
        reentry: Support::No { why: "the key of each master is there or not, and counts nothing" },
        receipts: Support::No { why: "a second delete finds nothing, or another client's key" },
        force: Support::No { why: "only its creator deletes a key" },
        value: Support::No { why: "each round of a call brings a value of its own, without a choice" },
        two_commands: Support::No { why: "a master is asked by one command" },
        bare_release: Support::No { why: "only its creator deletes a key" },
        bare_extend: Support::No { why: "only its creator extends a key" },
        masters: StoringMasters::Rounds,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "lock",
            try_acquire: "try to lock",
            renew: "extend",
            release: "unlock",
            force_release: "DEL",
        },
        ..Plain::FACTS
    };

    const HAS_SMALL_WORLDS: bool = false;
    const HAS_SPLIT_WORLDS: bool = false;

    type Values = NoValues;
    type Calls = MastersCall;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        self.0.execute(context, request).map(Self)
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.0.holders()
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let (part, lapsed) = self.0.pass(context, ticks);
        (Self(part), lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        Self(self.0.without(slot))
    }

    fn persisted(self) -> Self {
        Self(self.0.persisted())
    }

    fn without_ttl(self) -> Self {
        Self(self.0.without_ttl())
    }

    fn with_ttl_of(self, own: Self) -> Self {
        Self(self.0.with_ttl_of(own.0))
    }

    fn keys(&self) -> Vec<Key> {
        self.0.keys()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self(self.0.renamed(rename))
    }

    fn renumbered(self, renumber: impl Fn(Requester) -> u8) -> Self {
        Self(self.0.renumbered(renumber))
    }
}
