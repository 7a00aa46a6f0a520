//! What a node stores, once nobody can read it any more.
//!
//! A replica's data is read when it is promoted, and by a client that takes it for the master; those of a dead node when it
//! restarts. Once neither can happen, worlds that differ in such data alone are alike for ever: the normal form of a world
//! (`world/normal_form`) leaves it out.

use super::group::{Group, Node, Role};
use super::layout::ServerLayout;
use super::queue::{Effect, Queue};
use crate::config::faults::Faults;
use crate::config::sections::Config;
use crate::locks::stored::Stored;
use crate::mutants::Mutant;

impl<Y: ServerLayout> Group<Y> {
    /// Whether some replica may still take the master's place.
    fn can_fail_over(&self, config: &Config, faults: Faults) -> bool {
        let is_replaced =
            self.acting_master().is_none_or(Node::is_cut) || config.is_mutated(Mutant::PromoteBesideMaster);
        is_replaced || faults.crash_node > 0 || faults.cut_link > 0 || faults.hand_over > 0
    }

    /// The nodes that never run again and are not compared with a successor: a bit each.
    pub(crate) fn lost(&self, faults: Faults) -> u8 {
        let is_lost = |index: u8, node: &Node<Y>| node.is_dead() && index != self.master && faults.restart_node == 0;
        self.those(is_lost)
    }

    /// The nodes whose data nobody will read, if no client asks them: a bit each. A master that restarts is one at once.
    pub(crate) fn unread(&self, config: &Config, faults: Faults) -> u8 {
        let follows = |_: u8, node: &Node<Y>| node.is_replica() || node.role == Role::DownReplica;
        if self.can_fail_over(config, faults) { 0 } else { self.those(follows) }
    }

    fn those(&self, is_meant: impl Fn(u8, &Node<Y>) -> bool) -> u8 {
        self.numbered().filter(|(index, node)| is_meant(*index, node)).fold(0, |all, (index, _)| all | 1 << index)
    }
}

impl<Y: ServerLayout> Node<Y> {
    /// Without its data. An effect that a `WAIT` is open for stays: its arrival is counted. Returns whether effects were left
    /// out that it could have applied.
    pub(crate) fn leave_out_data(&mut self, faults: Faults) -> bool {
        self.stored = Stored::default();
        self.disk = Stored::default();
        self.links.set_missed(0);
        if self.is_dead() && faults.restart_node == 0 {
            self.silent_ticks = 0;
        }
        self.queue.keep_awaited()
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
            let pushed = kept.push(*effect);
            debug_assert!(pushed.is_some(), "no more than there were");
        }
        *self = kept;
        true
    }
}
