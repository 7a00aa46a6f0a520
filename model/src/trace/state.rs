//! A world, for readers: its clients and their threads, its nodes, and what each of them knows and stores.

use serde::{Deserialize, Serialize};

use super::{RequestState, StoredReceipt, client_name, holder_name, in_flight, node_name};
use crate::config::{Config, Faults};
use crate::disk;
use crate::locks::Record;
use crate::world::{Breach, Holder, Mode, Node, Phase, Role, Subscription, World};

/// A world, for readers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Every client of the scenario.
    pub clients: Vec<ClientState>,
    /// Every node of the scenario.
    pub nodes: Vec<NodeState>,
    /// The acting master, where more than one node takes itself for the master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_master: Option<String>,
    /// Ticks until the failover under way must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover_left: Option<u8>,
    /// The rank of the newest fencing token the resource accepted; `None` where nobody looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_newest: Option<u8>,
    /// What may still go wrong.
    pub faults_left: Faults,
    /// Rules that the step into this state broke.
    pub breaches: Vec<Breach>,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientState {
    /// `A`, `B`, …
    pub name: String,
    /// `running`, `paused` or `crashed`.
    pub mode: String,
    /// The node it takes for the master.
    pub master: String,
    /// How often it may still ask; `None`: for ever.
    pub acquires_left: Option<u8>,
    /// Its threads.
    pub threads: Vec<ThreadState>,
    /// Holds the watchdog renews, per thread.
    pub renewal_counts: Vec<u8>,
    /// The thread it renews for, from 0; `None`: there is nothing to renew.
    pub renewal_first: Option<u8>,
    /// Ticks until the watchdog fires.
    pub renewal_due_in: Option<u8>,
    /// Where it is subscribed: a node, or `lost`.
    pub subscription: Option<String>,
    /// Wake-ups nobody has taken.
    pub permits: u8,
    /// Unlock messages under way to it.
    pub messages: u8,
    /// Ticks until it asks again after a failover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_in: Option<u8>,
    /// How many replicas its master had when it counted them for `WAIT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas_known: Option<u8>,
    /// What it has in flight, by slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestState>,
    /// Threads, from 0, that know of a grant which the renewal table does not know yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unregistered: Vec<u8>,
    /// Ticks that the oldest unlock message has been under way; counted only where the scenario bounds the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_age: Option<u8>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadState {
    /// `A`, or `A:1` where clients have two threads.
    pub name: String,
    /// `idle`, `refused`, `subscribed`, `waiting`, `asking`, `asking-again`, `confirming`, `undoing`, `releasing` or
    /// `dead`.
    pub phase: String,
    /// How often it believes it holds.
    pub holds: u8,
    /// The rank of its fencing token; 0: none.
    pub token: u8,
    /// Ticks until its wait limit.
    pub wait_left: Option<u8>,
    /// The same by a clock that never jumps, where the client's may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_left: Option<u8>,
    /// Ticks until it asks again of itself.
    pub wake_in: Option<u8>,
    /// Ticks until it releases at the latest.
    pub hold_left: Option<u8>,
    /// Replicas that have acknowledged the grant that it does not believe yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged_by: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeState {
    /// `n1`, `n2`, …
    pub name: String,
    /// `master`, `replica`, `unsynced` or `down`.
    pub role: String,
    /// What it stores; of a dead node nothing is known.
    pub lock: Option<StoredLock>,
    /// What it has not applied yet, oldest first.
    pub under_way: Vec<Option<StoredLock>>,
    /// What it would find if it came back; `None`: just what it stores, or nothing ever comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<Disk>,
    /// Whether it is cut off from the other nodes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// Nodes whose links it takes for open though nothing passes them; kept where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half_open_to: Vec<String>,
    /// Ticks since it was heard of, as far as a rule counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unheard: u8,
    /// The release receipts it stores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<StoredReceipt>,
    /// The receipts of each effect under way, where any has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts_under_way: Vec<Vec<StoredReceipt>>,
    /// Ticks by which its clock is ahead; below 0: behind.
    #[serde(default, skip_serializing_if = "is_level")]
    pub ahead: i8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_level(ahead: &i8) -> bool {
    *ahead == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// What is on a node's disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The lock, if it is there.
    pub lock: Option<StoredLock>,
}

/// A lock as a node stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredLock {
    /// Who holds it.
    pub holder: String,
    /// How often it entered.
    pub hold_count: u8,
    /// Ticks it lives; `None`: it has no TTL.
    pub remaining_ticks: Option<u8>,
}

impl State {
    /// The world, for readers.
    pub fn of<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>) -> Self {
        let clients = (0..config.clients.count).map(|client| client_state(config, world, client)).collect();
        let nodes = (0..config.nodes()).map(|node| node_state(config, world.node(node), node)).collect();
        let masters = world.group.nodes.iter().filter(|node| node.is_master()).count();
        Self {
            clients,
            nodes,
            acting_master: (masters > 1).then(|| node_name(world.group.master)),
            failover_left: world.group.failover_left.left(),
            resource_newest: config.resource.map(|_| world.resource.newest),
            faults_left: world.faults,
            breaches: Breach::ALL.into_iter().filter(|breach| world.breaches.has(*breach)).collect(),
        }
    }

    /// The node that is the master to whoever decides on failovers; `None` while none is.
    pub fn acting_master(&self) -> Option<&NodeState> {
        let mut masters = self.nodes.iter().filter(|node| node.role == "master");
        masters.find(|node| self.acting_master.as_ref().is_none_or(|acting| *acting == node.name))
    }

    /// The threads that believe they hold.
    pub fn believers(&self) -> impl Iterator<Item = &ThreadState> {
        self.clients.iter().flat_map(|client| &client.threads).filter(|thread| thread.believes())
    }
}

impl ThreadState {
    /// Whether it believes it holds. Who has called release counts on that hold no more.
    pub fn believes(&self) -> bool {
        self.holds > u8::from(self.phase == "releasing")
    }
}

fn client_state<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    index: u8,
) -> ClientState {
    let client = world.client(index);
    let mode = match client.mode {
        Mode::Absent => "absent",
        Mode::Running => "running",
        Mode::Paused => "paused",
        Mode::Crashed => "crashed",
    };
    let subscription = match client.wakeup.subscription {
        Subscription::Lost => Some("lost".to_owned()),
        elsewhere => elsewhere.node().map(node_name),
    };
    let threads = (0..config.clients.threads).zip(&client.threads).map(|(thread, state)| ThreadState {
        name: holder_name(config, Holder::new(index, thread)),
        phase: match state.phase {
            Phase::Idle => "idle",
            Phase::Refused => "refused",
            Phase::Subscribed => "subscribed",
            Phase::Waiting => "waiting",
            Phase::Dead => "dead",
            Phase::Asking => "asking",
            Phase::AskingAgain => "asking-again",
            Phase::Releasing => "releasing",
            Phase::Confirming => "confirming",
            Phase::Undoing => "undoing",
        }
        .to_owned(),
        holds: state.holds,
        token: state.token,
        wait_left: state.wait_left.left(),
        limit_left: state.limit_left.left(),
        wake_in: state.wake_in.left(),
        hold_left: state.hold_left.left(),
        acknowledged_by: (0..config.nodes()).filter(|&node| client.replicas.has(thread, node)).map(node_name).collect(),
    });
    ClientState {
        name: client_name(index).to_string(),
        mode: mode.to_owned(),
        master: node_name(client.master),
        acquires_left: client.acquires_left.left(),
        threads: threads.collect(),
        renewal_counts: client.renewal.counts[..usize::from(config.clients.threads)].to_vec(),
        renewal_first: Some(client.renewal.first).filter(|_| !client.renewal.is_empty()),
        renewal_due_in: client.renewal.due_in.left(),
        subscription,
        permits: client.wakeup.permits,
        messages: client.wakeup.messages,
        asks_in: client.asks_in.left(),
        replicas_known: client.replicas.known(),
        requests: in_flight::requests(config, world, index),
        unregistered: (0..config.clients.threads)
            .filter(|thread| world.requests(index).owed[usize::from(*thread)])
            .collect(),
        message_age: Some(world.requests(index).message_age()).filter(|age| *age > 0),
    }
}

fn node_state<R: Record>(config: &Config, node: &Node<R>, index: u8) -> NodeState {
    let role = match node.role {
        Role::Absent => "absent",
        Role::Master => "master",
        Role::Replica => "replica",
        Role::Unsynced => "unsynced",
        Role::Down | Role::DownReplica => "down",
    };
    let effects = &node.link.effects[..usize::from(node.link.len)];
    let receipts_under_way: Vec<_> = effects.iter().map(|effect| in_flight::receipts(config, &effect.record)).collect();
    let receipts_under_way = if receipts_under_way.iter().all(Vec::is_empty) { Vec::new() } else { receipts_under_way };
    NodeState {
        name: node_name(index),
        role: role.to_owned(),
        lock: stored(config, &node.record).filter(|_| node.is_up()),
        under_way: effects.iter().map(|effect| stored(config, &effect.record)).collect(),
        on_disk: disk::on_disk(config, node).map(|record| Disk { lock: stored(config, &record) }),
        is_cut: node.is_cut(),
        half_open_to: (0..config.nodes()).filter(|&other| node.is_half_open_to(other)).map(node_name).collect(),
        unheard: node.unheard,
        receipts: if node.is_up() { in_flight::receipts(config, &node.record) } else { Vec::new() },
        receipts_under_way,
        ahead: node.ahead,
    }
}

fn stored<R: Record>(config: &Config, record: &R) -> Option<StoredLock> {
    Some(StoredLock {
        holder: holder_name(config, record.holder()?),
        hold_count: record.hold_count(),
        remaining_ticks: record.remaining().left(),
    })
}
