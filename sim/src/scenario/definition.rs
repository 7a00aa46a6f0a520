//! What a scenario is.

use std::collections::BTreeMap;

use lockstep_model::{Config, Property, Verdict};

/// A small world, what it shows, and what is claimed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The file's name without its extension: `failover-loses-the-grant`.
    pub name: String,
    /// A sentence or two, on one line.
    pub story: String,
    /// The world.
    pub config: Config,
    /// The verdict that is declared for each property.
    pub expect: BTreeMap<Property, Verdict>,
}
