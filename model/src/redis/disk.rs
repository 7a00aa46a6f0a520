//! A node dies and restarts: what it finds on its disk, and in which role it starts.
//!
//! Source: docs/facts/redis.md#durability, #a-master-that-restarts-empty, #the-death-of-a-process,
//! #an-aof-whose-rewrite-has-not-ended: without an AOF a node restarts empty or with its last snapshot, and an empty master
//! wipes its replicas; fsync every second loses about a second, always loses nothing that was answered. A process that is
//! killed loses less than its machine, and one that is told to end loses nothing.

use super::connections::WaitAnswers;
use super::disk_age::DiskAge;
use super::group::{Death, Group, Node, Role};
use super::layout::{ServerLayout, StoredIn};
use super::server::Server;
use crate::config::sections::{Config, Fsync};
use crate::locks::stored::Stored;
use crate::mutants::Mutant;

impl<Y: ServerLayout> Server<'_, Y> {
    /// What a node has written reaches its disk; the rewrite of its AOF is over.
    pub(crate) fn fsync(&mut self, node: u8) -> Option<()> {
        let node = self.group.node_mut(node);
        if node.is_paused() || !is_behind(self.config, node) {
            return None;
        }
        copy(self.config, node);
        Some(())
    }

    /// A node saves a snapshot.
    pub(crate) fn snapshot(&mut self, node: u8) -> Option<()> {
        let node = self.group.node_mut(node);
        if !self.config.has_snapshots() || !node.is_working() || node.refuses_writes() || node.disk == node.stored {
            return None;
        }
        copy(self.config, node);
        Some(())
    }

    /// The process of a node is killed: the machine keeps what was written to a file. Without an AOF that is nothing.
    pub(crate) fn kill(&mut self, node: u8) -> Option<()> {
        let config = self.config;
        let killed = self.group.node_mut(node);
        if config.writes_before_replies()
            && !killed.disk_age.is_rewriting()
            && !config.is_mutated(Mutant::KilledWithItsMachine)
        {
            copy(config, killed);
        }
        self.crash(node, Death::OfProcess)
    }

    /// A node is told to end. It refuses while the first AOF after a full copy is written (`prepareForShutdown`).
    ///
    /// Whether it has ended: a master may wait for its replicas, and serves nobody meanwhile.
    pub(crate) fn shut_down(&mut self, node: u8) -> Option<bool> {
        let config = self.config;
        let is_acting = node == self.group.master();
        let ending = self.group.node_mut(node);
        // One whose save fails would lose what it has not saved (docs/facts/redis.md#a-failed-save).
        if !ending.is_working() || ending.refuses_writes() || ending.disk_age.is_rewriting() {
            return None;
        }
        let has_replicas = config.cluster.replicas > 0;
        let waits = ending.is_master() && is_acting && has_replicas && config.cluster.shutdown_timeout > 0;
        if waits && !config.is_mutated(Mutant::ShutdownDoesNotWait) {
            ending.role = Role::Stopping;
            ending.down_ticks = 0;
            return Some(false);
        }
        self.end(node)?;
        Some(true)
    }

    /// A master that was told to end does so: its replicas have everything, or it has waited long enough.
    pub(crate) fn finish_shutdown(&mut self, node: u8) -> Option<()> {
        let is_acting = node == self.group.master();
        let ending = self.group.node(node);
        let has_waited = ending.down_ticks >= self.config.cluster.shutdown_timeout;
        let lags = |node: &Node<Y>| node.role == Role::Replica && !node.queue.is_empty();
        let is_awaited = is_acting && self.group.nodes.as_ref().iter().any(lags);
        if !ending.is_stopping() || (is_awaited && !has_waited) {
            return None;
        }
        self.end(node)
    }

    /// A node ends by itself: before that it syncs its AOF, or saves a snapshot.
    fn end(&mut self, node: u8) -> Option<()> {
        if !self.config.is_mutated(Mutant::ShutdownSavesNothing) {
            copy(self.config, self.group.node_mut(node));
        }
        self.crash(node, Death::OfProcess)
    }

    /// A dead node restarts: as a master, if it was one, whoever is master now; otherwise to follow the one that its file names.
    pub(crate) fn restart(&mut self, node: u8) -> Option<WaitAnswers> {
        let config = self.config;
        let is_acting = node == self.group.master();
        let returning = self.group.node_mut(node);
        let is_early =
            returning.down_ticks < config.cluster.restart_after && !config.is_mutated(Mutant::RestartTooEarly);
        if !returning.is_dead() || is_early {
            return None;
        }
        forget_memory(config, returning);
        returning.down_ticks = 0;
        self.reset_links_to(node);
        let returning = self.group.node_mut(node);
        if returning.role == Role::DownReplica {
            returning.role = Role::Unsynced;
            return Some(WaitAnswers::default());
        }
        if returning.role == Role::DownOldReplica {
            returning.role = Role::OldUnsynced;
            return Some(self.rejoin_old_master());
        }
        returning.role = Role::Master;
        // One that was replaced has no replicas; the acting one counts them one by one.
        returning.silent_ticks = if is_acting { 0 } else { config.silent_for_long() };
        if is_acting {
            // It does not know its replicas, nor they its data: they take a full copy, even of nothing.
            for node in self.group.nodes.as_mut().iter_mut() {
                if node.is_own_replica() {
                    node.role = Role::Unsynced;
                    node.links.set_missed(0);
                }
                if node.is_own_replica() || node.is_dead() {
                    node.silent_ticks = config.silent_for_long();
                }
            }
        }
        // Those whose files name it, and whom nobody told of another master.
        Some(self.rejoin_old_master())
    }
}

/// Whether time must wait for a disk, or for a node that has waited for its replicas long enough.
pub(crate) fn is_late<Y: ServerLayout>(config: &Config, group: &Group<Y>) -> bool {
    let cluster = &config.cluster;
    let is_late = |node: &Node<Y>| {
        !node.is_paused() && node.disk_age.ticks() >= written_within(config, node) && is_behind(config, node)
    };
    let must_end = |node: &Node<Y>| node.is_stopping() && node.down_ticks >= cluster.shutdown_timeout;
    let may_be_late = config.has_late_disk() || config.has_slow_rewrites();
    (may_be_late && group.nodes.as_ref().iter().any(is_late))
        || (cluster.shutdown_timeout > 0 && group.nodes.as_ref().iter().any(must_end))
}

/// For how many ticks the disk of this node may be behind.
fn written_within<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> u8 {
    let cluster = &config.cluster;
    if node.disk_age.is_rewriting() {
        cluster.aof_rewrite_within
    } else if cluster.no_appendfsync_on_rewrite {
        cluster.fsync_within + cluster.aof_rewrite_within
    } else {
        cluster.fsync_within
    }
}

fn is_behind<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> bool {
    node.is_up() && (node.disk_age.is_rewriting() || (config.has_late_disk() && node.disk != node.stored))
}

/// One tick later.
pub(super) fn grow_older<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    if config.has_late_disk() || config.has_slow_rewrites() {
        // A node that stands still writes nothing, however long that takes.
        let is_over = node.disk_age.ticks() >= written_within(config, node);
        node.disk_age = match is_behind(config, node) {
            true if is_over => node.disk_age,
            true => node.disk_age.later(),
            false => node.disk_age.restarted(),
        };
    }
}

/// All that a node stores is on its disk.
pub(super) fn copy<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    node.disk_age = DiskAge::default();
    // Elsewhere what is on the disk is what is stored.
    node.disk = if config.has_late_disk() || config.has_snapshots() { node.stored } else { Stored::default() };
}

/// A node has taken a full copy of `stored`. Its AOF is rewritten from that: at once, or until then the disk has the files of
/// before. A snapshot is another step. A partial resync, after which nothing is rewritten, is not told apart: to it the
/// rewrite is over at once.
pub(super) fn take_copy<Y: ServerLayout>(config: &Config, node: &mut Node<Y>, stored: StoredIn<Y>) {
    if config.has_slow_rewrites() {
        node.disk = found(config, node);
        node.disk_age = DiskAge::rewriting();
        node.stored = stored;
        return;
    }
    node.stored = stored;
    if !config.has_snapshots() {
        copy(config, node);
    }
}

/// A dead node's memory cannot be observed; store what it will load.
pub(super) fn forget_memory<Y: ServerLayout>(config: &Config, node: &mut Node<Y>) {
    node.stored = found(config, node);
    copy(config, node);
}

/// What is on the disk, where that differs from what the node stores, and where it will ever matter.
pub(crate) fn on_disk<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> Option<StoredIn<Y>> {
    let is_apart = config.has_late_disk() || config.has_snapshots() || node.disk_age.is_rewriting();
    let differs = node.is_dead() || (is_apart && node.disk != node.stored);
    (config.can_restart() && differs).then(|| found(config, node))
}

fn found<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> StoredIn<Y> {
    if !config.can_restart() {
        return Stored::default();
    }
    match config.cluster.fsync {
        Fsync::None => Stored::default(),
        Fsync::Snapshot | Fsync::EverySecond => node.disk,
        Fsync::Always if config.is_mutated(Mutant::FsyncForgotten) => Stored::default(),
        Fsync::Always if config.has_late_disk() || node.disk_age.is_rewriting() => node.disk,
        Fsync::Always => node.stored,
    }
}
