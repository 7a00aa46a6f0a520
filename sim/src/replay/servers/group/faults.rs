//! What happens to single nodes: they crash and restart, lose keys, and their clocks jump.

use lockstep_model::config::Fsync;
use redis::Value;

use super::members::{GroupMember, HalfOpenLink, MemberRole, ServerGroup};
use crate::replay::error::ReplayError;
use crate::replay::node_names::name_of_node;

impl ServerGroup {
    /// Kills a node with everything that it has not replicated. Returns what was done, in words.
    ///
    /// # Errors
    /// `System` if the kernel refuses; `Redis` if a sentinel refuses a setting.
    pub fn crash(&mut self, node: usize) -> Result<String, ReplayError> {
        self.expect_failover_of(node)?;
        let GroupMember { node: dying, gate, role, .. } = &mut self.members[node];
        match self.config.cluster.fsync {
            Fsync::EverySecond => dying.kill_without_power()?,
            Fsync::None | Fsync::Always => dying.kill()?,
        }
        *role = MemberRole::Dead;
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

    /// One command with these keys, as an operator sends it; their master then tells its replicas. Returns what was done, in
    /// words.
    ///
    /// # Errors
    /// `Redis` if the node does not answer; `Unexpected` if the command did not apply to every key.
    pub fn change_keys(&mut self, node: usize, command: &'static str, keys: &[String]) -> Result<String, ReplayError> {
        let answer = self.ask(node, redis::cmd(command).arg(keys), command)?;
        if !matches!(answer, Value::Int(changed) if usize::try_from(changed) == Ok(keys.len())) {
            return Err(ReplayError::Unexpected { asked: command, answer: format!("{answer:?}") });
        }
        if node == self.master {
            self.mark_now()?;
        }
        Ok(format!("{}: {command} {}", name_of_node(node), keys.join(" ")))
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
