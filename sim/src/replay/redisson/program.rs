//! A version of Redisson: where its driver is, what its profile is, and the JVMs that have it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use lockstep_model::Config;
use lockstep_model::config::Profile;

use super::deployment::Deployment;
use super::idle_jvms::{IdleJvms, UsedJvm};
use super::interruption::Interruption;
use super::jvm::{Jvm, RedissonDriver};
use super::pub_sub::PubSubCommands;
use crate::replay::error::ReplayError;
use crate::replay::servers::ServerProgram;

/// A version of Redisson that tools/redisson/install has built a driver for.
#[derive(Clone, Debug)]
pub struct RedissonProgram {
    driver: RedissonDriver,
    interruption: Interruption,
    deployment: Deployment,
    /// What its clients must publish by; `None`: what follows from the deployment.
    expected: Option<PubSubCommands>,
    idle: IdleJvms,
}

impl RedissonProgram {
    /// Finds a version in the folder that `LOCKSTEP_REDISSON` names, or else in `.tools/redisson`.
    ///
    /// # Errors
    /// As [`find_with`](Self::find_with).
    pub fn find(version: &str) -> Result<Self, ReplayError> {
        Self::find_with(version, IdleJvms::default())
    }

    /// The same, with JVMs that others have used. A clone shares them too.
    ///
    /// # Errors
    /// `NoRedisson`; `NoJava`; `OtherDriver` of a folder that an earlier lockstep has made.
    pub fn find_with(version: &str, idle: IdleJvms) -> Result<Self, ReplayError> {
        let folder = env::var_os("LOCKSTEP_REDISSON")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| PathBuf::from(".tools/redisson"), PathBuf::from);
        let driver =
            RedissonDriver { version: version.to_owned(), java: folder.join("java"), folder: folder.join(version) };
        let has_driver = RedissonDriver::is_in(&driver.folder);
        if has_driver && !driver.java.is_file() {
            return Err(ReplayError::NoJava { java: driver.java, version: driver.version });
        }
        if has_driver && Path::new(version).file_name().is_some_and(|name| name == version) {
            let (interruption, deployment) = (Interruption::default(), Deployment::default());
            return Ok(Self { driver, interruption, deployment, expected: None, idle });
        }
        if driver.folder.join("classes").is_dir() {
            return Err(ReplayError::OtherDriver { version: driver.version, folder: driver.folder });
        }
        Err(ReplayError::NoRedisson { version: version.to_owned(), installed: installed_in(&folder), folder })
    }

    /// The version of a client with this profile: this one where it has the profile of the scenario, or else the one that the
    /// profile is named after.
    ///
    /// # Errors
    /// As [`find_with`](Self::find_with).
    pub fn for_profile(&self, own: Profile, of_scenario: Profile) -> Result<Self, ReplayError> {
        let version = self.version_of(own, of_scenario);
        if version == self.version() {
            return Ok(self.clone());
        }
        let driver = Self::find_with(version, self.idle.clone())?.driver;
        Ok(Self { driver, ..self.clone() })
    }

    /// That version.
    pub fn version_of(&self, own: Profile, of_scenario: Profile) -> &str {
        own.redisson_version().filter(|_| own != of_scenario).unwrap_or_else(|| self.version())
    }

    /// The same, with callers that give up in this way.
    #[must_use]
    pub fn interrupted_by(self, interruption: Interruption) -> Self {
        Self { interruption, ..self }
    }

    /// How its callers give up.
    pub fn interruption(&self) -> Interruption {
        self.interruption
    }

    /// The same, with servers that are set up in this way.
    #[must_use]
    pub fn deployed_in(self, deployment: Deployment) -> Self {
        Self { deployment, ..self }
    }

    /// The same, with servers that are set up as this world needs them: a slot is moved in a cluster.
    #[must_use]
    pub fn of_world(&self, config: &Config) -> Self {
        let is_moved = config.faults.move_slot > 0 && self.deployment == Deployment::AsScenario;
        let deployment = if is_moved { Deployment::Cluster } else { self.deployment };
        Self { deployment, ..self.clone() }
    }

    /// How its servers are set up.
    pub const fn deployment(&self) -> Deployment {
        self.deployment
    }

    /// The same, where its clients must publish and subscribe by these commands, whatever follows from the deployment: so that a
    /// comparison can be seen to fail.
    #[must_use]
    pub fn expected_to_use(self, commands: PubSubCommands) -> Self {
        Self { expected: Some(commands), ..self }
    }

    /// The commands by which its clients must publish and subscribe on such a server (docs/facts/redisson.md#publish-command).
    pub fn pub_sub_commands(&self, server: &ServerProgram) -> PubSubCommands {
        let is_sharded =
            self.deployment == Deployment::Cluster && self.publishes_in_shards() && server.has_sharded_channels();
        let commands = if is_sharded { PubSubCommands::SHARDED } else { PubSubCommands::ORDINARY };
        self.expected.unwrap_or(commands)
    }

    /// Whether its version publishes in the shard of a lock where a cluster has that.
    pub fn publishes_in_shards(&self) -> bool {
        self.profile() != Profile::Redisson315
    }

    /// The profile of its version: the newest one that is not newer, or the oldest. A version whose number cannot be read is taken
    /// for a new one.
    pub fn profile(&self) -> Profile {
        Profile::of_redisson(&self.driver.version).unwrap_or(Profile::Redisson47)
    }

    /// A JVM with it: one that is idle, or else a new one at this wall clock.
    ///
    /// # Errors
    /// As [`Jvm::start`].
    pub fn take_jvm(&self, start_ms: i64) -> Result<UsedJvm, ReplayError> {
        match self.idle.take(&self.driver.folder) {
            Some(used) => Ok(used),
            None => Ok(UsedJvm { jvm: Jvm::start(&self.driver, start_ms)?, histories: 0 }),
        }
    }

    /// Keeps a JVM that has no clients any more.
    pub fn keep_jvm(&self, jvm: UsedJvm) {
        self.idle.keep(&self.driver.folder, jvm);
    }

    /// Its driver.
    pub const fn driver(&self) -> &RedissonDriver {
        &self.driver
    }

    /// Its version: `4.7.0`.
    pub fn version(&self) -> &str {
        &self.driver.version
    }
}

/// The versions whose drivers lie in this folder, oldest first.
fn installed_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let built = entries.filter(|entry| RedissonDriver::is_in(&entry.path()));
    let names = built.filter_map(|entry| entry.file_name().into_string().ok());
    let mut versions: Vec<_> = names.filter(|name| Profile::of_redisson(name).is_some()).collect();
    versions.sort_by_cached_key(|name| name.split('.').map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>());
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_a_version_is_the_newest_that_is_not_newer() {
        for (version, profile) in [
            ("3.15.6", Profile::Redisson315),
            ("2.15.2", Profile::Redisson315),
            ("3.43.0", Profile::Redisson343),
            ("3.44.0", Profile::Redisson343),
            ("3.52.1", Profile::Redisson352),
            ("4.1.0", Profile::Redisson352),
            ("4.3.0", Profile::Redisson43),
            ("4.7.0", Profile::Redisson47),
            ("5.0.0-beta", Profile::Redisson47),
            ("mine", Profile::Redisson47),
        ] {
            let driver = RedissonDriver { version: version.to_owned(), java: PathBuf::new(), folder: PathBuf::new() };
            let program = RedissonProgram {
                driver,
                interruption: Interruption::Thread,
                deployment: Deployment::AsScenario,
                expected: None,
                idle: IdleJvms::default(),
            };
            assert_eq!(program.profile(), profile, "{version}");
        }
    }
}
