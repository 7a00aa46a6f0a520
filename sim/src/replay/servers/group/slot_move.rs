//! An operator moves the slot of the lock to another master of the cluster, which has no slot before.
//!
//! The new master is a server beside the nodes of the history: until the move is over the old one stands for both, and from then on
//! the new one has its place. Who asks the old one is sent on as a client of the cluster is (`ASK`).

use lockstep_model::config::Fsync;
use redis::{Cmd, ConnectionLike as _, Value};

use super::members::{START_MS, ServerGroup};
use super::other_master::{Moving, OtherMaster};
use crate::replay::error::ReplayError;
use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::node::{ClusterPlace, NodeSettings, ServerNode, SlotState};

impl ServerGroup {
    /// Starts the other master, where the scenario has a slot moved.
    pub(super) fn start_other_master(&mut self, settings: NodeSettings) -> Result<(), ReplayError> {
        self.other_master = None;
        if self.config.faults.move_slot == 0 {
            return Ok(());
        }
        debug_assert_eq!(self.config.cluster.fsync, Fsync::None, "no node restarts (S008)");
        let settings = NodeSettings { in_cluster: Some(ClusterPlace::WithoutSlots), ..settings };
        let node = ServerNode::start_with(&self.server, START_MS, settings)?;
        let connection = self.connect(&node)?;
        self.other_master = Some(OtherMaster { node, connection, address: None, moving: None });
        Ok(())
    }

    /// The node of the other master, if there is one.
    pub(super) fn other_node(&self) -> Option<&ServerNode> {
        self.other_master.as_ref().map(|other| &other.node)
    }

    /// The nodes of the cluster are there, and learn of the other master.
    pub(super) fn meet_other_master(&mut self) -> Result<(), ReplayError> {
        let has_addresses = self.addresses.is_some();
        let Some(other) = &mut self.other_master else { return Ok(()) };
        self.members.iter().try_for_each(|member| member.node.meet(&other.node))?;
        other.node.join(&self.members[0].node, START_MS)?;
        other.address = if has_addresses { None } else { Some(AddressProxy::open_for(&other.node)?) };
        Ok(())
    }

    /// Whether what a node stores may be at the other master.
    pub fn has_keys_elsewhere(&self, node: usize) -> bool {
        self.other_master.as_ref().and_then(|other| other.moving).is_some_and(|moving| moving.from == node)
    }

    /// Whether messages reach those who are subscribed on a node through the cluster, and so a moment later.
    pub fn has_other_master(&self) -> bool {
        self.other_master.is_some()
    }

    /// Begins to move the slot of the lock with this name. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`.
    pub fn move_slot(&mut self, node: usize, lock: &str) -> Result<String, ReplayError> {
        self.is_worn = true;
        let old = &self.members[node].node;
        let slot = old.slot_of(lock)?;
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        other.node.set_slot(slot, SlotState::Importing, old)?;
        old.set_slot(slot, SlotState::Migrating, &other.node)?;
        other.moving = Some(Moving { slot, from: node });
        Ok(format!("CLUSTER SETSLOT {slot} IMPORTING, MIGRATING"))
    }

    /// Moves the keys of the slot. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`; as [`mark_now`](Self::mark_now).
    pub fn move_keys(&mut self, node: usize) -> Result<String, ReplayError> {
        let other = self.other_master.as_ref().ok_or_else(no_other_master)?;
        let old = &self.members[node].node;
        old.delete_expired()?;
        let moved = old.migrate_keys(other.moving.ok_or_else(no_other_master)?.slot, &other.node)?;
        if moved > 0 {
            self.mark_now()?;
        }
        Ok(format!("MIGRATE of {moved} keys"))
    }

    /// Ends the move: the other master takes the place of this one, and its replica follows it. Returns what was done, in words.
    ///
    /// # Errors
    /// `Redis`; `TimedOut` if the replica does not follow.
    pub fn finish_move(&mut self, node: usize) -> Result<String, ReplayError> {
        let moved = self.move_keys(node)?;
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        let Moving { slot, .. } = other.moving.take().ok_or_else(no_other_master)?;
        let member = &mut self.members[node];
        // The new master first, so that each request has somebody who answers it.
        other.node.set_slot(slot, SlotState::Owned, &other.node)?;
        member.node.set_slot(slot, SlotState::Owned, &other.node)?;
        std::mem::swap(&mut member.node, &mut other.node);
        std::mem::swap(&mut member.connection, &mut other.connection);
        if let Some(addresses) = &mut self.addresses {
            addresses.exchange_last(node);
        }
        for replica in (0..self.members.len()).filter(|other| *other != node) {
            if !self.is_dead(replica) {
                self.follow_master(replica)?;
            }
        }
        Ok(format!("{moved}; CLUSTER SETSLOT {slot} NODE"))
    }

    /// Both masters of a slot that is being moved delete the keys that have expired, as in production ten times a second.
    pub(super) fn delete_expired_of_slot(&self, node: usize) -> Result<(), ReplayError> {
        self.members[node].node.delete_expired()?;
        self.other_master.as_ref().map_or(Ok(()), |other| other.node.delete_expired())
    }

    /// Moves the clock of the other master, as that of the master.
    pub(super) fn advance_other_master(&self, by_ms: i64) -> Result<(), ReplayError> {
        self.other_master.as_ref().map_or(Ok(()), |other| other.node.advance_clock(by_ms))
    }

    /// The answer to a request that was sent to a node: that of the other master, if the node sends on who asks it.
    pub(super) fn followed(&mut self, node: usize, command: &Cmd, answer: Value) -> Result<Value, ReplayError> {
        if self.has_keys_elsewhere(node) && is_sent_on(&answer) { self.ask_other_master(command) } else { Ok(answer) }
    }

    /// Asks the other master, as one who was sent to it.
    ///
    /// # Errors
    /// `Redis`.
    pub fn ask_other_master(&mut self, command: &Cmd) -> Result<Value, ReplayError> {
        let other = self.other_master.as_mut().ok_or_else(no_other_master)?;
        other.connection.req_command(&redis::cmd("ASKING")).map_err(ReplayError::redis("ASKING"))?;
        other.connection.req_command(command).map_err(ReplayError::redis("a request of the other master"))
    }
}

/// Whether a node answers that another one is to be asked.
pub fn is_sent_on(answer: &Value) -> bool {
    matches!(answer, Value::ServerError(error) if error.code() == "ASK")
}

fn no_other_master() -> ReplayError {
    ReplayError::link("no slot is moved here")
}
