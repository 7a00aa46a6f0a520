//! A node dies, a replica is promoted, the others follow it: each a step of its own.
//!
//! Source: docs/facts/redis.md#sentinel: one promotion at a time, the rest is reconfigured, clients learn last.

use super::clock::taken_over;
use super::connections::WaitAnswers;
use super::disk;
use super::group::{Death, Node, Pace, Role};
use super::layout::ServerLayout;
use super::queue::Queue;
use super::server::Server;
use crate::config::node_set::NodeSet;
use crate::config::sections::{Bound, PromoteRule, ReplicasLeave};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::time::Timer;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A node dies.
    pub(crate) fn crash(&mut self, node: u8, death: Death) -> Option<()> {
        if !self.group.node(node).is_up() && !self.group.node(node).is_stopping() {
            return None;
        }
        let config = self.config;
        let was_acting = node == self.group.master();
        let is_told = death == Death::OfProcess || config.is_mutated(Mutant::DeadMachineIsNoticed);
        self.lose_replica(node, is_told);
        let is_master_on_file = self.group.masters.is_on_file(node);
        self.group.masters.note_file(node, false);
        let dying = self.group.node_mut(node);
        dying.links.set_missed(0);
        dying.pace = Pace::Runs;
        let will_follow = config.can_restart() && dying.is_replica() && !is_master_on_file;
        dying.role = match (will_follow, dying.is_old_replica()) {
            (true, true) => Role::DownOldReplica,
            (true, false) => Role::DownReplica,
            (false, _) => Role::Down,
        };
        dying.queue = Queue::empty();
        dying.down_ticks = 0;
        dying.links.close_all();
        if was_acting {
            // What it stored stays until a replica takes its place: what that replica does not have is what the failover
            // loses.
            self.forget_heir();
            self.lose_master(0);
        } else {
            self.lose_old_replicas(node, config.can_restart());
            disk::forget_memory(config, self.group.node_mut(node));
        }
        Some(())
    }

    /// The acting master is dead, or cut off: what it had not sent does not reach its replicas, and a failover may begin.
    /// `kept`: the replicas that it still reaches, a bit each.
    pub(super) fn lose_master(&mut self, kept: u8) {
        self.begin_failover();
        self.lose_effects(kept);
    }

    /// The acting master is not reached any more: from now on a failover takes as long as it may.
    pub(super) fn begin_failover(&mut self) {
        self.group.failover_left = match self.config.cluster.failover_within {
            Bound::Ticks(ticks) => Timer::ticks(ticks),
            Bound::Any => Timer::OFF,
        };
    }

    /// What is under way to the replicas does not reach them, but for those that are kept.
    fn lose_effects(&mut self, kept: u8) {
        for (index, node) in (0_u8..).zip(self.group.nodes.as_mut()) {
            if node.role != Role::Replica || kept >> index & 1 != 0 {
                continue;
            }
            if self.config.is_mutated(Mutant::LateReplicaLosesNothing)
                && matches!(self.config.cluster.lag, Bound::Ticks(2..))
                && let Some(last) = node.queue.effects().last()
            {
                node.stored = last.stored;
            }
            if !node.queue.is_empty() {
                self.notes.happened(Happening::EffectsLost);
            }
            if self.config.ranks_replicas() && !self.config.merges_effects() {
                node.links.set_missed(node.links.missed().max(node.queue.len()));
            }
            node.queue = Queue::empty();
        }
    }

    /// A replica becomes master in the place of one that is dead, cut off, stands still or refuses writes: to Sentinel the last
    /// looks dead too (docs/facts/redis.md#a-failed-save).
    pub(crate) fn promote(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(self.group.master());
        let is_paused = master.is_paused();
        let refuses = master.refuses_writes() && !master.is_away();
        let is_lost = master.is_dead() || master.is_away() || refuses;
        let is_needed = is_lost || self.config.is_mutated(Mutant::PromoteBesideMaster);
        if self.config.is_mutated(Mutant::NoFailoverBesideCrashes) && self.config.faults.crash_client > 0 {
            return None;
        }
        if !is_needed || !self.group.node(node).is_candidate() || !self.is_chosen(node) {
            return None;
        }
        let staying = self.staying(node);
        if refuses {
            self.leave_master_running(node, staying);
        } else {
            if is_paused {
                // Until now it could have gone on.
                self.lose_effects(staying);
            }
            self.take_over(node, staying);
        }
        Some(())
    }

    /// A replica takes the place of a master that runs and is reached. `staying`: the replicas that do not leave it, a bit each.
    pub(super) fn leave_master_running(&mut self, node: u8, staying: u8) {
        let old = self.group.master();
        let silent_ticks = self.silence_of_the_dead();
        let is_unnoticed =
            |dead: &u8| self.group.node(*dead).is_dead() && self.group.node(old).links.is_half_open_to(*dead);
        let unnoticed: NodeSet = (0..self.config.nodes()).filter(is_unnoticed).collect();
        self.lose_master(staying);
        self.take_over(node, staying);
        self.close_links_of_left(old);
        let left = self.group.node_mut(old);
        // Those that leave tell it so. Nobody tells it of a replica whose machine died: it still counts that one.
        left.silent_ticks = silent_ticks;
        unnoticed.iter().for_each(|dead| left.links.note_half_open(dead));
    }

    /// Which of the other replicas stay with the master whose place this node takes, a bit each: those that are cut off
    /// together with it, and where replicas leave one by one, all that are to follow it. Nobody follows a dead master, unless
    /// it restarts.
    pub(super) fn staying(&self, heir: u8) -> u8 {
        let old = self.group.master();
        let leaves_later = self.config.cluster.replicas_leave == ReplicasLeave::OneByOne;
        let is_staying = |index: u8, node: &Node<Y>| {
            let is_its_own = matches!(node.role, Role::Replica | Role::Unsynced);
            let is_with_it = node.is_cut() && self.group.follows(index, old);
            index != heir && is_its_own && (leaves_later || is_with_it)
        };
        let may_return = self.group.node(old).is_dead() && self.config.can_restart();
        if !(self.group.node(old).is_master() || may_return) || self.config.is_mutated(Mutant::NoReplicaStays) {
            return 0;
        }
        let staying = self.group.numbered().filter(|(index, node)| is_staying(*index, node));
        staying.fold(0, |all, (index, _)| all | 1 << index)
    }

    /// The replica is the master now, and the others do not follow it yet. `staying`: those that belong to the old one as
    /// before.
    fn take_over(&mut self, node: u8, staying: u8) {
        let config = self.config;
        let old = self.group.master();
        self.note_left_unnoticed(node, true);
        if self.group.node(old).is_dead() {
            disk::forget_memory(config, self.group.node_mut(old));
        } else {
            self.note_replaced(staying);
            self.leave_paused(old, staying);
        }
        let is_behind_partition = self.group.node(old).is_cut();
        let is_dead = self.group.node(old).is_dead();
        // Nobody tells a dead node, and its file still names the old master.
        let is_on_files = !config.is_mutated(Mutant::DeadReplicaIsTold);
        self.group.masters.set_acting(node);
        for (index, other) in (0u8..).zip(self.group.nodes.as_mut()) {
            other.links.set_missed(0);
            other.links.note_no_heir(index);
            if index == node {
                other.role = Role::Master;
                other.queue = Queue::empty();
                other.silent_ticks = 0;
            } else if staying >> index & 1 != 0 {
                if is_dead {
                    other.silent_ticks = config.silent_for_long();
                }
                let is_reached = other.role == Role::Replica && other.is_cut() == is_behind_partition && !is_dead;
                other.role = if is_reached { Role::OldReplica } else { Role::OldUnsynced };
            } else if other.is_replica() {
                other.role = Role::Unsynced;
                other.queue = Queue::empty();
                other.silent_ticks = config.silent_for_long();
            } else if other.is_dead() {
                // It never reported to this one.
                other.silent_ticks = config.silent_for_long();
                if other.role == Role::DownReplica && is_on_files {
                    other.role = Role::DownOldReplica;
                }
            }
        }
    }

    /// The replicas of a master that was replaced have no master now, until they are told of the acting one: it is dead, or
    /// a replica itself. (One of a master that was demoted would get the new one's data through it; here it has older data
    /// for longer than that.) `may_return`: it is dead, and they follow it again when it restarts.
    pub(super) fn lose_old_replicas(&mut self, old: u8, may_return: bool) {
        if old == self.group.master() {
            return;
        }
        let silent_for_long = self.config.silent_for_long();
        for node in self.group.nodes.as_mut().iter_mut() {
            if node.is_old_replica() {
                node.role = if may_return { Role::OldUnsynced } else { Role::Unsynced };
                node.queue = Queue::empty();
                node.silent_ticks = silent_for_long;
            } else if node.role == Role::DownOldReplica && !may_return {
                node.role = Role::DownReplica;
            }
        }
    }

    /// Replicas that are to follow the master that was replaced, and reach it again, take its data and follow it. Nothing
    /// else can come first: the link was broken on both sides, and each has been trying all the time.
    pub(super) fn rejoin_old_master(&mut self) -> WaitAnswers {
        let config = self.config;
        let mut answers = WaitAnswers::default();
        for index in 0..config.nodes() {
            let node = self.group.node(index);
            if node.role != Role::OldUnsynced || node.is_away() {
                continue;
            }
            // A master that refuses writes refuses the `PING` of the handshake too.
            let is_reached = |old: &u8| {
                let old = self.group.node(*old);
                !old.is_away() && !old.refuses_writes() && !old.hands_over()
            };
            let Some(old) = self.group.old_master_of(index).filter(is_reached) else {
                continue;
            };
            let (stored, ahead) = (self.group.node(old).stored, self.group.node(old).ahead);
            let replica = self.group.node_mut(index);
            replica.role = Role::OldReplica;
            replica.stored = taken_over(config, stored, ahead, replica.ahead);
            replica.silent_ticks = 0;
            disk::take_copy(config, replica, replica.stored);
            self.group.node_mut(old).links.close(index);
            answers = answers.and(self.acknowledge(index));
        }
        answers
    }

    /// A replica begins to follow the acting master and takes its data.
    pub(crate) fn resync(&mut self, node: u8) -> Option<WaitAnswers> {
        if self.group.node(node).role != Role::Unsynced {
            return None;
        }
        self.follow(node)
    }

    /// A replica that still follows a master that was replaced is told of the acting one, and leaves. It counts for neither
    /// until it has its copy, up to a second later (docs/facts/redis.md#who-follows-whom-after-a-promotion).
    pub(crate) fn leave_master(&mut self, node: u8) -> Option<()> {
        let leaving = self.group.node(node);
        if !leaving.is_old_replica() || leaving.is_away() {
            return None;
        }
        self.note_left_unnoticed(node, true);
        let silent_for_long = self.config.silent_for_long();
        let leaving = self.group.node_mut(node);
        leaving.role = Role::Unsynced;
        leaving.queue = Queue::empty();
        leaving.silent_ticks = silent_for_long;
        Some(())
    }

    /// The authority that decides on failovers makes an old master a replica: it refuses writes from now on, and keeps what it
    /// has until it has taken the new master's data. Its clients lose their connections (Sentinel sends `CLIENT KILL TYPE
    /// normal` and `pubsub` with `REPLICAOF`).
    pub(crate) fn demote(&mut self, node: u8) -> Option<()> {
        let old = self.group.node(node);
        // Sentinel demotes no node that it takes for dead (`sentinelRedisInstanceNoDownFor`; docs/facts/redis.md#a-failed-save),
        // and one that hands over refuses to follow another (docs/facts/redis.md#the-failover-command).
        let is_left_alone = node == self.group.master() || old.is_away() || old.refuses_writes() || old.hands_over();
        if !old.is_master() || is_left_alone || !self.takes_replicas() {
            return None;
        }
        self.lose_old_replicas(node, false);
        let silent_ticks = self.config.silent_for_long();
        let demoted = self.group.node_mut(node);
        demoted.role = Role::Unsynced;
        demoted.pace = Pace::Runs;
        demoted.silent_ticks = silent_ticks;
        demoted.links.close_all();
        Some(())
    }

    /// Whether the acting master lets a node follow it. One that refuses writes refuses the `PING` of the handshake too, and
    /// one that hands over the `PSYNC` (docs/facts/redis.md#the-failover-command).
    fn takes_replicas(&self) -> bool {
        let takes = |master: &Node<Y>| !master.is_away() && !master.refuses_writes() && !master.hands_over();
        self.group.acting_master().is_some_and(takes)
    }

    /// A node begins to follow the acting master. Partial or full, the resync ends with the master's data: a full copy
    /// replaces what the node had.
    pub(super) fn follow(&mut self, node: u8) -> Option<WaitAnswers> {
        let config = self.config;
        if !self.takes_replicas() {
            return None;
        }
        let master = self.group.acting_master()?;
        let (stored, ahead) = (master.stored, master.ahead);
        let replica = self.group.node_mut(node);
        if replica.is_away() {
            return None;
        }
        replica.role = Role::Replica;
        replica.queue = Queue::empty();
        replica.pace = Pace::Runs;
        replica.links.set_missed(0);
        // A copy holds deadlines, in every version.
        let copied = taken_over(config, stored, ahead, replica.ahead);
        disk::take_copy(config, replica, copied);
        replica.silent_ticks = 0;
        self.group.node_mut(self.group.master()).links.close(node);
        Some(self.acknowledge(node))
    }

    /// Whether the scenario's rule may choose this replica.
    fn is_chosen(&self, node: u8) -> bool {
        let mut candidates = self.group.numbered().filter(|(_, node)| node.is_candidate());
        match self.config.cluster.promote {
            PromoteRule::Any | PromoteRule::Coordinated | PromoteRule::Forced => true,
            PromoteRule::Priority => candidates.next().is_some_and(|(first, _)| first == node),
            PromoteRule::MostData => {
                // One that does not follow the dead master yet has less than any that did.
                let rank = |index: u8| {
                    let candidate = self.group.node(index);
                    // Behind a master that stands still, what is under way now is lost.
                    let under_way = if self.config.merges_effects() { 0 } else { candidate.queue.len() };
                    (candidate.role == Role::Unsynced, candidate.links.missed().max(under_way))
                };
                candidates.all(|(other, _)| rank(node) <= rank(other))
            }
        }
    }
}
