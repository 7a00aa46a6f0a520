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
    /// How its file writes times.
    pub units: TimesWithUnits,
}

/// The times of a scenario's file that have a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimesWithUnits {
    /// Each key with such a value, and the value in ms.
    pub times_ms: Vec<(&'static str, i64)>,
    /// Whether they decide how long a tick is, because the file has no `tick_ms`.
    pub decide_the_tick: bool,
    /// Keys that matter, are left out, and are one tick then.
    pub of_one_tick: Vec<&'static str>,
}

impl TimesWithUnits {
    /// Whether any time has a unit.
    pub fn has_units(&self) -> bool {
        !self.times_ms.is_empty()
    }
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
