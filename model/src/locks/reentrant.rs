//! The reentrant lock: one holder, who may enter again.
//!
//! Read beside `impl/src/locks/reentrant.rs`, which tells Redis the same rules. They are those of the
//! [`CountedHold`](super::counted_hold::CountedHold), which other kinds have as well.
//! Waiting is not here (`client/wait_loop`), nor is keeping the lock alive (`client/watchdog`).
//! Source: docs/facts/redisson.md#reentrant-lock.

use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::master_calls::NoCalls;
use super::named::Named;
use super::one_hold::{OneHold, OneHoldKind};

/// The hash under the lock's key, and the key's TTL.
pub type Reentrant = OneHold<ReentrantRules>;

/// The rules of a counted hold, as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReentrantRules;

impl OneHoldKind for ReentrantRules {
    const FACTS: Facts = Facts {
        name: "reentrant",
        other_names: &["rlock", "redissonlock", "redisson"],
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
        names: Support::Yes,
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "lock()",
            try_acquire: "tryLock()",
            renew: "renew",
            release: "unlock()",
            force_release: "forceUnlock()",
        },
        reader_calls: None,
    };

    type Several = Named<Reentrant>;
    type Calls = NoCalls;
}
