//! A scenario: a small world with a story and a declared verdict per property. TOML in, explained errors out.

use std::collections::BTreeMap;

use lockstep_model::{Config, Property, Verdict};

/// A small world, what it shows, and what is claimed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The file's name without its ending: `failover-loses-the-grant`.
    pub name: String,
    /// A sentence or two.
    pub story: String,
    /// The world.
    pub config: Config,
    /// What each property is declared to be.
    pub expect: BTreeMap<Property, Verdict>,
}
