//! A node of a cluster: its only master, which has all slots, or a replica of that.
//!
//! Nobody listens for clients at a port of a server here either. A node announces an address all the same: the other nodes reach it
//! there by a proxy, and clients are told where it is reached instead, as behind a NAT.

use redis::Value;

use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::LINK_WAIT;
use crate::replay::servers::reserved_port::ReservedPort;
use crate::replay::servers::server::ServerProgram;
use crate::replay::version::Version;

/// How long after its start a master executes nothing although it has all slots (`CLUSTER_WRITABLE_DELAY`, 2 s), and more.
const WRITABLE_AFTER_MS: i64 = 5_000;

/// The slots of a cluster.
const SLOTS: u16 = 16_384;

/// What a node of a cluster is when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterPlace {
    /// The only master, of all slots.
    Master,
    /// It has no slots, and is to follow the master.
    Replica,
}

/// The ports of a node of a cluster.
#[derive(Debug)]
pub struct ClusterPorts {
    /// Where it listens for other nodes.
    bus: ReservedPort,
    /// Before Redis 7.0 the one for clients, by which the other one is given.
    clients: ReservedPort,
    /// The one for clients that it announces. The server does not listen there.
    announced: ReservedPort,
}

impl ClusterPorts {
    /// How far the port for nodes is above the one for clients, unless it is set.
    const ABOVE: u16 = 10_000;

    /// Ports that are free.
    ///
    /// # Errors
    /// `System` if there are none.
    pub fn reserve() -> Result<Self, ReplayError> {
        const MOST_TRIES: usize = 100;
        const ATTEMPTED: &str = "reserve three ports of the loopback interface";

        let announced = ReservedPort::any().map_err(ReplayError::system(ATTEMPTED))?;
        let mut refused = None;
        for _ in 0..MOST_TRIES {
            let bus = ReservedPort::any().map_err(ReplayError::system(ATTEMPTED))?;
            let below = bus.number().checked_sub(Self::ABOVE).filter(|port| *port > 0);
            match below.map_or_else(|| Err(std::io::ErrorKind::AddrNotAvailable.into()), ReservedPort::at) {
                Ok(clients) => return Ok(Self { bus, clients, announced }),
                Err(error) => refused = Some(error),
            }
        }
        Err(ReplayError::system(ATTEMPTED)(refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into())))
    }

    /// The port that the node announces.
    pub const fn announced(&self) -> &ReservedPort {
        &self.announced
    }

    /// The options of a server that uses them.
    pub fn options(&self, server: &ServerProgram) -> Vec<String> {
        // The harness moves the clock by any amount, so no node may be taken for dead because much time seems to have passed.
        let mut options = vec!["--cluster-enabled", "yes", "--bind", "127.0.0.1", "--cluster-announce-ip", "127.0.0.1"];
        options.extend(["--cluster-node-timeout", "2000000000", "--cluster-replica-no-failover", "yes"]);
        let [bus, clients, announced] =
            [&self.bus, &self.clients, &self.announced].map(|port| port.number().to_string());
        options.extend(["--cluster-announce-port", &announced, "--cluster-announce-bus-port", &bus]);
        // The setting came with 7.0.
        if server.version() >= (Version { major: 7, minor: 0, patch: 0 }) {
            options.extend(["--port", "0", "--cluster-port", &bus]);
        } else {
            options.extend(["--port", &clients]);
        }
        options.into_iter().map(str::to_owned).collect()
    }
}

/// The name that a node has in its cluster.
fn name_of(control: &mut Control) -> Result<String, ReplayError> {
    control.ask("CLUSTER MYID", redis::cmd("CLUSTER").arg("MYID"))
}

/// Waits until a node knows the one with this name, as a `master` or a replica (`slave`).
fn wait_until_known(control: &mut Control, name: &str, role: &str) -> Result<(), ReplayError> {
    control.wait(LINK_WAIT, &format!("a node of a cluster to know another one as a {role}"), |control| {
        let told: String = control.ask("CLUSTER NODES", redis::cmd("CLUSTER").arg("NODES"))?;
        // A line for each: its name, its address and, with commas between them, what it is.
        let is_it = |line: &str| {
            let mut words = line.split(' ');
            words.next() == Some(name) && words.nth(1).is_some_and(|flags| flags.split(',').any(|flag| flag == role))
        };
        Ok(told.lines().any(is_it))
    })
}

/// Two nodes, which are masters, learn of each other. `ports`: of the second one.
///
/// # Errors
/// `Redis`; `TimedOut` if they do not meet.
pub fn meet(control: &mut Control, other: &mut Control, ports: &ClusterPorts) -> Result<(), ReplayError> {
    let mut command = redis::cmd("CLUSTER");
    command.arg("MEET").arg("127.0.0.1").arg(ports.announced.number()).arg(ports.bus.number());
    control.ask::<Value>("CLUSTER MEET", &command)?;
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

/// Waits until a node executes what clients ask.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn wait_until_ready(control: &mut Control) -> Result<(), ReplayError> {
    control.wait(LINK_WAIT, "a node of a cluster to be ready", |control| {
        let told: String = control.ask("CLUSTER INFO", redis::cmd("CLUSTER").arg("INFO"))?;
        Ok(told.lines().any(|line| line.trim_end() == "cluster_state:ok"))
    })
}
