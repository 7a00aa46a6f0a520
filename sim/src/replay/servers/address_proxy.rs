//! An address for a server that listens on a Unix socket: Sentinel, and a master that hands over, know servers by address
//! only.
//!
//! Each connection is led to the server's socket, except that of a replica that comes to follow its master: that one is led
//! to the replica's gate, and refused while it has none. So everybody knows the master by one address, and the gate still
//! decides what the replica receives.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::limits::LINK_WAIT;
use super::node::ServerNode;
use super::replication_stream::command_at_start;
use super::tcp_proxy::{Relay, Relayed, TcpProxy, connect_server, read_available, set_up_client, write_all};
use crate::replay::error::ReplayError;

/// The gates' ports, by the port that a replica announces.
type Gates = Arc<Mutex<BTreeMap<u16, u16>>>;

/// A port of ours that leads to a server's socket. Dropping it ends its connections.
#[derive(Debug)]
pub struct AddressProxy {
    proxy: TcpProxy,
    gates: Gates,
}

impl AddressProxy {
    /// Opens a port that leads to this socket. The server behind it is needed only once a connection comes.
    ///
    /// # Errors
    /// `System` if there is no free port, or no thread can be started.
    pub fn open(socket: &Path) -> Result<Self, ReplayError> {
        Self::open_at(TcpProxy::any_port()?, socket)
    }

    /// The same of a node: at the port that it announces, if it is in a cluster.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_for(node: &ServerNode) -> Result<Self, ReplayError> {
        let listener = match node.in_cluster() {
            Some(ports) => ports.listen().map_err(ReplayError::system("listen at the port that a node announces"))?,
            None => TcpProxy::any_port()?,
        };
        Self::open_at(listener, node.socket())
    }

    fn open_at(listener: TcpListener, socket: &Path) -> Result<Self, ReplayError> {
        let gates = Gates::default();
        let routes = Routes { socket: socket.to_owned(), gates: Arc::clone(&gates) };
        Ok(Self { proxy: TcpProxy::start_at(listener, routes)?, gates })
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Leads the replica that announces itself as `announced` to the gate at this port, from its next connection on.
    pub fn lead(&self, announced: u16, gate: u16) {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(announced, gate);
    }
}

/// Where connections are led.
struct Routes {
    socket: PathBuf,
    gates: Gates,
}

impl Relay for Routes {
    type Connection = RoutedConnection;

    fn accept(&mut self, client: TcpStream, open: &mut Vec<RoutedConnection>) -> Result<(), ReplayError> {
        let server = ConnectionEnd::Server(connect_server(&self.socket)?);
        set_up_client(&client)?;
        let gates = Arc::clone(&self.gates);
        open.push(RoutedConnection { client, server, unrouted: Some(Vec::new()), gates });
        Ok(())
    }

    // The client sees that its connection has ended; nobody else asks why.
    fn ended(&mut self, _: &str) {}
}

/// One connection, led to the server until the client turns out to be a replica.
struct RoutedConnection {
    client: TcpStream,
    server: ConnectionEnd,
    /// What the client has sent so far, as long as it is not clear whether it is a replica.
    unrouted: Option<Vec<u8>>,
    gates: Gates,
}

/// Where a connection ends: at the server, or at a gate in front of it.
enum ConnectionEnd {
    Server(UnixStream),
    Gate(TcpStream),
}

/// Who sends a command.
enum Sender {
    Anybody,
    Replica { announced: u16 },
    NotClearYet,
}

impl Relayed for RoutedConnection {
    fn ends(&self) -> [BorrowedFd<'_>; 2] {
        let server = match &self.server {
            ConnectionEnd::Server(server) => server.as_fd(),
            ConnectionEnd::Gate(gate) => gate.as_fd(),
        };
        [self.client.as_fd(), server]
    }

    fn read_client(&mut self) -> Result<(), ReplayError> {
        let bytes = read_available(&mut self.client, "client")?;
        let Some(mut unrouted) = self.unrouted.take() else { return self.server.write(&bytes) };
        unrouted.extend(bytes);
        while let Some((command, length)) = command_at_start(&unrouted)? {
            match sender_of(&command) {
                Sender::NotClearYet => self.server.write(&unrouted.drain(..length).collect::<Vec<_>>())?,
                Sender::Anybody => return self.server.write(&unrouted),
                Sender::Replica { announced } => {
                    self.server = ConnectionEnd::Gate(connect_gate(&self.gates, announced)?);
                    return self.server.write(&unrouted);
                }
            }
        }
        self.unrouted = Some(unrouted);
        Ok(())
    }

    fn read_server(&mut self) -> Result<(), ReplayError> {
        let bytes = match &mut self.server {
            ConnectionEnd::Server(server) => read_available(server, "server"),
            ConnectionEnd::Gate(gate) => read_available(gate, "gate"),
        }?;
        write_all(&mut self.client, &bytes, "client")
    }
}

impl ConnectionEnd {
    fn write(&mut self, bytes: &[u8]) -> Result<(), ReplayError> {
        match self {
            Self::Server(server) => write_all(server, bytes, "server"),
            Self::Gate(gate) => write_all(gate, bytes, "gate"),
        }
    }
}

fn connect_gate(gates: &Gates, announced: u16) -> Result<TcpStream, ReplayError> {
    let port = gates.lock().unwrap_or_else(PoisonError::into_inner).get(&announced).copied();
    let port = port.ok_or_else(|| ReplayError::link("the replica has no gate"))?;
    let gate = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), LINK_WAIT);
    let gate = gate.map_err(ReplayError::system("reach a gate"))?;
    set_up_client(&gate)?;
    Ok(gate)
}

/// A replica sends PING, and then the port that it announces (seen with Redis 6.2.5 and 7.0.15 and Valkey 9.1.2); Sentinel
/// begins with CLIENT SETNAME.
fn sender_of(command: &[Vec<u8>]) -> Sender {
    let is = |at: usize, word: &str| {
        command.get(at).is_some_and(|other: &Vec<u8>| other.eq_ignore_ascii_case(word.as_bytes()))
    };
    if is(0, "replconf") && is(1, "listening-port") {
        let announced = command.get(2).and_then(|port| str::from_utf8(port).ok()?.parse().ok());
        return announced.map_or(Sender::Anybody, |announced| Sender::Replica { announced });
    }
    if is(0, "ping") { Sender::NotClearYet } else { Sender::Anybody }
}
