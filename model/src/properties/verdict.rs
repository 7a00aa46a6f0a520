//! What a run finds out about a property.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What is known of a property after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every reachable state was explored, and it is so in each.
    Holds,
    /// It is so in every state within the bounds that the scenario sets itself, and it claims no more than that.
    HoldsWithinBounds,
    /// A trace breaks it.
    Violated,
    /// It was never put to the test: an antecedent never true, an allowed action never taken.
    Vacuous,
    /// A limit was reached before either was known.
    Inconclusive,
}

impl Verdict {
    /// The word scenarios and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsWithinBounds => "holds-within-bounds",
            Self::Violated => "violated",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
