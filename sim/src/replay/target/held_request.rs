//! One request and its answer, held at both ends: what a client writes reaches the node when the harness says so, and what
//! the node answers reaches the client when the harness says so.
//!
//! ```text
//!   client ══ real socket ══ gate ══ real socket ══ node
//!          send ─────────▶ │ execute ─────────────▶
//!          ◀──────── answer │ ◀──────── (held here)
//! ```
//!
//! A request that is lost was written by the client and never leaves the gate; an answer that is lost was given by the node
//! and never leaves the gate; a late one leaves the gate after its caller has given up. A `WAIT` in the same batch goes to
//! the node directly after its script.

use std::collections::VecDeque;
use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;

use redis::{Cmd, Value};

use crate::replay::error::ReplayError;
use crate::replay::servers::{ANSWER_WAIT, PatientStream, ServerNode};
use crate::replay::translate::ScriptRequest;

/// One request in flight.
pub struct HeldRequest {
    /// What was asked, and how the answer is read.
    pub request: ScriptRequest,
    client: UnixStream,
    gate: UnixStream,
    /// The lengths in bytes of the commands that the client has written and no node has received.
    unsent: VecDeque<usize>,
    /// The answers that a node has given and the client has not received.
    unread: Vec<Vec<u8>>,
    /// The connection to the node that has not answered the `WAIT` yet.
    server: Option<PatientStream>,
    /// The node's id for that connection, once a `WAIT` was sent.
    pub connection_id: i64,
}

impl HeldRequest {
    /// The client writes its request, and `wait` in the same batch.
    ///
    /// # Errors
    /// `System`.
    pub fn send(request: ScriptRequest, wait: Option<&Cmd>) -> Result<Self, ReplayError> {
        let (mut client, gate) = UnixStream::pair().map_err(ReplayError::system("make a connection for a request"))?;
        // Both ends are ours, and what is written fits into the socket; if not, that is an error and no standstill.
        for set_limit in [UnixStream::set_read_timeout, UnixStream::set_write_timeout] {
            for end in [&client, &gate] {
                set_limit(end, Some(ANSWER_WAIT)).map_err(ReplayError::system("make a connection for a request"))?;
            }
        }
        let call = request.call.evalsha();
        let commands: Vec<_> = [&call].into_iter().chain(wait).map(Cmd::get_packed_command).collect();
        client.write_all(&commands.concat()).map_err(ReplayError::system("make a connection for a request"))?;
        let unsent = commands.iter().map(Vec::len).collect();
        Ok(Self { request, client, gate, unsent, unread: Vec::new(), server: None, connection_id: 0 })
    }

    /// The node receives the request and answers; the client receives nothing yet.
    ///
    /// # Errors
    /// `System`; `Redis` if the node's answer is incomplete.
    pub fn execute(&mut self, node: &ServerNode) -> Result<Value, ReplayError> {
        let mut server = node.connect_stream()?;
        self.forward(&mut server)?;
        self.hold_answer(&mut server)
    }

    /// As `execute`, and then the node receives the `WAIT` that follows.
    ///
    /// # Errors
    /// As `execute`.
    pub fn execute_and_wait(&mut self, node: &ServerNode) -> Result<Value, ReplayError> {
        let mut server = node.connect_stream()?;
        // Asked for before the request: `WAIT` is for what its connection did last.
        let ask = redis::cmd("CLIENT").arg("ID").get_packed_command();
        server.write_all(&ask).map_err(ReplayError::system("connect to a node"))?;
        let id = read_answer(&mut server)?.0;
        self.connection_id = redis::from_redis_value(id).map_err(|error| ReplayError::link(error.to_string()))?;
        self.forward(&mut server)?;
        let value = self.hold_answer(&mut server)?;
        self.forward(&mut server)?;
        self.server = Some(server);
        Ok(value)
    }

    /// The node answers the `WAIT`; the client receives nothing yet.
    ///
    /// # Errors
    /// `NothingInFlight` if there is no `WAIT`; as `execute`.
    pub fn end_wait(&mut self) -> Result<Value, ReplayError> {
        let mut server = self.server.take().ok_or(ReplayError::NothingInFlight)?;
        self.hold_answer(&mut server)
    }

    /// The answer to the `WAIT` is not needed any more.
    pub fn drop_wait(&mut self) {
        self.server = None;
    }

    /// Whether a `WAIT` was sent and is not answered.
    pub const fn waits(&self) -> bool {
        self.server.is_some()
    }

    /// The client receives the answers that there are, one for each command.
    ///
    /// # Errors
    /// `System`.
    pub fn answers(&mut self) -> Result<Vec<Value>, ReplayError> {
        let pass = |answer: Vec<u8>| {
            self.gate.write_all(&answer).map_err(ReplayError::system("pass a held answer on"))?;
            Ok(read_answer(&mut self.client)?.0)
        };
        std::mem::take(&mut self.unread).into_iter().map(pass).collect()
    }

    /// Passes the next command that the client wrote to the node.
    fn forward(&mut self, server: &mut PatientStream) -> Result<(), ReplayError> {
        let length = self.unsent.pop_front().ok_or(ReplayError::NothingInFlight)?;
        let mut bytes = vec![0; length];
        self.gate.read_exact(&mut bytes).map_err(ReplayError::system("read a held request"))?;
        server.write_all(&bytes).map_err(ReplayError::system("connect to a node"))
    }

    fn hold_answer(&mut self, server: &mut PatientStream) -> Result<Value, ReplayError> {
        server.begin();
        let (value, answer) = read_answer(server)?;
        self.unread.push(answer);
        Ok(value)
    }
}

/// One complete answer, and its bytes.
fn read_answer(stream: &mut impl Read) -> Result<(Value, Vec<u8>), ReplayError> {
    let mut bytes = Vec::new();
    let mut more = [0; 512];
    loop {
        let count = stream.read(&mut more).map_err(ReplayError::system("read an answer"))?;
        bytes.extend_from_slice(&more[..count]);
        match redis::parse_redis_value(&bytes) {
            Ok(value) => return Ok((value, bytes)),
            // An incomplete answer cannot be parsed; if nothing more comes, it stays incomplete.
            Err(error) if count == 0 => return Err(ReplayError::redis("a request that was held")(error)),
            Err(_) => {}
        }
    }
}
