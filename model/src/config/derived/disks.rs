//! What a node finds on its disk when it restarts, and whether that differs from what it had in memory.

use crate::config::sections::{Config, Fsync};

impl Config {
    /// Whether a dead node may restart.
    pub const fn can_restart(&self) -> bool {
        self.faults.restart_node > 0
    }

    /// Whether a write may reach a node's disk after it was answered.
    pub const fn has_late_disk(&self) -> bool {
        let is_late = match self.cluster.fsync {
            Fsync::None | Fsync::Snapshot => false,
            Fsync::EverySecond => true,
            Fsync::Always => self.cluster.no_appendfsync_on_rewrite,
        };
        self.can_restart() && is_late
    }

    /// Whether a node restarts with a snapshot.
    pub const fn has_snapshots(&self) -> bool {
        self.can_restart() && matches!(self.cluster.fsync, Fsync::Snapshot)
    }

    /// Whether the AOF of a node may be that of before its last full copy.
    pub const fn has_slow_rewrites(&self) -> bool {
        let has_aof = matches!(self.cluster.fsync, Fsync::EverySecond | Fsync::Always);
        self.can_restart() && has_aof && self.cluster.replicas > 0 && self.cluster.aof_rewrite_within > 0
    }

    /// Whether what a killed process has answered is in its files. While an fsync runs, a write waits for up to two seconds
    /// (docs/facts/redis.md#the-death-of-a-process): only a disk that is never that late makes none wait.
    pub fn writes_before_replies(&self) -> bool {
        const NEVER_LATE_MS: u32 = 1_000;
        match self.cluster.fsync {
            Fsync::None | Fsync::Snapshot => false,
            Fsync::EverySecond => u32::from(self.cluster.fsync_within) * self.time.tick_ms <= NEVER_LATE_MS,
            Fsync::Always => true,
        }
    }

    /// Whether a node's disk is a part of the world of its own.
    pub(crate) const fn has_disk_apart(&self) -> bool {
        self.has_late_disk() || self.has_snapshots() || self.has_slow_rewrites()
    }
}
