//! A gate for each client of Redisson: it holds every request, reply and message until the harness lets it pass.
//!
//! A client has several connections to its gate: one for commands, one for messages. Nothing here has a thread of its own:
//! bytes move when the harness says so, and both directions are counted on each connection. A reply is never dropped alone,
//! since Redisson counts replies; only a whole connection can be closed.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use redis::Value;
use rustix::net::Shutdown;

use super::client_connection::{ClientConnection, ConnectionUse};
use super::jvm_clock::JvmPage;
use crate::replay::error::ReplayError;
use crate::replay::servers::ReservedPort;
use crate::replay::servers::replication_stream::WireCommand;
use crate::replay::servers::tcp_proxy::{connect_server, set_up_client};

/// A request that a client has sent and no server has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCommand {
    /// Its connection, in the order in which they were opened.
    pub connection: usize,
    /// Which request of that connection it is, from 0.
    pub number: u64,
    /// Its name and arguments.
    pub words: WireCommand,
}

/// The only way of a client to its servers.
#[derive(Debug)]
pub struct ClientGate {
    entrances: Vec<GateEntrance>,
    connections: Vec<ClientConnection>,
    /// Whether everything passes at once: while a client connects or closes.
    is_open: bool,
}

/// The way to one server.
#[derive(Debug)]
struct GateEntrance {
    /// `None`: the server is down, and every connection is refused.
    listener: Option<TcpListener>,
    port: ReservedPort,
    server: PathBuf,
}

impl ClientGate {
    /// Opens a gate in front of the server at this socket. Everything passes until it is shut.
    ///
    /// # Errors
    /// `System` if there is no free port.
    pub fn open(server: PathBuf) -> Result<Self, ReplayError> {
        Self::open_to(vec![server])
    }

    /// Opens a gate in front of the servers at these sockets, with an entrance to each.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_to(servers: Vec<PathBuf>) -> Result<Self, ReplayError> {
        let entrances = servers.into_iter().map(|server| {
            let port = ReservedPort::any().map_err(ReplayError::system("reserve a port of the loopback interface"))?;
            let listener = port.listen().map_err(ReplayError::system("listen on the loopback interface"))?;
            Ok(GateEntrance { listener: Some(listener), port, server })
        });
        Ok(Self { entrances: entrances.collect::<Result<_, _>>()?, connections: Vec::new(), is_open: true })
    }

    /// The port that the client connects to.
    pub fn port(&self) -> u16 {
        self.port_of(0)
    }

    /// The port of the entrance to this server.
    pub fn port_of(&self, server: usize) -> u16 {
        self.entrances[server].port.number()
    }

    /// Whether a connection to this server is refused.
    pub fn is_shut(&self, server: usize) -> bool {
        self.entrances[server].listener.is_none()
    }

    /// Whether a connection to a server over which the client has asked something is open.
    pub fn has_connection_for_requests(&self, server: usize) -> bool {
        self.connections_of(server).any(|one| one.is_for == Some(ConnectionUse::Requests) && !one.is_closed)
    }

    /// Whether one that may have been for requests has ended.
    pub fn has_lost_connection(&self, server: usize) -> bool {
        self.connections_of(server).any(|one| one.is_for != Some(ConnectionUse::Messages) && one.is_closed)
    }

    fn connections_of(&self, server: usize) -> impl Iterator<Item = &ClientConnection> {
        self.connections.iter().filter(move |one| one.server_number == server)
    }

    /// A server is down: its connections are closed, and new ones are refused.
    pub fn shut_entrance(&mut self, server: usize) {
        self.entrances[server].shut();
        self.connections_to(server).for_each(ClientConnection::close);
    }

    /// A server executes no requests for a while, and its messages still come: the connections for requests are closed, and new
    /// ones are refused. Returns whether these could be told from the one for messages.
    pub fn shut_for_requests(&mut self, server: usize) -> bool {
        self.entrances[server].shut();
        let number_for = |gate: &mut Self, what| gate.connections_to(server).filter(|one| one.is_for == what).count();
        let of_requests = number_for(self, Some(ConnectionUse::Requests));
        let of_messages = number_for(self, Some(ConnectionUse::Messages));
        let is_told = match number_for(self, None) {
            0 => true,
            // One that was never used is for messages, where there is no other for them.
            1 => of_requests > 0 && of_messages == 0,
            _ => false,
        };
        self.connections_to(server)
            .filter(|one| one.is_for == Some(ConnectionUse::Requests))
            .for_each(ClientConnection::close);
        is_told
    }

    fn connections_to(&mut self, server: usize) -> impl Iterator<Item = &mut ClientConnection> {
        self.connections.iter_mut().filter(move |one| one.server_number == server && !one.is_closed)
    }

    /// A connection breaks, with all that is under way over it.
    pub fn break_connection(&mut self, connection: usize) {
        if let Some(connection) = self.connections.get_mut(connection) {
            connection.close();
        }
    }

    /// A server is there again, at the same port.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_entrance(&mut self, server: usize) -> Result<(), ReplayError> {
        let entrance = &mut self.entrances[server];
        let listener = entrance.port.listen().map_err(ReplayError::system("listen on the loopback interface"))?;
        entrance.listener = Some(listener);
        Ok(())
    }

    /// Which server a connection leads to.
    pub fn server_of(&self, connection: usize) -> usize {
        self.connections[connection].server_number
    }

    /// The same of all connections, in their order.
    pub fn servers_of_connections(&self) -> Vec<usize> {
        self.connections.iter().map(|connection| connection.server_number).collect()
    }

    /// What a server calls a connection to it, where the gate leads to several.
    ///
    /// # Errors
    /// `Link` or `TimedOut` if the server does not answer.
    pub fn id_of(&mut self, connection: usize) -> Result<i64, ReplayError> {
        self.connections[connection].id()
    }

    /// Whether a connection is open still.
    pub fn is_connected(&self, connection: usize) -> bool {
        !self.connections[connection].is_closed
    }

    /// Whether everything passes at once from now on.
    pub const fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// Takes what has arrived from the client and from its server. Whether that was anything.
    ///
    /// # Errors
    /// `System`; `Link` if what arrived is not what Redis clients and servers send.
    pub fn take_arrived(&mut self) -> Result<bool, ReplayError> {
        let mut has_moved = false;
        let has_several = self.entrances.len() > 1;
        for (number, entrance) in self.entrances.iter().enumerate() {
            while let Some((client, port)) = entrance.accept()? {
                has_moved = true;
                // Nobody listens where a server has just died: the client finds its connection closed.
                let Ok(server) = connect_server(&entrance.server) else { continue };
                server.set_nonblocking(true).map_err(ReplayError::system("set up a link"))?;
                let mut connection = ClientConnection::new(client, server, port, number);
                if has_several {
                    connection.ask_id()?;
                }
                self.connections.push(connection);
            }
        }
        for connection in self.connections.iter_mut().filter(|connection| !connection.is_closed) {
            has_moved |= connection.take_arrived(self.is_open)?;
        }
        Ok(has_moved)
    }

    /// The requests that are held, oldest first on each connection.
    pub fn held(&self) -> Vec<HeldCommand> {
        let of = |(number, connection): (usize, &ClientConnection)| {
            let of_request = |(at, words, _): &(u64, WireCommand, Vec<u8>)| HeldCommand {
                connection: number,
                number: *at,
                words: words.clone(),
            };
            connection.held.iter().map(of_request).collect::<Vec<_>>()
        };
        self.connections.iter().enumerate().flat_map(of).collect()
    }

    /// A held request is another one from now on.
    pub fn replace(&mut self, request: &HeldCommand) {
        if let Some(connection) = self.connections.get_mut(request.connection) {
            connection.replace(request.number, &request.words);
        }
    }

    /// The messages that are held.
    pub fn messages(&self) -> usize {
        self.connections.iter().map(|connection| connection.messages.len()).sum()
    }

    /// How often a server has said that it has ended a subscription, and the client has not heard it.
    pub fn ends(&self) -> usize {
        self.connections.iter().map(|connection| connection.ends.len()).sum()
    }

    /// Lets all of that pass.
    ///
    /// # Errors
    /// `Link` if the client does not read it.
    pub fn pass_ends(&mut self) -> Result<(), ReplayError> {
        for connection in &mut self.connections {
            while let Some(end) = connection.ends.pop_front() {
                connection.send(&end)?;
            }
        }
        Ok(())
    }

    /// Whether the connection of the oldest message has ended.
    pub fn has_closed_behind_message(&self) -> bool {
        self.connections.iter().find(|connection| !connection.messages.is_empty()).is_some_and(|one| one.is_closed)
    }

    /// Lets the oldest request of a connection pass, and its reply. Returns the reply.
    ///
    /// # Errors
    /// `NothingHeld`; `Link` or `TimedOut` if the server does not answer.
    pub fn pass_request(&mut self, connection: usize) -> Result<Value, ReplayError> {
        let reply = self.execute_request(connection)?;
        self.pass_reply(connection)?;
        Ok(reply)
    }

    /// Lets the oldest request of a connection pass, and holds its reply. Returns that.
    ///
    /// # Errors
    /// As `pass_request`.
    pub fn execute_request(&mut self, connection: usize) -> Result<Value, ReplayError> {
        self.connections.get_mut(connection).ok_or(ReplayError::NothingHeld)?.execute_request()
    }

    /// Lets the oldest request of a connection pass. Its reply is to be read by `finish_request`.
    ///
    /// # Errors
    /// `NothingHeld`; `Link` if the server does not read it.
    pub fn begin_request(&mut self, connection: usize) -> Result<(), ReplayError> {
        self.connections.get_mut(connection).ok_or(ReplayError::NothingHeld)?.begin_request()
    }

    /// Waits for the reply to a request that has passed, and holds it. Returns it.
    ///
    /// # Errors
    /// As `execute_request`.
    pub fn finish_request(&mut self, connection: usize) -> Result<Value, ReplayError> {
        self.connections.get_mut(connection).ok_or(ReplayError::NothingHeld)?.finish_request()
    }

    /// Lets the oldest reply of a connection pass.
    ///
    /// # Errors
    /// `NothingHeld`; `Link` if the client does not read it.
    pub fn pass_reply(&mut self, connection: usize) -> Result<(), ReplayError> {
        let connection = self.connections.get_mut(connection).ok_or(ReplayError::NothingHeld)?;
        let reply = connection.replies.pop_front().ok_or(ReplayError::NothingHeld)?;
        connection.send(&reply)
    }

    /// Lets the oldest message pass.
    ///
    /// # Errors
    /// `NothingHeld`; `Link` if the client does not read it.
    pub fn pass_message(&mut self) -> Result<Value, ReplayError> {
        let message = self.connection_with_message()?.take_message(false)?;
        redis::parse_redis_value(&message).map_err(ReplayError::redis("a message"))
    }

    /// Drops the oldest message. Nobody counts messages, so that is what a lossy network does.
    ///
    /// # Errors
    /// `NothingHeld`.
    pub fn drop_message(&mut self) -> Result<Value, ReplayError> {
        let message = self.connection_with_message()?.take_message(true)?;
        redis::parse_redis_value(&message).map_err(ReplayError::redis("a message"))
    }

    fn connection_with_message(&mut self) -> Result<&mut ClientConnection, ReplayError> {
        let holds = |connection: &&mut ClientConnection| !connection.messages.is_empty();
        self.connections.iter_mut().find(holds).ok_or(ReplayError::NothingHeld)
    }

    /// Whether it is open, and a server has not replied yet to a request that has passed.
    fn lets_replies_come(&self) -> bool {
        self.is_open && self.connections.iter().any(|connection| !connection.is_closed && connection.unanswered > 0)
    }

    /// Whether the client has the same open connections as we, has read and sent what we have sent and read, and no reply is to
    /// come to it by itself, through an open gate: a server may be slow to reply.
    pub(super) fn agrees_with(gates: &[&Self], page: &JvmPage) -> bool {
        if gates.iter().any(|gate| gate.lets_replies_come()) {
            return false;
        }
        CountedConnection::ours(gates) == CountedConnection::of_client(page)
    }

    /// What was counted on the connections of a client: where that is the same, nothing has reached it meanwhile.
    pub(super) fn counted(gates: &[&Self]) -> CountedConnections {
        let accepted = gates.iter().map(|gate| gate.connections.len()).sum();
        CountedConnections { accepted, open: CountedConnection::ours(gates) }
    }

    /// In what the client and we do not agree, in words; `None`: in nothing.
    pub(super) fn disagreement(gates: &[&Self], page: &JvmPage) -> Option<String> {
        if gates.iter().any(|gate| gate.lets_replies_come()) {
            return Some("a server has not replied yet".to_owned());
        }
        let (ours, theirs) = (CountedConnection::ours(gates), CountedConnection::of_client(page));
        let in_other =
            |one: &CountedConnection, other: &[CountedConnection]| other.iter().find(|it| it.port == one.port).copied();
        let only_theirs = theirs.iter().filter(|one| in_other(one, &ours).is_none()).map(|CountedConnection { port, .. }| {
            format!("it has one, from port {port}, that no gate has accepted: it may lead past the gates, or to a closed one")
        });
        let of_ours = ours.iter().filter_map(|one| {
            let port = one.port;
            match in_other(one, &theirs) {
                None => Some(format!("a gate has one, from port {port}, that it does not have")),
                Some(other) => (*one != other).then(|| {
                    format!(
                        "from port {port}: a gate has sent {} bytes and it has read {}; it has written {} and the gate has \
                         read {}",
                        one.to_client, other.to_client, other.from_client, one.from_client
                    )
                }),
            }
        });
        let all: Vec<_> = only_theirs.chain(of_ours).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// All open connections of a client, as the gates know them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CountedConnections {
    /// How many there were ever: a new one may have the port of an old one.
    accepted: usize,
    open: Vec<CountedConnection>,
}

/// An open connection of a client, as one of its ends knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CountedConnection {
    /// The client's port.
    port: u64,
    /// Bytes that our end has sent, or the client has read.
    to_client: u64,
    /// Bytes that the client has sent, or our end has read.
    from_client: u64,
}

impl CountedConnection {
    /// Sorted.
    fn ours(gates: &[&ClientGate]) -> Vec<Self> {
        let open = gates.iter().flat_map(|gate| &gate.connections).filter(|connection| !connection.is_closed);
        let of =
            |one: &ClientConnection| Self { port: one.port.into(), to_client: one.sent, from_client: one.received };
        let mut ours: Vec<_> = open.map(of).collect();
        ours.sort_unstable();
        ours
    }

    /// Sorted.
    fn of_client(page: &JvmPage) -> Vec<Self> {
        let all = page.sockets.iter().map(|socket| Self {
            port: socket.port.load(Ordering::SeqCst),
            to_client: socket.read.load(Ordering::SeqCst),
            from_client: socket.written.load(Ordering::SeqCst),
        });
        let mut theirs: Vec<_> = all.filter(|one| one.port != 0).collect();
        theirs.sort_unstable();
        theirs
    }
}

impl GateEntrance {
    /// Refuses every connection from now on. To close our listener is not enough: a process that another thread starts has a copy
    /// of it until it runs its own program, and the kernel would accept a connection for that copy. Redisson writes a request to
    /// it, which nobody reads.
    fn shut(&mut self) {
        if let Some(listener) = self.listener.take() {
            let is_refused = rustix::net::shutdown(&listener, Shutdown::Both);
            debug_assert!(is_refused.is_ok(), "a listener cannot be shut: {is_refused:?}");
        }
    }

    /// The next connection of the client, and its port.
    fn accept(&self) -> Result<Option<(TcpStream, u16)>, ReplayError> {
        match self.listener.as_ref().map(TcpListener::accept) {
            Some(Ok((client, address))) => {
                set_up_client(&client)?;
                client.set_nonblocking(true).map_err(ReplayError::system("set up a link"))?;
                Ok(Some((client, address.port())))
            }
            Some(Err(error)) if error.kind() != ErrorKind::WouldBlock => {
                Err(ReplayError::system("accept a connection")(error))
            }
            Some(Err(_)) | None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::Ipv4Addr;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::replay::servers::ANSWER_WAIT;

    #[test]
    fn a_server_that_is_down_refuses_connections_also_while_a_process_that_starts_has_copies_of_our_sockets() {
        let mut gate = ClientGate::open(PathBuf::new()).expect("a port");
        let connect = |gate: &ClientGate| TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port()));
        let copy = gate.entrances[0].listener.as_ref().expect("it listens").try_clone().expect("a copy");
        assert!(connect(&gate).is_ok());

        gate.shut_entrance(0);
        let refused = connect(&gate).expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);

        gate.open_entrance(0).expect("the port is still ours");
        assert!(connect(&gate).is_ok());
        drop(copy);
    }

    /// A gate in front of what listens there.
    fn gate_to_a_server() -> (tempfile::TempDir, UnixListener, ClientGate) {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("server");
        let listener = UnixListener::bind(&socket).expect("a socket");
        (folder, listener, ClientGate::open(socket).expect("a port"))
    }

    /// A client whose connection the gate has taken.
    fn connected_to(gate: &mut ClientGate) -> TcpStream {
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port())).expect("it listens");
        while gate.connections.is_empty() {
            gate.take_arrived().expect("it passes");
        }
        client
    }

    #[test]
    fn a_client_that_has_closed_its_connection_hears_nothing() {
        let (_folder, listener, mut gate) = gate_to_a_server();
        let client = connected_to(&mut gate);
        let _server = listener.accept().expect("a connection");
        let mut connection = gate.connections.remove(0);
        drop(client);
        // The first one is answered with the end of the connection, by a machine that knows no such connection any more.
        let begin = std::time::Instant::now();
        while !connection.is_closed {
            assert!(begin.elapsed() < ANSWER_WAIT, "{connection:?}");
            connection.send(b"+OK\r\n").expect("nobody hears it");
        }
    }

    #[test]
    fn a_server_that_has_just_died_reads_nothing_and_its_connection_is_closed() {
        let (_folder, listener, mut gate) = gate_to_a_server();
        let _client = connected_to(&mut gate);
        drop(listener.accept().expect("a connection"));
        let connection = &mut gate.connections[0];
        connection.send_to_server(b"*1\r\n$4\r\nPING\r\n").expect("nobody reads it");
        assert!(connection.is_closed);
    }

    /// A stopped server takes connections. Its answers come when it goes on, and the first is for the gate alone.
    #[test]
    fn a_connection_to_a_server_that_stands_still_is_taken_and_learns_its_name_when_the_server_goes_on() {
        let (folder, listener, _) = gate_to_a_server();
        let socket = folder.path().join("server");
        let mut gate = ClientGate::open_to(vec![socket.clone(), socket]).expect("two ports");
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port())).expect("it listens");
        client.write_all(b"*1\r\n$4\r\nPING\r\n").expect("it is read");
        while gate.connections.is_empty() || gate.connections[0].unanswered == 0 {
            gate.take_arrived().expect("it does not wait");
        }
        let (mut server, _) = listener.accept().expect("a connection");
        server.write_all(b":7").expect("it is read");
        gate.take_arrived().expect("half an answer is none");
        server.write_all(b"1\r\n+PONG\r\n").expect("it is read");
        while gate.connections[0].unanswered > 0 {
            gate.take_arrived().expect("it passes");
        }
        assert_eq!(gate.id_of(0).expect("it has come"), 71);
        drop(gate);
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).expect("it hears the end too");
        assert_eq!(heard, b"+PONG\r\n");
    }

    /// As on a network: a master that becomes a replica ends the connections of its subscribers, and what it published before arrives.
    #[test]
    fn a_message_that_was_sent_before_its_connection_ended_arrives_before_the_end() {
        const MESSAGE: &[u8] = b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n0\r\n";
        let (_folder, listener, mut gate) = gate_to_a_server();
        let mut client = connected_to(&mut gate);
        gate.set_open(false);
        let (mut server, _) = listener.accept().expect("a connection");
        server.write_all(MESSAGE).expect("it is read");
        drop(server);
        for _ in 0..3 {
            gate.take_arrived().expect("it passes");
        }
        assert_eq!((gate.messages(), gate.has_closed_behind_message()), (1, false), "{gate:?}");
        gate.pass_message().expect("it is there");
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).expect("it hears the end too");
        assert_eq!(heard, MESSAGE);
    }

    /// Otherwise its reply would come to a gate that is shut by then, and be taken for a message.
    #[test]
    fn an_open_gate_knows_that_a_slow_server_has_not_replied_yet() {
        let (_folder, listener, mut gate) = gate_to_a_server();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port())).expect("it listens");
        client.write_all(b"*1\r\n$4\r\nPING\r\n*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n").expect("it is read");
        let mut take = |until: fn(&ClientGate) -> bool| {
            let begin = std::time::Instant::now();
            while !until(&gate) {
                assert!(begin.elapsed() < ANSWER_WAIT, "{gate:?}");
                gate.take_arrived().expect("it passes");
            }
        };
        take(|gate| gate.connections.first().is_some_and(|connection| connection.unanswered == 3));
        let (mut server, _) = listener.accept().expect("a connection");
        server.write_all(b"+PONG\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n").expect("it is read");
        take(|gate| gate.connections[0].unanswered == 1);
        server.write_all(b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n0\r\n").expect("it is read");
        server.write_all(b"*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n").expect("it is read");
        take(|gate| !gate.lets_replies_come());
        assert_eq!(gate.messages(), 0, "all of it has passed");
    }
}
