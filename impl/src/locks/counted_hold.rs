//! One holder, who may enter again: what several kinds say and hear alike, because their lock is the same hash with one field
//! for the holder and its hold count.
//!
//! `model/src/locks/counted_hold.rs` says what may happen to it. Each kind has scripts of its own, and names of its own for
//! these replies.

use redis::Value;

use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero, one_zero_or_nil};

/// The message that is published when the lock becomes free: one waiter may try to take it.
pub const UNLOCK_MESSAGE: &str = "0";

/// A script that needs the lock, a lease and the holder: most acquires and renewals.
pub(super) fn call_of_holder(scripts: &Scripts, script: &str, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call(script, vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// A release that stores a receipt, and publishes to everybody on one channel when the lock becomes free.
pub(super) fn release_and_publish(
    scripts: &Scripts,
    script: &str,
    names: &Names,
    (holder, lease): (&HolderId, Lease),
    receipt: &ReleaseReceipt,
) -> Call {
    scripts.call(
        script,
        vec![names.lock().into(), names.channel(), names.receipt(receipt.release_id())],
        vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string(), receipt.lease().ms().to_string()],
    )
}

/// A forced release that publishes to everybody on one channel.
pub(super) fn force_release_and_publish(scripts: &Scripts, script: &str, names: &Names) -> Call {
    scripts.call(script, vec![names.lock().into(), names.channel()], vec![UNLOCK_MESSAGE.into()])
}

/// What an acquire replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// Another holder has it.
    Busy {
        /// The remaining lease of that holder in milliseconds; −1, as Redis answers it, if the key has no TTL.
        ttl_ms: i64,
    },
}

impl ScriptReply for AcquireReply {
    const EXPECTED: &'static str = "nil or a TTL";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            // −2 would mean that there is no such key, and then the script would have taken the lock.
            &Value::Int(ttl_ms) if ttl_ms >= -1 => Some(Self::Busy { ttl_ms }),
            _ => None,
        }
    }
}

/// What a renewal replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenewReply {
    /// The lease has its full length again.
    Renewed,
    /// The holder does not have it any more: the lease has run out, or the grant was lost.
    NotHeld,
}

impl RenewReply {
    /// What the answer for one lock means.
    pub(super) fn of_one(value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Renewed, Self::NotHeld)
    }
}

/// The reply of a renewal of one lock; Redisson's scripts answer it in a list.
impl ScriptReply for RenewReply {
    const EXPECTED: &'static str = "1 or 0 in a list";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(answers) = value else { return None };
        let [answer] = answers.as_slice() else { return None };
        Self::of_one(answer)
    }
}

/// What a release replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReleaseReply {
    /// The last hold is gone and the lock is free.
    Released,
    /// Holds remain.
    StillHeld,
    /// The caller does not hold it: the lease has run out, or it never held it.
    NotHeld,
}

impl ScriptReply for ReleaseReply {
    const EXPECTED: &'static str = "1, 0 or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_zero_or_nil(value, Self::Released, Self::StillHeld, Self::NotHeld)
    }
}

/// What a forced release replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForceReleaseReply {
    /// It was held, and is free now.
    Released,
    /// It was free.
    WasFree,
}

impl ScriptReply for ForceReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::WasFree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the answer of some script: the replies do not depend on the call.
    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let call = Scripts::of([("kind/verb", "return 0")]).call("kind/verb", vec![], vec![]);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(AcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(AcquireReply::Busy { ttl_ms: 0 }));
        assert_eq!(read(&Value::Int(-1)), Ok(AcquireReply::Busy { ttl_ms: -1 }));
        assert_eq!(read(&Value::Array(vec![Value::Int(1)])), Ok(RenewReply::Renewed));
        assert_eq!(read(&Value::Array(vec![Value::Int(0)])), Ok(RenewReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(ReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ForceReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ForceReleaseReply::WasFree));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let two = read::<RenewReply>(&Value::Array(vec![Value::Int(1), Value::Int(1)]));
        assert_eq!(two.unwrap_err(), "kind/verb: expected 1 or 0 in a list, got array([int(1), int(1)])");
        assert!(read::<RenewReply>(&Value::Array(vec![])).is_err());
        assert!(read::<RenewReply>(&Value::Int(1)).is_err());
        assert!(read::<AcquireReply>(&Value::Int(-2)).is_err());
        assert!(read::<ReleaseReply>(&Value::Int(-1)).is_err());
        assert!(read::<ForceReleaseReply>(&Value::Nil).is_err());
    }
}
