//! The re-entrant lock: one holder, which may enter again; Redisson's `RLock`.
//!
//! `model/src/locks/reentrant.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here.
//!
//! One client takes a lock and releases it:
//!
//! ```no_run
//! use lockstep_redis::locks::reentrant::{ReentrantAcquireReply, ReentrantLock};
//! use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = redis::Client::open("redis://127.0.0.1/")?.get_connection()?;
//! let mut lock = ReentrantLock::new(connection, Names::of("invoices"), Scripts::built_in());
//! let me = HolderId::new("0d8a1a52-7f1c-4e4e-9f0e-1f5b6a1d6f0e", 1);
//! let lease = Lease::from_ms(30_000).ok_or("a lease lasts at least 1 ms")?;
//!
//! match lock.acquire(&me, lease)? {
//!     ReentrantAcquireReply::Acquired => {
//!         // … the work …
//!         lock.release(&me, lease, &ReleaseReceipt::new("one-id-per-release", ReleaseReceipt::LEASE))?;
//!     }
//!     ReentrantAcquireReply::Busy { ttl_ms } => println!("held by another client for up to {ttl_ms} ms"),
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
    ("reentrant/acquire", include_str!("../../scripts/reentrant/acquire.lua")),
    ("reentrant/renew", include_str!("../../scripts/reentrant/renew.lua")),
    ("reentrant/release", include_str!("../../scripts/reentrant/release.lua")),
    ("reentrant/release_without_receipt", include_str!("../../scripts/reentrant/release_without_receipt.lua")),
    ("reentrant/force_release", include_str!("../../scripts/reentrant/force_release.lua")),
];

/// The message that is published when the lock becomes free: one waiter may try to take it.
pub const UNLOCK_MESSAGE: &str = "0";

/// How many locks Redisson renews with one script.
pub const RENEWAL_BATCH: usize = 100;

/// Takes the lock, or enters it once more.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("reentrant/acquire", vec![names.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// Sets the lease to its full length again, for each of these locks that its holder still has.
pub fn renew<'a>(scripts: &Scripts, batch: impl IntoIterator<Item = (&'a Names, &'a HolderId)>, lease: Lease) -> Call {
    let mut keys = Vec::new();
    let mut args = vec![lease.ms().to_string()];
    for (names, holder) in batch {
        keys.push(names.lock().into());
        args.push(holder.to_string());
    }
    scripts.call("reentrant/renew", keys, args)
}

/// Releases one hold, and stores a receipt. If holds remain, their lease is set to `lease`.
pub fn release(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease, receipt: &ReleaseReceipt) -> Call {
    scripts.call(
        "reentrant/release",
        vec![names.lock().into(), names.channel(), names.receipt(receipt.release_id())],
        vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string(), receipt.lease().ms().to_string()],
    )
}

/// Releases one hold as Redisson did until 3.15: sent again, it releases another hold.
pub fn release_without_receipt(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call(
        "reentrant/release_without_receipt",
        vec![names.lock().into(), names.channel()],
        vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string()],
    )
}

/// Frees the lock, no matter who holds it.
pub fn force_release(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("reentrant/force_release", vec![names.lock().into(), names.channel()], vec![UNLOCK_MESSAGE.into()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReentrantAcquireReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// Another holder has it.
    Busy {
        /// The remaining lease of that holder in milliseconds; −1, as Redis answers it, if the key has no TTL.
        ttl_ms: i64,
    },
}

impl ScriptReply for ReentrantAcquireReply {
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

/// What [`renew`] replies for one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReentrantRenewReply {
    /// The lease has its full length again.
    Renewed,
    /// The holder does not have it any more: the lease has run out, or the grant was lost.
    NotHeld,
}

impl ScriptReply for Vec<ReentrantRenewReply> {
    const EXPECTED: &'static str = "1 or 0 for each lock";

    fn read(call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(answers) = value else {
            return None;
        };
        let read_one = |answer: &Value| match answer {
            Value::Int(1) => Some(ReentrantRenewReply::Renewed),
            Value::Int(0) => Some(ReentrantRenewReply::NotHeld),
            _ => None,
        };
        let one_each = answers.len() == call.keys.len();
        if one_each { answers.iter().map(read_one).collect() } else { None }
    }
}

/// What [`release`] and [`release_without_receipt`] reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReentrantReleaseReply {
    /// The last hold is gone and the lock is free.
    Released,
    /// Holds remain.
    StillHeld,
    /// The caller does not hold it: the lease has run out, or it never held it.
    NotHeld,
}

impl ScriptReply for ReentrantReleaseReply {
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
pub enum ReentrantForceReleaseReply {
    /// It was held, and is free now.
    Released,
    /// It was free.
    WasFree,
}

impl ScriptReply for ReentrantForceReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::WasFree)
    }
}

/// One re-entrant lock over one connection.
#[derive(Debug)]
pub struct ReentrantLock<C> {
    connection: C,
    names: Names,
    scripts: Scripts,
}

impl<C: ConnectionLike> ReentrantLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { connection, names, scripts }
    }

    /// Tries once to take the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease) -> Result<ReentrantAcquireReply, Error> {
        acquire(&self.scripts, &self.names, holder, lease).ask(&mut self.connection)
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<ReentrantRenewReply, Error> {
        let call = renew(&self.scripts, [(&self.names, holder)], lease);
        let replies: Vec<ReentrantRenewReply> = call.ask(&mut self.connection)?;
        Ok(replies[0])
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
    ) -> Result<ReentrantReleaseReply, Error> {
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
    pub fn force_release(&mut self) -> Result<ReentrantForceReleaseReply, Error> {
        force_release(&self.scripts, &self.names).ask(&mut self.connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if two locks had been renewed; the other replies do not depend on the call.
    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let (names, holder) = (Names::of("lock"), HolderId::new("A", 1));
        let call = renew(&Scripts::built_in(), [(&names, &holder), (&names, &holder)], ReleaseReceipt::LEASE);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(ReentrantAcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(ReentrantAcquireReply::Busy { ttl_ms: 0 }));
        assert_eq!(read(&Value::Int(-1)), Ok(ReentrantAcquireReply::Busy { ttl_ms: -1 }));
        assert_eq!(read(&Value::Int(1)), Ok(ReentrantReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReentrantReleaseReply::StillHeld));
        assert_eq!(read(&Value::Nil), Ok(ReentrantReleaseReply::NotHeld));
        assert_eq!(read(&Value::Int(1)), Ok(ReentrantForceReleaseReply::Released));
        assert_eq!(read(&Value::Int(0)), Ok(ReentrantForceReleaseReply::WasFree));
        let answers = Value::Array(vec![Value::Int(1), Value::Int(0)]);
        assert_eq!(read(&answers), Ok(vec![ReentrantRenewReply::Renewed, ReentrantRenewReply::NotHeld]));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let one_of_two = read::<Vec<ReentrantRenewReply>>(&Value::Array(vec![Value::Int(1)]));
        assert_eq!(one_of_two.unwrap_err(), "reentrant/renew: expected 1 or 0 for each lock, got array([int(1)])");
        assert!(read::<Vec<ReentrantRenewReply>>(&Value::Array(vec![Value::Int(1), Value::Nil])).is_err());
        assert!(read::<Vec<ReentrantRenewReply>>(&Value::Int(1)).is_err());
        assert!(read::<ReentrantAcquireReply>(&Value::Int(-2)).is_err());
        assert!(read::<ReentrantReleaseReply>(&Value::Int(-1)).is_err());
        assert!(read::<ReentrantForceReleaseReply>(&Value::Nil).is_err());
    }
}
