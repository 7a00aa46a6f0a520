//! One sentinel: a process of our own that goes by the real clock, in a folder where it may rewrite its configuration.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue, Value};
use tempfile::TempDir;

use super::door::Door;
use super::story::Heard;
use super::{DOWN_AFTER, ELECTION_WITHIN, NAME, QUORUM};
use crate::replay::compare::text;
use crate::replay::node::{Log, Reaped, connect, die_with_us, launch, wait_for_answer};
use crate::replay::{Error, Server};

/// A running sentinel. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Sentinel {
    /// `s1` for the first.
    pub(super) name: String,
    /// By which it knows itself, and the others name it when they vote.
    pub(super) id: String,
    door: Door,
    child: Mutex<Child>,
    socket: PathBuf,
    listener: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Sentinel {
    /// Starts one that knows nobody but the master at this port, and writes down what it says.
    pub(super) fn start(server: &Server, index: usize, master: u16, heard: &Arc<Heard>) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix("lockstep-sentinel-")
            .tempdir()
            .map_err(Error::system("create a folder"))?;
        let socket = folder.path().join("s");
        let door = Door::open(&socket)?;
        let log = Log { folder: folder.path().to_owned() };
        let configuration = folder.path().join("sentinel.conf");
        let settings = settings(&socket, &log, door.port(), master);
        fs::write(&configuration, settings).map_err(Error::system("write the configuration of a sentinel"))?;

        let mut child = Reaped(Some(launch(command(server, folder.path(), &configuration, &log)?)?));
        let mut control =
            wait_for_answer(server, &socket, child.running()?, &log).map_err(|error| as_sentinel(error, server))?;
        let said = control.info("server")?;
        // Valkey calls it server_mode.
        let mode = said.get("redis_mode").or(said.get("server_mode")).map_or("nothing", String::as_str);
        if mode != "sentinel" {
            return Err(Error::NoSentinelMode { server: server.to_string(), says: mode.to_owned() });
        }
        let id = control.ask("SENTINEL MYID", redis::cmd("SENTINEL").arg("MYID"))?;
        let listener = listen(&socket, index, heard)?;
        Ok(Self {
            name: format!("s{}", index + 1),
            id,
            door,
            child: Mutex::new(child.keep()?),
            socket,
            listener: Some(listener),
            _folder: folder,
        })
    }

    /// Where the others find it.
    pub(super) const fn port(&self) -> u16 {
        self.door.port()
    }

    /// Asks it something about the master that it watches: `SENTINEL MASTER lockstep`.
    pub(super) fn ask<T: FromRedisValue>(&self, subcommand: &'static str, rest: &[&str]) -> Result<T, Error> {
        let mut connection = connect(&self.socket).map_err(Error::redis("SENTINEL"))?;
        let command = redis::cmd("SENTINEL").arg(subcommand).arg(NAME).arg(rest).to_owned();
        command.query(&mut connection).map_err(Error::redis("SENTINEL"))
    }

    pub(super) fn kill(&self) -> Result<(), Error> {
        let mut child = self.child();
        child.kill().map_err(Error::system("kill a sentinel"))?;
        child.wait().map(drop).map_err(Error::system("await the end of a sentinel"))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.child().try_wait(), Ok(None))
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // Nobody is left to tell; a process we cannot kill dies with us.
        let _ = self.kill();
        if let Some(listener) = self.listener.take() {
            // Its connection ended with the process.
            let _ = listener.join();
        }
    }
}

/// As redis.conf has it. No port of its own: the door's is announced, and leads to the socket.
fn settings(socket: &Path, log: &Log, announced: u16, master: u16) -> String {
    let file = |path: &Path| format!("\"{}\"", path.display());
    [
        "port 0".to_owned(),
        "daemonize no".to_owned(),
        format!("unixsocket {}", file(socket)),
        format!("logfile {}", file(&log.file())),
        format!("dir {}", file(&log.folder)),
        "sentinel announce-ip 127.0.0.1".to_owned(),
        format!("sentinel announce-port {announced}"),
        format!("sentinel monitor {NAME} 127.0.0.1 {master} {QUORUM}"),
        format!("sentinel down-after-milliseconds {NAME} {}", DOWN_AFTER.as_millis()),
        format!("sentinel failover-timeout {NAME} {}", ELECTION_WITHIN.as_millis()),
        String::new(),
    ]
    .join("\n")
}

fn command(server: &Server, folder: &Path, configuration: &Path, log: &Log) -> Result<Command, Error> {
    let console = File::create(log.console()).map_err(Error::system("create a log file"))?;
    let mut command = Command::new(server.path());
    command
        .arg(configuration)
        .arg("--sentinel")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(console.try_clone().map_err(Error::system("share a log file"))?)
        .stdout(console)
        // A terminal sends Ctrl-C to a whole group: it shall reach us alone.
        .process_group(0);
    die_with_us(&mut command);
    Ok(command)
}

fn as_sentinel(error: Error, server: &Server) -> Error {
    match error {
        Error::WouldNotStart { reason, log_tail, .. } => {
            Error::WouldNotStart { server: format!("{server} with --sentinel"), reason, log_tail }
        }
        other => other,
    }
}

/// Writes down all that a sentinel publishes, with the moment when it came.
fn listen(socket: &Path, index: usize, heard: &Arc<Heard>) -> Result<JoinHandle<()>, Error> {
    const FIRST_ANSWER: Duration = Duration::from_secs(10);

    let mut connection = connect(socket).map_err(Error::redis("a new connection"))?;
    connection.set_read_timeout(Some(FIRST_ANSWER)).map_err(Error::redis("a new connection"))?;
    let subscribe = redis::cmd("PSUBSCRIBE").arg("*").get_packed_command();
    connection.send_packed_command(&subscribe).map_err(Error::redis("PSUBSCRIBE"))?;
    connection.recv_response().map_err(Error::redis("PSUBSCRIBE"))?;
    connection.set_read_timeout(None).map_err(Error::redis("PSUBSCRIBE"))?;
    let heard = Arc::clone(heard);
    thread::Builder::new()
        .name(format!("sentinel-{index}"))
        .spawn(move || {
            while let Some((what, about)) = next_said(&mut connection) {
                heard.note(Instant::now(), index, what, about);
            }
        })
        .map_err(|error: io::Error| Error::system("start a thread")(error))
}

/// `pmessage`, the pattern, what happened, and to whom. `None`: the sentinel is gone.
fn next_said(connection: &mut Connection) -> Option<(String, String)> {
    loop {
        let Value::Array(parts) = connection.recv_response().ok()? else { continue };
        if let [_, _, what, about] = parts.as_slice() {
            return Some((text(what)?, text(about)?));
        }
    }
}
