//! The spin lock: one holder, who may enter again; a release tells nobody, and a refused client asks again and again.
//!
//! Read beside `impl/src/locks/spin.rs`, which tells Redis the same rules. They are those of the [`CountedHold`], which other
//! kinds have as well, but that nothing is published.
//! The back-off between two asks is not here (`client/wait_loop`), nor is what a lock object remembers of a lease
//! (`client/watchdog`).
//! Source: docs/facts/family.md#spin.

use super::contract::{LockContext, LockRequest, Outcome};
use super::counted_hold::CountedHold;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::master_calls::NoCalls;
use super::one_hold::{OneHold, OneHoldKind};

/// The hash under the lock's key, and the key's TTL.
pub type Spin = OneHold<SpinRules>;

/// The rules of a counted hold, without a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpinRules;

impl OneHoldKind for SpinRules {
    const FACTS: Facts = Facts {
        name: "spin",
        other_names: &["spinlock", "redissonspinlock"],
        waiting: Waiting::Spins,
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
        names: Support::No { why: "several names are modelled for the lock that publishes only" },
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

    const HAS_SMALL_WORLDS: bool = false;
    const HAS_SPLIT_WORLDS: bool = false;

    type Several = Spin;
    type Calls = NoCalls;

    fn execute(hold: CountedHold, context: LockContext, request: LockRequest) -> Outcome<CountedHold> {
        Outcome { publish: None, ..hold.execute(context, request) }
    }
}
