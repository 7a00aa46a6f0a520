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

use super::counted_hold::{
    AcquireReply, ForceReleaseReply, ReleaseReply, RenewReply, call_of_holder, force_release_and_publish,
    release_and_publish,
};
use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts};

pub use super::counted_hold::UNLOCK_MESSAGE;

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 5] = [
    ("reentrant/acquire", include_str!("../../scripts/reentrant/acquire.lua")),
    ("reentrant/renew", include_str!("../../scripts/reentrant/renew.lua")),
    ("reentrant/release", include_str!("../../scripts/reentrant/release.lua")),
    ("reentrant/release_without_receipt", include_str!("../../scripts/reentrant/release_without_receipt.lua")),
    ("reentrant/force_release", include_str!("../../scripts/reentrant/force_release.lua")),
];

/// How many locks Redisson renews with one script.
pub const RENEWAL_BATCH: usize = 100;

/// Takes the lock, or enters it once more.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    call_of_holder(scripts, "reentrant/acquire", names, holder, lease)
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
    release_and_publish(scripts, "reentrant/release", names, (holder, lease), receipt)
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
    force_release_and_publish(scripts, "reentrant/force_release", names)
}

/// What [`acquire`] replies.
pub type ReentrantAcquireReply = AcquireReply;

/// What [`renew`] replies for one lock.
pub type ReentrantRenewReply = RenewReply;

impl ScriptReply for Vec<ReentrantRenewReply> {
    const EXPECTED: &'static str = "1 or 0 for each lock";

    fn read(call: &Call, value: &Value) -> Option<Self> {
        let Value::Array(answers) = value else {
            return None;
        };
        let one_each = answers.len() == call.keys.len();
        if one_each { answers.iter().map(RenewReply::of_one).collect() } else { None }
    }
}

/// What [`release`] and [`release_without_receipt`] reply.
pub type ReentrantReleaseReply = ReleaseReply;

/// What [`force_release`] replies.
pub type ReentrantForceReleaseReply = ForceReleaseReply;

/// One re-entrant lock over one connection.
#[derive(Debug)]
pub struct ReentrantLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> ReentrantLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Tries once to take the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease) -> Result<ReentrantAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, holder, lease))
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<ReentrantRenewReply, Error> {
        let replies: Vec<ReentrantRenewReply> =
            self.lock.ask(|scripts, names| renew(scripts, [(names, holder)], lease))?;
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
        self.lock.release(receipt, |scripts, names| release(scripts, names, holder, lease, receipt))
    }

    /// Frees the lock, no matter who holds it.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self) -> Result<ReentrantForceReleaseReply, Error> {
        self.lock.ask(force_release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the answer to a renewal of two locks.
    fn read(value: &Value) -> Result<Vec<ReentrantRenewReply>, String> {
        let (names, holder) = (Names::of("lock"), HolderId::new("A", 1));
        let call = renew(&Scripts::built_in(), [(&names, &holder), (&names, &holder)], ReleaseReceipt::LEASE);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_renewal_is_answered_for_each_lock() {
        let answers = Value::Array(vec![Value::Int(1), Value::Int(0)]);
        assert_eq!(read(&answers), Ok(vec![ReentrantRenewReply::Renewed, ReentrantRenewReply::NotHeld]));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let one_of_two = read(&Value::Array(vec![Value::Int(1)]));
        assert_eq!(one_of_two.unwrap_err(), "reentrant/renew: expected 1 or 0 for each lock, got array([int(1)])");
        assert!(read(&Value::Array(vec![Value::Int(1), Value::Nil])).is_err());
        assert!(read(&Value::Int(1)).is_err());
    }
}
