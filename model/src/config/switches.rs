//! The switches of the protocol: for each one, what a client or a script of the lock can do.

use serde::{Deserialize, Serialize};

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
    /// The same, but the script ends with an error at a reader that has entered twice, and renews only those before it, in the order of
    /// their entry. The cause: it builds the name of a hold from the number of that hold (Redisson 3.52).
    FailsNested,
}

/// Which values are checked when a client asks whether it holds a lock over several
/// (docs/facts/family.md#multi-lock-over-values).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HeldQuery {
    /// Those from the second one on: a client of one value is told yes as soon as the hash exists (Redisson 3.43 to 4.7).
    #[default]
    LaterValues,
    /// Every one: no version of Redisson does that.
    EveryValue,
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

/// What a client that has asked several masters makes of the time that this took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ElapsedTime {
    /// Nothing: it holds if most of them have granted (Redisson, each version that was run; docs/facts/family.md#redlock).
    #[default]
    Ignored,
    /// It holds only if something is left of the lease, without the drift (docs/facts/family.md#redlock-as-published).
    Checked,
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

/// What the client does when a renewal has no answer, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailedRenewal {
    /// Try again in the next period (Redisson 4.7).
    Retry,
    /// Drop the entry: the lock is never renewed again (Redisson 2021).
    Forget,
    /// Send a release by the value of the grant, for whose answer nobody waits, and try again in the next period: the holder is not told,
    /// and the lock may be free (node-redlock 4, which waits for that answer; docs/facts/libraries.md#node-redlock-4).
    Release,
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

/// By which lease a call that names one goes on, where it takes a lock of several parts in rounds
/// (docs/facts/family.md#the-lease-of-a-later-round).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RoundLease {
    /// From the second round on by a lease that is taken for seconds once more, though it is in milliseconds by then: a thousand times
    /// as long (`RedissonMultiLock.lock(lease, SECONDS)`, 3.43 to 4.7).
    #[default]
    Multiplied,
    /// By the lease that it names.
    Kept,
}

/// Whose hold gets its lease at the end of an acquire that names one, where the lock has several parts
/// (docs/facts/family.md#the-lease-at-the-end).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FinalLease {
    /// Whatever hold is there by then: `PEXPIRE` looks at no holder (`RedissonMultiLock.tryLock(wait, lease)`, 3.43 to 4.7).
    #[default]
    AnyHold,
    /// Its own, and no other one.
    OwnHold,
}

/// How many masters a call needs that takes a lock on several, each of which stores a lock of its own
/// (docs/facts/family.md#redlock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NeededMasters {
    /// Most of them (`RedissonRedLock`).
    #[default]
    Most,
    /// Every one (`RedissonMultiLock` whose locks are of clients of several masters). A release that fails on one stops there, or goes on:
    /// [`FailedPart`].
    All,
}

/// What a release of a lock of several parts does when that of one part ends with an error
/// (docs/facts/family.md#a-release-that-stops).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailedPart {
    /// It ends with that error, and leaves the parts that come after (`RedissonMultiLock.unlock()`, 3.43 to 4.7).
    #[default]
    Stops,
    /// It releases the others all the same.
    GoesOn,
}

/// What an interrupt does to a call that takes a lock of several parts, while it waits for one
/// (docs/facts/family.md#a-call-that-nothing-ends).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedCall {
    /// It takes that for a refusal: it gives back what it has, and begins anew. Nobody is told (`RedissonMultiLock`, 3.43 to 4.7).
    #[default]
    GoesOn,
    /// It gives back what it has, and ends with an exception.
    Ends,
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
