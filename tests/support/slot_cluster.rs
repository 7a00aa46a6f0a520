//! A real Redis Cluster that runs freely: by the machine's clock, with open links. Nothing in it decides by itself that a node is dead:
//! a failover is told.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;

use lockstep_redis::slots::SLOTS;
use lockstep_sim::replay::{OwnProcess, ServerConnection, ServerProgram};
use redis::{Cmd, ConnectionLike as _, RedisResult, Value, cmd};
use tempfile::TempDir;

use crate::free_nodes::{free_port, wait_until};

/// Before 7.0 a node listens for the others at its port and so much.
const BUS_PORT_DISTANCE: u16 = 10_000;
/// Longer than any test, in milliseconds.
const NEVER: &str = "600000";
/// So long, in milliseconds, a node waits for another one that it meets. Two that meet each other at the same moment may both wait for
/// nothing, and begin anew then.
const MEETING_WAIT: &str = "3000";

/// The nodes, masters first: each has an equal share of the slots, in order. If there are replicas, the one of master i of n is node n + i.
pub struct SlotCluster {
    nodes: Vec<ClusterNode>,
    masters: u16,
}

struct ClusterNode {
    process: OwnProcess,
    folder: TempDir,
    port: u16,
    bus_port: u16,
    id: String,
}

impl SlotCluster {
    /// Starts so many masters, each with a replica or without, and waits until all of them know one another and serve.
    pub fn start(server: &ServerProgram, masters: u16, has_replicas: bool) -> Self {
        let count = if has_replicas { 2 * masters } else { masters };
        let nodes: Vec<ClusterNode> = (0..count).map(|_| ClusterNode::start(server)).collect();
        let cluster = Self { nodes, masters };
        for master in 0..masters {
            let share: Vec<u16> = (0..SLOTS).filter(|slot| cluster.master_of(*slot) == usize::from(master)).collect();
            cluster.told(usize::from(master), cmd("CLUSTER").arg("ADDSLOTS").arg(share));
            cluster.told(usize::from(master), cmd("CLUSTER").arg("SET-CONFIG-EPOCH").arg(master + 1));
        }
        for node in 0..cluster.nodes.len() {
            for ClusterNode { port, bus_port, .. } in &cluster.nodes[node + 1..] {
                cluster.told(node, cmd("CLUSTER").arg("MEET").arg("127.0.0.1").arg(port).arg(bus_port));
            }
        }
        let all = format!("cluster_known_nodes:{count}");
        cluster.wait_for_info("the nodes know one another", "CLUSTER", &all, 0..cluster.nodes.len());
        for replica in usize::from(masters)..cluster.nodes.len() {
            let master = &cluster.nodes[replica - usize::from(masters)].id;
            // It may not have heard yet which nodes are masters.
            wait_until("a replica follows", || {
                cluster.ask(replica, cmd("CLUSTER").arg("REPLICATE").arg(master)) == Ok(Value::Okay)
            });
        }
        cluster.wait_for_info("the cluster serves", "CLUSTER", "cluster_state:ok", 0..cluster.nodes.len());
        // The same setting says after how much silence a node is dead.
        for node in 0..cluster.nodes.len() {
            cluster.told(node, cmd("CONFIG").arg("SET").arg("cluster-node-timeout").arg(NEVER));
        }
        cluster.wait_for_info("the cluster still serves", "CLUSTER", "cluster_state:ok", 0..cluster.nodes.len());
        let replicas = usize::from(masters)..cluster.nodes.len();
        cluster.wait_for_info("the replicas have their copies", "INFO", "master_link_status:up", replicas);
        cluster
    }

    /// The master that has this slot at first.
    pub fn master_of(&self, slot: u16) -> usize {
        usize::try_from(u32::from(slot) * u32::from(self.masters) / u32::from(SLOTS)).expect("it is small")
    }

    /// The replica that this master has at first.
    pub fn replica_of(&self, master: usize) -> usize {
        usize::from(self.masters) + master
    }

    /// The port of a node.
    pub fn port(&self, node: usize) -> u16 {
        self.nodes[node].port
    }

    /// A connection to a node.
    pub fn connect(&self, node: usize) -> ServerConnection {
        self.nodes[node].connect().expect("it lives")
    }

    /// What a node answers, over a connection of its own.
    ///
    /// # Errors
    /// It refuses, or does not live.
    pub fn ask(&self, node: usize, command: &Cmd) -> RedisResult<Value> {
        self.connect(node).req_command(command)?.extract_error()
    }

    /// What it answers to a client that the master of a slot has sent there (`ASKING`).
    ///
    /// # Errors
    /// As `ask`.
    pub fn ask_as_sent(&self, node: usize, command: &Cmd) -> RedisResult<Value> {
        let mut connection = self.connect(node);
        connection.req_command(&cmd("ASKING"))?;
        connection.req_command(command)?.extract_error()
    }

    /// Tells a node something that it does.
    pub fn told(&self, node: usize, command: &Cmd) {
        let answer = self.ask(node, command).expect("it does it");
        assert_eq!(answer, Value::Okay);
    }

    /// Begins to move a slot, as an operator does: the new master first.
    pub fn begin_migration(&self, slot: u16, from: usize, to: usize) {
        let state = |word: &str, other: usize| {
            let mut command = cmd("CLUSTER");
            command.arg("SETSLOT").arg(slot).arg(word).arg(&self.nodes[other].id);
            command
        };
        self.told(to, &state("IMPORTING", from));
        self.told(from, &state("MIGRATING", to));
    }

    /// Moves a key of that slot.
    pub fn move_key(&self, key: &str, from: usize, to: usize) {
        self.told(from, cmd("MIGRATE").arg("127.0.0.1").arg(self.port(to)).arg(key).arg(0).arg(NEVER));
    }

    /// Ends the move: the new master first, so that each request has somebody who answers it.
    pub fn end_migration(&self, slot: u16, from: usize, to: usize) {
        for node in [to, from] {
            self.told(node, cmd("CLUSTER").arg("SETSLOT").arg(slot).arg("NODE").arg(&self.nodes[to].id));
        }
    }

    /// Begins to move a slot as a whole, by the nodes themselves: Valkey since 9.0.
    pub fn begin_migration_in_one_step(&self, slot: u16, from: usize, to: usize) {
        let mut command = cmd("CLUSTER");
        command.arg("MIGRATESLOTS").arg("SLOTSRANGE").arg(slot).arg(slot).arg("NODE").arg(&self.nodes[to].id);
        self.told(from, &command);
    }

    /// Both forget that they have begun to move a slot.
    pub fn give_up_migration(&self, slot: u16, from: usize, to: usize) {
        for node in [from, to] {
            self.told(node, cmd("CLUSTER").arg("SETSLOT").arg(slot).arg("STABLE"));
        }
    }

    /// Kills a master, and makes its replica take its place, whatever the others say.
    pub fn fail_over(&mut self, master: usize) {
        self.nodes[master].process.kill().expect("our own process ends");
        self.told(self.replica_of(master), cmd("CLUSTER").arg("FAILOVER").arg("TAKEOVER"));
    }

    /// How many clients are subscribed to this channel at each node that lives: over a channel of one slot (`sharded`), or another.
    pub fn subscribers(&self, channel: &str, is_sharded: bool) -> i64 {
        let verb = if is_sharded { "SHARDNUMSUB" } else { "NUMSUB" };
        let alive = self.nodes.iter().filter_map(|node| node.connect().ok());
        let count = |mut connection: ServerConnection| {
            let answer = connection.req_command(cmd("PUBSUB").arg(verb).arg(channel)).expect("an answer");
            let (_, count): (String, i64) = redis::from_redis_value(answer).expect("a channel and a number");
            count
        };
        alive.map(count).sum()
    }

    /// Waits until these nodes say this line of `CLUSTER INFO` or `INFO`.
    fn wait_for_info(&self, awaited: &str, command: &str, line: &str, nodes: Range<usize>) {
        let mut info = cmd(command);
        if command == "CLUSTER" {
            info.arg("INFO");
        }
        wait_until(awaited, || {
            nodes.clone().all(|node| {
                let answer = self.ask(node, &info).expect("an answer");
                let text: String = redis::from_redis_value(answer).expect("text");
                text.lines().any(|found| found == line)
            })
        });
    }
}

impl ClusterNode {
    /// Somebody who looks for a free port may have one of these for a moment; then the server ends at once, and gets others.
    fn start(server: &ServerProgram) -> Self {
        const ATTEMPTS: u32 = 5;

        let started = (0..ATTEMPTS).find_map(|_| Self::try_to_start(server));
        started.unwrap_or_else(|| panic!("{server} has ended {ATTEMPTS} times before it answered"))
    }

    fn try_to_start(server: &ServerProgram) -> Option<Self> {
        let folder = TempDir::new().expect("a folder");
        let (port, bus_port) = free_ports();
        let mut command = Command::new(server.path());
        let numbers = [("--port", port), ("--cluster-port", bus_port)];
        for (name, number) in numbers.into_iter().take(if server.has_cluster_port() { 2 } else { 1 }) {
            command.arg(name).arg(number.to_string());
        }
        let settings = [
            ("--bind", "127.0.0.1"),
            ("--save", ""),
            ("--logfile", "log"),
            ("--unixsocket", "s"),
            ("--cluster-enabled", "yes"),
            ("--cluster-node-timeout", MEETING_WAIT),
            ("--cluster-replica-no-failover", "yes"),
            ("--repl-diskless-sync-delay", "0"),
        ];
        for (name, value) in settings {
            command.args([name, value]);
        }
        command.arg("--dir").arg(folder.path()).current_dir(folder.path());
        let process = OwnProcess::start(command).expect("a server starts");
        let mut node = Self { process, folder, port, bus_port, id: String::new() };
        wait_until("the server answers", || {
            let answer = node.connect().and_then(|mut connection| connection.req_command(cmd("CLUSTER").arg("MYID")));
            node.id = answer.and_then(|id| Ok(redis::from_redis_value(id)?)).unwrap_or_default();
            !node.id.is_empty() || !node.process.is_running()
        });
        (!node.id.is_empty()).then_some(node)
    }

    fn connect(&self) -> RedisResult<ServerConnection> {
        ServerConnection::open(&self.folder.path().join("s"), Arc::from("a node of a cluster"))
    }
}

/// A port for clients and one for nodes that nobody listens on now.
fn free_ports() -> (u16, u16) {
    loop {
        let port = free_port();
        let bus_port = port + BUS_PORT_DISTANCE;
        // From 32768 on Linux gives ports to the ends of connections.
        if bus_port < 30_000 && TcpListener::bind((Ipv4Addr::LOCALHOST, bus_port)).is_ok() {
            return (port, bus_port);
        }
    }
}
