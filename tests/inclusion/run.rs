//! One free run: real servers, clients that take and release a lock whenever they like, an operator who does harm, and
//! somebody who looks.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use lockstep_redis::Names;
use lockstep_sim::replay::{ServerConnection, ServerProgram};
use redis::{ConnectionLike as _, Value, cmd};

use crate::clients::FreeClient;
use crate::clock::{MachineClock, OLD_CLOCK_US, until};
use crate::nodes::{Disk, FreeNode, FreeSentinels, wait_until};
use crate::operator::Operator;
use crate::record::{Deed, Event, Record, SeenHold};
use crate::world::{FreeRun, Harm, MAX_LAG_S, random};

/// What clients can learn of the nodes.
pub struct FreeCluster {
    /// The nodes, the first master first.
    pub nodes: Vec<FreeNode>,
    /// Which one is the master.
    master: AtomicU8,
    /// Whether the first one runs as a master although there is another.
    has_old_master: AtomicBool,
}

impl FreeCluster {
    fn start(server: &ServerProgram, free_run: FreeRun) -> Self {
        let disk = match free_run.harm {
            Harm::RestartWithAof => Disk::Aof,
            Harm::RestartWithSnapshot => Disk::Snapshot,
            _ => Disk::None,
        };
        let nodes: Vec<_> = (0..=free_run.replicas).map(|_| FreeNode::start(server, disk)).collect();
        for replica in &nodes[1..] {
            replica.follow(&nodes[0]);
        }
        wait_until("the master knows its replicas", || nodes[0].linked_replicas() == nodes.len() - 1);
        if free_run.harm == Harm::SilentReplica {
            nodes[0].set("min-replicas-max-lag", &MAX_LAG_S.to_string());
            nodes[0].set("min-replicas-to-write", "1");
        }
        if free_run.harm == Harm::Shutdown && server.waits_for_replicas_when_it_ends() {
            nodes[0].set("shutdown-timeout", "1");
        }
        Self { nodes, master: AtomicU8::new(0), has_old_master: AtomicBool::new(false) }
    }

    /// Which node clients are told is the master.
    pub fn master(&self) -> u8 {
        self.master.load(Ordering::SeqCst)
    }

    /// A node has become the master.
    pub fn set_master(&self, node: usize) {
        self.master.store(u8::try_from(node).expect("there are few nodes"), Ordering::SeqCst);
    }

    /// Whether a client may go back to the first master.
    pub fn has_old_master(&self) -> bool {
        self.has_old_master.load(Ordering::SeqCst)
    }

    /// The first master goes on as one.
    pub fn set_old_master(&self) {
        self.has_old_master.store(true, Ordering::SeqCst);
    }

    /// A connection, unless the node is dead.
    pub fn connect(&self, node: u8) -> Option<ServerConnection> {
        self.nodes[usize::from(node)].try_connect()
    }
}

/// The names of the lock of every run.
pub fn names() -> Names {
    Names::of("free")
}

/// Runs real servers. The record ends when the clients do.
pub fn run(server: &ServerProgram, free_run: FreeRun) -> Record {
    let cluster = &FreeCluster::start(server, free_run);
    let _sentinels = (free_run.harm == Harm::Sentinels).then(|| FreeSentinels::start(server, &cluster.nodes));
    let clock = MachineClock::start(free_run.tick_ms(), free_run.end_us());
    let parties = thread::scope(|scope| {
        let clients: Vec<_> = (0..free_run.clients)
            .map(|client| {
                let mut random = random(free_run.seed ^ (u64::from(client) + 1) << 32);
                scope.spawn(move || FreeClient::new(client, free_run, clock).live(&mut random, cluster))
            })
            .collect();
        let looks = scope.spawn(move || look(free_run, clock, cluster));
        let operator = Operator::new(free_run, clock, random(free_run.seed ^ 77 << 40)).work(cluster);
        let mut parties: Vec<_> = clients.into_iter().map(|client| client.join().expect("a client ends")).collect();
        parties.push(operator);
        parties.push(looks.join().expect("who looks ends"));
        parties
    });
    Record { server: server.to_string(), scenario: free_run.scenario(), parties }
}

/// Looks at the lock on every node that lives, again and again.
fn look(free_run: FreeRun, clock: MachineClock, cluster: &FreeCluster) -> Vec<Event> {
    let mut events = Vec::new();
    // Nobody learns anything while a node stands still for seconds.
    let last = if free_run.harm == Harm::SilentReplica { 0 } else { free_run.replicas };
    while !clock.is_over() {
        for node in 0..=last {
            let Some(mut connection) = cluster.connect(node) else { continue };
            let from_us = clock.now_us() - OLD_CLOCK_US;
            let seen = stored(&mut connection);
            let to_us = clock.now_us();
            let Some((hold, ttl_ms)) = seen else { continue };
            let hold = hold.map(|(client, count)| SeenHold { client, count, until: until(ttl_ms, from_us, to_us) });
            events.push(Event { from_us, to_us, what: Deed::Saw { node, hold } });
        }
        thread::sleep(Duration::from_millis(u64::from(free_run.tick_ms() / 3)));
    }
    events
}

/// The holder, its hold count and the TTL of the key, read at one instant; `None`: the connection broke.
fn stored(connection: &mut ServerConnection) -> Option<(Option<(u8, u8)>, i64)> {
    let name = names().lock().to_owned();
    // A kind stores a hash or a string, so one of the first two is an error unless there is no key.
    let asked =
        [cmd("HGETALL").arg(&name).to_owned(), cmd("GET").arg(&name).to_owned(), cmd("PTTL").arg(&name).to_owned()];
    for command in [cmd("MULTI")].iter().chain(&asked) {
        connection.req_command(command).ok()?;
    }
    let Value::Array(answers) = connection.req_command(&cmd("EXEC")).ok()? else { return None };
    let [hash, string, Value::Int(ttl_ms)] = answers.as_slice() else { return None };
    let hold = match (hash, string) {
        (Value::Array(fields), _) if fields.len() == 2 => Some((client_of(&fields[0])?, number(&fields[1])?)),
        (_, value @ Value::BulkString(_)) => Some((client_of(value)?, 1)),
        _ => None,
    };
    Some((hold, *ttl_ms))
}

fn text(value: &Value) -> Option<String> {
    let Value::BulkString(bytes) = value else { return None };
    String::from_utf8(bytes.clone()).ok()
}

fn number(value: &Value) -> Option<u8> {
    text(value)?.parse().ok()
}

/// The client that a holder or a value names: the first of the numbers between colons.
fn client_of(holder: &Value) -> Option<u8> {
    text(holder)?.split(':').next()?.parse().ok()
}
