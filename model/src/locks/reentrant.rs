//! The reentrant lock: one holder, who may enter again.
//!
//! Read beside `impl/src/locks/reentrant.rs`, which tells Redis the same rules. They are those of the
//! [`CountedHold`], which other kinds have as well.
//! Waiting is not here (`client/wait_loop`), nor is keeping the lock alive (`client/watchdog`).
//! Source: docs/facts/redisson.md#reentrant-lock.

use super::contract::{
    CallNames, Facts, KeyFamily, Lapsed, Lock, LockContext, LockRequest, Outcome, Requester, StoredHold, Support,
    Waiting,
};
use super::counted_hold::CountedHold;
use super::holder::Holder;
use super::keys::Key;
use super::named::Named;
use super::tokens::NoTokens;
use super::values::NoValues;

/// The hash under the lock's key, and the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Reentrant(CountedHold);

impl Lock for Reentrant {
    const FACTS: Facts = Facts {
        name: "reentrant",
        other_names: &["rlock", "redissonlock", "redisson"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        receipts: Support::Yes,
        force: Support::Yes,
        value: Support::No { why: "the field of the hash is the holder" },
        two_commands: Support::No { why: "its script writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the field of a holder" },
        names: Support::Yes,
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        calls: CallNames {
            acquire: "lock()",
            try_acquire: "tryLock()",
            renew: "renew",
            release: "unlock()",
            force_release: "forceUnlock()",
        },
        reader_calls: None,
    };

    type Values = NoValues;
    type Tokens = NoTokens;
    type Several = Named<Self>;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        let hold = match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.0.acquire(context, holder),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
            LockRequest::Renew(Requester { holder, .. }) => self.0.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.0.release(context, holder),
            LockRequest::Force => self.0.force(),
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

    fn keys(&self) -> Vec<Key> {
        self.0.keys()
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        Self(self.0.renamed(rename))
    }
}
