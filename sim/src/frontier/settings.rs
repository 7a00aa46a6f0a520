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
    pub(super) entries: &'static [Entry],
}

impl Setting {
    /// How it is written in a scenario's file, one line for each key: `min_replicas = 1`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|Entry { key, value, .. }| match value {
            Value::Number(number) => format!("{key} = {number}"),
            Value::Word(word) => format!("{key} = \"{word}\""),
            Value::Flag(flag) => format!("{key} = {flag}"),
            Value::LeaseAnd(more) => format!("{key} = lease + {more}"),
            Value::LeaseBy(part) => format!("{key} = lease / {part}"),
            Value::Nothing => format!("no {key}"),
            Value::Replicas => format!("{key} = replicas"),
        })
    }

    /// For a fault, the table of its budget.
    pub(super) fn table(&self) -> &'static str {
        if *self == LATENESS { "network" } else { "faults" }
    }
}

/// A key and what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    pub(super) value: Value,
    /// Whether a value that the file has already is kept.
    pub(super) is_default: bool,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
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

const fn set(table: &'static str, key: &'static str, value: Value) -> Entry {
    Entry { table, key, value, is_default: false }
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
    fault(Fault::VanishKey),
    Setting { entries: &[JUMP], ..fault(Fault::ClockJump) },
    Setting { entries: &[JUMP], ..fault(Fault::ClientClockJump) },
    fault(Fault::LoseRequest),
    fault(Fault::LoseReply),
    fault(Fault::Interrupt),
    fault(Fault::HandOver),
    LATENESS,
];

/// As with any budget, more of it allows more: every history of a faster network is also a history of this one.
pub const LATENESS: Setting =
    Setting { name: "delay", sentence: "every request and reply may be late by a tick", entries: &[] };

/// How far clocks jump if the file does not say it.
const JUMP: Entry = Entry { table: "time", key: "jump", value: Value::Number(1), is_default: true };

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
    Idle { table: "cluster", key: "restart_after", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "lock_delay", word: None, faults: &["crash_node", "cut_link", "hand_over"] },
    Idle { table: "cluster", key: "promote", word: Some("coordinated"), faults: &["hand_over"] },
    Idle { table: "time", key: "jump", word: None, faults: &["clock_jump", "client_clock_jump"] },
    Idle { table: "protocol", key: "interrupted_acquire", word: None, faults: &["interrupt"] },
];

/// The repairs.
pub const REPAIRS: &[Setting] = &[
    Setting {
        name: "fencing",
        sentence: "the resource rejects a token older than one it has seen",
        entries: &[set("resource", "fenced", Value::Flag(true))],
    },
    Setting {
        name: "synchronous-replication",
        sentence: "no write is answered before every replica has it",
        entries: &[set("cluster", "lag", Value::Number(0))],
    },
    Setting {
        name: "coordinated-failover",
        sentence: "a hand-over waits until the replica has all data (FAILOVER)",
        entries: &[set("cluster", "promote", Value::Word("coordinated"))],
    },
    Setting {
        name: "fast-failover",
        sentence: "a replica takes over, and every client knows it, before time moves",
        entries: &[set("cluster", "failover_within", Value::Number(0))],
    },
    Setting {
        name: "min-replicas",
        sentence: "a master that hears of no replica refuses writes (min-replicas-to-write 1)",
        entries: &[set("cluster", "min_replicas", Value::Number(1))],
    },
    Setting {
        name: "wait-for-all",
        sentence: "a grant counts only when every replica acknowledged it, and is released otherwise (WAIT)",
        entries: &[set("cluster", "wait_for", Value::Replicas), set("protocol", "wait_rule", Value::Word("all"))],
    },
    Setting {
        name: "wait-for-any",
        sentence: "a grant counts only when one replica acknowledged it, if the client knows of any (Redisson's WAIT)",
        entries: &[set("cluster", "wait_for", Value::Number(1)), set("protocol", "wait_rule", Value::Word("any"))],
    },
    Setting {
        name: "fsync-always",
        sentence: "a node that restarts has every write that it answered (appendfsync always)",
        entries: &[set("cluster", "fsync", Value::Word("always"))],
    },
    Setting {
        name: "fsync-everysec",
        sentence: "a node that restarts lacks at most the last second (appendfsync everysec)",
        entries: &[set("cluster", "fsync", Value::Word("everysec"))],
    },
    Setting {
        name: "delayed-restart",
        sentence: "a crashed node stays down for longer than the longest lease",
        entries: &[set("cluster", "restart_after", Value::LeaseAnd(1))],
    },
    Setting {
        name: "lock-delay",
        sentence: "a client that learns of a new master waits for the longest lease before it asks",
        entries: &[set("cluster", "lock_delay", Value::LeaseAnd(1))],
    },
    Setting {
        name: "min-replicas-and-lock-delay",
        sentence: "both",
        entries: &[set("cluster", "min_replicas", Value::Number(1)), set("cluster", "lock_delay", Value::LeaseAnd(1))],
    },
    Setting {
        name: "watchdog",
        sentence: "a watchdog renews the lease at each third of it while a client holds the lock",
        entries: &[Entry { table: "time", key: "renew_every", value: Value::LeaseBy(3), is_default: true }],
    },
    Setting {
        name: "explicit-lease",
        sentence: "the caller sets the lease, and no watchdog renews it",
        // The keys of the watchdog go with it: the reader refuses keys without effect.
        entries: &[
            set("time", "renew_every", Value::Nothing),
            set("protocol", "renewal_timer", Value::Nothing),
            set("protocol", "missed_renewal", Value::Nothing),
            set("protocol", "failed_renewal", Value::Nothing),
            set("protocol", "registration", Value::Nothing),
            set("protocol", "stale_renewal", Value::Nothing),
        ],
    },
    Setting {
        name: "told-holder",
        sentence: "a holder whose renewal finds the lock gone is notified",
        entries: &[set("protocol", "missed_renewal", Value::Word("tell-holder"))],
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
        entries: &[RECEIPTS, set("protocol", "request_id", Value::Word("per-try"))],
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
        entries: &[set("protocol", "resend", Value::Word("none")), set("protocol", "retry_attempts", Value::Nothing)],
    },
    Setting {
        name: "resend-all",
        sentence: "acquires are sent again as well (Redisson outside single-server mode)",
        entries: &[set("protocol", "resend", Value::Word("all"))],
    },
    Setting {
        name: "interrupted-acquire-released",
        sentence: "a grant whose caller was interrupted is released when its answer arrives (Redisson's lockAsync)",
        entries: &[set("protocol", "interrupted_acquire", Value::Word("release"))],
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

const RECEIPTS: Entry = set("protocol", "receipts", Value::Flag(true));
const ONE_ID: Entry = set("protocol", "request_id", Value::Word("per-release"));
const RESEND_RELEASES: Entry = set("protocol", "resend", Value::Word("release"));
const REGISTERED_FIRST: Entry = set("protocol", "registration", Value::Word("before-answer"));
const STALE_IGNORED: Entry = set("protocol", "stale_renewal", Value::Word("ignore"));

const fn fault(fault: Fault) -> Setting {
    Setting { name: fault.name(), sentence: fault.sentence(), entries: &[] }
}
