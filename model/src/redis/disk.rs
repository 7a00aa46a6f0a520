//! A node dies and restarts: what it finds on its disk, and in which role it starts.
//!
//! Source: docs/facts/redis.md#durability, #a-master-that-restarts-empty: without an AOF a node restarts empty, and an
//! empty master wipes its replicas; fsync every second loses about a second, always loses nothing that was answered.

use super::group::{Group, Node, Role};
use super::layout::{ServerLayout, StoredIn};
use super::server::Server;
use crate::config::sections::{Config, Fsync};
use crate::locks::stored::Stored;
use crate::mutants::Mutant;

impl<Y: ServerLayout> Server<'_, Y> {
    /// What a node has written reaches its disk.
    pub(crate) fn fsync(&mut self, node: u8) -> Option<()> {
        let node = self.group.node_mut(node);
        if !self.config.has_late_disk() || !node.is_working() || node.disk == node.stored {
            return None;
        }
        copy(self.config, node);
        Some(())
    }

    /// A dead node restarts: as a master, if it was one, whoever is master now; otherwise to follow.
    pub(crate) fn restart(&mut self, node: u8) -> Option<()> {
        let config = self.config;
        let is_acting = node == self.group.master;
        let returning = self.group.node_mut(node);
        let is_early =
            returning.silent_ticks < config.cluster.restart_after && !config.is_mutated(Mutant::RestartTooEarly);
        if !returning.is_dead() || is_early {
            return None;
        }
        forget_memory(config, returning);
        if returning.role == Role::DownReplica {
            returning.role = Role::Unsynced;
            returning.silent_ticks = config.silent_for_long();
            return Some(());
        }
        returning.role = Role::Master;
        // One that was replaced has no replicas; the acting one counts them one by one.
        returning.silent_ticks = if is_acting { 0 } else { config.silent_for_long() };
        if is_acting {
            // It does not know its replicas, nor they its data: they take a full copy, even of nothing.
            for node in self.group.nodes.as_mut().iter_mut().filter(|node| node.is_replica()) {
                node.role = Role::Unsynced;
                node.links.set_missed(0);
                node.silent_ticks = config.silent_for_long();
            }
        }
        Some(())
    }
}

/// Whether time must wait for a disk.
pub(crate) fn is_late<Y: ServerLayout>(config: &Config, group: &Group<Y>) -> bool {
    let is_late = |node: &Node<Y>| !node.is_paused() && node.disk_age >= config.cluster.fsync_within && is_behind(node);
    config.has_late_disk() && group.nodes.as_ref().iter().any(is_late)
}

fn is_behind<Y: ServerLayout>(node: &Node<Y>) -> bool {
    node.is_up() && node.disk != node.stored
}

/// One tick later.
pub(super) fn grow_older<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    if config.has_late_disk() {
        // A node that stands still writes nothing, however long that takes.
        let most = config.cluster.fsync_within;
        node.disk_age = if is_behind(node) { most.min(node.disk_age + 1) } else { 0 };
    }
}

/// All that a node stores is on its disk. After a full copy too: its AOF is rewritten from that, and on the disk before the
/// old one is given up (`rewriteAppendOnlyFile`).
pub(super) fn copy<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    if config.has_late_disk() {
        node.disk = node.stored;
        node.disk_age = 0;
    }
}

/// A dead node's memory cannot be observed; store what it will load.
pub(super) fn forget_memory<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    node.stored = found(config, node);
    copy(config, node);
}

/// What is on the disk, where that differs from what the node stores, and where it will ever matter.
pub(crate) fn on_disk<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> Option<StoredIn<Y>> {
    let differs = node.is_dead() || (config.has_late_disk() && node.disk != node.stored);
    (config.can_restart() && differs).then(|| found(config, node))
}

fn found<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> StoredIn<Y> {
    if !config.can_restart() {
        return Stored::default();
    }
    match config.cluster.fsync {
        Fsync::None => Stored::default(),
        Fsync::EverySecond => node.disk,
        Fsync::Always if config.is_mutated(Mutant::FsyncForgotten) => Stored::default(),
        Fsync::Always => node.stored,
    }
}
