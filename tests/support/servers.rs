//! Private servers with a frozen clock, one for each test and version.
//!
//! The versions are the paths in `LOCKSTEP_TEST_SERVERS`, separated by colons, or else the server that `lockstep`
//! itself finds. A test that finds no server fails and says what to do.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use lockstep_sim::replay::{self, ServerConnection, ServerNode};
use redis::ConnectionLike as _;

/// A day in 2033, in milliseconds since 1970: far from the machine's own time, so that the two cannot be confused.
pub const START_MS: i64 = 2_000_000_000_000;

/// The server versions to test on: at least one. Each is asked for its version once, and not wherever a test needs one of them: that
/// is a process of its own.
pub fn servers() -> Vec<replay::ServerProgram> {
    static FOUND: OnceLock<Vec<replay::ServerProgram>> = OnceLock::new();
    FOUND.get_or_init(find_servers).clone()
}

fn find_servers() -> Vec<replay::ServerProgram> {
    let paths: Vec<Option<PathBuf>> = match env::var_os("LOCKSTEP_TEST_SERVERS") {
        None => vec![None],
        Some(paths) => env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).map(Some).collect(),
    };
    assert!(!paths.is_empty(), "LOCKSTEP_TEST_SERVERS is set and names no server");
    let find = |path: &Option<PathBuf>| {
        replay::ServerProgram::find(path.as_deref())
            .unwrap_or_else(|error| panic!("{error}\n`make test` installs the servers that the tests use"))
    };
    paths.iter().map(find).collect()
}

/// Runs the test once for every server version.
pub fn for_every_version(proof: impl Fn(&replay::ServerProgram)) {
    for server in servers() {
        // The output is shown only when the test fails, and then names the server.
        println!("on {server}");
        proof(&server);
    }
}

/// Runs the test on every server version at the same time: for a test that waits most of its time, as for an election.
pub fn for_every_version_at_once(proof: impl Fn(&replay::ServerProgram) + Sync) {
    thread::scope(|scope| {
        for server in servers() {
            let proof = &proof;
            // A panic names its thread, and so the server.
            let thread = thread::Builder::new().name(server.to_string());
            thread.spawn_scoped(scope, move || proof(&server)).expect("a thread for each server");
        }
    });
}

/// Runs the test once on every server version, each time on a fresh server.
pub fn on_every_server(proof: impl Fn(&TestServer) + Sync) {
    for_every_version_at_once(|version| {
        let node = ServerNode::start(version, START_MS).unwrap_or_else(|error| panic!("{error}"));
        proof(&TestServer { node });
    });
}

/// A server used by one test only, with a frozen clock.
#[derive(Debug)]
pub struct TestServer {
    node: ServerNode,
}

impl TestServer {
    /// A new connection.
    pub fn connect(&self) -> ServerConnection {
        self.node.connect().expect("a connection to our own server")
    }

    /// Advances the server's clock by this much.
    pub fn wait_ms(&self, ms: i64) {
        self.node.advance_clock(ms).expect("our own server sees its clock");
    }

    /// The reply to one command: `server.ask("PTTL lock")`.
    pub fn ask<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let mut words = command.split_whitespace();
        let mut asked = redis::cmd(words.next().expect("a command has a name"));
        asked.arg(words.collect::<Vec<_>>());
        asked.query(&mut self.connect()).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Makes the server a replica of a master that does not exist: only its role matters.
    pub fn make_replica(&self) {
        self.ask::<()>("REPLICAOF 127.0.0.1 1");
    }

    /// The fields of a hash; empty if there is no such key.
    pub fn fields(&self, key: &str) -> BTreeMap<String, i64> {
        self.ask(&format!("HGETALL {key}"))
    }

    /// Subscribes to `channel` from now on.
    pub fn listen(&self, channel: &str) -> Listener {
        let mut connection = self.connect();
        // The crate's own subscription ends with a borrow; this one lasts as long as the connection.
        let subscribe = redis::cmd("SUBSCRIBE").arg(channel).get_packed_command();
        connection.req_packed_command(&subscribe).expect("a subscription");
        Listener { connection, sender: self.connect(), channel: channel.into() }
    }
}

/// A subscriber.
pub struct Listener {
    connection: ServerConnection,
    sender: ServerConnection,
    channel: String,
}

impl Listener {
    /// The messages on the channel since the last call.
    pub fn messages(&mut self) -> Vec<String> {
        // Messages keep their order: a message that does not arrive before this one was not published.
        let receivers: i64 =
            redis::cmd("PUBLISH").arg(&self.channel).arg("that is all").query(&mut self.sender).expect("a message");
        // A subscriber that has just disconnected may still be counted.
        assert!(receivers >= 1, "there is a subscriber");
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
