//! The server program: where it was found, and what differs between versions.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::Read as _;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use lockstep_model::config::Ttls;

use super::limits::VERSION_WAIT;
use crate::replay::error::ReplayError;
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
            Some((name, named_by)) => on_path(name).ok_or_else(|| ReplayError::NamedServerNotFound {
                path: Path::new(name).display().to_string(),
                named_by,
            })?,
            None => ["redis-server", "valkey-server"]
                .into_iter()
                .find_map(|name| on_path(OsStr::new(name)))
                .ok_or(ReplayError::ServerNotFound)?,
        };
        // Each node runs in its own folder, where a relative path would mean something else.
        Self::probe(path::absolute(path).map_err(ReplayError::system("find the current folder"))?)
    }

    fn probe(path: PathBuf) -> Result<Self, ReplayError> {
        let answer = version_line(&path).unwrap_or_else(|why| why);
        let Some((flavour, version)) = parse_version(&answer) else {
            return Err(ReplayError::NotAServer { path, answer });
        };
        if version < OLDEST {
            return Err(ReplayError::WrongVersion { path, flavour, found: version, needed: OLDEST });
        }
        Ok(Self { path, flavour, version })
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

    /// Whether `min-replicas-to-write` applies to writes in scripts as well as to plain writes: since 7.0 (measured: 6.2.5
    /// lets a script write, 7.0.15 and Valkey 9.1.2 do not).
    pub fn counts_replicas_in_scripts(&self) -> bool {
        self.version >= (Version { major: 7, minor: 0, patch: 0 })
    }

    /// Whether a script on a replica sees a key that has expired but that its master has not deleted yet: before 7.0. A read
    /// outside a script does not (measured: `EXISTS` in `EVAL` answers 1 on 6.2.5, 0 on 7.0.15 and Valkey 9.1.2).
    pub fn shows_scripts_what_has_expired(&self) -> bool {
        self.version < (Version { major: 7, minor: 0, patch: 0 })
    }

    /// How it replicates a TTL: since 7.0 as a time on the master's clock (measured: 6.2.5 sends `PEXPIRE`, 7.0.15 and
    /// Valkey 9.1.2 send `PEXPIREAT`).
    pub fn ttls(&self) -> Ttls {
        if self.version >= (Version { major: 7, minor: 0, patch: 0 }) { Ttls::Absolute } else { Ttls::Relative }
    }
}

impl fmt::Display for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flavour, self.version)
    }
}

/// `name` itself if it is a path; otherwise the first program of that name on `PATH`, as in a shell.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The first line of the program's answer to `--version`, or why there is none.
fn version_line(path: &Path) -> Result<String, String> {
    let spawned = Command::new(path).arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| error.to_string())?;
    let mut output = child.stdout.take().ok_or("it has no output")?;
    let (sender, answer) = mpsc::channel();
    // A program that never ends must not keep us: this thread alone waits for it.
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.read_to_end(&mut text).map(|_| text);
        // Nobody is listening once the limit has passed.
        let _ = sender.send(read);
    });
    let read = answer.recv_timeout(VERSION_WAIT);
    // It has ended, or it never will; either way nothing is left running.
    let _ = child.kill();
    let _ = child.wait();
    let text = read.map_err(|_| format!("no answer within {} s", VERSION_WAIT.as_secs()))?;
    let text = text.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned())
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
