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
//! and never leaves the gate; a late one leaves it after its client has gone.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use redis::Value;

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
    /// Bytes that the client has written and no node has seen.
    unsent: usize,
    /// What a node has answered and the client has not seen.
    unread: Vec<u8>,
}

impl Line {
    /// The client writes its request.
    pub fn send(request: Request) -> Result<Self, Error> {
        let (mut client, gate) = UnixStream::pair().map_err(Error::system("a line for a request"))?;
        for end in [&client, &gate] {
            end.set_read_timeout(Some(ANSWER_WAIT)).map_err(Error::system("a line for a request"))?;
        }
        let bytes = request.call.evalsha().get_packed_command();
        client.write_all(&bytes).map_err(Error::system("a line for a request"))?;
        Ok(Self { request, client, gate, unsent: bytes.len(), unread: Vec::new() })
    }

    /// The node gets the request and answers; the client sees nothing of it.
    pub fn execute(&mut self, node: &Path) -> Result<Value, Error> {
        let held = Error::system("a request that was held");
        let mut bytes = vec![0; std::mem::take(&mut self.unsent)];
        self.gate.read_exact(&mut bytes).map_err(held)?;

        let mut server = UnixStream::connect(node).map_err(Error::system("a line to a node"))?;
        server.set_read_timeout(Some(ANSWER_WAIT)).map_err(Error::system("a line to a node"))?;
        server.write_all(&bytes).map_err(Error::system("a line to a node"))?;
        let (value, answer) = read_answer(&mut server)?;
        self.unread = answer;
        Ok(value)
    }

    /// The client gets the answer.
    pub fn answer(&mut self) -> Result<Value, Error> {
        let answer = std::mem::take(&mut self.unread);
        self.gate.write_all(&answer).map_err(Error::system("an answer that was held"))?;
        Ok(read_answer(&mut self.client)?.0)
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
