//! Redisson's lock on several masters (`RedissonRedLock`): a re-entrant lock on each of them, and whoever has it on most of them holds.
//!
//! `model/src/locks/redisson_red.rs` and `model/src/client/master_locks.rs` say what may happen to it. It has no script of its own: each
//! master is asked by the scripts of the [re-entrant lock](super::reentrant), and a call that names its lease sets that in the end as a
//! [multi lock](super::multi) does. Nothing is known of the time that an acquire took: where that matters, the algorithm as it was published
//! ([`red`](super::red)) looks at it.
//!
//! One client takes the lock on three masters and releases it:
//!
//! ```no_run
//! use lockstep_redis::locks::redisson_red::{RedissonRedLock, RedissonRedReply};
//! use lockstep_redis::{HolderId, Lease, Names, ReleaseReceipt, Scripts};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let connection = |port| redis::Client::open(("127.0.0.1", port))?.get_connection();
//! let masters = vec![connection(6379)?, connection(6380)?, connection(6381)?];
//! let mut lock = RedissonRedLock::new(masters, &Names::of("report"), &Scripts::built_in());
//! let me = HolderId::new("0d8a1a52-7f1c-4e4e-9f0e-1f5b6a1d6f0e", 1);
//! let lease = Lease::from_ms(30_000).ok_or("a lease lasts at least 1 ms")?;
//!
//! if let RedissonRedReply::Held { .. } = lock.try_acquire(&me, lease, |master| format!("try-1-{master}")) {
//!     // … the work, for no longer than the lease …
//!     lock.release(&me, lease, |master| format!("release-1-{master}"));
//! }
//! # Ok(())
//! # }
//! ```

use redis::ConnectionLike;

use super::multi::{self, MultiLeaseReply};
use super::reentrant::{self, ReentrantAcquireReply, ReentrantReleaseReply};
use crate::connected::ConnectedLock;
use crate::error::Error;
use crate::names::{HolderId, Lease, Names, ReleaseReceipt};
use crate::script::{Call, Scripts};

/// Takes the lock on one master: the script of the re-entrant lock.
pub fn acquire(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    reentrant::acquire(scripts, names, holder, lease)
}

/// Sets the lease on one master, whoever has the lock there by now: what Redisson does when it has most of them.
pub fn set_lease(scripts: &Scripts, names: &Names, lease: Lease) -> Call {
    multi::set_lease(scripts, names, lease)
}

/// Sets the lease on one master, if this holder still has the lock there.
pub fn set_own_lease(scripts: &Scripts, names: &Names, holder: &HolderId, lease: Lease) -> Call {
    multi::set_own_lease(scripts, names, holder, lease)
}

/// What [`set_lease`] and [`set_own_lease`] reply.
pub type MasterLeaseReply = MultiLeaseReply;

/// What came of an acquire on the masters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedissonRedReply {
    /// Most masters have granted, as far as was asked.
    Held {
        /// How many have granted.
        granted: usize,
    },
    /// More masters have failed than may. What the others have granted is released by then, as far as they answer.
    NotHeld {
        /// How many had granted.
        granted: usize,
    },
}

/// One lock on several masters, over one connection to each.
#[derive(Debug)]
pub struct RedissonRedLock<C> {
    masters: Vec<ConnectedLock<C>>,
}

impl<C: ConnectionLike> RedissonRedLock<C> {
    /// The lock with these names on the masters of these connections, which are asked in this order. Connections need a timeout that is short
    /// beside the lease: a master that does not answer in that time counts as one that refuses. Nothing is sent yet.
    pub fn new(connections: impl IntoIterator<Item = C>, names: &Names, scripts: &Scripts) -> Self {
        let lock = |connection| ConnectedLock::new(connection, names.clone(), scripts.clone());
        Self { masters: connections.into_iter().map(lock).collect() }
    }

    /// How many masters are most of them.
    pub fn majority(&self) -> usize {
        self.masters.len() / 2 + 1
    }

    /// Tries once, as `tryLock(-1, lease)` does: asks one master after the other, until most of them have granted and one fails, or too many
    /// have failed. What a master may have executed whose answer did not come stays for the lease: a release would take back an outer hold
    /// where it did not. It does not look at a clock, so that a slow answer can make it return a lock whose lease is over on some masters; and it
    /// does not set the lease anew in the end, which would reach whoever has the lock by then. `release_id`: by which a release on this
    /// master, counted from 0, is known that is sent again; no other release may have it.
    pub fn try_acquire(
        &mut self,
        holder: &HolderId,
        lease: Lease,
        release_id: impl Fn(usize) -> String,
    ) -> RedissonRedReply {
        let (masters, majority) = (self.masters.len(), self.majority());
        let (mut granted, mut failed) = (Vec::new(), 0);
        for (number, master) in self.masters.iter_mut().enumerate() {
            let answer: Result<ReentrantAcquireReply, Error> =
                master.ask(|scripts, names| acquire(scripts, names, holder, lease));
            if matches!(answer, Ok(ReentrantAcquireReply::Acquired)) {
                granted.push(number);
                continue;
            }
            failed += 1;
            if granted.len() == majority {
                break;
            }
            if failed > masters - majority {
                let count = granted.len();
                for number in granted {
                    self.release_on(number, holder, lease, &release_id(number));
                }
                return RedissonRedReply::NotHeld { granted: count };
            }
        }
        RedissonRedReply::Held { granted: granted.len() }
    }

    /// Sets the lease on every master, if this holder still has the lock there. How many have set it: fewer than a
    /// [majority](Self::majority) mean that the caller does not hold the lock any more.
    pub fn renew(&mut self, holder: &HolderId, lease: Lease) -> usize {
        let is_set = |master: &mut ConnectedLock<C>| {
            let answer = master.ask(|scripts, names| set_own_lease(scripts, names, holder, lease));
            matches!(answer, Ok(MultiLeaseReply::Set))
        };
        self.masters.iter_mut().map(is_set).filter(|is_set| *is_set).count()
    }

    /// Releases one hold on every master, also on those that have not granted it: an answer may have been lost. What they answer does not
    /// matter. A holder that has entered again gives back a hold on every master, also where the inner acquire got none: then its outer
    /// hold is gone there (docs/facts/family.md#a-release-of-every-part).
    pub fn release(&mut self, holder: &HolderId, lease: Lease, release_id: impl Fn(usize) -> String) {
        for number in 0..self.masters.len() {
            self.release_on(number, holder, lease, &release_id(number));
        }
    }

    fn release_on(&mut self, master: usize, holder: &HolderId, lease: Lease, release_id: &str) {
        let receipt = ReleaseReceipt::new(release_id, ReleaseReceipt::LEASE);
        let _: Result<ReentrantReleaseReply, _> = self.masters[master]
            .release(&receipt, |scripts, names| reentrant::release(scripts, names, holder, lease, &receipt));
    }
}
