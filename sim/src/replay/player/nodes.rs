//! What befalls the nodes of a history: they die and come back, are cut off and demoted, and lose keys.

use lockstep_model::Config;
use lockstep_model::config::{Fsync, PromoteRule, Ttls};
use lockstep_model::trace::{Contents, State, TraceStep};
use redis::ConnectionLike;

use super::{Error, Gate, Member, Node, Phantom, Player, Role, Server};

/// `appendfsync`, where nodes have an AOF.
pub(super) fn fsync_setting(config: &Config) -> Option<&'static str> {
    match config.cluster.fsync {
        Fsync::None => None,
        Fsync::EverySecond => Some("everysec"),
        Fsync::Always => Some("always"),
    }
}

/// Makes the node count its replicas before it writes.
pub(super) fn require_replicas(config: &Config, node: &Node) -> Result<(), Error> {
    if config.cluster.min_replicas == 0 {
        return Ok(());
    }
    let max_lag_ms = u64::from(config.cluster.min_replicas_max_lag_ticks) * u64::from(config.time.tick_ms);
    let max_lag_seconds = u32::try_from(max_lag_ms / 1000).unwrap_or(u32::MAX);
    node.require_replicas(config.cluster.min_replicas.into(), max_lag_seconds)
}

/// Until 7.0 the writes of a script were not held to `min-replicas-to-write` (measured on 6.2.5: EVAL writes where SET is
/// refused): such a server does not do what the scenario says.
pub(super) fn refuse_deaf_scripts(server: &Server, config: &Config) -> Result<(), Error> {
    if config.cluster.min_replicas == 0 || server.counts_replicas_in_scripts() {
        return Ok(());
    }
    Err(Error::ScriptsNeedNoReplicas { server: server.to_string() })
}

/// A resync makes the other nodes' replication ids differ from their master's where it must be a full copy
/// ([`Player::resync`]), and a master hands over only to a node that shares its own (measured on 6.2.5).
pub(super) fn refuse_second_replica(server: &Server, config: &Config) -> Result<(), Error> {
    let is_coordinated = config.faults.hand_over > 0 && config.cluster.promote == PromoteRule::Coordinated;
    if !is_coordinated || config.cluster.replicas < 2 || server.ttls() == Ttls::Absolute {
        return Ok(());
    }
    Err(Error::HandOverNeedsOneId { server: server.to_string() })
}

impl Player {
    /// Kills a node with all it has not passed on.
    pub(super) fn crash(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        self.note_death(node)?;
        let Member { node: dying, gate, role, .. } = &mut self.members[node];
        match self.config.cluster.fsync {
            Fsync::EverySecond => dying.kill_without_power()?,
            Fsync::None | Fsync::Always => dying.kill()?,
        }
        *role = Role::Dead;
        let to_master = gate.take();
        // Whoever followed it, or would if it could hear it.
        let socket = dying.socket().to_owned();
        self.phantoms.retain(|phantom| phantom.master != node);
        for member in &mut self.members {
            member.gate.take_if(|gate| gate.master_socket() == socket);
        }
        // Its master is told, but one that was passed over behind a partition is not.
        if let Some(gate) = to_master {
            let master = self.master_behind(&gate).unwrap_or(self.master);
            let link = Phantom { master, gate };
            if master == self.master { self.lose_replicas(vec![link])? } else { self.phantoms.push(link) }
        }
        self.is_worn = true;
        self.told.note(|| format!("SIGKILL to {}", super::node_name_of(node)));
        Ok(())
    }

    /// Starts a dead node again, with what it finds.
    pub(super) fn restart(&mut self, node: usize, step: &TraceStep, before: &State) -> Result<(), Error> {
        self.flush()?;
        self.members[node].node.restart()?;
        self.members[node].connection = self.connect(&self.members[node].node)?;
        require_replicas(&self.config, &self.members[node].node)?;
        let is_master = step.state.nodes[node].is_master();
        if !is_master {
            // As its configuration would say; and whom it names is not there for it yet.
            self.members[node].node.follow_nobody()?;
        }
        self.members[node].role = if is_master { Role::Master } else { Role::Replica };
        self.note_disk(node)?;
        let finds_lock = before.nodes[node].on_disk.as_ref().is_some_and(Contents::is_held);
        let finds = if finds_lock { "finds its AOF" } else { "finds nothing" };
        self.told.note(|| format!("{} is started again, and {finds}", super::node_name_of(node)));
        Ok(())
    }

    /// Makes a replica follow the acting master, and take its data.
    pub(super) fn resync(&mut self, node: usize) -> Result<(), Error> {
        if self.config.cluster.ttls == Ttls::Relative {
            self.forget_history()?;
        }
        self.follow_master(node)
    }

    /// Makes the next resync a full copy, as the model's is. Where TTLs travel as relative times the two ways differ: a
    /// partial resync sends old writes again, and their TTLs count from then (measured on 6.2.5). Otherwise the server
    /// may choose, and the data are the same.
    fn forget_history(&mut self) -> Result<(), Error> {
        let command = redis::cmd("DEBUG").arg("CHANGE-REPL-ID").to_owned();
        let changed = self.members[self.master].connection.req_command(&command);
        changed.map(drop).map_err(Error::redis("DEBUG CHANGE-REPL-ID"))
    }

    pub(super) fn promote(&mut self, node: usize, step: usize) -> Result<(), Error> {
        self.leave_master(node, node)?;
        let how = self.make_master(node, step)?;
        self.members[node].role = Role::Master;
        self.master = node;
        self.is_worn = true;
        self.told.note(|| format!("{}: {how}", super::node_name_of(node)));
        Ok(())
    }

    /// Makes a replica the master while the master runs; the other replicas leave that.
    pub(super) fn hand_over(&mut self, node: usize, step: usize) -> Result<(), Error> {
        self.flush()?;
        let old = self.master;
        let is_coordinated = self.config.cluster.promote == PromoteRule::Coordinated;
        let leaves = |&index: &usize| index != old && !(is_coordinated && index == node);
        let leaving: Vec<_> = (0..self.members.len()).filter(leaves).collect();
        let gone = leaving.into_iter().filter_map(|replica| {
            let gate = self.members[replica].gate.take()?;
            Some(Phantom { master: old, gate })
        });
        let gone = gone.collect();
        self.lose_replicas(gone)?;
        if is_coordinated { self.fail_over(node) } else { self.promote(node, step) }
    }

    /// `FAILOVER`: the master itself hands over to a replica that has everything.
    fn fail_over(&mut self, node: usize) -> Result<(), Error> {
        let old = self.master;
        let back = Gate::open(self.members[node].node.socket())?;
        let addresses = self.addresses.as_ref().ok_or_else(|| Error::link("nobody has an address"))?;
        let through = self.members[node].gate.take().ok_or_else(|| Error::link("nobody follows the master"))?;
        let (master, heir) = (&self.members[old].node, &self.members[node].node);
        addresses.hand_over((master, old), (heir, node), &through, &back)?;
        through.close();
        back.mark(heir.offset()?);
        back.release_all()?;
        self.members[old].gate = Some(back);
        (self.members[old].role, self.members[node].role) = (Role::Replica, Role::Master);
        self.master = node;
        self.is_worn = true;
        self.note_disk(old)?;
        self.drop_subscribers(old)?;
        let (old, new) = (super::node_name_of(old), super::node_name_of(node));
        self.told.note(|| format!("{old}: FAILOVER TO {new}"));
        Ok(())
    }

    /// Whoever listens on the node is disconnected.
    fn drop_subscribers(&mut self, node: usize) -> Result<(), Error> {
        let kill = redis::cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"]).to_owned();
        let killed = self.members[node].connection.req_command(&kill);
        killed.map(drop).map_err(Error::redis("CLIENT KILL"))
    }

    /// Makes an old master a replica, as Sentinel does.
    pub(super) fn demote(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        self.resync(node)?;
        self.drop_subscribers(node)?;
        self.is_worn = true;
        self.told.note(|| format!("{}: REPLICAOF {}", super::node_name_of(node), super::node_name_of(self.master)));
        Ok(())
    }

    /// From here on a node and the others hear nothing of each other, and none is told so.
    pub(super) fn cut(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        let is_master = node == self.master;
        for (index, member) in self.members.iter().enumerate() {
            if let Some(gate) = member.gate.as_ref().filter(|_| is_master || index == node) {
                gate.silence();
            }
        }
        self.is_worn = true;
        self.told.note(|| format!("the gates of {} say nothing more", super::node_name_of(node)));
        Ok(())
    }

    /// The links of a node may be made anew. A master that was passed over finds its replicas gone.
    pub(super) fn heal(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        if node != self.master {
            let mut gone = self.take_phantoms(|phantom| phantom.master == node);
            let socket = self.members[node].node.socket().to_owned();
            for member in &mut self.members {
                let left = member.gate.take_if(|gate| gate.master_socket() == socket);
                gone.extend(left.map(|gate| Phantom { master: node, gate }));
            }
            self.lose_replicas(gone)?;
        }
        self.told.note(|| format!("{} reaches the others again", super::node_name_of(node)));
        Ok(())
    }

    fn master_behind(&self, gate: &Gate) -> Option<usize> {
        self.members.iter().position(|member| member.node.socket() == gate.master_socket())
    }

    /// The half-open links that are meant.
    fn take_phantoms(&mut self, is_meant: impl Fn(&Phantom) -> bool) -> Vec<Phantom> {
        let (taken, kept) = std::mem::take(&mut self.phantoms).into_iter().partition(is_meant);
        self.phantoms = kept;
        taken
    }

    /// Lets masters know that these links have ended.
    fn lose_replicas(&self, gone: Vec<Phantom>) -> Result<(), Error> {
        let is_counted = self.config.cluster.min_replicas > 0 || self.config.cluster.wait_for > 0;
        for Phantom { master, gate } in gone {
            let port = gate.announced();
            gate.close();
            if let Some(port) = port.filter(|_| is_counted && self.members[master].role == Role::Master) {
                self.members[master].node.wait_without(port)?;
            }
        }
        Ok(())
    }

    /// A replica leaves its master for another. One that is cut off does not notice.
    pub(super) fn leave_master(&mut self, replica: usize, next: usize) -> Result<(), Error> {
        let Some(gate) = self.members[replica].gate.take() else { return Ok(()) };
        let Some(master) = self.master_behind(&gate) else { return Ok(()) };
        let is_half_open = master != next && gate.is_silent();
        let link = Phantom { master, gate };
        if is_half_open {
            self.phantoms.push(link);
            return Ok(());
        }
        self.lose_replicas(vec![link])
    }

    /// What a node has written so far is on its disk.
    pub(super) fn fsync(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        self.note_disk(node)?;
        self.told.note(|| format!("the AOF of {} is on its disk", super::node_name_of(node)));
        Ok(())
    }

    pub(super) fn note_disks(&self) -> Result<(), Error> {
        (0..self.members.len()).try_for_each(|node| self.note_disk(node))
    }

    /// A copy that was taken is in the AOF once a child has written it; then it is on the disk as well.
    pub(super) fn note_disk(&self, node: usize) -> Result<(), Error> {
        match self.config.cluster.fsync {
            Fsync::None => Ok(()),
            Fsync::EverySecond => self.members[node].node.note_disk(),
            Fsync::Always => self.members[node].node.wait_written(),
        }
    }

    /// Who is linked says so once a second, and a tick is longer than that.
    pub(super) fn acknowledge(&self) -> Result<(), Error> {
        if self.config.cluster.min_replicas == 0 {
            return Ok(());
        }
        self.members.iter().filter_map(Member::link).try_for_each(Gate::acknowledge)
    }

    /// The node throws the lock away for want of memory.
    pub(super) fn vanish(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        self.members[node].node.throw_one_away()?;
        self.told.note(|| format!("{}: one key is evicted", super::node_name_of(node)));
        if node == self.master { self.mark_now() } else { Ok(()) }
    }

    /// The clock of one server jumps.
    pub(super) fn jump(&mut self, node: usize) -> Result<(), Error> {
        self.flush()?;
        let by_ms = i64::from(self.config.time.jump) * i64::from(self.config.time.tick_ms);
        self.members[node].node.advance_clock(by_ms)?;
        self.is_worn = true;
        self.told.note(|| format!("the clock of {} jumps by {by_ms} ms", super::node_name_of(node)));
        self.drop_expired()
    }

    /// Where clocks jump, a master must have deleted what has run out before one can jump back, and have told its replicas:
    /// in life it looks for such keys ten times a second; here one looks.
    pub(super) fn drop_expired(&mut self) -> Result<(), Error> {
        if self.config.faults.clock_jump == 0 {
            return Ok(());
        }
        let look = redis::cmd("EXISTS").arg(self.interpreter.lock_key()).to_owned();
        let mut has_told = false;
        for (index, member) in self.members.iter_mut().enumerate().filter(|(_, member)| member.role == Role::Master) {
            let before = member.node.offset()?;
            member.connection.req_command(&look).map_err(Error::redis("EXISTS"))?;
            has_told |= index == self.master && member.node.offset()? > before;
        }
        // What else is in the stream is no effect (6.2.5 sends an empty MULTI and EXEC of a script whose DEL found nothing).
        if has_told { self.mark_now() } else { Ok(()) }
    }

    /// What the acting master has written up to now is one effect. Where a late replica's key outlives its master's, what
    /// the master has found to be over by then goes with it: in life it looks ten times a second; here it looks now.
    pub(super) fn mark_now(&self) -> Result<(), Error> {
        let master = &self.members[self.master].node;
        if self.config.cluster.ttls == Ttls::Relative {
            master.delete_expired()?;
        }
        let offset = master.offset()?;
        self.members.iter().filter_map(|member| member.gate.as_ref()).for_each(|gate| gate.mark(offset));
        if self.config.cluster.lag.is_zero() { self.release_all() } else { Ok(()) }
    }

    /// Every replica that is linked has all that its master wrote.
    pub(super) fn release_all(&self) -> Result<(), Error> {
        self.members.iter().filter_map(Member::link).try_for_each(|gate| {
            gate.release_all()?;
            // One after the other: a `WAIT` ends with the first that is enough.
            if self.in_flight.waits() { gate.wait_heard() } else { Ok(()) }
        })
    }
}
