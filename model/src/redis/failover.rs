//! A node dies, a replica is promoted, the others follow it: each a step of its own.
//!
//! Source: docs/facts/redis.md#sentinel: one promotion at a time, the rest is reconfigured, clients learn last.

use super::clock::taken_over;
use super::connections::WaitAnswers;
use super::disk;
use super::group::{Pace, Role};
use super::layout::ServerLayout;
use super::queue::Queue;
use super::server::Server;
use crate::config::sections::{Bound, PromoteRule};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::time::Timer;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A node dies.
    pub(crate) fn crash(&mut self, node: u8) -> Option<()> {
        if !self.group.node(node).is_up() {
            return None;
        }
        let config = self.config;
        let was_acting = node == self.group.master;
        let dying = self.group.node_mut(node);
        dying.links.set_missed(0);
        dying.pace = Pace::Runs;
        dying.role = if config.can_restart() && !dying.is_master() { Role::DownReplica } else { Role::Down };
        dying.queue = Queue::empty();
        dying.silent_ticks = 0;
        self.close_links(node);
        if was_acting {
            // What it stored stays until a replica takes its place: what that replica does not have is what the failover
            // loses.
            self.lose_master();
        } else {
            disk::forget_memory(config, self.group.node_mut(node));
        }
        Some(())
    }

    /// The acting master is dead, or cut off: what it had not sent does not reach its replicas, and a failover may begin.
    pub(super) fn lose_master(&mut self) {
        self.begin_failover();
        self.lose_effects();
    }

    /// The acting master is not reached any more: from now on a failover takes as long as it may.
    pub(super) fn begin_failover(&mut self) {
        self.group.failover_left = match self.config.cluster.failover_within {
            Bound::Ticks(ticks) => Timer::ticks(ticks),
            Bound::Any => Timer::OFF,
        };
    }

    /// What is under way to the replicas does not reach them.
    fn lose_effects(&mut self) {
        for node in self.group.nodes.as_mut().iter_mut().filter(|node| node.role == Role::Replica) {
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

    /// A replica becomes master in the place of one that is dead, cut off or stands still.
    pub(crate) fn promote(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(self.group.master);
        let is_needed = master.is_dead() || master.is_away() || self.config.is_mutated(Mutant::PromoteBesideMaster);
        if self.config.is_mutated(Mutant::NoFailoverBesideCrashes) && self.config.faults.crash_client > 0 {
            return None;
        }
        if !is_needed || !self.group.node(node).is_candidate() || !self.is_chosen(node) {
            return None;
        }
        if self.group.node(self.group.master).is_paused() {
            // Until now it could have gone on.
            self.lose_effects();
        }
        self.take_over(node);
        Some(())
    }

    /// An operator makes a replica the master while the master runs. Coordinated, it waits until the replica has everything,
    /// and writes wait as well: the old master is a replica at once, and nothing is lost (`FAILOVER`, docs/facts/redis.md#the-failover-command).
    /// Otherwise the old one continues until it is demoted (`SENTINEL FAILOVER`, `REPLICAOF NO ONE`). The other replicas
    /// leave it in both cases.
    ///
    /// Whether the old master's connections are closed, and which `WAIT`s the new one answers.
    pub(crate) fn hand_over(&mut self, node: u8) -> Option<(bool, WaitAnswers)> {
        let old = self.group.master;
        let (master, heir) = (self.group.node(old), self.group.node(node));
        if !master.is_master() || master.is_away() || heir.role != Role::Replica || heir.is_away() {
            return None;
        }
        let is_coordinated = self.config.cluster.promote == PromoteRule::Coordinated;
        if is_coordinated && !heir.queue.is_empty() && !self.config.is_mutated(Mutant::HandOverTooEarly) {
            return None;
        }
        self.lose_master();
        self.take_over(node);
        let silent_for_long = self.config.silent_for_long();
        let left = self.group.node_mut(old);
        left.silent_ticks = silent_for_long;
        left.links.close_all();
        left.pace = Pace::Runs;
        if !is_coordinated {
            return Some((false, WaitAnswers::default()));
        }
        // It continues from where it is (a partial resync): what it stores is what it stored.
        left.role = Role::Replica;
        left.silent_ticks = 0;
        Some((true, self.acknowledge(old)))
    }

    /// After a coordinated hand-over: by the new master's clock the key may be over, and it deletes what the old one still
    /// stores.
    pub(crate) fn delete_expired_after_hand_over(&mut self, old: u8) -> Option<()> {
        let master = self.group.master;
        let is_over = self.group.node(master).stored.is_free() && !self.group.node(old).stored.is_free();
        if self.config.has_skew() && is_over { self.send_deletion(master) } else { Some(()) }
    }

    /// The replica is the master now, and the others do not follow it yet.
    fn take_over(&mut self, node: u8) {
        let config = self.config;
        let old = self.group.master;
        if self.group.node(old).is_dead() {
            disk::forget_memory(config, self.group.node_mut(old));
        } else {
            self.note_replaced();
            self.leave_paused(old);
        }
        self.group.master = node;
        for (index, other) in (0u8..).zip(self.group.nodes.as_mut()) {
            other.links.set_missed(0);
            if index == node {
                other.role = Role::Master;
                other.queue = Queue::empty();
                other.silent_ticks = 0;
            } else if other.is_replica() {
                other.role = Role::Unsynced;
                other.queue = Queue::empty();
                other.silent_ticks = config.silent_for_long();
            }
        }
    }

    /// A replica begins to follow the new master and takes its data.
    pub(crate) fn resync(&mut self, node: u8) -> Option<WaitAnswers> {
        if self.group.node(node).role != Role::Unsynced {
            return None;
        }
        self.follow(node)
    }

    /// The authority that decides on failovers makes an old master a replica: the writes that only it has are erased. Its
    /// clients lose their connections (Sentinel sends `CLIENT KILL TYPE normal` and `pubsub` with `REPLICAOF`).
    pub(crate) fn demote(&mut self, node: u8) -> Option<WaitAnswers> {
        if node == self.group.master || !self.group.node(node).is_master() {
            return None;
        }
        self.follow(node)
    }

    /// A node begins to follow the acting master. Partial or full, the resync ends with the master's data: a full copy
    /// replaces what the node had.
    fn follow(&mut self, node: u8) -> Option<WaitAnswers> {
        let config = self.config;
        let master = self.group.acting_master().filter(|master| !master.is_away())?;
        let (stored, ahead) = (master.stored, master.ahead);
        let replica = self.group.node_mut(node);
        if replica.is_away() {
            return None;
        }
        replica.role = Role::Replica;
        replica.pace = Pace::Runs;
        replica.links.set_missed(0);
        // A copy holds deadlines, in every version.
        replica.stored = taken_over(config, stored, ahead, replica.ahead);
        replica.silent_ticks = 0;
        disk::copy(config, replica);
        self.group.node_mut(self.group.master).links.close(node);
        Some(self.acknowledge(node))
    }

    /// Whether the scenario's rule may choose this replica.
    fn is_chosen(&self, node: u8) -> bool {
        let mut candidates = self.group.numbered().filter(|(_, node)| node.is_candidate());
        match self.config.cluster.promote {
            PromoteRule::Any | PromoteRule::Coordinated => true,
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
