//! The way of one request and of its reply, held at both ends: what a client writes reaches the node when the harness
//! says so, and what the node answers reaches the client when the harness says so.
//!
//! ```text
//!   client ══ real socket ══ gate ══ real socket ══ node
//!          send ─────────▶ │ execute ─────────────▶
//!          ◀──────── answer │ ◀──────── (held here)
//! ```
//!
//! A request that is lost has been written and never leaves the gate; a reply that is lost has been given by the node
//! and never leaves the gate; a late one leaves it after its client has gone. A `WAIT` in the same batch goes to the node
//! right behind its script.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use redis::{Cmd, Value};

use super::Error;
use super::translate::Request;

/// How long a running node may take to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// One request under way.
pub struct Line {
    /// What was asked, and how to read the answer.
    pub request: Request,
    client: UnixStream,
    gate: UnixStream,
    /// Bytes that the client has written and no node has seen, a command each.
    unsent: VecDeque<usize>,
    /// What a node has answered and the client has not seen, an answer each.
    unread: Vec<Vec<u8>>,
    /// The node that has not answered to the `WAIT` yet.
    server: Option<UnixStream>,
    /// Its name for the connection, once a `WAIT` went there.
    pub connection: i64,
}

impl Line {
    /// The client writes its request; `wait` in the same batch.
    pub fn send(request: Request, wait: Option<&Cmd>) -> Result<Self, Error> {
        let (mut client, gate) = UnixStream::pair().map_err(Error::system("a line for a request"))?;
        for end in [&client, &gate] {
            end.set_read_timeout(Some(ANSWER_WAIT)).map_err(Error::system("a line for a request"))?;
        }
        let call = request.call.evalsha();
        let commands: Vec<_> = [&call].into_iter().chain(wait).map(Cmd::get_packed_command).collect();
        client.write_all(&commands.concat()).map_err(Error::system("a line for a request"))?;
        let unsent = commands.iter().map(Vec::len).collect();
        Ok(Self { request, client, gate, unsent, unread: Vec::new(), server: None, connection: 0 })
    }

    /// The node gets the request and answers; the client sees nothing of it.
    pub fn execute(&mut self, node: &Path) -> Result<Value, Error> {
        let mut server = UnixStream::connect(node).map_err(Error::system("a line to a node"))?;
        server.set_read_timeout(Some(ANSWER_WAIT)).map_err(Error::system("a line to a node"))?;
        self.hand_over(&mut server)?;
        self.hear(&mut server)
    }

    /// As `execute`, and then the node gets the `WAIT` behind it.
    pub fn execute_and_wait(&mut self, node: &Path) -> Result<Value, Error> {
        let mut server = UnixStream::connect(node).map_err(Error::system("a line to a node"))?;
        server.set_read_timeout(Some(ANSWER_WAIT)).map_err(Error::system("a line to a node"))?;
        // Asked for before: `WAIT` is for what its connection did last.
        let ask = redis::cmd("CLIENT").arg("ID").get_packed_command();
        server.write_all(&ask).map_err(Error::system("a line to a node"))?;
        let id = read_answer(&mut server)?.0;
        self.connection = redis::from_redis_value(id).map_err(|error| Error::link(error.to_string()))?;
        self.hand_over(&mut server)?;
        let value = self.hear(&mut server)?;
        self.hand_over(&mut server)?;
        self.server = Some(server);
        Ok(value)
    }

    /// The node answers to the `WAIT`; the client sees nothing of it.
    pub fn end_wait(&mut self) -> Result<Value, Error> {
        let mut server = self.server.take().ok_or(Error::NothingInFlight)?;
        self.hear(&mut server)
    }

    /// Nobody waits for the answer to the `WAIT` any more.
    pub fn drop_wait(&mut self) {
        self.server = None;
    }

    /// Whether a `WAIT` is not answered.
    pub const fn waits(&self) -> bool {
        self.server.is_some()
    }

    /// The client gets the answers, one to each command, as far as there are any.
    pub fn answers(&mut self) -> Result<Vec<Value>, Error> {
        let pass = |answer: Vec<u8>| {
            self.gate.write_all(&answer).map_err(Error::system("an answer that was held"))?;
            Ok(read_answer(&mut self.client)?.0)
        };
        std::mem::take(&mut self.unread).into_iter().map(pass).collect()
    }

    /// The next command that the client wrote goes to the node.
    fn hand_over(&mut self, server: &mut UnixStream) -> Result<(), Error> {
        let length = self.unsent.pop_front().ok_or(Error::NothingInFlight)?;
        let mut bytes = vec![0; length];
        self.gate.read_exact(&mut bytes).map_err(Error::system("a request that was held"))?;
        server.write_all(&bytes).map_err(Error::system("a line to a node"))
    }

    fn hear(&mut self, server: &mut UnixStream) -> Result<Value, Error> {
        let (value, answer) = read_answer(server)?;
        self.unread.push(answer);
        Ok(value)
    }
}

/// One whole answer, and its bytes.
fn read_answer(stream: &mut UnixStream) -> Result<(Value, Vec<u8>), Error> {
    let mut bytes = Vec::new();
    let mut more = [0; 512];
    loop {
        let count = stream.read(&mut more).map_err(Error::system("an answer"))?;
        bytes.extend_from_slice(&more[..count]);
        match redis::parse_redis_value(&bytes) {
            Ok(value) => return Ok((value, bytes)),
            // Part of an answer can't be read; with nothing more to come it never will.
            Err(error) if count == 0 => return Err(Error::redis("a request that was held")(error)),
            Err(_) => {}
        }
    }
}
