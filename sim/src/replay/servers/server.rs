//! The server program: where it was found, and what differs between versions.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_model::Config;
use lockstep_model::config::Ttls;

use super::limits::{MOST_VERSION, VERSION_WAIT};
use super::patient_stream::PatientStream;
use super::process::OwnProcess;
use crate::replay::error::ReplayError;
use crate::replay::given_up::GivenUp;
use crate::replay::version::{Flavour, Version};

/// The oldest version whose scripts replicate by effect and whose replicas connect at once.
const OLDEST: Version = Version { major: 6, minor: 2, patch: 0 };

/// A program that serves the Redis protocol, found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProgram {
    path: PathBuf,
    flavour: Flavour,
    version: Version,
}

impl ServerProgram {
    /// Finds the server to use: the one named, or else `LOCKSTEP_REDIS_SERVER`, or else
    /// `redis-server` and then `valkey-server` on `PATH`.
    ///
    /// # Errors
    ///
    /// `ServerNotFound` or `NamedServerNotFound`, which say how to install one; `NotAServer`;
    /// `WrongVersion`.
    pub fn find(explicit: Option<&Path>) -> Result<Self, ReplayError> {
        let from_environment = env::var_os("LOCKSTEP_REDIS_SERVER").filter(|name| !name.is_empty());
        let named = explicit
            .map(|name| (name.as_os_str(), "--server"))
            .or(from_environment.as_deref().map(|name| (name, "LOCKSTEP_REDIS_SERVER")));
        let path = match named {
            Some((name, named_by)) => on_path(name).ok_or_else(|| not_found(Path::new(name), named_by))?,
            None => ["redis-server", "valkey-server"]
                .into_iter()
                .find_map(|name| on_path(OsStr::new(name)))
                .ok_or(ReplayError::ServerNotFound)?,
        };
        // Each node runs in its own folder, where a relative path would mean something else.
        Self::probe(path::absolute(path).map_err(ReplayError::system("find the current folder"))?)
    }

    fn probe(path: PathBuf) -> Result<Self, ReplayError> {
        let answer = version_answer(&path)?;
        let Some((flavour, version)) = answer.lines().find_map(parse_version) else {
            let first = answer.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(ReplayError::NotAServer { path, answer: first.chars().take(200).collect() });
        };
        if version < OLDEST {
            return Err(ReplayError::WrongVersion { path, flavour, found: version, needed: OLDEST });
        }
        Ok(Self { path, flavour, version })
    }

    /// Every server that tests run on, or the one that `lockstep` itself finds.
    #[cfg(test)]
    pub fn all_of_tests() -> Vec<Self> {
        let named = env::var_os("LOCKSTEP_TEST_SERVERS");
        let paths: Vec<_> = match &named {
            Some(named) => env::split_paths(named).filter(|path| !path.as_os_str().is_empty()).map(Some).collect(),
            None => vec![None],
        };
        let find = |path: &Option<_>| Self::find(path.as_deref()).unwrap_or_else(|error| panic!("{error}"));
        paths.iter().map(find).collect()
    }

    /// The program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who makes the server.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether it is 7.0 or newer, as every Valkey is.
    fn is_since_7(&self) -> bool {
        self.version >= (Version { major: 7, minor: 0, patch: 0 })
    }

    /// Whether it knows `WAITAOF`: since 7.2, as every Valkey is (docs/facts/redis.md#wait).
    pub fn knows_waitaof(&self) -> bool {
        self.version >= (Version { major: 7, minor: 2, patch: 0 })
    }

    /// Whether `min-replicas-to-write` applies to writes in scripts as well as to plain writes: since 7.0 (measured: 6.2.5
    /// lets a script write, 7.0.15 and Valkey 9.1.2 do not).
    pub fn counts_replicas_in_scripts(&self) -> bool {
        self.is_since_7()
    }

    /// Whether a script on a replica sees a key that has expired but that its master has not deleted yet: before 7.0. A read
    /// outside a script does not (measured: `EXISTS` in `EVAL` answers 1 on 6.2.5, 0 on 7.0.15 and Valkey 9.1.2).
    pub fn shows_scripts_what_has_expired(&self) -> bool {
        !self.is_since_7()
    }

    /// Whether a master that is told to end waits for its replicas (`shutdown-timeout`): since 7.0 (measured: 6.2.5 ends at
    /// once).
    pub fn waits_for_replicas_when_it_ends(&self) -> bool {
        self.is_since_7()
    }

    /// Whether a `WAIT` is for all that the master had written when it served the connection last, and not only for what the
    /// connection wrote itself (measured: 7.0.15 the former, Valkey 9.1.2 the latter; docs/facts/redis.md#wait).
    pub fn waits_for_all_writes(&self) -> bool {
        self.flavour == Flavour::Redis
    }

    /// Whether a master that refuses a script's write for both reasons says that it lacks replicas, and not that its last save
    /// failed (measured: 7.0.15 answers `MISCONF`, Valkey 9.1.2 `NOREPLICAS`; docs/facts/redis.md#a-failed-save).
    fn names_missing_replicas_first(&self) -> bool {
        self.flavour == Flavour::Valkey
    }

    /// Whether an error that a write in a script met keeps its name (`-READONLY …`): since 7.0 (measured: 6.2.5 answers
    /// `-ERR Error running script …`, and the name stands inside; docs/facts/redis.md#errors-of-scripts).
    pub fn names_errors_of_scripts(&self) -> bool {
        self.is_since_7()
    }

    /// Whether it may do so in this world: only where a master needs replicas to write.
    pub fn may_name_missing_replicas_first(&self, config: &Config) -> bool {
        config.cluster.min_replicas > 0 && self.names_missing_replicas_first()
    }

    /// Whether a cluster of it has channels of one slot (`SPUBLISH`): since 7.0 (measured: 6.2.5 knows no such command).
    pub fn has_sharded_channels(&self) -> bool {
        self.is_since_7()
    }

    /// Whether a master whose slot is being moved tells its replicas so, and waits until they have answered (measured: 6.2.5 and 7.0.15 do not, Valkey 9.1.2 does;
    /// docs/facts/cluster.md#a-failover-while-a-slot-is-moved).
    pub fn tells_replicas_of_moves(&self) -> bool {
        self.flavour == Flavour::Valkey
    }

    /// Whether the port for the nodes of its cluster can be given (`cluster-port`): since 7.0.
    pub fn has_cluster_port(&self) -> bool {
        self.is_since_7()
    }

    /// How it replicates a TTL: since 7.0 as a time on the master's clock (measured: 6.2.5 sends `PEXPIRE`, 7.0.15 and
    /// Valkey 9.1.2 send `PEXPIREAT`).
    pub fn ttls(&self) -> Ttls {
        if self.is_since_7() { Ttls::Absolute } else { Ttls::Relative }
    }
}

impl fmt::Display for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flavour, self.version)
    }
}

/// Why no server has that name.
fn not_found(name: &Path, named_by: &'static str) -> ReplayError {
    let path = name.display().to_string();
    if name.is_dir() {
        let inside =
            ["redis-server", "valkey-server"].map(|program| name.join(program)).into_iter().find(|path| path.is_file());
        let program = inside.map_or_else(|| "the program in it".to_owned(), |inside| inside.display().to_string());
        return ReplayError::ServerIsAFolder { path, named_by, program };
    }
    ReplayError::NamedServerNotFound { path, named_by }
}

/// `name` itself if it is a path; otherwise the first program of that name on `PATH`, as in a shell.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// What the program writes when it is asked with `--version`.
fn version_answer(path: &Path) -> Result<String, ReplayError> {
    let reason = |reason: String| ReplayError::NoVersion { path: path.to_owned(), reason };
    let (ours, theirs) = UnixStream::pair().map_err(ReplayError::system("make a pair of sockets"))?;
    let also = theirs.try_clone().map_err(ReplayError::system("make a pair of sockets"))?;
    let mut command = Command::new(path);
    // What the loader writes to stderr says why a program does not run.
    command.arg("--version").stdin(Stdio::null()).stdout(OwnedFd::from(theirs)).stderr(OwnedFd::from(also));
    // Dropped at the end of this function: nothing is left running, whatever the program has started.
    let _process = OwnProcess::start(command).map_err(|error| match error {
        ReplayError::System { source, .. } => reason(format!("it does not start: {source}")),
        other => other,
    })?;
    let who = path.display().to_string().into();
    let stream = PatientStream::of(ours, who, VERSION_WAIT, MOST_VERSION);
    let mut text = Vec::new();
    let read = stream.and_then(|mut stream| stream.read_to_end(&mut text));
    match read.as_ref().err().map(|error| (GivenUp::cause_of(error), error)) {
        None => Ok(String::from_utf8_lossy(&text).into_owned()),
        Some((Some(GivenUp::Stopped), _)) => Err(ReplayError::Stopped),
        Some((Some(GivenUp::NoAnswer { .. }), _)) => {
            Err(reason(format!("it has not ended within {} s", VERSION_WAIT.as_secs())))
        }
        Some((Some(GivenUp::TooLong { .. }), _)) => Err(reason(format!("it writes more than {MOST_VERSION} bytes"))),
        Some((None, error)) => Err(reason(error.to_string())),
    }
}

/// Reads `Redis server v=7.0.15 sha=…`.
fn parse_version(answer: &str) -> Option<(Flavour, Version)> {
    let mut words = answer.split_whitespace();
    let flavour = match words.next()? {
        "Redis" => Flavour::Redis,
        "Valkey" => Flavour::Valkey,
        _ => return None,
    };
    let mut numbers = words.find_map(|word| word.strip_prefix("v="))?.split(['.', '-']);
    let mut number = || numbers.next()?.parse().ok();
    Some((flavour, Version { major: number()?, minor: number()?, patch: number()? }))
}
