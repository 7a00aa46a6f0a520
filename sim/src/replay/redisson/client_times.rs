//! How a client of Redisson is set up: how long it waits for what, how often it tries, and what it does about replicas.

/// How a client of Redisson reaches its server. The TTL of a release receipt is the time for all attempts
/// (docs/facts/redisson.md#receipt-ttl).
#[derive(Clone, Copy, Debug)]
pub struct ClientTimes {
    /// The lease that its watchdog renews.
    pub watchdog_ms: i64,
    /// How many locks one script renews; `None`: as many as Redisson does by itself.
    pub renewal_batch: Option<u8>,
    /// For how long a waiter without a limit queues; 0: as long as with Redisson by itself.
    pub queue_wait_ms: u64,
    /// How long a command waits for its reply.
    pub answer_within_ms: u32,
    /// How often it is sent again.
    pub attempts: u32,
    /// After how long it is sent again.
    pub delay_ms: u32,
    /// How many requests can be under way at once.
    pub connections: u32,
    /// What it does about replicas; `None`: it knows of a single server.
    pub sync: Option<ReplicaSync>,
}

/// How a client waits for the replicas of its master (docs/facts/redisson.md#replica-check).
#[derive(Clone, Copy, Debug)]
pub struct ReplicaSync {
    /// For how long.
    pub within_ms: u32,
    /// What it does about their number.
    pub check: ReplicaCheck,
    /// The server on which it subscribes, if that is a replica.
    pub messages_from: Option<usize>,
    /// Who tells it where the master is.
    pub told_by: ToldBy,
}

/// Who tells a client where the master is when it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToldBy {
    /// Its own settings.
    #[default]
    Settings,
    /// The nodes of a cluster.
    Cluster,
    /// A sentinel.
    Sentinel {
        /// The port of the master that it tells.
        announced: u16,
        /// The sentinel, in the order of the gate's entrances.
        sentinel: usize,
    },
}

impl ReplicaSync {
    /// For how long: shorter than half a tick, with a command that is not answered before it.
    const WITHIN_MS: u32 = 50;

    /// Its wait for replicas, with this check of their number.
    pub const fn with(check: ReplicaCheck) -> Self {
        Self { within_ms: Self::WITHIN_MS, check, messages_from: None, told_by: ToldBy::Settings }
    }
}

/// What a client does about the number of replicas that have its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaCheck {
    /// A call fails that no replica has acknowledged.
    Checked,
    /// It waits, and does not look at the number.
    Unchecked,
    /// There are none, and its master keeps its place. Unlike a single server's client it sends every request again
    /// (docs/facts/redisson.md#resending).
    Alone,
}

impl ReplicaCheck {
    /// The word for it in the driver's commands.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Unchecked => "unchecked",
            Self::Alone => "alone",
        }
    }
}

impl ClientTimes {
    /// Longer than any history: how long a client waits for a reply that is late. Redisson reckons the time for all attempts in 31 bits.
    pub const LATE_REPLY_MS: u32 = 500_000_000;
    const ATTEMPTS: u32 = 4;
    const DELAY_MS: u32 = 2_000;
    /// How long the receipts of such a client live: the time for all attempts (docs/facts/redisson.md#receipt-ttl).
    pub const RECEIPT_BESIDE_LATE_REPLIES_MS: u64 =
        Self::ATTEMPTS as u64 * (Self::LATE_REPLY_MS as u64 + Self::DELAY_MS as u64);

    /// Redisson's defaults, but for one connection: then its requests have one order.
    pub const fn default_with(watchdog_ms: i64) -> Self {
        Self {
            watchdog_ms,
            renewal_batch: None,
            queue_wait_ms: 0,
            answer_within_ms: 3_000,
            attempts: Self::ATTEMPTS,
            delay_ms: Self::DELAY_MS,
            connections: 1,
            sync: None,
        }
    }
}
