//! The fair lock: who is refused and waits stands in a queue, and the first of it is next; Redisson's `getFairLock`.
//!
//! `model/src/locks/fair.rs` says what may happen to it. This file contains what one request says and what its answer
//! means; how clients wait and when they renew is not here. Whoever waits subscribes to a channel of its own
//! ([`Names::channel_of_waiter`]), and asks again when a message comes there or the time that it was told is over.
//!
//! Deadlines in the queue are by the clocks of the callers, which must agree: one that is ahead removes waiters that live.

use redis::{ConnectionLike, Value};

use super::counted_hold::{ForceReleaseReply, ReleaseReply, RenewReply, call_of_holder};
use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts};

/// The scripts, by kind and verb.
pub(super) const SCRIPTS: [(&str, &str); 7] = [
    ("fair/acquire", include_str!("../../scripts/fair/acquire.lua")),
    ("fair/acquire_once", include_str!("../../scripts/fair/acquire_once.lua")),
    ("fair/leave_queue", include_str!("../../scripts/fair/leave_queue.lua")),
    ("fair/renew", include_str!("../../scripts/fair/renew.lua")),
    ("fair/release", include_str!("../../scripts/fair/release.lua")),
    ("fair/release_without_receipt", include_str!("../../scripts/fair/release_without_receipt.lua")),
    ("fair/force_release", include_str!("../../scripts/fair/force_release.lua")),
];

/// The message that is published when the lock becomes free: the waiter on whose channel it comes is next.
pub const UNLOCK_MESSAGE: &str = "0";

/// How a caller queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Queueing {
    /// For how long, in milliseconds: its deadline is so much later than that of the one before it. Redisson takes the limit of the
    /// call, or 300 000 where it has none.
    pub wait_ms: u64,
    /// The caller's wall clock, in milliseconds since 1970.
    pub now_ms: u64,
}

/// Takes the lock, or enters it once more, or stands in the queue.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease, queueing: Queueing) -> Call {
    let Queueing { wait_ms, now_ms } = queueing;
    let args = vec![lease.ms().to_string(), holder.to_string(), wait_ms.to_string(), now_ms.to_string()];
    scripts.call("fair/acquire", lock_and_queue(names), args)
}

/// Takes the lock, or enters it once more. A caller that is refused does not queue.
pub fn acquire_once(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease, queueing: Queueing) -> Call {
    let Queueing { wait_ms, now_ms } = queueing;
    let args = vec![lease.ms().to_string(), holder.to_string(), now_ms.to_string(), wait_ms.to_string()];
    scripts.call("fair/acquire_once", lock_and_queue(names), args)
}

/// Leaves the queue, for a caller that waits no longer. `wait_ms`: that with which it came.
pub fn leave_queue(scripts: &Scripts, names: &Names, holder: &HolderId, wait_ms: u64) -> Call {
    let keys = vec![names.queue(), names.queue_deadlines()];
    scripts.call("fair/leave_queue", keys, vec![holder.to_string(), wait_ms.to_string()])
}

/// Sets the lease to its full length again, if this holder still has the lock.
pub fn renew(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    call_of_holder(scripts, "fair/renew", names, holder, lease)
}

/// Releases one hold, and stores a receipt. If holds remain, their lease is set to `lease`.
pub fn release(
    scripts: &Scripts,
    names: &Names,
    (holder, now_ms): (&HolderId, u64),
    lease: Lease,
    receipt: &ReleaseReceipt,
) -> Call {
    let mut keys = lock_queue_and_channel(names);
    keys.push(names.receipt(receipt.release_id()));
    let mut args = release_args(holder, lease, now_ms);
    args.push(receipt.lease().ms().to_string());
    scripts.call("fair/release", keys, args)
}

/// Releases one hold as Redisson did until 3.15: sent again, it releases another hold.
pub fn release_without_receipt(
    scripts: &Scripts,
    names: &Names,
    (holder, now_ms): (&HolderId, u64),
    lease: Lease,
) -> Call {
    let args = release_args(holder, lease, now_ms);
    scripts.call("fair/release_without_receipt", lock_queue_and_channel(names), args)
}

/// Frees the lock, no matter who holds it. The queue stays.
pub fn force_release(scripts: &Scripts, names: &Names, now_ms: u64) -> Call {
    let args = vec![UNLOCK_MESSAGE.into(), now_ms.to_string()];
    scripts.call("fair/force_release", lock_queue_and_channel(names), args)
}

fn lock_and_queue(names: &Names) -> Vec<String> {
    vec![names.lock().into(), names.queue(), names.queue_deadlines()]
}

fn lock_queue_and_channel(names: &Names) -> Vec<String> {
    vec![names.lock().into(), names.queue(), names.queue_deadlines(), names.channel()]
}

fn release_args(holder: &HolderId, lease: Lease, now_ms: u64) -> Vec<String> {
    vec![UNLOCK_MESSAGE.into(), lease.ms().to_string(), holder.to_string(), now_ms.to_string()]
}

/// What [`acquire`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FairAcquireReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// It stands in the queue.
    Queued {
        /// When it should ask again at the latest, in milliseconds: when it came, what the one before it has left until its
        /// deadline, or, as the first, what the lock has left; later, what the lock has left, and 0 if that is free. Negative:
        /// the lock has no TTL.
        ask_in_ms: i64,
    },
}

impl ScriptReply for FairAcquireReply {
    const EXPECTED: &'static str = "nil or a TTL";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            &Value::Int(ask_in_ms) => Some(Self::Queued { ask_in_ms }),
            _ => None,
        }
    }
}

/// What [`acquire_once`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FairAcquireOnceReply {
    /// The caller holds the lock, for the first time or once more.
    Acquired,
    /// Another holder has it, or another waiter is next.
    Refused,
}

impl ScriptReply for FairAcquireOnceReply {
    const EXPECTED: &'static str = "nil or 1";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        match value {
            Value::Nil => Some(Self::Acquired),
            Value::Int(1) => Some(Self::Refused),
            _ => None,
        }
    }
}

/// What [`leave_queue`] replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeftFairQueue;

impl ScriptReply for LeftFairQueue {
    const EXPECTED: &'static str = "nil";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        (*value == Value::Nil).then_some(Self)
    }
}

/// What [`renew`] replies.
pub type FairRenewReply = RenewReply;

/// What [`release`] and [`release_without_receipt`] reply: `Released` also of a lock that was free, and `NotHeld` only where
/// another holder has it.
pub type FairReleaseReply = ReleaseReply;

/// What [`force_release`] replies.
pub type FairForceReleaseReply = ForceReleaseReply;

/// One fair lock over one connection.
#[derive(Debug)]
pub struct FairLock<C> {
    lock: ConnectedLock<C>,
}

impl<C: ConnectionLike> FairLock<C> {
    /// The lock with these names. Nothing is sent yet.
    pub const fn new(connection: C, names: Names, scripts: Scripts) -> Self {
        Self { lock: ConnectedLock::new(connection, names, scripts) }
    }

    /// Asks for the lock, and stands in the queue if it is refused.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before, or stand in the queue.
    pub fn acquire(&mut self, holder: &HolderId, lease: Lease, queueing: Queueing) -> Result<FairAcquireReply, Error> {
        self.lock.ask(|scripts, names| acquire(scripts, names, holder, lease, queueing))
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may hold the lock, with one hold more than before.
    pub fn acquire_once(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        queueing: Queueing,
    ) -> Result<FairAcquireOnceReply, Error> {
        self.lock.ask(|scripts, names| acquire_once(scripts, names, holder, lease, queueing))
    }

    /// Leaves the queue.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] the caller may still stand there; leaving again is harmless.
    pub fn leave_queue(&mut self, holder: &HolderId, wait_ms: u64) -> Result<LeftFairQueue, Error> {
        self.lock.ask(|scripts, names| leave_queue(scripts, names, holder, wait_ms))
    }

    /// Sets the lease to its full length again, if this holder still has the lock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] rely only on the older lease; renewing again is harmless.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> Result<FairRenewReply, Error> {
        self.lock.ask(|scripts, names| renew(scripts, names, holder, lease))
    }

    /// Releases one hold, then deletes the receipt. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] call it again with the same receipt: the hold is released once only.
    pub fn release(
        &mut self,
        holder: &HolderId,
        now_ms: u64,
        lease: Lease,
        receipt: &ReleaseReceipt,
    ) -> Result<FairReleaseReply, Error> {
        self.lock.release(receipt, |scripts, names| release(scripts, names, (holder, now_ms), lease, receipt))
    }

    /// Frees the lock, no matter who holds it. `now_ms`: the caller's wall clock.
    ///
    /// # Errors
    ///
    /// After [`Error::Unknown`] a second call also frees a lock that was taken in between.
    pub fn force_release(&mut self, now_ms: u64) -> Result<FairForceReleaseReply, Error> {
        self.lock.ask(|scripts, names| force_release(scripts, names, now_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<R: ScriptReply>(value: &Value) -> Result<R, String> {
        let call = force_release(&Scripts::built_in(), &Names::of("lock"), 0);
        call.read(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply() {
        assert_eq!(read(&Value::Nil), Ok(FairAcquireReply::Acquired));
        assert_eq!(read(&Value::Int(0)), Ok(FairAcquireReply::Queued { ask_in_ms: 0 }));
        assert_eq!(read(&Value::Nil), Ok(FairAcquireOnceReply::Acquired));
        assert_eq!(read(&Value::Int(1)), Ok(FairAcquireOnceReply::Refused));
        assert_eq!(read(&Value::Nil), Ok(LeftFairQueue));
    }

    #[test]
    fn an_answer_that_no_script_gives_is_an_error() {
        let refused = read::<FairAcquireOnceReply>(&Value::Int(0)).unwrap_err();
        assert_eq!(refused, "fair/force_release: expected nil or 1, got int(0)");
        assert!(read::<FairAcquireReply>(&Value::Okay).is_err());
        assert!(read::<LeftFairQueue>(&Value::Int(0)).is_err());
    }
}
