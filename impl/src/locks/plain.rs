//! The plain lock: one key, one holder, no re-entry. Each acquire needs a value of its own ([`HoldValue`]), by which its renewals
//! and its release find that the lock is still theirs.
//!
//! `model/src/locks/plain.rs` says what may happen to it. It is the lock that the Redis documentation describes and most
//! libraries implement; Redisson has none of this kind.

use redis::{ConnectionLike, Value};

use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HoldValue, Lease, Names};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 8] = [
    ("plain/acquire", include_str!("../../scripts/plain/acquire.lua")),
    ("plain/acquire_own_or_free", include_str!("../../scripts/plain/acquire_own_or_free.lua")),
    ("plain/setnx", include_str!("../../scripts/plain/setnx.lua")),
    ("plain/expire", include_str!("../../scripts/plain/expire.lua")),
    ("plain/release", include_str!("../../scripts/plain/release.lua")),
    ("plain/delete", include_str!("../../scripts/plain/delete.lua")),
    ("plain/extend", include_str!("../../scripts/plain/extend.lua")),
    ("plain/overwrite", include_str!("../../scripts/plain/overwrite.lua")),
];

/// Takes the lock if it is free, by a value that no other acquire has.
pub fn acquire(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    scripts.call("plain/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), value.to_string()])
}

/// Takes the lock if it is free, or has this value already: then its lease begins anew. It replies as [`acquire`] does.
pub fn acquire_own_or_free(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    let arguments = vec![lease.ms().to_string(), value.to_string()];
    scripts.call("plain/acquire_own_or_free", vec![names.lock().into()], arguments)
}

/// Takes the lock if it is free, without a TTL: the first of the two commands of an acquire that [`acquire`] makes as one, to
/// show what becomes of a client that ends in between. It replies as [`acquire`] does.
pub fn acquire_without_ttl(scripts: &Scripts, names: &Names, value: &HoldValue) -> Call {
    scripts.call("plain/setnx", vec![names.lock().into()], vec![value.to_string()])
}

/// Sets the TTL of the lock, whoever holds it: the second of them.
pub fn set_ttl(scripts: &Scripts, names: &Names, lease: Lease) -> Call {
    scripts.call("plain/expire", vec![names.lock().into()], vec![lease.ms().to_string()])
}

/// Releases the lock, if it was taken by this value.
pub fn release(scripts: &Scripts, names: &Names, value: &HoldValue) -> Call {
    scripts.call("plain/release", vec![names.lock().into()], vec![value.to_string()])
}

/// Releases the lock, whoever has taken it: the broken form that the Redis documentation warns of, to show what it does. It
/// replies as [`release`] does.
pub fn delete(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("plain/delete", vec![names.lock().into()], Vec::new())
}

/// Sets the lease to its full length again, if the lock was taken by this value.
pub fn extend(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    scripts.call("plain/extend", vec![names.lock().into()], vec![lease.ms().to_string(), value.to_string()])
}

/// Stores this value and the whole lease in the lock, whoever has taken it: the broken form of `ShedLock` without `safeUpdate`, to
/// show what it does. It replies as [`extend`] does.
pub fn overwrite(scripts: &Scripts, names: &Names, value: &HoldValue, lease: Lease) -> Call {
    scripts.call("plain/overwrite", vec![names.lock().into()], vec![lease.ms().to_string(), value.to_string()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlainAcquireReply {
    /// The lock is taken.
    Acquired,
    /// A holder has it, perhaps the caller itself; the answer does not contain the TTL.
    Busy,
}

impl ScriptReply for PlainAcquireReply {
    const EXPECTED: &'static str = "OK or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Okay => Some(Self::Acquired),
            Value::Nil => Some(Self::Busy),
            _ => None,
        }
    }
}

/// What [`set_ttl`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlainExpireReply {
    /// The lock has that TTL.
    Set,
    /// There is no lock.
    NoLock,
}

impl ScriptReply for PlainExpireReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Set, Self::NoLock)
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlainReleaseReply {
    /// The lock is free.
    Released,
    /// The caller does not hold it: the lease has run out, or it never held it.
    NotHeld,
}

impl ScriptReply for PlainReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::NotHeld)
    }
}

/// What [`extend`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlainExtendReply {
    /// The lease has its full length again.
    Extended,
    /// The caller does not hold it: the lease has run out, or it never held it.
    NotHeld,
}

impl ScriptReply for PlainExtendReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Extended, Self::NotHeld)
    }
}

/// One plain lock over one connection.
#[derive(Debug)]
pub struct PlainLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> PlainLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Tries once to take the lock, by a value that no other acquire has. The same call may be tried again by the same value.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock: [`release`](Self::release) it.
    pub fn acquire(&mut self, value: &HoldValue, lease: Lease) -> Result<PlainAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, value, lease))
    }

    /// Releases the lock, if it is still the one that was taken by this value.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] it may be sent again: a second release finds no lock with this value and changes nothing.
    pub fn release(&mut self, value: &HoldValue) -> Result<PlainReleaseReply, Error> {
        self.lock.ask(|scripts, names| release(scripts, names, value))
    }

    /// Sets the lease to its full length again, if the lock is still the one that was taken by this value.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease.
    pub fn extend(&mut self, value: &HoldValue, lease: Lease) -> Result<PlainExtendReply, Error> {
        self.lock.ask(|scripts, names| extend(scripts, names, value, lease))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::HolderId;

    fn read<R: ScriptReply>(answer: &Value) -> Result<R, String> {
        let value = HoldValue::of_acquire(&HolderId::new("A", 1), 1);
        let call = release(&Scripts::built_in(), &Names::of("lock"), &value);
        call.read(answer).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Okay), Ok(PlainAcquireReply::Acquired));
        assert_eq!(read(&Value::Nil), Ok(PlainAcquireReply::Busy));
        assert_eq!(read(&Value::Int(1)), Ok(PlainExpireReply::Set));
        assert_eq!(read(&Value::Int(0)), Ok(PlainExpireReply::NoLock));
        assert_eq!(read(&Value::Int(1)), Ok(PlainReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(PlainReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(PlainExtendReply::Extended));
        assert_eq!(read(&Value::Int(0)), Ok(PlainExtendReply::NotHeld));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let nil = read::<PlainReleaseReply>(&Value::Nil);
        assert_eq!(nil.unwrap_err(), "plain/release: expected 1 or 0, got nil");
        assert!(read::<PlainAcquireReply>(&Value::Int(1)).is_err());
        assert!(read::<PlainExtendReply>(&Value::Int(2)).is_err());
    }
}
