//! One wrong variant per rule: the proof that each property can fail.
//!
//! A mutant stands where its rule stands (`is_mutated(…)`), so that a reader meets the right rule and the wrong one
//! together. Without the feature `mutants` no mutant is ever active, and asking costs nothing.

use serde::{Deserialize, Serialize};

/// Declares the mutants and lists them.
macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// A rule that is wrong on purpose.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Mutant {
            $($(#[$doc])* $name,)+
        }

        impl Mutant {
            /// Every mutant.
            pub const ALL: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];
        }
    };
}

mutants! {
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
    /// A free lock is granted to whoever asks, whoever is first in the queue.
    QueueIsIgnored,
    /// The head of a queue stays, although its deadline is over.
    DeadHeadStays,
    /// A reader is refused while another one reads.
    ReadersExclude,
    /// A call that does not get all parts keeps those that it has.
    PartsKept,
    /// Of several values an acquire looks at the first one only.
    FirstValueDecides,
    /// Half of the masters, without the one that makes it most of them, is enough.
    HalfIsMost,
    /// A client that asks several masters does not look at the time that this took.
    ElapsedTimeIgnored,
    /// A call waits at one master for all that is left of its wait.
    WholeWaitAtOneMaster,
    /// A call that waits at masters does not look at its clock when it has heard one of them.
    NoLookBetweenMasters,
    // Clients.
    /// After subscribing the waiter sleeps at once, without asking again.
    NoSecondAsk,
    /// A waiter does not look at its limit.
    WaitLimitIgnored,
    /// The watchdog's timer fires one period too late for the lease.
    WatchdogTooSlow,
    /// A renewal of several locks extends the lease of the first one only.
    BatchRenewsFirstOnly,
    /// A shared renewal timer is joined by one more whenever there is something to renew again.
    TimersMultiply,
    /// A client that learns of a new master asks at once.
    LockDelayIgnored,
    /// A client that starts asks at once.
    StartDelayIgnored,
    /// A grant is believed however few replicas have it.
    WaitIgnored,
    /// A caller is told of each refusal, however the next attempt is answered.
    RefusalRemembered,
    /// A caller that looks at its clock goes on when its grant is over.
    ValidityIgnored,
    /// Messages are never delivered.
    MessagesNeverArrive,
    /// A waiter has no timer: only a message wakes it.
    NoWakeTimer,
    // The wire.
    /// A hold gets into no renewal table.
    HoldNotRegistered,
    /// An interrupted release is awaited by nobody.
    InterruptedReleaseForgotten,
    /// A waiter that is asleep swallows an interrupt, however it waits.
    InterruptSwallowed,
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
    /// A master that hands over executes writes meanwhile.
    HandOverLetsWritesPass,
    /// A master that has handed over restarts as a replica.
    FailoverRewritesFile,
    /// A forced hand-over waits until the replica has everything, however late that is.
    ForceWaits,
    /// A key never runs out.
    LeaseNeverEnds,
    /// A deadline by the clock of a client is never over.
    DeadlinesNeverEnd,
    /// A key that has no time left is there for everybody who acts at that instant.
    ClientWinsTies,
    /// A master whose last save failed writes all the same.
    RefusingMasterWrites,
    /// A node whose slot is being moved answers also a release of which it has not all keys.
    MovingSlotReleases,
    /// The same of an acquire, and of a waiter who leaves the queue.
    MovingSlotGrants,
    /// The same of a renewal.
    MovingSlotRenews,
    /// The replica of the old master has what the new one of a slot has.
    MoveReachesReplica,
    /// A subscription to a channel of a slot outlives its move.
    MovedSubscriptionLives,
    /// A replica does not hear that a key has lost its TTL.
    PersistStaysLocal,
    /// A node comes back earlier than it may.
    RestartTooEarly,
    /// A node with `fsync = "always"` comes back empty.
    FsyncForgotten,
    /// A node whose process is killed loses what its machine would lose.
    KilledWithItsMachine,
    /// A master that is told to end does not wait for its replicas.
    ShutdownDoesNotWait,
    /// A node that is told to end saves no snapshot.
    ShutdownSavesNothing,
    /// A TTL travels as a deadline, whatever the version.
    DeadlinesAlwaysTravel,
    /// A master does not count its replicas before it writes.
    MinReplicasIgnored,
    /// A master counts a silent replica by max-lag to the tick, as if it did not count in whole seconds.
    SlackIgnored,
    /// All replicas leave a master at the instant at which it is replaced.
    NoReplicaStays,
    /// A replica that is dead when its master is replaced follows the new one after its restart, whatever its file says.
    DeadReplicaIsTold,
    /// A master that was replaced still counts the replica that was promoted.
    HeirStillCounts,
    /// The death of a machine is noticed as that of a process is.
    DeadMachineIsNoticed,
    /// A master that stood still counts its replicas before it serves anybody.
    PausedMasterCountsAtOnce,
    /// A replica that stands still acknowledges what it has not applied.
    PausedReplicaAcknowledges,
    // The resource.
    /// A new grant gets the token of an older one.
    TokenReused,
    /// The fenced resource does not compare tokens.
    FenceIgnored,
    // Rules that forbid something by a number they should not read: laws over many worlds notice them.
    /// At its limit a waiter does not ask any more.
    LimitComesFirst,
    /// A client that may ask once only takes a refusal for a grant.
    OnlyRefusalBelieved,
    /// With more than two clients a refusal is taken for a grant.
    CrowdBelievesRefusals,
    /// No failover where clients may crash too.
    NoFailoverBesideCrashes,
    /// A replica that may be late by two ticks or more has everything when its master dies.
    LateReplicaLosesNothing,
}

/// The mutant that a run is under, if any. Without the feature `mutants` it has no size and is always "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveMutant(#[cfg(feature = "mutants")] Option<Mutant>);

impl ActiveMutant {
    /// That one, or none.
    #[cfg(feature = "mutants")]
    pub const fn new(mutant: Option<Mutant>) -> Self {
        Self(mutant)
    }

    /// Whether the rule of this mutant is the one that is wrong.
    #[cfg(feature = "mutants")]
    pub fn is(self, mutant: Mutant) -> bool {
        self.0 == Some(mutant)
    }

    /// Whether the rule of this mutant is the one that is wrong: never, in a build without mutants.
    #[cfg(not(feature = "mutants"))]
    #[expect(clippy::unused_self, reason = "the call sites are the same in both builds")]
    pub const fn is(self, _: Mutant) -> bool {
        false
    }
}
