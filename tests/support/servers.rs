//! Private servers, one for each test and version.
//!
//! Which versions: `LOCKSTEP_TEST_SERVERS`, paths with colons between them, else the `redis-server`
//! on `PATH`. A test that finds none fails and says what to do; it never passes for want of a server.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Connection, ConnectionLike};
use tempfile::TempDir;

/// How long a server may take to start, or a message to arrive, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the proof once on every server version, each time on a fresh server.
pub fn on_every_server(proof: impl Fn(&Server)) {
    for binary in binaries() {
        // Shown only when the proof fails, and then one wants to know where.
        println!("on {}", binary.display());
        proof(&Server::start(&binary));
    }
}

/// The server versions to prove things on: at least one.
pub fn binaries() -> Vec<PathBuf> {
    let Some(paths) = env::var_os("LOCKSTEP_TEST_SERVERS") else {
        return vec![PathBuf::from("redis-server")];
    };
    let binaries: Vec<PathBuf> = env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect();
    assert!(!binaries.is_empty(), "LOCKSTEP_TEST_SERVERS is set and names no server");
    binaries
}

/// A server that nobody else knows: its socket lies in a folder of its own, and both go with it.
#[derive(Debug)]
pub struct Server {
    process: Child,
    folder: TempDir,
}

impl Server {
    fn start(binary: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let process = Command::new(binary)
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(folder.path().join("socket"))
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{}: {error}\n`make test` installs the servers; by hand: `apt-get install redis-server`, \
                     or paths in LOCKSTEP_TEST_SERVERS, colons between them",
                    binary.display()
                )
            });
        let mut server = Self { process, folder };
        server.wait_until_it_answers();
        server
    }

    fn wait_until_it_answers(&mut self) {
        let started_at = Instant::now();
        while self.client().get_connection().is_err() {
            let exit = self.process.try_wait().expect("the state of our own child");
            assert!(exit.is_none(), "the server stopped while it started: {exit:?}");
            assert!(started_at.elapsed() < PATIENCE, "the server does not answer after {PATIENCE:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn client(&self) -> Client {
        let socket = self.folder.path().join("socket");
        Client::open(format!("unix:{}", socket.display())).expect("the address of a socket")
    }

    /// A new connection.
    pub fn connect(&self) -> Connection {
        self.client().get_connection().expect("a connection to our own server")
    }

    /// What one command answers: `server.ask("PTTL lock")`.
    pub fn ask<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let mut words = command.split_whitespace();
        let mut asked = redis::cmd(words.next().expect("a command has a name"));
        asked.arg(words.collect::<Vec<_>>());
        asked.query(&mut self.connect()).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// The fields of a hash; none when there is no such key.
    pub fn fields(&self, key: &str) -> BTreeMap<String, i64> {
        self.ask(&format!("HGETALL {key}"))
    }

    /// A subscriber of `channel`, from now on.
    pub fn listen(&self, channel: &str) -> Listener {
        let mut connection = self.connect();
        connection.set_read_timeout(Some(PATIENCE)).expect("a read limit on a socket");
        // The crate's own subscription ends with a borrow; this one lasts as long as the connection.
        let subscribe = redis::cmd("SUBSCRIBE").arg(channel).get_packed_command();
        connection.req_packed_command(&subscribe).expect("a subscription");
        Listener { connection, sender: self.connect(), channel: channel.into() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing in it is worth a clean shutdown. Both fail only if it has stopped already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One subscriber.
pub struct Listener {
    connection: Connection,
    sender: Connection,
    channel: String,
}

impl Listener {
    /// All that was said on the channel since the last time.
    pub fn heard(&mut self) -> Vec<String> {
        // Messages keep their order: what was not heard before our own last word was not said.
        let said: i64 =
            redis::cmd("PUBLISH").arg(&self.channel).arg("that is all").query(&mut self.sender).expect("a message");
        assert_eq!(said, 1, "somebody listens");
        let mut messages = Vec::new();
        loop {
            let pushed = self.connection.recv_response().expect("a message");
            let (_, _, message): (String, String, String) = redis::from_redis_value(pushed).expect("a message");
            if message == "that is all" {
                return messages;
            }
            messages.push(message);
        }
    }
}
