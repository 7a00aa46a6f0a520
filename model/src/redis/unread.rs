//! What a node stores, once nobody can read it any more.
//!
//! A replica's data is read when it is promoted, and by a client that takes it for the master; those of a dead node when it
//! restarts. Once neither can happen, worlds that differ in such data alone are alike for ever: the normal form of a world
//! (`world/normal_form`) leaves it out.

use super::disk_age::DiskAge;
use super::group::{Group, Node, Role};
use super::layout::ServerLayout;
use super::queue::{Effect, Queue};
use crate::config::faults::Faults;
use crate::config::sections::Config;
use crate::locks::receipts::{Receipt, ReceiptStore as _};
use crate::locks::stored::Stored;
use crate::mutants::Mutant;

impl<Y: ServerLayout> Group<Y> {
    /// Whether some replica may still take the master's place.
    fn can_fail_over(&self, config: &Config, faults: Faults) -> bool {
        let is_replaced = self.acting_master().is_none_or(|master| master.is_away() || master.refuses_writes())
            || config.is_mutated(Mutant::PromoteBesideMaster);
        let is_begun = faults.deaths_of_nodes() > 0
            || faults.cut_link > 0
            || faults.hand_over > 0
            || faults.refuse_writes > 0
            || faults.pause_node > 0;
        is_replaced || is_begun || self.nodes.as_ref().iter().any(Node::hands_over)
    }

    /// The nodes that never run again and are not compared with a successor: a bit each.
    pub(crate) fn lost(&self, faults: Faults) -> u8 {
        let is_lost = |index: u8, node: &Node<Y>| node.is_dead() && index != self.master() && faults.restart_node == 0;
        self.those(is_lost)
    }

    /// Without the ranks of the replicas, where none will be chosen by its rank any more.
    pub(crate) fn leave_out_ranks(&mut self, config: &Config, faults: Faults) {
        if !self.can_fail_over(config, faults) {
            self.nodes.as_mut().iter_mut().for_each(|node| node.links.set_missed(0));
        }
    }

    /// Without what the configuration files of replicas say, where none will be read any more: as what a node may restart is said when it
    /// dies, also where no restart is left.
    pub(crate) fn leave_out_files(&mut self, faults: Faults) {
        if faults.deaths_of_nodes() == 0 {
            self.masters.forget_files();
        }
    }

    /// Without the receipts of a dead master that never runs again: only its holders are compared with those of its successor.
    pub(crate) fn leave_out_receipts(&mut self, faults: Faults) {
        let master = self.node_mut(self.master());
        if master.is_dead() && faults.restart_node == 0 {
            master.stored.receipts = Default::default();
        }
    }

    /// The nodes whose data nobody will read, if no client asks them: a bit each. A master that restarts is one at once.
    pub(crate) fn unread(&self, config: &Config, faults: Faults) -> u8 {
        let never_serves = |index: u8, node: &Node<Y>| match node.role {
            Role::Absent
            | Role::Master
            | Role::Refusing
            | Role::HandingOver
            | Role::MovingSlot
            | Role::KeysMoved
            | Role::Stopping => false,
            Role::Replica
            | Role::Unsynced
            | Role::OldReplica
            | Role::OldUnsynced
            | Role::DownReplica
            | Role::DownOldReplica => !self.masters.is_on_file(index),
            Role::Down => index != self.master() && faults.restart_node == 0,
        };
        // A master that has not read yet what was acknowledged while it stood still is told by whatever a replica applies: also one that
        // was replaced meanwhile, and will go on.
        let will_read = |node: &Node<Y>| node.is_uncounted() || node.is_master() && node.is_paused();
        let is_behind = config.cluster.wait_for > 0 && self.nodes.as_ref().iter().any(will_read);
        if is_behind || self.can_fail_over(config, faults) { 0 } else { self.those(never_serves) }
    }

    fn those(&self, is_meant: impl Fn(u8, &Node<Y>) -> bool) -> u8 {
        self.numbered().filter(|(index, node)| is_meant(*index, node)).fold(0, |all, (index, _)| all | 1 << index)
    }
}

/// What was possible only in what was left out of a node. Done, it changes nothing that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each action")]
pub struct IdleNode {
    /// It could apply an effect.
    pub replicates: bool,
    /// It could begin to follow the master.
    pub resyncs: bool,
    /// It could leave an old master.
    pub leaves: bool,
    /// It could be reached again.
    pub heals: bool,
    /// It could go on after it stood still.
    pub resumes: bool,
}

impl IdleNode {
    /// What was possible only in what was left out of this node or of the other.
    pub(crate) const fn or(self, other: Self) -> Self {
        let Self { replicates, resyncs, leaves, heals, resumes } = other;
        Self {
            replicates: self.replicates || replicates,
            resyncs: self.resyncs || resyncs,
            leaves: self.leaves || leaves,
            heals: self.heals || heals,
            resumes: self.resumes || resumes,
        }
    }
}

impl<Y: ServerLayout> Node<Y> {
    /// Without its data. An effect that a `WAIT` is open for stays: its arrival is counted.
    pub(crate) fn leave_out_data(&mut self, faults: Faults) -> IdleNode {
        self.stored = Stored::default();
        self.disk = Stored::default();
        self.disk_age = DiskAge::default();
        self.links.set_missed(0);
        if self.is_dead() && faults.restart_node == 0 {
            self.down_ticks = 0;
        }
        let has_others = self.queue.keep_awaited();
        IdleNode { replicates: has_others && !self.is_paused(), ..IdleNode::default() }
    }

    /// Without the receipts that no release names. Returns whether one of these has no time left on a master.
    pub(crate) fn keep_receipts(&mut self, is_named: impl Fn(Receipt) -> bool) -> bool {
        let named = |receipt| Some(receipt).filter(|receipt| is_named(*receipt));
        let is_due = |receipt: Receipt| receipt.remaining.is_due() && !is_named(receipt);
        let expires = self.is_master() && self.stored.receipts.iter().any(is_due);
        self.stored.receipts = self.stored.receipts.changed(named);
        self.disk.receipts = self.disk.receipts.changed(named);
        for effect in self.queue.effects_mut() {
            effect.stored.receipts = effect.stored.receipts.changed(named);
        }
        expires
    }

    /// Without what a node of which nobody counts or asks anything could show: whether it runs, follows, and is reached. Not
    /// where a fault may still happen to it.
    pub(crate) fn leave_out_standing(&mut self, config: &Config, faults: Faults) -> IdleNode {
        let is_counted = config.cluster.min_replicas > 0 || config.cluster.wait_for > 0;
        let may_change = faults.clock_jump > 0 || faults.break_link > 0 || (self.is_dead() && faults.restart_node > 0);
        if is_counted || may_change {
            return IdleNode::default();
        }
        let leaves = self.is_old_replica() && !self.is_away();
        let resyncs = leaves || (self.role == Role::Unsynced && !self.is_away());
        // One that was cut off together with its master is reached again with it.
        let heals = self.is_cut() && (self.is_dead() || matches!(self.role, Role::Unsynced | Role::OldUnsynced));
        let resumes = self.is_paused();
        *self = Self { role: Role::Replica, ..Self::absent() };
        IdleNode { replicates: false, resyncs, leaves, heals, resumes }
    }
}

impl<Y: ServerLayout> Queue<Y> {
    /// Only the effects that a `WAIT` is open for. Returns whether there were others.
    fn keep_awaited(&mut self) -> bool {
        if self.effects().iter().all(Effect::is_awaited) {
            return false;
        }
        let mut kept = Self::empty();
        for effect in self.effects().iter().filter(|effect| effect.is_awaited()) {
            let pushed = kept.push(*effect, self.len());
            debug_assert!(pushed.is_some(), "no more than there were");
        }
        *self = kept;
        true
    }
}
