//! `WAIT` on real servers: a caller that was granted the lock asks on the connection that it acquired by, for that
//! connection's last write.
//!
//! The server's clock stands still, so a `WAIT` that finds too few replicas would never time out. It is ended by
//! `CLIENT UNBLOCK … TIMEOUT`, which makes the server answer as after the timeout.

use std::time::{Duration, Instant};

use redis::{Cmd, ConnectionLike as _, FromRedisValue, Value};

use crate::replay::error::ReplayError;
use crate::replay::servers::{LINK_WAIT, ServerConnection, ServerGroups};

/// The time limit in our `WAIT` commands, in milliseconds: the default of Redisson's `slavesSyncTimeout`.
pub const WAIT_WITHIN_MS: u32 = 1000;

/// The connection of a caller that was granted the lock and may wait for replicas.
pub struct WaitConnection {
    /// The node that granted the lock.
    pub node: usize,
    connection: ServerConnection,
    /// `CLIENT ID`, asked for before the write: `WAIT` is for what its connection did last, even if that was a question.
    id: i64,
}

impl WaitConnection {
    /// Connects to a node.
    ///
    /// # Errors
    /// `Redis`.
    pub fn open(servers: &ServerGroups, node: usize) -> Result<Self, ReplayError> {
        let mut connection = servers.node(node).connect()?;
        let id = read_as(&ask(&mut connection, redis::cmd("CLIENT").arg("ID"))?)?;
        Ok(Self { node, connection, id })
    }

    /// Sends a request and reads the answer; an error is an answer too.
    ///
    /// # Errors
    /// `Redis` if the connection breaks.
    pub fn ask(&mut self, command: &Cmd) -> Result<Value, ReplayError> {
        ask(&mut self.connection, command)
    }

    /// Sends `WAIT` for so many replicas, and returns how many have acknowledged when it ends.
    ///
    /// # Errors
    /// `Redis`; `TimedOut`.
    pub fn wait_for(mut self, replicas: u8, servers: &mut ServerGroups) -> Result<i64, ReplayError> {
        let wait = wait_command(replicas, false).get_packed_command();
        self.connection.send_packed_command(&wait).map_err(ReplayError::redis("WAIT"))?;
        servers.wait_acknowledged(self.node)?;
        end_wait(servers, self.node, self.id)?;
        let answer = self.connection.recv_response().map_err(ReplayError::redis("WAIT"))?;
        read_as(&answer)
    }
}

/// `WAIT` for so many replicas. Where a node may stand still while its clock goes on, without a time limit: its time-out is
/// the history's to choose.
pub fn wait_command(replicas: u8, may_pause: bool) -> Cmd {
    redis::cmd("WAIT").arg(replicas).arg(if may_pause { 0 } else { WAIT_WITHIN_MS }).to_owned()
}

/// Makes the node answer the `WAIT` of the connection with this id, as if its time were over.
///
/// # Errors
/// `Redis`; `TimedOut`.
pub fn end_wait(servers: &mut ServerGroups, node: usize, id: i64) -> Result<(), ReplayError> {
    if is_blocked_in_wait(servers, node, id)? {
        let unblock = redis::cmd("CLIENT").arg("UNBLOCK").arg(id).arg("TIMEOUT").to_owned();
        servers.ask(node, &unblock, "CLIENT UNBLOCK")?;
    }
    Ok(())
}

/// Whether the node has read the `WAIT` of the connection with this id and not answered it. An acknowledgement that the
/// node received before this question has been considered: the node checks its `WAIT`s after each round of its event loop.
///
/// # Errors
/// `Redis`; `TimedOut` if the node does not read the `WAIT`.
pub fn is_blocked_in_wait(servers: &mut ServerGroups, node: usize, id: i64) -> Result<bool, ReplayError> {
    let list = redis::cmd("CLIENT").arg("LIST").arg("ID").arg(id).to_owned();
    let began = Instant::now();
    while began.elapsed() < LINK_WAIT {
        let listed: String = read_as(&servers.ask(node, &list, "CLIENT LIST")?)?;
        let field = |name: &str| listed.split_whitespace().find_map(|field| field.strip_prefix(name));
        if field("cmd=") == Some("wait") {
            return Ok(field("flags=").is_some_and(|flags| flags.contains('b')));
        }
        // The command is still on its way to the server.
        std::thread::sleep(Duration::from_micros(50));
    }
    Err(ReplayError::TimedOut { awaited: "a server to read WAIT".to_owned(), waited: LINK_WAIT })
}

fn ask(connection: &mut ServerConnection, command: &Cmd) -> Result<Value, ReplayError> {
    let answers = connection.req_packed_commands(&command.get_packed_command(), 0, 1);
    let mut answers = answers.map_err(ReplayError::redis("a client that waits for replicas"))?;
    answers.pop().ok_or_else(|| ReplayError::link("no answer"))
}

fn read_as<T: FromRedisValue>(value: &Value) -> Result<T, ReplayError> {
    redis::from_redis_value_ref(value).map_err(|error| ReplayError::link(error.to_string()))
}
