//! An operator makes a replica the master while the master runs.
//!
//! Either Sentinel, or the operator, promotes the replica at once, and the old master goes on until it is demoted
//! (`SENTINEL FAILOVER`, `REPLICAOF NO ONE`). Or the master itself hands over (`FAILOVER`): then every write waits, renewals
//! too, until its heir has everything, or until it gives up. Forced, it waits until its time-out at most, and then the heir
//! takes over with what it has.
//!
//! Simplified: where request and answer are one step, a master that hands over answers no request, as if it stood still.
//! A master that hands over is told neither to end nor to save, does not stand still, and its disk does not fail; its
//! operator may give up at any moment (`FAILOVER ABORT`). It still answers what writes nothing.
//!
//! Source: docs/facts/redis.md#the-failover-command, #failover-with-force, #choice-of-the-replica.

use super::connections::WaitAnswers;
use super::group::{Group, Node, Pace, Role};
use super::layout::ServerLayout;
use super::server::Server;
use crate::config::sections::{Bound, Config, PromoteRule};
use crate::mutants::Mutant;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A replica is made the master while the master runs, or the master begins to hand over to it. The other replicas leave
    /// an old master that goes on: at once, or one by one, each when it is told (`replicas_leave`).
    pub(crate) fn hand_over(&mut self, node: u8) -> Option<WaitAnswers> {
        let old = self.group.master();
        let (master, heir) = (self.group.node(old), self.group.node(node));
        if !master.is_master() || master.is_away() || master.hands_over() {
            return None;
        }
        if self.config.cluster.promote.is_by_the_master() {
            // A replica whose last save failed dies of the next write: who hands over by the master mends the disk first.
            if !can_be_heir(heir) || master.refuses_writes() {
                return None;
            }
            self.group.node_mut(node).links.note_heir(node);
            if !self.config.is_mutated(Mutant::HandOverLetsWritesPass) {
                self.group.node_mut(old).role = Role::HandingOver;
            }
            self.group.node_mut(old).down_ticks = 0;
            return Some(WaitAnswers::default());
        }
        // Nobody but the master looks at the link of the heir: REPLICAOF NO ONE does not, and Sentinel hardly.
        if !heir.is_candidate() {
            return None;
        }
        self.leave_master_running(node, self.staying(node));
        self.group.node_mut(old).pace = Pace::Runs;
        Some(self.rejoin_old_master())
    }

    /// The heir of a master that hands over takes its place: it has everything, or the time-out of a forced hand-over has
    /// come. The old master is a replica at once.
    pub(crate) fn finish_hand_over(&mut self, node: u8) -> Option<WaitAnswers> {
        let old = self.group.master();
        let (master, heir) = (self.group.node(old), self.group.node(node));
        let lacks_some = !heir.queue.is_empty();
        let is_forced = self.config.cluster.promote == PromoteRule::Forced
            && has_waited(self.config, master)
            && !self.config.is_mutated(Mutant::ForceWaits);
        let is_ready = !lacks_some || is_forced || self.config.is_mutated(Mutant::HandOverTooEarly);
        if !heir.links.is_of_heir(node) || !can_be_heir(heir) || master.is_away() || !is_ready {
            return None;
        }
        let were_wrong = [node, old].map(|changing| self.group.masters.is_wrong_on_file(changing));
        // Nobody tells the other replicas: they get the new one's data through the old one, here only once they are told, and
        // are its own again if it restarts as a master (docs/facts/redis.md#the-failover-command).
        let staying = if self.config.can_restart() { self.staying(node) } else { 0 };
        self.leave_master_running(node, staying);
        self.lose_old_replicas(old, true);
        if self.config.can_restart() && !self.config.is_mutated(Mutant::FailoverRewritesFile) {
            // Each changes what it is, and no file is rewritten: what was wrong is right now.
            let masters = &mut self.group.masters;
            [node, old].iter().zip(were_wrong).for_each(|(&changed, was)| masters.note_file(changed, !was));
        }
        // A master that becomes a replica closes the links of its replicas.
        let left = self.group.node_mut(old);
        left.links.close_all();
        left.pace = Pace::Runs;
        left.down_ticks = 0;
        if lacks_some && !self.config.is_mutated(Mutant::HandOverTooEarly) {
            // It asks the new master for writes that this one never had, and gets a full copy: its own writes are erased.
            return self.follow(old);
        }
        // It continues from where it is (a partial resync): what it stores is what it stored.
        left.role = Role::Replica;
        left.silent_ticks = 0;
        Some(self.acknowledge(old))
    }

    /// After a hand-over by the master: by the new master's clock the key may be over, and it deletes what the old one still
    /// stores.
    pub(crate) fn delete_expired_after_hand_over(&mut self, old: u8) -> Option<()> {
        let master = self.group.master();
        let is_over = self.group.node(master).stored.is_absent() && !self.group.node(old).stored.is_absent();
        if self.config.counts_deletions() && is_over { self.send_deletion(master) } else { Some(()) }
    }

    /// A master that hands over gives up: its heir has not everything at the time-out, or its operator has changed his mind.
    /// It executes what waits, and takes replicas again.
    pub(crate) fn give_up_hand_over(&mut self, node: u8) -> Option<WaitAnswers> {
        if !self.group.node(node).hands_over() {
            return None;
        }
        let giving_up = self.group.node_mut(node);
        giving_up.role = Role::Master;
        giving_up.down_ticks = 0;
        if node == self.group.master() {
            self.forget_heir();
        }
        self.delete_expired_meanwhile(node)?;
        Some(self.rejoin_old_master())
    }

    /// Nobody hands over to anybody.
    pub(super) fn forget_heir(&mut self) {
        (0u8..).zip(self.group.nodes.as_mut()).for_each(|(own, node)| node.links.note_no_heir(own));
    }
}

/// Whether time must wait for a master that has let writes wait for as long as it may.
pub(crate) fn is_late<Y: ServerLayout>(config: &Config, group: &Group<Y>) -> bool {
    let is_bounded = config.cluster.hand_over_timeout != Bound::Any;
    is_bounded && group.nodes.as_ref().iter().any(|node| node.hands_over() && has_waited(config, node))
}

/// Whether the time-out of a hand-over may have come. Where the scenario sets none, nobody knows when it comes.
fn has_waited<Y: ServerLayout>(config: &Config, master: &Node<Y>) -> bool {
    match config.cluster.hand_over_timeout {
        Bound::Ticks(ticks) => master.down_ticks >= ticks,
        Bound::Any => true,
    }
}

/// A master hands over only to a replica that is connected.
fn can_be_heir<Y: ServerLayout>(heir: &Node<Y>) -> bool {
    heir.role == Role::Replica && !heir.is_away()
}
