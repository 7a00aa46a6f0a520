//! One wrong variant per rule: the proof that each property can fail.
//!
//! A mutant stands where its rule stands (`config.is_mutated(…)`), so that a reader meets the right rule and the
//! wrong one together. Without the feature `mutants` the question is always answered "no" and costs nothing.

use serde::{Deserialize, Serialize};

/// A rule that is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutant {
    // Locks.
    /// An acquire is granted whoever holds.
    AcquireIgnoresHolder,
    /// A re-entry does not raise the hold count.
    ReentryWithoutCount,
    /// A release by anybody is as good as the holder's.
    ReleaseWithoutHolderCheck,
    /// The first release of several deletes the lock.
    ReleaseDropsAllHolds,
    /// A renewal that finds no lock makes it anew.
    RenewalRecreatesLock,
    /// A release publishes nothing.
    ReleaseWithoutMessage,
    // Clients.
    /// After subscribing the waiter sleeps at once, without asking again.
    NoSecondAsk,
    /// A waiter does not look at its limit.
    WaitLimitIgnored,
    /// The watchdog's timer fires one period too late for the lease.
    WatchdogTooSlow,
    /// A client that learns of a new master asks at once.
    LockDelayIgnored,
    /// A grant is believed however few replicas have it.
    WaitIgnored,
    /// Messages are never delivered.
    MessagesNeverArrive,
    /// A waiter has no timer: only a message wakes it.
    NoWakeTimer,
    // The wire.
    /// A hold gets into no renewal table.
    HoldNotRegistered,
    /// The answer to a request that was sent again is believed once for each try.
    AnswerBelievedPerTry,
    /// A release does not look for its receipt.
    ReceiptIgnored,
    /// A replica stores no receipt.
    ReceiptNotReplicated,
    // Redis.
    /// A replica drops an effect instead of applying it.
    ReplicaDropsEffect,
    /// A replica is promoted while the master runs.
    PromoteBesideMaster,
    /// A hand-over does not wait until the replica has everything.
    HandOverTooEarly,
    /// A key never runs out.
    LeaseNeverEnds,
    /// A node comes back earlier than it may.
    RestartTooEarly,
    /// A node with `fsync = "always"` comes back empty.
    FsyncForgotten,
    /// A TTL travels as a deadline, whatever the version.
    DeadlinesAlwaysTravel,
    /// A master does not count its replicas before it writes.
    MinReplicasIgnored,
    // The resource.
    /// A new grant gets the token of an older one.
    TokenReused,
    /// The fenced resource does not compare tokens.
    FenceIgnored,
}

impl Mutant {
    /// Every mutant.
    pub const ALL: [Self; 27] = [
        Self::AcquireIgnoresHolder,
        Self::ReentryWithoutCount,
        Self::ReleaseWithoutHolderCheck,
        Self::ReleaseDropsAllHolds,
        Self::RenewalRecreatesLock,
        Self::ReleaseWithoutMessage,
        Self::NoSecondAsk,
        Self::WaitLimitIgnored,
        Self::WatchdogTooSlow,
        Self::LockDelayIgnored,
        Self::WaitIgnored,
        Self::MessagesNeverArrive,
        Self::NoWakeTimer,
        Self::HoldNotRegistered,
        Self::AnswerBelievedPerTry,
        Self::ReceiptIgnored,
        Self::ReceiptNotReplicated,
        Self::ReplicaDropsEffect,
        Self::PromoteBesideMaster,
        Self::HandOverTooEarly,
        Self::LeaseNeverEnds,
        Self::RestartTooEarly,
        Self::FsyncForgotten,
        Self::DeadlinesAlwaysTravel,
        Self::MinReplicasIgnored,
        Self::TokenReused,
        Self::FenceIgnored,
    ];
}
