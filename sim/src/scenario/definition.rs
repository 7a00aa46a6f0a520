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
    /// What is expected of the properties without one.
    pub others: Others,
}

/// What a scenario expects of the properties that it does not claim anything of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Each holds or is vacuous: so in a file without `[expect]`, or with `others = "holds"` there.
    Hold,
    /// Nothing: they are reported, and do not fail the run.
    Reported,
}

impl Others {
    /// The word for it in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Reported => "reported",
        }
    }
}
