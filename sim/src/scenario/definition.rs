//! The definition of a scenario.

use std::collections::BTreeMap;

use lockstep_model::{Config, Property, Verdict};

/// A small world, with a story and the declared verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The name of the file without its extension: `failover-loses-the-grant`.
    pub name: String,
    /// The story: a sentence or two, on one line.
    pub story: String,
    /// The world.
    pub config: Config,
    /// The declared verdict for each property.
    pub expect: BTreeMap<Property, Verdict>,
}
