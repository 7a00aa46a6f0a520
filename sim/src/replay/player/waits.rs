//! `WAIT` on real servers: a grant's caller asks on the connection that it acquired by, for that connection's last write.
//!
//! The server's clock stands still, so a `WAIT` that finds too few replicas would never time out: it is ended by
//! `CLIENT UNBLOCK … TIMEOUT`, which answers what the time-out would have.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lockstep_model::config::WaitRule;
use lockstep_model::trace::{State, TraceStep, node_name};
use lockstep_model::{Action, Config};
use redis::{Cmd, Connection, ConnectionLike, FromRedisValue, Value};

use super::super::compare;
use super::super::gate::Gate;
use super::super::node::LINK_WAIT;
use super::super::translate::{Request, acknowledged};
use super::{Error, Expected, Member, Place, Player};

/// `WAIT`'s time-out, ms: Redisson's `slavesSyncTimeout`.
const WAIT_WITHIN_MS: u32 = 1000;

/// The connections of callers that were granted the lock and wait for replicas, by client and thread.
pub(super) type Waits = BTreeMap<(u8, u8), Line>;

/// One of them.
pub(super) struct Line {
    node: usize,
    connection: Connection,
    /// `CLIENT ID`, asked for before: `WAIT` is for what its connection did last, a question included.
    id: i64,
}

impl Player {
    /// Sends an acquire on a connection of its own, which may have to wait for replicas.
    pub(super) fn acquire_alone(
        &mut self,
        (client, thread): (u8, u8),
        node: usize,
        (at, words, request): (Place, String, Request),
    ) -> Result<(), Error> {
        self.flush()?;
        let mut connection = self.members[node].node.connect()?;
        let id = read(&ask(&mut connection, redis::cmd("CLIENT").arg("ID"))?)?;
        let answer = ask(&mut connection, &request.call.evalsha())?;
        self.told.hear(node, self.config.lock, &Expected::Reply { at, words, request }, &answer)?;
        self.waits.insert((client, thread), Line { node, connection, id });
        Ok(())
    }

    /// `WAIT` for as many replicas as the rule says.
    pub(super) fn confirm(
        &mut self,
        (client, thread): (u8, u8),
        step: &TraceStep,
        before: &State,
    ) -> Result<(), Error> {
        self.flush()?;
        let known = before.clients.get(usize::from(client)).and_then(|client| client.replicas_known);
        let asked = match self.config.protocol.wait_rule {
            WaitRule::All => self.config.cluster.wait_for,
            WaitRule::Any => known.unwrap_or(1),
        };
        let mut line = self.waits.remove(&(client, thread)).ok_or_else(|| Error::link("nobody waits for replicas"))?;
        line.connection.send_packed_command(&wait_for(asked).get_packed_command()).map_err(Error::redis("WAIT"))?;
        self.wait_heard(line.node)?;
        self.end_wait(line.node, line.id)?;
        let answer = line.connection.recv_response().map_err(Error::redis("WAIT"))?;
        let replicas: i64 = read(&answer)?;

        let at = Place { step: step.number, action: step.action };
        let words = self.interpreter.reply_words(step.answer);
        let name = node_name(u8::try_from(line.node).unwrap_or(u8::MAX));
        self.told.note(|| format!("{name}: WAIT {asked} {WAIT_WITHIN_MS} → {replicas}"));
        self.told.compare(at, || "reply".to_owned(), &words, &acknowledged(replicas));
        Ok(())
    }

    /// Every replica of this node has said what it has, and the node has heard it.
    pub(super) fn wait_heard(&self, node: usize) -> Result<(), Error> {
        let socket = self.members[node].node.socket();
        let gates = self.members.iter().filter_map(Member::link).filter(|gate| gate.master_socket() == socket);
        gates.into_iter().try_for_each(Gate::wait_heard)
    }

    /// Comes back when that connection's `WAIT` has its answer.
    pub(super) fn end_wait(&mut self, node: usize, id: i64) -> Result<(), Error> {
        if self.is_blocked_in_wait(node, id)? {
            let connection = &mut self.members[node].connection;
            ask(connection, redis::cmd("CLIENT").arg("UNBLOCK").arg(id).arg("TIMEOUT"))?;
        }
        Ok(())
    }

    /// Whether the node has read that connection's `WAIT` and not answered it. What it has heard of replicas before it is
    /// asked here, it has looked at: it does after each round of its loop.
    pub(super) fn is_blocked_in_wait(&mut self, node: usize, id: i64) -> Result<bool, Error> {
        let began = Instant::now();
        while began.elapsed() < LINK_WAIT {
            let connection = &mut self.members[node].connection;
            let listed = ask(connection, redis::cmd("CLIENT").arg("LIST").arg("ID").arg(id))?;
            let listed: String = read(&listed)?;
            let field = |name: &str| listed.split_whitespace().find_map(|field| field.strip_prefix(name));
            if field("cmd=") == Some("wait") {
                return Ok(field("flags=").is_some_and(|flags| flags.contains('b')));
            }
            // It is on its way to the server.
            std::thread::sleep(Duration::from_micros(50));
        }
        Err(Error::TimedOut { awaited: "a server to read WAIT".to_owned(), waited: LINK_WAIT })
    }

    /// Where the client has counted its master's replicas, so does `INFO`.
    pub(super) fn count_replicas(&mut self, step: &TraceStep, before: &State) -> Result<(), Error> {
        for (was, is) in before.clients.iter().zip(&step.state.clients) {
            let Some(known) = is.replicas_known.filter(|_| is.replicas_known != was.replicas_known) else { continue };
            self.flush()?;
            let node = self.index_of(&is.master);
            let info = ask(&mut self.members[node].connection, redis::cmd("INFO").arg("replication"))?;
            let connected = compare::connected_replicas(&info)?;
            let at = Place { step: step.number, action: step.action };
            self.told.compare(at, || format!("replicas of {}", is.master), &known.to_string(), &connected.to_string());
        }
        Ok(())
    }
}

/// `WAIT` for so many replicas.
pub(super) fn wait_for(replicas: u8) -> Cmd {
    redis::cmd("WAIT").arg(replicas).arg(WAIT_WITHIN_MS).to_owned()
}

/// Who acquires, if its grant may have to wait for replicas.
pub(super) const fn caller(config: &Config, action: Action) -> Option<(u8, u8)> {
    match action {
        Action::Acquire { client, thread }
        | Action::SecondAsk { client, thread }
        | Action::WakeByMessage { client, thread }
        | Action::WakeByTimer { client, thread }
            if config.cluster.wait_for > 0 =>
        {
            Some((client, thread))
        }
        _ => None,
    }
}

fn ask(connection: &mut Connection, command: &Cmd) -> Result<Value, Error> {
    let answers = connection.req_packed_commands(&command.get_packed_command(), 0, 1);
    let mut answers = answers.map_err(Error::redis("a client that waits for replicas"))?;
    answers.pop().ok_or_else(|| Error::link("no answer"))
}

fn read<T: FromRedisValue>(value: &Value) -> Result<T, Error> {
    redis::from_redis_value_ref(value).map_err(|error| Error::link(error.to_string()))
}
