//! What one kind of lock stores on a node, and what its scripts do to that.
//!
//! Each kind is one file with its [`Record`] and its rules, told a second time to Redis by the file of the same name
//! under `impl/src/locks`. Everything else about a lock (waiting, renewing, replicating) is shared and stands elsewhere.

pub mod keys;
pub mod plain;
pub mod reentrant;

use core::fmt::Debug;
use core::hash::Hash;

use crate::config::{Config, LockKind};
use crate::locks::keys::Key;
use crate::receipts::Receipt;
use crate::wire::Wire;
use crate::world::{Holder, Timer};

/// What a node stores under the lock's key, and the kind's rules over it.
///
/// A verb takes the stored value and gives the new one with its reply, as one script does: Redis runs nothing else
/// meanwhile (facts/redis.md: time stands still during one script).
pub trait Record:
    Copy + Clone + Debug + Default + PartialEq + Eq + Hash + PartialOrd + Ord + Send + Sync + 'static
{
    /// Whose rules these are.
    const KIND: LockKind;

    /// What is in flight between one client and the nodes. `()`: nothing, request and answer are one step.
    type Wire: Wire;

    /// Who holds it; `None`: the key is not there.
    fn holder(&self) -> Option<Holder>;

    /// How often that holder entered; 0 when free.
    fn hold_count(&self) -> u8;

    /// How long the key lives; off when it is not there or has no TTL.
    fn remaining(&self) -> Timer;

    /// The keys it occupies on a node, in the order in which readers should see them.
    fn keys(&self) -> Vec<Key>;

    /// The same record with that much to live.
    #[must_use]
    fn with_remaining(self, remaining: Timer) -> Self;

    /// The same record held by somebody else of the same count.
    #[must_use]
    fn with_holder(self, holder: Holder) -> Self;

    /// What is left when the lock goes: nothing, but for what stands beside it.
    #[must_use]
    fn without_lock(self) -> Self {
        Self::default()
    }

    /// The same record with everybody in it named anew.
    #[must_use]
    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        self.holder().map_or(self, |holder| self.with_holder(rename(holder)))
    }

    /// The release receipts beside the lock.
    fn receipts(&self) -> impl Iterator<Item = Receipt> {
        core::iter::empty()
    }

    /// The same record with one receipt more. `None`: there is no room.
    #[must_use]
    fn with_receipt(self, _: Receipt) -> Option<Self> {
        Some(self)
    }

    /// The effect of deleting that receipt, and nothing else.
    #[must_use]
    fn without_receipt(self, _: Holder, _: u8) -> Self {
        self
    }

    /// The same record with every receipt one tick older.
    #[must_use]
    fn with_older_receipts(self) -> Self {
        self
    }

    /// What a replica is told of it where that was there before: it is not told how long what was not written lives.
    #[must_use]
    fn as_effect(self, _: Self, _: &Config) -> Self {
        self
    }

    /// What a replica that stores this stores after the effect.
    #[must_use]
    fn after(self, effect: Self, _: &Config) -> Self {
        effect
    }

    /// Takes the lock, or takes it once more where the kind allows that.
    fn acquire(self, config: &Config, holder: Holder) -> (Self, AcquireReply);

    /// Extends the lease if the caller still holds. True if it did.
    fn renew(self, config: &Config, holder: Holder) -> (Self, bool);

    /// Gives back one hold.
    fn release(self, config: &Config, holder: Holder) -> (Self, ReleaseReply);
}

/// What an acquire is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireReply {
    /// The caller holds it now, for the first time.
    Acquired,
    /// The caller held it already and holds it once more.
    Reentered,
    /// Somebody has it, for so long if nobody does anything.
    Busy {
        /// Until the key runs out; off: never.
        remaining: Timer,
    },
}

/// What a release is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseReply {
    /// The lock is free.
    Released,
    /// One hold less, but not the last.
    StillHeld,
    /// The caller does not hold it; nothing was changed.
    NotHeld,
}
