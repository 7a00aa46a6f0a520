//! What can go wrong between us and a real server. A difference from the model is a result and therefore not here:
//! everything here is caused by the environment, or is a defect of ours.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::given_up::GivenUp;
use super::version::{Flavour, Version};

/// Why a real server could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// No server was named and `PATH` has none.
    #[error(
        "no redis-server or valkey-server on PATH; install one (apt-get install redis-server), or name one with \
         --server or LOCKSTEP_REDIS_SERVER"
    )]
    ServerNotFound,

    /// The server that was named does not exist. Another one would not be what was asked for.
    #[error("no server at {path}, which {named_by} names; install one with apt-get install redis-server")]
    NamedServerNotFound {
        /// What was looked for.
        path: String,
        /// `--server` or the environment variable.
        named_by: &'static str,
    },

    /// What was named is the folder that a server is in, or another one.
    #[error("{path}, which {named_by} names, is a folder; name {program}")]
    ServerIsAFolder {
        /// What was looked for.
        path: String,
        /// `--server` or the environment variable.
        named_by: &'static str,
        /// What to name instead.
        program: String,
    },

    /// The program runs, but its version line is not that of a Redis or Valkey server.
    #[error("{path} is not a Redis or Valkey server: its answer to --version is {answer:?}")]
    NotAServer {
        /// The program.
        path: PathBuf,
        /// The first line of its answer, or why there is none.
        answer: String,
    },

    /// The program does not answer `--version` as programs do.
    #[error("cannot learn the version of {path}: asked with --version, {reason}")]
    NoVersion {
        /// The program.
        path: PathBuf,
        /// What it did instead, after "asked with --version,".
        reason: String,
    },

    /// Scripts that replicate their effects need a newer server.
    #[error("{path} is {flavour} {found}; {needed} or newer is needed")]
    WrongVersion {
        /// The program.
        path: PathBuf,
        /// Who makes the server.
        flavour: Flavour,
        /// Its version.
        found: Version,
        /// The oldest version that will do.
        needed: Version,
    },

    /// The process ended, or never answered.
    #[error("{server} would not start: {reason}\n{log_tail}")]
    WouldNotStart {
        /// Flavour and version.
        server: String,
        /// What it did instead.
        reason: String,
        /// The last lines it wrote.
        log_tail: String,
    },

    /// The server uses another clock than ours, so its times would mean nothing.
    #[error(
        "{server} does not use the frozen clock: it answers {seen_ms} ms where {set_ms} ms was set \
         (is it linked statically, or is the folder of temporary files mounted noexec?)\n{log_tail}"
    )]
    ClockNotInForce {
        /// Flavour and version.
        server: String,
        /// What the harness set.
        set_ms: i64,
        /// What the server answered.
        seen_ms: i64,
        /// The last lines it wrote; the loader's message is among them.
        log_tail: String,
    },

    /// The program starts the server as another process.
    #[error(
        "{path} is a wrapper: it was started as process {started}, and the server that answers is process {says}; \
         a replay kills and restarts its servers, so the wrapper must become the server: \
         let it end with exec, as in: exec redis-server \"$@\""
    )]
    NotItself {
        /// The program.
        path: PathBuf,
        /// The process that was started.
        started: u32,
        /// The `process_id` that the server reports.
        says: String,
    },

    /// Only the Linux loader preloads the clock.
    #[error("the frozen clock needs Linux on x86-64 or AArch64")]
    NeedsLinux,

    /// The link between a master and its replica broke, or contained what no server sends; or the harness itself failed.
    #[error("the link to the replica failed: {reason}")]
    Link {
        /// What happened.
        reason: String,
    },

    /// The harness released an effect where none is marked.
    #[error("no effect is held: nothing was marked since the last release")]
    NothingHeld,

    /// The history contains a request in flight that the harness does not have.
    #[error("there is no such request in flight")]
    NothingInFlight,

    /// The harness marked an offset in the middle of a command or of a `MULTI … EXEC` block.
    #[error("offset {mark} was marked, but effects end at {before} and {after}: this is a defect of the harness")]
    NotAnEffect {
        /// What was marked.
        mark: u64,
        /// The end of the last effect before it.
        before: u64,
        /// The end of the effect that it cuts.
        after: u64,
    },

    /// Something did not happen before its deadline.
    #[error("waited {} ms for {awaited}", waited.as_millis())]
    TimedOut {
        /// What did not happen.
        awaited: String,
        /// How long we waited.
        waited: Duration,
    },

    /// The server refused a command, or the connection to it broke.
    #[error("redis answered {asked} with an error: {source}")]
    Redis {
        /// What was asked.
        asked: &'static str,
        /// Its answer.
        source: redis::RedisError,
    },

    /// A server has ended that was to run.
    #[error("{server} has ended ({status}), and nothing here has ended it: {error}")]
    ServerEnded {
        /// Its name in the scenario, with its process.
        server: String,
        /// How it ended.
        status: ExitStatus,
        /// What could not be done because of that.
        error: Box<ReplayError>,
    },

    /// A server stands still that was to run.
    #[error("{server} was stopped by a signal, and nothing here has stopped it: {error}")]
    ServerStopped {
        /// Its name in the scenario, with its process.
        server: String,
        /// What could not be done because of that.
        error: Box<ReplayError>,
    },

    /// A server was asked and did not answer, or not to the end.
    #[error("{reason} (asked: {asked})")]
    GivenUp {
        /// What was asked.
        asked: &'static str,
        /// Who did not answer, and for how long.
        reason: String,
    },

    /// The server answered what no server answers to this request.
    #[error("redis was asked {asked} and answered {answer}")]
    Unexpected {
        /// What was asked.
        asked: &'static str,
        /// Its answer.
        answer: String,
    },

    /// This server replicates TTLs in another way than the scenario says.
    #[error(
        "{server} sends TTLs to its replicas as {sends} times, and the scenario says {says}; \
         say ttls = \"{sends}\" in [cluster], or name a server {other} with --server"
    )]
    OtherTtls {
        /// Flavour and version.
        server: String,
        /// What it does.
        sends: &'static str,
        /// What the scenario says.
        says: &'static str,
        /// Which servers do that.
        other: &'static str,
    },

    /// The scenario publishes to sharded channels, and the server has none.
    #[error("{server} has no sharded channels; use Redis 7.0 or newer, or channels = \"global\"")]
    NoShardedChannels {
        /// Flavour and version.
        server: String,
    },

    /// A replica that is promoted while a slot is moved knows of the move.
    #[error(
        "{server} tells its replicas that a slot is being moved, and waits for them, so that one that is promoted sends clients on, which is \
         not modelled; use a server of Redis, or replicas = 0"
    )]
    TellsReplicasOfMoves {
        /// Flavour and version.
        server: String,
    },

    /// The server's TTLs are not those of a scenario with several lock names, or a lock with readers, and replicas.
    #[error(
        "{server} sends TTLs to its replicas as relative times, which is not modelled beside several lock names, nor for a lock with readers; name a server of \
         Redis 7.0 or newer with --server"
    )]
    KeysNeedAbsoluteTtls {
        /// Flavour and version.
        server: String,
    },

    /// The server ends at once, where the scenario lets a master wait for its replicas.
    #[error(
        "{server} does not wait for its replicas when it is told to end, and the scenario says shutdown_timeout; \
         use Redis 7.0 or newer, or remove the key"
    )]
    EndsAtOnce {
        /// Flavour and version.
        server: String,
    },

    /// The server's `WAIT` is for what a connection wrote, where the scenario's clients wait behind every call.
    #[error(
        "{server} answers WAIT for what the connection has written itself, and wait_after in [protocol] needs a server that answers for \
         all that the master has written; name one of Redis with --server"
    )]
    WaitsForOwnWrites {
        /// Flavour and version.
        server: String,
    },

    /// The scenario's masters require replicas for every write, and this server does not for the writes of scripts.
    #[error(
        "{server} applies min-replicas-to-write to SET but not to scripts, so min_replicas would have no effect here; \
         name a server of Redis 7.0 or newer with --server"
    )]
    ScriptsNeedNoReplicas {
        /// Flavour and version.
        server: String,
    },

    /// FAILOVER requires that master and replica have the same replication id, and a resync in this world must change it.
    #[error(
        "on {server} a hand-over by FAILOVER is replayed with one replica only where each resync must be a full copy: TTLs \
         are relative, clients subscribe to replicas, or links break; a full copy needs a new replication id, and FAILOVER \
         requires the same id on both nodes; use replicas = 1"
    )]
    HandOverNeedsOneId {
        /// Flavour and version.
        server: String,
    },

    /// Sentinel has nothing to do in the history, or would act on its own.
    #[error("not with --sentinel: {reason}")]
    NotForSentinel {
        /// What prevents it, and what to change.
        reason: String,
    },

    /// The program was started as a sentinel and runs as an ordinary server.
    #[error("{server} was started with --sentinel and reports its mode as {says}: it has no sentinel mode")]
    NoSentinelMode {
        /// Flavour and version.
        server: String,
        /// The `redis_mode` that it reports.
        says: String,
    },

    /// Sentinel chose another replica, so the rest of the history does not apply.
    #[error(
        "the history promotes {wanted}, and Sentinel ({by}) chose {chosen}: among the replicas that answer it in time it \
         takes the lowest replica-priority, then the largest offset; the rest of the history cannot be replayed"
    )]
    SentinelChose {
        /// The replica that the history promotes.
        wanted: String,
        /// The replica that they chose.
        chosen: String,
        /// The sentinel that decided.
        by: String,
    },

    /// The sentinels did not replace a dead master.
    #[error("no failover within {} s of the death of {died}; the sentinels:\n{opinions}", waited.as_secs())]
    NoFailover {
        /// The master that died.
        died: String,
        /// How long we waited.
        waited: Duration,
        /// What each sentinel reports, one line each.
        opinions: String,
    },

    /// The sentinels, the nodes or this program could not run in time.
    #[error(
        "Sentinel promoted a replica where the history does not, or not yet: a process here was too slow for its \
         deadlines; try again when this machine is less busy"
    )]
    SentinelIsAhead,

    /// No driver was built for this version of Redisson.
    #[error(
        "no Redisson {version} in {}{}; {}build its driver with tools/redisson/install {version}, and name the folder that it \
         prints in LOCKSTEP_REDISSON",
        folder.display(),
        if installed.is_empty() { String::new() } else { format!(", which has {}", installed.join(", ")) },
        meant_by(version, installed).map_or_else(String::new, |meant| format!("say --redisson {meant}, or "))
    )]
    NoRedisson {
        /// Those whose drivers are there.
        installed: Vec<String>,
        /// The version that was looked for.
        version: String,
        /// The folder in which it was looked for.
        folder: PathBuf,
    },

    /// The folder of the drivers has no Java that could be started.
    #[error("cannot find {}, which is to run Redisson; make it again with tools/redisson/install {version}", java.display())]
    NoJava {
        /// Where it was looked for.
        java: PathBuf,
        /// The version that was to be started.
        version: String,
    },

    /// The driver of this version of Redisson has other commands than those that it would be sent, or another form.
    #[error(
        "the driver in {} is of another version of lockstep; build it again with tools/redisson/install {version} of this one",
        folder.display()
    )]
    OtherDriver {
        /// The version of Redisson.
        version: String,
        /// The folder of the driver.
        folder: PathBuf,
    },

    /// Redisson cannot do what the scenario says, or is not made to do it yet.
    #[error("not on redisson {version}: {reason}")]
    NotForRedisson {
        /// The version.
        version: String,
        /// What prevents it, and what to change.
        reason: String,
    },

    /// The JVM of Redisson did not start, did not obey, or has ended.
    #[error("the JVM of Redisson failed: {reason}\n{log_tail}")]
    JvmFailed {
        /// What it did.
        reason: String,
        /// The last lines that it wrote.
        log_tail: String,
    },

    /// A call of Redisson begins anew again and again, each time at once, while no time passes
    /// (docs/facts/family.md#multi).
    #[error("a call of Redisson begins anew without end while no time passes")]
    EndlessCall,

    /// The program was asked to stop while it waited.
    #[error("stopped")]
    Stopped,

    /// `lease` times `tick_ms` is beyond what Redis can store.
    #[error("the lease is longer than a hundred years; lower lease or tick_ms in [time]")]
    LeaseTooLong,

    /// The operating system refused a file, a process or a socket.
    #[error("cannot {attempted}: {source}")]
    System {
        /// What was attempted.
        attempted: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl ReplayError {
    /// Whether it is a defect of ours, and not caused by the environment.
    pub const fn is_internal(&self) -> bool {
        matches!(self, Self::NothingHeld | Self::NotAnEffect { .. } | Self::Unexpected { .. })
    }

    /// Whether it says that sentinels did something else than the history, or nothing, or could not be waited for.
    pub const fn is_of_sentinel(&self) -> bool {
        matches!(self, Self::SentinelChose { .. } | Self::NoFailover { .. } | Self::Stopped)
    }

    /// For `map_err`: what was attempted, in the words that follow "cannot".
    pub(super) fn system(attempted: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match GivenUp::cause_of(&source) {
            Some(GivenUp::Stopped) => Self::Stopped,
            Some(reason) => Self::GivenUp { asked: attempted, reason: reason.to_string() },
            None => Self::System { attempted, source },
        }
    }

    /// For `map_err`: the command that was asked.
    pub(super) fn redis(asked: &'static str) -> impl FnOnce(redis::RedisError) -> Self {
        move |source| match GivenUp::cause_of(&source) {
            Some(GivenUp::Stopped) => Self::Stopped,
            Some(reason) => Self::GivenUp { asked, reason: reason.to_string() },
            None => Self::Redis { asked, source },
        }
    }

    pub(super) fn link(reason: impl Into<String>) -> Self {
        Self::Link { reason: reason.into() }
    }
}

/// The newest one that is installed of a version that was named in part: 4.3.1 for 4.3.
fn meant_by<'a>(version: &str, installed: &'a [String]) -> Option<&'a String> {
    installed.iter().rfind(|one| one.strip_prefix(version).is_some_and(|rest| rest.starts_with('.')))
}
