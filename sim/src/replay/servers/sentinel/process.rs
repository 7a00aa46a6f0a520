//! One sentinel: a process of our own that uses the real clock, with a folder in which it may rewrite its configuration.

use std::fs;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use redis::{FromRedisValue, Value};

use super::event_log::EventLog;
use super::settings::{DOWN_AFTER, ELECTION_WITHIN, MASTER_NAME, QUORUM};
use crate::replay::error::ReplayError;
use crate::replay::servers::address_proxy::AddressProxy;
use crate::replay::servers::connection::ServerConnection;
use crate::replay::servers::lockfile_dir::LockfileDir;
use crate::replay::servers::process::{OwnProcess, ServerLog};
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
    process: Mutex<OwnProcess>,
    socket: PathBuf,
    listener: Option<(UnixStream, JoinHandle<()>)>,
    described: Arc<str>,
    _folder: LockfileDir,
}

impl SentinelProcess {
    /// Starts a sentinel that is given only the port of the master, and records what it publishes.
    ///
    /// # Errors
    /// `WouldNotStart`; `NotItself`; `NoSentinelMode`; `System`; `Redis`.
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

        let mut process = OwnProcess::start(command(server, folder.path(), &configuration, &log)?)?;
        let mut control = process.wait_for_answer(&format!("{server} with --sentinel"), &socket, &log)?;
        let info = control.info("server")?;
        // Valkey calls it server_mode.
        let mode = info.get("redis_mode").or(info.get("server_mode")).map_or("nothing", String::as_str);
        if mode != "sentinel" {
            return Err(ReplayError::NoSentinelMode { server: server.to_string(), says: mode.to_owned() });
        }
        let id = control.ask("SENTINEL MYID", redis::cmd("SENTINEL").arg("MYID"))?;
        let described: Arc<str> = format!("sentinel s{}, {}", index + 1, process.described(&server.to_string())).into();
        let listener = listen(&socket, &described, index, events)?;
        Ok(Self {
            name: format!("s{}", index + 1),
            id,
            address,
            process: Mutex::new(process),
            socket,
            listener: Some(listener),
            described,
            _folder: folder,
        })
    }

    /// The port where the other sentinels reach it.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Asks about the master that it watches: `SENTINEL MASTER lockstep`.
    ///
    /// # Errors
    /// `Redis`.
    pub fn ask<T: FromRedisValue>(&self, subcommand: &'static str, rest: &[&str]) -> Result<T, ReplayError> {
        let connection = ServerConnection::open(&self.socket, Arc::clone(&self.described));
        let mut connection = connection.map_err(ReplayError::redis("SENTINEL"))?;
        let command = redis::cmd("SENTINEL").arg(subcommand).arg(MASTER_NAME).arg(rest).to_owned();
        command.query(&mut connection).map_err(ReplayError::redis("SENTINEL"))
    }

    /// Kills the process.
    ///
    /// # Errors
    /// `TimedOut` if it does not end; `System` if the kernel refuses.
    pub fn kill(&self) -> Result<(), ReplayError> {
        self.process().kill()
    }

    /// Whether the process lives.
    pub fn is_running(&self) -> bool {
        self.process().is_running()
    }

    fn process(&self) -> MutexGuard<'_, OwnProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SentinelProcess {
    fn drop(&mut self) {
        // There is nobody to report an error to, and the kernel ends the process with ours anyway.
        let _ = self.kill();
        if let Some((connection, listener)) = self.listener.take() {
            // Also where the process did not end.
            let _ = connection.shutdown(Shutdown::Both);
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

/// Records everything that a sentinel publishes, with the time of its arrival.
fn listen(
    socket: &Path,
    described: &Arc<str>,
    index: usize,
    events: &Arc<EventLog>,
) -> Result<(UnixStream, JoinHandle<()>), ReplayError> {
    let connection = ServerConnection::open(socket, Arc::clone(described));
    let mut connection = connection.map_err(ReplayError::redis("a new connection"))?;
    let handle = connection.handle().map_err(ReplayError::system("share a connection"))?;
    let subscribe = redis::cmd("PSUBSCRIBE").arg("*").get_packed_command();
    connection.send_packed_command(&subscribe).map_err(ReplayError::redis("PSUBSCRIBE"))?;
    connection.recv_response().map_err(ReplayError::redis("PSUBSCRIBE"))?;
    // Events come when they come: this thread waits for them until the sentinel's end closes the connection.
    connection.set_patience(Duration::MAX);
    let events = Arc::clone(events);
    let listener = thread::Builder::new()
        .name(format!("sentinel-{index}"))
        .spawn(move || {
            while let Some((what, about)) = next_event(&mut connection) {
                events.record(Instant::now(), index, what, about);
            }
        })
        .map_err(ReplayError::system("start a thread"))?;
    Ok((handle, listener))
}

/// A message has four parts: `pmessage`, the pattern, what happened, and to which node. `None`: the sentinel has ended.
fn next_event(connection: &mut ServerConnection) -> Option<(String, String)> {
    loop {
        let Value::Array(parts) = connection.recv_response().ok()? else { continue };
        if let [_, _, what, about] = parts.as_slice() {
            return Some((value_text(what)?, value_text(about)?));
        }
    }
}
