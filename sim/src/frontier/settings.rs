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
            SettingValue::LeaseAnd(more) => format!("{key} = lease + {more}"),
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
    /// So many ticks more than the lease.
    LeaseAnd(i64),
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

/// The faults: `[faults] NAME = 1`; and lateness, whose budget is in ticks.
pub const FAULTS: &[Setting] = &[
    fault(Fault::CrashClient),
    fault(Fault::CrashThread),
    fault(Fault::PauseClient),
    fault(Fault::CrashNode),
    fault(Fault::LoseMessage),
    fault(Fault::ForeignRelease),
    fault(Fault::ForceRelease),
    fault(Fault::RestartNode),
    fault(Fault::CutLink),
    PAUSE_NODE,
    fault(Fault::VanishKey),
    Setting { entries: &[JUMP], ..fault(Fault::ClockJump) },
    Setting { entries: &[JUMP], ..fault(Fault::ClientClockJump) },
    fault(Fault::LoseRequest),
    fault(Fault::LoseReply),
    fault(Fault::Interrupt),
    fault(Fault::HandOver),
    LATENESS,
];

/// A node that stands still: in a split network every request may wait in it, and worlds become very large.
pub const PAUSE_NODE: Setting = fault(Fault::PauseNode);

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
    Idle { table: "cluster", key: "restart_after", word: None, faults: &["restart_node"] },
    Idle {
        table: "cluster",
        key: "lock_delay",
        word: None,
        faults: &["crash_node", "cut_link", "pause_node", "hand_over"],
    },
    Idle { table: "cluster", key: "promote", word: Some("coordinated"), faults: &["hand_over"] },
    Idle { table: "time", key: "jump", word: None, faults: &["clock_jump", "client_clock_jump"] },
    Idle { table: "protocol", key: "interrupted_acquire", word: None, faults: &["interrupt"] },
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
        sentence: "the resource rejects a token older than one it has seen; the tokens are ideal: no fault touches their counter",
        entries: &[set("resource", "fencing", SettingValue::Word("ideal"))],
    },
    Setting {
        name: "synchronous-replication",
        sentence: "no write is answered before every replica has it",
        entries: &[set("cluster", "lag", SettingValue::Number(0))],
    },
    Setting {
        name: "coordinated-failover",
        sentence: "a hand-over waits until the replica has all data (FAILOVER)",
        entries: &[set("cluster", "promote", SettingValue::Word("coordinated"))],
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
        sentence: "a node that restarts lacks at most the last second (appendfsync everysec)",
        entries: &[set("cluster", "fsync", SettingValue::Word("everysec"))],
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
        sentence: "both",
        entries: &[
            set("cluster", "min_replicas", SettingValue::Number(1)),
            set("cluster", "lock_delay", SettingValue::LeaseAnd(1)),
        ],
    },
    WATCHDOG,
    Setting {
        name: "explicit-lease",
        sentence: "the caller sets the lease, and no watchdog renews it",
        // The keys of the watchdog go with it: the reader refuses keys without effect.
        entries: &[
            set("time", "renew_every", SettingValue::Nothing),
            set("protocol", "renewal_timer", SettingValue::Nothing),
            set("protocol", "missed_renewal", SettingValue::Nothing),
            set("protocol", "failed_renewal", SettingValue::Nothing),
            set("protocol", "registration", SettingValue::Nothing),
            set("protocol", "stale_renewal", SettingValue::Nothing),
        ],
    },
    Setting {
        name: "told-holder",
        sentence: "a holder whose renewal finds the lock gone is notified",
        entries: &[set("protocol", "missed_renewal", SettingValue::Word("tell-holder"))],
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
