//! A private server: it is started for us, and it ends with us.
//!
//! It shares nothing with other programs: its folder is temporary, it listens on a socket in that folder and on no port,
//! the harness sets its clock (`clock`), and its master, if it has one, reaches it through a `Gate`.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::Value;

use super::boot::{Home, NodeSettings, boot};
use super::cluster::{self, ClusterPlace, ClusterPorts};
use super::files::Files;
use crate::replay::error::ReplayError;
use crate::replay::servers::clock::Clock;
use crate::replay::servers::connection::ServerConnection;
use crate::replay::servers::control::{Control, ServerRole, scan_every_key};
use crate::replay::servers::gate::Gate;
use crate::replay::servers::limits::{ANSWER_WAIT, LINK_WAIT};
use crate::replay::servers::patient_stream::PatientStream;
use crate::replay::servers::process::OwnProcess;
use crate::replay::servers::server::ServerProgram;

/// One server process of our own. Dropping it kills the process.
#[derive(Debug)]
pub struct ServerNode {
    server: ServerProgram,
    pub(super) settings: NodeSettings,
    /// What a power cut leaves on the disk, where that is less than what was written.
    pub(super) disk: Mutex<Option<Files>>,
    process: Mutex<OwnProcess>,
    control: Mutex<Control>,
    requires_replicas: AtomicBool,
    /// It was told to end, and may end at any moment.
    is_stopping: AtomicBool,
    is_paused: AtomicBool,
    clock: Clock,
    pub(super) home: Home,
}

impl ServerNode {
    /// Starts an empty master whose clock shows `start_ms`, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// `WouldNotStart` and `ClockNotInForce` contain the last lines of the server's log; `NeedsLinux`; `System` for what
    /// the machine refuses.
    pub fn start(server: &ServerProgram, start_ms: i64) -> Result<Self, ReplayError> {
        Self::start_with(server, start_ms, NodeSettings::default())
    }

    /// As `start`, with settings, which also apply whenever the node is restarted.
    ///
    /// # Errors
    ///
    /// As `start`.
    pub fn start_with(server: &ServerProgram, start_ms: i64, settings: NodeSettings) -> Result<Self, ReplayError> {
        let home = Home::create(server, settings)?;
        let first_ms = if settings.in_cluster.is_some() { cluster::first_ms(start_ms) } else { start_ms };
        let clock = Clock::create(home.folder.path(), first_ms)?;
        let (process, control) = boot(server, settings, &home, &clock)?;
        let node = Self {
            server: server.clone(),
            settings,
            disk: Mutex::new(None),
            process: Mutex::new(process),
            control: Mutex::new(control),
            requires_replicas: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            clock,
            home,
        };
        if let Some(place) = settings.in_cluster {
            cluster::set_config_epoch(&mut node.control(), place)?;
        }
        match settings.in_cluster {
            Some(ClusterPlace::Master) => {
                cluster::add_every_slot(&mut node.control())?;
                node.set_clock(start_ms)?;
                cluster::wait_until_ready(&mut node.control())?;
            }
            Some(ClusterPlace::Replica) => node.set_clock(start_ms)?,
            // Its clock moves on once it knows the others (`join`).
            Some(ClusterPlace::OtherMaster | ClusterPlace::ThirdMaster) | None => {}
        }
        Ok(node)
    }

    /// A new connection to the node.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn connect(&self) -> Result<ServerConnection, ReplayError> {
        ServerConnection::open(&self.home.socket, self.described()).map_err(ReplayError::redis("a new connection"))
    }

    /// A new connection on which the caller reads and writes bytes.
    ///
    /// # Errors
    ///
    /// `System` if the node is not running.
    pub(in crate::replay) fn connect_stream(&self) -> Result<PatientStream, ReplayError> {
        PatientStream::connect(&self.home.socket, self.described(), ANSWER_WAIT)
            .map_err(ReplayError::system("connect to a node"))
    }

    /// The node's clock, to read. `set_clock` and `advance_clock` move it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sets the clock, forward or back, and waits until the server has read it: every later command runs at the new time.
    /// The clock of a node that is down or stands still is set as well.
    ///
    /// # Errors
    ///
    /// `Redis` if the server does not answer, `TimedOut` if it goes on using the old time.
    pub fn set_clock(&self, ms: i64) -> Result<(), ReplayError> {
        self.clock.set_ms(ms);
        if self.is_paused() || !self.is_running() || self.is_stopping.load(Ordering::Relaxed) {
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
    pub fn advance_clock(&self, by_ms: i64) -> Result<(), ReplayError> {
        self.set_clock(self.clock.now_ms() + by_ms)
    }

    /// Kills the process (SIGKILL), which can send nothing more. Does nothing if it is dead already.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it does not end; `System` if the kernel refuses.
    pub fn kill(&self) -> Result<(), ReplayError> {
        self.process().kill()
    }

    /// Makes the process stand still (SIGSTOP): what it is sent waits in its sockets, and its clock goes on.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it runs on; `System` if the kernel refuses.
    pub fn pause(&self) -> Result<(), ReplayError> {
        self.process().pause()?;
        self.is_paused.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Lets the process go on (SIGCONT), and waits until it has read its clock.
    ///
    /// # Errors
    ///
    /// As `set_clock`.
    pub fn resume(&self) -> Result<(), ReplayError> {
        self.is_paused.store(false, Ordering::Relaxed);
        self.process().resume();
        self.advance_clock(0)
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    /// Makes a master write, or refuse to write, whatever it counts: its next count comes at a time of its own, once a second,
    /// and `require_replicas` makes it count.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn hold_count(&self, has_enough: bool) -> Result<(), ReplayError> {
        const TOO_MANY: u32 = 1000;
        let needed = if has_enough { 0 } else { TOO_MANY };
        let command = redis::cmd("CONFIG").arg("SET").arg("min-replicas-to-write").arg(needed).to_owned();
        self.control().ask::<Value>("CONFIG SET", &command).map(drop)
    }

    /// Kills the process after it has written its data to its folder, as on a machine with durable writes.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running; `System` if the kernel refuses.
    pub fn kill_keeping_data(&self) -> Result<(), ReplayError> {
        self.control().ask::<Value>("SAVE", &redis::cmd("SAVE"))?;
        self.kill()
    }

    /// Starts the process again: with its data after `kill_keeping_data`, with what its AOF contains if it has one, else
    /// empty. It comes back as a master with the settings of a new node; connections to it are dead.
    ///
    /// # Errors
    ///
    /// As `start`.
    pub fn restart(&self) -> Result<(), ReplayError> {
        self.kill()?;
        self.end_failing_saves()?;
        let (process, control) = boot(&self.server, self.settings, &self.home, &self.clock)?;
        *self.process() = process;
        *self.control() = control;
        self.requires_replicas.store(false, Ordering::Relaxed);
        self.is_stopping.store(false, Ordering::Relaxed);
        self.is_paused.store(false, Ordering::Relaxed);
        // The data were for this start only: the next crash may lose everything.
        if self.settings.has_snapshots { Ok(()) } else { self.delete_dump() }
    }

    /// Tells the process to end (SIGTERM). It saves its data first, and may wait for its replicas.
    ///
    /// # Errors
    ///
    /// `System` if the kernel refuses.
    pub fn begin_shutdown(&self) -> Result<(), ReplayError> {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.process().tell_to_end()
    }

    /// Waits until a process that was told to end has begun to: only then does its `shutdown-timeout` run, by its clock. It
    /// looks at what it was told ten times a second.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it does not begin; `Redis`.
    pub fn await_begun_shutdown(&self) -> Result<(), ReplayError> {
        let mut control = self.control();
        control.wait(LINK_WAIT, "a node to begin to end", |control| match control.info("server") {
            Ok(told) => Ok(told.contains_key("shutdown_in_milliseconds")),
            // Its replicas have everything: it ends, and its connections are gone before its process is.
            Err(error) => self.wait_shutdown(|| ()).map(|()| true).map_err(|_| error),
        })
    }

    /// Waits until a process that was told to end has ended. `meanwhile` is called again and again until then.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it does not end.
    pub fn wait_shutdown(&self, meanwhile: impl FnMut()) -> Result<(), ReplayError> {
        self.process().wait_for_end(meanwhile)
    }

    /// Whether the process lives.
    pub fn is_running(&self) -> bool {
        self.process().is_running()
    }

    /// How its process has ended, if nothing here has ended it.
    pub fn unasked_end(&self) -> Option<ExitStatus> {
        if self.is_stopping.load(Ordering::Relaxed) { None } else { self.process().unasked_end() }
    }

    /// Whether its process stands still, and nothing here has stopped it.
    pub fn is_stopped_unasked(&self) -> bool {
        !self.is_paused() && self.process().is_stopped()
    }

    /// Makes the node a replica behind `gate`, and waits until it has the master's data and each of the two lists the
    /// other as linked.
    ///
    /// # Errors
    ///
    /// `TimedOut` if the link is not established; `Link` if the gate is cut; `Redis`.
    pub fn follow(&self, gate: &Gate) -> Result<(), ReplayError> {
        let port = gate.port().ok_or_else(|| ReplayError::link("the gate is cut"))?;
        // A node has no port, so it announces the gate's: a master distinguishes its replicas by their ports.
        self.follow_at(gate, port, port)
    }

    /// Makes the node a master with the data it has. Returns by which command.
    ///
    /// # Errors
    ///
    /// `Redis`; `TimedOut` if it stays a replica.
    pub fn promote(&self) -> Result<&'static str, ReplayError> {
        let mut control = self.control();
        let command = if self.settings.in_cluster.is_some() {
            cluster::take_over(&mut control)?;
            "CLUSTER FAILOVER TAKEOVER"
        } else {
            control.ask::<Value>("REPLICAOF NO ONE", redis::cmd("REPLICAOF").arg("NO").arg("ONE"))?;
            "REPLICAOF NO ONE"
        };
        control.wait(LINK_WAIT, "a replica to become master", |control| Ok(control.role()?.0 == ServerRole::Master))?;
        Ok(command)
    }

    /// Makes a master refuse writes unless this many replicas have acknowledged in the last so many seconds of its clock
    /// (`min-replicas-to-write`, `min-replicas-max-lag`). The gates send the acknowledgements.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn require_replicas(&self, count: u32, max_lag_seconds: u32) -> Result<(), ReplayError> {
        self.requires_replicas.store(count > 0, Ordering::Relaxed);
        let mut control = self.control();
        for (setting, value) in [("min-replicas-max-lag", max_lag_seconds), ("min-replicas-to-write", count)] {
            control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg("SET").arg(setting).arg(value))?;
        }
        Ok(())
    }

    /// Waits until a master has noticed that the replica announced as `port` has left.
    ///
    /// # Errors
    ///
    /// `TimedOut`; `Redis` if the node is not running.
    pub fn wait_without(&self, port: u16) -> Result<(), ReplayError> {
        self.control().wait(LINK_WAIT, "a master to notice that its replica left", |master| {
            Ok(master.replica_field(port, "state")?.is_none())
        })
    }

    /// Makes the node a replica of an address that nobody answers at; it keeps its data.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn follow_nobody(&self) -> Result<(), ReplayError> {
        // Nobody listens on port 1 (tcpmux), and a connection there is refused at once.
        let command = redis::cmd("REPLICAOF").arg("127.0.0.1").arg(1).to_owned();
        self.control().ask::<Value>("REPLICAOF", &command).map(drop)
    }

    /// Makes the node run out of memory until it has evicted keys with a TTL (`volatile-ttl`), which may be all of them, and
    /// gives it memory again.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it has no key to evict; `Redis` if the node is not running.
    pub fn drop_keys(&self) -> Result<(), ReplayError> {
        let mut control = self.control();
        let before = dropped_keys(&mut control)?;
        for (setting, value) in [("maxmemory-policy", "volatile-ttl"), ("maxmemory", "1")] {
            control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", setting, value]))?;
        }
        let ended = control.wait(LINK_WAIT, "a server to evict a key", |control| Ok(dropped_keys(control)? > before));
        control.ask::<Value>("CONFIG SET", redis::cmd("CONFIG").arg(&["SET", "maxmemory", "0"]))?;
        ended
    }

    /// Makes a master delete the keys that have expired, and replicate the deletions.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn delete_expired(&self) -> Result<(), ReplayError> {
        self.control().ask::<Value>("SCAN", &scan_every_key()).map(drop)
    }

    /// What the node is now.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn role(&self) -> Result<ServerRole, ReplayError> {
        Ok(self.control().role()?.0)
    }

    /// The replication offset in bytes: what a master wrote, or what a replica has applied.
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn offset(&self) -> Result<u64, ReplayError> {
        self.control().replication_offset()
    }

    /// Waits until a replica has applied its master's stream up to `offset`.
    ///
    /// # Errors
    ///
    /// `TimedOut`; `Redis` if the node is not running.
    pub fn wait_offset(&self, offset: u64) -> Result<(), ReplayError> {
        self.control().wait_offset(offset)
    }

    /// Its ports, if it is in a cluster.
    pub(in crate::replay) fn in_cluster(&self) -> Option<&ClusterPorts> {
        self.home.ports.as_ref()
    }

    /// Where the node listens.
    pub fn socket(&self) -> &Path {
        &self.home.socket
    }

    /// The program it runs.
    pub fn server(&self) -> &ServerProgram {
        &self.server
    }

    /// The process id, for tests and messages.
    pub fn pid(&self) -> u32 {
        self.process().id()
    }

    pub(super) fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steers the node by a new connection: Sentinel ended the old one (`CLIENT KILL TYPE normal`).
    ///
    /// # Errors
    ///
    /// `Redis` if the node is not running.
    pub fn reconnect(&self) -> Result<(), ReplayError> {
        let connection = self.connect()?;
        *self.control() = Control::new(connection);
        Ok(())
    }

    fn described(&self) -> Arc<str> {
        self.process().described(&self.server.to_string())
    }

    fn process(&self) -> MutexGuard<'_, OwnProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many keys the node has evicted so far.
fn dropped_keys(control: &mut Control) -> Result<u64, ReplayError> {
    let count = control.info("stats")?.get("evicted_keys").and_then(|count| count.parse().ok());
    count.ok_or_else(|| ReplayError::link("the server does not report its evicted_keys"))
}
