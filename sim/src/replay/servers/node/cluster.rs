//! A node of a cluster: its first master, which has all slots at the beginning, another one, or a replica of the first.
//!
//! Nobody listens for clients at a port of a server here either. A node announces an address all the same: the other nodes reach it
//! there by a proxy, and clients are told where it is reached instead, as behind a NAT.

use std::net::{Ipv4Addr, TcpListener};

use redis::Value;

use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::CLUSTER_WAIT;
use crate::replay::servers::reserved_port::ReservedPort;
use crate::replay::servers::server::ServerProgram;

/// How long after its start a master executes nothing although it has all slots (`CLUSTER_WRITABLE_DELAY`, 2 s), and more.
const WRITABLE_AFTER_MS: i64 = 5_000;

/// The slots of a cluster.
const SLOTS: u16 = 16_384;

/// After so many looks, some milliseconds each, a node is greeted again that does not know something yet.
const GREETS_EVERY: u32 = 50;

/// What a node of a cluster is when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterPlace {
    /// The first master, of all slots but for those that others are given.
    Master,
    /// It has no slots, and is to follow the master.
    Replica,
    /// One more master, to which a slot will be moved.
    OtherMaster,
    /// A third one.
    ThirdMaster,
}

impl ClusterPlace {
    /// What counts where two masters say that a slot is theirs: the master that was given it last has the greater one. Set for each, as
    /// `redis-cli --cluster create` does: masters that meet with the same one choose others, at a time of their own, and a slot could be
    /// lost by that which has just been moved. `None`: none is set.
    const fn config_epoch(self) -> Option<u32> {
        match self {
            Self::Master => Some(1),
            Self::Replica => None,
            Self::OtherMaster => Some(2),
            Self::ThirdMaster => Some(3),
        }
    }
}

/// What a node is told of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// It moves to this node, from the other one.
    Importing,
    /// It moves from this node, to the other one.
    Migrating,
    /// It is the other one's.
    Owned,
}

/// The ports of a node of a cluster.
#[derive(Debug)]
pub struct ClusterPorts {
    /// Where it listens for other nodes.
    bus: ReservedPort,
    /// Before Redis 7.0 the one for clients, by which the other one is given.
    clients: Option<ReservedPort>,
    /// The one for clients that it announces, and its number. The server does not listen there: nobody else may meanwhile.
    announced: (TcpListener, u16),
}

impl ClusterPorts {
    /// How far the port for nodes is above the one for clients, unless it is set.
    const ABOVE: u16 = 10_000;

    /// Ports that are free.
    ///
    /// # Errors
    /// `System` if there are none.
    pub fn reserve(server: &ServerProgram) -> Result<Self, ReplayError> {
        const ATTEMPTED: &str = "reserve ports of the loopback interface";

        let announced = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(ReplayError::system(ATTEMPTED))?;
        announced.set_nonblocking(true).map_err(ReplayError::system(ATTEMPTED))?;
        let number = announced.local_addr().map_err(ReplayError::system(ATTEMPTED))?.port();
        let announced = (announced, number);
        if server.has_cluster_port() {
            let bus = ReservedPort::any().map_err(ReplayError::system(ATTEMPTED))?;
            return Ok(Self { bus, clients: None, announced });
        }
        let (bus, clients) = Self::reserve_pair().map_err(ReplayError::system(ATTEMPTED))?;
        Ok(Self { bus, clients: Some(clients), announced })
    }

    /// A port for nodes, and the one for clients below it.
    fn reserve_pair() -> std::io::Result<(ReservedPort, ReservedPort)> {
        const MOST_TRIES: usize = 200;
        // Where Linux begins to choose ports by itself: another program may have reserved one from there on.
        const FIRST_CHOSEN: u16 = 32_768;

        let mut refused = None;
        for _ in 0..MOST_TRIES {
            let bus = ReservedPort::any()?;
            let below = bus.number().checked_sub(Self::ABOVE).filter(|port| (1..FIRST_CHOSEN).contains(port));
            match below.map_or_else(|| Err(std::io::ErrorKind::AddrNotAvailable.into()), ReservedPort::at) {
                Ok(clients) => return Ok((bus, clients)),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
    }

    /// The port that the node announces.
    pub const fn announced(&self) -> u16 {
        self.announced.1
    }

    /// Listens at the port that the node announces, without blocking.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn listen(&self) -> std::io::Result<TcpListener> {
        self.announced.0.try_clone()
    }

    /// The options of a server that uses them.
    pub fn options(&self) -> Vec<String> {
        // The harness moves the clock by any amount, so no node may be taken for dead because much time seems to have passed.
        let mut options = vec!["--cluster-enabled", "yes", "--bind", "127.0.0.1", "--cluster-announce-ip", "127.0.0.1"];
        options.extend(["--cluster-node-timeout", "2000000000", "--cluster-replica-no-failover", "yes"]);
        let (bus, announced) = (self.bus.number().to_string(), self.announced().to_string());
        options.extend(["--cluster-announce-port", &announced, "--cluster-announce-bus-port", &bus]);
        let clients = self.clients.as_ref().map(|port| port.number().to_string());
        match &clients {
            Some(clients) => options.extend(["--port", clients]),
            None => options.extend(["--port", "0", "--cluster-port", &bus]),
        }
        options.into_iter().map(str::to_owned).collect()
    }
}

/// The name that a node has in its cluster.
pub(super) fn name_of(control: &mut Control) -> Result<String, ReplayError> {
    control.ask("CLUSTER MYID", redis::cmd("CLUSTER").arg("MYID"))
}

/// What a node knows of the one with this name: its address, and what it is; `None`: nothing.
fn known(control: &mut Control, name: &str) -> Result<Option<(String, String)>, ReplayError> {
    let told: String = control.ask("CLUSTER NODES", redis::cmd("CLUSTER").arg("NODES"))?;
    // A line for each: its name, its address and, with commas between them, what it is.
    let of = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        (words.next()? == name).then_some((words.next()?, words.next()?))
    };
    Ok(told.lines().find_map(of))
}

/// Waits until a node knows the one with this name, as a `master` or a replica (`slave`).
fn wait_until_known(control: &mut Control, name: &str, role: &str) -> Result<(), ReplayError> {
    control.wait(CLUSTER_WAIT, &format!("a node of a cluster to know another one as a {role}"), |control| {
        Ok(known(control, name)?.is_some_and(|(_, flags)| flags.split(',').any(|flag| flag == role)))
    })
}

/// A node tells the one that announces these ports what it is now.
fn greet(control: &mut Control, clients: &str, bus: &str) -> Result<(), ReplayError> {
    let meet = ["MEET", "127.0.0.1", clients, bus];
    control.ask::<Value>("CLUSTER MEET", redis::cmd("CLUSTER").arg(&meet)).map(drop)
}

/// Two nodes, which are masters, learn of each other. `ports`: of the second one.
///
/// # Errors
/// `Redis`; `TimedOut` if they do not meet.
pub fn meet(control: &mut Control, other: &mut Control, ports: &ClusterPorts) -> Result<(), ReplayError> {
    greet(control, &ports.announced().to_string(), &ports.bus.number().to_string())?;
    wait_until_known(control, &name_of(other)?, "master")?;
    wait_until_known(other, &name_of(control)?, "master")
}

/// Makes a node follow the master of its cluster.
///
/// # Errors
/// `Redis`; `TimedOut` if it does not hear that it is the master.
pub fn follow(control: &mut Control, master: &mut Control) -> Result<(), ReplayError> {
    let wanted = name_of(master)?;
    wait_until_known(control, &wanted, "master")?;
    control.ask::<Value>("CLUSTER REPLICATE", redis::cmd("CLUSTER").arg(&["REPLICATE", &wanted])).map(drop)
}

/// Waits until the master of a cluster knows that a node is its replica, and this executes what only reads.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_followed(control: &mut Control, master: &mut Control) -> Result<(), ReplayError> {
    // It would tell that to one node drawn at random each second.
    if let Some((address, _)) = known(control, &name_of(master)?)? {
        // Since 7.0 names follow the ports.
        let ports = address.split(',').next().and_then(|address| address.rsplit_once(':')?.1.split_once('@'));
        let (clients, bus) = ports.ok_or_else(|| ReplayError::link(format!("a node of a cluster is at {address}")))?;
        greet(control, clients, bus)?;
    }
    wait_until_known(master, &name_of(control)?, "slave")?;
    wait_until_ready(control)
}

/// Makes a replica the master of every slot, whatever other nodes say.
///
/// # Errors
/// `Redis`.
pub fn take_over(control: &mut Control) -> Result<(), ReplayError> {
    let command = ["FAILOVER", "TAKEOVER"];
    control.ask::<Value>("CLUSTER FAILOVER TAKEOVER", redis::cmd("CLUSTER").arg(&command)).map(drop)
}

/// When the clock of a node of a cluster begins that executes what clients ask at this time.
pub const fn first_ms(start_ms: i64) -> i64 {
    start_ms - WRITABLE_AFTER_MS
}

/// Tells a node that was just started, and knows no other one, how much its word counts about slots.
///
/// # Errors
/// `Redis`.
pub fn set_config_epoch(control: &mut Control, place: ClusterPlace) -> Result<(), ReplayError> {
    let Some(epoch) = place.config_epoch() else { return Ok(()) };
    let command = redis::cmd("CLUSTER").arg("SET-CONFIG-EPOCH").arg(epoch).to_owned();
    control.ask::<Value>("CLUSTER SET-CONFIG-EPOCH", &command).map(drop)
}

/// Gives every slot to a node that was just started. It executes what clients ask once its clock has moved on.
///
/// # Errors
/// `Redis`.
pub fn add_every_slot(control: &mut Control) -> Result<(), ReplayError> {
    let mut slots = redis::cmd("CLUSTER");
    slots.arg("ADDSLOTS").arg((0..SLOTS).collect::<Vec<_>>());
    control.ask::<Value>("CLUSTER ADDSLOTS", &slots)?;
    // Between two commands it looks at its state, and from the first time on it counts the time.
    control.ask::<Value>("PING", &redis::cmd("PING")).map(drop)
}

/// Waits until a node, which has these ports, knows of each slot which master has it.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_slots_are_known(
    control: &mut Control,
    master: &mut Control,
    ports: &ClusterPorts,
) -> Result<(), ReplayError> {
    let line = format!("cluster_slots_assigned:{SLOTS}");
    let mut looks = 0_u32;
    control.wait(CLUSTER_WAIT, "a node of a cluster to know the slots", |control| {
        // It would tell that to one node drawn at random each second.
        if looks.is_multiple_of(GREETS_EVERY) {
            greet(master, &ports.announced().to_string(), &ports.bus.number().to_string())?;
        }
        looks += 1;
        has_info(control, &line)
    })
}

/// Tells a node that a slot is in this state, for which another node matters.
///
/// # Errors
/// `Redis`.
pub fn set_slot(control: &mut Control, slot: u16, state: SlotState, other: &str) -> Result<(), ReplayError> {
    let word = match state {
        SlotState::Importing => "IMPORTING",
        SlotState::Migrating => "MIGRATING",
        SlotState::Owned => "NODE",
    };
    let command = redis::cmd("CLUSTER").arg("SETSLOT").arg(slot).arg(word).arg(other).to_owned();
    control.ask::<Value>("CLUSTER SETSLOT", &command).map(drop)
}

/// Waits until a node executes what clients ask.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_ready(control: &mut Control) -> Result<(), ReplayError> {
    control.wait(CLUSTER_WAIT, "a node of a cluster to be ready", |control| has_info(control, "cluster_state:ok"))
}

/// Waits until the nodes of a cluster, which are these, have received every message that they have passed on: what clients have published
/// at one of them. A node counts what it sends to each of the others.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_all_have_heard(control: &mut Control, mut others: Vec<&mut Control>) -> Result<(), ReplayError> {
    let count = |control: &mut Control, others: &mut [&mut Control], way| {
        let of_others = others.iter_mut().map(|other| messages(other, way)).sum::<Result<u64, ReplayError>>()?;
        Ok::<_, ReplayError>(messages(control, way)? + of_others)
    };
    let passed = count(control, &mut others, "sent")?;
    control.wait(CLUSTER_WAIT, "the nodes of a cluster to hear what was published at one of them", |control| {
        Ok(count(control, &mut others, "received")? >= passed)
    })
}

/// The config epochs of the masters that a node knows, with its own, by the ports that they announce.
///
/// # Errors
/// `Redis`.
#[cfg(test)]
pub fn config_epochs(control: &mut Control) -> Result<Vec<(u16, u64)>, ReplayError> {
    // Its name, its address, what it is, its master, two times, and its epoch.
    const EPOCH_AT: usize = 6;

    let told: String = control.ask("CLUSTER NODES", redis::cmd("CLUSTER").arg("NODES"))?;
    let of = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let port = words.get(1)?.split_once('@')?.0.rsplit_once(':')?.1.parse().ok()?;
        Some((port, words.get(EPOCH_AT)?.parse().ok()?))
    };
    Ok(told.lines().filter_map(of).collect())
}

/// Waits until a node, which has these ports, knows that this master has a slot.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_slot_is_known(
    control: &mut Control,
    ports: &ClusterPorts,
    (master, port): (&mut Control, u16),
    slot: u16,
) -> Result<(), ReplayError> {
    let mut looks = 0_u32;
    control.wait(CLUSTER_WAIT, "a node of a cluster to know which master has a slot", |control| {
        // It would tell that to one node drawn at random each second.
        if looks.is_multiple_of(GREETS_EVERY) {
            greet(master, &ports.announced().to_string(), &ports.bus.number().to_string())?;
        }
        looks += 1;
        Ok(port_of_slot(control, slot)? == Some(port))
    })
}

/// The port that the master of a slot announces; `None`: the node knows of none.
///
/// # Errors
/// `Redis`.
pub fn port_of_slot(control: &mut Control, slot: u16) -> Result<Option<u16>, ReplayError> {
    // Behind eight other words of the line of a node there are its slots: `5`, `0-4`, and in brackets those that move.
    const WORDS_BEFORE_SLOTS: usize = 8;

    let told: String = control.ask("CLUSTER NODES", redis::cmd("CLUSTER").arg("NODES"))?;
    let has = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        matches!((first.parse(), last.parse()), (Ok::<u16, _>(first), Ok(last)) if (first..=last).contains(&slot))
    };
    let has_slot = |line: &&str| line.split(' ').skip(WORDS_BEFORE_SLOTS).any(has);
    let address = told.lines().find(has_slot).and_then(|line| line.split(' ').nth(1));
    Ok(address.and_then(|address| address.split_once('@')?.0.rsplit_once(':')?.1.parse().ok()))
}

/// How many messages of clients a node has sent to others, or received from them.
fn messages(control: &mut Control, way: &str) -> Result<u64, ReplayError> {
    let told: String = control.ask("CLUSTER INFO", redis::cmd("CLUSTER").arg("INFO"))?;
    // The line is missing while there was none.
    let name = format!("cluster_stats_messages_publish_{way}:");
    Ok(told.lines().find_map(|line| line.strip_prefix(&name)?.trim_end().parse().ok()).unwrap_or(0))
}

fn has_info(control: &mut Control, line: &str) -> Result<bool, ReplayError> {
    let told: String = control.ask("CLUSTER INFO", redis::cmd("CLUSTER").arg("INFO"))?;
    Ok(told.lines().any(|told| told.trim_end() == line))
}
