//! What a search varies: the faults of a scenario, and common repairs.
//!
//! Each is written into the scenario's file, so that every result can be kept, read and run again. The reader of scenarios
//! refuses, with the reason, what a scenario cannot have.

use lockstep_model::config::Fault;

/// A fault or a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name; for a fault, the key of its budget.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
    /// What is written into the file; for a fault, besides its budget.
    pub(super) entries: &'static [SettingEntry],
}

impl Setting {
    /// How it is written in a scenario's file, one line for each key: `min_replicas = 1`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|SettingEntry { key, value, .. }| match value {
            SettingValue::Number(number) => format!("{key} = {number}"),
            SettingValue::Word(word) => format!("{key} = \"{word}\""),
            SettingValue::Flag(flag) => format!("{key} = {flag}"),
            SettingValue::LeaseAnd(more @ ..0) => format!("{key} = lease - {}", -more),
            SettingValue::LeaseAnd(more) => format!("{key} = lease + {more}"),
            SettingValue::LeaseAndSilence(more) => {
                format!("{key} = lease + min_replicas_max_lag + min_replicas_slack + {more}")
            }
            SettingValue::LeaseBy(part) => format!("{key} = lease / {part}"),
            SettingValue::Nothing => format!("no {key}"),
            SettingValue::Replicas => format!("{key} = replicas"),
        })
    }

    /// For a fault, the table of its budget.
    pub(super) fn table(&self) -> &'static str {
        if *self == LATENESS { "network" } else { "faults" }
    }
}

/// A key and what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettingEntry {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    pub(super) value: SettingValue,
    /// Whether a value that the file has already is kept.
    pub(super) is_default: bool,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingValue {
    Number(i64),
    Word(&'static str),
    Flag(bool),
    /// So many ticks more than the lease; negative: less.
    LeaseAnd(i64),
    /// So many ticks more than the lease and the longest silence of a replica that a master may still count.
    LeaseAndSilence(i64),
    /// This part of the lease; at least 1 tick.
    LeaseBy(i64),
    /// Nothing: the key is removed.
    Nothing,
    /// The number of replicas; at least 1, which a scenario without replicas refuses.
    Replicas,
}

const fn set(table: &'static str, key: &'static str, value: SettingValue) -> SettingEntry {
    SettingEntry { table, key, value, is_default: false }
}

/// The faults: `[faults] NAME = 1`; and lateness, whose budget is in ticks. Not a slot that is moved: beside it a thread that is refused and
/// asks again counts one hold more each time, without end, so that worlds without `acquires` would be inconclusive.
pub const FAULTS: &[Setting] = &[
    fault(Fault::CrashClient),
    fault(Fault::CrashThread),
    fault(Fault::PauseClient),
    START_CLIENT,
    fault(Fault::CrashNode),
    fault(Fault::LoseMessage),
    fault(Fault::ForeignRelease),
    fault(Fault::ForceRelease),
    fault(Fault::RestartNode),
    KILL_NODE,
    SHUTDOWN_NODE,
    CUT_LINK,
    PAUSE_NODE,
    fault(Fault::VanishKey),
    BREAK_LINK,
    PERSIST_KEY,
    fault(Fault::OverwriteKey),
    VANISH_RECEIPTS,
    VANISH_TOKEN,
    Setting { entries: &[JUMP], ..fault(Fault::ClockJump) },
    Setting { entries: &[JUMP], ..fault(Fault::ClientClockJump) },
    fault(Fault::LoseRequest),
    fault(Fault::LoseReply),
    fault(Fault::Interrupt),
    HAND_OVER,
    REFUSE_WRITES,
    LATENESS,
    fault(Fault::LoseAsk),
    fault(Fault::SlowReply),
    fault(Fault::LateAsk),
];

/// A node that stands still: in a split network every request may wait in it, and worlds become very large.
pub const PAUSE_NODE: Setting = fault(Fault::PauseNode);

/// A master refuses every write for a while.
pub const REFUSE_WRITES: Setting = fault(Fault::RefuseWrites);

/// The lock's key loses its TTL.
pub const PERSIST_KEY: Setting = fault(Fault::PersistKey);

/// A master drops its release receipts.
pub const VANISH_RECEIPTS: Setting = fault(Fault::VanishReceipts);

/// A master drops the counter of fencing tokens.
pub const VANISH_TOKEN: Setting = fault(Fault::VanishToken);

/// The link of a replica to its master breaks.
pub const BREAK_LINK: Setting = fault(Fault::BreakLink);

/// A node is cut off from the others.
pub const CUT_LINK: Setting = fault(Fault::CutLink);

/// A master hands over to a replica.
pub const HAND_OVER: Setting = fault(Fault::HandOver);

/// A process of a node is killed.
pub const KILL_NODE: Setting = fault(Fault::KillNode);

/// A node is told to end.
pub const SHUTDOWN_NODE: Setting = fault(Fault::ShutdownNode);

/// A client starts late.
pub const START_CLIENT: Setting = fault(Fault::StartClient);

/// As with any budget, more of it allows more: every history of a faster network is also a history of this one.
pub const LATENESS: Setting =
    Setting { name: "delay", sentence: "every request and reply may be late by a tick", entries: &[] };

/// How far clocks jump if the file does not say it.
const JUMP: SettingEntry =
    SettingEntry { table: "time", key: "jump", value: SettingValue::Number(1), is_default: true };

/// A key of the file that only matters to some faults: without any of them the reader of scenarios refuses it.
pub(super) struct Idle {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    /// The one word that is refused; `None`: any.
    pub(super) word: Option<&'static str>,
    /// The faults that need it.
    pub(super) faults: &'static [&'static str],
}

/// Every key of this kind.
pub(super) const IDLE: &[Idle] = &[
    Idle { table: "cluster", key: "fsync", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "fsync_within", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "aof_rewrite_within", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "no_appendfsync_on_rewrite", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "shutdown_timeout", word: None, faults: &["shutdown_node"] },
    Idle { table: "cluster", key: "hand_over_timeout", word: None, faults: &["hand_over"] },
    Idle { table: "cluster", key: "restart_after", word: None, faults: &["restart_node"] },
    Idle {
        table: "cluster",
        key: "lock_delay",
        word: None,
        faults: &["crash_node", "kill_node", "shutdown_node", "cut_link", "pause_node", "hand_over", "refuse_writes"],
    },
    Idle { table: "cluster", key: "start_delay", word: None, faults: &["start_client"] },
    Idle {
        table: "cluster",
        key: "discovery",
        word: Some("any-master"),
        faults: &["cut_link", "pause_node", "restart_node", "hand_over", "refuse_writes"],
    },
    Idle { table: "cluster", key: "promote", word: Some("coordinated"), faults: &["hand_over"] },
    Idle { table: "cluster", key: "promote", word: Some("forced"), faults: &["hand_over"] },
    Idle {
        table: "cluster",
        key: "replicas_leave",
        word: None,
        faults: &["cut_link", "pause_node", "hand_over", "refuse_writes"],
    },
    Idle { table: "cluster", key: "cut_together", word: None, faults: &["cut_link"] },
    Idle { table: "time", key: "jump", word: None, faults: &["clock_jump", "client_clock_jump"] },
    Idle { table: "protocol", key: "interrupted_acquire", word: None, faults: &["interrupt"] },
    Idle { table: "protocol", key: "interrupted_waiter", word: None, faults: &["interrupt"] },
];

/// What keeps a lease from ending before the code that it guards.
pub const WATCHDOG: Setting = Setting {
    name: "watchdog",
    sentence: "a watchdog renews the lease at each third of it while a client holds the lock",
    entries: &[SettingEntry { table: "time", key: "renew_every", value: SettingValue::LeaseBy(3), is_default: true }],
};

/// The repairs.
pub const REPAIRS: &[Setting] = &[
    Setting {
        name: "fencing",
        sentence: "the resource rejects a token older than one it has seen; the tokens are ideal: their counter is outside this \
                   Redis, and no fault touches it",
        entries: &[set("resource", "fencing", SettingValue::Word("ideal"))],
    },
    Setting {
        name: "synchronous-replication",
        sentence: "no write is answered before every replica has it",
        entries: &[set("cluster", "lag", SettingValue::Number(0))],
    },
    Setting {
        name: "coordinated-failover",
        sentence: "a hand-over waits until the replica has all data, and gives up in less than a tick (FAILOVER … TIMEOUT)",
        entries: &[
            set("cluster", "promote", SettingValue::Word("coordinated")),
            set("cluster", "hand_over_timeout", SettingValue::Number(0)),
        ],
    },
    Setting {
        name: "fast-failover",
        sentence: "a replica takes over, and every client knows it, before time moves",
        entries: &[set("cluster", "failover_within", SettingValue::Number(0))],
    },
    Setting {
        name: "min-replicas",
        sentence: "a master that hears of no replica refuses writes (min-replicas-to-write 1)",
        entries: &[set("cluster", "min_replicas", SettingValue::Number(1))],
    },
    Setting {
        name: "every-replica-is-needed-to-write",
        sentence: "a master that does not hear of all its replicas refuses writes (min-replicas-to-write)",
        entries: &[set("cluster", "min_replicas", SettingValue::Replicas)],
    },
    Setting {
        name: "wait-for-all",
        sentence: "a grant counts only when every replica acknowledged it, and is released otherwise (WAIT)",
        entries: &[
            set("cluster", "wait_for", SettingValue::Replicas),
            set("protocol", "wait_rule", SettingValue::Word("all")),
        ],
    },
    Setting {
        name: "wait-for-any",
        sentence: "a grant counts only when one replica acknowledged it, if the client knows of any (Redisson's WAIT)",
        entries: &[
            set("cluster", "wait_for", SettingValue::Number(1)),
            set("protocol", "wait_rule", SettingValue::Word("any")),
        ],
    },
    Setting {
        name: "fsync-always",
        sentence: "a node that restarts has every write that it answered (appendfsync always)",
        entries: &[set("cluster", "fsync", SettingValue::Word("always"))],
    },
    Setting {
        name: "fsync-everysec",
        sentence: "a node that restarts lacks at most the last second, or two beside a slow disk (appendfsync everysec)",
        entries: &[set("cluster", "fsync", SettingValue::Word("everysec"))],
    },
    Setting {
        name: "snapshots",
        sentence: "a node that restarts has its last snapshot, of any age (the default of Redis)",
        entries: &[set("cluster", "fsync", SettingValue::Word("snapshot"))],
    },
    Setting {
        name: "shutdown-timeout",
        sentence: "a master that is told to end waits for its replicas for longer than the longest lease (shutdown-timeout)",
        entries: &[set("cluster", "shutdown_timeout", SettingValue::LeaseAnd(1))],
    },
    Setting {
        name: "delayed-restart",
        sentence: "a crashed node stays down for longer than the longest lease",
        entries: &[set("cluster", "restart_after", SettingValue::LeaseAnd(1))],
    },
    Setting {
        name: "lock-delay",
        sentence: "a client that learns of a new master waits for the longest lease before it asks",
        entries: &[set("cluster", "lock_delay", SettingValue::LeaseAnd(1))],
    },
    Setting {
        name: "min-replicas-and-lock-delay",
        sentence: "both, and the delay covers the time in which an old master still writes",
        entries: &[
            set("cluster", "min_replicas", SettingValue::Number(1)),
            // Until then an old master may have granted the lock: a lease begins at the latest when it counts no replica.
            set("cluster", "lock_delay", SettingValue::LeaseAndSilence(1)),
        ],
    },
    Setting {
        name: "start-delay",
        sentence: "a client that starts connects, and waits for the longest lease before it asks",
        entries: &[set("cluster", "start_delay", SettingValue::LeaseAnd(1))],
    },
    Setting {
        name: "lock-delay-and-start-delay",
        sentence: "a lock delay and a start delay, each longer than the longest lease",
        entries: &[
            set("cluster", "lock_delay", SettingValue::LeaseAnd(1)),
            set("cluster", "start_delay", SettingValue::LeaseAnd(1)),
        ],
    },
    Setting {
        name: "newest-master-only",
        sentence: "a client that has left an old master never goes back to it",
        entries: &[set("cluster", "discovery", SettingValue::Word("new-master"))],
    },
    WATCHDOG,
    // At the instant at which the lease is due the key may be gone already: docs/facts/redis.md#ties.
    Setting {
        name: "hold-shorter-than-the-lease",
        sentence: "the code that the lock guards ends a tick before the longest lease, at the latest",
        entries: &[set("time", "hold_at_most", SettingValue::LeaseAnd(-1))],
    },
    Setting {
        name: "hold-less-than-the-lease",
        sentence: "a client stops its work, and releases, before the lease that it was granted can end",
        entries: &[set("time", "hold_at_most", SettingValue::LeaseBy(2))],
    },
    Setting {
        name: "looks-at-its-clock",
        sentence: "a caller stops, and releases, when its lease is over by its own clock",
        entries: &[set("clients", "stops_at", SettingValue::Word("validity"))],
    },
    Setting {
        name: "explicit-lease",
        sentence: "the caller sets the lease, and no watchdog renews it",
        // The keys of the watchdog go with it: the reader refuses keys without effect.
        entries: &[
            set("time", "renew_every", SettingValue::Nothing),
            set("protocol", "renewal_timer", SettingValue::Nothing),
            set("bounds", "renewal_timers", SettingValue::Nothing),
            set("protocol", "missed_renewal", SettingValue::Nothing),
            set("protocol", "failed_renewal", SettingValue::Nothing),
            set("protocol", "partial_release", SettingValue::Nothing),
            set("protocol", "remembered_lease", SettingValue::Nothing),
            set("protocol", "refused_lease", SettingValue::Nothing),
            set("clients", "lock_objects", SettingValue::Nothing),
            set("time", "named_lease", SettingValue::Nothing),
            set("protocol", "registration", SettingValue::Nothing),
            set("protocol", "stale_renewal", SettingValue::Nothing),
        ],
    },
    Setting {
        name: "told-holder",
        sentence: "a holder whose renewal finds the lock gone is notified",
        entries: &[set("protocol", "missed_renewal", SettingValue::Word("tell-holder"))],
    },
    Setting {
        name: "one-lease",
        sentence: "a call inside another one names no lease of its own",
        entries: &[set("time", "reentry_lease", SettingValue::Nothing)],
    },
    Setting {
        name: "interruptible-waits",
        sentence: "an application waits by lockInterruptibly() or with a limit: an interrupt ends its wait",
        entries: &[set("clients", "interrupted_wait", SettingValue::Nothing)],
    },
    Setting {
        name: "own-lock-objects",
        sentence: "each call has a lock object of its own, and no object is shared by threads",
        entries: &[
            set("clients", "lock_objects", SettingValue::Nothing),
            set("protocol", "remembered_lease", SettingValue::Nothing),
            set("protocol", "refused_lease", SettingValue::Nothing),
        ],
    },
    Setting {
        name: "subscribe-to-the-master",
        sentence: "a waiter subscribes on the master (Redisson: subscriptionMode = MASTER, the default)",
        entries: &[set("protocol", "subscribe_to", SettingValue::Nothing)],
    },
    Setting {
        name: "wait-limit",
        sentence: "a client waits for the longest lease at most, and then leaves without the lock (tryLock)",
        entries: &[SettingEntry {
            table: "time",
            key: "wait_limit",
            value: SettingValue::LeaseAnd(1),
            is_default: true,
        }],
    },
    // For split networks; for others the reader refuses them. Source: docs/facts/redisson.md#release-receipt, #resending, #renewal-entry.
    Setting {
        name: "receipts",
        sentence: "a release leaves a receipt, and is sent again under the same id (Redisson since 3.52)",
        entries: &[RECEIPTS, ONE_ID],
    },
    Setting {
        name: "receipts-with-an-id-per-try",
        sentence: "the same, but sent again it has another id (Redisson before 3.52)",
        entries: &[RECEIPTS, set("protocol", "request_id", SettingValue::Word("per-try"))],
    },
    Setting {
        name: "resend-releases",
        sentence: "releases and renewals are sent again, acquires are not",
        entries: &[RESEND_RELEASES],
    },
    Setting {
        name: "receipts-and-resend-releases",
        sentence: "receipts, and no acquire is sent again",
        entries: &[RECEIPTS, ONE_ID, RESEND_RELEASES],
    },
    Setting {
        name: "resend-nothing",
        sentence: "nothing is sent again: a caller without an answer gets an error at once (Redisson in single-server mode)",
        entries: &[
            set("protocol", "resend", SettingValue::Word("none")),
            set("protocol", "retry_attempts", SettingValue::Nothing),
        ],
    },
    Setting {
        name: "resend-all",
        sentence: "acquires are sent again as well (Redisson outside single-server mode)",
        entries: &[set("protocol", "resend", SettingValue::Word("all"))],
    },
    Setting {
        name: "interrupted-acquire-released",
        sentence: "a grant whose caller was interrupted is released when its answer arrives (Redisson's lockAsync)",
        entries: &[set("protocol", "interrupted_acquire", SettingValue::Word("release"))],
    },
    Setting {
        name: "registration-before-the-answer",
        sentence: "a hold is in the renewal table before its thread receives the answer",
        entries: &[REGISTERED_FIRST],
    },
    Setting {
        name: "stale-renewals-ignored",
        sentence: "the answer to a renewal does not affect a hold that was registered after the renewal was sent",
        entries: &[STALE_IGNORED],
    },
    Setting { name: "registration-and-stale-renewals", sentence: "both", entries: &[REGISTERED_FIRST, STALE_IGNORED] },
];

const RECEIPTS: SettingEntry = set("protocol", "receipts", SettingValue::Flag(true));
const ONE_ID: SettingEntry = set("protocol", "request_id", SettingValue::Word("per-release"));
const RESEND_RELEASES: SettingEntry = set("protocol", "resend", SettingValue::Word("release"));
const REGISTERED_FIRST: SettingEntry = set("protocol", "registration", SettingValue::Word("before-answer"));
const STALE_IGNORED: SettingEntry = set("protocol", "stale_renewal", SettingValue::Word("ignore"));

const fn fault(fault: Fault) -> Setting {
    Setting { name: fault.name(), sentence: fault.sentence(), entries: &[] }
}
