//! A node that is a cluster of its own: the only master, which has all slots.
//!
//! Nobody reaches it at a port here either. It tells clients an address at which nobody is, and they are told where it is reached
//! instead, as behind a NAT.

use redis::Value;

use crate::replay::error::ReplayError;
use crate::replay::servers::control::Control;
use crate::replay::servers::limits::LINK_WAIT;
use crate::replay::servers::reserved_port::ReservedPort;
use crate::replay::servers::server::ServerProgram;
use crate::replay::version::Version;

/// The address that every such node tells to clients. Nobody listens on port 1 (tcpmux).
pub const ANNOUNCED_IN_CLUSTER: &str = "127.0.0.1:1";

/// How long after its start a master executes nothing although it has all slots (`CLUSTER_WRITABLE_DELAY`, 2 s), and more.
const WRITABLE_AFTER_MS: i64 = 5_000;

/// The slots of a cluster.
const SLOTS: u16 = 16_384;

/// The port for other nodes, which every node of a cluster must have.
#[derive(Debug)]
pub struct ClusterBus {
    bus: ReservedPort,
    /// Before Redis 7.0 the one for clients, by which the other one is given.
    clients: ReservedPort,
}

impl ClusterBus {
    /// How far the port for nodes is above the one for clients, unless it is set.
    const ABOVE: u16 = 10_000;

    /// Two ports that are free.
    ///
    /// # Errors
    /// `System` if there are none.
    pub fn reserve() -> Result<Self, ReplayError> {
        const MOST_TRIES: usize = 100;
        const ATTEMPTED: &str = "reserve two ports of the loopback interface";

        let mut refused = None;
        for _ in 0..MOST_TRIES {
            let bus = ReservedPort::any().map_err(ReplayError::system(ATTEMPTED))?;
            let below = bus.number().checked_sub(Self::ABOVE).filter(|port| *port > 0);
            match below.map_or_else(|| Err(std::io::ErrorKind::AddrNotAvailable.into()), ReservedPort::at) {
                Ok(clients) => return Ok(Self { bus, clients }),
                Err(error) => refused = Some(error),
            }
        }
        Err(ReplayError::system(ATTEMPTED)(refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into())))
    }

    /// The options of a server that uses them.
    pub fn options(&self, server: &ServerProgram) -> Vec<String> {
        let (host, port) = ANNOUNCED_IN_CLUSTER.split_once(':').unwrap_or((ANNOUNCED_IN_CLUSTER, "1"));
        let mut options = vec!["--cluster-enabled", "yes", "--bind", "127.0.0.1", "--cluster-announce-ip", host];
        options.extend(["--cluster-announce-port", port]);
        let (bus, clients) = (self.bus.number().to_string(), self.clients.number().to_string());
        // The setting came with 7.0.
        if server.version() >= (Version { major: 7, minor: 0, patch: 0 }) {
            options.extend(["--port", "0", "--cluster-port", &bus]);
        } else {
            options.extend(["--port", &clients]);
        }
        options.into_iter().map(str::to_owned).collect()
    }
}

/// When the clock of a node begins that is a cluster of its own, and executes what clients ask, at this time.
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
    control.wait(LINK_WAIT, "a cluster of one master to be ready", |control| {
        let told: String = control.ask("CLUSTER INFO", redis::cmd("CLUSTER").arg("INFO"))?;
        Ok(told.lines().any(|line| line.trim_end() == "cluster_state:ok"))
    })
}
