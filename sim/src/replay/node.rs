//! A private server: found, started, and gone with us.
//!
//! Nothing of it is shared. Its folder is thrown away, it listens on a socket in that folder and on
//! no port, its clock is ours (`clock`), and its master, if any, speaks to it through a `Gate`. Ctrl-C
//! does not reach it, and when this process ends in whatever way, the kernel ends it too.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, ConnectionAddr, FromRedisValue, IntoConnectionInfo, RedisError, Value};

use super::held::HeldFolder;
use super::{Clock, ClockLibrary, Error, Gate, Server, Version};

mod address;
mod disk;

/// How long a server may take to answer for the first time: a loaded machine is slow, not broken.
const START_WAIT: Duration = Duration::from_secs(15);
/// How long what normally takes a millisecond may take between two servers.
pub(super) const LINK_WAIT: Duration = Duration::from_secs(5);
/// How long one command may take before the server counts as stuck.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// What a node is *now*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It accepts writes.
    Master,
    /// It follows a master.
    Replica,
}

/// What a node is started with beside what every node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `appendfsync`, with an AOF; `None`: without.
    pub fsync: Option<&'static str>,
}

/// One server process of our own. Dropping it kills it.
#[derive(Debug)]
pub struct Node {
    server: Server,
    settings: Settings,
    /// What its disk holds, where that is not just what it wrote.
    disk: Mutex<Option<disk::Files>>,
    child: Mutex<Child>,
    control: Mutex<Control>,
    requires_replicas: AtomicBool,
    clock: Clock,
    home: Home,
}

/// What a process needs around it, and what is left when it ends: deleted with the node.
#[derive(Debug)]
struct Home {
    folder: HeldFolder,
    socket: PathBuf,
    library: Arc<ClockLibrary>,
}

impl Node {
    /// Starts an empty master whose clock stands at `start_ms`.
    ///
    /// # Errors
    ///
    /// `WouldNotStart` and `ClockNotInForce` come with the last lines of the server's log;
    /// `NeedsLinux`; `System` for what the machine refuses.
    pub fn start(server: &Server, start_ms: i64) -> Result<Self, Error> {
        Self::start_with(server, start_ms, Settings::default())
    }

    /// The same, with settings of its own, which it keeps when it is started again.
    ///
    /// # Errors
    ///
    /// As `start`.
    pub fn start_with(server: &Server, start_ms: i64, settings: Settings) -> Result<Self, Error> {
        let library = ClockLibrary::shared()?;
        let folder = HeldFolder::new().map_err(Error::system("create a folder"))?;
        let clock = Clock::create(folder.path(), start_ms)?;
        let home = Home { socket: folder.path().join("s"), folder, library };
        home.check()?;
        let (child, control) = boot(server, settings, &home, &clock)?;
        Ok(Self {
            server: server.clone(),
            settings,
            disk: Mutex::new(None),
            child: Mutex::new(child),
            control: Mutex::new(control),
            requires_replicas: AtomicBool::new(false),
            clock,
            home,
        })
    }

    /// A connection of its own.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn connect(&self) -> Result<Connection, Error> {
        connect(&self.home.socket).map_err(Error::redis("a new connection"))
    }

    /// The node's clock, to read. Moving it is `set_clock` and `advance_clock`.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Moves the clock, forward or back, and waits until the server has looked at it: from then on
    /// every command runs at the new time. A dead node keeps its clock, which moves all the same.
    ///
    /// # Errors
    ///
    /// `Redis` if the server does not answer, `TimedOut` if it stays in the past.
    pub fn set_clock(&self, ms: i64) -> Result<(), Error> {
        self.clock.set_ms(ms);
        if !self.is_running() {
            return Ok(());
        }
        let mut control = self.control();
        let seen = |control: &mut Control| Ok(control.time_ms()? == ms);
        control.wait(LINK_WAIT, &format!("{} to see its clock at {ms} ms", self.server), seen)?;
        if self.requires_replicas.load(Ordering::Relaxed) { control.recount_replicas() } else { Ok(()) }
    }

    /// Moves the clock by this much.
    ///
    /// # Errors
    ///
    /// As `set_clock`.
    pub fn advance_clock(&self, by_ms: i64) -> Result<(), Error> {
        self.set_clock(self.clock.now_ms() + by_ms)
    }

    /// Kills the process as a power cut would: nothing is said to anybody. Harmless if it is dead.
    ///
    /// # Errors
    ///
    /// `System` if the kernel refuses.
    pub fn kill(&self) -> Result<(), Error> {
        let mut child = self.child();
        child.kill().map_err(Error::system("kill a server"))?;
        child.wait().map(drop).map_err(Error::system("await the end of a server"))
    }

    /// Kills the process after it wrote its data to its folder, as a machine with durable writes would
    /// leave them.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running; `System` if the kernel refuses.
    pub fn kill_keeping_data(&self) -> Result<(), Error> {
        self.control().ask::<Value>("SAVE", &redis::cmd("SAVE"))?;
        self.kill()
    }

    /// Starts the process again: with its data after `kill_keeping_data`, with what its AOF says if it has one, else
    /// empty. It comes back as a master, with the settings of a new node; connections to it are dead.
    ///
    /// # Errors
    ///
    /// As `start`.
    pub fn restart(&self) -> Result<(), Error> {
        self.kill()?;
        let (child, control) = boot(&self.server, self.settings, &self.home, &self.clock)?;
        *self.child() = child;
        *self.control() = control;
        self.requires_replicas.store(false, Ordering::Relaxed);
        match fs::remove_file(self.home.data()) {
            // It was for this start only: the next crash may lose everything.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::system("delete old data")(error)),
            _ => Ok(()),
        }
    }

    /// Whether the process lives.
    pub fn is_running(&self) -> bool {
        matches!(self.child().try_wait(), Ok(None))
    }

    /// Makes the node a replica behind `gate`, and waits until it has the master's data and each of
    /// the two knows that the other is there.
    ///
    /// # Errors
    ///
    /// `TimedOut` if they do not find together; `Link` if the gate is cut; `Redis`.
    pub fn follow(&self, gate: &Gate) -> Result<(), Error> {
        let port = gate.port().ok_or_else(|| Error::link("the gate is cut"))?;
        // A node has no port of its own, so it announces the gate's: the master tells replicas apart.
        self.follow_at(gate, port, port)
    }

    /// Makes the node a master with the data it has.
    ///
    /// # Errors
    ///
    /// `Redis`; `TimedOut` if it stays a replica.
    pub fn promote(&self) -> Result<(), Error> {
        let mut control = self.control();
        control.ask::<Value>("REPLICAOF NO ONE", redis::cmd("REPLICAOF").arg("NO").arg("ONE"))?;
        control.wait(LINK_WAIT, "a replica to become master", |control| Ok(control.role()?.0 == Role::Master))
    }

    /// Makes a master refuse writes unless this many replicas have acknowledged in the last so many seconds of
    /// its clock (`min-replicas-to-write`, `min-replicas-max-lag`). The gates say when they do.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn require_replicas(&self, count: u32, max_lag_seconds: u32) -> Result<(), Error> {
        self.requires_replicas.store(count > 0, Ordering::Relaxed);
        let mut control = self.control();
        for (setting, value) in [("min-replicas-max-lag", max_lag_seconds), ("min-replicas-to-write", count)] {
            control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg("SET").arg(setting).arg(value))?;
        }
        Ok(())
    }

    /// Waits until a master has noticed that the replica announced as `port` left.
    ///
    /// # Errors
    ///
    /// `TimedOut`; `Redis` if the node is not running.
    pub fn wait_without(&self, port: u16) -> Result<(), Error> {
        self.control().wait(LINK_WAIT, "a master to miss its replica", |master| {
            Ok(master.replica_field(port, "state")?.is_none())
        })
    }

    /// Makes the node a replica of nobody it could reach, with the data it has.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn follow_nobody(&self) -> Result<(), Error> {
        // Nobody listens on port 1 (tcpmux), and asking there is refused at once.
        let command = redis::cmd("REPLICAOF").arg("127.0.0.1").arg(1).to_owned();
        self.control().ask::<Value>("REPLICAOF", &command).map(drop)
    }

    /// Makes the node want for memory until it has thrown one key away, of those with a TTL (`volatile-ttl`), and then
    /// no more.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it has none to throw away; `Redis` if the node is not running.
    pub fn throw_one_away(&self) -> Result<(), Error> {
        let mut control = self.control();
        let thrown_away = |control: &mut Control| control.count_thrown_away();
        let before = thrown_away(&mut control)?;
        for (setting, value) in [("maxmemory-policy", "volatile-ttl"), ("maxmemory", "1")] {
            control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value]))?;
        }
        let ended =
            control.wait(LINK_WAIT, "a server to throw a key away", |control| Ok(thrown_away(control)? > before));
        control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", "maxmemory", "0"]))?;
        ended
    }

    /// Makes a master delete what has run out, and tell its replicas.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn delete_expired(&self) -> Result<(), Error> {
        self.control().ask::<Value>("SCAN", &look_at_every_key()).map(drop)
    }

    /// What the node is now.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn role(&self) -> Result<Role, Error> {
        Ok(self.control().role()?.0)
    }

    /// The replication offset: what a master wrote, or what a replica has applied.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn offset(&self) -> Result<u64, Error> {
        let replication = self.control().replication()?;
        let offset = replication.get("master_repl_offset").and_then(|offset| offset.parse().ok());
        offset.ok_or_else(|| Error::link("the server does not tell its master_repl_offset"))
    }

    /// Waits until a replica has applied its master's stream up to `offset`.
    ///
    /// # Errors
    ///
    /// `TimedOut`; `Redis` if the node is not running.
    pub fn wait_offset(&self, offset: u64) -> Result<(), Error> {
        self.control().wait_offset(offset)
    }

    /// Where the node listens.
    pub fn socket(&self) -> &Path {
        &self.home.socket
    }

    /// The program it runs.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The process, for tests and messages.
    pub fn pid(&self) -> u32 {
        self.child().id()
    }

    fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nobody is left to tell; a process we cannot kill dies with us.
        let _ = self.kill();
    }
}

/// A connection by which we ask and steer a node, beside those of the clients.
pub(super) struct Control(Connection);

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Control")
    }
}

impl Control {
    pub(super) fn new(connection: Connection) -> Self {
        Self(connection)
    }

    pub(super) fn ask<T: FromRedisValue>(&mut self, asked: &'static str, command: &redis::Cmd) -> Result<T, Error> {
        command.query(&mut self.0).map_err(Error::redis(asked))
    }

    fn time_ms(&mut self) -> Result<i64, Error> {
        let (seconds, microseconds): (i64, i64) = self.ask("TIME", &redis::cmd("TIME"))?;
        // The harness sets whole milliseconds. What is below is Valkey's: it adds the time since it last looked.
        Ok(seconds * 1000 + microseconds / 1000)
    }

    fn replication(&mut self) -> Result<BTreeMap<String, String>, Error> {
        self.info("replication")
    }

    pub(super) fn info(&mut self, section: &str) -> Result<BTreeMap<String, String>, Error> {
        let text: String = self.ask("INFO", redis::cmd("INFO").arg(section))?;
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Ok(fields.map(|(name, value)| (name.to_owned(), value.trim_end().to_owned())).collect())
    }

    /// The role, and a replica's offset while its link is up.
    fn role(&mut self) -> Result<(Role, Option<u64>), Error> {
        let answer: Vec<Value> = self.ask("ROLE", &redis::cmd("ROLE"))?;
        match &answer[..] {
            [Value::BulkString(role), ..] if role == b"master" => Ok((Role::Master, None)),
            [_, _, _, _, Value::Int(offset)] => Ok((Role::Replica, u64::try_from(*offset).ok())),
            _ => Err(Error::link(format!("{answer:?} is not an answer to ROLE"))),
        }
    }

    pub(super) fn applied_offset(&mut self) -> Result<u64, Error> {
        self.role()?.1.ok_or_else(|| Error::link("the replica has no link to its master"))
    }

    /// Waits until a master knows that the replica announced as `port` has applied this much, and has
    /// known it since its clock moved last.
    pub(super) fn wait_acknowledged(&mut self, port: u16, offset: u64) -> Result<(), Error> {
        let awaited = format!("a master to hear that its replica has applied offset {offset}");
        self.wait(LINK_WAIT, &awaited, |master| {
            let heard = master.replica_field(port, "offset")?.and_then(|heard| heard.parse::<u64>().ok());
            let lag_seconds = master.replica_field(port, "lag")?;
            Ok(heard.is_some_and(|heard| heard >= offset) && lag_seconds.as_deref() == Some("0"))
        })
    }

    /// Makes a master count its good replicas now. It does so once a second of real time, and whenever a
    /// limit of theirs changes: so one is changed and changed back, in one go.
    pub(super) fn recount_replicas(&mut self) -> Result<(), Error> {
        let asked: (String, u32) =
            self.ask("CONFIG GET", redis::cmd("CONFIG").arg("GET").arg("min-replicas-max-lag"))?;
        let limit = |seconds: u32| {
            let mut command = redis::cmd("CONFIG");
            command.arg("SET").arg("min-replicas-max-lag").arg(seconds);
            command
        };
        let mut pipeline = redis::pipe();
        pipeline.add_command(limit(asked.1 + 1)).add_command(limit(asked.1));
        pipeline.query::<()>(&mut self.0).map_err(Error::redis("CONFIG SET"))
    }

    /// How many keys were thrown away for want of memory.
    fn count_thrown_away(&mut self) -> Result<u64, Error> {
        let count = self.info("stats")?.get("evicted_keys").and_then(|count| count.parse().ok());
        count.ok_or_else(|| Error::link("the server does not tell its evicted_keys"))
    }

    /// What a master tells of one replica: `slave0:ip=127.0.0.1,port=…,state=online,offset=…,lag=…`.
    fn replica_field(&mut self, port: u16, name: &str) -> Result<Option<String>, Error> {
        let replication = self.replication()?;
        let ours = format!("port={port}");
        let replica = replication.values().find(|replica| replica.split(',').any(|field| field == ours));
        let mut fields = replica.into_iter().flat_map(|replica| replica.split(','));
        Ok(fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)))
    }

    /// Asks the replica itself: it tells its master only once a second.
    pub(super) fn wait_offset(&mut self, offset: u64) -> Result<(), Error> {
        self.wait(LINK_WAIT, &format!("a replica to apply its stream up to offset {offset}"), |control| {
            Ok(control.role()?.1.is_some_and(|applied| applied >= offset))
        })
    }

    /// Asks again and again: at once, then after pauses that grow to a millisecond.
    fn wait(
        &mut self,
        limit: Duration,
        awaited: &str,
        mut reached: impl FnMut(&mut Self) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !reached(self)? {
            if begin.elapsed() > limit {
                return Err(Error::TimedOut { awaited: awaited.to_owned(), waited: begin.elapsed() });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(())
    }
}

pub(super) fn connect(socket: &Path) -> Result<Connection, RedisError> {
    let client = redis::Client::open(ConnectionAddr::Unix(socket.to_owned()).into_connection_info()?)?;
    let connection = client.get_connection()?;
    connection.set_read_timeout(Some(ANSWER_WAIT))?;
    connection.set_write_timeout(Some(ANSWER_WAIT))?;
    Ok(connection)
}

/// What the server says, in files of its folder: its log, and what the loader and it say before that.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) folder: PathBuf,
}

impl Log {
    const LINES: usize = 12;

    pub(super) fn file(&self) -> PathBuf {
        self.folder.join("log")
    }

    pub(super) fn console(&self) -> PathBuf {
        self.folder.join("console")
    }

    pub(super) fn tail(&self) -> String {
        let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let all = read(self.console()) + &read(self.file());
        let lines: Vec<_> = all.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return "it wrote no log".to_owned();
        }
        let tail = &lines[lines.len().saturating_sub(Self::LINES)..];
        tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    }
}

impl Home {
    /// Says early and clearly what the loader and the socket would only hint at.
    fn check(&self) -> Result<(), Error> {
        // The length of `sun_path` on Linux is 108, with its closing zero.
        const LONGEST_SOCKET: usize = 107;
        let unfit = |why| Error::System {
            attempted: "use the folder of temporary files (TMPDIR)",
            source: io::Error::new(io::ErrorKind::InvalidInput, why),
        };
        if self.socket.as_os_str().len() > LONGEST_SOCKET {
            return Err(unfit("its path is too long for a socket in it"));
        }
        let library = self.library.path().as_os_str().as_encoded_bytes();
        if library.iter().any(|byte| b" :".contains(byte)) {
            return Err(unfit("LD_PRELOAD allows no space and no colon in its path"));
        }
        Ok(())
    }

    /// Where a server writes its data, by default.
    fn data(&self) -> PathBuf {
        self.folder.path().join("dump.rdb")
    }
}

/// A master deletes of what it sees here what is over, and tells its replicas.
pub(super) fn look_at_every_key() -> redis::Cmd {
    redis::cmd("SCAN").arg(&["0", "COUNT", "1000"]).to_owned()
}

/// A process that answers, and goes by our clock.
fn boot(server: &Server, settings: Settings, home: &Home, clock: &Clock) -> Result<(Child, Control), Error> {
    let log = Log { folder: home.folder.path().to_owned() };
    let mut child = Reaped(Some(launch(command(server, settings, home, clock, &log)?)?));
    let mut control = wait_for_answer(server, &home.socket, child.running()?, &log)?;
    // Only lazily: the background search for expired keys runs by chance, and its DELs with it.
    // A key that is past its deadline is gone for every command either way.
    control.ask::<Value>("DEBUG SET-ACTIVE-EXPIRE", redis::cmd("DEBUG").arg("SET-ACTIVE-EXPIRE").arg(0))?;
    let (set_ms, seen_ms) = (clock.now_ms(), control.time_ms()?);
    if seen_ms != set_ms {
        return Err(Error::ClockNotInForce { server: server.to_string(), set_ms, seen_ms, log_tail: log.tail() });
    }
    Ok((child.keep()?, control))
}

fn command(server: &Server, settings: Settings, home: &Home, clock: &Clock, log: &Log) -> Result<Command, Error> {
    // The clock jumps at will, so nothing may end because much time seems to have passed: no link
    // (repl-timeout), and no memory of what replicas were sent (repl-backlog-ttl). The period of pings
    // counts real seconds, and a ping would be a byte in the stream that nobody asked for.
    const CONSTANT: &[(&str, &str)] = &[
        ("--port", "0"),
        ("--daemonize", "no"),
        ("--save", ""),
        ("--repl-diskless-sync", "yes"),
        ("--repl-diskless-sync-delay", "0"),
        ("--repl-diskless-load", "swapdb"),
        ("--repl-ping-replica-period", "1000000000"),
        ("--repl-timeout", "2000000000"),
        ("--repl-backlog-size", "16mb"),
        ("--repl-backlog-ttl", "0"),
        // The allocator's own threads sleep until a time of the wall clock; if that stands, they never
        // sleep (seen with Redis 6.2.5: a core each).
        ("--jemalloc-bg-thread", "no"),
        // Clients that time out, and children that end, are seen by the timer only: 10 ms, not 100.
        ("--hz", "100"),
    ];
    let console = File::create(log.console()).map_err(Error::system("create a log file"))?;
    let mut command = Command::new(server.path());
    for (name, value) in CONSTANT {
        command.args([name, value]);
    }
    match settings.fsync {
        Some(when) => command.args(["--appendonly", "yes", "--appendfsync", when]),
        None => command.args(["--appendonly", "no"]),
    };
    // Older servers have DEBUG without asking, and refuse the option.
    if server.version() >= (Version { major: 7, minor: 0, patch: 0 }) {
        command.args(["--enable-debug-command", "yes"]);
    }
    command
        .arg("--unixsocket")
        .arg(&home.socket)
        .arg("--logfile")
        .arg(log.file())
        .arg("--dir")
        .arg(home.folder.path())
        .current_dir(home.folder.path())
        .env("LD_PRELOAD", home.library.path())
        .env("LOCKSTEP_CLOCK", clock.path())
        .stdin(Stdio::null())
        .stderr(console.try_clone().map_err(Error::system("share a log file"))?)
        .stdout(console)
        // A terminal sends Ctrl-C to a whole group: it shall reach us alone.
        .process_group(0);
    die_with_us(&mut command);
    Ok(command)
}

#[cfg(target_os = "linux")]
pub(super) fn die_with_us(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let us = getpid();
    let ask_kernel = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If we died before the line above, the kernel will not say so any more.
        if getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    #[expect(unsafe_code, reason = "what runs between fork and exec must be safe there")]
    // SAFETY: two system calls, and no allocation: an error kind is a plain value.
    unsafe {
        command.pre_exec(ask_kernel);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn die_with_us(_: &mut Command) {}

/// Starts a process from a thread that lives as long as we do: what the kernel calls the death of a
/// parent is the death of the *thread* that forked (prctl(2), `PR_SET_PDEATHSIG`).
pub(super) fn launch(command: Command) -> Result<Child, Error> {
    type Order = (Command, mpsc::Sender<io::Result<Child>>);
    static LAUNCHER: OnceLock<Option<mpsc::Sender<Order>>> = OnceLock::new();

    let launcher = LAUNCHER.get_or_init(|| {
        let (orders, incoming) = mpsc::channel::<Order>();
        let launch_all = move || {
            for (mut command, answer) in incoming {
                // Whoever asked may be gone; then the child goes too.
                if let Err(mpsc::SendError(Ok(mut child))) = answer.send(command.spawn()) {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        };
        thread::Builder::new().name("launcher".to_owned()).spawn(launch_all).ok().map(|_| orders)
    });
    let (answer, child) = mpsc::channel();
    let sent = launcher.as_ref().and_then(|launcher| launcher.send((command, answer)).ok());
    let child = sent.and_then(|()| child.recv().ok());
    let no_thread = || Err(io::Error::other("there is no thread to start it"));
    child.unwrap_or_else(no_thread).map_err(Error::system("start the server"))
}

/// A child that is killed unless it is kept: a node that failed to start leaves nothing.
pub(super) struct Reaped(pub(super) Option<Child>);

impl Reaped {
    pub(super) fn running(&mut self) -> Result<&mut Child, Error> {
        self.0.as_mut().ok_or_else(|| Error::link("a server was given away before it ran"))
    }

    pub(super) fn keep(mut self) -> Result<Child, Error> {
        self.0.take().ok_or_else(|| Error::link("a server was given away before it ran"))
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The first connection that answers.
pub(super) fn wait_for_answer(server: &Server, socket: &Path, child: &mut Child, log: &Log) -> Result<Control, Error> {
    let would_not_start =
        |reason: String| Error::WouldNotStart { server: server.to_string(), reason, log_tail: log.tail() };
    let begin = Instant::now();
    loop {
        let answer = connect(socket).and_then(|mut connection| {
            let _: Value = redis::cmd("PING").query(&mut connection)?;
            Ok(connection)
        });
        let error = match answer {
            Ok(connection) => return Ok(Control::new(connection)),
            Err(error) => error,
        };
        if let Some(status) = child.try_wait().map_err(Error::system("look after a server"))? {
            return Err(would_not_start(format!("it ended with {status}")));
        }
        if begin.elapsed() > START_WAIT {
            return Err(would_not_start(format!("no answer within {} s: {error}", START_WAIT.as_secs())));
        }
        thread::sleep(Duration::from_millis(1));
    }
}
