//! The toy lock: it refuses every second acquire. For tests only, behind the feature `toy`.
//!
//! `model/src/locks/toy.rs` says what may happen to it.

use redis::Value;

use crate::names::{HolderId, Lease, Names};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    ("toy/acquire", include_str!("../../scripts/toy/acquire.lua")),
    ("toy/renew", include_str!("../../scripts/toy/renew.lua")),
    ("toy/release", include_str!("../../scripts/toy/release.lua")),
];

/// Takes the lock if it is free, and if this request is not a second one.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("toy/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Sets the lease to its full length again, if this holder has the lock.
pub fn renew(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("toy/renew", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Releases the lock, if this holder has it.
pub fn release(scripts: &Scripts, names: &Names, holder: &HolderId) -> Call {
    scripts.call("toy/release", vec![names.lock().into()], vec![holder.to_string()])
}

/// What every script of this kind replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToyReply {
    /// The request was carried out.
    Done,
    /// The lock was held by another holder, or not by the caller, or it was the turn of a refusal.
    Refused,
}

impl ScriptReply for ToyReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Done, Self::Refused)
    }
}
