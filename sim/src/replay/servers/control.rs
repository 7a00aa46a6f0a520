//! A connection by which the harness asks and steers a node, separate from those of the clients.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use redis::{FromRedisValue, Value};

use super::connection::ServerConnection;
use super::limits::LINK_WAIT;
use crate::replay::error::ReplayError;

/// What a node is *now*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerRole {
    /// It accepts writes.
    Master,
    /// It follows a master.
    Replica,
}

/// `SCAN` over all keys: a master deletes those that have expired, and replicates the deletions.
pub fn scan_every_key() -> redis::Cmd {
    redis::cmd("SCAN").arg(&["0", "COUNT", "1000"]).to_owned()
}

/// The harness's own connection to a server.
#[derive(Debug)]
pub struct Control(ServerConnection);

impl Control {
    /// Steers by this connection.
    pub fn new(connection: ServerConnection) -> Self {
        Self(connection)
    }

    /// Sends a command and reads the answer.
    ///
    /// # Errors
    /// `Redis`, which says what was `asked`.
    pub fn ask<T: FromRedisValue>(&mut self, asked: &'static str, command: &redis::Cmd) -> Result<T, ReplayError> {
        command.query(&mut self.0).map_err(ReplayError::redis(asked))
    }

    /// The server's time, in milliseconds since 1970.
    ///
    /// # Errors
    /// `Redis`.
    pub fn time_ms(&mut self) -> Result<i64, ReplayError> {
        let (seconds, microseconds): (i64, i64) = self.ask("TIME", &redis::cmd("TIME"))?;
        // The harness sets whole milliseconds. Valkey adds the microseconds since it last read the clock.
        Ok(seconds * 1000 + microseconds / 1000)
    }

    /// The fields of `INFO replication`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn replication(&mut self) -> Result<BTreeMap<String, String>, ReplayError> {
        self.info("replication")
    }

    /// The fields of one section of `INFO`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn info(&mut self, section: &str) -> Result<BTreeMap<String, String>, ReplayError> {
        let text: String = self.ask("INFO", redis::cmd("INFO").arg(section))?;
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Ok(fields.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect())
    }

    /// The role, and for a replica whose link is up the offset that it has applied.
    ///
    /// # Errors
    /// `Redis`; `Link` if the answer is not one to `ROLE`.
    pub fn role(&mut self) -> Result<(ServerRole, Option<u64>), ReplayError> {
        let answer: Vec<Value> = self.ask("ROLE", &redis::cmd("ROLE"))?;
        match &answer[..] {
            [Value::BulkString(role), ..] if role == b"master" => Ok((ServerRole::Master, None)),
            [_, _, _, _, Value::Int(offset)] => Ok((ServerRole::Replica, u64::try_from(*offset).ok())),
            _ => Err(ReplayError::link(format!("{answer:?} is not an answer to ROLE"))),
        }
    }

    /// The offset that a replica has applied.
    ///
    /// # Errors
    /// `Link` if it is not linked to a master; `Redis`.
    pub fn applied_offset(&mut self) -> Result<u64, ReplayError> {
        self.role()?.1.ok_or_else(|| ReplayError::link("the replica has no link to its master"))
    }

    /// The replication offset in bytes: what a master wrote, or what a replica has applied.
    ///
    /// # Errors
    /// `Link` if the server does not report it; `Redis`.
    pub fn replication_offset(&mut self) -> Result<u64, ReplayError> {
        let offset = self.replication()?.get("master_repl_offset").and_then(|offset| offset.parse().ok());
        offset.ok_or_else(|| ReplayError::link("the server does not report its master_repl_offset"))
    }

    /// Waits until a replica has applied its master's stream up to `offset`. The replica itself is asked: it reports to its
    /// master only once a second.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn wait_offset(&mut self, offset: u64) -> Result<(), ReplayError> {
        self.wait(LINK_WAIT, &format!("a replica to apply its stream up to offset {offset}"), |control| {
            Ok(control.role()?.1.is_some_and(|applied| applied >= offset))
        })
    }

    /// Waits until a master has received, since its clock moved last, that the replica announced as `port` has applied
    /// this offset.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn wait_acknowledged(&mut self, port: u16, offset: u64) -> Result<(), ReplayError> {
        let awaited = format!("a master to receive that its replica has applied offset {offset}");
        self.wait(LINK_WAIT, &awaited, |master| {
            let received = master.replica_field(port, "offset")?.and_then(|offset| offset.parse::<u64>().ok());
            let lag_seconds = master.replica_field(port, "lag")?;
            Ok(received.is_some_and(|received| received >= offset) && lag_seconds.as_deref() == Some("0"))
        })
    }

    /// Waits until a master lists the replica announced as `port` as online.
    ///
    /// # Errors
    /// `TimedOut`; `Redis`.
    pub fn wait_online(&mut self, port: u16) -> Result<(), ReplayError> {
        self.wait(LINK_WAIT, "a master to list its replica as online", |master| {
            Ok(master.replica_field(port, "state")?.is_some_and(|state| state == "online"))
        })
    }

    /// Makes a master count its good replicas now. It does so once a second of real time, and whenever a limit that
    /// concerns them changes: so one limit is changed and changed back, in one pipeline.
    ///
    /// # Errors
    /// `Redis`.
    pub fn recount_replicas(&mut self) -> Result<(), ReplayError> {
        let asked: (String, u32) =
            self.ask("CONFIG GET", redis::cmd("CONFIG").arg("GET").arg("min-replicas-max-lag"))?;
        let limit = |seconds: u32| {
            let mut command = redis::cmd("CONFIG");
            command.arg("SET").arg("min-replicas-max-lag").arg(seconds);
            command
        };
        let mut pipeline = redis::pipe();
        pipeline.add_command(limit(asked.1 + 1)).add_command(limit(asked.1));
        pipeline.query::<()>(&mut self.0).map_err(ReplayError::redis("CONFIG SET"))
    }

    /// What a master reports of one replica: `slave0:ip=127.0.0.1,port=…,state=online,offset=…,lag=…`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn replica_field(&mut self, port: u16, name: &str) -> Result<Option<String>, ReplayError> {
        let replication = self.replication()?;
        let ours = format!("port={port}");
        let replica = replication.values().find(|replica| replica.split(',').any(|field| field == ours));
        let mut fields = replica.into_iter().flat_map(|replica| replica.split(','));
        Ok(fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)))
    }

    /// Asks repeatedly until the answer is yes: at once, then after pauses that grow to a millisecond.
    ///
    /// # Errors
    /// `TimedOut`, which names what was `awaited`; what `reached` fails with.
    pub fn wait(
        &mut self,
        limit: Duration,
        awaited: &str,
        mut reached: impl FnMut(&mut Self) -> Result<bool, ReplayError>,
    ) -> Result<(), ReplayError> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !reached(self)? {
            if begin.elapsed() > limit {
                return Err(ReplayError::TimedOut { awaited: awaited.to_owned(), waited: begin.elapsed() });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(())
    }
}
