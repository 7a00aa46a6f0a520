//! What can go wrong between us and a real server. A divergence from the model is a result, so it is
//! not here: everything here is the environment's doing, or our own.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::server::{Flavour, Version};

/// Why a real server could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody named a server and `PATH` has none.
    #[error(
        "no redis-server or valkey-server on PATH; install one (apt-get install redis-server), or name one with \
         --server or LOCKSTEP_REDIS_SERVER"
    )]
    ServerNotFound,

    /// Somebody named a server that is not there. Another one found by chance would be no answer.
    #[error("no server at {path}, which {named_by} names; install one with apt-get install redis-server")]
    NamedServerNotFound {
        /// What was looked for.
        path: String,
        /// `--server` or the environment variable.
        named_by: &'static str,
    },

    /// The program runs, but does not say that it is a Redis or Valkey server.
    #[error("{path} is not a Redis or Valkey server: to --version it answers {answer:?}")]
    NotAServer {
        /// The program.
        path: PathBuf,
        /// The first line of its answer, or why there is none.
        answer: String,
    },

    /// Effects of scripts and absolute expiry need a newer server.
    #[error("{path} is {flavour} {found}; {needed} or newer is needed")]
    WrongVersion {
        /// The program.
        path: PathBuf,
        /// Whose server it is.
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
        /// What was seen of it.
        reason: String,
        /// The last lines it wrote.
        log_tail: String,
    },

    /// The server runs by another clock than ours, so no time in it would mean anything.
    #[error(
        "the frozen clock is not in force: {server} says it is {seen_ms} ms where {set_ms} ms was set \
         (is it linked statically, or is the folder of temporary files mounted noexec?)\n{log_tail}"
    )]
    ClockNotInForce {
        /// Flavour and version.
        server: String,
        /// What the harness set.
        set_ms: i64,
        /// What the server answered.
        seen_ms: i64,
        /// The last lines it wrote; the loader's complaint is among them.
        log_tail: String,
    },

    /// Preloading is a matter of the Linux loader.
    #[error("the frozen clock needs Linux on x86-64 or AArch64")]
    NeedsLinux,

    /// The link between a master and its replica broke, or carried what no master sends.
    #[error("the link to the replica failed: {reason}")]
    Link {
        /// What happened.
        reason: String,
    },

    /// The harness asked for an effect where none is marked.
    #[error("no effect is held: nothing was marked since the last release")]
    NothingHeld,

    /// The model says that a request is on its way, and none is.
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

    /// Something did not happen in time.
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

    /// The server answered what no server of this kind answers.
    #[error("redis was asked {asked} and answered {answer}")]
    Unexpected {
        /// What was asked.
        asked: &'static str,
        /// Its answer.
        answer: String,
    },

    /// The scenario's replicas are told TTLs in another way than this server tells them.
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

    /// The scenario's masters need replicas to write, and this server does not ask its scripts for them.
    #[error(
        "{server} holds SET to min-replicas-to-write and scripts not, so min_replicas would change nothing here; \
         name a server of Redis 7.0 or newer with --server"
    )]
    ScriptsNeedNoReplicas {
        /// Flavour and version.
        server: String,
    },

    /// FAILOVER wants master and replica to share a replication id, and a resync here must change it.
    #[error(
        "on {server} a coordinated hand-over is replayed with one replica only: its TTLs travel relative, so each resync is \
         made a full copy by a new replication id, and FAILOVER wants both nodes to know the same; \
         use replicas = 1, or name a server of Redis 7.0 or newer with --server"
    )]
    HandOverNeedsOneId {
        /// Flavour and version.
        server: String,
    },

    /// There is nothing in it for Sentinel to do, or something that it would do in its own way.
    #[error("not with --sentinel: {reason}")]
    NotForSentinel {
        /// What is the matter, and what to do about it.
        reason: String,
    },

    /// The server runs, but as any other server does.
    #[error("{server} was started with --sentinel and says that it is {says}: it has no sentinel mode")]
    NoSentinelMode {
        /// Flavour and version.
        server: String,
        /// `redis_mode`, as it says.
        says: String,
    },

    /// Sentinel decides for itself, and so the rest of the history is that of another world.
    #[error(
        "the history promotes {wanted}, and Sentinel ({by}) chose {chosen}: it takes the lowest replica-priority, then the \
         largest offset, and only of replicas that it reaches; what follows in the history cannot be replayed"
    )]
    SentinelChose {
        /// Whom the history promotes.
        wanted: String,
        /// Whom they promote.
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
        /// What each sentinel thinks, in lines.
        opinions: String,
    },

    /// The sentinels were kept from running, or the nodes, or we.
    #[error(
        "Sentinel promoted a replica where the history does not, or not yet: what ran here was too slow for it; \
         try again when this machine has less to do"
    )]
    SentinelIsAhead,

    /// Somebody asked us to stop while we waited.
    #[error("stopped")]
    Stopped,

    /// `lease` times `tick_ms` is beyond what Redis can store.
    #[error("the lease is longer than a hundred years; lower lease or tick_ms in [time]")]
    LeaseTooLong,

    /// A file, process or socket of ours could not be made.
    #[error("cannot {attempted}: {source}")]
    System {
        /// What was attempted.
        attempted: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// Whether it is a defect of ours, and not the environment's doing.
    pub const fn is_internal(&self) -> bool {
        matches!(self, Self::NothingHeld | Self::NotAnEffect { .. } | Self::Unexpected { .. })
    }

    /// For `map_err`: what we attempted, in the words that follow "cannot".
    pub(super) fn system(attempted: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { attempted, source }
    }

    /// For `map_err`: the command that was asked.
    pub(super) fn redis(asked: &'static str) -> impl FnOnce(redis::RedisError) -> Self {
        move |source| Self::Redis { asked, source }
    }

    pub(super) fn link(reason: impl Into<String>) -> Self {
        Self::Link { reason: reason.into() }
    }
}
