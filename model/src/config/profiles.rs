//! The protocol switches, and the profiles: what each switch is in each version of a client library.

use serde::{Deserialize, Serialize};

use super::defaults::{is_default, is_usual_batch, usual_batch};
use crate::limits::RENEWAL_BATCH;

/// The switches of the protocol between client and server, each read where its rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The profile that the switches were taken from; informative, no rule reads it.
    pub profile: Profile,
    /// Whether a release leaves a short-lived receipt, so that a resent one is harmless.
    pub receipts: bool,
    /// What the client does with a receipt once its release is answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answered_receipt: AnsweredReceipt,
    /// What the answer to a release that leaves a hold does to the renewal table.
    #[serde(default, skip_serializing_if = "is_default")]
    pub partial_release: PartialRelease,
    /// Which timer renews.
    pub renewal_timer: RenewalTimer,
    /// How many locks one renewal carries at most. The next one is sent when that is answered, and an error ends them all until
    /// the next period; read where a client has several lock names and one timer for them
    /// (docs/facts/redisson.md#several-locks-in-one-renewal).
    #[serde(default = "usual_batch", skip_serializing_if = "is_usual_batch")]
    pub renewal_batch: u8,
    /// What the client does when a renewal is answered "not yours".
    pub missed_renewal: MissedRenewal,
    /// What the client does when a renewal has no answer.
    pub failed_renewal: FailedRenewal,
    /// For how long a lock object remembers a lease; read where threads share one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub remembered_lease: RememberedLease,
    /// What a lock object remembers of a call that names its lease and is refused; read where threads share one and the lease of an
    /// ask is that of the object ([`Facts::asks_by_object_lease`](crate::locks::Facts::asks_by_object_lease)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub refused_lease: RefusedLease,
    /// Which answer of `WAIT` is sufficient; read where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_rule: WaitRule,
    /// Behind which requests `WAIT` is sent; read where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_after: WaitAfter,
    /// What a grant stores; read for kinds that have it ([`Facts::value`](crate::locks::Facts::value)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: ValueRule,
    /// By how many commands an acquire takes the lock; read for kinds that can take it by two
    /// ([`Facts::two_commands`](crate::locks::Facts::two_commands)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub acquire: AcquireRule,
    /// How a release finds that the lock is its own; read for kinds that have a bare release
    /// ([`Facts::bare_release`](crate::locks::Facts::bare_release)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release: ReleaseRule,
    /// How an extension finds that the lock is its own; read for kinds that have a bare one
    /// ([`Facts::bare_extend`](crate::locks::Facts::bare_extend)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub extend: ExtendRule,
    /// What the release of a reader does to the renewal of a writer that is the same thread; read for kinds that have both.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_release: ReadRelease,
    /// When a client learns its fencing token; read for kinds that issue some ([`Facts::tokens`](crate::locks::Facts::tokens)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub token: TokenRule,
    /// What a client makes of a holder whose lock has no TTL; read where tokens come with grants.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_ttl_answer: NoTtlAnswer,
    /// Which holds the renewal of a reader renews; read for kinds with readers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_renewal: ReadRenewal,
    /// Whom a writer tells that releases and reads on; read for kinds that have both.
    #[serde(default, skip_serializing_if = "is_default")]
    pub downgrade: Downgrade,
    /// What becomes of the place of a waiter that is interrupted; read for kinds with a queue
    /// ([`Facts::queue`](crate::locks::Facts::queue)).
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted_waiter: InterruptedWaiter,
    /// On which node clients subscribe to unlock messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subscribe_to: SubscribeTo,
}

/// What the client does with a receipt once its release is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredReceipt {
    /// It deletes it (Redisson 3.43 and 4.7; docs/facts/redisson.md#release-receipt).
    #[default]
    Delete,
    /// The receipt stays until its TTL ends: Redisson 3.52 deletes a key of another name
    /// (docs/facts/redisson.md#a-receipt-that-stays).
    Keep,
}

/// What the answer to a release that leaves a hold does to the renewal table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PartialRelease {
    /// It lowers the thread's count by one, as every release does (Redisson 3.15 and 4.7).
    #[default]
    Lower,
    /// Nothing. The release of a thread's last hold lowers its count by one, so that each nested hold stays in the table for
    /// good, and the watchdog renews on behalf of a thread that holds nothing (Redisson 3.43;
    /// docs/facts/redisson.md#nested-holds-stay-in-the-table). After holds were lost this is not exact
    /// (docs/approximations.md): here the last hold is that of the thread, in Redisson that of the table.
    Ignore,
}

/// What the release of a reader does to the renewal of a writer that is the same thread
/// (docs/facts/family.md#a-read-release-ends-the-write-renewal).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReadRelease {
    /// It lowers the count of the write lock as well: the last one ends its renewal (Redisson 3.52 to 4.7).
    #[default]
    EndsWriteRenewal,
    /// Nothing: the write lock is renewed until it is released (Redisson 3.43; docs/facts/family.md#older-versions-of-the-read-write-lock).
    OwnRenewal,
}

/// When a client learns its fencing token (docs/facts/family.md#fenced-lock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TokenRule {
    /// With its grant (`lockAndGetToken`).
    #[default]
    WithGrant,
    /// Later, by a request of its own that reads the counter (`getToken`), whoever has raised it meanwhile.
    ReadLater,
}

/// What a client makes of the answer that somebody holds the lock and its key has no TTL, where a token comes with each grant
/// (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoTtlAnswer {
    /// A grant, with the token -1: the answer begins with the TTL of the holder in the way, or with -1 for a grant, and a key
    /// without a TTL has the TTL -1 (Redisson 4.7).
    #[default]
    Grant,
    /// A refusal.
    Refusal,
}

/// Which holds the renewal of a reader renews beside the lock itself
/// (docs/facts/family.md#older-versions-of-the-read-write-lock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReadRenewal {
    /// Its own (Redisson 4.7).
    #[default]
    OwnHolds,
    /// Those of every reader that is stored, also of one that has died (Redisson 3.43, 4.1 and 4.3).
    AllHolds,
    /// The same, but the script goes through them in the order in which they entered, and ends with an error at the first who has entered
    /// twice: it takes the name of a hold by the number of that hold (Redisson 3.52).
    FailsNested,
}

/// Whom a writer tells that releases the write lock and reads on: from then on other readers may join it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Downgrade {
    /// Nobody: a reader that waits sleeps until its timer fires (Redisson, each version that was run;
    /// docs/facts/family.md#read-write).
    #[default]
    Silent,
    /// All who wait, by the message of a writer that frees the lock: no version of Redisson does.
    Publishes,
}

/// What becomes of the place in the queue of a waiter that is interrupted and leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedWaiter {
    /// It stays until its deadline (Redisson, each version that was run; docs/facts/family.md#fair).
    #[default]
    StaysQueued,
    /// It leaves the queue, by the request of a waiter whose limit is over: no version of Redisson does.
    LeavesQueue,
}

/// On which node a client subscribes to unlock messages (Redisson: `subscriptionMode`, `MASTER` unless it is set;
/// docs/facts/redisson.md#subscription-mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SubscribeTo {
    /// On the master.
    #[default]
    Master,
    /// On the first replica that runs; on the master while there is none. A message reaches a replica with the effect of its
    /// release, and never where a full copy takes the place of that effect (docs/facts/redis.md#publish-in-a-script).
    Replica,
}

/// What a grant stores, by which a release or a renewal finds that the lock is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ValueRule {
    /// A value that no other acquire has, of any client (the Redis documentation, `SET` and Distributed locks: a "random value"
    /// that "must be unique across all clients and all lock requests"; docs/facts/redisson.md#plain-lock).
    #[default]
    PerAcquire,
    /// The client's thread, the same for all its acquires: what happens otherwise.
    PerClient,
}

/// By how many commands an acquire takes the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AcquireRule {
    /// By one, which writes the key and its TTL: `SET NX PX` (docs/facts/redisson.md#plain-lock).
    #[default]
    SetNxPx,
    /// By two: `SETNX`, and once that is answered `PEXPIRE`, whose answer nobody looks at. The lock of a client that ends in
    /// between has no TTL (docs/locks/plain.md#setnx-then-expire).
    SetnxExpire,
    /// By a script that looks first: a free lock is taken, and one with the caller's own value is granted again with the full
    /// lease (docs/facts/libraries.md#spring-integration, #redislock). An acquire that is sent again finds its own key.
    OwnOrFree,
}

/// How a release finds that the lock is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseRule {
    /// It compares the value that the acquire has stored, and then deletes the key, in one script
    /// (docs/facts/redisson.md#plain-lock).
    #[default]
    Compare,
    /// It does not: `DEL`, whoever holds. The Redis documentation (Distributed locks) warns of it: a client that is late "could
    /// remove a lock that was created by another client".
    Delete,
}

/// How an extension of the lease finds that the lock is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExtendRule {
    /// It compares the value that the acquire has stored, and then sets the TTL, in one script
    /// (docs/facts/redisson.md#plain-lock).
    #[default]
    Compare,
    /// It does not: `SET` with `XX` and `PX` stores its own value and the lease over whatever lock is there, so that a late
    /// extension takes the lock of another client (`ShedLock`, unless `safeUpdate` is switched on;
    /// docs/facts/libraries.md#shedlock).
    Overwrite,
}

/// Which answer of `WAIT` is sufficient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WaitRule {
    /// At least one replica, if the client knows of any: it reads their number once, also for later masters, again before its
    /// next script after `WAIT` answered a different number, and sends no `WAIT` once it has read 0 (Redisson 4.7;
    /// docs/facts/redisson.md#replica-count).
    #[default]
    Any,
    /// All replicas that were asked for.
    All,
    /// Any answer, also 0: the client sends `WAIT` and does not look at the number (Redisson 3.15;
    /// docs/facts/redisson.md#redisson-315-does-not-check).
    Ignored,
}

/// Behind which requests a client sends `WAIT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WaitAfter {
    /// Behind each acquire, and only a granted one is counted.
    #[default]
    Grants,
    /// Behind acquires as with `Grants`, and behind each renewal. One that too few replicas have acknowledged ends its round with an
    /// error: what comes behind it is not renewed in this period (docs/facts/redisson.md#wait-follows-every-script,
    /// #several-locks-in-one-renewal).
    GrantsAndRenewals,
    /// Behind each request of a call, whatever is answered: acquires, releases and undos. A release that too few replicas have
    /// acknowledged is made again (docs/facts/redisson.md#wait-follows-every-script, #undone-tries-lower-the-renewal-count).
    EveryCall,
}

/// A named set of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Profile {
    /// Redisson as of 2021.
    #[serde(rename = "redisson-3.15")]
    Redisson315,
    /// Redisson 3.43.
    #[serde(rename = "redisson-3.43")]
    Redisson343,
    /// Redisson 3.52.
    #[serde(rename = "redisson-3.52")]
    Redisson352,
    /// Redisson 4.3.
    #[serde(rename = "redisson-4.3")]
    Redisson43,
    /// Redisson as of 2026.
    #[serde(rename = "redisson-4.7")]
    Redisson47,
    /// redis-py 8, `redis.lock.Lock`.
    #[serde(rename = "redis-py-8")]
    RedisPy8,
    /// node-redlock 5 on one server, by `using`.
    #[serde(rename = "redlock-5")]
    Redlock5,
    /// redsync 4 on one server.
    #[serde(rename = "redsync-4")]
    Redsync4,
    /// bsm/redislock 0.10.
    #[serde(rename = "redislock-0.10")]
    Redislock010,
    /// `ShedLock` 7 as it is without `safeUpdate`, kept alive by `KeepAliveLockProvider`.
    #[serde(rename = "shedlock-7")]
    Shedlock7,
    /// Spring Integration 7, `RedisLockRegistry`.
    #[serde(rename = "spring-integration-7")]
    SpringIntegration7,
    /// Our own client: Redisson 4.7, but the application is notified when its lock is lost.
    #[serde(rename = "lockstep")]
    Lockstep,
}

/// Which timer renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RenewalTimer {
    /// One per lock: it starts with the first hold and is cancelled with the last (Redisson 2021).
    PerLock,
    /// One per client for all its locks: with nothing left to renew it still runs until it next fires, and a lock acquired
    /// before that inherits its phase (Redisson since 3.44, `RenewalTask`, but for the timers that it adds).
    Shared,
    /// One more per client each time that it has something to renew and had nothing before, also while others run. Each renews
    /// by itself, and ends when it finds nothing to renew (Redisson since 3.44, `RenewalTask.add` and `schedule`).
    Multiplying,
}

/// What the client does when a renewal is answered "not yours".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissedRenewal {
    /// Lower the first thread's count by one and continue; the application is not notified (Redisson 4.7, `LockTask`).
    LowerFirst,
    /// Stop the timer and keep the entry, so that a later grant of this process is not renewed either
    /// (Redisson up to 3.16, `RedissonBaseLock.renewExpiration`).
    StopTimer,
    /// Drop the entry with the holds of every thread; the application is not notified (Redisson 3.43;
    /// docs/facts/redisson.md#nested-holds-stay-in-the-table).
    Forget,
    /// Drop the thread's holds, and notify it.
    TellHolder,
}

/// What the client does when a renewal has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailedRenewal {
    /// Try again in the next period (Redisson 4.7).
    Retry,
    /// Drop the entry: the lock is never renewed again (Redisson 2021).
    Forget,
}

/// For how long a lock object remembers the lease that a granted call has named (docs/facts/redisson.md#explicit-lease).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RememberedLease {
    /// Until a release by that object is answered and leaves no hold, finds none, or ends in an error; or until a forced release
    /// is called (Redisson since 3.43).
    #[default]
    UntilReleased,
    /// For good: until another call names one (Redisson 3.15).
    ForGood,
}

/// What a lock object remembers of a call that names its lease and is refused (docs/facts/family.md#the-lease-of-a-refused-ask).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusedLease {
    /// Its lease, as if it had been granted: a spinning client stores it in the object when it asks (Redisson 3.15 to 4.7).
    #[default]
    Remembered,
    /// Nothing: only a grant makes its lease that of the object. No version of Redisson does so for this lock; its `RLock` does.
    Ignored,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 12] = [
        Self::Redisson315,
        Self::Redisson343,
        Self::Redisson352,
        Self::Redisson43,
        Self::Redisson47,
        Self::Lockstep,
        Self::RedisPy8,
        Self::Redlock5,
        Self::Redsync4,
        Self::Redislock010,
        Self::Shedlock7,
        Self::SpringIntegration7,
    ];

    /// The word scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redisson315 => "redisson-3.15",
            Self::Redisson343 => "redisson-3.43",
            Self::Redisson352 => "redisson-3.52",
            Self::Redisson43 => "redisson-4.3",
            Self::Redisson47 => "redisson-4.7",
            Self::Lockstep => "lockstep",
            Self::RedisPy8 => "redis-py-8",
            Self::Redlock5 => "redlock-5",
            Self::Redsync4 => "redsync-4",
            Self::Redislock010 => "redislock-0.10",
            Self::Shedlock7 => "shedlock-7",
            Self::SpringIntegration7 => "spring-integration-7",
        }
    }

    /// Where its rules come from: a library and its version, and for one that was read and not run, the files and the commit
    /// (docs/facts/redisson.md, docs/facts/libraries.md).
    pub const fn source(self) -> &'static str {
        match self {
            Self::Redisson315 => "runs of Redisson 3.15.6",
            Self::Redisson343 => "runs of Redisson 3.43.0",
            Self::Redisson352 => "runs of Redisson 3.52.0",
            Self::Redisson43 => "runs of Redisson 4.3.1",
            Self::Redisson47 => "runs of Redisson 4.7.0",
            Self::Lockstep => "this project's own client",
            Self::RedisPy8 => "the source of redis-py 8.0.0: `redis/lock.py`, commit 34817ce2",
            Self::Redlock5 => "the source of node-redlock 5.0.0-beta: `src/index.ts`, commit afe5cf92",
            Self::Redsync4 => "the source of redsync 4: `mutex.go`, commit 5560bd2d",
            Self::Redislock010 => "the source of bsm/redislock 0.10: `*.lua`, commit 76760bd8",
            Self::Shedlock7 => {
                "the source of ShedLock 7.9.0: `InternalRedisLockProvider`, `KeepAliveLockProvider`, commit 2495b140; \
                 `safeUpdate` is off, as it is by default"
            }
            Self::SpringIntegration7 => "the source of Spring Integration 7: `RedisLockRegistry`, commit 0000434f",
        }
    }

    /// Whether its library tells an application how long a grant is valid, and gives back one whose answer comes later than that.
    pub const fn tells_validity(self) -> bool {
        matches!(self, Self::Redlock5 | Self::Redsync4)
    }

    /// Whether it is of a library whose lock is one key with a value, by which a release finds its own
    /// ([`Facts::value`](crate::locks::Facts::value)).
    pub const fn is_of_one_key(self) -> bool {
        match self {
            Self::Redisson315
            | Self::Redisson343
            | Self::Redisson352
            | Self::Redisson43
            | Self::Redisson47
            | Self::Lockstep => false,
            Self::RedisPy8
            | Self::Redlock5
            | Self::Redsync4
            | Self::Redislock010
            | Self::Shedlock7
            | Self::SpringIntegration7 => true,
        }
    }

    /// The version of Redisson that was run for it, to the patch; `None`: it is no version of Redisson.
    pub const fn redisson_version(self) -> Option<&'static str> {
        match self {
            Self::Redisson315 => Some("3.15.6"),
            Self::Redisson343 => Some("3.43.0"),
            Self::Redisson352 => Some("3.52.0"),
            Self::Redisson43 => Some("4.3.1"),
            Self::Redisson47 => Some("4.7.0"),
            Self::Lockstep
            | Self::RedisPy8
            | Self::Redlock5
            | Self::Redsync4
            | Self::Redislock010
            | Self::Shedlock7
            | Self::SpringIntegration7 => None,
        }
    }

    /// The profile of a version of Redisson: the newest one that is not newer, or the oldest. `None`: it is no version.
    pub fn of_redisson(version: &str) -> Option<Self> {
        let numbers = |version: &str| {
            let mut numbers = version.split(['.', '-']).map(|part| part.parse::<u32>().ok());
            Some((numbers.next()??, numbers.next()??))
        };
        let own = numbers(version)?;
        let known = Self::ALL.into_iter().filter_map(|one| Some((numbers(one.redisson_version()?)?, one)));
        let older = known.filter(|(version, _)| *version <= own);
        Some(older.max_by_key(|(version, _)| *version).map_or(Self::Redisson315, |(_, profile)| profile))
    }

    /// The switches of this profile. Source: docs/facts/redisson.md#keys-channels-and-numbers, and runs of each version, which
    /// contradict every other value of a switch that they show (reports/redisson.md).
    pub const fn protocol(self) -> Protocol {
        // Redisson 4.7.
        let newest = Protocol {
            profile: self,
            receipts: true,
            answered_receipt: AnsweredReceipt::Delete,
            partial_release: PartialRelease::Lower,
            renewal_timer: RenewalTimer::Shared,
            renewal_batch: RENEWAL_BATCH,
            missed_renewal: MissedRenewal::LowerFirst,
            failed_renewal: FailedRenewal::Retry,
            remembered_lease: RememberedLease::UntilReleased,
            refused_lease: RefusedLease::Remembered,
            wait_rule: WaitRule::Any,
            // Redisson's is `EveryCall`, which only small worlds can have: the scenario reader says which.
            wait_after: WaitAfter::Grants,
            value: ValueRule::PerAcquire,
            acquire: AcquireRule::SetNxPx,
            release: ReleaseRule::Compare,
            extend: ExtendRule::Compare,
            read_release: ReadRelease::EndsWriteRenewal,
            token: TokenRule::WithGrant,
            no_ttl_answer: NoTtlAnswer::Grant,
            read_renewal: ReadRenewal::OwnHolds,
            downgrade: Downgrade::Silent,
            interrupted_waiter: InterruptedWaiter::StaysQueued,
            subscribe_to: SubscribeTo::Master,
        };
        match self {
            Self::Redisson315 => Protocol {
                receipts: false,
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::StopTimer,
                failed_renewal: FailedRenewal::Forget,
                remembered_lease: RememberedLease::ForGood,
                wait_rule: WaitRule::Ignored,
                read_release: ReadRelease::OwnRenewal,
                ..newest
            },
            Self::Redisson343 => Protocol {
                partial_release: PartialRelease::Ignore,
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::Forget,
                failed_renewal: FailedRenewal::Forget,
                read_release: ReadRelease::OwnRenewal,
                read_renewal: ReadRenewal::AllHolds,
                ..newest
            },
            Self::Redisson352 => {
                Protocol { answered_receipt: AnsweredReceipt::Keep, read_renewal: ReadRenewal::FailsNested, ..newest }
            }
            Self::Redisson43 => Protocol { read_renewal: ReadRenewal::AllHolds, ..newest },
            Self::Redisson47 => newest,
            Self::Lockstep => {
                Protocol { missed_renewal: MissedRenewal::TellHolder, wait_rule: WaitRule::All, ..newest }
            }
            // Who extends by a call is told at once what became of it (docs/facts/libraries.md).
            Self::RedisPy8 | Self::Redlock5 | Self::Redsync4 => Protocol {
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::TellHolder,
                receipts: false,
                ..newest
            },
            Self::Redislock010 => Protocol { acquire: AcquireRule::OwnOrFree, ..Self::RedisPy8.protocol_of(self) },
            // The task that extends ends, and the holder hears of it when it releases.
            Self::Shedlock7 => Protocol {
                missed_renewal: MissedRenewal::Forget,
                release: ReleaseRule::Delete,
                extend: ExtendRule::Overwrite,
                ..Self::RedisPy8.protocol_of(self)
            },
            Self::SpringIntegration7 => Protocol {
                missed_renewal: MissedRenewal::Forget,
                value: ValueRule::PerClient,
                acquire: AcquireRule::OwnOrFree,
                ..Self::RedisPy8.protocol_of(self)
            },
        }
    }

    /// The switches of this profile, under the name of another one.
    const fn protocol_of(self, profile: Self) -> Protocol {
        Protocol { profile, ..self.protocol() }
    }
}

impl Protocol {
    /// The same, with the rules of the lock itself from another one: all clients of a lock keep to the same.
    #[must_use]
    pub const fn with_rules_of(self, common: Self) -> Self {
        let Self { value, acquire, release, extend, .. } = common;
        Self { value, acquire, release, extend, ..self }
    }
}
