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

use redis::ConnectionLike;

use super::counted_hold::{AcquireReply, ForceReleaseReply, ReleaseReply, RenewReply, call_of_holder};
use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, Scripts};

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
    call_of_holder(scripts, "spin/acquire", names, holder, lease)
}

/// Sets the lease to its full length again, if its holder still has the lock.
pub fn renew(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    call_of_holder(scripts, "spin/renew", names, holder, lease)
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
    call_of_holder(scripts, "spin/release_without_receipt", names, holder, lease)
}

/// Frees the lock, no matter who holds it.
pub fn force_release(scripts: &Scripts, names: &Names) -> Call {
    scripts.call("spin/force_release", vec![names.lock().into()], vec![])
}

/// What [`acquire`] replies.
pub type SpinAcquireReply = AcquireReply;

/// What [`renew`] replies.
pub type SpinRenewReply = RenewReply;

/// What [`release`] and [`release_without_receipt`] reply.
pub type SpinReleaseReply = ReleaseReply;

/// What [`force_release`] replies.
pub type SpinForceReleaseReply = ForceReleaseReply;

/// One spin lock over one connection.
#[derive(Debug)]
pub struct SpinLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> SpinLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Tries once to take the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease) -> Result<SpinAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, holder, lease))
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<SpinRenewReply, Error> {
        self.lock.ask(|scripts, names| renew(scripts, names, holder, lease))
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
        self.lock.release(receipt, |scripts, names| release(scripts, names, holder, lease, receipt))
    }

    /// Frees the lock, no matter who holds it.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self) -> Result<SpinForceReleaseReply, Error> {
        self.lock.ask(force_release)
    }
}
