//! What a drawn scenario says so far, as the keys that come later ask of it.

use std::collections::BTreeMap;

use lockstep_model::LockKind;
use lockstep_model::locks::{CallerClock, Facts, StoringMasters};

/// What is not modelled beside a lock of several parts, or follows from it.
const NOT_BESIDE_PARTS: &[&str] = &[
    "mode",
    "threads",
    "names",
    "reentry_lease",
    "named_lease",
    "lock_objects",
    "lag",
    "ttls",
    "wait_for",
    "overwrite_key",
    "crash_thread",
    "foreign_release",
    "interrupted_wait",
    "vanish_key",
    "persist_key",
    "clock_jump",
    "client_clock_jump",
    "fencing",
    "subscribe_to",
    "missed_renewal",
    "renewal_timer",
];

/// What is not modelled beside a lock on several masters, or has no effect there.
const NOT_BESIDE_MASTERS: &[&str] = &[
    "mode",
    "threads",
    "names",
    "reentry_lease",
    "named_lease",
    "lock_objects",
    "cut_link",
    "crash_thread",
    "start_client",
    "foreign_release",
    "interrupt",
    "interrupted_wait",
    "client_clock_jump",
    "persist_key",
];

/// The same where they are asked in rounds: what one of them answers to an extension changes nothing.
const NOT_BESIDE_ROUNDS: &[&str] = &["renewal_timer", "missed_renewal", "failed_renewal", "partial_release"];

/// The same where each of them stores a lock of its own.
const NOT_BESIDE_MASTER_LOCKS: &[&str] = &["drift", "elapsed_time", "late_ask", "pause_node", "missed_renewal"];

/// The same where each of them has a replica.
const NOT_BESIDE_THEIR_REPLICAS: &[&str] =
    &["slow_reply", "late_ask", "pause_node", "discovery", "wait_for", "min_replicas", "lock_delay"];

/// What is not modelled beside a slot that is moved.
const NOT_BESIDE_A_MOVED_SLOT: &[&str] = &[
    "names",
    "wait_for",
    "min_replicas",
    "restart_node",
    "kill_node",
    "shutdown_node",
    "cut_link",
    "pause_node",
    "hand_over",
    "refuse_writes",
    "break_link",
    "clock_jump",
    "vanish_key",
    "vanish_token",
    "persist_key",
    "subscribe_to",
];

/// The keys and values chosen so far. A key whose name another table has as well stands here with its table.
#[derive(Default)]
pub(super) struct Said(pub(super) BTreeMap<&'static str, &'static str>);

impl Said {
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn is(&self, key: &str, value: &str) -> bool {
        self.0.get(key) == Some(&value)
    }

    pub(super) fn some(&self, key: &str) -> bool {
        self.has(key) && !self.is(key, "0")
    }

    pub(super) fn is_split(&self) -> bool {
        self.is("mode", "\"split\"")
    }

    /// The facts of the lock kind; every scenario chooses its lock first.
    pub(super) fn lock(&self) -> &'static Facts {
        let word = self.0.get("lock").expect("a scenario has a lock").trim_matches('"');
        LockKind::ALL.iter().find(|kind| kind.name() == word).expect("a kind of lock").facts()
    }

    pub(super) fn publishes(&self) -> bool {
        self.lock().publishes()
    }

    pub(super) fn reenters(&self) -> bool {
        self.lock().reentry.is_there()
    }

    pub(super) fn can_be_forced(&self) -> bool {
        self.lock().force.is_there()
    }

    pub(super) fn can_leave_receipts(&self) -> bool {
        self.lock().receipts.is_there()
    }

    pub(super) fn stores_values(&self) -> bool {
        self.lock().value.is_there()
    }

    pub(super) fn has_two_commands(&self) -> bool {
        self.lock().two_commands.is_there()
            && !self.has("renew_every")
            && !self.some("wait_for")
            && !self.some("interrupt")
    }

    pub(super) fn has_bare_release(&self) -> bool {
        self.lock().bare_release.is_there()
    }

    pub(super) fn shares(&self) -> bool {
        self.lock().sharing.is_there()
    }

    /// Whether a fault may be added by which a release is in vain: a reader has room for few holds that it has left behind.
    pub(super) fn may_lose_a_release(&self) -> bool {
        let keys = [
            "crash_node",
            "kill_node",
            "shutdown_node",
            "cut_link",
            "break_link",
            "pause_node",
            "hand_over",
            "refuse_writes",
            "interrupt",
        ];
        let is_first = !keys.iter().any(|key| self.some(key));
        !self.shares() || is_first && (!self.has("max_holds") || self.is("max_holds", "1"))
    }

    pub(super) fn has_parts(&self) -> bool {
        self.lock().parts.is_there()
    }

    /// Whether a key is not modelled beside the lock that was chosen.
    pub(super) fn leaves_out(&self, key: &str) -> bool {
        let has_replicas = self.asks_masters() && self.some("replicas");
        self.has_parts() && NOT_BESIDE_PARTS.contains(&key)
            || self.asks_masters() && NOT_BESIDE_MASTERS.contains(&key)
            || self.asks_in_rounds() && NOT_BESIDE_ROUNDS.contains(&key)
            || self.asks_master_locks() && NOT_BESIDE_MASTER_LOCKS.contains(&key)
            || has_replicas && NOT_BESIDE_THEIR_REPLICAS.contains(&key)
    }

    /// Whether the slot of the lock may be moved.
    pub(super) fn can_be_moved(&self) -> bool {
        self.lock().may_be_moved()
            && (self.lock().acquires_by_one_key() || !self.some("replicas"))
            && !self.is_split()
            && !self.is("replicas", "2")
            && !NOT_BESIDE_A_MOVED_SLOT.iter().any(|key| self.some(key))
            && self.may_lose_a_release()
    }

    pub(super) fn asks_masters(&self) -> bool {
        self.lock().masters.are_several()
    }

    /// Whether several masters are asked in rounds, as it was published.
    pub(super) fn asks_in_rounds(&self) -> bool {
        self.lock().masters == StoringMasters::Rounds
    }

    /// Whether each of several masters stores a lock of its own.
    pub(super) fn asks_master_locks(&self) -> bool {
        self.lock().masters == StoringMasters::Locks
    }

    /// Whether its calls wait at each of several masters that stores a lock of its own.
    pub(super) fn waits_at_masters(&self) -> bool {
        self.asks_master_locks() && !self.is("wait_limit", "0")
    }

    /// Whether its calls may go on in rounds.
    pub(super) fn takes_in_rounds(&self) -> bool {
        (self.has_parts() || self.asks_master_locks()) && !self.has("wait_limit")
    }

    pub(super) fn issues_tokens(&self) -> bool {
        self.lock().tokens.is_there()
    }

    pub(super) fn checks_tokens(&self) -> bool {
        self.is("fencing", "\"stored\"")
    }

    pub(super) fn reads_caller_clock(&self) -> bool {
        self.lock().caller_clock.is_read()
    }

    /// Whether it is stored when the lock was granted: clients of different leases are not modelled then.
    pub(super) fn stores_grants(&self) -> bool {
        self.lock().caller_clock == CallerClock::Grants
    }

    pub(super) fn names_values(&self) -> bool {
        self.lock().value_sets.is_there()
    }

    pub(super) fn queues(&self) -> bool {
        self.lock().queue.is_there()
    }

    pub(super) fn spins(&self) -> bool {
        self.lock().spins()
    }

    pub(super) fn waits(&self) -> bool {
        !self.is("wait_limit", "0")
    }

    pub(super) fn has_names(&self) -> bool {
        self.is("names", "2")
    }

    pub(super) fn shares_a_timer(&self) -> bool {
        !self.is("profile", "\"redisson-3.15\"") && !self.is("profile", "\"redisson-3.43\"")
    }

    pub(super) fn has_receipts(&self) -> bool {
        let of_profile = !self.is("profile", "\"redisson-3.15\"");
        self.can_leave_receipts() && (self.is("receipts", "true") || !self.has("receipts") && of_profile)
    }

    pub(super) fn waits_for_all(&self) -> bool {
        self.is("wait_rule", "\"all\"") || !self.has("wait_rule") && self.is("profile", "\"lockstep\"")
    }
}
