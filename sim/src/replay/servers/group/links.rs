//! The links between the nodes of a group: a replica follows its master, is cut off, and comes back.

use lockstep_model::config::ReplicasLeave;

use super::members::{GroupMember, HalfOpenLink, MemberRole, ServerGroup};
use super::refusals::needs_full_copies;
use crate::replay::error::ReplayError;
use crate::replay::servers::gate::Gate;

impl ServerGroup {
    /// Makes a replica follow the acting master, and take its data. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`crate::replay::ServerNode::follow`].
    pub fn resync(&mut self, node: usize) -> Result<String, ReplayError> {
        self.prepare_copy(node, self.master)?;
        self.follow_master(node)?;
        Ok(format!("{}: REPLICAOF {}", self.name_of(node), self.name_of(self.master)))
    }

    /// The copy that a node takes next is a full one, and where that takes time, its AOF is rewritten from then on.
    fn prepare_copy(&mut self, node: usize, master: usize) -> Result<(), ReplayError> {
        if self.needs_full_copies() {
            self.change_replication_id(master)?;
        }
        if self.config.has_slow_rewrites() && !self.members[node].is_rewriting {
            if !self.config.has_late_disk() {
                // It has every write that it applied on its disk, and that is what a crash finds until the AOF is rewritten.
                self.members[node].node.sync_disk()?;
            }
            self.members[node].is_rewriting = true;
        }
        Ok(())
    }

    /// A replica leaves a master that was replaced. What keeps it from the new one's data until its resync is a port that
    /// nobody listens on. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if the old master does not notice; `Redis`.
    pub fn leave_old_master(&mut self, node: usize) -> Result<String, ReplayError> {
        self.leave_master(node, self.master)?;
        self.members[node].node.follow_nobody()?;
        self.is_worn = true;
        Ok(format!("{}: REPLICAOF a closed port", self.name_of(node)))
    }

    /// Makes an old master a replica of the new one, as Sentinel does. What keeps it from the new one's data until its resync
    /// is a port that nobody listens on. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if it does not notice that its replicas leave; `Redis`.
    pub fn demote(&mut self, node: usize) -> Result<String, ReplayError> {
        self.end_last_count(node)?;
        // Replicas that had stayed with it have no master until they are told of the new one. It would keep its links, also to
        // the dead, until it takes a full copy or is promoted again; nobody counts them meanwhile.
        let unnoticed = self.take_half_open(|link| link.master == node);
        self.end_links(unnoticed)?;
        self.end_links_to(node, |_| true)?;
        self.members[node].node.follow_nobody()?;
        self.members[node].role = MemberRole::Replica;
        self.drop_subscribers(node)?;
        self.is_worn = true;
        Ok(format!("{}: REPLICAOF a closed port", self.name_of(node)))
    }

    /// From here on nothing passes between a node and the others, and none of them notices. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if a master that was replaced does not notice what came before that.
    pub fn cut(&mut self, node: usize) -> Result<String, ReplayError> {
        if node != self.master && self.is_master(node) && self.counts_late(node) {
            // That its replicas have left waits in its sockets already.
            self.notice_left(node)?;
        }
        for (index, member) in self.members.iter().enumerate() {
            let is_together = u8::try_from(index).is_ok_and(|index| self.config.cluster.cut_together.has(index));
            let is_broken = |gate: &&Gate| index == node || !is_together && self.master_behind(gate) == Some(node);
            if let Some(gate) = member.gate.as_ref().filter(is_broken) {
                gate.silence();
            }
        }
        self.is_worn = true;
        Ok(format!("the gates of {} pass nothing more", self.name_of(node)))
    }

    /// The link of a replica to its master breaks, and both notice. Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if the master does not notice.
    pub fn break_link(&mut self, node: usize) -> Result<String, ReplayError> {
        self.leave_master(node, self.master)?;
        self.is_worn = true;
        Ok(format!("the gate of {} is closed", self.name_of(node)))
    }

    /// The links of a node may be made again. A master that was replaced meanwhile notices that its replicas have left.
    /// Returns what was done, in words.
    ///
    /// # Errors
    /// `TimedOut` if the master does not notice.
    pub fn heal(&mut self, node: usize) -> Result<String, ReplayError> {
        // One that stands still notices when it counts its replicas anew.
        if node != self.master && !self.is_paused(node) {
            self.notice_left(node)?;
        }
        Ok(format!("{} reaches the others again", self.name_of(node)))
    }

    /// A master that was replaced notices that its replicas have left: all, or where they leave one by one those that did.
    pub(super) fn notice_left(&mut self, node: usize) -> Result<(), ReplayError> {
        let gone = self.take_half_open(|link| link.master == node);
        self.end_links(gone)?;
        match self.config.cluster.replicas_leave {
            // But for one that was told nothing, and came back to it.
            ReplicasLeave::Together => self.end_links_to(node, |replica| replica.returned_to != Some(node)),
            ReplicasLeave::OneByOne => Ok(()),
        }
    }

    /// Replicas reach a master again that was replaced, and nobody has told them of the new one. `rejoining`: each with that
    /// master.
    ///
    /// # Errors
    /// As `resync`.
    pub fn rejoin(&mut self, rejoining: &[(usize, usize)]) -> Result<(), ReplayError> {
        rejoining.iter().try_for_each(|&(replica, master)| {
            self.prepare_copy(replica, master)?;
            self.follow(replica, master)
        })
    }

    /// Ends the links of these replicas to this master, and waits until it has noticed.
    fn end_links_to(&mut self, master: usize, has_left: impl Fn(&GroupMember) -> bool) -> Result<(), ReplayError> {
        let socket = self.members[master].node.socket().to_owned();
        let has_left = |(_, member): &(usize, &mut GroupMember)| has_left(member);
        let left = self.members.iter_mut().enumerate().filter(has_left).filter_map(|(replica, member)| {
            let gate = member.gate.take_if(|gate| gate.master_socket() == socket)?;
            Some(HalfOpenLink { master, replica, gate })
        });
        let gone = left.collect();
        self.end_links(gone)
    }

    pub(super) fn follow_master(&mut self, replica: usize) -> Result<(), ReplayError> {
        self.follow(replica, self.master)
    }

    /// Makes a replica follow this master, and take its data.
    pub(super) fn follow(&mut self, replica: usize, next: usize) -> Result<(), ReplayError> {
        self.leave_master(replica, next)?;
        // A link of before its death, which its master has not noticed.
        let stale = self.take_half_open(|link| link.replica == replica && link.master == next);
        self.end_links(stale)?;
        let master = &self.members[next].node;
        let gate = Gate::open(master.socket())?;
        self.lead(replica, next, &gate)?;
        // After a partial resync the gate holds what the replica has missed. The model's resync ends with all of it.
        gate.mark(master.offset()?);
        gate.release_all()?;
        if self.members[next].is_uncounted {
            // A master that stood still reads it before it counts anew: a `WAIT` that is open there is answered.
            gate.wait_acknowledged()?;
        }
        self.members[replica].gate = Some(gate);
        self.members[replica].role = MemberRole::Replica;
        self.members[replica].returned_to = Some(next).filter(|next| *next != self.master);
        self.members[replica].is_behind.set(false);
        self.end_last_count(replica)?;
        self.sync_disk(replica)
    }

    /// A replica leaves its master for `next`. A master that is cut off does not notice; one that stood still does when it
    /// counts its replicas anew.
    pub(super) fn leave_master(&mut self, replica: usize, next: usize) -> Result<(), ReplayError> {
        let Some(gate) = self.members[replica].gate.take() else { return Ok(()) };
        let Some(master) = self.master_behind(&gate) else { return Ok(()) };
        let is_half_open = master != next && (gate.is_silent() || self.counts_late(master));
        if is_half_open {
            gate.silence();
        }
        let link = HalfOpenLink { master, replica, gate };
        if is_half_open {
            self.half_open.push(link);
            return Ok(());
        }
        self.end_links(vec![link])
    }

    /// Whether a node stands still, or has not counted its replicas since.
    pub(super) fn counts_late(&self, node: usize) -> bool {
        self.is_paused(node) || self.members[node].is_uncounted
    }

    /// Ends these links, and waits until their masters have noticed where the model counts links.
    pub(super) fn end_links(&self, gone: Vec<HalfOpenLink>) -> Result<(), ReplayError> {
        let is_counted = self.config.cluster.min_replicas > 0 || self.config.cluster.wait_for > 0;
        for HalfOpenLink { master, gate, .. } in gone {
            let port = gate.announced();
            gate.close();
            if let Some(port) = port.filter(|_| is_counted && self.is_master(master) && !self.is_paused(master)) {
                self.members[master].node.wait_without(port)?;
            }
        }
        Ok(())
    }

    pub(super) fn master_behind(&self, gate: &Gate) -> Option<usize> {
        self.members.iter().position(|member| member.node.socket() == gate.master_socket())
    }

    /// Disconnects the subscribers of a node that becomes a replica.
    pub(super) fn drop_subscribers(&mut self, node: usize) -> Result<(), ReplayError> {
        let kill = redis::cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"]).to_owned();
        self.ask(node, &kill, "CLIENT KILL").map(drop)
    }

    /// Leads a replica to its master: by the gate's port, or by the master's address if nodes have addresses.
    fn lead(&self, replica: usize, master: usize, gate: &Gate) -> Result<(), ReplayError> {
        let GroupMember { node, .. } = &self.members[replica];
        match &self.addresses {
            Some(addresses) => addresses.follow(node, replica, master, gate),
            None => node.follow(gate),
        }
    }

    /// Whether it makes a difference whether a resync is a full copy.
    fn needs_full_copies(&self) -> bool {
        needs_full_copies(&self.config, self.config.cluster.ttls)
    }

    /// Makes the next resync a full copy, as the model's is. Where TTLs travel as relative times the two ways differ: a
    /// partial resync sends old writes again, and their TTLs count from then (measured on 6.2.5). Where clients subscribe to
    /// replicas a partial resync would bring the messages late that the model loses. Otherwise the server may choose, and the
    /// data are the same.
    fn change_replication_id(&mut self, master: usize) -> Result<(), ReplayError> {
        let command = redis::cmd("DEBUG").arg("CHANGE-REPL-ID").to_owned();
        self.ask(master, &command, "DEBUG CHANGE-REPL-ID").map(drop)
    }

    pub(super) fn take_half_open(&mut self, is_meant: impl Fn(&HalfOpenLink) -> bool) -> Vec<HalfOpenLink> {
        let (taken, kept) = std::mem::take(&mut self.half_open).into_iter().partition(is_meant);
        self.half_open = kept;
        taken
    }
}
