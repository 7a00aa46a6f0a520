//! The profiles: which versions of which client libraries have one, and where its rules come from.

use serde::{Deserialize, Serialize};

/// A named set of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Profile {
    /// Redisson as of 2021.
    #[serde(rename = "redisson-3.15")]
    Redisson315,
    /// Redisson 3.43.
    #[serde(rename = "redisson-3.43")]
    Redisson343,
    /// Redisson 3.52.
    #[serde(rename = "redisson-3.52")]
    Redisson352,
    /// Redisson 4.3.
    #[serde(rename = "redisson-4.3")]
    Redisson43,
    /// Redisson as of 2026.
    #[serde(rename = "redisson-4.7")]
    Redisson47,
    /// redis-py 8, `redis.lock.Lock`.
    #[serde(rename = "redis-py-8")]
    RedisPy8,
    /// node-redlock 5 on one server, by `using`.
    #[serde(rename = "redlock-5")]
    Redlock5,
    /// node-redlock 4 on one server, and an application that calls `extend`.
    #[serde(rename = "redlock-4")]
    Redlock4,
    /// redsync 4 on one server.
    #[serde(rename = "redsync-4")]
    Redsync4,
    /// bsm/redislock 0.10.
    #[serde(rename = "redislock-0.10")]
    Redislock010,
    /// `ShedLock` 7 as it is without `safeUpdate`, kept alive by `KeepAliveLockProvider`.
    #[serde(rename = "shedlock-7")]
    Shedlock7,
    /// Spring Integration 7, `RedisLockRegistry`.
    #[serde(rename = "spring-integration-7")]
    SpringIntegration7,
    /// Our own client: Redisson 4.7, but the application is notified when its lock is lost.
    #[serde(rename = "lockstep")]
    Lockstep,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 13] = [
        Self::Redisson315,
        Self::Redisson343,
        Self::Redisson352,
        Self::Redisson43,
        Self::Redisson47,
        Self::Lockstep,
        Self::RedisPy8,
        Self::Redlock5,
        Self::Redlock4,
        Self::Redsync4,
        Self::Redislock010,
        Self::Shedlock7,
        Self::SpringIntegration7,
    ];

    /// The word scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redisson315 => "redisson-3.15",
            Self::Redisson343 => "redisson-3.43",
            Self::Redisson352 => "redisson-3.52",
            Self::Redisson43 => "redisson-4.3",
            Self::Redisson47 => "redisson-4.7",
            Self::Lockstep => "lockstep",
            Self::RedisPy8 => "redis-py-8",
            Self::Redlock5 => "redlock-5",
            Self::Redlock4 => "redlock-4",
            Self::Redsync4 => "redsync-4",
            Self::Redislock010 => "redislock-0.10",
            Self::Shedlock7 => "shedlock-7",
            Self::SpringIntegration7 => "spring-integration-7",
        }
    }

    /// Where its rules come from: a library and its version, and for one that was read and not run, the files and the commit
    /// (docs/facts/redisson.md, docs/facts/libraries.md).
    pub const fn source(self) -> &'static str {
        match self {
            Self::Redisson315 => "runs of Redisson 3.15.6",
            Self::Redisson343 => "runs of Redisson 3.43.0",
            Self::Redisson352 => "runs of Redisson 3.52.0",
            Self::Redisson43 => "runs of Redisson 4.3.1",
            Self::Redisson47 => "runs of Redisson 4.7.0",
            Self::Lockstep => "this project's own client",
            Self::RedisPy8 => "the source of redis-py 8.0.0: `redis/lock.py`, commit 34817ce2",
            Self::Redlock5 => "the source of node-redlock 5.0.0-beta: `src/index.ts`, commit afe5cf92",
            Self::Redlock4 => "runs of node-redlock 4.2.0 as npm has it, and its source: `redlock.js`",
            Self::Redsync4 => "the source of redsync 4: `mutex.go`, commit 5560bd2d",
            Self::Redislock010 => "the source of bsm/redislock 0.10: `*.lua`, commit 76760bd8",
            Self::Shedlock7 => {
                "the source of ShedLock 7.9.0: `InternalRedisLockProvider`, `KeepAliveLockProvider`, commit 2495b140; \
                 `safeUpdate` is off, as it is by default"
            }
            Self::SpringIntegration7 => "the source of Spring Integration 7: `RedisLockRegistry`, commit 0000434f",
        }
    }

    /// Whether its library tells an application how long a grant is valid. One that is answered later than that is given back, but for
    /// [some](Self::returns_late_grants).
    pub const fn tells_validity(self) -> bool {
        matches!(self, Self::Redlock5 | Self::Redlock4 | Self::Redsync4)
    }

    /// Whether its library returns a grant also if that is answered too late to be valid (docs/facts/libraries.md#node-redlock).
    pub const fn returns_late_grants(self) -> bool {
        matches!(self, Self::Redlock5)
    }

    /// Whether its library has a local lock in front of each lock of Redis, which lets one thread of a process ask at a time
    /// (docs/facts/libraries.md#spring-integration).
    pub const fn lets_one_thread_ask(self) -> bool {
        matches!(self, Self::SpringIntegration7)
    }

    /// Whether it is of a library whose lock is one key with a value, by which a release finds its own
    /// ([`Facts::value`](crate::locks::Facts::value)).
    pub const fn is_of_one_key(self) -> bool {
        match self {
            Self::Redisson315
            | Self::Redisson343
            | Self::Redisson352
            | Self::Redisson43
            | Self::Redisson47
            | Self::Lockstep => false,
            Self::RedisPy8
            | Self::Redlock5
            | Self::Redlock4
            | Self::Redsync4
            | Self::Redislock010
            | Self::Shedlock7
            | Self::SpringIntegration7 => true,
        }
    }

    /// The version of Redisson that was run for it, to the patch; `None`: it is no version of Redisson.
    pub const fn redisson_version(self) -> Option<&'static str> {
        match self {
            Self::Redisson315 => Some("3.15.6"),
            Self::Redisson343 => Some("3.43.0"),
            Self::Redisson352 => Some("3.52.0"),
            Self::Redisson43 => Some("4.3.1"),
            Self::Redisson47 => Some("4.7.0"),
            Self::Lockstep
            | Self::RedisPy8
            | Self::Redlock5
            | Self::Redlock4
            | Self::Redsync4
            | Self::Redislock010
            | Self::Shedlock7
            | Self::SpringIntegration7 => None,
        }
    }

    /// The profile of a version of Redisson: the newest one that is not newer, or the oldest. `None`: it is no version.
    pub fn of_redisson(version: &str) -> Option<Self> {
        let numbers = |version: &str| {
            let mut numbers = version.split(['.', '-']).map(|part| part.parse::<u32>().ok());
            Some((numbers.next()??, numbers.next()??))
        };
        let own = numbers(version)?;
        let known = Self::ALL.into_iter().filter_map(|one| Some((numbers(one.redisson_version()?)?, one)));
        let older = known.filter(|(version, _)| *version <= own);
        Some(older.max_by_key(|(version, _)| *version).map_or(Self::Redisson315, |(_, profile)| profile))
    }

    /// The profile of another library, by its name with any version or without one: `redlock-4.2.0`, `node-redlock`, `redis-py`. `None`: it has none.
    pub fn of_library(word: &str) -> Option<Self> {
        // A library for Node.js is often called by this prefix.
        let word = word.strip_prefix("node-").unwrap_or(word);
        let is_meant = |profile: &Self| {
            let library = profile.name().rsplit_once('-').map(|(library, _)| library);
            let version = library.and_then(|library| word.strip_prefix(library));
            version.is_some_and(|version| version.is_empty() || version.starts_with('-'))
        };
        let of_version = |profile: &&Self| word.strip_prefix(profile.name()).is_some_and(|rest| rest.starts_with('.'));
        let named: Vec<_> = Self::ALL.into_iter().filter(|one| one.is_of_one_key()).filter(is_meant).collect();
        named.iter().find(of_version).or(named.first()).copied()
    }
}
