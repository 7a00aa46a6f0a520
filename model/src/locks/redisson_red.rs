//! What one master stores of Redisson's lock on several masters (`RedissonRedLock`): a re-entrant lock, whose TTL can be set by anybody.
//!
//! Read beside `impl/src/locks/redisson_red.rs`, which tells Redis the same rules. Those of one master are the rules of the
//! [`CountedHold`], which other kinds have as well; the last step of an acquire that names its lease sets the TTL, whoever has the key by
//! then. What a client makes of the answers is not here (`client/master_locks`): Redis knows of no lock on several masters.
//! Source: docs/facts/family.md#redlock.

use super::contract::{LockContext, LockRequest, Outcome};
use super::counted_hold::CountedHold;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::master_calls::LocksCall;
use super::one_hold::{OneHold, OneHoldKind};

/// The hash under the lock's key on one master, and its TTL.
pub type MasterLock = OneHold<MasterLockRules>;

/// The rules of a counted hold, and a TTL that is set apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MasterLockRules;

impl OneHoldKind for MasterLockRules {
    const FACTS: Facts = Facts {
        name: "redisson-red",
        other_names: &["redissonredlock", "getredlock"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
        receipts: Support::Yes,
        force: Support::No { why: "forceUnlock() of a red lock throws an UnsupportedOperationException" },
        value: Support::No { why: "the field of each hash is the holder" },
        two_commands: Support::No { why: "the script of each master writes field and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the field of a holder" },
        names: Support::No { why: "each master is a group of its own, and stores one lock" },
        queue: Support::No { why: "whoever asks a master first has it there" },
        sharing: Support::No { why: "only one thread holds it at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one name on several masters" },
        masters: StoringMasters::Locks,
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

    type Several = MasterLock;
    type Calls = LocksCall;

    fn execute(hold: CountedHold, context: LockContext, request: LockRequest) -> Outcome<CountedHold> {
        hold.execute_part(context, request)
    }
}
