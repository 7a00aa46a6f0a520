//! The spin lock: one holder, which may enter again, and whose release tells nobody; Redisson's `getSpinLock`.
//!
//! `model/src/locks/spin.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here. Whoever is refused sleeps for a back-off and asks again: the
//! remaining lease that a refusal tells is of no use to it.
//!
//! One client takes a lock and releases it:
//!
//! ```no_run
//! use lockstep_redis::locks::spin::{SpinAcquireReply, SpinLock};
//! use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = redis::Client::open("redis://127.0.0.1/")?.get_connection()?;
//! let mut lock = SpinLock::new(connection, Names::of("invoices"), Scripts::built_in());
//! let me = HolderId::new("0d8a1a52-7f1c-4e4e-9f0e-1f5b6a1d6f0e", 1);
//! let lease = Lease::from_ms(30_000).ok_or("a lease lasts at least 1 ms")?;
//!
//! match lock.acquire(&me, lease)? {
//!     SpinAcquireReply::Acquired => {
//!         // … the work …
//!         lock.release(&me, lease, &ReleaseReceipt::new("one-id-per-release", ReleaseReceipt::LEASE))?;
//!     }
//!     SpinAcquireReply::Busy { ttl_ms } => println!("held by another client for up to {ttl_ms} ms"),
//! }
//! # Ok(())
//! # }
//! ```

use redis::{ConnectionLike, Value};

use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 5] = [
    ("spin/acquire", include_str!("../../scripts/spin/acquire.lua")),
    ("spin/renew", include_str!("../../scripts/spin/renew.lua")),
    ("spin/release", include_str!("../../scripts/spin/release.lua")),
    ("spin/release_without_receipt", include_str!("../../scripts/spin/release_without_receipt.lua")),
    ("spin/force_release", include_str!("../../scripts/spin/force_release.lua")),
];

/// Takes the lock, or enters it once more.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("spin/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Sets the lease to its full length again, if its holder still has the lock.
pub fn renew(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("spin/renew", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Releases one hold, and stores a receipt. If holds remain, their lease is set to `lease`.
pub fn release(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease, receipt: &ReleaseReceipt) -> Call {
    scripts.call(
        "spin/release",
        vec![names.lock().into(), names.receipt(receipt.release_id())],
        vec![lease.ms().to_string(), holder.to_string(), receipt.lease().ms().to_string()],
    )
}

/// Releases one hold as Redisson did until 3.15: sent again, it releases another hold.
pub fn release_without_receipt(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call(
        "spin/release_without_receipt",
        vec![names.lock().into()],
        vec![lease.ms().to_string(), holder.to_string()],
    )
}

/// Frees the lock, no matter who holds it.
pub fn force_release(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("spin/force_release", vec![names.lock().into()], vec![])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpinAcquireReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// Another holder has it.
    Busy {
        /// The remaining lease of that holder in milliseconds; −1, as Redis answers it, if the key has no TTL.
        ttl_ms: i64,
    },
}

impl ScriptReply for SpinAcquireReply {
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

/// What [`renew`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpinRenewReply {
    /// The lease has its full length again.
    Renewed,
    /// The holder does not have it any more: the lease has run out, or the grant was lost.
    NotHeld,
}

impl ScriptReply for SpinRenewReply {
    const EXPECTED: &'static str = "1 or 0 in a list";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(answers) = value else { return None };
        let [answer] = answers.as_slice() else { return None };
        one_or_zero(answer, Self::Renewed, Self::NotHeld)
    }
}

/// What [`release`] and [`release_without_receipt`] reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpinReleaseReply {
    /// The last hold is gone and the lock is free.
    Released,
    /// Holds remain.
    StillHeld,
    /// The caller does not hold it: the lease has run out, or it never held it.
    NotHeld,
}

impl ScriptReply for SpinReleaseReply {
    const EXPECTED: &'static str = "1, 0 or nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Int(1) => Some(Self::Released),
            Value::Int(0) => Some(Self::StillHeld),
            Value::Nil => Some(Self::NotHeld),
            _ => None,
        }
    }
}

/// What [`force_release`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpinForceReleaseReply {
    /// It was held, and is free now.
    Released,
    /// It was free.
    WasFree,
}

impl ScriptReply for SpinForceReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::WasFree)
    }
}

/// One spin lock over one connection.
#[derive(Debug)]
pub struct SpinLock<C> {
    connection: C,
    names: Names,
    scripts: Scripts,
}

impl<C: ConnectionLike> SpinLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { connection, names, scripts }
    }

    /// Tries once to take the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease) -> Result<SpinAcquireReply, Error> {
        acquire(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<SpinRenewReply, Error> {
        renew(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }

    /// Releases one hold, then deletes the receipt.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is released once only.
    pub fn release(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        receipt: &ReleaseReceipt,
    ) -> Result<SpinReleaseReply, Error> {
        let call = release(&self.scripts, &self.names, holder, lease, receipt);
        let reply = call.ask(&mut self.connection)?;
        // The release is answered, even if its receipt cannot be deleted: the receipt expires.
        let _: redis::RedisResult<()> = receipt.deletion(&self.names).query(&mut self.connection);
        Ok(reply)
    }

    /// Frees the lock, no matter who holds it.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self) -> Result<SpinForceReleaseReply, Error> {
        force_release(&self.scripts, &self.names).ask(&mut self.connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the answer of some script: the replies do not depend on the call.
    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let (names, holder) = (Names::of("lock"), HolderId::new("A", 1));
        let call = renew(&Scripts::built_in(), &names, &holder, ReleaseReceipt::LEASE);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(SpinAcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(SpinAcquireReply::Busy { ttl_ms: 0 }));
        assert_eq!(read(&Value::Int(-1)), Ok(SpinAcquireReply::Busy { ttl_ms: -1 }));
        assert_eq!(read(&Value::Int(1)), Ok(SpinReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(SpinReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(SpinReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(SpinForceReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(SpinForceReleaseReply::WasFree));
        assert_eq!(read(&Value::Array(vec![Value::Int(1)])), Ok(SpinRenewReply::Renewed));
        assert_eq!(read(&Value::Array(vec![Value::Int(0)])), Ok(SpinRenewReply::NotHeld));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let two = read::<SpinRenewReply>(&Value::Array(vec![Value::Int(1), Value::Int(1)]));
        assert_eq!(two.unwrap_err(), "spin/renew: expected 1 or 0 in a list, got array([int(1), int(1)])");
        assert!(read::<SpinRenewReply>(&Value::Int(1)).is_err());
        assert!(read::<SpinAcquireReply>(&Value::Int(-2)).is_err());
        assert!(read::<SpinReleaseReply>(&Value::Int(-1)).is_err());
        assert!(read::<SpinForceReleaseReply>(&Value::Nil).is_err());
    }
}
