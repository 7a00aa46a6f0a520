//! The multi lock: several re-entrant locks, which are taken one after the other and held as one; Redisson's `getMultiLock`.
//!
//! `model/src/locks/multi.rs` says what may happen to one part of it. Redis knows of no multi lock: each part is asked for, renewed and
//! released by the scripts of the [re-entrant lock](super::reentrant). What is new is the last step of an acquire that names its
//! lease. A part is asked for by another lease, which outlives the call; when the caller has all of them, each is set to the lease
//! that it named.
//!
//! One client takes two locks as one and releases them:
//!
//! ```no_run
//! use lockstep_redis::locks::multi::{MultiAcquireReply, MultiLock};
//! use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = redis::Client::open("redis://127.0.0.1/")?.get_connection()?;
//! let parts = vec![Names::of("account-1"), Names::of("account-2")];
//! let mut lock = MultiLock::new(connection, parts, Scripts::built_in());
//! let me = HolderId::new("0d8a1a52-7f1c-4e4e-9f0e-1f5b6a1d6f0e", 1);
//! let lease = Lease::from_ms(30_000).ok_or("a lease lasts at least 1 ms")?;
//! let receipt = |part: usize| ReleaseReceipt::new(&format!("release-{part}"), ReleaseReceipt::LEASE);
//!
//! match lock.acquire(&me, lease, receipt)? {
//!     MultiAcquireReply::Acquired => {
//!         // … the work …
//!         lock.release(&me, lease, receipt)?;
//!     }
//!     MultiAcquireReply::Busy { part, ttl_ms } => println!("part {part} is held by another client for up to {ttl_ms} ms"),
//! }
//! # Ok(())
//! # }
//! ```

use redis::{ConnectionLike, Value};

use super::reentrant::{self, ReentrantAcquireReply, ReentrantReleaseReply};
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, ScriptReply, Scripts, one_or_zero};

/// The scripts, by kind and verb: those that a part has beside the scripts of the re-entrant lock.
pub(super) const SCRIPTS: [(&str, &str); 2] = [
    ("multi/set_lease", include_str!("../../scripts/multi/set_lease.lua")),
    ("multi/set_own_lease", include_str!("../../scripts/multi/set_own_lease.lua")),
];

/// Takes a part: the script of the re-entrant lock.
pub fn acquire(scripts: &Scripts, part: &Names, holder: &HolderId, lease: Lease) -> Call {
    reentrant::acquire(scripts, part, holder, lease)
}

/// What [`acquire`] replies.
pub type PartAcquireReply = ReentrantAcquireReply;

/// Sets the lease of a part, whoever has it by now: what Redisson does when it has all of them.
pub fn set_lease(scripts: &Scripts, part: &Names, lease: Lease) -> Call {
    scripts.call("multi/set_lease", vec![part.lock().into()], vec![lease.ms().to_string(), String::new()])
}

/// Sets the lease of a part, if this holder still has it.
pub fn set_own_lease(scripts: &Scripts, part: &Names, holder: &HolderId, lease: Lease) -> Call {
    scripts.call("multi/set_own_lease", vec![part.lock().into()], vec![lease.ms().to_string(), holder.to_string()])
}

/// What [`set_lease`] and [`set_own_lease`] reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MultiLeaseReply {
    /// The part has that lease.
    Set,
    /// There is no lock of that name, or it is not the caller's.
    NotSet,
}

impl ScriptReply for MultiLeaseReply {
    const EXPECTED: &'static str = "1 or 0";

    fn read(_call: &Call, value: &Value) -> Option<Self> {
        one_or_zero(value, Self::Set, Self::NotSet)
    }
}

/// What an acquire of all parts leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MultiAcquireReply {
    /// The caller holds every part.
    Acquired,
    /// Another holder has a part; the caller holds none of them.
    Busy {
        /// Which, counted from 0.
        part: usize,
        /// The remaining lease of that holder in milliseconds; −1 if the key has no TTL.
        ttl_ms: i64,
    },
}

/// What a release of all parts leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MultiReleaseReply {
    /// The caller held every part, and none of them is its any more, as often as it had entered.
    Released,
    /// It did not hold this part, counted from 0; every other part was released all the same.
    NotHeld {
        /// The first such part.
        part: usize,
    },
}

/// Several locks over one connection, taken in their order and held as one.
#[derive(Debug)]
pub struct MultiLock<C> {
    connection: C,
    parts: Vec<Names>,
    scripts: Scripts,
}

impl<C: ConnectionLike> MultiLock<C> {
    /// The lock with these parts. Nothing is sent yet.
    pub const fn new(connection: C, parts: Vec<Names>, scripts: Scripts) -> Self {
        Self { connection, parts, scripts }
    }

    /// Tries once to take every part. If one is refused, those that were taken are released, by the receipt that `receipt` gives for
    /// each.
    ///
    /// # Errors
    ///
    /// Those that were taken are released then as well, as far as the server answers. After [`Error::Unknown`] the caller may hold the
    /// part that was asked last.
    pub fn acquire(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        receipt: impl Fn(usize) -> ReleaseReceipt,
    ) -> Result<MultiAcquireReply, Error> {
        for part in 0..self.parts.len() {
            let call = acquire(&self.scripts, &self.parts[part], holder, lease);
            let busy = match call.ask(&mut self.connection) {
                Ok(ReentrantAcquireReply::Acquired) => continue,
                Ok(ReentrantAcquireReply::Busy { ttl_ms }) => Ok(MultiAcquireReply::Busy { part, ttl_ms }),
                Err(error) => Err(error),
            };
            for taken in 0..part {
                // The answer is of no use: the caller does not hold all of them, whatever it is.
                let _: Result<ReentrantReleaseReply, Error> = self.release_part(taken, holder, lease, &receipt);
            }
            return busy;
        }
        Ok(MultiAcquireReply::Acquired)
    }

    /// Releases every part, also after one that is not the caller's: a release that stops there would leave the others locked.
    ///
    /// # Errors
    ///
    /// The first error, when every part was asked. After [`Error::Unknown`] call it again with the same receipts: each hold is released
    /// once only.
    pub fn release(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        receipt: impl Fn(usize) -> ReleaseReceipt,
    ) -> Result<MultiReleaseReply, Error> {
        let mut all = Ok(MultiReleaseReply::Released);
        for part in 0..self.parts.len() {
            let found = match self.release_part(part, holder, lease, &receipt) {
                Ok(ReentrantReleaseReply::NotHeld) => Ok(MultiReleaseReply::NotHeld { part }),
                Ok(ReentrantReleaseReply::Released | ReentrantReleaseReply::StillHeld) => continue,
                Err(error) => Err(error),
            };
            // The first error of all; without one the first part that was not the caller's.
            if matches!((&all, &found), (Ok(MultiReleaseReply::Released), _) | (Ok(_), Err(_))) {
                all = found;
            }
        }
        all
    }

    fn release_part(
        &mut self,
        part: usize,
        holder: &HolderId,
        lease: Lease,
        receipt: &impl Fn(usize) -> ReleaseReceipt,
    ) -> Result<ReentrantReleaseReply, Error> {
        let (names, receipt) = (&self.parts[part], receipt(part));
        let reply = reentrant::release(&self.scripts, names, holder, lease, &receipt).ask(&mut self.connection)?;
        // The release is answered, even if its receipt cannot be deleted: the receipt expires.
        let _: redis::RedisResult<()> = receipt.deletion(names).query(&mut self.connection);
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_of_a_script_is_read_as_its_reply_and_no_other_one() {
        let call = set_lease(&Scripts::built_in(), &Names::of("part"), ReleaseReceipt::LEASE);
        let read = |value: &Value| call.read(value).map_err(|error| error.to_string());
        assert_eq!(read(&Value::Int(1)), Ok(MultiLeaseReply::Set));
        assert_eq!(read(&Value::Int(0)), Ok(MultiLeaseReply::NotSet));
        assert!(read(&Value::Int(2)).is_err());
        assert!(read(&Value::Nil).is_err());
    }
}
