//! The server program: who made it, which version it is, where it was found.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_model::config::Ttls;

use super::Error;

/// The oldest version whose scripts replicate by effect and whose replicas connect at once.
const OLDEST: Version = Version { major: 6, minor: 2, patch: 0 };

/// Whose server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavour {
    /// `redis-server`.
    Redis,
    /// `valkey-server`.
    Valkey,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redis => "Redis",
            Self::Valkey => "Valkey",
        })
    }
}

/// The version of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 7 of 7.0.15.
    pub major: u32,
    /// 0 of 7.0.15.
    pub minor: u32,
    /// 15 of 7.0.15.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A program that serves Redis: found, and asked what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    path: PathBuf,
    flavour: Flavour,
    version: Version,
}

impl Server {
    /// Finds the server to use: the one named, or else `LOCKSTEP_REDIS_SERVER`, or else
    /// `redis-server` and then `valkey-server` on `PATH`.
    ///
    /// # Errors
    ///
    /// `ServerNotFound` or `NamedServerNotFound`, which say how to install one; `NotAServer`;
    /// `WrongVersion`.
    pub fn find(explicit: Option<&Path>) -> Result<Self, Error> {
        let from_environment = env::var_os("LOCKSTEP_REDIS_SERVER").filter(|name| !name.is_empty());
        let named = explicit
            .map(|name| (name.as_os_str(), "--server"))
            .or(from_environment.as_deref().map(|name| (name, "LOCKSTEP_REDIS_SERVER")));
        let path = match named {
            Some((name, named_by)) => on_path(name)
                .ok_or_else(|| Error::NamedServerNotFound { path: Path::new(name).display().to_string(), named_by })?,
            None => ["redis-server", "valkey-server"]
                .into_iter()
                .find_map(|name| on_path(OsStr::new(name)))
                .ok_or(Error::ServerNotFound)?,
        };
        // A node runs in a folder of its own, where a relative path would mean something else.
        Self::ask(path::absolute(path).map_err(Error::system("find out where we are"))?)
    }

    fn ask(path: PathBuf) -> Result<Self, Error> {
        let answer = match Command::new(&path).arg("--version").stdin(Stdio::null()).output() {
            Ok(output) => String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned(),
            Err(error) => error.to_string(),
        };
        let Some((flavour, version)) = parse_version(&answer) else {
            return Err(Error::NotAServer { path, answer });
        };
        if version < OLDEST {
            return Err(Error::WrongVersion { path, flavour, found: version, needed: OLDEST });
        }
        Ok(Self { path, flavour, version })
    }

    /// The program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose server it is.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether the writes of a script are refused too where `min-replicas-to-write` refuses a plain write: since 7.0
    /// (measured: 6.2.5 lets a script write, 7.0.15 and Valkey 9.1.2 do not).
    pub fn counts_replicas_in_scripts(&self) -> bool {
        self.version >= (Version { major: 7, minor: 0, patch: 0 })
    }

    /// Whether a script on a replica sees a key that has expired and that the master has not deleted: until 7.0, where a
    /// read outside a script does not (measured: `EXISTS` in `EVAL` answers 1 on 6.2.5, 0 on 7.0.15 and Valkey 9.1.2).
    pub fn shows_scripts_what_has_expired(&self) -> bool {
        self.version < (Version { major: 7, minor: 0, patch: 0 })
    }

    /// How it tells its replicas a TTL: as a time of its own clock since 7.0 (measured: 6.2.5 sends `PEXPIRE`, 7.0.15
    /// and Valkey 9.1.2 send `PEXPIREAT`).
    pub fn ttls(&self) -> Ttls {
        if self.version >= (Version { major: 7, minor: 0, patch: 0 }) { Ttls::Absolute } else { Ttls::Relative }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flavour, self.version)
    }
}

/// `name` itself if it is a path, as a shell would have it; otherwise the first of that name on `PATH`.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
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
