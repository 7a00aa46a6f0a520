//! The members of a group: started, asked, marked, and reset between histories.

use std::cell::Cell;
use std::process::ExitStatus;

use lockstep_model::Config;
use lockstep_model::config::{Fsync, Ttls};
use redis::{Cmd, ConnectionLike as _, Pipeline, Value};

use super::other_master::{OtherMaster, ThirdMaster};
use super::sentinel_watch::SentinelWatch;
use crate::replay::error::ReplayError;
use crate::replay::node_names::name_of_node;
use crate::replay::servers::addresses::Addresses;
use crate::replay::servers::connection::ServerConnection;
use crate::replay::servers::gate::Gate;
use crate::replay::servers::node::{ClusterPlace, ClusterPorts, NodeSettings, ServerNode};
use crate::replay::servers::server::ServerProgram;

/// When every history begins, on every node's clock: 2024-01-01. Any time would do.
pub const START_MS: i64 = 1_704_067_200_000;

/// A master and its replicas.
pub struct ServerGroup {
    pub(super) config: Config,
    pub(super) server: ServerProgram,
    /// The number, among all nodes of the scenario, of the first node of the group. Here a node is named by its number and
    /// otherwise known by its index in the group.
    first_node: usize,
    /// Whether they are a cluster.
    pub(super) is_cluster: bool,
    /// Sent to each server after it was started.
    setup: Vec<Cmd>,
    /// The sentinels, where they decide on failovers. Dropped before the nodes that they watch.
    pub(super) watch: Option<SentinelWatch>,
    /// Dropped after the sentinels, which know the nodes by them.
    pub(super) addresses: Option<Addresses>,
    pub(super) members: Vec<GroupMember>,
    /// The master to which the slot of the lock is moved, where one is.
    pub(super) other_master: Option<OtherMaster>,
    /// The one that stands by meanwhile.
    pub(super) third_master: Option<ThirdMaster>,
    /// The index of the acting master, or of the last one.
    pub(super) master: usize,
    /// Links that their masters still consider open.
    pub(super) half_open: Vec<HalfOpenLink>,
    /// Whether a fault happened since the servers were started: then the next history needs new ones.
    pub(super) is_worn: bool,
    /// Whether no history was played since the servers were started.
    is_fresh: bool,
}

/// One node, our connection to it, and its link to its master.
pub(super) struct GroupMember {
    pub(super) node: ServerNode,
    pub(super) connection: ServerConnection,
    /// Between its master and it, while it follows one.
    pub(super) gate: Option<Gate>,
    pub(super) role: MemberRole,
    /// Of a replica whose clock is beyond a tie: the keys that it hides since (`ties`).
    pub(super) hidden: Vec<String>,
    /// Whether its files are to be those of before its last full copy, until the model says that its AOF is rewritten.
    pub(super) is_rewriting: bool,
    /// The limit by which it counts its replicas, in seconds, while that is less than usual.
    pub(super) limit: Option<u32>,
    /// Whether it has not counted its replicas since it stood still.
    pub(super) is_uncounted: bool,
    /// Whether it was sent something while it stood still that it has not applied; asked where replicas never lag.
    pub(super) is_behind: Cell<bool>,
    /// The master that it has begun to follow although that was replaced by then.
    pub(super) returned_to: Option<usize>,
    /// Whether it hands over, and executes no write meanwhile.
    pub(super) lets_writes_wait: bool,
    /// Of a master that was told to end, and waits for its replicas: when it ends without them.
    pub(super) ends_at_ms: Option<i64>,
    /// By how much its clock is behind because it would end at that time, and does not yet.
    pub(super) held_back_ms: i64,
}

/// A link whose replica has left behind a partition, or died: its master, which has not noticed, and the silent gate.
pub(super) struct HalfOpenLink {
    pub(super) master: usize,
    pub(super) replica: usize,
    pub(super) gate: Gate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberRole {
    Master,
    Replica,
    Dead,
}

impl GroupMember {
    /// Whether nothing that is sent to it is executed for now.
    pub(super) fn is_paused(&self) -> bool {
        self.node.is_paused()
    }

    /// How far its clock may go of this time: a master that waits for its replicas ends by itself when its time is over, and what is
    /// under way to them may still arrive at that instant.
    fn before_its_end(&mut self, by_ms: i64) -> i64 {
        let Some(end) = self.ends_at_ms else { return by_ms };
        let allowed = by_ms.min(end - 1 - self.node.clock().now_ms());
        self.held_back_ms += by_ms - allowed;
        allowed
    }

    /// Its clock goes where those of the others are.
    pub(super) fn catch_up(&mut self) -> Result<(), ReplayError> {
        self.ends_at_ms = None;
        self.node.advance_clock(std::mem::take(&mut self.held_back_ms))
    }

    /// The gate to its master, unless it is silent.
    pub(super) fn link(&self) -> Option<&Gate> {
        self.gate.as_ref().filter(|gate| !gate.is_silent())
    }
}

impl ServerGroup {
    /// Starts the servers of a group; `is_cluster`: they are one. Its first node has the number `first_node`. Each is sent the
    /// `setup` commands whenever it is started.
    ///
    /// # Errors
    /// Whatever keeps a server from running under our clock and behind our gates.
    pub fn start(
        (server, is_cluster): (&ServerProgram, bool),
        (config, first_node): (&Config, usize),
        setup: Vec<Cmd>,
        watch: Option<SentinelWatch>,
    ) -> Result<Self, ReplayError> {
        let mut group = Self {
            config: *config,
            server: server.clone(),
            first_node,
            is_cluster: is_cluster || config.faults.move_slot > 0,
            setup,
            watch,
            addresses: None,
            members: Vec::new(),
            other_master: None,
            third_master: None,
            master: 0,
            half_open: Vec::new(),
            is_worn: true,
            is_fresh: false,
        };
        group.start_nodes()?;
        Ok(group)
    }

    /// The program that the servers run.
    pub fn server(&self) -> &ServerProgram {
        &self.server
    }

    /// A server whose process somebody else has ended: its name, its process and how it ended.
    pub fn unasked_end(&self) -> Option<(String, u32, ExitStatus)> {
        let of = |(name, node): (String, &ServerNode)| Some((name, node.pid(), node.unasked_end()?));
        self.named_nodes().find_map(of)
    }

    /// A server that stands still, and nothing here has stopped it: its name and its process.
    pub fn unasked_stop(&self) -> Option<(String, u32)> {
        let stopped = self.named_nodes().find(|(_, node)| node.is_stopped_unasked());
        stopped.map(|(name, node)| (name, node.pid()))
    }

    /// Every server with its name.
    fn named_nodes(&self) -> impl Iterator<Item = (String, &ServerNode)> {
        let nodes = self.members.iter().enumerate().map(|(index, member)| (self.name_of(index), &member.node));
        nodes.chain(self.named_other_masters())
    }

    /// Brings the servers into the state in which every history begins.
    ///
    /// # Errors
    /// As `start`.
    pub fn reset(&mut self) -> Result<(), ReplayError> {
        if self.is_worn {
            self.start_nodes()?;
        } else if !self.is_fresh {
            self.ask(0, &redis::cmd("FLUSHALL"), "FLUSHALL")?;
            let offset = self.members[0].node.offset()?;
            for gate in self.members.iter().filter_map(|member| member.gate.as_ref()) {
                gate.mark(offset);
                gate.release_all()?;
            }
            self.sync_disks()?;
        }
        self.is_fresh = false;
        Ok(())
    }

    /// From here on a TTL is too long for any run, ms.
    pub fn far_ms(&self) -> i64 {
        self.config.far_ms()
    }

    /// The number of nodes, dead ones included.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The ports that the nodes announce to the clients of their cluster; none: there is no cluster.
    pub fn announced_in_cluster(&self) -> Vec<u16> {
        let ports = self.members.iter().filter_map(|member| member.node.in_cluster());
        ports.map(ClusterPorts::announced).collect()
    }

    /// The index of the acting master, or of the last one.
    pub fn master(&self) -> usize {
        self.master
    }

    /// Whether the node is down.
    pub fn is_dead(&self, node: usize) -> bool {
        self.members[node].role == MemberRole::Dead
    }

    /// Whether the node executes writes and scripts for now: it neither stands still nor hands over.
    pub fn executes_writes(&self, node: usize) -> bool {
        !self.is_paused(node) && !self.members[node].lets_writes_wait
    }

    /// Whether a node stands still.
    pub fn is_paused(&self, node: usize) -> bool {
        self.members[node].is_paused()
    }

    /// Whether the node runs and is a master.
    pub fn is_master(&self, node: usize) -> bool {
        self.members[node].role == MemberRole::Master
    }

    /// Whether a master that refuses a write for two reasons may name another one than the model.
    pub fn may_name_missing_replicas_first(&self) -> bool {
        self.server.may_name_missing_replicas_first(&self.config)
    }

    /// Whether replicas receive TTLs as relative times.
    pub fn has_relative_ttls(&self) -> bool {
        self.config.cluster.ttls == Ttls::Relative
    }

    /// Whether any node follows another.
    pub fn has_replicas(&self) -> bool {
        self.members.iter().any(|member| member.gate.is_some())
    }

    /// The node.
    pub fn node(&self, index: usize) -> &ServerNode {
        &self.members[index].node
    }

    /// The name of a node.
    pub(super) fn name_of(&self, node: usize) -> String {
        name_of_node(self.first_node + node)
    }

    /// Sends one command on our connection to the node.
    ///
    /// # Errors
    /// `Redis`, which says what was `asked`.
    pub fn ask(&mut self, node: usize, command: &Cmd, asked: &'static str) -> Result<Value, ReplayError> {
        self.ask_and_follow(node, command, asked).map(|(answer, _)| answer)
    }

    /// Sends commands on our connection to the node, in one pipeline. An error that answers one of them is a value.
    ///
    /// # Errors
    /// `Redis` if the connection breaks.
    pub fn ask_all<'a>(
        &mut self,
        node: usize,
        commands: impl ExactSizeIterator<Item = &'a Cmd>,
    ) -> Result<Vec<Value>, ReplayError> {
        let count = commands.len();
        let mut pipeline = Pipeline::with_capacity(count);
        for command in commands {
            pipeline.add_command(command.clone());
        }
        let packed = pipeline.get_packed_pipeline();
        self.members[node]
            .connection
            .req_packed_commands(&packed, 0, count)
            .map_err(ReplayError::redis("a stretch of steps"))
    }

    /// Lets one tick pass on the clock of every node.
    ///
    /// # Errors
    /// As [`ServerNode::advance_clock`].
    pub fn pass_tick(&mut self) -> Result<(), ReplayError> {
        // The clock of a node that is down moves too.
        for index in 0..self.members.len() {
            let by_ms = i64::from(self.config.time.tick_ms) - self.ms_beyond_tie(index);
            let member = &mut self.members[index];
            member.hidden.clear();
            let by_ms = member.before_its_end(by_ms);
            member.node.advance_clock(by_ms)?;
        }
        self.advance_other_masters(self.config.time.tick_ms.into())?;
        if self.config.cluster.min_replicas == 0 {
            return Ok(());
        }
        self.raise_limits()?;
        // A replica that is linked acknowledges once a second, and a tick is longer than that.
        self.working_links().try_for_each(Gate::acknowledge)
    }

    /// The links of replicas that run to masters that run. A master that ends, and waits for its replicas before it does, is none:
    /// it may have closed a link already.
    pub(super) fn working_links(&self) -> impl Iterator<Item = &Gate> {
        let is_working = |gate: &&Gate| {
            self.master_behind(gate).is_some_and(|master| !self.is_paused(master) && !self.is_dead(master))
        };
        self.members.iter().filter(|member| !member.is_paused()).filter_map(GroupMember::link).filter(is_working)
    }

    /// Declares what this master has written so far, up to this offset in bytes, to be one effect; where an effect takes
    /// the place of those before it, together with them.
    pub fn mark(&self, master: usize, offset: u64) {
        let socket = self.members[master].node.socket();
        let gates = self.members.iter().filter_map(|member| member.gate.as_ref());
        for gate in gates.filter(|gate| gate.master_socket() == socket) {
            if self.has_one_effect() { gate.extend(offset) } else { gate.mark(offset) }
        }
    }

    /// Whether everything that is under way to a replica is one effect, also what the model leaves out because it leaves what
    /// was there.
    pub fn has_one_effect(&self) -> bool {
        let is_told_apart = self.config.cluster.wait_for > 0 || self.config.subscribes_to_replica();
        self.config.merges_effects() && !is_told_apart
    }

    /// The number of effects that are marked and under way to a node.
    pub fn effects_under_way(&self, node: usize) -> usize {
        self.members[node].gate.as_ref().map_or(0, Gate::held)
    }

    /// Makes effects that are under way to a node part of the ones behind them, as [`Gate::merge`] does.
    pub fn merge_effects(&self, node: usize, index: usize, left: usize) {
        if let Some(gate) = &self.members[node].gate {
            gate.merge(index, left);
        }
    }

    /// The masters that run and whose writes reach replicas: the acting one, and one that was replaced while replicas stay with
    /// it.
    pub fn followed_masters(&self) -> Vec<usize> {
        let gates = || self.members.iter().filter_map(|member| member.gate.as_ref());
        let is_followed = |index: &usize| {
            let socket = self.members[*index].node.socket();
            let is_replaced = *index != self.master;
            let has_replica = || gates().any(|gate| gate.master_socket() == socket);
            let is_working = self.members[*index].node.is_running() && self.executes_writes(*index);
            is_working && (!is_replaced || self.is_master(*index) && has_replica())
        };
        (0..self.members.len()).filter(is_followed).collect()
    }

    /// Asks a master for its offset and marks it. Where a key can live longer on a late replica than on its
    /// master, the effect also contains the deletion of what the master finds expired: in production a master looks for
    /// expired keys ten times a second; here it does so now.
    ///
    /// # Errors
    /// `Redis`.
    pub fn mark_written(&self, index: usize) -> Result<(), ReplayError> {
        let master = &self.members[index].node;
        if self.has_relative_ttls() {
            master.delete_expired()?;
        }
        self.mark(index, master.offset()?);
        Ok(())
    }

    /// The same of every master that is followed.
    ///
    /// # Errors
    /// As `mark_written`; as [`Gate::release_all`] where replicas never lag.
    pub fn mark_now(&self) -> Result<(), ReplayError> {
        self.followed_masters().into_iter().try_for_each(|master| self.mark_written(master))?;
        self.release_if_without_lag()
    }

    /// Where the scenario allows no lag, releases every effect to every replica that is linked.
    ///
    /// # Errors
    /// As [`Gate::release_all`].
    pub fn release_if_without_lag(&self) -> Result<(), ReplayError> {
        if !self.config.cluster.lag.is_zero() {
            return Ok(());
        }
        for member in &self.members {
            let is_heard = |gate: &&Gate| self.master_behind(gate).is_none_or(|master| !self.is_paused(master));
            let Some(gate) = member.link().filter(is_heard) else { continue };
            // What reached it while it stood still it applies later, and the rest after that.
            if member.is_paused() || member.is_behind.get() {
                member.is_behind.set(gate.held() > 0);
                continue;
            }
            gate.release_all()?;
            // A `WAIT` may be open: then replicas acknowledge one after the other, and it ends with the first that is enough.
            if self.config.cluster.wait_for > 0 {
                gate.wait_acknowledged()?;
            }
        }
        Ok(())
    }

    /// What a master has written since its last effect belongs to that: it writes no more than what the model does not have.
    ///
    /// # Errors
    /// `Redis`; as [`Gate::release_all`] where a replica has that effect already.
    pub fn extend_last_effect(&self, master: usize) -> Result<(), ReplayError> {
        let offset = self.members[master].node.offset()?;
        let socket = self.members[master].node.socket();
        for gate in self.working_links().filter(|gate| gate.master_socket() == socket) {
            let has_all = gate.held() == 0;
            gate.extend(offset);
            if has_all {
                gate.release_all()?;
            }
        }
        Ok(())
    }

    /// Waits until the node has received from each of its replicas what the replica has applied.
    ///
    /// # Errors
    /// As [`Gate::wait_acknowledged`].
    pub fn wait_acknowledged(&self, node: usize) -> Result<(), ReplayError> {
        if self.members[node].is_uncounted {
            return Ok(());
        }
        let socket = self.members[node].node.socket();
        self.working_links().filter(|gate| gate.master_socket() == socket).try_for_each(Gate::wait_acknowledged)
    }

    /// Makes a replica apply its next effect. Returns what was done, in words.
    ///
    /// # Errors
    /// As [`Gate::release_one`].
    pub fn replicate(&mut self, node: usize) -> Result<String, ReplayError> {
        let member = &self.members[node];
        let gate = member.gate.as_ref().ok_or(ReplayError::NothingHeld)?;
        let master = self.master_behind(gate);
        let is_heard = master.is_none_or(|master| !self.is_paused(master));
        let effect = if is_heard { gate.release_one()? } else { gate.release_unacknowledged()? };
        // A master that has not counted anew reads this acknowledgement, and none of those that waited in its sockets.
        let is_late = |master: usize| self.members[master].is_uncounted && self.members[master].node.is_running();
        if is_heard && master.is_some_and(is_late) {
            gate.wait_acknowledged()?;
        }
        member.is_behind.set(gate.held() > 0);
        Ok(format!("{} applies {effect}", self.name_of(node)))
    }

    /// Where clocks jump, a master must delete what has expired before its clock can jump back, and replicate the deletion; and where a
    /// `WAIT` may be for it, as soon as it has expired. In production it looks for expired keys ten times a second; here these keys are
    /// accessed.
    ///
    /// # Errors
    /// `Redis`; as `mark_now`.
    pub fn delete_expired(&mut self, keys: &[String]) -> Result<(), ReplayError> {
        if !self.config.counts_deletions() || keys.is_empty() {
            return Ok(());
        }
        let look = redis::cmd("EXISTS").arg(keys).to_owned();
        let mut has_written = false;
        let followed = self.followed_masters();
        let masters: Vec<_> =
            (0..self.members.len()).filter(|&index| self.is_master(index) && self.executes_writes(index)).collect();
        for index in masters {
            let before = self.members[index].node.offset()?;
            self.ask(index, &look, "EXISTS")?;
            has_written |= followed.contains(&index) && self.members[index].node.offset()? > before;
        }
        // What else is in the stream is no effect (for a script whose DEL finds nothing 6.2.5 sends an empty transaction).
        if has_written { self.mark_now() } else { Ok(()) }
    }

    pub(super) fn start_nodes(&mut self) -> Result<(), ReplayError> {
        self.members.clear();
        self.half_open.clear();
        let settings = NodeSettings {
            fsync: fsync_setting(&self.config),
            has_snapshots: self.config.cluster.fsync == Fsync::Snapshot,
            shutdown_timeout_seconds: u32::from(self.config.cluster.shutdown_timeout) * self.config.time.tick_ms / 1000,
            in_cluster: None,
        };
        for index in 0..self.config.nodes() {
            let place = if index == 0 { ClusterPlace::Master } else { ClusterPlace::Replica };
            let settings = NodeSettings { in_cluster: Some(place).filter(|_| self.is_cluster), ..settings };
            let node = ServerNode::start_with(&self.server, START_MS, settings)?;
            let connection = self.connect(&node)?;
            let role = if index == 0 { MemberRole::Master } else { MemberRole::Replica };
            let (hidden, is_behind) = (Vec::new(), Cell::new(false));
            self.members.push(GroupMember {
                node,
                connection,
                gate: None,
                role,
                hidden,
                is_rewriting: false,
                limit: None,
                is_uncounted: false,
                lets_writes_wait: false,
                is_behind,
                returned_to: None,
                ends_at_ms: None,
                held_back_ms: 0,
            });
        }
        self.master = 0;
        self.start_other_masters(settings)?;
        self.open_addresses()?;
        for (index, GroupMember { node, .. }) in self.members.iter().enumerate() {
            self.members[..index].iter().try_for_each(|other| node.meet(&other.node))?;
        }
        self.meet_other_masters()?;
        for replica in 1..self.members.len() {
            self.follow_master(replica)?;
        }
        self.tell_replicas_of_slots()?;
        for member in &self.members {
            self.require_replicas(&member.node)?;
        }
        self.sync_disks()?;
        self.is_worn = false;
        self.is_fresh = true;
        Ok(())
    }

    /// A connection to a node that has been sent the setup commands.
    pub(super) fn connect(&self, node: &ServerNode) -> Result<ServerConnection, ReplayError> {
        let mut connection = node.connect()?;
        // A replica of a cluster executes even what only reads for nobody else.
        let reads = self.is_cluster.then(|| redis::cmd("READONLY"));
        for command in self.setup.iter().chain(&reads) {
            connection.req_command(command).map_err(ReplayError::redis("a setup command"))?;
        }
        Ok(connection)
    }

    /// Makes the node count its replicas before it writes, where the scenario says so.
    pub(super) fn require_replicas(&self, node: &ServerNode) -> Result<(), ReplayError> {
        let cluster = &self.config.cluster;
        if cluster.min_replicas == 0 {
            return Ok(());
        }
        node.require_replicas(cluster.min_replicas.into(), self.longest_silence())
    }

    /// The same of a node that writes whatever it counts for now.
    pub(super) fn require_as_before(&self, node: usize) -> Result<(), ReplayError> {
        let GroupMember { node, limit, .. } = &self.members[node];
        self.require_replicas(node)?;
        limit.map_or(Ok(()), |limit| node.require_replicas(self.config.cluster.min_replicas.into(), limit))
    }

    pub(super) fn sync_disks(&self) -> Result<(), ReplayError> {
        (0..self.members.len()).try_for_each(|node| self.sync_disk(node))
    }

    /// What the node has written is on its disk, if it has one. After a full copy that takes until a child process has
    /// rewritten the AOF.
    pub(super) fn sync_disk(&self, node: usize) -> Result<(), ReplayError> {
        match self.config.cluster.fsync {
            _ if self.members[node].is_rewriting => Ok(()),
            Fsync::None | Fsync::Snapshot => Ok(()),
            _ if self.config.has_late_disk() => self.members[node].node.sync_disk(),
            Fsync::EverySecond | Fsync::Always => self.members[node].node.wait_written(),
        }
    }
}

/// `appendfsync`, where nodes have an AOF.
fn fsync_setting(config: &Config) -> Option<&'static str> {
    match config.cluster.fsync {
        Fsync::None | Fsync::Snapshot => None,
        Fsync::EverySecond => Some("everysec"),
        Fsync::Always => Some("always"),
    }
}
