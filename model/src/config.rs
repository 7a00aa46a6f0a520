//! How big the world is, which protocol is spoken in it, and which faults may happen.
//!
//! A scenario file becomes one of these; a trace carries one. Every time is in ticks. What the model does not know
//! yet (several groups, …) has no field here: a field that no rule reads would be a promise.

mod faults;

use serde::{Deserialize, Serialize};

use crate::mutants::Mutant;
pub use faults::Faults;

/// The largest world any scenario may ask for. Arrays are sized by these; the scenario reader quotes them in its errors.
pub const MAX_CLIENTS: u8 = 4;
/// Threads of one client.
pub const MAX_THREADS: u8 = 2;
/// Replicas of the group's master.
pub const MAX_REPLICAS: u8 = 2;
/// Holds of one thread.
pub const MAX_HOLDS: u8 = 8;
/// Ticks of any one time: small, because every tick is a state.
pub const MAX_TICKS: u8 = 60;
/// Ticks of one jump of a clock, ahead or back: all of a budget together still fit into a byte.
pub const MAX_JUMP: i8 = 15;
/// How often one client may ask, when that is bounded.
pub const MAX_ACQUIRES: u8 = 100;
/// Budget of any one fault.
pub const MAX_FAULTS: u8 = 8;
/// Effects that may be under way to one replica; a write that would exceed it waits. A bound of every claim.
pub const MAX_EFFECTS_UNDER_WAY: u8 = 4;
/// Unlock messages that may be under way to one client, and permits its wake-up entry may hold; a publication that
/// would exceed it waits. A bound of every claim.
pub const MAX_MESSAGES: u8 = 3;
/// How often one request may be sent again.
pub const MAX_RETRIES: u8 = 4;
/// Receipts that a node may store at once; a release that would leave one more waits. A bound of every claim.
pub const MAX_RECEIPTS: u8 = 3;

/// Everything that is fixed for the whole of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Whose rules.
    pub lock: LockKind,
    /// Leases, limits and periods.
    pub time: Time,
    /// Who asks.
    pub clients: Clients,
    /// Who stores.
    pub cluster: Cluster,
    /// What lies between.
    pub network: Network,
    /// In which dialect they speak.
    pub protocol: Protocol,
    /// What becomes of a request that is not answered; read where the network is split.
    #[serde(default, skip_serializing_if = "Calls::is_default")]
    pub calls: Calls,
    /// What may go wrong, and how often.
    pub faults: Faults,
    /// What the lock guards; `None`: nobody looks, and no token is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
    /// Whether what must happen where nothing prevents it must also happen where it is prevented now and then. It changes
    /// nothing that can happen, only what must (liveness).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub strong_fairness: bool,
    /// The one rule that is wrong on purpose.
    #[cfg(feature = "mutants")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub mutant: Option<Mutant>,
}

/// The kinds of lock that are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// `SET key value NX PX lease`, compare-and-delete: the form in the Redis documentation.
    Plain,
    /// Redisson's `RLock`: a hash with a hold count.
    Reentrant,
}

/// The calls by which an application uses a kind of lock, as pictures show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNames {
    /// Asks for the lock, and waits without limit.
    pub acquire: &'static str,
    /// Asks for the lock, and waits for a limited time or not at all.
    pub try_acquire: &'static str,
    /// Extends the lease.
    pub renew: &'static str,
    /// Gives back one hold.
    pub release: &'static str,
    /// Deletes the lock, no matter who holds it.
    pub force_release: &'static str,
}

impl LockKind {
    /// Every kind, in the order of the design page.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Reentrant];

    /// The word scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Reentrant => "reentrant",
        }
    }

    /// The names of the calls by which an application uses this kind.
    pub const fn calls(self) -> CallNames {
        match self {
            Self::Plain => CallNames {
                acquire: "SET NX PX",
                try_acquire: "SET NX PX",
                renew: "extend",
                release: "delete if own",
                force_release: "DEL",
            },
            Self::Reentrant => CallNames {
                acquire: "lock()",
                try_acquire: "tryLock()",
                renew: "renew",
                release: "unlock()",
                force_release: "forceUnlock()",
            },
        }
    }

    /// Whether an acquire that finds the lock busy is a write all the same: `SET NX` is one before it looks.
    pub const fn busy_is_write(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Reentrant => false,
        }
    }

    /// Whether a release publishes an unlock message that waiters subscribe to. Others poll.
    pub const fn publishes(self) -> bool {
        match self {
            Self::Plain => false,
            Self::Reentrant => true,
        }
    }
}

/// Leases, limits and periods, in ticks (but for `tick_ms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// How long a tick is on a real server, ms.
    pub tick_ms: u32,
    /// TTL of a grant.
    pub lease: u8,
    /// Watchdog period; `None`: explicit lease, no watchdog.
    pub renew_every: Option<u8>,
    /// How long a client waits to acquire; `None`: for ever; 0: it asks once.
    pub wait_limit: Option<u8>,
    /// A holder releases at the latest after so long; `None`: whenever it likes.
    pub hold_at_most: Option<u8>,
    /// How far a clock jumps ahead, or back if it is below 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub jump: i8,
}

/// Who asks. A client is a process; its threads are the holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// How many processes.
    pub count: u8,
    /// Threads of each.
    pub threads: u8,
    /// How often one thread may enter at once.
    pub max_holds: u8,
    /// How often each client may ask; `None`: for ever.
    pub acquires: Option<u8>,
    /// Whether a holder need never release. It changes nothing that can happen, only what must (liveness).
    #[serde(default)]
    pub hold_for_ever: bool,
}

/// One master and its replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Replicas of the master.
    pub replicas: u8,
    /// How long an effect may wait before its replica has it.
    pub lag: Bound,
    /// How a TTL travels to a replica.
    pub ttls: Ttls,
    /// Which replica a failover chooses.
    pub promote: PromoteRule,
    /// How long after the master's death until a replica has taken its place and every running client knows.
    pub failover_within: Bound,
    /// What of its data a node finds again when it comes back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync: Fsync,
    /// A node that died comes back after so many ticks at the earliest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub restart_after: u8,
    /// A master refuses writes unless so many replicas have been heard of lately (`min-replicas-to-write`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replicas: u8,
    /// How many ticks ago that may have been (`min-replicas-max-lag`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replicas_max_lag_ticks: u8,
    /// A grant is believed when so many replicas have acknowledged it (`WAIT`), or as many as the rule wants; 0: at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_for: u8,
    /// A client that learns of a new master asks for the lock only after so many ticks: what the failover may have
    /// forgotten is over by then (the lock delay of Chubby, Burrows 2006, §2.4; Consul's `lock-delay`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_delay: u8,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// When a node's writes reach its disk (facts/redis.md, "Pub/sub, memory, durability").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Fsync {
    /// Never: no AOF, as is Redis's default. It comes back empty.
    #[default]
    #[serde(rename = "none")]
    None,
    /// Once a second, so before a tick is over: what was written since may be lost.
    #[serde(rename = "everysec")]
    EverySecond,
    /// Before the reply.
    #[serde(rename = "always")]
    Always,
}

/// How late something may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At most so many ticks; 0 is at once.
    Ticks(u8),
    /// There is no bound.
    Any,
}

impl Bound {
    /// Whether things happen at once.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Ticks(0))
    }
}

/// How a TTL travels to a replica: it depends on the server's version (facts/redis.md, "Replication").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ttls {
    /// As the time at which the key expires: wherever it arrives, it means the same (since Redis 7.0).
    Absolute,
    /// As the time the key has left, counted from its arrival: a late replica expires it later (before 7.0).
    Relative,
}

/// Which replica a failover chooses (facts/redis.md, "Failover").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PromoteRule {
    /// Any that runs: what can happen when Sentinel's last look at the offsets is old.
    Any,
    /// One of those that lost fewest effects.
    MostData,
    /// The first that runs: the lowest `replica-priority`, taken to be the order of the nodes.
    Priority,
    /// A hand-over waits until the replica has everything, and nobody writes meanwhile (`FAILOVER`). Of a master that is
    /// dead or cut off it may be any that runs: there is nothing to wait for.
    Coordinated,
}

/// What lies between clients and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Whether a request is one step or three.
    pub mode: NetworkMode,
    /// How late a message may be: an unlock message and, where the network is split, a request and a reply.
    pub delay: MessageDelay,
}

impl Network {
    /// Whether an answer may be so late that nobody waits for it any more: the request may be late, and then the reply.
    pub fn can_outlast(&self, calls: Calls) -> bool {
        self.delay.most().is_none_or(|most| most.saturating_mul(2) >= calls.answer_within)
    }
}

/// Whether a request is one step or three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NetworkMode {
    /// Sent, executed and answered in one step.
    Atomic,
    /// Each of the three is a step, and things happen in between.
    Split,
}

/// How late a message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MessageDelay {
    /// It is there before time moves.
    None,
    /// At most so many ticks pass before it is there; 1 or more.
    Ticks(u8),
    /// Time may pass before it is there.
    Any,
}

impl MessageDelay {
    /// The age at which a message must be there; `None`: it may be late without bound.
    pub const fn most(self) -> Option<u8> {
        match self {
            Self::None => Some(0),
            Self::Ticks(most) => Some(most),
            Self::Any => None,
        }
    }
}

/// What becomes of a request that is not answered, and what is done on an answer. Source: facts/redisson.md, "Keys,
/// channels, numbers" (command timeout, retryAttempts, receipt TTL, resend).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// How long a caller waits for an answer, ticks; at least 1.
    pub answer_within: u8,
    /// Which unanswered requests are sent again.
    pub resend: Resend,
    /// How often one request is sent again.
    pub retry_attempts: u8,
    /// Whether a resent release is known to be the same.
    pub request_id: RequestId,
    /// TTL of a release receipt, ticks; at least 1.
    pub receipt: u8,
    /// When a granted hold gets into the renewal table.
    pub registration: Registration,
    /// What becomes of an acquire whose caller was interrupted, once it is granted all the same.
    pub interrupted_acquire: InterruptedAcquire,
    /// What the answer to a renewal does to holds that were registered after it was sent.
    pub stale_renewal: StaleRenewal,
}

impl Calls {
    /// Nothing is sent again, and the caller waits as short as can be told apart (Redisson: 3 s, less than a tick).
    pub const DEFAULT: Self = Self {
        answer_within: 1,
        resend: Resend::None,
        retry_attempts: 1,
        request_id: RequestId::PerRelease,
        receipt: 1,
        registration: Registration::BeforeAnswer,
        interrupted_acquire: InterruptedAcquire::Keep,
        stale_renewal: StaleRenewal::Believe,
    };

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_default(&self) -> bool {
        *self == Self::DEFAULT
    }
}

impl Default for Calls {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Which unanswered requests are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resend {
    /// None: the caller is told at once that the outcome is unknown.
    None,
    /// Releases and renewals: what does no harm with a receipt, or by its nature.
    Release,
    /// Acquires as well: what Redisson does outside single-server mode, where its mark "not again" is lost.
    All,
}

/// Whether a resent release is known to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestId {
    /// Every try of one release carries the same id (Redisson since 3.52).
    PerRelease,
    /// Every try carries its own, so that no receipt is ever found (before).
    PerTry,
}

/// When a granted hold gets into the renewal table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// Before the caller has its answer (Redisson 4.7: the caller waits for the stage behind `scheduleExpirationRenewal`).
    BeforeAnswer,
    /// Before or after, as it happens: both wait for the same reply (2021: `onComplete` beside the caller's `await`).
    Unordered,
}

/// What the answer to a renewal does to holds that were registered after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StaleRenewal {
    /// The same as to the holds it was sent for: the table remembers threads, not grants (Redisson, `LockTask`).
    Believe,
    /// Nothing: once all holds of the thread are gone, what was asked for them is of no interest.
    Ignore,
}

/// What becomes of an acquire whose caller was interrupted, once it is granted all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedAcquire {
    /// It stays in Redis until its lease ends, and nobody renews it (Redisson `lockInterruptibly`: the future is
    /// cancelled, and what depends on it does not run).
    Keep,
    /// When the reply comes, a release is sent (Redisson `lockAsync`: the result can't be completed any more).
    Release,
}

/// In which dialect client and server speak: a profile's switches, each read where its rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Which set the switches were taken from; for reading only, no rule looks at it.
    pub profile: Profile,
    /// A release leaves a short-lived receipt, so that a resent one is harmless.
    pub receipts: bool,
    /// Whose timer renews.
    pub renewal_timer: RenewalTimer,
    /// What the client does when a renewal is answered "not yours".
    pub missed_renewal: MissedRenewal,
    /// What the client does when a renewal has no answer.
    pub failed_renewal: FailedRenewal,
    /// Which answer of `WAIT` is enough; read where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_rule: WaitRule,
}

/// Which answer of `WAIT` is enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WaitRule {
    /// At least one replica, if the client knows of any: it reads their number once for each master, again when `WAIT`
    /// answers another one, and asks no more once it has read 0 (Redisson; facts/redisson.md, "Replica check").
    #[default]
    Any,
    /// All that were asked for.
    All,
}

/// A named set of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Profile {
    /// Redisson as of 2021.
    #[serde(rename = "redisson-3.15")]
    Redisson315,
    /// Redisson as of 2026.
    #[serde(rename = "redisson-4.7")]
    Redisson47,
    /// Our own client: Redisson 4.7, but the application is told when its lock is gone.
    #[serde(rename = "lockstep")]
    Lockstep,
}

/// Whose timer renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RenewalTimer {
    /// One a lock: it starts with the first hold and is cancelled with the last (Redisson 2021).
    PerLock,
    /// One a client for all its locks: with nothing left to renew it runs on to its next firing, and a lock taken
    /// before that inherits the phase (Redisson since 3.44, `RenewalTask`).
    Shared,
}

/// What the client does when a renewal is answered "not yours".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissedRenewal {
    /// Lower the first thread's count by one and go on; nobody is told (Redisson 4.7, `LockTask`).
    LowerFirst,
    /// Stop the timer and keep the entry, so that a later grant of this process is not renewed either
    /// (Redisson up to 3.16, `RedissonBaseLock.renewExpiration`).
    StopTimer,
    /// Forget the thread's holds, and tell it so.
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

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Redisson315, Self::Redisson47, Self::Lockstep];

    /// The word scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redisson315 => "redisson-3.15",
            Self::Redisson47 => "redisson-4.7",
            Self::Lockstep => "lockstep",
        }
    }

    /// The switches of this profile. Source: facts/redisson.md, "Keys, channels, numbers", and Redisson's
    /// `RenewalTask`, `LockTask`, `RedissonBaseLock`.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Redisson315 => Protocol {
                profile: self,
                receipts: false,
                renewal_timer: RenewalTimer::PerLock,
                missed_renewal: MissedRenewal::StopTimer,
                failed_renewal: FailedRenewal::Forget,
                wait_rule: WaitRule::Any,
            },
            Self::Redisson47 => Protocol {
                profile: self,
                receipts: true,
                renewal_timer: RenewalTimer::Shared,
                missed_renewal: MissedRenewal::LowerFirst,
                failed_renewal: FailedRenewal::Retry,
                wait_rule: WaitRule::Any,
            },
            Self::Lockstep => Protocol {
                profile: self,
                receipts: true,
                renewal_timer: RenewalTimer::Shared,
                missed_renewal: MissedRenewal::TellHolder,
                failed_renewal: FailedRenewal::Retry,
                wait_rule: WaitRule::All,
            },
        }
    }
}

/// What the lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Whether it refuses an effect that carries an older fencing token than one it has seen.
    pub fenced: bool,
}

impl Config {
    /// Nodes of the group: the first master and its replicas.
    pub const fn nodes(&self) -> u8 {
        1 + self.cluster.replicas
    }

    /// Whether a refused client waits (and does not just ask once).
    pub fn waits(&self) -> bool {
        self.time.wait_limit != Some(0)
    }

    /// Whether a replica can take the place of a master that is dead or cut off.
    pub const fn can_promote(&self) -> bool {
        self.cluster.replicas > 0 && (self.faults.crash_node > 0 || self.faults.cut_link > 0)
    }

    /// Whether a master can be passed over while it runs, and be a replica later.
    pub const fn can_demote(&self) -> bool {
        let is_left = self.faults.hand_over > 0 && !matches!(self.cluster.promote, PromoteRule::Coordinated);
        self.can_fail_over() && (self.faults.cut_link > 0 || self.can_restart() || is_left)
    }

    /// Whether a failover can happen.
    pub const fn can_fail_over(&self) -> bool {
        self.can_promote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether `WAIT` may find too few replicas.
    pub const fn can_lack_replicas(&self) -> bool {
        let may_lack = !self.cluster.lag.is_zero() || self.faults.crash_node > 0 || self.can_fail_over();
        self.cluster.wait_for > 0 && may_lack
    }

    /// Whether it matters which links a master takes for open.
    pub(crate) const fn has_half_open_links(&self) -> bool {
        self.cluster.wait_for > 0 && self.faults.cut_link > 0
    }

    /// Whether a dead node may come back.
    pub const fn can_restart(&self) -> bool {
        self.faults.restart_node > 0
    }

    /// Whether the clocks of nodes may differ.
    pub(crate) const fn has_skew(&self) -> bool {
        self.faults.clock_jump > 0
    }

    /// Whether a node has data on its disk that are not those in its memory.
    pub(crate) fn has_late_disk(&self) -> bool {
        self.can_restart() && self.cluster.fsync == Fsync::EverySecond
    }

    /// So long unheard of that a replica counts no more; where nobody counts, 0.
    pub(crate) const fn unheard_for_long(&self) -> u8 {
        if self.cluster.min_replicas == 0 { 0 } else { self.cluster.min_replicas_max_lag_ticks + 1 }
    }

    /// Whether a request is three steps.
    pub const fn is_split(&self) -> bool {
        matches!(self.network.mode, NetworkMode::Split)
    }

    /// Whether an answer can fail to come in time. A paused client's waits until it runs, but its timer does not.
    pub fn can_miss_answers(&self) -> bool {
        let faults = &self.faults;
        self.is_split()
            && (faults.lose_request > 0
                || faults.lose_reply > 0
                || faults.pause_client > 0
                || faults.crash_node > 0
                || self.can_lose_waits()
                || self.network.can_outlast(self.calls))
    }

    /// Whether a `WAIT` can lose its connection: with the node, or when that is demoted.
    const fn can_lose_waits(&self) -> bool {
        self.cluster.wait_for > 0 && self.can_fail_over()
    }

    /// Whether a request can be given up: not if each that can be lost is sent again.
    pub fn can_abandon(&self) -> bool {
        let faults = &self.faults;
        let losses = u32::from(faults.lose_request)
            + u32::from(faults.lose_reply)
            + u32::from(faults.pause_client)
            + u32::from(faults.crash_node)
            + if self.can_lose_waits() { u32::from(faults.cut_link) + u32::from(faults.hand_over) } else { 0 };
        let is_late = self.network.can_outlast(self.calls);
        self.can_miss_answers()
            && (self.calls.resend != Resend::All || is_late || losses > u32::from(self.calls.retry_attempts))
    }

    /// Whether a release leaves a receipt that anybody could ever read: where request and answer are one step, nobody can.
    pub const fn leaves_receipts(&self) -> bool {
        self.is_split() && self.protocol.receipts && matches!(self.lock, LockKind::Reentrant)
    }

    /// Whether the rule of this mutant is the one that is wrong.
    #[cfg(feature = "mutants")]
    pub(crate) fn is_mutated(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Whether the rule of this mutant is the one that is wrong: never, in a build without mutants.
    #[cfg(not(feature = "mutants"))]
    #[expect(clippy::unused_self, reason = "the call sites are the same in both builds")]
    pub(crate) const fn is_mutated(&self, _: Mutant) -> bool {
        false
    }

    /// This world with one rule wrong.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub const fn with_mutant(self, mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..self }
    }
}
