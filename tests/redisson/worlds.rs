//! Worlds in which the replay once differed from Redisson, or failed, each with a seed that led there: `worlds.toml`.

use lockstep_sim::replay::redisson::Deployment;
use lockstep_sim::replay::suited;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::at_once::at_once;
use lockstep_tests::servers::servers;
use serde::Deserialize;

use crate::scenarios::{built_in, try_random_histories, version_of};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldsFile {
    world: Vec<OnceDiffering>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnceDiffering {
    name: String,
    seed: u64,
    histories: u32,
    /// A reason for which a history of it is not followed to its end.
    left: Option<String>,
    /// How its servers are set up.
    #[serde(default)]
    deployment: NamedDeployment,
    /// Whether the name is that of a built-in scenario.
    #[serde(default)]
    built_in: bool,
    /// Its kind of lock, if that is not the reentrant one.
    lock: Option<String>,
    /// The text of another one, without its story and its lock.
    #[serde(default)]
    keys: String,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedDeployment {
    #[default]
    AsScenario,
    Cluster,
    Sentinel,
}

impl NamedDeployment {
    const fn deployment(self) -> Deployment {
        match self {
            Self::AsScenario => Deployment::AsScenario,
            Self::Cluster => Deployment::Cluster,
            Self::Sentinel => Deployment::Sentinel,
        }
    }
}

impl OnceDiffering {
    fn scenario(&self) -> Scenario {
        if self.built_in {
            return built_in(&self.name);
        }
        let own = self.lock.as_ref().map(|kind| format!("lock = \"{kind}\""));
        let lock = own.as_deref().unwrap_or("lock = \"reentrant\"");
        let text = format!("story = \"s\"\n{lock}\n{}", self.keys);
        let scenario = Scenario::parse(&self.name, &text).unwrap_or_else(|error| panic!("{error}"));
        let config = suited(&scenario.config, &servers()[0]);
        Scenario { config, ..scenario }
    }
}

#[test]
fn worlds_in_which_redisson_once_differed_are_followed_or_left_for_a_reason() {
    let WorldsFile { world } = toml::from_str(include_str!("worlds.toml")).expect("a list of worlds");
    let complaints = at_once(&world, |one| complaint(one).map(|complaint| format!("{}: {complaint}", one.name)));
    let complaints: Vec<_> = complaints.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What is wrong with its histories, if anything is.
fn complaint(one: &OnceDiffering) -> Option<String> {
    let scenario = one.scenario();
    let program = version_of(&scenario.config).deployed_in(one.deployment.deployment());
    let found = match try_random_histories(&scenario, program, one.histories, one.seed) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    if let Some((_, difference)) = found.counterexample {
        return Some(format!("{difference:#?}"));
    }
    let is_as_said = match one.left.as_deref() {
        Some(left) => found.ends.contains_key(left),
        None => found.left < found.cases,
    };
    (!is_as_said).then(|| format!("{:?}", found.ends))
}
