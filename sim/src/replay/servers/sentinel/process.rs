//! One sentinel: a process of our own that uses the real clock, with a folder in which it may rewrite its configuration.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use redis::{Connection, FromRedisValue, Value};

use super::event_log::EventLog;
use super::settings::{DOWN_AFTER, ELECTION_WITHIN, MASTER_NAME, QUORUM};
use crate::replay::error::ReplayError;
use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::control::connect;
use crate::replay::servers::limits::ANSWER_WAIT;
use crate::replay::servers::lockfile_dir::LockfileDir;
use crate::replay::servers::process::{ServerLog, StartingChild};
use crate::replay::servers::server::ServerProgram;
use crate::replay::value_text::value_text;

/// A running sentinel. Dropping it kills it.
#[derive(Debug)]
pub struct SentinelProcess {
    /// `s1` for the first.
    pub name: String,
    /// Its id, by which the other sentinels name it when they vote.
    pub id: String,
    address: AddressProxy,
    child: Mutex<Child>,
    socket: PathBuf,
    listener: Option<JoinHandle<()>>,
    _folder: LockfileDir,
}

impl SentinelProcess {
    /// Starts a sentinel that is given only the port of the master, and records what it publishes.
    ///
    /// # Errors
    /// `WouldNotStart`; `NoSentinelMode`; `System`; `Redis`.
    pub fn start(
        server: &ServerProgram,
        index: usize,
        master: u16,
        events: &Arc<EventLog>,
    ) -> Result<Self, ReplayError> {
        let folder = LockfileDir::new().map_err(ReplayError::system("create a folder"))?;
        let socket = folder.path().join("s");
        let address = AddressProxy::open(&socket)?;
        let log = ServerLog { folder: folder.path().to_owned() };
        let configuration = folder.path().join("sentinel.conf");
        let settings = settings(&socket, &log, address.port(), master);
        fs::write(&configuration, settings).map_err(ReplayError::system("write the configuration of a sentinel"))?;

        let mut child = StartingChild::start(command(server, folder.path(), &configuration, &log)?)?;
        let mut control =
            child.wait_for_answer(server, &socket, &log).map_err(|error| name_sentinel_mode(error, server))?;
        let info = control.info("server")?;
        // Valkey calls it server_mode.
        let mode = info.get("redis_mode").or(info.get("server_mode")).map_or("nothing", String::as_str);
        if mode != "sentinel" {
            return Err(ReplayError::NoSentinelMode { server: server.to_string(), says: mode.to_owned() });
        }
        let id = control.ask("SENTINEL MYID", redis::cmd("SENTINEL").arg("MYID"))?;
        let listener = listen(&socket, index, events)?;
        Ok(Self {
            name: format!("s{}", index + 1),
            id,
            address,
            child: Mutex::new(child.keep()?),
            socket,
            listener: Some(listener),
            _folder: folder,
        })
    }

    /// The port where the other sentinels reach it.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Asks about the master that it watches: `SENTINEL MASTER lockstep`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn ask<T: FromRedisValue>(&self, subcommand: &'static str, rest: &[&str]) -> Result<T, ReplayError> {
        let mut connection = connect(&self.socket).map_err(ReplayError::redis("SENTINEL"))?;
        let command = redis::cmd("SENTINEL").arg(subcommand).arg(MASTER_NAME).arg(rest).to_owned();
        command.query(&mut connection).map_err(ReplayError::redis("SENTINEL"))
    }

    /// Kills the process.
    ///
    /// # Errors
    /// `System` if the kernel refuses.
    pub fn kill(&self) -> Result<(), ReplayError> {
        let mut child = self.child();
        child.kill().map_err(ReplayError::system("kill a sentinel"))?;
        child.wait().map(drop).map_err(ReplayError::system("await the end of a sentinel"))
    }

    /// Whether the process lives.
    pub fn is_running(&self) -> bool {
        matches!(self.child().try_wait(), Ok(None))
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SentinelProcess {
    fn drop(&mut self) {
        // There is nobody to report an error to, and the kernel ends the process with ours anyway.
        let _ = self.kill();
        if let Some(listener) = self.listener.take() {
            // Its connection ended with the process.
            let _ = listener.join();
        }
    }
}

/// The configuration, in the syntax of redis.conf. The sentinel has no port; it announces that of its address proxy.
fn settings(socket: &Path, log: &ServerLog, announced: u16, master: u16) -> String {
    let file = |path: &Path| format!("\"{}\"", path.display());
    [
        "port 0".to_owned(),
        "daemonize no".to_owned(),
        format!("unixsocket {}", file(socket)),
        format!("logfile {}", file(&log.file())),
        format!("dir {}", file(&log.folder)),
        "sentinel announce-ip 127.0.0.1".to_owned(),
        format!("sentinel announce-port {announced}"),
        format!("sentinel monitor {MASTER_NAME} 127.0.0.1 {master} {QUORUM}"),
        format!("sentinel down-after-milliseconds {MASTER_NAME} {}", DOWN_AFTER.as_millis()),
        format!("sentinel failover-timeout {MASTER_NAME} {}", ELECTION_WITHIN.as_millis()),
        String::new(),
    ]
    .join("\n")
}

fn command(
    server: &ServerProgram,
    folder: &Path,
    configuration: &Path,
    log: &ServerLog,
) -> Result<Command, ReplayError> {
    let mut command = Command::new(server.path());
    command.arg(configuration).arg("--sentinel").current_dir(folder);
    log.redirect(&mut command)?;
    Ok(command)
}

fn name_sentinel_mode(error: ReplayError, server: &ServerProgram) -> ReplayError {
    if let ReplayError::WouldNotStart { reason, log_tail, .. } = error {
        return ReplayError::WouldNotStart { server: format!("{server} with --sentinel"), reason, log_tail };
    }
    error
}

/// Records everything that a sentinel publishes, with the time of its arrival.
fn listen(socket: &Path, index: usize, events: &Arc<EventLog>) -> Result<JoinHandle<()>, ReplayError> {
    let mut connection = connect(socket).map_err(ReplayError::redis("a new connection"))?;
    connection.set_read_timeout(Some(ANSWER_WAIT)).map_err(ReplayError::redis("a new connection"))?;
    let subscribe = redis::cmd("PSUBSCRIBE").arg("*").get_packed_command();
    connection.send_packed_command(&subscribe).map_err(ReplayError::redis("PSUBSCRIBE"))?;
    connection.recv_response().map_err(ReplayError::redis("PSUBSCRIBE"))?;
    // Events come when they come: this thread waits for them until the sentinel's end closes the connection.
    connection.set_read_timeout(None).map_err(ReplayError::redis("PSUBSCRIBE"))?;
    let events = Arc::clone(events);
    thread::Builder::new()
        .name(format!("sentinel-{index}"))
        .spawn(move || {
            while let Some((what, about)) = next_event(&mut connection) {
                events.record(Instant::now(), index, what, about);
            }
        })
        .map_err(|error: io::Error| ReplayError::system("start a thread")(error))
}

/// A message has four parts: `pmessage`, the pattern, what happened, and to which node. `None`: the sentinel has ended.
fn next_event(connection: &mut Connection) -> Option<(String, String)> {
    loop {
        let Value::Array(parts) = connection.recv_response().ok()? else { continue };
        if let [_, _, what, about] = parts.as_slice() {
            return Some((value_text(what)?, value_text(about)?));
        }
    }
}
