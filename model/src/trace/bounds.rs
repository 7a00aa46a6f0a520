//! The numbers that a configuration may have: the reader of trace files and the JSON Schema use the same list.

use crate::limits::{
    MAX_ACQUIRES, MAX_CLIENTS, MAX_GROUPS, MAX_HOLDS, MAX_JUMP, MAX_NAMES, MAX_REPLICAS, MAX_RETRIES, MAX_THREADS,
    MAX_TICKS, RENEWAL_BATCH,
};
use crate::notes::Capacity;

/// The bounds of one number.
#[derive(Clone, Copy, Debug)]
pub struct NumberBound {
    /// Where it stands in the configuration, as a JSON pointer. It may be null or missing there.
    pub pointer: &'static str,
    /// The smallest value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
}

/// The bounds of every number in [`Config`](crate::Config) but those of single clients, [`CLIENT_BOUNDS`], and the fault
/// budgets, which are all at most [`MAX_FAULTS`](crate::config::MAX_FAULTS).
pub const BOUNDS: [NumberBound; 48] = [
    NumberBound::new("/time/tick_ms", 1, u32::MAX as i64),
    NumberBound::new("/time/lease", 0, MAX_TICKS as i64),
    NumberBound::new("/time/reentry_lease", 0, MAX_TICKS as i64),
    NumberBound::new("/time/named_lease", 0, MAX_TICKS as i64),
    NumberBound::new("/time/renew_every", 0, MAX_TICKS as i64),
    NumberBound::new("/time/wait_limit", 0, MAX_TICKS as i64),
    NumberBound::new("/time/hold_at_most", 0, MAX_TICKS as i64),
    NumberBound::new("/time/poll_every", 1, MAX_TICKS as i64),
    NumberBound::new("/time/ask_again_after", 1, MAX_TICKS as i64),
    NumberBound::new("/time/queue_wait", 0, MAX_TICKS as i64),
    NumberBound::new("/time/round_wait", 1, MAX_TICKS as i64),
    NumberBound::new("/time/drift", 0, MAX_TICKS as i64),
    NumberBound::new("/time/jump", -(MAX_JUMP as i64), MAX_JUMP as i64),
    NumberBound::new("/clients/count", 1, MAX_CLIENTS as i64),
    NumberBound::new("/clients/threads", 1, MAX_THREADS as i64),
    NumberBound::new("/clients/max_holds", 1, MAX_HOLDS as i64),
    NumberBound::new("/clients/names", 1, MAX_NAMES as i64),
    NumberBound::new("/clients/clock_ahead", 0, MAX_TICKS as i64),
    NumberBound::new("/clients/acquires", 0, MAX_ACQUIRES as i64),
    NumberBound::new("/cluster/groups", 1, MAX_GROUPS as i64),
    NumberBound::new("/cluster/replicas", 0, MAX_REPLICAS as i64),
    NumberBound::new("/cluster/lag/ticks", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/failover_within/ticks", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/fsync_within", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/aof_rewrite_within", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/shutdown_timeout", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/hand_over_timeout/ticks", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/restart_after", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/min_replicas", 0, MAX_REPLICAS as i64),
    NumberBound::new("/cluster/min_replicas_max_lag", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/min_replicas_slack", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/wait_for", 0, MAX_REPLICAS as i64),
    NumberBound::new("/cluster/lock_delay", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/start_delay", 0, MAX_TICKS as i64),
    NumberBound::new("/cluster/cut_together", 0, (1 << (MAX_REPLICAS + 1)) - 1),
    NumberBound::new("/protocol/renewal_batch", 1, RENEWAL_BATCH as i64),
    NumberBound::new("/network/delay/ticks", 1, MAX_TICKS as i64),
    NumberBound::new("/calls/answer_within", 1, MAX_TICKS as i64),
    NumberBound::new("/calls/receipt", 1, MAX_TICKS as i64),
    NumberBound::new("/calls/retry_attempts", 1, MAX_RETRIES as i64),
    NumberBound::of(Capacity::Effects, "/bounds/effects_under_way"),
    NumberBound::of(Capacity::Messages, "/bounds/messages"),
    NumberBound::of(Capacity::Receipts, "/bounds/receipts"),
    NumberBound::of(Capacity::LateRequests, "/bounds/late_requests"),
    NumberBound::of(Capacity::Registrations, "/bounds/registrations"),
    NumberBound::of(Capacity::RenewalTimers, "/bounds/renewal_timers"),
    NumberBound::of(Capacity::Tokens, "/bounds/tokens"),
    NumberBound::of(Capacity::Holds, "/bounds/holds"),
];

/// The bounds of every number in the settings of one client.
pub const CLIENT_BOUNDS: [NumberBound; 11] = [
    NumberBound::new("/lease", 0, MAX_TICKS as i64),
    NumberBound::new("/renew_every", 0, MAX_TICKS as i64),
    NumberBound::new("/wait_limit", 0, MAX_TICKS as i64),
    NumberBound::new("/hold_at_most", 0, MAX_TICKS as i64),
    NumberBound::new("/reentry_lease", 0, MAX_TICKS as i64),
    NumberBound::new("/acquires", 0, MAX_ACQUIRES as i64),
    NumberBound::new("/clock_ahead", 0, MAX_TICKS as i64),
    NumberBound::new("/protocol/renewal_batch", 1, RENEWAL_BATCH as i64),
    NumberBound::new("/calls/answer_within", 1, MAX_TICKS as i64),
    NumberBound::new("/calls/receipt", 1, MAX_TICKS as i64),
    NumberBound::new("/calls/retry_attempts", 1, MAX_RETRIES as i64),
];

impl NumberBound {
    const fn new(pointer: &'static str, least: i64, most: i64) -> Self {
        Self { pointer, least, most }
    }

    const fn of(capacity: Capacity, pointer: &'static str) -> Self {
        Self::new(pointer, capacity.least() as i64, capacity.most() as i64)
    }
}
