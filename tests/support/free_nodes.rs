//! Real servers that run freely: with the machine's clock, an open replication link and their own timers.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_sim::replay::{ClockOffset, OwnProcess, ServerConnection, ServerProgram};
use redis::{ConnectionLike as _, Value, cmd};
use tempfile::TempDir;

/// How long a server may take to start, or a replica to have its first copy.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether something has happened.
const SLICE: Duration = Duration::from_millis(5);

/// What a server writes to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// Nothing.
    None,
    /// An AOF, synced every second.
    Aof,
    /// A snapshot, when it is told to.
    Snapshot,
}

/// What a replica does with the data of its master.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CopyStage {
    /// It has not begun to copy them.
    NotBegun,
    /// It copies or loads them.
    Begun,
    /// It has them, and what was written since up to this offset.
    UpTo(u64),
}

/// One server.
pub struct FreeNode {
    program: PathBuf,
    disk: Disk,
    process: Mutex<OwnProcess>,
    folder: TempDir,
    /// Nothing: it lives by the clock of the machine.
    clock: Option<ClockOffset>,
    port: u16,
    /// The port of the master that its configuration file names; 0: none.
    master_on_file: AtomicU16,
}

/// Waits until something is so.
pub fn wait_until(awaited: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{awaited}");
        thread::sleep(SLICE);
    }
}

impl FreeNode {
    /// Starts a server with the settings that Redis has by default, but for where and what it writes. `clock`: how its clock
    /// is made one of its own, in this folder.
    pub fn start(server: &ServerProgram, disk: Disk, clock: impl FnOnce(&Path) -> Option<ClockOffset>) -> Self {
        let folder = TempDir::new().expect("a folder");
        let (program, port, clock) = (server.path().to_owned(), free_port(), clock(folder.path()));
        let process = Mutex::new(
            OwnProcess::start(command(&program, &folder, port, disk, clock.as_ref())).expect("a server starts"),
        );
        let node = Self { program, disk, process, folder, clock, port, master_on_file: AtomicU16::new(0) };
        node.wait_until_it_answers();
        node
    }

    /// Somebody who looks for a free port may have this one for a moment; then the server ends at once, and is started again.
    fn wait_until_it_answers(&self) {
        wait_until("the server answers", || {
            if !self.with_process(|process| process.is_running()) {
                self.launch_again();
            }
            self.try_connect().is_some()
        });
    }

    fn launch_again(&self) {
        self.with_process(|process| {
            let mut command = command(&self.program, &self.folder, self.port, self.disk, self.clock.as_ref());
            let master = self.master_on_file.load(Ordering::SeqCst);
            if master > 0 {
                command.args(["--replicaof", "127.0.0.1", &master.to_string()]);
            }
            *process = OwnProcess::start(command).expect("a server starts");
        });
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn with_process<T>(&self, act: impl FnOnce(&mut OwnProcess) -> T) -> T {
        act(&mut self.process.lock().expect("nobody panics"))
    }

    /// A connection, unless the server is dead or has not read its data yet. A server that stands still answers later.
    pub fn try_connect(&self) -> Option<ServerConnection> {
        let mut connection = ServerConnection::open(&self.socket(), Arc::from("a free server")).ok()?;
        // After a failed save a server refuses PING.
        let answer = connection.req_command(cmd("EXISTS").arg("nothing")).ok()?;
        (answer == Value::Int(0)).then_some(connection)
    }

    /// The answer of a server that lives.
    pub fn ask(&self, command: &redis::Cmd) -> Value {
        let mut connection = ServerConnection::open(&self.socket(), Arc::from("a free server")).expect("it lives");
        connection.req_command(command).expect("an answer")
    }

    /// The port of the server.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Makes it follow the one at this port.
    pub fn begin_to_follow(&self, port: u16) {
        self.ask(cmd("REPLICAOF").arg("127.0.0.1").arg(port));
    }

    /// Makes it follow the one at this port, and waits for the copy.
    pub fn follow(&self, port: u16) {
        self.begin_to_follow(port);
        wait_until("the replica has its copy", || self.says("replication", "master_link_status:up"));
    }

    /// Makes it a master.
    pub fn promote(&self) {
        self.ask(cmd("REPLICAOF").arg("NO").arg("ONE"));
    }

    /// Whether it says that it is master; nothing: it does not answer.
    pub fn is_master(&self) -> Option<bool> {
        let Value::Array(role) = self.try_connect()?.req_command(&cmd("ROLE")).ok()? else { return None };
        Some(role.first() == Some(&Value::BulkString(b"master".to_vec())))
    }

    /// How many replicas it takes for linked.
    pub fn linked_replicas(&self) -> usize {
        let Value::BulkString(text) = self.ask(cmd("INFO").arg("replication")) else { return 0 };
        String::from_utf8_lossy(&text).matches("state=online").count()
    }

    /// How far it is with the copy of a master that it was told to follow; nothing: it does not answer.
    pub fn copy_stage(&self) -> Option<CopyStage> {
        let info = self.replication_info()?;
        let number = |field: &str| field_of(&info, field)?.parse().ok();
        Some(match (field_of(&info, "master_link_status"), field_of(&info, "master_sync_in_progress")) {
            (Some("up"), _) => CopyStage::UpTo(number("slave_repl_offset")?),
            (Some(_), Some("0")) => CopyStage::NotBegun,
            _ => CopyStage::Begun,
        })
    }

    /// How much it has written for its replicas; nothing: it does not answer.
    pub fn written_offset(&self) -> Option<u64> {
        field_of(&self.replication_info()?, "master_repl_offset")?.parse().ok()
    }

    fn replication_info(&self) -> Option<String> {
        let answer = self.try_connect()?.req_command(cmd("INFO").arg("replication")).ok()?;
        let Value::BulkString(text) = answer else { return None };
        String::from_utf8(text).ok()
    }

    fn says(&self, section: &str, line: &str) -> bool {
        let Value::BulkString(text) = self.ask(cmd("INFO").arg(section)) else { return false };
        String::from_utf8_lossy(&text).lines().any(|found| found == line)
    }

    /// Changes a setting.
    pub fn set(&self, setting: &str, value: &str) {
        let answer = self.ask(cmd("CONFIG").arg("SET").arg(setting).arg(value));
        assert_eq!(answer, Value::Okay, "CONFIG SET {setting} {value}");
    }

    /// Makes its save fail, so that it refuses writes: a folder is in the place of the dump.
    pub fn refuse_writes(&self) {
        fs::create_dir(self.dump()).expect("a folder");
        self.set("save", "3600 1000000");
        self.save("err");
    }

    /// Makes a save succeed, so that it accepts writes.
    pub fn accept_writes(&self) {
        fs::remove_dir(self.dump()).expect("the folder goes");
        self.save("ok");
    }

    fn save(&self, ended: &str) {
        self.ask(&cmd("BGSAVE"));
        wait_until("the save ends", || {
            self.says("persistence", "rdb_bgsave_in_progress:0")
                && self.says("persistence", &format!("rdb_last_bgsave_status:{ended}"))
        });
    }

    fn dump(&self) -> PathBuf {
        self.folder.path().join("dump.rdb")
    }

    /// Its clock jumps: ahead, or back if this is negative.
    pub fn jump_clock(&self, ms: i64) {
        self.clock.as_ref().expect("it has a clock of its own").jump(ms);
    }

    /// Makes it stand still.
    pub fn pause(&self) {
        self.with_process(|process| process.pause()).expect("our own process stops");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.with_process(|process| process.resume());
    }

    /// Tells it to end, and waits until it has begun to: it waits for its replicas, or is gone.
    pub fn tell_to_end(&self) {
        self.with_process(|process| process.tell_to_end()).expect("our own process is told");
        wait_until("the server begins to end", || {
            let Some(mut connection) = self.try_connect() else { return true };
            let Ok(Value::BulkString(text)) = connection.req_command(cmd("INFO").arg("server")) else { return true };
            String::from_utf8_lossy(&text).contains("shutdown_in_milliseconds")
        });
    }

    /// Waits until it has ended.
    pub fn wait_for_end(&self) {
        self.with_process(|process| process.wait_for_end(|| ())).expect("it ends");
    }

    /// Kills it.
    pub fn kill(&self) {
        self.with_process(OwnProcess::kill).expect("our own process ends");
    }

    /// Its configuration file names the master at this port from now on.
    pub fn write_master_on_file(&self, port: u16) {
        self.master_on_file.store(port, Ordering::SeqCst);
    }

    /// Whether it has as many replicas as it needs to write, by its last count.
    pub fn counts_a_replica(&self) -> bool {
        self.says("replication", "min_slaves_good_slaves:1")
    }

    /// Starts it again once it is dead, and waits until it answers.
    pub fn restart(&self) {
        self.launch_again();
        self.wait_until_it_answers();
    }
}

fn command(program: &PathBuf, folder: &TempDir, port: u16, disk: Disk, clock: Option<&ClockOffset>) -> Command {
    let mut command = Command::new(program);
    let port_text = port.to_string();
    let settings = [
        ("--port", port_text.as_str()),
        ("--bind", "127.0.0.1"),
        ("--save", ""),
        ("--appendonly", if disk == Disk::Aof { "yes" } else { "no" }),
        ("--repl-diskless-sync-delay", "0"),
        ("--logfile", "log"),
    ];
    for (name, value) in settings {
        command.args([name, value]);
    }
    command.arg("--unixsocket").arg(folder.path().join("s")).arg("--dir").arg(folder.path());
    command.current_dir(folder.path());
    if let Some(clock) = clock {
        clock.apply_to(&mut command);
    }
    command
}

fn field_of<'a>(info: &'a str, field: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
}

/// A port that nobody listens on now, and nobody is given as the end of a connection before it is used: Linux takes those from
/// 32768 on. No two calls return the same soon.
pub(crate) fn free_port() -> u16 {
    const FIRST: u16 = 10_000;
    const NUMBER: u16 = 20_000;
    static GIVEN: AtomicU16 = AtomicU16::new(0);

    // Another process begins elsewhere: one that started at the same moment, and has the next number, far away.
    let own = u16::try_from(std::process::id() % u32::from(NUMBER)).expect("it is smaller");
    loop {
        let place = u32::from(own) * 7001 + u32::from(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + u16::try_from(place % u32::from(NUMBER)).expect("it is smaller");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// Three sentinels, which decide on failovers by themselves.
pub struct FreeSentinels {
    _processes: Vec<OwnProcess>,
    _folder: TempDir,
}

impl FreeSentinels {
    /// How many agree that a master is dead.
    const QUORUM: &str = "2";

    /// Starts three, and waits until they know one another and the replicas.
    pub fn start(server: &ServerProgram, nodes: &[FreeNode]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let master = nodes[0].port.to_string();
        let mut processes = Vec::new();
        let mut sockets = Vec::new();
        for number in 0..3 {
            let home = folder.path().join(number.to_string());
            fs::create_dir(&home).expect("a folder");
            let (file, socket) = (home.join("sentinel.conf"), home.join("s"));
            let text = format!(
                "port {}\nbind 127.0.0.1\nunixsocket {}\ndir {}\nlogfile log\nsentinel monitor m 127.0.0.1 {master} {}\n\
                 sentinel down-after-milliseconds m 200\nsentinel failover-timeout m 4000\n",
                free_port(),
                socket.display(),
                home.display(),
                Self::QUORUM,
            );
            fs::write(&file, text).expect("it is written");
            let mut command = Command::new(server.path());
            command.arg(&file).arg("--sentinel").current_dir(&home);
            processes.push(OwnProcess::start(command).expect("a sentinel starts"));
            sockets.push(socket);
        }
        let know = |socket: &PathBuf| {
            let field = |name: &str| -> Option<String> {
                let mut connection = ServerConnection::open(socket, Arc::from("a sentinel")).ok()?;
                let answer = connection.req_command(cmd("SENTINEL").arg("MASTER").arg("m")).ok()?;
                let fields: Vec<String> = redis::from_redis_value(answer).ok()?;
                fields.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1].clone())
            };
            let replicas = (nodes.len() - 1).to_string();
            field("num-slaves") == Some(replicas) && field("num-other-sentinels").as_deref() == Some("2")
        };
        wait_until("the sentinels know one another", || sockets.iter().all(know));
        Self { _processes: processes, _folder: folder }
    }
}
