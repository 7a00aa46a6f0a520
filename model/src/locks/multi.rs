//! One part of a multi lock: a reentrant lock under a name of its own, whose TTL can be set by anybody.
//!
//! Read beside `impl/src/locks/multi.rs`, which tells Redis the same rules. Those of a part are the rules of the [`CountedHold`], which
//! other kinds have as well; the last step of an acquire that names its lease sets the TTL, whoever has the part by then.
//! In which order the parts are taken and given back is not here (`procedure`, `client/parts`): Redis knows of no multi lock.
//! Source: docs/facts/family.md#multi.

use super::contract::{
    CallNames, Facts, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold,
    Support, Waiting, Writes,
};
use super::counted_hold::CountedHold;
use super::holder::Holder;
use super::keys::Key;
use super::named::Named;
use super::tokens::NoTokens;
use super::values::NoValues;

/// The hash under the name of the part, and its TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Part(CountedHold);

impl Lock for Part {
    const FACTS: Facts = Facts {
        name: "multi",
        other_names: &["multilock", "redissonmultilock"],
        waiting: Waiting::Subscribes,
        reentry: Support::No {
            why: "a call inside another one of its thread is not modelled for a lock of several parts",
        },
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        receipts: Support::Yes,
        force: Support::No { why: "forceUnlock() of a multi lock throws an UnsupportedOperationException" },
        value: Support::No { why: "the field of each hash is the holder" },
        two_commands: Support::No { why: "the script of a part writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the fields of a holder" },
        names: Support::Yes,
        queue: Support::No { why: "whoever asks first when a part is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::Yes,
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
    type Tokens = NoTokens;
    type Several = Named<Self>;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        let hold = match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.0.acquire(context, holder),
            LockRequest::SetTtl(Requester { holder, .. }) => self.0.set_ttl(context, holder),
            LockRequest::Renew(Requester { holder, .. }) => self.0.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.0.release(context, holder),
            LockRequest::LeaveQueue(_) | LockRequest::Force => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
        };
        hold.map(Self)
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.0.holders()
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let (hold, lapsed) = self.0.pass(context, ticks);
        (Self(hold), lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self::default(),
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Hold | KeyFamily::Token => self,
        }
    }

    fn without_ttl(self) -> Self {
        Self(self.0.without_ttl())
    }

    fn persisted(self) -> Self {
        Self(self.0.persisted())
    }

    fn with_ttl_of(self, own: Self) -> Self {
        Self(self.0.with_ttl_of(own.0))
    }

    /// To Redis a client is one holder, whichever part it has.
    fn keys(&self) -> Vec<Key> {
        self.0.renamed(|holder| Holder::new(holder.client(), 0)).keys()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self(self.0.renamed(rename))
    }
}

impl CountedHold {
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
}
