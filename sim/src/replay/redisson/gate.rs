//! A gate for each client of Redisson: it holds every request, reply and message until the harness lets it pass.
//!
//! A client has several connections to its gate: one for commands, one for messages. Nothing here has a thread of its own:
//! bytes move when the harness says so, and both directions are counted on each connection. A reply is never dropped alone,
//! since Redisson counts replies; only a whole connection can be closed.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use redis::Value;
use rustix::net::Shutdown;

use super::jvm_clock::JvmPage;
use super::pub_sub::PubSubCommands;
use crate::replay::error::ReplayError;
use crate::replay::servers::replication_stream::{WireCommand, command_at_start};
use crate::replay::servers::tcp_proxy::{connect_server, set_up_client};
use crate::replay::servers::{ANSWER_WAIT, ReservedPort, tcp_proxy};

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

/// What a client uses a connection for, once it has used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionUse {
    Requests,
    Messages,
}

#[derive(Debug)]
struct ClientConnection {
    /// The server, in the order of the entrances.
    server_number: usize,
    /// What that calls the connection (`CLIENT ID`), where there are several servers.
    id: i64,
    client: TcpStream,
    server: UnixStream,
    /// The client's own port.
    port: u16,
    is_for: Option<ConnectionUse>,
    /// Bytes that the client has sent and received.
    received: u64,
    sent: u64,
    from_client: Vec<u8>,
    from_server: Vec<u8>,
    /// Requests, each with its number, its words and its bytes.
    held: VecDeque<(u64, WireCommand, Vec<u8>)>,
    /// How many requests have arrived.
    requests: u64,
    /// Replies to requests that a server has executed.
    replies: VecDeque<Vec<u8>>,
    /// Whether a server has a request that it may answer later.
    is_awaited: bool,
    messages: VecDeque<Vec<u8>>,
    /// How many replies are to come to requests that have passed an open gate.
    unanswered: usize,
    is_closed: bool,
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

    /// Which server a connection leads to, and what that calls the connection.
    pub fn server_of(&self, connection: usize) -> (usize, i64) {
        let connection = &self.connections[connection];
        (connection.server_number, connection.id)
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

    /// The messages that are held.
    pub fn messages(&self) -> usize {
        self.connections.iter().map(|connection| connection.messages.len()).sum()
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
        let connection = self.connection_with_message()?;
        let message = connection.messages.pop_front().ok_or(ReplayError::NothingHeld)?;
        connection.send(&message)?;
        redis::parse_redis_value(&message).map_err(ReplayError::redis("a message"))
    }

    /// Drops the oldest message. Nobody counts messages, so that is what a lossy network does.
    ///
    /// # Errors
    /// `NothingHeld`.
    pub fn drop_message(&mut self) -> Result<Value, ReplayError> {
        let message = self.connection_with_message()?.messages.pop_front().ok_or(ReplayError::NothingHeld)?;
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
        let ours = gates.iter().flat_map(|gate| &gate.connections).filter(|connection| !connection.is_closed);
        let mut ours: Vec<_> = ours.map(|one| (u64::from(one.port), one.sent, one.received)).collect();
        let taken = page.sockets.iter().map(|socket| {
            (
                socket.port.load(Ordering::SeqCst),
                socket.read.load(Ordering::SeqCst),
                socket.written.load(Ordering::SeqCst),
            )
        });
        let mut theirs: Vec<_> = taken.filter(|(port, ..)| *port != 0).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        ours == theirs
    }
}

impl ConnectionUse {
    fn of(words: &WireCommand) -> Self {
        let name = words.first().map_or(&[][..], Vec::as_slice);
        let subscribes = [PubSubCommands::ORDINARY, PubSubCommands::SHARDED].map(|commands| commands.subscribe);
        let is_for_messages = subscribes.iter().any(|subscribe| name.eq_ignore_ascii_case(subscribe.as_bytes()));
        if is_for_messages { Self::Messages } else { Self::Requests }
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

impl ClientConnection {
    fn new(client: TcpStream, server: UnixStream, port: u16, server_number: usize) -> Self {
        Self {
            server_number,
            id: 0,
            client,
            server,
            port,
            is_for: None,
            received: 0,
            sent: 0,
            from_client: Vec::new(),
            from_server: Vec::new(),
            held: VecDeque::new(),
            requests: 0,
            replies: VecDeque::new(),
            is_awaited: false,
            messages: VecDeque::new(),
            unanswered: 0,
            is_closed: false,
        }
    }

    fn take_arrived(&mut self, is_open: bool) -> Result<bool, ReplayError> {
        let from_client = available(&mut self.client)?;
        let from_server = available(&mut self.server)?;
        let (Some(from_client), Some(from_server)) = (from_client, from_server) else {
            self.close();
            return Ok(true);
        };
        let has_moved = !from_client.is_empty() || !from_server.is_empty();
        self.received += from_client.len() as u64;
        self.from_client.extend(from_client);
        self.from_server.extend(from_server);
        while let Some((words, length)) = command_at_start(&self.from_client)? {
            let bytes = self.from_client.drain(..length).collect();
            self.is_for.get_or_insert_with(|| ConnectionUse::of(&words));
            self.held.push_back((self.requests, words, bytes));
            self.requests += 1;
        }
        if is_open {
            while let Some((_, words, bytes)) = self.held.pop_front() {
                tcp_proxy::write_all(&mut self.server, &bytes, "server")?;
                self.unanswered += replies_to(&words);
            }
            while let Some(reply) = self.replies.pop_front() {
                self.send(&reply)?;
            }
            while let Some(value) = self.take_value() {
                let read = redis::parse_redis_value(&value).map_err(ReplayError::redis("a reply to Redisson"))?;
                if !is_message(&read) {
                    // A request that passed before the gate was opened is not counted.
                    self.unanswered = self.unanswered.saturating_sub(1);
                }
                self.send(&value)?;
            }
        } else {
            // Every other reply is read with its request, so the rest was sent without being asked.
            while let Some(value) = self.take_value() {
                if std::mem::take(&mut self.is_awaited) {
                    self.replies.push_back(value);
                } else {
                    self.messages.push_back(value);
                }
            }
        }
        Ok(has_moved)
    }

    /// A client that has closed the connection meanwhile hears nothing: Redisson closes those that it has not used for ten seconds.
    fn send(&mut self, bytes: &[u8]) -> Result<(), ReplayError> {
        let written = tcp_proxy::write_all(&mut self.client, bytes, "client");
        if written.is_err() && self.has_client_ended() {
            self.close();
            return Ok(());
        }
        self.sent += bytes.len() as u64;
        written
    }

    fn has_client_ended(&mut self) -> bool {
        // The end comes after what was sent before it.
        (0..2).any(|_| matches!(available(&mut self.client), Ok(None)))
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.held.clear();
        self.replies.clear();
        let _ = self.client.shutdown(std::net::Shutdown::Both);
        let _ = self.server.shutdown(std::net::Shutdown::Both);
    }

    /// Asks the server what it calls this connection, before the client uses it: `WAIT` is for what a connection did last.
    fn ask_id(&mut self) -> Result<(), ReplayError> {
        tcp_proxy::write_all(&mut self.server, b"*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n", "server")?;
        let id = self.finish_request()?;
        self.replies.clear();
        self.id = redis::from_redis_value(id).map_err(|error| ReplayError::link(error.to_string()))?;
        Ok(())
    }

    fn execute_request(&mut self) -> Result<Value, ReplayError> {
        self.begin_request()?;
        self.finish_request()
    }

    fn begin_request(&mut self) -> Result<(), ReplayError> {
        let (.., bytes) = self.held.pop_front().ok_or(ReplayError::NothingHeld)?;
        self.is_awaited = true;
        tcp_proxy::write_all(&mut self.server, &bytes, "server")
    }

    fn finish_request(&mut self) -> Result<Value, ReplayError> {
        if let Some(arrived) = self.replies.back().filter(|_| !self.is_awaited) {
            return redis::parse_redis_value(arrived).map_err(ReplayError::redis("a request of Redisson"));
        }
        let begin = std::time::Instant::now();
        loop {
            let more =
                available(&mut self.server)?.ok_or_else(|| ReplayError::link("the server closed the connection"))?;
            self.from_server.extend(more);
            while let Some(value) = self.take_value() {
                let reply = redis::parse_redis_value(&value).map_err(ReplayError::redis("a request of Redisson"))?;
                if is_message(&reply) {
                    self.messages.push_back(value);
                } else {
                    self.is_awaited = false;
                    self.replies.push_back(value);
                    return Ok(reply);
                }
            }
            if begin.elapsed() > ANSWER_WAIT {
                let awaited = "the server's reply to a request of Redisson".to_owned();
                return Err(ReplayError::TimedOut { awaited, waited: begin.elapsed() });
            }
            std::thread::sleep(std::time::Duration::from_micros(20));
        }
    }

    /// The first whole value that the server has sent.
    fn take_value(&mut self) -> Option<Vec<u8>> {
        let ends = self.from_server.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let length = ends.into_iter().find(|end| redis::parse_redis_value(&self.from_server[..*end]).is_ok())?;
        Some(self.from_server.drain(..length).collect())
    }
}

fn is_message(value: &Value) -> bool {
    const KINDS: [&[u8]; 3] = [b"message", b"smessage", b"pmessage"];
    let Value::Array(words) = value else { return false };
    matches!(words.first(), Some(Value::BulkString(kind)) if KINDS.contains(&&kind[..]))
}

/// How many values a server replies to a request with: one, and to a subscription one for each channel.
fn replies_to(words: &WireCommand) -> usize {
    let name = words.first().map_or_else(Vec::new, |name| name.to_ascii_uppercase());
    if name.ends_with(b"SUBSCRIBE") { words.len().saturating_sub(1).max(1) } else { 1 }
}

/// What can be read now; `None`: the other end is closed.
fn available(from: &mut impl Read) -> Result<Option<Vec<u8>>, ReplayError> {
    let mut all = Vec::new();
    let mut buffer = [0; 16384];
    loop {
        match from.read(&mut buffer) {
            // What came before the end comes first: a server replies to `QUIT`, and closes the connection at once.
            Ok(0) => return Ok(Some(all).filter(|all| !all.is_empty())),
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Some(all)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(ReplayError::system("read from a link")(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::Ipv4Addr;
    use std::os::unix::net::UnixListener;

    use super::*;

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

    #[test]
    fn a_client_that_has_closed_its_connection_hears_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("server");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut gate = ClientGate::open(socket).expect("a port");
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port())).expect("it listens");
        while gate.connections.is_empty() {
            gate.take_arrived().expect("it passes");
        }
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

    /// Otherwise its reply would come to a gate that is shut by then, and be taken for a message.
    #[test]
    fn an_open_gate_knows_that_a_slow_server_has_not_replied_yet() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("server");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut gate = ClientGate::open(socket).expect("a port");
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
