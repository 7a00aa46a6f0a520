//! What happens to single nodes: they crash and restart, lose keys, and their clocks jump.

use std::cell::Cell;

use lockstep_model::config::Fsync;

use super::members::{GroupMember, HalfOpenLink, MemberRole, ServerGroup};
use crate::replay::error::ReplayError;
use crate::replay::node_names::name_of_node;
use crate::replay::servers::gate::Gate;

impl ServerGroup {
    /// Kills a node with everything that it has not replicated. Returns what was done, in words.
    ///
    /// # Errors
    /// `System` if the kernel refuses; `Redis` if a sentinel refuses a setting.
    pub fn crash(&mut self, node: usize) -> Result<String, ReplayError> {
        self.expect_failover_of(node)?;
        let GroupMember { node: dying, gate, role, is_uncounted, is_behind, .. } = &mut self.members[node];
        match self.config.cluster.fsync {
            Fsync::EverySecond => dying.kill_without_power()?,
            Fsync::None | Fsync::Always => dying.kill()?,
        }
        *role = MemberRole::Dead;
        (*is_uncounted, *is_behind) = (false, Cell::new(false));
        let to_master = gate.take();
        // The links of its replicas, silent ones included.
        let socket = dying.socket().to_owned();
        self.half_open.retain(|link| link.master != node);
        for member in &mut self.members {
            member.gate.take_if(|gate| gate.master_socket() == socket);
        }
        // Its master notices, except one that was replaced behind a partition.
        if let Some(gate) = to_master {
            let master = self.master_behind(&gate).unwrap_or(self.master);
            let link = HalfOpenLink { master, gate };
            if master == self.master { self.end_links(vec![link])? } else { self.half_open.push(link) }
        }
        self.is_worn = true;
        Ok(format!("SIGKILL to {}", name_of_node(node)))
    }

    /// Starts a dead node again, as a master or a replica, with the data that it finds. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::restart`].
    pub fn restart(&mut self, node: usize, is_master: bool, finds_data: bool) -> Result<String, ReplayError> {
        self.members[node].node.restart()?;
        self.members[node].connection = self.connect(&self.members[node].node)?;
        self.require_replicas(&self.members[node].node)?;
        if !is_master {
            // As its configuration says, but the master named there is not reachable yet.
            self.members[node].node.follow_nobody()?;
        }
        self.members[node].role = if is_master { MemberRole::Master } else { MemberRole::Replica };
        self.sync_disk(node)?;
        let finds = if finds_data { "finds its AOF" } else { "finds nothing" };
        Ok(format!("{} is started again, and {finds}", name_of_node(node)))
    }

    /// What a node has written so far reaches its disk. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::sync_disk`].
    pub fn fsync(&mut self, node: usize) -> Result<String, ReplayError> {
        self.sync_disk(node)?;
        Ok(format!("the AOF of {} is on its disk", name_of_node(node)))
    }

    /// A node stands still: it executes nothing, and its connections stay open. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::pause`].
    pub fn pause(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].node.pause()?;
        self.is_worn = true;
        Ok(format!("SIGSTOP to {}", name_of_node(node)))
    }

    /// A node that stood still goes on. Until a master counts its replicas anew, it goes by its last count; by its own time it
    /// would count within a second. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::resume`].
    pub fn resume(&mut self, node: usize, counts_late: Option<bool>, counts: bool) -> Result<String, ReplayError> {
        let resuming = &self.members[node].node;
        resuming.resume()?;
        if let Some(has_enough) = counts_late {
            resuming.hold_count(has_enough)?;
        }
        self.members[node].is_uncounted = !counts;
        let link = self.members[node].link().filter(|_| self.config.cluster.min_replicas > 0);
        if let Some(gate) = link.filter(|gate| self.master_behind(gate).is_some_and(|master| !self.is_paused(master))) {
            gate.acknowledge()?;
        }
        Ok(format!("SIGCONT to {}", name_of_node(node)))
    }

    /// A master that stood still counts its replicas anew. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if it does not notice that its replicas have left; `Redis`.
    pub fn count_anew(&mut self, node: usize, is_cut: bool) -> Result<String, ReplayError> {
        let is_left = node != self.master && !is_cut;
        self.end_last_count(node)?;
        if is_left {
            self.end_links_of(node)?;
        }
        let socket = self.members[node].node.socket();
        let links = self.working_links().filter(|gate| gate.master_socket() == socket);
        links.into_iter().try_for_each(Gate::acknowledge)?;
        Ok(format!("{} counts its replicas", name_of_node(node)))
    }

    /// A node does not go by its last count of replicas any more.
    pub(super) fn end_last_count(&mut self, node: usize) -> Result<(), ReplayError> {
        if std::mem::take(&mut self.members[node].is_uncounted) {
            self.require_replicas(&self.members[node].node)?;
        }
        Ok(())
    }

    /// The node runs out of memory and evicts the lock's key. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::drop_one_key`].
    pub fn drop_key(&mut self, node: usize) -> Result<String, ReplayError> {
        self.members[node].node.drop_one_key()?;
        if node == self.master {
            self.mark_now()?;
        }
        Ok(format!("{}: one key is evicted", name_of_node(node)))
    }

    /// The clock of one node jumps. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::advance_clock`].
    pub fn jump(&mut self, node: usize) -> Result<String, ReplayError> {
        let by_ms = i64::from(self.config.time.jump) * i64::from(self.config.time.tick_ms);
        self.members[node].node.advance_clock(by_ms)?;
        self.is_worn = true;
        Ok(format!("the clock of {} jumps by {by_ms} ms", name_of_node(node)))
    }
}
