//! One part of a multi lock: a reentrant lock under a name of its own, whose TTL can be set by anybody.
//!
//! Read beside `impl/src/locks/multi.rs`, which tells Redis the same rules. Those of a part are the rules of the [`CountedHold`], which
//! other kinds have as well; the last step of an acquire that names its lease sets the TTL, whoever has the part by then.
//! In which order the parts are taken and given back is not here (`procedure`, `client/parts`): Redis knows of no multi lock.
//! Source: docs/facts/family.md#multi.

use super::contract::{LockContext, LockRequest, Outcome};
use super::counted_hold::CountedHold;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::master_calls::NoCalls;
use super::named::Named;
use super::one_hold::{OneHold, OneHoldKind};

/// The hash under the name of the part, and its TTL.
pub type Part = OneHold<PartRules>;

/// The rules of a counted hold, and a TTL that is set apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartRules;

impl OneHoldKind for PartRules {
    const FACTS: Facts = Facts {
        name: "multi",
        other_names: &["multilock", "redissonmultilock"],
        waiting: Waiting::Subscribes,
        reentry: Support::No {
            why: "a call inside another one of its thread is not modelled for a lock of several parts",
        },
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
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

    type Several = Named<Part>;
    type Calls = NoCalls;

    fn execute(hold: CountedHold, context: LockContext, request: LockRequest) -> Outcome<CountedHold> {
        hold.execute_part(context, request)
    }

    /// To Redis a client is one holder, whichever part it has.
    fn stored_as(holder: Holder) -> Holder {
        Holder::new(holder.client(), 0)
    }
}
