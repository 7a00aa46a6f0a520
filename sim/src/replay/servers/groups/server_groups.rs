//! The groups: started, asked, reset between histories, and how a node is found in them.

use std::ops::Range;
use std::path::Path;
use std::process::ExitStatus;

use lockstep_model::Config;
use lockstep_model::trace::Trace;
use redis::{Cmd, Value};

use crate::replay::error::ReplayError;
use crate::replay::node_names::name_of_node;
use crate::replay::servers::group::{SentinelWatch, ServerGroup};
use crate::replay::servers::node::ServerNode;
use crate::replay::servers::sentinel::Failover;
use crate::replay::servers::server::ServerProgram;

/// The servers of one scenario. Nodes are given by their numbers among all.
pub struct ServerGroups {
    /// At least one, and all of one size.
    pub(super) groups: Vec<ServerGroup>,
}

impl ServerGroups {
    /// Starts the servers of a scenario; `is_cluster`: each group is one. Each server is sent the `setup` commands whenever it is
    /// started.
    ///
    /// # Errors
    /// As [`ServerGroup::start`].
    pub fn start(
        program: (&ServerProgram, bool),
        config: &Config,
        setup: &[Cmd],
        mut watch: Option<SentinelWatch>,
    ) -> Result<Self, ReplayError> {
        let size = usize::from(config.nodes());
        let start = |group: u8| {
            // Sentinels watch one master: with several groups they are refused.
            let watch = watch.take();
            ServerGroup::start(program, (config, usize::from(group) * size), setup.to_vec(), watch)
        };
        (0..config.cluster.groups).map(start).collect::<Result<_, _>>().map(|groups| Self { groups })
    }

    /// The program that the servers run.
    pub fn server(&self) -> &ServerProgram {
        self.first().server()
    }

    /// A server whose process somebody else has ended: its name, its process and how it ended.
    pub fn unasked_end(&self) -> Option<(String, u32, ExitStatus)> {
        self.groups.iter().find_map(ServerGroup::unasked_end)
    }

    /// A server that stands still, and nothing here has stopped it: its name and its process.
    pub fn unasked_stop(&self) -> Option<(String, u32)> {
        self.groups.iter().find_map(ServerGroup::unasked_stop)
    }

    /// Brings the servers into the state in which every history begins.
    ///
    /// # Errors
    /// As [`ServerGroup::reset`].
    pub fn reset(&mut self) -> Result<(), ReplayError> {
        self.groups.iter_mut().try_for_each(ServerGroup::reset)
    }

    /// From here on a TTL is too long for any run, ms.
    pub fn far_ms(&self) -> i64 {
        self.first().far_ms()
    }

    /// The number of nodes, dead ones included.
    pub fn len(&self) -> usize {
        self.groups.len() * self.group_size()
    }

    /// The ports that the nodes announce to the clients of their cluster; none: there is no cluster.
    pub fn announced_in_cluster(&self) -> Vec<u16> {
        self.groups.iter().flat_map(ServerGroup::announced_in_cluster).collect()
    }

    /// The acting master, or the last one, of the group that a node is in.
    pub fn master_beside(&self, node: usize) -> usize {
        self.nodes_beside(node).start + self.group_of(node).0.master()
    }

    /// The nodes of the group that a node is in, itself included.
    pub fn nodes_beside(&self, node: usize) -> Range<usize> {
        let size = self.group_size();
        let first = node - node % size;
        first..first + size
    }

    /// Whether the node is down.
    pub fn is_dead(&self, node: usize) -> bool {
        let (group, node) = self.group_of(node);
        group.is_dead(node)
    }

    /// As [`ServerGroup::executes_writes`].
    pub fn executes_writes(&self, node: usize) -> bool {
        let (group, node) = self.group_of(node);
        group.executes_writes(node)
    }

    /// Whether a node stands still.
    pub fn is_paused(&self, node: usize) -> bool {
        let (group, node) = self.group_of(node);
        group.is_paused(node)
    }

    /// Whether the node runs and is a master.
    pub fn is_master(&self, node: usize) -> bool {
        let (group, node) = self.group_of(node);
        group.is_master(node)
    }

    /// As [`ServerGroup::may_name_missing_replicas_first`].
    pub fn may_name_missing_replicas_first(&self) -> bool {
        self.first().may_name_missing_replicas_first()
    }

    /// Whether replicas receive TTLs as relative times.
    pub fn has_relative_ttls(&self) -> bool {
        self.first().has_relative_ttls()
    }

    /// Whether any node follows another.
    pub fn has_replicas(&self) -> bool {
        self.groups.iter().any(ServerGroup::has_replicas)
    }

    /// The node.
    pub fn node(&self, node: usize) -> &ServerNode {
        let (group, node) = self.group_of(node);
        group.node(node)
    }

    /// The number of the node with this name; of the acting master of the first group if there is none.
    pub fn index_of(&self, name: &str) -> usize {
        (0..self.len()).find(|&node| name_of_node(node) == name).unwrap_or_else(|| self.first().master())
    }

    /// As [`ServerGroup::ask`].
    ///
    /// # Errors
    /// As [`ServerGroup::ask`].
    pub fn ask(&mut self, node: usize, command: &Cmd, asked: &'static str) -> Result<Value, ReplayError> {
        let (group, node) = self.group_of_mut(node);
        group.ask(node, command, asked)
    }

    /// As [`ServerGroup::ask_all`].
    ///
    /// # Errors
    /// As [`ServerGroup::ask_all`].
    pub fn ask_all<'a>(
        &mut self,
        node: usize,
        commands: impl ExactSizeIterator<Item = &'a Cmd>,
    ) -> Result<Vec<Value>, ReplayError> {
        let (group, node) = self.group_of_mut(node);
        group.ask_all(node, commands)
    }

    /// As [`ServerGroup::start_sentinels`].
    ///
    /// # Errors
    /// As [`ServerGroup::start_sentinels`].
    pub fn start_sentinels(&mut self, trace: &Trace) -> Result<(), ReplayError> {
        self.groups.iter_mut().try_for_each(|group| group.start_sentinels(trace))
    }

    /// As [`ServerGroup::end_sentinels`].
    pub fn end_sentinels(&mut self) -> (Vec<Failover>, bool) {
        let (mut failovers, mut are_ahead) = (Vec::new(), false);
        for group in &mut self.groups {
            let (its_own, is_ahead) = group.end_sentinels();
            failovers.extend(its_own);
            are_ahead |= is_ahead;
        }
        (failovers, are_ahead)
    }

    /// As [`ServerGroup::ask_sentinel`].
    ///
    /// # Errors
    /// As [`ServerGroup::ask_sentinel`].
    pub fn ask_sentinel(&self, client: usize) -> Result<Option<(String, String)>, ReplayError> {
        self.first().ask_sentinel(client)
    }

    /// As [`ServerGroup::has_keys_elsewhere`].
    pub fn has_keys_elsewhere(&self, node: usize) -> bool {
        let (group, node) = self.group_of(node);
        group.has_keys_elsewhere(node)
    }

    /// As [`ServerGroup::has_other_master`].
    pub fn has_other_master(&self) -> bool {
        self.groups.iter().any(ServerGroup::has_other_master)
    }

    /// As [`ServerGroup::settle_messages`].
    ///
    /// # Errors
    /// As [`ServerGroup::settle_messages`].
    pub fn settle_messages(&self) -> Result<(), ReplayError> {
        self.groups.iter().try_for_each(ServerGroup::settle_messages)
    }

    /// As [`ServerGroup::ways_to_other_masters`].
    pub fn ways_to_other_masters(&self) -> impl Iterator<Item = (&Path, u16)> {
        self.groups.iter().flat_map(ServerGroup::ways_to_other_masters)
    }

    /// As [`ServerGroup::ask_and_follow`].
    ///
    /// # Errors
    /// As [`ServerGroup::ask_and_follow`].
    pub fn ask_and_follow(
        &mut self,
        node: usize,
        command: &Cmd,
        asked: &'static str,
    ) -> Result<(Value, bool), ReplayError> {
        let (group, node) = self.group_of_mut(node);
        group.ask_and_follow(node, command, asked)
    }

    /// As [`ServerGroup::ask_other_master`].
    ///
    /// # Errors
    /// As [`ServerGroup::ask_other_master`].
    pub fn ask_other_master(&mut self, node: usize, command: &Cmd) -> Result<Value, ReplayError> {
        self.group_of_mut(node).0.ask_other_master(command)
    }

    /// The group of a node, and the node's index in it.
    pub(super) fn group_of(&self, node: usize) -> (&ServerGroup, usize) {
        let size = self.group_size();
        (&self.groups[node / size], node % size)
    }

    /// The group of a node, and the node's index in it.
    pub(super) fn group_of_mut(&mut self, node: usize) -> (&mut ServerGroup, usize) {
        let size = self.group_size();
        (&mut self.groups[node / size], node % size)
    }

    /// The groups, each with the number of its first node.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &ServerGroup)> {
        (0..).step_by(self.group_size()).zip(&self.groups)
    }

    /// The number of nodes in each group.
    pub(super) fn group_size(&self) -> usize {
        self.first().len()
    }

    /// The group that is asked for what is the same in each.
    pub(super) fn first(&self) -> &ServerGroup {
        &self.groups[0]
    }
}

#[cfg(test)]
mod tests {
    use lockstep_model::config::{Bound, Faults, Fsync};

    use super::*;
    use crate::scenario;

    const KEY: &str = "lock";

    /// A world without faults, with so many groups, and replicas in each. Replicas may lag as long as they like, and a clock would jump
    /// by three ticks.
    fn config(program: &ServerProgram, groups: u8, replicas: u8) -> Config {
        let mut config = scenario::builtin().into_iter().next().expect("a scenario").config;
        (config.time.tick_ms, config.time.jump) = (1000, 3);
        config.faults = Faults::default();
        let cluster = &mut config.cluster;
        (cluster.groups, cluster.replicas) = (groups, replicas);
        (cluster.lag, cluster.ttls) = (Bound::Any, program.ttls());
        (cluster.min_replicas, cluster.wait_for, cluster.fsync) = (0, 0, Fsync::None);
        config
    }

    /// Servers that are at the begin of a history.
    fn start(program: &ServerProgram, groups: u8, replicas: u8) -> ServerGroups {
        let config = config(program, groups, replicas);
        let started = ServerGroups::start((program, false), &config, &[], None);
        let mut servers = started.unwrap_or_else(|error| panic!("{program}: {error}"));
        servers.reset().unwrap();
        servers
    }

    fn store(servers: &mut ServerGroups, node: usize, lease_ms: i64) {
        let set = redis::cmd("SET").arg(&[KEY, "holder", "PX"]).arg(lease_ms).to_owned();
        assert_eq!(servers.ask(node, &set, "SET").unwrap(), Value::Okay);
    }

    /// The time that the key has left on each of these nodes, ms; -2 where it is gone.
    fn left_ms(servers: &mut ServerGroups, nodes: Range<usize>) -> Vec<Value> {
        nodes.map(|node| servers.ask(node, redis::cmd("PTTL").arg(KEY), "PTTL").unwrap()).collect()
    }

    #[test]
    fn what_happens_to_one_master_happens_to_no_other() {
        for program in ServerProgram::all_of_tests() {
            println!("on {program}");
            let mut servers = start(&program, 3, 0);
            assert_eq!(servers.len(), 3);
            assert_eq!(servers.index_of("n2"), 1);
            (0..3).for_each(|node| store(&mut servers, node, 4000));

            servers.pass_tick().unwrap();
            servers.pass_tick().unwrap();
            assert_eq!(left_ms(&mut servers, 0..3), [2000, 2000, 2000].map(Value::Int));
            assert_eq!(servers.jump(1).unwrap(), "the clock of n2 jumps by 3000 ms");
            assert_eq!(left_ms(&mut servers, 0..3), [2000, -2, 2000].map(Value::Int));

            assert!(servers.crash(2).unwrap().starts_with("SIGKILL to n3"));
            assert!(servers.is_dead(2));
            assert_eq!(servers.followed_masters(), [0, 1]);
            assert!(servers.ask(2, &redis::cmd("PING"), "PING").is_err());
            servers.pass_tick().unwrap();
            assert_eq!(left_ms(&mut servers, 0..2), [1000, -2].map(Value::Int));
            assert_eq!(servers.unasked_end(), None);

            servers.reset().unwrap();
            assert_eq!(servers.followed_masters(), [0, 1, 2]);
            assert_eq!(left_ms(&mut servers, 0..3), [-2, -2, -2].map(Value::Int));
        }
    }

    /// Numbers and names go through all groups; links, failovers and the acting master are of one.
    #[test]
    fn a_failover_concerns_one_group() {
        for program in ServerProgram::all_of_tests() {
            println!("on {program}");
            let mut servers = start(&program, 2, 1);
            assert_eq!(servers.nodes_beside(3), 2..4);
            assert_eq!(servers.followed_masters(), [0, 2]);

            store(&mut servers, 2, 4000);
            servers.mark_written(2).unwrap();
            assert_eq!((0..4).map(|node| servers.effects_under_way(node)).collect::<Vec<_>>(), [0, 0, 0, 1]);
            assert!(servers.replicate(3).unwrap().starts_with("n4 applies "));
            assert_eq!(left_ms(&mut servers, 0..4), [-2, -2, 4000, 4000].map(Value::Int));

            servers.crash(3).unwrap();
            servers.restart(3, false, false, &[0, 1, 2]).unwrap();
            assert_eq!(left_ms(&mut servers, 3..4), [Value::Int(-2)]);
            assert_eq!(servers.resync(3).unwrap(), "n4: REPLICAOF n3");
            assert_eq!(left_ms(&mut servers, 3..4), [Value::Int(4000)]);

            servers.crash(2).unwrap();
            servers.promote(3, 1).unwrap();
            assert_eq!((servers.master_beside(1), servers.master_beside(2)), (0, 3));
            assert!(servers.is_master(0) && !servers.is_master(1) && servers.is_master(3));
            assert_eq!(servers.followed_masters(), [0, 3]);
        }
    }
}
