//! The semaphore: a sorted set of those who hold its permits, each with the time at which it got one; `RedisSemaphore` of the package
//! redis-semaphore for Node.js.
//!
//! `model/src/locks/semaphore.rs` says what may happen to one of a single permit. This file contains what one request says and what its
//! answer means; how clients wait and when they renew is not here.
//!
//! Times are by the clocks of the callers, which must agree, and so must their leases: whoever asks removes those who are older than a
//! lease by its own.

use redis::{ConnectionLike, Value};

use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    ("semaphore/acquire", include_str!("../../scripts/semaphore/acquire.lua")),
    ("semaphore/renew", include_str!("../../scripts/semaphore/renew.lua")),
    ("semaphore/release", include_str!("../../scripts/semaphore/release.lua")),
];

/// The caller of a script: its holder, its lease and its clock.
#[derive(Clone, Copy, Debug)]
pub struct PermitHolder<'a> {
    /// The holder.
    pub holder: &'a HolderId,
    /// The lease by which it takes a permit, and by which it judges those of the others.
    pub lease: Lease,
    /// Its wall clock, in milliseconds since 1970.
    pub now_ms: u64,
}

/// Takes one of so many permits. A holder that has one gets no second one: if another is free, its lease begins anew.
pub fn acquire(
    scripts: &Scripts,
    names: &Names,
    permits: u32,
    PermitHolder { holder, lease, now_ms }: PermitHolder<'_>,
) -> Call {
    let args = [permits.to_string(), holder.to_string(), lease.ms().to_string(), now_ms.to_string()];
    scripts.call("semaphore/acquire", vec![names.lock().into()], args.into())
}

/// Begins the lease of the caller's permit anew, if it still has one.
pub fn renew(scripts: &Scripts, names: &Names, PermitHolder { holder, lease, now_ms }: PermitHolder<'_>) -> Call {
    let args = [holder.to_string(), lease.ms().to_string(), now_ms.to_string()];
    scripts.call("semaphore/renew", vec![names.lock().into()], args.into())
}

/// Gives back the permit of this holder, if it has one.
pub fn release(scripts: &Scripts, names: &Names, holder: &HolderId) -> Call {
    scripts.call("semaphore/release", vec![names.lock().into()], vec![holder.to_string()])
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreAcquireReply {
    /// The caller has a permit.
    Acquired,
    /// All permits are taken, perhaps by the caller itself.
    Busy,
}

impl ScriptReply for SemaphoreAcquireReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Acquired, Self::Busy)
    }
}

/// What [`renew`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreRenewReply {
    /// The lease has begun anew.
    Renewed,
    /// The caller has no permit: its time was over, or another client took it for over.
    NotHeld,
}

impl ScriptReply for SemaphoreRenewReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Renewed, Self::NotHeld)
    }
}

/// What [`release`] replies. The library does not look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreReleaseReply {
    /// The permit is free.
    Released,
    /// The caller had none.
    NotHeld,
}

impl ScriptReply for SemaphoreReleaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Released, Self::NotHeld)
    }
}

/// One semaphore over one connection.
#[derive(Debug)]
pub struct SemaphoreLock<C> {
    lock: ConnectedLock<C>,
    permits: u32,
}

impl<C: ConnectionLike> SemaphoreLock<C> {
    /// The semaphore with these names and so many permits. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, permits: u32, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts), permits }
    }

    /// Tries once to take a permit.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may have a permit. Asking again begins its lease anew while another permit is free, and is refused
    /// otherwise, also if the last one is the caller's own.
    pub fn acquire(&mut self, caller: PermitHolder<'_>) -> Result<SemaphoreAcquireReply, Error> {
        let permits = self.permits;
        self.lock.ask(|scripts, names| acquire(scripts, names, permits, caller))
    }

    /// Begins the lease of the caller's permit anew, if it still has one.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, caller: PermitHolder<'_>) -> Result<SemaphoreRenewReply, Error> {
        self.lock.ask(|scripts, names| renew(scripts, names, caller))
    }

    /// Gives back the permit of this holder.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] releasing again is harmless, unless the holder has taken a permit since.
    pub fn release(&mut self, holder: &HolderId) -> Result<SemaphoreReleaseReply, Error> {
        self.lock.ask(|scripts, names| release(scripts, names, holder))
    }
}
