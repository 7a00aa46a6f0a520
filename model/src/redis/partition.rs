//! A node is cut off from the others and is reconnected; and the rule by which a master notices that it is alone.
//!
//! Clients reach a node that is cut off: two masters may serve at once (docs/facts/redis.md#a-partitioned-master: an old master behind a
//! partition keeps serving its clients until min-replicas stops it or it is demoted).
//!
//! A cut closes no link: it leaves links half open, and `INFO` and `WAIT` still count them. The time-out that ends them
//! (`repl-timeout`, a minute) is longer than any scenario. A link is closed by the death of one of its ends, of which an
//! acting master is notified; by a resync, which makes it anew; and where a replica has left its master, by a hand-over of
//! that master, or by the end of the partition behind which it was replaced. So a node that is neither the acting master nor
//! cut off has no half-open link but to replicas that had stayed with it and were cut off, or that stand still since before
//! the partition ended; and but for one that was replaced while it stood still, until it counts its replicas anew (`pause`).
//!
//! A partition has two sides: a node alone, or a master together with those of its replicas that `cut_together` names. These
//! follow it as before, and are reached again when it is. What passes between two nodes is told by both being cut off, or
//! neither ([`Group::follows`](super::group::Group::follows)): a node that is cut off from its own side as well is not modelled.

use super::connections::WaitAnswers;
use super::group::{Node, Role};
use super::layout::ServerLayout;
use super::queue::Queue;
use super::server::Server;
use crate::config::node_set::NodeSet;
use crate::config::sections::{Bound, Config, ReplicasLeave};
use crate::mutants::Mutant;
use crate::reply::Reply;
use crate::slots::Slots;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A node is cut off from the other nodes, and from the authority that decides on failovers.
    pub(crate) fn cut(&mut self, node: u8) -> Option<()> {
        let is_acting = node == self.group.master();
        if !self.group.node(node).is_up() || self.group.node(node).is_cut() {
            return None;
        }
        let together = self.config.cluster.cut_together;
        let followers = self.followers_of(node);
        self.leave_links_half_open(node, together);
        let cut_off = self.group.node(node);
        if cut_off.is_master() && !is_acting && (cut_off.is_paused() || cut_off.is_uncounted()) {
            // What replicas that have left told it waits in its sockets already (`pause`).
            self.close_links_of_left(node);
        }
        self.group.node_mut(node).links.set_cut(true);
        for index in (0..self.config.nodes()).filter(|index| followers >> index & 1 != 0) {
            let follower = self.group.node_mut(index);
            if together.has(index) {
                follower.links.set_cut(true);
            } else if !is_acting {
                lose_link(follower, Role::OldUnsynced);
            }
        }
        let cut_off = self.group.node_mut(node);
        if is_acting {
            self.lose_master(self.followers_of(node));
        } else if cut_off.role == Role::Replica {
            lose_link(cut_off, Role::Unsynced);
        } else if cut_off.role == Role::OldReplica {
            lose_link(cut_off, Role::OldUnsynced);
        }
        Some(())
    }

    /// The link of a replica to the acting master breaks, and both notice. What was under way is lost, with the messages in it:
    /// the replica takes everything by a full copy (docs/facts/redis.md#a-full-copy-brings-no-message).
    pub(crate) fn break_link(&mut self, node: u8) -> Option<()> {
        let is_followed = self.group.acting_master().is_some_and(|master| !master.is_away());
        if !is_followed || self.group.node(node).role != Role::Replica || self.group.node(node).is_away() {
            return None;
        }
        let silent_for_long = self.config.silent_for_long();
        let alone = self.group.node_mut(node);
        alone.role = Role::Unsynced;
        alone.links.set_missed(0);
        alone.queue = Queue::empty();
        // Its master counts it no more.
        alone.silent_ticks = silent_for_long;
        Some(())
    }

    /// A node that was cut off reaches the others again.
    /// Those that were cut off together with it reach them as well. One whose master was cut off together with it is not
    /// reached before that.
    pub(crate) fn heal(&mut self, node: u8) -> Option<WaitAnswers> {
        let is_acting = node == self.group.master();
        let silent_for_long = self.config.silent_for_long();
        let is_held_back = self
            .group
            .master_of(node)
            .is_some_and(|master| self.is_linked(node) && self.group.node(master).is_master());
        if !self.group.node(node).is_cut() || is_held_back {
            return None;
        }
        let together = self.followers_of(node);
        let healed = self.group.node_mut(node);
        healed.links.set_cut(false);
        let (is_up, is_old_master) = (healed.is_up(), healed.is_master() && !is_acting);
        if is_old_master {
            // A master that was replaced finds that its replicas follow another.
            healed.silent_ticks = silent_for_long;
            if !healed.is_paused() {
                self.close_links_of_left(node);
            }
        }
        for (index, node) in (0_u8..).zip(self.group.nodes.as_mut()) {
            if together >> index & 1 != 0 {
                node.links.set_cut(false);
            } else if is_acting && is_up && node.role == Role::Replica {
                node.role = Role::Unsynced;
                node.links.set_missed(0);
            }
        }
        // Those that were cut off together with it are told at once. One whose file names it goes back to it first.
        let are_told = !self.config.cluster.cut_together.is_empty();
        if is_old_master && are_told && self.config.cluster.replicas_leave == ReplicasLeave::Together {
            self.lose_old_replicas(node, false);
        }
        Some(self.rejoin_old_master())
    }

    /// A master that was replaced is notified that replicas have left it. The link to one that is to follow it still stays as
    /// it is: half open, until that one follows again.
    pub(super) fn close_links_of_left(&mut self, old: u8) {
        let have_left: NodeSet =
            self.group.numbered().filter(|(_, node)| !node.is_old_replica()).map(|(index, _)| index).collect();
        have_left.iter().for_each(|left| self.group.node_mut(old).links.close(left));
    }

    /// The replicas that this node's writes reach, a bit each.
    fn followers_of(&self, master: u8) -> u8 {
        let followers = (0..self.config.nodes()).filter(|node| self.group.follows(*node, master));
        followers.fold(0, |all, node| all | 1 << node)
    }

    /// Whether this node follows a master that it reaches.
    pub(super) fn is_linked(&self, node: u8) -> bool {
        self.group.master_of(node).is_some_and(|master| self.group.follows(node, master))
    }

    /// What passed between this node and the others, but for those that are cut off together with it, passes no more, and no
    /// master is notified.
    pub(super) fn leave_links_half_open(&mut self, node: u8, together: NodeSet) {
        if !self.config.has_half_open_links() {
            return;
        }
        for replica in (0..self.config.nodes()).filter(|replica| self.is_linked(*replica)).collect::<NodeSet>().iter() {
            let Some(master) = self.group.master_of(replica) else { continue };
            let is_broken = node == replica || node == master && !together.has(replica);
            if is_broken && self.group.node(master).is_master() {
                self.group.node_mut(master).links.note_half_open(replica);
            }
        }
    }

    /// A node dies, and its master loses it if it is a replica. `is_told`: the master is told, if the replica reaches it. If not,
    /// the link stays half open, and the last report counts until it is too old (docs/facts/redis.md#the-death-of-a-machine).
    pub(super) fn lose_replica(&mut self, dying: u8, is_told: bool) {
        let acting = self.group.master();
        let is_noticed = is_told && self.reaches(dying, acting);
        self.note_left_unnoticed(dying, is_told);
        if is_noticed {
            self.group.node_mut(acting).links.close(dying);
        }
        if !is_told {
            self.leave_links_half_open(dying, NodeSet::default());
        }
        if is_noticed || !self.group.node(dying).is_own_replica() {
            self.group.node_mut(dying).silent_ticks = self.config.silent_for_long();
        }
    }

    /// A master finds out that a replica is dead, and closes its link to it: nothing has come for `repl-timeout`, or its own
    /// machine has given up sending. There is no shortest time for that: it may be at once.
    pub(crate) fn notice_death(&mut self, dead: u8) -> Option<()> {
        let is_noticing = |master: &u8| {
            let master = self.group.node(*master);
            master.is_master() && !master.is_paused() && master.links.is_half_open_to(dead)
        };
        let noticing: NodeSet = (0..self.config.nodes()).filter(is_noticing).collect();
        if !self.group.node(dead).is_dead() || noticing.is_empty() {
            return None;
        }
        let (acting, silent_for_long) = (self.group.master(), self.config.silent_for_long());
        for master in noticing.iter() {
            let links = &mut self.group.node_mut(master).links;
            links.close(dead);
            // A replaced master counts by what it last heard over the links that it believes open: there are none left.
            if master != acting && !(0..self.config.nodes()).any(|node| links.is_half_open_to(node)) {
                self.group.node_mut(master).silent_ticks = silent_for_long;
            }
        }
        if noticing.has(acting) {
            self.group.node_mut(dead).silent_ticks = silent_for_long;
        }
        Some(())
    }

    /// For how long the dead replica has been silent that the acting master heard last, where this replica alone is enough for
    /// it; otherwise, or if none is dead, as long as a replica that is not counted any more.
    pub(super) fn silence_of_the_dead(&self) -> u8 {
        let dead = self.group.nodes.as_ref().iter().filter(|node| node.is_dead());
        let silence = dead.map(|node| node.silent_ticks);
        let silence = if self.config.cluster.min_replicas == 1 { silence.min() } else { None };
        silence.unwrap_or_else(|| self.config.silent_for_long())
    }

    /// A node runs again. A master that reaches it, and still sends to it over a link from before its death, is answered by a
    /// reset.
    pub(super) fn reset_links_to(&mut self, node: u8) {
        for master in (0..self.config.nodes()).filter(|master| self.reaches(node, *master)).collect::<NodeSet>().iter()
        {
            let acting = self.group.master();
            let silent_for_long = self.config.silent_for_long();
            let reset = self.group.node_mut(master);
            reset.links.close(node);
            if master != acting && reset.is_master() && !reset.is_cut() {
                // Whoever else has left it has told it.
                reset.silent_ticks = silent_for_long;
            }
        }
        if self.reaches(node, self.group.master()) {
            self.group.node_mut(node).silent_ticks = self.config.silent_for_long();
        }
    }

    /// Whether two nodes are on one side of a partition.
    fn reaches(&self, node: u8, other: u8) -> bool {
        self.group.node(node).is_cut() == self.group.node(other).is_cut()
    }

    /// A replica that was not told leaves its old master, or dies, and the old master does not reach it: it is not notified,
    /// and counts the last report as long as that is fresh. `is_told`: it would be notified if it were reached.
    pub(super) fn note_left_unnoticed(&mut self, replica: u8, is_told: bool) {
        let leaving = self.group.node(replica);
        let Some(old) = self.group.old_master_of(replica).filter(|_| leaving.is_old_replica()) else { return };
        let silent_ticks = leaving.silent_ticks;
        if is_told && self.is_linked(replica) {
            let is_late = self.group.node(old).is_paused() || self.group.node(old).is_uncounted();
            if is_late && self.config.has_half_open_links() {
                // It is told, and reads that when it counts its replicas anew (`pause`).
                self.group.node_mut(old).links.note_half_open(replica);
            }
            return;
        }
        // Where it needs two, this one and the one that was promoted count together.
        let needs_both = self.config.cluster.min_replicas > 1;
        let old = self.group.node_mut(old);
        old.silent_ticks =
            if needs_both { old.silent_ticks.max(silent_ticks) } else { old.silent_ticks.min(silent_ticks) };
    }

    /// What this node answers instead of writing: it checks when a write starts, in scripts too (docs/facts/redis.md#min-replicas-to-write). `None`: it writes.
    pub(crate) fn refusal(&self, node: u8) -> Option<Reply> {
        if !self.group.node(node).is_master() {
            return Some(Reply::ReadOnly);
        }
        // Before it counts its replicas (`scriptVerifyWriteCommandAllow`; docs/facts/redis.md#a-failed-save).
        if self.group.node(node).refuses_writes() && !self.config.is_mutated(Mutant::RefusingMasterWrites) {
            return Some(Reply::SaveFailed);
        }
        (!self.has_enough_replicas(node)).then_some(Reply::NotEnoughReplicas)
    }

    /// Whether enough replicas have reported to a master lately (`min-replicas-to-write`). One counts as long as its last
    /// report is fresh, however much of the data it lacks; one that is still copying does not, and has reported nothing: it is
    /// counted by its last report as a replica, until that is too old (docs/facts/redis.md#min-replicas-in-real-time).
    pub(super) fn has_enough_replicas(&self, master: u8) -> bool {
        let config = self.config;
        let needed = usize::from(config.cluster.min_replicas);
        if needed == 0 || config.is_mutated(Mutant::MinReplicasIgnored) {
            return true;
        }
        if let Some(is_enough) = self.group.node(master).pace.last_count() {
            return is_enough;
        }
        if master != self.group.master() {
            // It was cut off when it was replaced. Once it is not any more, its replicas follow another, but for those that
            // stayed: they report to it as before.
            let old = self.group.node(master);
            let (stayed, left) = self.group.numbered().fold((0, 0), |(stayed, left), (index, node)| {
                let is_other = index != master && node.role != Role::Absent;
                let is_fresh = node.is_old_replica() && node.silent_ticks <= config.counted_at_most();
                (stayed + usize::from(is_fresh), left + usize::from(is_other && !node.is_old_replica()))
            });
            let stayed = stayed + usize::from(config.is_mutated(Mutant::HeirStillCounts));
            let is_remembered = old.silent_ticks <= config.counted_at_most();
            return stayed >= needed || is_remembered && stayed + left >= needed;
        }
        self.group.nodes.as_ref().iter().filter(|node| is_counted(config, node)).count() >= needed
    }

    /// A master counts its replicas (`replicationCron`: once a second, by whole seconds). Within the slack it may find what it
    /// finds at its end at the latest: that the last report of a replica is too old.
    pub(crate) fn recount(&mut self, master: u8) -> Option<()> {
        let config = self.config;
        let silent_for_long = config.silent_for_long();
        let is_too_old = |ticks: u8| (config.cluster.min_replicas_max_lag + 1..silent_for_long).contains(&ticks);
        let is_acting = master == self.group.master();
        // One that stood still has not counted at all (`pause`).
        let counting = self.group.node(master);
        if !counting.is_master() || counting.is_paused() || counting.is_uncounted() {
            return None;
        }
        let mut is_changed = false;
        for (index, node) in (0u8..).zip(self.group.nodes.as_mut()) {
            // One that was replaced remembers the last report of those that left it, and counts those that stayed.
            // One that is dead may be counted still: nobody was told.
            let is_own = node.is_own_replica() || node.is_dead();
            let is_meant = if is_acting { is_own } else { index == master || node.is_old_replica() };
            if is_meant && is_too_old(node.silent_ticks) {
                node.silent_ticks = silent_for_long;
                is_changed = true;
            }
        }
        is_changed.then_some(())
    }

    /// A replica is promoted in this master's place: from here on the master's own silence counts.
    /// `staying`: the replicas that stay with it, a bit each, and count by their own reports.
    pub(super) fn note_replaced(&mut self, staying: u8) {
        if self.config.cluster.min_replicas == 0 {
            return;
        }
        let from_others = u32::from(self.config.cluster.min_replicas).saturating_sub(staying.count_ones());
        let last_needed = usize::try_from(from_others.saturating_sub(1)).unwrap_or(usize::MAX);
        // Of the replicas that it needs, the one whose last report is oldest.
        let silent_for_long = self.config.silent_for_long();
        let mut silence = Y::Nodes::from_fn(|index| {
            let node = &self.group.nodes.as_ref()[index];
            let is_gone = (node.is_replica() || node.is_dead()) && staying >> index & 1 == 0;
            if is_gone { node.silent_ticks } else { silent_for_long }
        });
        silence.as_mut().sort_unstable();
        let needed = silence.as_ref().get(last_needed).copied().unwrap_or(silent_for_long);
        self.group.node_mut(self.group.master()).silent_ticks = needed;
    }

    /// A tick without a report from a node that is dead, cut off or stands still.
    pub(super) fn grow_silence(&mut self) {
        let config = self.config;
        let master = self.group.master();
        let reports = |node: &u8| self.is_linked(*node) && !self.group.node(*node).is_paused();
        let reporting: NodeSet = (0..config.nodes()).filter(reports).collect();
        for (index, node) in (0u8..).zip(self.group.nodes.as_mut()) {
            if node.is_dead() {
                node.down_ticks = (node.down_ticks + 1).min(config.cluster.restart_after);
            } else if node.is_stopping() {
                node.down_ticks = (node.down_ticks + 1).min(config.cluster.shutdown_timeout);
            } else if let (true, Bound::Ticks(most)) = (node.hands_over(), config.cluster.hand_over_timeout) {
                node.down_ticks = (node.down_ticks + 1).min(most);
            }
            let is_silent = node.is_dead() || node.is_up() && !reporting.has(index);
            if index != master && is_silent {
                node.silent_ticks = (node.silent_ticks + 1).min(config.silent_for_long());
            }
        }
    }
}

fn is_counted<Y: ServerLayout>(config: &Config, node: &Node<Y>) -> bool {
    (node.is_own_replica() || node.is_dead()) && node.silent_ticks <= config.counted_at_most()
}

/// What was under way to a replica comes with everything else when it follows again.
fn lose_link<Y: ServerLayout>(replica: &mut Node<Y>, role: Role) {
    replica.role = role;
    replica.links.set_missed(0);
    replica.queue = Queue::empty();
}
