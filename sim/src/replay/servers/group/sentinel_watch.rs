//! The sentinels of a replay in which they decide on failovers.

use crate::replay::servers::sentinel::{Failover, Sentinels};

/// The sentinels of a replay under sentinels, once they are started, and what they did in the current history.
#[derive(Default)]
pub struct SentinelWatch {
    pub(super) sentinels: Option<Sentinels>,
    pub(super) failovers: Vec<Failover>,
    /// The replicas that the history promotes, in its order.
    pub(super) heirs: Vec<u8>,
}
