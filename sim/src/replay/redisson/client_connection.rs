//! One connection of a client through its gate: what is held of both directions, and how much has passed.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use redis::Value;

use super::pub_sub::PubSubCommands;
use crate::replay::error::ReplayError;
use crate::replay::servers::replication_stream::{WireCommand, command_at_start};
use crate::replay::servers::{ANSWER_WAIT, tcp_proxy};

/// What a client uses a connection for, once it has used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionUse {
    Requests,
    Messages,
}

/// What a server calls a connection (`CLIENT ID`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionId {
    /// With one server nobody needs it.
    NotAsked,
    /// The server's next answer is this, and not for the client.
    Awaited,
    Known(i64),
}

#[derive(Debug)]
pub(super) struct ClientConnection {
    /// The server, in the order of the entrances.
    pub(super) server_number: usize,
    /// What that calls the connection.
    id: ConnectionId,
    pub(super) client: TcpStream,
    pub(super) server: UnixStream,
    /// The client's own port.
    pub(super) port: u16,
    pub(super) is_for: Option<ConnectionUse>,
    /// Bytes that the client has sent and received.
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) from_client: Vec<u8>,
    pub(super) from_server: Vec<u8>,
    /// Requests, each with its number, its words and its bytes.
    pub(super) held: VecDeque<(u64, WireCommand, Vec<u8>)>,
    /// How many requests have arrived.
    pub(super) requests: u64,
    /// Replies to requests that a server has executed.
    pub(super) replies: VecDeque<Vec<u8>>,
    /// Whether a server has a request that it may answer later.
    pub(super) is_awaited: bool,
    pub(super) messages: VecDeque<Vec<u8>>,
    /// What says that the server has ended a subscription by itself.
    pub(super) ends: VecDeque<Vec<u8>>,
    /// How many replies are to come to requests that have passed an open gate.
    pub(super) unanswered: usize,
    /// Whether its server has ended it, and the client has not heard of that: messages that came before are held.
    has_server_ended: bool,
    pub(super) is_closed: bool,
}

impl ConnectionUse {
    fn of(words: &WireCommand) -> Self {
        let name = words.first().map_or(&[][..], Vec::as_slice);
        let subscribes = [PubSubCommands::ORDINARY, PubSubCommands::SHARDED].map(|commands| commands.subscribe);
        let is_for_messages = subscribes.iter().any(|subscribe| name.eq_ignore_ascii_case(subscribe.as_bytes()));
        if is_for_messages { Self::Messages } else { Self::Requests }
    }
}

impl ClientConnection {
    pub(super) fn new(client: TcpStream, server: UnixStream, port: u16, server_number: usize) -> Self {
        Self {
            server_number,
            id: ConnectionId::NotAsked,
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
            ends: VecDeque::new(),
            unanswered: 0,
            has_server_ended: false,
            is_closed: false,
        }
    }

    /// The held request with this number has these words from now on. What the client has sent is counted as before.
    pub(super) fn replace(&mut self, number: u64, words: &WireCommand) {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend(format!("${}\r\n", word.len()).bytes().chain(word.iter().copied()).chain(*b"\r\n"));
        }
        if let Some(held) = self.held.iter_mut().find(|(at, ..)| *at == number) {
            (held.1, held.2) = (words.clone(), bytes);
        }
    }

    pub(super) fn take_arrived(&mut self, is_open: bool) -> Result<bool, ReplayError> {
        let from_client = available(&mut self.client)?;
        let from_server = if self.has_server_ended { None } else { available(&mut self.server)? };
        // What was sent before the end arrives before it.
        self.has_server_ended = from_server.is_none() && !is_open && !self.messages.is_empty();
        let from_server = from_server.or_else(|| self.has_server_ended.then(Vec::new));
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
                self.send_to_server(&bytes)?;
                if self.is_closed {
                    return Ok(true);
                }
                self.unanswered += replies_to(&words);
            }
            while let Some(value) = self.replies.pop_front().or_else(|| self.ends.pop_front()) {
                self.send(&value)?;
            }
            while let Some(value) = self.take_value()? {
                let read = redis::parse_redis_value(&value).map_err(ReplayError::redis("a reply to Redisson"))?;
                if !is_message(&read) {
                    // A request that passed before the gate was opened is not counted.
                    self.unanswered = self.unanswered.saturating_sub(1);
                }
                self.send(&value)?;
            }
        } else {
            // Every other reply is read with its request, so the rest was sent without being asked.
            while let Some(value) = self.take_value()? {
                if std::mem::take(&mut self.is_awaited) {
                    self.replies.push_back(value);
                } else if is_end_of_subscription(&value) {
                    self.ends.push_back(value);
                } else {
                    self.messages.push_back(value);
                }
            }
        }
        Ok(has_moved)
    }

    /// A client that has closed the connection meanwhile hears nothing: Redisson closes those that it has not used for ten seconds.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), ReplayError> {
        let written = tcp_proxy::write_all(&mut self.client, bytes, "client");
        if written.is_err() && self.has_client_ended() {
            self.close();
            return Ok(());
        }
        self.sent += bytes.len() as u64;
        written
    }

    /// The same to the server. One that has just died reads nothing any more, and the client finds its connection closed.
    pub(super) fn send_to_server(&mut self, bytes: &[u8]) -> Result<(), ReplayError> {
        let written = tcp_proxy::write_all(&mut self.server, bytes, "server");
        if written.is_err() && (0..2).any(|_| matches!(available(&mut self.server), Ok(None))) {
            self.close();
            return Ok(());
        }
        written
    }

    pub(super) fn has_client_ended(&mut self) -> bool {
        // The end comes after what was sent before it.
        (0..2).any(|_| matches!(available(&mut self.client), Ok(None)))
    }

    /// The oldest message leaves the gate. Where the server has ended the connection, the client hears of that behind the last one.
    pub(super) fn take_message(&mut self, is_lost: bool) -> Result<Vec<u8>, ReplayError> {
        let message = self.messages.pop_front().ok_or(ReplayError::NothingHeld)?;
        if !is_lost {
            self.send(&message)?;
        }
        if self.has_server_ended && self.messages.is_empty() {
            self.close();
        }
        Ok(message)
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.held.clear();
        self.replies.clear();
        let _ = self.client.shutdown(std::net::Shutdown::Both);
        let _ = self.server.shutdown(std::net::Shutdown::Both);
    }

    /// Asks the server what it calls this connection, before the client uses it: `WAIT` is for what a connection did last. It does
    /// not wait for the answer, since a server that stands still takes connections and answers nothing.
    pub(super) fn ask_id(&mut self) -> Result<(), ReplayError> {
        self.id = ConnectionId::Awaited;
        self.send_to_server(b"*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n")
    }

    pub(super) fn execute_request(&mut self) -> Result<Value, ReplayError> {
        self.begin_request()?;
        self.finish_request()
    }

    pub(super) fn begin_request(&mut self) -> Result<(), ReplayError> {
        let (.., bytes) = self.held.pop_front().ok_or(ReplayError::NothingHeld)?;
        self.is_awaited = true;
        tcp_proxy::write_all(&mut self.server, &bytes, "server")
    }

    pub(super) fn finish_request(&mut self) -> Result<Value, ReplayError> {
        if let Some(arrived) = self.replies.back().filter(|_| !self.is_awaited) {
            return redis::parse_redis_value(arrived).map_err(ReplayError::redis("a request of Redisson"));
        }
        self.until("the server's reply to a request of Redisson", |this| {
            while let Some(value) = this.take_value()? {
                let reply = redis::parse_redis_value(&value).map_err(ReplayError::redis("a request of Redisson"))?;
                if is_message(&reply) {
                    this.messages.push_back(value);
                } else {
                    this.is_awaited = false;
                    this.replies.push_back(value);
                    return Ok(Some(reply));
                }
            }
            Ok(None)
        })
    }

    /// What the server calls this connection, which it has been asked for.
    pub(super) fn id(&mut self) -> Result<i64, ReplayError> {
        self.until("the server's reply to `CLIENT ID`", |this| {
            this.take_id()?;
            Ok(if let ConnectionId::Known(id) = this.id { Some(id) } else { None })
        })
    }

    /// Reads what the server sends until this is found in it.
    fn until<T>(
        &mut self,
        awaited: &str,
        mut found: impl FnMut(&mut Self) -> Result<Option<T>, ReplayError>,
    ) -> Result<T, ReplayError> {
        let begin = std::time::Instant::now();
        loop {
            if let Some(found) = found(self)? {
                return Ok(found);
            }
            if begin.elapsed() > ANSWER_WAIT {
                return Err(ReplayError::TimedOut { awaited: awaited.to_owned(), waited: begin.elapsed() });
            }
            let more =
                available(&mut self.server)?.ok_or_else(|| ReplayError::link("the server closed the connection"))?;
            if more.is_empty() {
                std::thread::sleep(std::time::Duration::from_micros(20));
            }
            self.from_server.extend(more);
        }
    }

    /// The first whole value that the server has sent for the client.
    fn take_value(&mut self) -> Result<Option<Vec<u8>>, ReplayError> {
        self.take_id()?;
        Ok(if self.id == ConnectionId::Awaited { None } else { self.take_any_value() })
    }

    fn take_id(&mut self) -> Result<(), ReplayError> {
        let answer = if self.id == ConnectionId::Awaited { self.take_any_value() } else { None };
        let Some(answer) = answer else { return Ok(()) };
        let id = redis::parse_redis_value(&answer).map_err(ReplayError::redis("`CLIENT ID`"))?;
        let id = redis::from_redis_value(id).map_err(|error| ReplayError::link(error.to_string()))?;
        self.id = ConnectionId::Known(id);
        Ok(())
    }

    fn take_any_value(&mut self) -> Option<Vec<u8>> {
        let ends = self.from_server.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let length = ends.into_iter().find(|end| redis::parse_redis_value(&self.from_server[..*end]).is_ok())?;
        Some(self.from_server.drain(..length).collect())
    }
}

fn is_message(value: &Value) -> bool {
    is_of_kind(value, &[b"message", b"smessage", b"pmessage"])
}

/// Whether it says that a subscription to a channel of one slot is over: a server whose slot has moved says so without being asked.
fn is_end_of_subscription(value: &[u8]) -> bool {
    redis::parse_redis_value(value).is_ok_and(|value| is_of_kind(&value, &[b"sunsubscribe"]))
}

/// Whether it begins with one of these words.
fn is_of_kind(value: &Value, kinds: &[&[u8]]) -> bool {
    let Value::Array(words) = value else { return false };
    matches!(words.first(), Some(Value::BulkString(kind)) if kinds.contains(&&kind[..]))
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
