//! Ties: a key that has no time left is still there, or gone already.
//!
//! All clocks stand at the instant at which the key is due, and Redis shows a key until its clock is beyond that
//! (docs/facts/redis.md#ties). So a node whose key is gone is put 1 ms further. A master deletes the key then, and its clock is
//! set back at once: all that remains is that the key is gone. A replica deletes nothing by itself: it hides the key as long as
//! its clock is beyond the tie. So it stays there until the next tick, until it becomes master and deletes the key, or
//! until what its master sends shows something again that has no time left.

use lockstep_model::trace::NodeState;

use super::members::ServerGroup;
use crate::replay::error::ReplayError;

/// By how much a clock is beyond a tie: the smallest time that Redis distinguishes.
const BEYOND_MS: i64 = 1;

impl ServerGroup {
    /// These keys of a node, which have no time left, are gone. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::set_clock`]; `Redis`; as [`mark_now`](Self::mark_now).
    pub fn expire(&mut self, node: usize, keys: Vec<String>) -> Result<String, ReplayError> {
        let name = self.name_of(node);
        if !self.is_beyond_tie(node) {
            self.members[node].node.advance_clock(BEYOND_MS)?;
        }
        if !self.is_master(node) {
            self.members[node].hidden.extend(keys);
            // Only a new server is sure to have nothing hidden.
            self.is_worn = true;
            return Ok(format!(
                "the clock of {name} goes {BEYOND_MS} ms beyond the end of the lease: it hides the key"
            ));
        }
        // The key of a slot that is being moved may be at the other master.
        self.advance_other_master(BEYOND_MS)?;
        let has_written = self.delete_beyond_tie(node, &keys)?;
        self.advance_other_master(-BEYOND_MS)?;
        // As the model says: elsewhere nobody can tell, and the deletion is part of the next effect.
        if has_written && node == self.master && self.config.sends_expiry() {
            self.mark_now()?;
        }
        Ok(format!("the clock of {name} goes {BEYOND_MS} ms beyond the end of the lease: it deletes the key"))
    }

    /// The milliseconds by which the clock of a node is beyond those of the others because it hides a key.
    pub fn ms_beyond_tie(&self, node: usize) -> i64 {
        if self.is_beyond_tie(node) { BEYOND_MS } else { 0 }
    }

    /// Before a step: the nodes that must not hide anything any more in the state after it.
    pub fn beyond_tie_no_longer(&self, after: &[NodeState]) -> Vec<usize> {
        let shows =
            |node: &NodeState| node.stored.is_held() || node.stored.keys.iter().any(|key| key.ttl_ms == Some(0));
        let numbered = after.iter().enumerate();
        numbered.filter(|(index, node)| self.is_beyond_tie(*index) && shows(node)).map(|(index, _)| index).collect()
    }

    /// Sets the clock of a node back that hid a key: what its master sends takes the place of that key.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::set_clock`].
    pub fn return_to_tie(&mut self, node: usize) -> Result<(), ReplayError> {
        self.members[node].hidden.clear();
        self.members[node].node.advance_clock(-BEYOND_MS)
    }

    /// After a step: masters that hid a key as replicas delete it, and their clocks are set back.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::set_clock`]; `Redis`.
    pub fn delete_hidden(&mut self) -> Result<(), ReplayError> {
        for node in 0..self.members.len() {
            if self.is_beyond_tie(node) && self.is_master(node) {
                let keys = std::mem::take(&mut self.members[node].hidden);
                self.delete_beyond_tie(node, &keys)?;
            }
        }
        Ok(())
    }

    /// A master whose clock is beyond the tie deletes these keys, and its clock is set back. Returns whether it wrote.
    fn delete_beyond_tie(&mut self, node: usize, keys: &[String]) -> Result<bool, ReplayError> {
        let before = self.members[node].node.offset()?;
        if self.has_keys_elsewhere(node) {
            // Whom it asks for such a key, it sends on, and deletes nothing (measured: 7.0.15, Valkey 9.1.2).
            self.delete_expired_of_slot(node)?;
        } else {
            self.ask(node, &redis::cmd("EXISTS").arg(keys).to_owned(), "EXISTS")?;
        }
        let has_written = self.members[node].node.offset()? > before;
        self.members[node].node.advance_clock(-BEYOND_MS)?;
        Ok(has_written)
    }

    /// Whether the clock of a node is beyond the tie because it hides a key.
    pub(super) fn is_beyond_tie(&self, node: usize) -> bool {
        !self.members[node].hidden.is_empty()
    }
}
