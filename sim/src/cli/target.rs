//! The options that say what plays the clients of a replay.

use clap::ValueEnum;
use lockstep_model::Config;
use lockstep_model::config::Profile;
use lockstep_redis::Scripts;

use super::common::Ended;
use super::screen::Screen;
use crate::exit::Exit;
use crate::replay::redisson::{Deployment, IdleJvms, RedissonProgram, refuse_world};
use crate::replay::{ReplayError, TargetProgram};

/// What plays the clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TargetName {
    /// The scripts of this project
    #[default]
    Scripts,
    /// Real Redisson, in a JVM whose clocks stand still
    Redisson,
}

/// How the servers of Redisson are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DeploymentName {
    /// A cluster of one master and its replicas: SPUBLISH on Redis 7.0 and newer, requests without an answer are sent again, and
    /// a replica takes over by CLUSTER FAILOVER TAKEOVER. It refuses `restart_node`, `names = 2` and `subscribe_to =
    /// "replica"`, and beside replicas `hand_over`, `cut_link`, `refuse_writes` and `pause_node`
    Cluster,
    /// A sentinel tells where the first master is: requests without an answer are sent again. It refuses `subscribe_to =
    /// "replica"`
    Sentinel,
}

impl DeploymentName {
    const fn deployment(self) -> Deployment {
        match self {
            Self::Cluster => Deployment::Cluster,
            Self::Sentinel => Deployment::Sentinel,
        }
    }
}

/// The options of the commands that replay.
#[derive(clap::Args, Default)]
pub(super) struct TargetArgs {
    /// What plays the clients; the driver of Redisson is built by tools/redisson/install, and lies in the folder that
    /// `LOCKSTEP_REDISSON` names, or else in .tools/redisson
    #[arg(long, value_name = "TARGET", value_enum, default_value_t)]
    on: TargetName,
    /// The version of Redisson [default: that of the scenario's profile: 4.7.0, 4.3.1, 3.52.0, 3.43.0 or 3.15.6]
    #[arg(long, value_name = "VERSION", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    redisson: Option<String>,
    /// How the servers of Redisson are set up [default: as the scenario says: a single server, or a master with replicas]
    #[arg(long, value_name = "DEPLOYMENT", value_enum)]
    deployment: Option<DeploymentName>,

    /// What the scenarios share.
    #[arg(skip)]
    jvms: IdleJvms,
}

impl TargetArgs {
    /// Whether the clients are those of real Redisson.
    pub(super) fn is_redisson(&self) -> bool {
        self.on == TargetName::Redisson
    }

    /// Refuses a version of what is not used.
    pub(super) fn refuse_impossible(&self, has_sentinel: bool, screen: &Screen) -> Ended<()> {
        let reason = match (self.on, &self.redisson, self.deployment) {
            (TargetName::Scripts, Some(_), _) => "--redisson names a version of Redisson: add --on redisson",
            (TargetName::Scripts, None, Some(_)) => {
                "--deployment says how the servers of Redisson are set up: add --on redisson"
            }
            (TargetName::Redisson, ..) if has_sentinel => {
                "--sentinel is for our scripts: remove it, or --on redisson; for Redisson there is --deployment sentinel"
            }
            _ => return Ok(()),
        };
        Err(screen.fail(Exit::Usage, reason))
    }

    /// The program that plays the clients of this scenario.
    pub(super) fn program(&self, config: &Config) -> Result<TargetProgram, ReplayError> {
        match self.on {
            TargetName::Scripts => Ok(Scripts::built_in().into()),
            TargetName::Redisson => self.redisson(config).map(TargetProgram::from),
        }
    }

    /// Why this target cannot follow a scenario, which can be said before any search.
    pub(super) fn refusal(&self, config: &Config) -> Option<ReplayError> {
        if !self.is_redisson() {
            return None;
        }
        let refused = self.redisson(config).and_then(|program| refuse_world(config, &program)).err()?;
        matches!(refused, ReplayError::NotForRedisson { .. }).then_some(refused)
    }

    /// Says that the version is not the one whose profile the clients of this scenario have: a difference may be one of the two.
    pub(super) fn warn_of_other_version(&self, name: &str, config: &Config, screen: &Screen) {
        let of_profile = config.protocol.profile.redisson_version();
        if self.is_redisson() && of_profile.is_none() {
            screen.warn(&format!(
                "the clients of {name} are those of the profile {}, and Redisson is held against them: a difference may be one between \
                 the two",
                config.protocol.profile.name()
            ));
        }
        let Some((asked, (own, nearest))) = self.redisson.as_deref().zip(of_profile.zip(self.nearest_profile())) else {
            return;
        };
        if asked != own && nearest != config.protocol.profile {
            // Not every profile goes with every kind: a refusal, which follows, says more.
            let advice = if self.refusal(config).is_some() {
                String::new()
            } else {
                format!("; for its own, set profile = \"{}\" in [protocol]", nearest.name())
            };
            screen.warn(&format!(
                "the clients of {name} are those of Redisson {own}, and Redisson {asked} is held against them: a difference may be \
                 one between the two{advice}"
            ));
        }
    }

    /// The profile of the version that is asked for.
    fn nearest_profile(&self) -> Option<Profile> {
        let version = self.redisson.as_deref().filter(|_| self.is_redisson())?;
        RedissonProgram::find(version).ok().map(|program| program.profile())
    }

    /// The version of Redisson for this scenario.
    pub(super) fn redisson(&self, config: &Config) -> Result<RedissonProgram, ReplayError> {
        let of_profile = config.protocol.profile.redisson_version().unwrap_or("4.7.0");
        let program = RedissonProgram::find_with(self.redisson.as_deref().unwrap_or(of_profile), self.jvms.clone())?;
        Ok(program.deployed_in(self.deployment.map_or(Deployment::AsScenario, DeploymentName::deployment)))
    }

    /// These options, as they can be typed again.
    pub(super) fn again(&self) -> String {
        let version = self.redisson.as_ref().map_or_else(String::new, |version| format!(" --redisson {version}"));
        let option = self.deployment.and_then(|name| name.deployment().option());
        let deployment = option.map_or_else(String::new, |option| format!(" {option}"));
        if self.is_redisson() { format!(" --on redisson{version}{deployment}") } else { String::new() }
    }
}
