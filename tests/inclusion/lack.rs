//! What can be taken from the model, so that it explains less.

use lockstep_model::ActionKind;
use lockstep_model::config::{Config, Resource, WriteDelay};
use lockstep_model::mutants::Mutant;
use serde::{Deserialize, Serialize};

/// What the model lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Lack {
    /// An action changes nothing, as if the model had no rule for it.
    Action(ActionKind),
    /// This wrong rule stands in the place of the right one.
    Rule(Mutant),
}

impl Lack {
    /// Its name in files.
    pub fn name(self) -> String {
        match self {
            Self::Action(kind) => kind.name().to_owned(),
            Self::Rule(rule) => serde_json::to_value(rule).expect("a plain value").as_str().expect("a name").to_owned(),
        }
    }

    /// The action that changes nothing.
    pub const fn action(self) -> Option<ActionKind> {
        match self {
            Self::Action(kind) => Some(kind),
            Self::Rule(_) => None,
        }
    }

    /// The world in which the model lacks it.
    pub fn in_world(self, config: &Config) -> Config {
        match self {
            // Where nothing arrives late, a write is made when it arrives.
            Self::Action(ActionKind::Arrive) => {
                let resource = config.resource.map(|resource| Resource { delay: WriteDelay::None, ..resource });
                Config { resource, ..*config }
            }
            Self::Action(_) => *config,
            Self::Rule(rule) => config.with_mutant(rule),
        }
    }
}
