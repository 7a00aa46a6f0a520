//! An operator moves the slot of the lock to another master of its cluster.
//!
//! A slot is moved key by key. Each key is at one of the two masters meanwhile, and the old one sends clients on who ask for a key that it
//! does not have. So both are one node here. But neither has all keys of a release, which names its channel and its receipt, and these do
//! not exist: so the release is refused (`TRYAGAIN`), and so is each request of several keys of which one does not exist.
//! Source: docs/facts/cluster.md#while-a-slot-is-moved.
//!
//! What the new master writes does not reach the replica of the old one. Nobody tells that replica of the move: if it is promoted, it is
//! the master of the whole slot, and what is at the new master is lost (#a-failover-while-a-slot-is-moved). At the end of the move this
//! node is the new master, and the operator has it followed by the replica that the old one had.

use super::connections::{Connection, WaitAnswers};
use super::group::Role;
use super::layout::{ServerLayout, StoredIn};
use super::server::Server;
use crate::config::sections::Channels;
use crate::locks::contract::{KeyFamily, Lock as _, LockRequest, Writes};
use crate::mutants::Mutant;
use crate::notes::Happening;

impl<Y: ServerLayout> Server<'_, Y> {
    /// The slot begins to move: its keys are still at the old master.
    pub(crate) fn move_slot(&mut self, node: u8) -> Option<()> {
        if node != self.group.master() {
            return None;
        }
        self.change_role(node, Role::Master, Role::MovingSlot)
    }

    /// The keys of the slot are moved. The old master deletes them, as its replica is told; those who ask find them at the new one.
    pub(crate) fn move_keys(&mut self, node: u8) -> Option<()> {
        if self.has_due_key(node) {
            return None;
        }
        self.change_role(node, Role::MovingSlot, Role::KeysMoved)?;
        if self.group.node(node).stored.is_absent() || self.config.is_mutated(Mutant::MoveReachesReplica) {
            return Some(());
        }
        self.send(node, StoredIn::<Y>::default(), Writes::NONE.key(KeyFamily::Lock), false)
    }

    /// The move is over, and this node is the new master of the slot.
    pub(crate) fn finish_move(&mut self, node: u8) -> Option<WaitAnswers> {
        // Without a replica nobody can tell where the keys were last.
        let last = if self.config.cluster.replicas > 0 { Role::KeysMoved } else { Role::MovingSlot };
        if last == Role::MovingSlot && self.has_due_key(node) {
            return None;
        }
        self.change_role(node, last, Role::Master)?;
        if self.config.cluster.channels == Channels::Sharded && !self.config.is_mutated(Mutant::MovedSubscriptionLives)
        {
            self.end_subscriptions(node);
        }
        let replica = (0..self.config.nodes()).find(|other| self.group.node(*other).role == Role::Replica);
        replica.map_or_else(|| Some(WaitAnswers::default()), |replica| self.follow(replica))
    }

    /// Whether a key has no time left. `MIGRATE` would give it a millisecond, which the model cannot say; so it is moved once it is renewed
    /// or gone.
    fn has_due_key(&self, node: u8) -> bool {
        let lock = self.group.node(node).stored.lock;
        // Also one that no holder is stored with any more.
        lock.has_due() || lock.keys().iter().any(|key| key.ttl.is_due())
    }

    /// The old master ends the subscriptions to the channels of the slot, and no client subscribes anew
    /// (docs/facts/cluster.md#subscriptions).
    fn end_subscriptions(&mut self, node: u8) {
        for connection in self.group.connections.as_mut() {
            if connection.subscription() == Some(node) {
                connection.set_subscription(Some(Connection::ENDED_UNNOTICED));
                self.notes.happened(Happening::SubscriptionLost);
            }
        }
    }

    /// Whether a node refuses this request because it has some of its keys and not all.
    pub(super) fn lacks_keys_of(&self, node: u8, request: LockRequest) -> bool {
        let node = self.group.node(node);
        if !node.moves_slot() {
            return false;
        }
        let (lacks, mutant) = match request {
            LockRequest::Release(requester) => {
                let own = self.config.settings_of(requester.holder.client()).protocol;
                (Y::Lock::FACTS.releases_several_keys(own.receipts), Mutant::MovingSlotReleases)
            }
            LockRequest::Force => (Y::Lock::FACTS.publishes(), Mutant::MovingSlotReleases),
            LockRequest::Renew(_) => (node.stored.lock.lacks_key_of(request), Mutant::MovingSlotRenews),
            LockRequest::Acquire(_)
            | LockRequest::SetTtl(_)
            | LockRequest::LeaveQueue(_)
            | LockRequest::AskIfHeld(_) => (node.stored.lock.lacks_key_of(request), Mutant::MovingSlotGrants),
        };
        lacks && !self.config.is_mutated(mutant)
    }

    /// Whether what is written here goes to the new master of the slot, and so not to the replica of the old one. The first key that does
    /// not exist yet is created there: from then on the keys count as moved.
    pub(super) fn writes_elsewhere(&mut self, master: u8, was_absent: bool) -> bool {
        let writing = self.group.node_mut(master);
        if writing.role == Role::MovingSlot && was_absent && self.config.cluster.replicas > 0 {
            writing.role = Role::KeysMoved;
        }
        writing.role == Role::KeysMoved && !self.config.is_mutated(Mutant::MoveReachesReplica)
    }
}
