//! The sentinels of a replay in which they decide on failovers.

use std::sync::atomic::AtomicBool;

use crate::replay::servers::sentinel::{Failover, Sentinels};

/// The sentinels of a replay under sentinels, and what they did in the current history.
pub struct SentinelWatch {
    pub(super) stop: &'static AtomicBool,
    pub(super) sentinels: Option<Sentinels>,
    pub(super) failovers: Vec<Failover>,
}

impl SentinelWatch {
    /// No sentinel is started yet. Every wait for one ends once `stop` is set.
    pub const fn new(stop: &'static AtomicBool) -> Self {
        Self { stop, sentinels: None, failovers: Vec::new() }
    }
}
