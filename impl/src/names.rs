//! The names of keys and channels in Redis, and how long keys live.
//!
//! These names are the part of the protocol that Java services share: a lock named `invoices` here is Redisson's
//! `getLock("invoices")`.

use std::fmt;
use std::num::NonZeroU64;

use crate::slots::{hashed_part, slot_of};

/// The names that Redisson gives to what belongs to one lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Names {
    lock: String,
}

impl Names {
    /// The names for the lock named `lock`.
    pub fn of(lock: impl Into<String>) -> Self {
        Self { lock: lock.into() }
    }

    /// The key of the lock: its name, unchanged.
    pub fn lock(&self) -> &str {
        &self.lock
    }

    /// The slot of a cluster that has the lock and all that belongs to it. `None`: the other names are in other slots, so a cluster grants
    /// this lock and refuses every release of it (`CROSSSLOT`; docs/facts/cluster.md#names-and-slots).
    pub fn slot(&self) -> Option<u16> {
        (hashed_part(&self.lock) == hashed_part(&self.channel())).then(|| slot_of(&self.lock))
    }

    /// The channel on which a release wakes a waiter.
    pub fn channel(&self) -> String {
        prefixed("redisson_lock__channel", &self.lock)
    }

    /// The channel on which a release wakes the waiter that is next, in kinds whose waiters have channels of their own.
    pub fn channel_of_waiter(&self, waiter: &HolderId) -> String {
        format!("{}:{waiter}", self.channel())
    }

    /// The list of those who queue for the lock, the first first.
    pub fn queue(&self) -> String {
        prefixed("redisson_lock_queue", &self.lock)
    }

    /// The sorted set of their deadlines.
    pub fn queue_deadlines(&self) -> String {
        prefixed("redisson_lock_timeout", &self.lock)
    }

    /// The counter of fencing tokens.
    pub fn token_counter(&self) -> String {
        prefixed("redisson_lock_token", &self.lock)
    }

    /// The channel on which a release wakes waiters of a read-write lock.
    pub fn read_write_channel(&self) -> String {
        prefixed("redisson_rwlock", &self.lock)
    }

    /// What the keys of the holds of every reader begin with.
    pub fn holds_of_readers(&self) -> String {
        tagged(&self.lock)
    }

    /// The keys of the holds of this reader, without their numbers.
    pub fn holds_of_reader(&self, reader: &HolderId) -> String {
        format!("{}:{reader}:rwlock_timeout", self.holds_of_readers())
    }

    /// The key of the receipt of the release with this id, which stores what the release replied.
    pub fn receipt(&self, release_id: &str) -> String {
        format!("{}:{release_id}", prefixed("redisson_unlock_latch", &self.lock))
    }
}

/// Keeps a key in the same slot of a Redis Cluster as the lock: the lock's name becomes the hash tag, unless it contains
/// braces already.
fn prefixed(prefix: &str, lock: &str) -> String {
    format!("{prefix}:{}", tagged(lock))
}

/// The lock's name as a hash tag, or as it is if it has one.
fn tagged(lock: &str) -> String {
    if lock.contains('{') { lock.to_owned() } else { format!("{{{lock}}}") }
}

/// One thread of one client. As text, this is what the lock stores for its holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HolderId {
    client: String,
    thread: u64,
}

impl HolderId {
    /// One thread of the client with this id, which no other client ever has: a UUID in Redisson.
    pub fn new(client: impl Into<String>, thread: u64) -> Self {
        Self { client: client.into(), thread }
    }

    /// The id of the client.
    pub fn client(&self) -> &str {
        &self.client
    }

    /// What the lock of a reader and a writer stores for it as a writer.
    pub fn as_writer(&self) -> String {
        format!("{self}:write")
    }

    /// The number of the thread within its client.
    pub const fn thread(&self) -> u64 {
        self.thread
    }
}

impl fmt::Display for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.client, self.thread)
    }
}

/// What a lock of one key stores, by which a release or a renewal finds that the lock is its own.
///
/// The Redis documentation demands a value that is unique across all clients and all acquires: otherwise a release or a renewal
/// of an earlier hold that arrives late deletes or extends the holder's next one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldValue(String);

impl HoldValue {
    /// The value of one acquire. It is unique if the holder gives each acquire another number; a request that is sent again
    /// keeps its number.
    pub fn of_acquire(holder: &HolderId, number: u64) -> Self {
        Self(format!("{holder}:{number}"))
    }

    /// The same value for every acquire of a holder: not safe where a request can be late, or a node can have old data.
    pub fn of_holder(holder: &HolderId) -> Self {
        Self(holder.to_string())
    }
}

impl fmt::Display for HoldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long a key lives unrenewed.
///
/// Redis does not undo the first half of a script whose second half fails, so a lease that it would refuse (zero, or beyond
/// the range of its clock) must never be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lease(NonZeroU64);

impl Lease {
    /// A hundred years.
    pub const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

    /// From 1 ms to [a hundred years](Self::LONGEST_MS).
    pub const fn from_ms(ms: u64) -> Option<Self> {
        match NonZeroU64::new(ms) {
            Some(lease) if ms <= Self::LONGEST_MS => Some(Self(lease)),
            Some(_) | None => None,
        }
    }

    /// In milliseconds.
    pub const fn ms(self) -> u64 {
        self.0.get()
    }
}

/// What makes a release harmless when it is sent again: an id that Redis stores for a while.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReleaseReceipt {
    release_id: String,
    lease: Lease,
}

impl ReleaseReceipt {
    /// Redisson's lease with its default settings: four tries of 3 s, each with up to 2 s of delay.
    pub const LEASE: Lease = Lease(NonZeroU64::new(20_000).unwrap());

    /// `release_id` is different for each release, and the same whenever one release is sent again.
    pub fn new(release_id: impl Into<String>, lease: Lease) -> Self {
        Self { release_id: release_id.into(), lease }
    }

    /// The id of the release.
    pub fn release_id(&self) -> &str {
        &self.release_id
    }

    /// How long Redis stores it: as long as the release may be sent again.
    pub const fn lease(&self) -> Lease {
        self.lease
    }

    /// Deletes it: its release was answered, so it will not be sent again.
    pub fn deletion(&self, names: &Names) -> redis::Cmd {
        let mut command = redis::cmd("DEL");
        command.arg(names.receipt(&self.release_id));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_braces_becomes_the_hash_tag_of_the_other_keys() {
        let names = Names::of("invoices");
        assert_eq!(names.lock(), "invoices");
        assert_eq!(names.channel(), "redisson_lock__channel:{invoices}");
        assert_eq!(names.receipt("r1"), "redisson_unlock_latch:{invoices}:r1");
    }

    /// In a cluster, a second pair of braces would move the other keys to another slot.
    #[test]
    fn a_name_with_a_hash_tag_keeps_its_own() {
        let names = Names::of("{eu}invoices");
        assert_eq!(names.channel(), "redisson_lock__channel:{eu}invoices");
        assert_eq!(names.receipt("r1"), "redisson_unlock_latch:{eu}invoices:r1");
    }

    /// The others get what looks like a hash tag and is none, or is another one.
    #[test]
    fn a_name_with_half_a_hash_tag_is_in_no_single_slot() {
        for name in ["invoices", "{eu}invoices", "invoices{eu}", "{eu}{us}", "}{eu}"] {
            assert_eq!(Names::of(name).slot(), Some(slot_of(name)), "{name}");
        }
        for name in ["invoices{", "invoices}", "eu}invoices", "{}invoices", "{}{eu}", ""] {
            assert_eq!(Names::of(name).slot(), None, "{name}");
        }
    }

    #[test]
    fn a_holder_is_written_as_client_and_thread() {
        assert_eq!(HolderId::new("0d8a1a52", 7).to_string(), "0d8a1a52:7");
    }

    #[test]
    fn two_acquires_of_one_holder_have_two_values() {
        let holder = HolderId::new("0d8a1a52", 7);
        assert_eq!(HoldValue::of_acquire(&holder, 3).to_string(), "0d8a1a52:7:3");
        assert_ne!(HoldValue::of_acquire(&holder, 3), HoldValue::of_acquire(&holder, 4));
        assert_eq!(HoldValue::of_holder(&holder).to_string(), "0d8a1a52:7");
    }

    #[test]
    fn a_lease_that_redis_would_refuse_does_not_exist() {
        assert_eq!(Lease::from_ms(0), None);
        assert_eq!(Lease::from_ms(Lease::LONGEST_MS + 1), None);
        assert_eq!(Lease::from_ms(1).map(Lease::ms), Some(1));
        assert_eq!(Lease::from_ms(Lease::LONGEST_MS).map(Lease::ms), Some(Lease::LONGEST_MS));
    }
}
