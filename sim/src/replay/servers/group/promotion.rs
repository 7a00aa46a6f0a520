//! How a replica of a group becomes master: the history promotes it, the old master hands over, or sentinels decide.

use lockstep_model::config::{Fsync, PromoteRule, ReplicasLeave};
use lockstep_model::trace::Trace;

use super::members::{HalfOpenLink, MemberRole, ServerGroup};
use crate::replay::error::ReplayError;
use crate::replay::servers::addresses::Addresses;
use crate::replay::servers::gate::Gate;
use crate::replay::servers::node::{FailoverCommand, ServerNode};
use crate::replay::servers::sentinel::{Failover, Sentinels, heirs, priority, refuse_trace};

impl ServerGroup {
    /// Makes a replica the master. Where sentinels decide, waits until they have promoted it. Returns what was done, in
    /// words.
    ///
    /// # Errors
    /// `SentinelChose`, `NoFailover`, `Stopped`; as [`ServerNode::promote`].
    pub fn promote(&mut self, node: usize, step: usize) -> Result<String, ReplayError> {
        self.leave_master(node, node)?;
        let how = self.make_master(node, step)?;
        self.members[node].role = MemberRole::Master;
        self.master = node;
        self.is_worn = true;
        Ok(format!("{}: {how}", self.name_of(node)))
    }

    /// Makes a replica the master while the master runs; the other replicas leave the old master. Where the master itself hands
    /// over, it begins to. Returns what was done, in words.
    ///
    /// # Errors
    /// As `promote`; as [`ServerNode::begin_hand_over`].
    pub fn hand_over(&mut self, node: usize, step: usize) -> Result<String, ReplayError> {
        if !self.config.cluster.promote.is_by_the_master() {
            self.end_last_count(self.master)?;
            self.leave_running_master(node, false)?;
            return self.promote(node, step);
        }
        let old = self.master;
        let no_addresses = || ReplayError::link("the nodes have no addresses");
        let through = self.members[node].gate.as_ref().ok_or_else(|| ReplayError::link("the replica has no gate"))?;
        self.addresses.as_ref().ok_or_else(no_addresses)?.begin_hand_over(&self.members[old].node, node, through)?;
        self.members[old].lets_writes_wait = true;
        self.is_worn = true;
        // A forced one is given up and begun again with FORCE when the history comes to its time-out: then nobody waits for it.
        let held = match self.config.cluster.promote {
            PromoteRule::Forced => "which acknowledges nothing; FORCE follows when its time-out comes",
            _ => "which acknowledges nothing",
        };
        Ok(format!("{}: FAILOVER TO {}, {held}", self.name_of(old), self.name_of(node)))
    }

    /// The master that hands over to a replica becomes a replica of it. `lacks_some`: there are effects under way to the heir,
    /// and it is forced. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`ServerNode::finish_hand_over`].
    pub fn finish_hand_over(&mut self, node: usize, lacks_some: bool) -> Result<String, ReplayError> {
        self.members[self.master].lets_writes_wait = false;
        self.end_last_count(self.master)?;
        self.leave_running_master(node, true)?;
        self.fail_over(node, if lacks_some { FailoverCommand::Force } else { FailoverCommand::Wait })
    }

    /// A master that hands over gives up. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`ServerNode::give_up_hand_over`].
    pub fn give_up_hand_over(&mut self, node: usize) -> Result<String, ReplayError> {
        let master = &self.members[node].node;
        master.give_up_hand_over()?;
        let offset = master.offset()?;
        let gates = self.members.iter().filter_map(|member| member.gate.as_ref());
        for gate in gates.filter(|gate| gate.master_socket() == master.socket()) {
            gate.limit_acknowledgements(None);
            gate.skip(offset);
        }
        self.members[node].lets_writes_wait = false;
        Ok(format!("{}: FAILOVER ABORT", self.name_of(node)))
    }

    /// Makes a replica the master in the place of one that runs and is reached, as when it refuses writes; the other replicas
    /// leave the old master, at once or one by one. Returns what was done, in words.
    ///
    /// # Errors
    /// As `promote`.
    pub fn replace(&mut self, node: usize, step: usize) -> Result<String, ReplayError> {
        self.leave_running_master(node, false)?;
        self.promote(node, step)
    }

    /// The same where the master stands still: it notices that the others left when it counts its replicas anew.
    ///
    /// # Errors
    /// As `promote`.
    pub fn replace_paused(&mut self, node: usize, step: usize) -> Result<String, ReplayError> {
        if self.config.cluster.replicas_leave == ReplicasLeave::Together {
            let socket = self.members[self.master].node.socket();
            let gates = self.members.iter().filter_map(|member| member.gate.as_ref());
            gates.filter(|gate| gate.master_socket() == socket).for_each(Gate::silence);
        }
        self.promote(node, step)
    }

    /// The replicas leave the acting master: this one, unless the master itself hands over to it, and the others, unless they
    /// leave one by one.
    fn leave_running_master(&mut self, heir: usize, is_by_the_master: bool) -> Result<(), ReplayError> {
        let old = self.master;
        let leaves_later = !is_by_the_master && self.config.cluster.replicas_leave == ReplicasLeave::OneByOne;
        let leaves = |&index: &usize| match index {
            _ if index == old => false,
            _ if index == heir => !is_by_the_master,
            _ => !leaves_later,
        };
        let leaving: Vec<_> = (0..self.members.len()).filter(leaves).collect();
        // A machine that died behind a partition and is back resets the link of before as soon as the master sends a PING
        // (docs/facts/redis.md#the-death-of-a-machine). Nobody tells it of one that is still dead.
        let reset: Vec<_> = leaving.iter().copied().filter(|&one| self.members[one].role != MemberRole::Dead).collect();
        let reset = self.take_half_open(|link| link.master == old && reset.contains(&link.replica));
        // One that did not follow it yet may have a link to the master before.
        let socket = self.members[old].node.socket().to_owned();
        let gone = leaving.into_iter().filter_map(|replica| {
            let gate = self.members[replica].gate.take_if(|gate| gate.master_socket() == socket)?;
            Some(HalfOpenLink { master: old, replica, gate })
        });
        let gone = gone.chain(reset).collect();
        self.end_links(gone)
    }

    /// Starts the sentinels of a history, where they decide.
    ///
    /// # Errors
    /// `NotForSentinel`; as [`Sentinels::start`].
    pub fn start_sentinels(&mut self, trace: &Trace) -> Result<(), ReplayError> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        refuse_trace(trace)?;
        watch.failovers.clear();
        watch.heirs = heirs(trace).collect();
        // A sentinel asks a replica every ten seconds: it may still go by its first answer when the master dies.
        self.set_priorities()?;
        if let (Some(watch), Some(addresses)) = (&mut self.watch, &self.addresses) {
            watch.sentinels = Some(Sentinels::start(&self.server, addresses, self.master)?);
        }
        self.is_worn = true;
        Ok(())
    }

    /// Ends the sentinels. Returns their failovers, and whether they promoted a replica where the history does not.
    pub fn end_sentinels(&mut self) -> (Vec<Failover>, bool) {
        let Some(watch) = &mut self.watch else { return (Vec::new(), false) };
        let are_ahead = watch.sentinels.take().is_some_and(|sentinels| sentinels.are_ahead());
        (std::mem::take(&mut watch.failovers), are_ahead)
    }

    /// Asks a sentinel for the master, as this client would: the sentinel's name and the node that it names. `None` where no
    /// sentinels watch.
    ///
    /// # Errors
    /// As [`Sentinels::ask_for_master`].
    pub fn ask_sentinel(&self, client: usize) -> Result<Option<(String, String)>, ReplayError> {
        let sentinels = self.watch.as_ref().and_then(|watch| watch.sentinels.as_ref());
        sentinels.map(|sentinels| sentinels.ask_for_master(client)).transpose()
    }

    /// Gives new nodes their addresses, where somebody must find them by address: a sentinel, a master that hands over,
    /// or the other nodes of a cluster.
    pub(super) fn open_addresses(&mut self) -> Result<(), ReplayError> {
        if let Some(watch) = &mut self.watch {
            watch.sentinels = None;
        } else if self.config.faults.hand_over == 0 && !(self.is_cluster && self.config.cluster.replicas > 0) {
            return Ok(());
        }
        self.addresses =
            Some(Addresses::open(self.members.iter().map(|member| &member.node).chain(self.other_node()))?);
        Ok(())
    }

    /// Prepares the sentinels for the failover that follows when this node is killed.
    pub(super) fn expect_failover_of(&mut self, node: usize) -> Result<(), ReplayError> {
        if node != self.master {
            return Ok(());
        }
        self.set_priorities()?;
        let sentinels = self.watch.as_mut().and_then(|watch| watch.sentinels.as_mut());
        sentinels.map_or(Ok(()), |sentinels| sentinels.note_death(node))
    }

    /// Lets Sentinel choose the replica that the history promotes next, where sentinels watch.
    fn set_priorities(&self) -> Result<(), ReplayError> {
        let Some(watch) = &self.watch else { return Ok(()) };
        let heir = watch.heirs.get(watch.failovers.len()).copied();
        let mut running = (0..).zip(&self.members).filter(|(_, member)| member.role != MemberRole::Dead);
        running.try_for_each(|(node, member)| member.node.set_priority(priority(node, heir)))
    }

    /// `FAILOVER`: the master itself hands over to a replica, which has everything unless it is forced.
    fn fail_over(&mut self, node: usize, how: FailoverCommand) -> Result<String, ReplayError> {
        let old = self.master;
        let back = Gate::open(self.members[node].node.socket())?;
        let addresses = self.addresses.as_ref().ok_or_else(|| ReplayError::link("the nodes have no addresses"))?;
        let through = self.members[node].gate.take().ok_or_else(|| ReplayError::link("the replica has no gate"))?;
        let (master, heir) = (&self.members[old].node, &self.members[node].node);
        if how == FailoverCommand::Wait {
            // It has everything by the model, where writes that leave what was there are no effect.
            through.mark(master.offset()?);
            through.release_all()?;
        }
        addresses.finish_hand_over((master, old), (heir, node), (&through, &back), how)?;
        through.close();
        back.mark(heir.offset()?);
        back.release_all()?;
        self.members[old].gate = Some(back);
        (self.members[old].role, self.members[node].role) = (MemberRole::Replica, MemberRole::Master);
        self.master = node;
        self.is_worn = true;
        // Only a full copy rewrites the AOF: otherwise the old master continues, and what it had not synced is not synced now.
        if how == FailoverCommand::Force || self.config.cluster.fsync != Fsync::EverySecond {
            self.sync_disk(old)?;
        }
        self.drop_subscribers(old)?;
        let forced = if how == FailoverCommand::Force { " FORCE TIMEOUT 1, as its time-out has come" } else { "" };
        Ok(format!("{}: FAILOVER TO {}{forced}", self.name_of(old), self.name_of(node)))
    }

    /// Makes a replica master, or waits until the sentinels have. Returns what was done, in words.
    fn make_master(&mut self, node: usize, step: usize) -> Result<String, ReplayError> {
        let Some(watch) = &mut self.watch else {
            let command = self.members[node].node.promote()?;
            return Ok(format!("{command} → OK"));
        };
        let sentinels = watch.sentinels.as_mut().ok_or_else(|| ReplayError::link("no sentinel is running"))?;
        let running: Vec<(usize, &ServerNode)> = self
            .members
            .iter()
            .enumerate()
            .filter(|(_, member)| member.role != MemberRole::Dead)
            .map(|(index, member)| (index, &member.node))
            .collect();
        let failover = sentinels.wait_for_failover(&running, node, step)?;
        let how =
            format!("Sentinel has promoted it, {} ms after the death of {}", failover.took.as_millis(), failover.died);
        watch.failovers.push(failover);
        for index in 0..self.members.len() {
            if self.members[index].role != MemberRole::Dead {
                self.members[index].node.reconnect()?;
                self.members[index].connection = self.connect(&self.members[index].node)?;
            }
        }
        Ok(how)
    }
}
