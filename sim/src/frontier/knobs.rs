//! What may be turned: the faults of a scenario, and the repairs that people reach for.
//!
//! Each is what one writes into the scenario's file, so that whatever is found can be written down, read and run by
//! anybody. What does not go together with a scenario, its reader refuses with the reason.

/// Something that may be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name: of a fault the key of its budget.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
    /// What is written; of a fault beside its budget.
    pub(super) settings: &'static [Setting],
}

impl Knob {
    /// How it is written in a scenario's file: `min_replicas = 1`, one line a key.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.settings.iter().map(|Setting { key, value, .. }| match value {
            Value::Number(number) => format!("{key} = {number}"),
            Value::Word(word) => format!("{key} = \"{word}\""),
            Value::Flag(flag) => format!("{key} = {flag}"),
            Value::LeaseAnd(more) => format!("{key} = lease + {more}"),
            Value::Nothing => format!("no {key}"),
            Value::Replicas => format!("{key} = replicas"),
        })
    }

    /// Of a fault the table that its budget is written in.
    pub(super) fn table(&self) -> &'static str {
        if *self == LATENESS { "network" } else { "faults" }
    }
}

/// A key and what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    pub(super) value: Value,
    /// Whether what the file says already stays.
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
    /// Nothing: the key is taken out.
    Nothing,
    /// As many as there are replicas; at least 1, which a world without any refuses.
    Replicas,
}

const fn set(table: &'static str, key: &'static str, value: Value) -> Setting {
    Setting { table, key, value, is_default: false }
}

/// The faults, in the order of the design page: `[faults] NAME = 1`; and lateness, whose budget are ticks.
pub const FAULTS: &[Knob] = &[
    fault("crash_client", "a client crashes"),
    fault("crash_thread", "a thread that holds dies, its process lives"),
    fault("pause_client", "a client stands still for a while"),
    fault("crash_node", "a node dies"),
    fault("lose_message", "an unlock message is lost"),
    fault("foreign_release", "somebody releases without holding"),
    fault("force_release", "somebody deletes the lock"),
    fault("restart_node", "a dead node comes back"),
    fault("cut_link", "a node is cut off from the others"),
    fault("vanish_key", "the key vanishes without a word"),
    Knob { name: "clock_jump", sentence: "a node's clock jumps", settings: &[JUMP] },
    Knob { name: "client_clock_jump", sentence: "a client's wall clock jumps", settings: &[JUMP] },
    fault("lose_request", "a request is lost"),
    fault("lose_reply", "a reply is lost"),
    fault("interrupt", "a thread is interrupted"),
    fault("hand_over", "a replica is made the master while the master runs"),
    LATENESS,
];

/// As with any budget, more of it allows more: every history of a network that is faster is one of this one.
pub const LATENESS: Knob = fault("delay", "every request and reply may be late, by a tick");

/// How far clocks jump where the file does not say.
const JUMP: Setting = Setting { table: "time", key: "jump", value: Value::Number(1), is_default: true };

/// A key of the file that only matters to some faults: without any of them the scenario's reader refuses it.
pub(super) struct Idle {
    pub(super) table: &'static str,
    pub(super) key: &'static str,
    /// The one word that is refused; `None`: whatever it says.
    pub(super) word: Option<&'static str>,
    /// What it is for.
    pub(super) faults: &'static [&'static str],
}

/// Every one.
pub(super) const IDLE: &[Idle] = &[
    Idle { table: "cluster", key: "fsync", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "restart_after", word: None, faults: &["restart_node"] },
    Idle { table: "cluster", key: "lock_delay", word: None, faults: &["crash_node", "cut_link", "hand_over"] },
    Idle { table: "cluster", key: "promote", word: Some("coordinated"), faults: &["hand_over"] },
    Idle { table: "time", key: "jump", word: None, faults: &["clock_jump", "client_clock_jump"] },
    Idle { table: "protocol", key: "interrupted_acquire", word: None, faults: &["interrupt"] },
];

/// The repairs.
pub const REPAIRS: &[Knob] = &[
    Knob {
        name: "fencing",
        sentence: "the resource refuses a token older than one it has seen",
        settings: &[set("resource", "fenced", Value::Flag(true))],
    },
    Knob {
        name: "synchronous-replication",
        sentence: "no write is answered before every replica has it",
        settings: &[set("cluster", "lag", Value::Number(0))],
    },
    Knob {
        name: "coordinated-failover",
        sentence: "who hands over waits until the replica has everything (FAILOVER)",
        settings: &[set("cluster", "promote", Value::Word("coordinated"))],
    },
    Knob {
        name: "fast-failover",
        sentence: "a replica takes over, and everybody knows, before time moves",
        settings: &[set("cluster", "failover_within", Value::Number(0))],
    },
    Knob {
        name: "min-replicas",
        sentence: "a master that hears of no replica does not write (min-replicas-to-write 1)",
        settings: &[set("cluster", "min_replicas", Value::Number(1))],
    },
    Knob {
        name: "wait-for-all",
        sentence: "a grant is believed when every replica acknowledged it, and given back if not (WAIT)",
        settings: &[set("cluster", "wait_for", Value::Replicas), set("protocol", "wait_rule", Value::Word("all"))],
    },
    Knob {
        name: "wait-for-any",
        sentence: "a grant is believed when one replica acknowledged it, if the client knows of any (Redisson's WAIT)",
        settings: &[set("cluster", "wait_for", Value::Number(1)), set("protocol", "wait_rule", Value::Word("any"))],
    },
    Knob {
        name: "fsync-always",
        sentence: "a node that comes back has all it ever answered for (appendfsync always)",
        settings: &[set("cluster", "fsync", Value::Word("always"))],
    },
    Knob {
        name: "fsync-everysec",
        sentence: "a node that comes back lacks at most the last second (appendfsync everysec)",
        settings: &[set("cluster", "fsync", Value::Word("everysec"))],
    },
    Knob {
        name: "delayed-restart",
        sentence: "a dead node stays away for longer than the longest lease",
        settings: &[set("cluster", "restart_after", Value::LeaseAnd(1))],
    },
    Knob {
        name: "lock-delay",
        sentence: "who learns of a new master waits out the longest lease before it asks",
        settings: &[set("cluster", "lock_delay", Value::LeaseAnd(1))],
    },
    Knob {
        name: "min-replicas-and-lock-delay",
        sentence: "both",
        settings: &[set("cluster", "min_replicas", Value::Number(1)), set("cluster", "lock_delay", Value::LeaseAnd(1))],
    },
    Knob {
        name: "explicit-lease",
        sentence: "the caller says how long it will hold, and no watchdog renews",
        // What only a watchdog has goes with it: its reader refuses what means nothing.
        settings: &[
            set("time", "renew_every", Value::Nothing),
            set("protocol", "renewal_timer", Value::Nothing),
            set("protocol", "missed_renewal", Value::Nothing),
            set("protocol", "failed_renewal", Value::Nothing),
            set("protocol", "registration", Value::Nothing),
            set("protocol", "stale_renewal", Value::Nothing),
        ],
    },
    Knob {
        name: "told-holder",
        sentence: "a holder whose renewal finds the lock gone is told so",
        settings: &[set("protocol", "missed_renewal", Value::Word("tell-holder"))],
    },
    // Where request and answer are steps of their own; elsewhere the reader refuses them. Source: facts/redisson.md,
    // "Keys, channels, numbers" and "Reentrant lock".
    Knob {
        name: "receipts",
        sentence: "a release leaves a receipt, and is sent again under the same id (Redisson since 3.52)",
        settings: &[RECEIPTS, ONE_ID],
    },
    Knob {
        name: "receipts-with-an-id-per-try",
        sentence: "the same, but sent again it has another id (Redisson before 3.52)",
        settings: &[RECEIPTS, set("protocol", "request_id", Value::Word("per-try"))],
    },
    Knob {
        name: "resend-releases",
        sentence: "releases and renewals are sent again, acquires are not",
        settings: &[RESEND_RELEASES],
    },
    Knob {
        name: "receipts-and-resend-releases",
        sentence: "receipts, and no acquire is sent again",
        settings: &[RECEIPTS, ONE_ID, RESEND_RELEASES],
    },
    Knob {
        name: "resend-nothing",
        sentence: "nothing is sent again: who has no answer is told so at once (Redisson in single-server mode)",
        settings: &[set("protocol", "resend", Value::Word("none")), set("protocol", "retry_attempts", Value::Nothing)],
    },
    Knob {
        name: "resend-all",
        sentence: "acquires are sent again as well (Redisson outside single-server mode)",
        settings: &[set("protocol", "resend", Value::Word("all"))],
    },
    Knob {
        name: "interrupted-acquire-released",
        sentence: "a grant whose caller was interrupted is given back when it is heard of (Redisson's lockAsync)",
        settings: &[set("protocol", "interrupted_acquire", Value::Word("release"))],
    },
    Knob {
        name: "registration-before-the-answer",
        sentence: "a hold is in the renewal table before its thread hears of it",
        settings: &[REGISTERED_FIRST],
    },
    Knob {
        name: "stale-renewals-ignored",
        sentence: "the answer to a renewal says nothing of a hold that was registered after it was sent",
        settings: &[STALE_IGNORED],
    },
    Knob { name: "registration-and-stale-renewals", sentence: "both", settings: &[REGISTERED_FIRST, STALE_IGNORED] },
];

const RECEIPTS: Setting = set("protocol", "receipts", Value::Flag(true));
const ONE_ID: Setting = set("protocol", "request_id", Value::Word("per-release"));
const RESEND_RELEASES: Setting = set("protocol", "resend", Value::Word("release"));
const REGISTERED_FIRST: Setting = set("protocol", "registration", Value::Word("before-answer"));
const STALE_IGNORED: Setting = set("protocol", "stale_renewal", Value::Word("ignore"));

const fn fault(name: &'static str, sentence: &'static str) -> Knob {
    Knob { name, sentence, settings: &[] }
}
