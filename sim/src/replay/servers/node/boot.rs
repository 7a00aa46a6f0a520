//! How a node's process is started: with which options, in which folder, under which clock.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use redis::Value;

use super::cluster::{ClusterPlace, ClusterPorts};
use crate::replay::error::ReplayError;
use crate::replay::servers::clock::{Clock, ClockLibrary};
use crate::replay::servers::control::Control;
use crate::replay::servers::lockfile_dir::LockfileDir;
use crate::replay::servers::process::{OwnProcess, ServerLog};
use crate::replay::servers::server::ServerProgram;
use crate::replay::version::Version;

/// What distinguishes one node's configuration from another's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSettings {
    /// `appendfsync` of a node with an AOF; `None`: it has no AOF.
    pub fsync: Option<&'static str>,
    /// Whether it has save points, so that it saves a snapshot when it is told to end.
    pub has_snapshots: bool,
    /// `shutdown-timeout`, where the server has it.
    pub shutdown_timeout_seconds: u32,
    /// What it is in a cluster; `None`: it is in none.
    pub in_cluster: Option<ClusterPlace>,
}

/// What a node's process needs on this machine, and what is left when it ends. Deleted with the node.
#[derive(Debug)]
pub struct Home {
    /// The node's folder.
    pub folder: LockfileDir,
    /// Where the node listens.
    pub socket: PathBuf,
    library: Arc<ClockLibrary>,
    /// Its ports, if it is in a cluster.
    pub ports: Option<ClusterPorts>,
}

impl Home {
    /// A new folder with nothing in it.
    ///
    /// # Errors
    /// `NeedsLinux`; `System` if the folder of temporary files is not usable, or there is no free port for a cluster.
    pub fn create(server: &ServerProgram, settings: NodeSettings) -> Result<Self, ReplayError> {
        let library = ClockLibrary::shared()?;
        let folder = LockfileDir::new().map_err(ReplayError::system("create a folder"))?;
        let ports = settings.in_cluster.map(|_| ClusterPorts::reserve(server)).transpose()?;
        let home = Self { socket: folder.path().join("s"), folder, library, ports };
        home.check()?;
        Ok(home)
    }

    /// Where a server writes its data, by default.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("dump.rdb")
    }

    /// Reports early and clearly what the loader and the socket would only hint at.
    fn check(&self) -> Result<(), ReplayError> {
        // The length of `sun_path` on Linux is 108, with its closing zero.
        const LONGEST_SOCKET: usize = 107;
        let unfit = |why: String| ReplayError::System {
            attempted: "use the folder of temporary files (TMPDIR)",
            source: io::Error::new(io::ErrorKind::InvalidInput, why),
        };
        if self.socket.as_os_str().len() > LONGEST_SOCKET {
            let (socket, length) = (self.socket.display(), self.socket.as_os_str().len());
            let why = format!(
                "{socket} has {length} bytes, and the path of a socket at most {LONGEST_SOCKET}; use a shorter one"
            );
            return Err(unfit(why));
        }
        let library = self.library.path().as_os_str().as_encoded_bytes();
        if library.iter().any(|byte| b" :".contains(byte)) {
            let library = self.library.path().display();
            return Err(unfit(format!(
                "{library}: LD_PRELOAD allows no space and no colon in a path; use another one"
            )));
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Starts a process, waits until it answers, and checks that it uses our clock.
///
/// # Errors
/// `WouldNotStart`, `NotItself`, `ClockNotInForce`, `System`.
pub fn boot(
    server: &ServerProgram,
    settings: NodeSettings,
    home: &Home,
    clock: &Clock,
) -> Result<(OwnProcess, Control), ReplayError> {
    let log = ServerLog { folder: home.path().to_owned() };
    let mut process = OwnProcess::start(command(server, settings, home, clock, &log)?)?;
    let mut control = process.wait_for_answer(&server.to_string(), &home.socket, &log)?;
    // The background search for expired keys depends on chance, and so would its DELs in the stream. Without it keys are
    // deleted when they are accessed; for every command a key that has expired is gone either way.
    control.ask::<Value>("DEBUG SET-ACTIVE-EXPIRE", redis::cmd("DEBUG").arg("SET-ACTIVE-EXPIRE").arg(0))?;
    let (set_ms, seen_ms) = (clock.now_ms(), control.time_ms()?);
    if seen_ms != set_ms {
        return Err(ReplayError::ClockNotInForce { server: server.to_string(), set_ms, seen_ms, log_tail: log.tail() });
    }
    Ok((process, control))
}

fn command(
    server: &ServerProgram,
    settings: NodeSettings,
    home: &Home,
    clock: &Clock,
    log: &ServerLog,
) -> Result<Command, ReplayError> {
    // The harness moves the clock by any amount, so nothing may end because much time seems to have passed: no link
    // (repl-timeout), and no memory of what replicas were sent (repl-backlog-ttl). The period of pings counts real
    // seconds, and each ping would be bytes in the stream that no step wrote.
    const CONSTANT: &[(&str, &str)] = &[
        ("--daemonize", "no"),
        ("--repl-diskless-sync", "yes"),
        ("--repl-diskless-sync-delay", "0"),
        ("--repl-diskless-load", "swapdb"),
        ("--repl-ping-replica-period", "1000000000"),
        ("--repl-timeout", "2000000000"),
        ("--repl-backlog-size", "16mb"),
        ("--repl-backlog-ttl", "0"),
        // The allocator's own threads sleep until a time of the wall clock. While that stands still they spin (seen with
        // Redis 6.2.5: one core each).
        ("--jemalloc-bg-thread", "no"),
        // The timer notices clients that time out and children that end: every 10 ms instead of every 100.
        ("--hz", "100"),
    ];
    let mut command = Command::new(server.path());
    for (name, value) in CONSTANT {
        command.args([name, value]);
    }
    match &home.ports {
        Some(ports) => command.args(ports.options()),
        None => command.args(["--port", "0"]),
    };
    // The harness decides when a snapshot is saved: the one save point is longer than any history.
    // As two words: Redis 6.2.5 takes "2000000000 1" for no save point at all.
    command.arg("--save").args(if settings.has_snapshots { &["2000000000", "1"][..] } else { &[""] });
    match settings.fsync {
        Some(when) => command.args(["--appendonly", "yes", "--appendfsync", when]),
        None => command.args(["--appendonly", "no"]),
    };
    // Older servers allow DEBUG by default and reject the option.
    if server.version() >= (Version { major: 7, minor: 0, patch: 0 }) {
        command.args(["--enable-debug-command", "yes"]);
        command.args(["--shutdown-timeout", &settings.shutdown_timeout_seconds.to_string()]);
    }
    command
        .arg("--unixsocket")
        .arg(&home.socket)
        .arg("--logfile")
        .arg(log.file())
        .arg("--dir")
        .arg(home.path())
        .current_dir(home.path())
        .env("LOCKSTEP_CLOCK", clock.path());
    home.library.apply_to(&mut command);
    log.redirect(&mut command)?;
    Ok(command)
}
