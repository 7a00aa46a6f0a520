//! Real servers that run freely: with the machine's clock, an open replication link and their own timers.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::replay::{OwnProcess, ServerConnection, ServerProgram};
use redis::{ConnectionLike as _, Value, cmd};
use tempfile::TempDir;

/// How long a server may take to start, or a replica to have its first copy.
const PATIENCE: Duration = Duration::from_secs(10);

/// One server.
pub struct FreeNode {
    process: OwnProcess,
    folder: TempDir,
    port: u16,
}

impl FreeNode {
    /// Starts a server with the settings that Redis has by default, but for where it writes.
    pub fn start(server: &ServerProgram) -> Self {
        let folder = TempDir::new().expect("a folder");
        let port = free_port();
        let mut command = Command::new(server.path());
        let port_text = port.to_string();
        let settings = [
            ("--port", port_text.as_str()),
            ("--bind", "127.0.0.1"),
            ("--save", ""),
            ("--appendonly", "no"),
            ("--repl-diskless-sync-delay", "0"),
            ("--logfile", "log"),
        ];
        for (name, value) in settings {
            command.args([name, value]);
        }
        command.arg("--unixsocket").arg(folder.path().join("s")).arg("--dir").arg(folder.path());
        command.current_dir(folder.path());
        let process = OwnProcess::start(command).expect("a server starts");
        let node = Self { process, folder, port };
        let begin = Instant::now();
        while node.try_connect().is_none() {
            assert!(begin.elapsed() < PATIENCE, "the server answers");
            thread::sleep(Duration::from_millis(5));
        }
        node
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// A connection, unless the server is dead.
    pub fn try_connect(&self) -> Option<ServerConnection> {
        let mut connection = ServerConnection::open(&self.socket(), Arc::from("a free server")).ok()?;
        connection.req_command(&cmd("PING")).ok()?;
        Some(connection)
    }

    /// The answer of a server that lives.
    pub fn ask(&self, command: &redis::Cmd) -> Value {
        let mut connection = self.try_connect().expect("the server lives");
        connection.req_command(command).expect("an answer")
    }

    /// Makes it follow another one, and waits for the copy.
    pub fn follow(&self, master: &Self) {
        self.ask(cmd("REPLICAOF").arg("127.0.0.1").arg(master.port));
        let begin = Instant::now();
        while !self.says("master_link_status:up") {
            assert!(begin.elapsed() < PATIENCE, "the replica has its copy");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn says(&self, line: &str) -> bool {
        let Value::BulkString(text) = self.ask(cmd("INFO").arg("replication")) else { return false };
        String::from_utf8_lossy(&text).lines().any(|found| found == line)
    }

    /// Kills it, as a power failure does.
    pub fn kill(&mut self) {
        self.process.kill().expect("our own process ends");
    }
}

/// A port that nobody listens on now.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
