//! One free run: real servers, clients that take and release a lock whenever they like, an operator who does harm, and
//! somebody who looks.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

use lockstep_model::Action;
use lockstep_model::config::Ttls;
use lockstep_redis::Names;
use lockstep_sim::replay::{ClockOffset, ServerConnection, ServerProgram};
use lockstep_tests::free_nodes::{CopyStage, Disk, FreeNode, FreeSentinels, wait_until};
use redis::{ConnectionLike as _, Value, cmd};

use crate::clients::FreeClient;
use crate::clock::{MachineClock, OLD_CLOCK_US, until};
use crate::links::FreeLinks;

use crate::operator::Operator;
use crate::record::{Deed, Event, Record, SeenHold, ToldAnswer};
use crate::resource::FreeResource;
use crate::world::{FreeRun, Harm, MAX_LAG_S, random};

/// A master and its replicas.
const MOST_NODES: usize = 3;
/// In the place of the node that is copied.
const NOTHING: u8 = u8::MAX;

/// What clients can learn of the nodes.
pub struct FreeCluster {
    /// The nodes, the first master first.
    pub nodes: Vec<FreeNode>,
    /// The way on which replicas reach the first master, in a run that does harm to their links.
    links: Option<FreeLinks>,
    /// Which one is the master.
    master: AtomicU8,
    /// Whether the first one runs as a master although there is another. Who uses a node reads this meanwhile.
    has_old_master: RwLock<bool>,
    /// Held while something is asked of a node. A node that is stopped in the middle of a script looks at two times
    /// (docs/approximations.md#servers), so it is stopped while nobody holds this.
    asking: RwLock<()>,
    /// Of which nodes somebody who looks sees something that the model leaves out, a bit each.
    hidden: AtomicU8,
    /// Which node copies from which other one: it was told to follow that, and has not been seen to have its data.
    copied: [AtomicU8; MOST_NODES],
    free_run: FreeRun,
}

impl FreeCluster {
    fn start(server: &ServerProgram, free_run: FreeRun) -> Self {
        let disk = match free_run.harm {
            Harm::RestartWithAof => Disk::Aof,
            Harm::RestartWithSnapshot | Harm::ShutdownAndRestart => Disk::Snapshot,
            _ => Disk::None,
        };
        let clock = |folder: &Path| {
            free_run.harm.jumps_clocks().then(|| ClockOffset::create(folder).expect("a clock of its own"))
        };
        let nodes: Vec<_> = (0..=free_run.replicas).map(|_| FreeNode::start(server, disk, clock)).collect();
        let links = free_run.harm.is_of_links().then(|| FreeLinks::open(&nodes[0].socket(), free_run.seed));
        for replica in &nodes[1..] {
            // Behind a gate its address is not that of its connection.
            replica.set("replica-announce-ip", "127.0.0.1");
            replica.follow(links.as_ref().map_or(nodes[0].port(), FreeLinks::port));
        }
        wait_until("the master knows its replicas", || nodes[0].linked_replicas() == nodes.len() - 1);
        for node in nodes.iter().filter(|_| free_run.harm.needs_replica()) {
            node.set("min-replicas-max-lag", &MAX_LAG_S.to_string());
            node.set("min-replicas-to-write", "1");
        }
        if free_run.harm == Harm::Shutdown && server.waits_for_replicas_when_it_ends() {
            nodes[0].set("shutdown-timeout", "1");
        }
        if free_run.harm == Harm::ShutdownAndRestart {
            nodes[0].set("save", "3600 1000000");
        }
        let (has_old_master, asking, hidden) = (RwLock::new(false), RwLock::new(()), AtomicU8::new(0));
        let (master, copied) = (AtomicU8::new(0), [const { AtomicU8::new(NOTHING) }; MOST_NODES]);
        Self { nodes, links, master, has_old_master, asking, hidden, copied, free_run }
    }

    /// The way on which replicas reach the first master.
    pub fn links(&self) -> &FreeLinks {
        self.links.as_ref().expect("something happens to the links in this run")
    }

    /// Which node clients are told is the master.
    pub fn master(&self) -> u8 {
        self.master.load(Ordering::SeqCst)
    }

    /// A node has become the master.
    pub fn set_master(&self, node: usize) {
        self.master.store(u8::try_from(node).expect("there are few nodes"), Ordering::SeqCst);
    }

    /// Whether a client may go back to the first master. It does not stop being one while this is held.
    pub fn has_old_master(&self) -> RwLockReadGuard<'_, bool> {
        self.has_old_master.read().expect("nobody panics")
    }

    /// Something is asked of a node while this is held.
    pub fn ask(&self) -> RwLockReadGuard<'_, ()> {
        self.asking.read().expect("nobody panics")
    }

    /// Waits until nothing is asked. Nothing will be while this is held.
    pub fn wait_until_idle(&self) -> RwLockWriteGuard<'_, ()> {
        self.asking.write().expect("nobody panics")
    }

    /// The first master goes on as one.
    pub fn set_old_master(&self) {
        *self.has_old_master.write().expect("nobody panics") = true;
    }

    /// Tells the first master to follow the new one. It takes the new one's data up to a second later.
    pub fn demote_old_master(&self) {
        if self.free_run.ttls == Ttls::Relative {
            // After a partial resync before 7.0 it counts leases anew (docs/approximations.md#servers).
            self.hide(0);
        }
        self.begin_to_follow(0);
    }

    /// Tells a node to follow the new master. It takes the new one's data up to a second later.
    pub fn begin_to_follow(&self, node: usize) {
        let master = self.master();
        self.note_copy(node, master);
        self.nodes[node].begin_to_follow(self.nodes[usize::from(master)].port());
    }

    /// From now on the one node copies the data of the other.
    pub fn note_copy(&self, node: usize, of: u8) {
        self.copied[node].store(of, Ordering::SeqCst);
    }

    /// Starts a dead node whose configuration file names this master, and waits until that one counts it. It is not looked at
    /// meanwhile: in the model it has its copy as soon as it starts.
    pub fn restart_as_replica_of(&self, node: usize, master: u8) {
        let old = &self.nodes[usize::from(master)];
        self.hide(node);
        self.nodes[node].write_master_on_file(old.port());
        self.nodes[node].restart();
        wait_until("the old master counts its replica", || old.counts_a_replica());
        self.note_copy(node, master);
        self.hidden.fetch_and(!(1 << node), Ordering::SeqCst);
    }

    fn hide(&self, node: usize) {
        self.hidden.fetch_or(1 << node, Ordering::SeqCst);
    }

    /// Whether what was seen of a node a moment ago can be compared. Of a copy it cannot: the model takes and loads it at one
    /// instant (docs/approximations.md#servers), and a real replica shows its old data for a while, and then for a moment the
    /// master's of the instant at which the copy began.
    fn can_be_compared(&self, node: u8) -> bool {
        let copied = &self.copied[usize::from(node)];
        let master = copied.load(Ordering::SeqCst);
        if master == NOTHING {
            return true;
        }
        let written = self.nodes[usize::from(master)].written_offset();
        match self.nodes[usize::from(node)].copy_stage() {
            Some(CopyStage::NotBegun) => true,
            Some(CopyStage::UpTo(offset)) if written.is_some_and(|written| offset >= written) => {
                let _ = copied.compare_exchange(master, NOTHING, Ordering::SeqCst, Ordering::SeqCst);
                false
            }
            _ => false,
        }
    }

    /// From now on no client uses the first master.
    pub fn leave_old_master(&self) {
        *self.has_old_master.write().expect("nobody panics") = false;
    }

    /// Whether somebody who looks sees of this node what the model says of it. A replica that is late shows one effect after
    /// the other; in the model the last one takes the place of the others (`Config::merges_effects`).
    fn can_be_looked_at(&self, node: u8) -> bool {
        let FreeRun { harm, ttls, .. } = self.free_run;
        // A replica that the sentinels tell of the new master gets a partial resync, and before 7.0 that counts leases anew
        // (docs/approximations.md#servers).
        let counts_anew = harm == Harm::Sentinels && ttls == Ttls::Relative && node > 0 && node != self.master();
        let is_hidden = counts_anew || self.hidden.load(Ordering::SeqCst) & 1 << node != 0;
        !is_hidden && (node == 0 || !self.free_run.harm.makes_replicas_late() || node == self.master())
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
    let (resource, mut queues) = (free_run.harm == Harm::LateWrites).then(|| FreeResource::start(free_run)).unzip();
    let parties = thread::scope(|scope| {
        let clients: Vec<_> = (0..free_run.clients)
            .map(|client| {
                let mut random = random(free_run.seed ^ (u64::from(client) + 1) << 32);
                let queue = queues.as_mut().map(|queues| queues.remove(0));
                scope.spawn(move || FreeClient::new(client, free_run, clock, queue).live(&mut random, cluster))
            })
            .collect();
        let arrivals = resource.map(|resource| scope.spawn(move || resource.accept(clock)));
        let looks = scope.spawn(move || look(free_run, clock, cluster));
        let operator = Operator::new(free_run, clock, random(free_run.seed ^ 77 << 40)).work(cluster);
        let mut parties: Vec<_> = clients.into_iter().map(|client| client.join().expect("a client ends")).collect();
        parties.push(operator);
        parties.push(looks.join().expect("who looks ends"));
        parties.extend(arrivals.into_iter().flat_map(|arrivals| arrivals.join().expect("the resource ends")));
        forget_torn_times(&mut parties);
        if free_run.harm == Harm::ForcedHandOver {
            forget_refusals_before_copy(&mut parties);
        }
        parties
    });
    Record { server: server.to_string(), scenario: free_run.scenario(), parties }
}

/// A script, or a transaction, in which the clock jumps may use two times: by that of its beginning a key exists, and by that of
/// the moment its TTL is told (docs/facts/redis.md#time-during-a-script). Such a TTL belongs to no instant.
fn forget_torn_times(parties: &mut [Vec<Event>]) {
    let jump = |event: &Event| {
        let is_jump = matches!(event.what, Deed::Did(Action::ClockJump { .. }));
        is_jump.then_some((event.from_us + OLD_CLOCK_US, event.to_us - OLD_CLOCK_US))
    };
    let jumps: Vec<_> = parties.iter().flatten().filter_map(jump).collect();
    let is_torn = |from_us: i64, to_us: i64| jumps.iter().any(|(begin, end)| from_us <= *end && *begin <= to_us);
    for events in parties {
        let mut sent_us = 0;
        for event in events.iter_mut() {
            match &mut event.what {
                Deed::Sent { .. } => sent_us = event.to_us,
                Deed::Heard { told: ToldAnswer::Busy(until), .. } if is_torn(sent_us, event.to_us) => *until = None,
                Deed::Did(_) | Deed::Heard { .. } | Deed::Saw { .. } => {}
            }
        }
        events.retain(|event| !matches!(event.what, Deed::Saw { .. }) || !is_torn(event.from_us, event.to_us));
    }
}

/// A master that has handed over by force refuses by its own data for up to a second, and by those of the new master in the model
/// (docs/approximations.md#servers): which refusal is told (`READONLY`, or that somebody else or nobody holds) is not compared.
fn forget_refusals_before_copy(parties: &mut [Vec<Event>]) {
    let is_begun = |event: &&Event| matches!(event.what, Deed::Did(Action::HandOver { .. }));
    let Some(begun_us) = parties.iter().flatten().find(is_begun).map(|event| event.from_us) else { return };
    for events in parties {
        let mut asked = None;
        for event in events.iter_mut() {
            match &mut event.what {
                Deed::Sent { node, .. } => asked = Some(*node),
                Deed::Heard { told, .. } if asked == Some(0) && event.to_us >= begun_us => {
                    if matches!(told, ToldAnswer::ReadOnly | ToldAnswer::Busy(_) | ToldAnswer::NotHeld) {
                        *told = ToldAnswer::Anything;
                    }
                }
                Deed::Did(_) | Deed::Heard { .. } | Deed::Saw { .. } => {}
            }
        }
    }
}

/// Looks at the lock on every node that lives, again and again.
fn look(free_run: FreeRun, clock: MachineClock, cluster: &FreeCluster) -> Vec<Event> {
    let mut events = Vec::new();
    while !clock.is_over() {
        for node in (0..=free_run.replicas).filter(|node| cluster.can_be_looked_at(*node)) {
            let Some(mut connection) = cluster.connect(node) else { continue };
            let asking = cluster.ask();
            let from_us = clock.now_us() - OLD_CLOCK_US;
            let seen = stored(&mut connection);
            let to_us = clock.now_us();
            drop(asking);
            let seen = seen.filter(|_| cluster.can_be_looked_at(node) && cluster.can_be_compared(node));
            let Some((hold, ttl_ms)) = seen else { continue };
            // Before 7.0 the deletion of an expired key ends a late replica's key early (docs/approximations.md#servers).
            if hold.is_none() && free_run.ttls == Ttls::Relative && node != cluster.master() {
                continue;
            }
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
