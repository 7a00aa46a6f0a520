//! The sections of a scenario, as the model reads them.
//!
//! What the model does not know yet has no field here: a field that no rule reads would be a promise.

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::calls::Calls;
use super::clients::{ClientRole, ClientTables, PartOrder};
use super::defaults::{is_default, is_one_group, is_one_name, is_one_tick, one_group, one_name, one_tick};
use super::faults::Faults;
use super::node_set::NodeSet;
use super::protocol::Protocol;
use crate::locks::kind::LockKind;
use crate::locks::value_set::ValueSet;
#[cfg(feature = "mutants")]
use crate::mutants::Mutant;

/// Everything that is fixed for a whole run. A scenario file becomes one of these; a trace carries one. Every time is in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which kind of lock.
    pub lock: LockKind,
    /// Leases, limits and periods.
    pub time: Time,
    /// Who asks.
    pub clients: Clients,
    /// What single clients have of their own, in their order; empty where all clients are as the other sections say.
    #[serde(default, skip_serializing_if = "ClientTables::is_empty")]
    pub client: ClientTables,
    /// Who stores.
    pub cluster: Cluster,
    /// The network between clients and nodes.
    pub network: Network,
    /// The protocol profile and its overrides.
    pub protocol: Protocol,
    /// How unanswered requests are handled; read where request and answer are steps of their own.
    #[serde(default, skip_serializing_if = "Calls::is_default")]
    pub calls: Calls,
    /// What may go wrong, and how often.
    pub faults: Faults,
    /// The resource that the lock guards; `None`: it is not modelled, and no token is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
    /// Strong fairness: an action that is enabled again and again is taken, even if it is disabled now and then. It changes
    /// nothing that can happen, only what must happen (liveness).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub strong_fairness: bool,
    /// How much room the model has, where the scenario says so itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bounds: Bounds,
    /// The one rule that is wrong on purpose.
    #[cfg(feature = "mutants")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub mutant: Option<Mutant>,
}

/// Leases, limits and periods, in ticks (but for `tick_ms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// How long a tick is on a real server, ms.
    pub tick_ms: u32,
    /// Lease: the TTL of a grant.
    pub lease: u8,
    /// The lease of a call inside another one of its thread, which names its own (`lock(lease)`); `None`: no such call names
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reentry_lease: Option<u8>,
    /// The lease that the first thread of each client names in all its calls (`lock(lease)`), while the others are under the
    /// watchdog; `None`: no thread differs from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_lease: Option<u8>,
    /// Watchdog period; `None`: explicit lease, no watchdog.
    pub renew_every: Option<u8>,
    /// How long a client waits to acquire; `None`: for ever; 0: it asks once.
    pub wait_limit: Option<u8>,
    /// A holder releases at the latest after this long, or, if it is inside a nested call then, when that returns; `None`: it
    /// may hold as long as it likes.
    pub hold_at_most: Option<u8>,
    /// How often a waiter of a lock without messages asks again; at least 1.
    #[serde(default = "one_tick", skip_serializing_if = "is_one_tick")]
    pub poll_every: u8,
    /// How long a waiter sleeps if it was told that the key has no time left, and the key is still there; at least 1.
    /// Redisson asks again at once, until the millisecond is over (docs/facts/redisson.md#lock-and-trylock).
    #[serde(default = "one_tick", skip_serializing_if = "is_one_tick")]
    pub ask_again_after: u8,
    /// For how long a waiter queues that has no limit of its own: its deadline is so much later than that of the one before it;
    /// `None`: the lock has no queue (Redisson: `fairLockWaitTimeout`; docs/facts/family.md#fair).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_wait: Option<u8>,
    /// How long one round of a call without a limit takes that takes several parts; then it gives back what it has taken, and begins
    /// anew (Redisson: 1,500 ms for each part; docs/facts/family.md#multi). `None`: the lock has no parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_wait: Option<u8>,
    /// By how much clocks may differ at the end of a lease, as a client allows for that has the lock on several masters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drift: u8,
    /// How far a clock jumps forward; backward if negative.
    #[serde(default, skip_serializing_if = "is_default")]
    pub jump: i8,
}

/// The clients. A client is a process; its threads are the holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// How many processes.
    pub count: u8,
    /// Threads of each.
    pub threads: u8,
    /// How many locks there are, each with a name of its own. With more than one, thread *t* of every client uses the lock with
    /// the name *t*.
    #[serde(default = "one_name", skip_serializing_if = "is_one_name")]
    pub names: u8,
    /// How often one thread may enter at once.
    pub max_holds: u8,
    /// How many acquires each client may start, its threads together; `None`: without bound.
    pub acquires: Option<u8>,
    /// Whether a holder may hold for ever. It changes nothing that can happen, only what must happen (liveness).
    #[serde(default)]
    pub hold_for_ever: bool,
    /// By which lock objects a client calls.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_objects: LockObjects,
    /// What an interrupt does to a waiter that is asleep.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted_wait: InterruptedWait,
    /// What a thread does whose call ends without the lock.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after_refusal: AfterRefusal,
    /// When a caller stops although it has not released.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stops_at: StopsAt,
    /// Which sides of a lock that has two they use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub role: ClientRole,
    /// Which parts of a lock that has two they take, and in which order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parts: PartOrder,
    /// Which values they name, of a lock over several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: ValueSet,
    /// How far their wall clocks are ahead of one that is right, of a lock whose scripts are told it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clock_ahead: u8,
}

/// What a thread does whose call ends without the lock: it is refused, its wait is over, or it is told of an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AfterRefusal {
    /// It goes on without the lock.
    #[default]
    Leave,
    /// If it has no hold, it asks whether it holds all the same (`isHeldByCurrentThread()`), and goes by the answer: some calls have taken
    /// the lock although they say that they have not (docs/facts/redisson.md#readonly-can-leave-an-orphan).
    AskIfHeld,
}

/// When a caller that holds stops although it has not released: whether it looks at its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopsAt {
    /// Never: it looks at no clock, as most callers do.
    #[default]
    Never,
    /// When its lease is over by its own clock, counted from when it asked for the grant, or sent the last renewal that succeeded.
    Validity,
}

/// By which lock objects a client calls. An object remembers the lease that it was last given
/// (docs/facts/redisson.md#explicit-lease).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LockObjects {
    /// Each call, and the release that ends it, has an object of its own: what one call names, no other one takes over.
    #[default]
    PerCall,
    /// All threads of the client share one. A call that names no lease takes over the one that another has named.
    Shared,
}

/// What an interrupt does to a waiter that is asleep: it depends on the method by which the application waits
/// (docs/facts/redisson.md#an-interrupted-wait).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedWait {
    /// It leaves with an exception (`lockInterruptibly()`, `tryLock(wait)`).
    #[default]
    Leave,
    /// The first interrupt of a sleep is swallowed, and the sleep begins anew; the second one ends the call with an exception
    /// (`lock()`).
    Swallow,
}

/// One master and its replicas, or several that are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Independent masters; each of them with its replicas is a group.
    #[serde(default = "one_group", skip_serializing_if = "is_one_group")]
    pub groups: u8,
    /// Replicas of each master.
    pub replicas: u8,
    /// How late a replica may apply an effect.
    pub lag: Bound,
    /// How a TTL travels to a replica.
    pub ttls: Ttls,
    /// Which replica a failover chooses.
    pub promote: PromoteRule,
    /// When the replicas that were not promoted leave the old master.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replicas_leave: ReplicasLeave,
    /// To which channels unlock messages are published; read where the slot of the lock is moved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub channels: Channels,
    /// The replicas that a partition leaves on their master's side.
    #[serde(default, skip_serializing_if = "NodeSet::is_empty")]
    pub cut_together: NodeSet,
    /// How long a failover may take, from the master's death until a replica has been promoted and every running client
    /// knows it.
    pub failover_within: Bound,
    /// Which of its data a node finds after a restart.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync: Fsync,
    /// With an fsync every second: how many ticks a write may wait until it is on the disk.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync_within: u8,
    /// How many ticks the rewrite of an AOF may take; 0: none. Until the rewrite that follows a full copy is over, the disk
    /// has the files of before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub aof_rewrite_within: u8,
    /// Whether nothing is synced to the disk while an AOF is rewritten (`no-appendfsync-on-rewrite`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_appendfsync_on_rewrite: bool,
    /// For how many ticks a master that is told to end waits for its replicas (`shutdown-timeout`); 0: not at all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shutdown_timeout: u8,
    /// For how long a master that hands over lets writes wait, before it gives up or is forced (`FAILOVER … TIMEOUT`).
    #[serde(default = "Bound::any", skip_serializing_if = "Bound::is_any")]
    pub hand_over_timeout: Bound,
    /// A dead node restarts after this many ticks at the earliest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub restart_after: u8,
    /// A master refuses writes unless this many replicas have reported to it lately (`min-replicas-to-write`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replicas: u8,
    /// How many ticks ago their last report may be (`min-replicas-max-lag`). Older traces have the unit in its name.
    #[serde(default, skip_serializing_if = "is_default", alias = "min_replicas_max_lag_ticks")]
    pub min_replicas_max_lag: u8,
    /// For how many ticks more a master may still count a replica whose last report is too old: it measures by whole seconds,
    /// and counts once a second (docs/facts/redis.md#min-replicas-in-real-time).
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replicas_slack: u8,
    /// How many replicas a client waits for (`WAIT`) before it believes a grant; 0: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait_for: u8,
    /// A client that learns of a new master waits this many ticks before it asks for the lock: leases that the failover may
    /// have lost are over by then (the lock delay of Chubby, Burrows 2006, §2.4; Consul's `lock-delay`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_delay: u8,
    /// A client that starts waits this many ticks before it first asks for the lock: it has no old master to compare with,
    /// so no [`lock_delay`](Self::lock_delay) begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_delay: u8,
    /// Which nodes a client may take for the master.
    #[serde(default, skip_serializing_if = "is_default")]
    pub discovery: Discovery,
}

/// Which nodes a client may take for the master (docs/facts/redis.md#a-client-that-starts-or-goes-back).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discovery {
    /// The newest: a client that has left an old master never goes back to it.
    #[default]
    NewMaster,
    /// Any that says it is master, for as long as it says so.
    AnyMaster,
}

/// When a node's writes reach its disk (docs/facts/redis.md#durability).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Fsync {
    /// Never: no AOF and no snapshot. The node restarts empty.
    #[default]
    #[serde(rename = "none")]
    None,
    /// No AOF, but snapshots now and then, the default of Redis: the node finds its last one, of any age.
    #[serde(rename = "snapshot")]
    Snapshot,
    /// Once a second: what was written since then may be lost ([`Cluster::fsync_within`]).
    #[serde(rename = "everysec")]
    EverySecond,
    /// Before the reply.
    #[serde(rename = "always")]
    Always,
}

/// An upper bound on a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At most this many ticks; 0: at once.
    Ticks(u8),
    /// No bound.
    Any,
}

impl Bound {
    /// No bound: the default of what only an operator ends.
    const fn any() -> Self {
        Self::Any
    }

    /// Whether there is no bound, and so none is written.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    const fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Whether there is no delay at all.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Ticks(0))
    }
}

/// How a TTL travels to a replica: it depends on the server's version (docs/facts/redis.md#ttls-on-the-link).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ttls {
    /// As the time at which the key expires: it means the same wherever it arrives (since Redis 7.0).
    Absolute,
    /// As the time that the key has left, counted from the arrival: a late replica expires it later (before 7.0).
    Relative,
}

/// Which replica a failover chooses (docs/facts/redis.md#choice-of-the-replica).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PromoteRule {
    /// Any that runs: what can happen when Sentinel's knowledge of the offsets is old.
    Any,
    /// One of those that lost the fewest effects.
    MostData,
    /// The first that runs: the lowest `replica-priority`, taken to be the order of the nodes.
    Priority,
    /// A hand-over waits until the replica has everything, and nobody writes meanwhile (`FAILOVER`). If the master is dead
    /// or cut off there is nothing to wait for, and any replica that runs may be chosen.
    Coordinated,
    /// The same with a time-out (`FAILOVER … FORCE TIMEOUT`): a replica that does not have everything by then is promoted with
    /// what it has, and the old master takes its data.
    Forced,
}

impl PromoteRule {
    /// Whether the master itself hands over, and is a replica as soon as its heir is the master.
    pub const fn is_by_the_master(self) -> bool {
        matches!(self, Self::Coordinated | Self::Forced)
    }

    /// Whether a master may be replaced while it runs: it is cut off, stands still or refuses writes, or an operator promotes a
    /// replica beside it.
    pub const fn replaces_running_masters(self, faults: &Faults) -> bool {
        let is_left = faults.hand_over > 0 && !self.is_by_the_master();
        is_left || faults.cut_link > 0 || faults.refuse_writes > 0 || faults.pause_node > 0
    }
}

/// When the replicas that were not promoted leave the old master (docs/facts/redis.md#who-follows-whom-after-a-promotion).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReplicasLeave {
    /// All at once, with the promotion; each follows the new master later.
    #[default]
    Together,
    /// Each when it is told of the new master. Until then it follows the old one, if that runs.
    OneByOne,
}

/// To which channels of a cluster unlock messages are published (docs/facts/cluster.md#subscriptions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Channels {
    /// To channels of all nodes (`PUBLISH`): a subscription outlives the move of a slot (Redisson 3.15, and each version on a server
    /// before Redis 7.0).
    #[default]
    Global,
    /// To channels of one slot (`SPUBLISH`; Redisson since 3.43 on Redis 7.0 or newer): the old master ends the subscriptions when the
    /// slot has moved, and waiters are not subscribed anew.
    Sharded,
}

/// The network model between clients and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Whether a request is one step or three.
    pub mode: NetworkMode,
    /// How late a message may be: an unlock message and, in a split network, a request and a reply.
    pub delay: MessageDelay,
}

impl Network {
    /// Whether an answer may come after its caller's timeout: the request may be late, and then the reply.
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
    /// It arrives before time passes.
    None,
    /// It arrives within this many ticks; 1 or more.
    Ticks(u8),
    /// It arrives after any time.
    Any,
}

impl MessageDelay {
    /// The age at which a message must arrive; `None`: there is no bound.
    pub const fn most(self) -> Option<u8> {
        match self {
            Self::None => Some(0),
            Self::Ticks(most) => Some(most),
            Self::Any => None,
        }
    }
}

/// What the lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// What it does with fencing tokens.
    pub fencing: Fencing,
    /// How late a write to it may arrive.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: WriteDelay,
    /// Which tokens it accepts, where they are stored in Redis.
    #[serde(default, skip_serializing_if = "is_default")]
    pub accepts: AcceptedTokens,
}

/// Which tokens a resource accepts that checks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AcceptedTokens {
    /// Those that are not older than the newest that it has seen (`>=`): a holder may write as often as it likes.
    #[default]
    EqualOrNewer,
    /// Those that are newer than all that it has seen (`>`): of one token it accepts one write.
    Newer,
}

/// How late a write to the resource may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WriteDelay {
    /// It arrives in the step in which it is sent.
    #[default]
    None,
    /// After any time, or never: it waits in a queue, a proxy or the kernel of a machine that stands still.
    Any,
}

/// What a resource does with fencing tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fencing {
    /// It looks at none: every effect is accepted.
    None,
    /// It refuses an effect that carries an older token than one it has seen. The tokens are ideal: they come from a counter
    /// that no fault touches. One in the same Redis could be lost in a failover like all else.
    Ideal,
    /// The same, and the tokens are those that the lock itself stores in Redis: they are replicated, lost and evicted like all
    /// else ([`Facts::tokens`](crate::locks::Facts::tokens)).
    Stored,
}

impl Resource {
    /// Whether it refuses stale effects.
    pub const fn is_fenced(self) -> bool {
        matches!(self.fencing, Fencing::Ideal | Fencing::Stored)
    }

    /// Whether it checks tokens that are stored in Redis.
    pub const fn is_fenced_by_stored(self) -> bool {
        matches!(self.fencing, Fencing::Stored)
    }

    /// Whether a write to it can be under way.
    pub const fn is_far(self) -> bool {
        matches!(self.delay, WriteDelay::Any)
    }
}
