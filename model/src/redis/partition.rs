//! A node is cut off from the others and is reconnected; and the rule by which a master notices that it is alone.
//!
//! Clients reach a node that is cut off: two masters may serve at once (docs/facts/redis.md#a-partitioned-master: an old master behind a
//! partition keeps serving its clients until min-replicas stops it or it is demoted).
//!
//! A cut closes no link: it leaves links half open, and `INFO` and `WAIT` still count them. The time-out that ends them
//! (`repl-timeout`, a minute) is longer than any scenario. A link is closed by the death of one of its ends, of which an
//! acting master is notified; by a resync, which makes it anew; by a hand-over of its master; and by the end of a partition
//! behind which its master was replaced. So a node that is neither the acting master nor cut off has no half-open link,
//! but for one that was replaced while it stood still, until it counts its replicas anew (`pause`).

use super::group::{Node, Role};
use super::layout::ServerLayout;
use super::queue::Queue;
use super::server::Server;
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::reply::Reply;
use crate::slots::Slots;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A node is cut off from the other nodes, and from the authority that decides on failovers.
    pub(crate) fn cut(&mut self, node: u8) -> Option<()> {
        let is_acting = node == self.group.master;
        if !self.group.node(node).is_up() || self.group.node(node).is_cut() {
            return None;
        }
        self.leave_links_half_open(node);
        let cut_off = self.group.node_mut(node);
        cut_off.links.set_cut(true);
        if is_acting {
            self.lose_master();
        } else if cut_off.role == Role::Replica {
            // What was under way to it comes with everything else when it follows again.
            cut_off.role = Role::Unsynced;
            cut_off.links.set_missed(0);
            cut_off.queue = Queue::empty();
        }
        Some(())
    }

    /// A node that was cut off reaches the others again.
    pub(crate) fn heal(&mut self, node: u8) -> Option<()> {
        let is_acting = node == self.group.master;
        let silent_for_long = self.config.silent_for_long();
        let healed = self.group.node_mut(node);
        if !healed.is_cut() {
            return None;
        }
        healed.links.set_cut(false);
        if healed.is_master() && !is_acting {
            // A master that was replaced finds that its replicas follow another.
            healed.silent_ticks = silent_for_long;
            if !healed.is_paused() {
                healed.links.close_all();
            }
        }
        if is_acting && healed.is_up() {
            for node in self.group.nodes.as_mut().iter_mut().filter(|node| node.role == Role::Replica) {
                node.role = Role::Unsynced;
                node.links.set_missed(0);
            }
        }
        Some(())
    }

    /// What passed between this node and the others passes no more, and no master is notified.
    pub(super) fn leave_links_half_open(&mut self, node: u8) {
        let master = self.group.master;
        if !self.config.has_half_open_links() || !self.group.node(master).is_master() {
            return;
        }
        for replica in 0..self.config.nodes() {
            let is_linked = self.group.node(replica).role == Role::Replica;
            if is_linked && (node == master || node == replica) {
                self.group.node_mut(master).links.note_half_open(replica);
            }
        }
    }

    /// A node is dead: its links are closed, and the acting master is notified; a master that was replaced behind a
    /// partition is not.
    pub(super) fn close_links(&mut self, dead: u8) {
        self.group.node_mut(dead).links.close_all();
        self.group.node_mut(self.group.master).links.close(dead);
    }

    /// What this node answers instead of writing: it checks when a write starts, in scripts too (docs/facts/redis.md#min-replicas-to-write). `None`: it writes.
    pub(crate) fn refusal(&self, node: u8) -> Option<Reply> {
        if !self.group.node(node).is_master() {
            return Some(Reply::ReadOnly);
        }
        (!self.has_enough_replicas(node)).then_some(Reply::NotEnoughReplicas)
    }

    /// Whether enough replicas have reported to a master lately (`min-replicas-to-write`). One counts as long as its last
    /// report is fresh, however much of the data it lacks.
    pub(super) fn has_enough_replicas(&self, master: u8) -> bool {
        let config = self.config;
        let needed = usize::from(config.cluster.min_replicas);
        if needed == 0 || config.is_mutated(Mutant::MinReplicasIgnored) {
            return true;
        }
        if let Some(is_enough) = self.group.node(master).pace.last_count() {
            return is_enough;
        }
        if master != self.group.master {
            // It was cut off when it was replaced. Once it is not any more, its replicas follow another.
            let old = self.group.node(master);
            return old.is_cut() && old.silent_ticks <= config.cluster.min_replicas_max_lag;
        }
        self.group.nodes.as_ref().iter().filter(|node| is_counted(config, node)).count() >= needed
    }

    /// A replica is promoted in this master's place: from here on the master's own silence counts.
    pub(super) fn note_replaced(&mut self) {
        let Some(last_needed) = usize::from(self.config.cluster.min_replicas).checked_sub(1) else { return };
        // Of the replicas that it needs, the one whose last report is oldest.
        let silent_for_long = self.config.silent_for_long();
        let mut silence = Y::Nodes::from_fn(|index| {
            let node = &self.group.nodes.as_ref()[index];
            if node.is_replica() { node.silent_ticks } else { silent_for_long }
        });
        silence.as_mut().sort_unstable();
        let needed = silence.as_ref().get(last_needed).copied().unwrap_or(silent_for_long);
        self.group.node_mut(self.group.master).silent_ticks = needed;
    }

    /// A tick without a report from a node that is dead, cut off or stands still.
    pub(super) fn grow_silence(&mut self) {
        let config = self.config;
        let master = self.group.master;
        let has_lost_all = self.group.node(master).is_cut();
        for (index, node) in (0u8..).zip(self.group.nodes.as_mut()) {
            if node.is_dead() {
                node.silent_ticks = (node.silent_ticks + 1).min(config.cluster.restart_after);
            } else if index != master
                && (node.is_cut()
                    || (has_lost_all && node.is_replica())
                    || node.role == Role::Unsynced
                    || (node.role == Role::Replica && node.is_paused()))
            {
                node.silent_ticks = (node.silent_ticks + 1).min(config.silent_for_long());
            }
        }
    }
}

fn is_counted<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> bool {
    node.is_replica() && node.silent_ticks <= config.cluster.min_replicas_max_lag
}
