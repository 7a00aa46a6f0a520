//! The read-write lock: any number of readers, or one writer, who may read as well; Redisson's `getReadWriteLock`.
//!
//! `model/src/locks/read_write.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here. A thread is known by two names: as a reader by its own, as a
//! writer by [`HolderId::as_writer`].
//!
//! Each hold of a reader is a key of its own, whose name the scripts make of the holder and a number: on a cluster it has the hash tag of
//! the lock.

use redis::{ConnectionLike, Value};

use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero, one_zero_or_nil};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 10] = [
    ("read_write/read_acquire", include_str!("../../scripts/read_write/read_acquire.lua")),
    ("read_write/write_acquire", include_str!("../../scripts/read_write/write_acquire.lua")),
    ("read_write/read_release", include_str!("../../scripts/read_write/read_release.lua")),
    ("read_write/write_release", include_str!("../../scripts/read_write/write_release.lua")),
    ("read_write/write_release_told", include_str!("../../scripts/read_write/write_release_told.lua")),
    ("read_write/read_renew", include_str!("../../scripts/read_write/read_renew.lua")),
    ("read_write/read_renew_all", include_str!("../../scripts/read_write/read_renew_all.lua")),
    ("read_write/read_renew_failing", include_str!("../../scripts/read_write/read_renew_failing.lua")),
    ("read_write/write_renew", include_str!("../../scripts/read_write/write_renew.lua")),
    ("read_write/force_release", include_str!("../../scripts/read_write/force_release.lua")),
];

/// The message of a reader, when the lock becomes free: one waiter may try to take it.
pub const READ_UNLOCK_MESSAGE: &str = "0";

/// The message of a writer: every waiter may try.
pub const WRITE_UNLOCK_MESSAGE: &str = "1";

/// How somebody takes the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Beside other readers.
    Read,
    /// Alone.
    Write,
}

/// Which holds the renewal of a reader renews beside the lock: what versions of Redisson do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenewedHolds {
    /// Its own.
    Own,
    /// Those of all readers.
    OfAll,
    /// Those of all readers up to the first field with a count of two: there the script ends with an error.
    UntilNested,
}

/// Whom a writer tells that releases its last hold and reads on: other readers may join it from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DowngradeMessage {
    /// Nobody, as Redisson: a reader that waits sleeps for as long as it was told.
    None,
    /// All who wait.
    ToAll,
}

/// Takes the lock, or enters it once more.
pub fn acquire(scripts: &Scripts, names: &Names, access: Access, holder: &HolderId, lease: Lease) -> Call {
    let lock = names.lock().to_owned();
    match access {
        Access::Read => {
            let args = vec![lease.ms().to_string(), holder.to_string(), holder.as_writer()];
            scripts.call("read_write/read_acquire", vec![lock, names.holds_of_reader(holder)], args)
        }
        Access::Write => {
            let args = vec![lease.ms().to_string(), holder.as_writer()];
            scripts.call("read_write/write_acquire", vec![lock], args)
        }
    }
}

/// Sets the lease to its full length again, if this holder still has the lock. `holds`: those that a reader renews.
pub fn renew(
    scripts: &Scripts,
    names: &Names,
    access: Access,
    holder: &HolderId,
    lease: Lease,
    holds: RenewedHolds,
) -> Call {
    let lock = names.lock().to_owned();
    match access {
        Access::Read => {
            let script = match holds {
                RenewedHolds::Own => "read_write/read_renew",
                RenewedHolds::OfAll => "read_write/read_renew_all",
                RenewedHolds::UntilNested => "read_write/read_renew_failing",
            };
            let args = vec![lease.ms().to_string(), holder.to_string()];
            scripts.call(script, vec![lock, names.holds_of_readers()], args)
        }
        Access::Write => {
            let args = vec![lease.ms().to_string(), holder.as_writer()];
            scripts.call("read_write/write_renew", vec![lock], args)
        }
    }
}

/// Releases one hold, and stores a receipt. `lease`: of the holds of a writer that remain; those of a reader have their own. `message`: what
/// a writer says that reads on.
pub fn release(
    scripts: &Scripts,
    names: &Names,
    access: Access,
    holder: &HolderId,
    lease: Lease,
    receipt: &ReleaseReceipt,
    message: DowngradeMessage,
) -> Call {
    let (lock, channel) = (names.lock().to_owned(), names.read_write_channel());
    let receipt_key = names.receipt(receipt.release_id());
    let receipt_lease = receipt.lease().ms().to_string();
    match access {
        Access::Read => {
            let keys = vec![lock, channel, names.holds_of_reader(holder), names.holds_of_readers(), receipt_key];
            let args = vec![READ_UNLOCK_MESSAGE.into(), holder.to_string(), receipt_lease];
            scripts.call("read_write/read_release", keys, args)
        }
        Access::Write => {
            let lease = lease.ms().to_string();
            let args = vec![WRITE_UNLOCK_MESSAGE.into(), lease, holder.as_writer(), receipt_lease];
            let script = match message {
                DowngradeMessage::None => "read_write/write_release",
                DowngradeMessage::ToAll => "read_write/write_release_told",
            };
            scripts.call(script, vec![lock, channel, receipt_key], args)
        }
    }
}

/// Frees the lock if it is held in this way, no matter by whom.
pub fn force_release(scripts: &Scripts, names: &Names, access: Access) -> Call {
    let (message, mode) = match access {
        Access::Read => (READ_UNLOCK_MESSAGE, "read"),
        Access::Write => (WRITE_UNLOCK_MESSAGE, "write"),
    };
    let keys = vec![names.lock().into(), names.read_write_channel()];
    scripts.call("read_write/force_release", keys, vec![message.into(), mode.into()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadWriteAcquireReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// Others have it in a way that does not go with this one.
    Busy {
        /// What the lock has left in milliseconds; −1, as Redis answers it, if the key has no TTL.
        ttl_ms: i64,
    },
}

impl ScriptReply for ReadWriteAcquireReply {
    const EXPECTED: &'static str = "nil or a TTL";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            &Value::Int(ttl_ms) if ttl_ms >= -1 => Some(Self::Busy { ttl_ms }),
            _ => None,
        }
    }
}

/// What [`renew`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadWriteRenewReply {
    /// The lease has its full length again.
    Renewed,
    /// The holder does not have it any more.
    NotHeld,
}

impl ScriptReply for ReadWriteRenewReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Renewed, Self::NotHeld)
    }
}

/// What [`release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadWriteReleaseReply {
    /// The lock is free, or the caller has no hold of this sort left.
    Released,
    /// Holds remain.
    StillHeld,
    /// The caller does not hold it.
    NotHeld,
}

impl ScriptReply for ReadWriteReleaseReply {
    const EXPECTED: &'static str = "1, 0 or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_zero_or_nil(value, Self::Released, Self::StillHeld, Self::NotHeld)
    }
}

/// What [`force_release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadWriteForceReleaseReply {
    /// It was held in this way, and is free now.
    Released,
    /// It was not.
    WasNot,
}

impl ScriptReply for ReadWriteForceReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::WasNot)
    }
}

/// One read-write lock over one connection.
#[derive(Debug)]
pub struct ReadWriteLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> ReadWriteLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Asks for the lock once.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, access: Access, holder: &HolderId, lease: Lease) -> Result<ReadWriteAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, access, holder, lease))
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, access: Access, holder: &HolderId, lease: Lease) -> Result<ReadWriteRenewReply, Error> {
        let holds = RenewedHolds::Own;
        self.lock.ask(|scripts, names| renew(scripts, names, access, holder, lease, holds))
    }

    /// Releases one hold, then deletes the receipt. `lease`: of the holds of a writer that remain.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is released once only.
    pub fn release(
        &mut self,
        access: Access,
        holder: &HolderId,
        lease: Lease,
        receipt: &ReleaseReceipt,
    ) -> Result<ReadWriteReleaseReply, Error> {
        self.lock.release(receipt, |scripts, names| {
            release(scripts, names, access, holder, lease, receipt, DowngradeMessage::None)
        })
    }

    /// Frees the lock if it is held in this way, no matter by whom.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self, access: Access) -> Result<ReadWriteForceReleaseReply, Error> {
        self.lock.ask(|scripts, names| force_release(scripts, names, access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let call = force_release(&Scripts::built_in(), &Names::of("lock"), Access::Write);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(ReadWriteAcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(ReadWriteAcquireReply::Busy { ttl_ms: 0 }));
        assert_eq!(read(&Value::Int(-1)), Ok(ReadWriteAcquireReply::Busy { ttl_ms: -1 }));
        assert!(read::<ReadWriteAcquireReply>(&Value::Int(-2)).is_err());
        assert_eq!(read(&Value::Int(1)), Ok(ReadWriteRenewReply::Renewed));
        assert_eq!(read(&Value::Int(0)), Ok(ReadWriteRenewReply::NotHeld));
        assert!(read::<ReadWriteRenewReply>(&Value::Nil).is_err());
        assert_eq!(read(&Value::Int(1)), Ok(ReadWriteReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReadWriteReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(ReadWriteReleaseReply::NotHeld));
        assert!(read::<ReadWriteReleaseReply>(&Value::Int(2)).is_err());
        assert_eq!(read(&Value::Int(1)), Ok(ReadWriteForceReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReadWriteForceReleaseReply::WasNot));
    }
}
