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

/// The faults, in the order of the design page: `[faults] NAME = 1`.
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
];

/// How far clocks jump where the file does not say.
const JUMP: Setting = Setting { table: "time", key: "jump", value: Value::Number(1), is_default: true };

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
        settings: &[set("cluster", "wait_for", Value::Replicas), set("protocol", "wait_rule", Value::Word("any"))],
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
        settings: &[set("time", "renew_every", Value::Nothing)],
    },
    Knob {
        name: "told-holder",
        sentence: "a holder whose renewal finds the lock gone is told so",
        settings: &[set("protocol", "missed_renewal", Value::Word("tell-holder"))],
    },
];

const fn fault(name: &'static str, sentence: &'static str) -> Knob {
    Knob { name, sentence, settings: &[] }
}
