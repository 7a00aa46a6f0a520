//! What is known of a scenario after a run.

use lockstep_model::trace::Trace;
use lockstep_model::{Config, Property, Verdict};

use super::coverage::Coverage;
use super::engine::Engine;
use super::judge;

/// A defect of Lockstep, found by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The judge does not accept a witness.
    #[error("{scenario}: {rejection}")]
    Rejected {
        /// Of which scenario.
        scenario: String,
        /// Why.
        rejection: judge::Rejection,
    },
    /// The two engines do not say the same.
    #[error("{scenario}: the engines differ in {what}: native says {native}, stateright says {stateright}")]
    Disagree {
        /// Of which scenario.
        scenario: String,
        /// In what.
        what: String,
        /// One opinion.
        native: String,
        /// The other.
        stateright: String,
    },
}

/// What was found of one scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: String,
    /// Its world.
    pub config: Config,
    /// Who looked.
    pub engine: Engine,
    /// Distinct states.
    pub states: u64,
    /// States reached, the same one as often as it was reached.
    pub generated: u64,
    /// Steps from the first state to the farthest.
    pub depth: u32,
    /// Whether every reachable state was looked at.
    pub complete: bool,
    /// Wall-clock time.
    pub seconds: f64,
    /// How wide the fingerprints were by which states were told apart, bits.
    pub fingerprint_bits: u32,
    /// The most memory that tables and layers took; `None` where the engine does not say.
    pub peak_bytes: Option<u64>,
    /// The part of it that was spent on liveness; `None`: no such property applies, or the search had to stop before.
    pub liveness_seconds: Option<f64>,
    /// What was taken and what happened.
    pub coverage: Coverage,
    /// One per property that applies, in the order of [`Property::ALL`].
    pub properties: Vec<PropertyOutcome>,
}

/// What was found of one property.
#[derive(Clone, Debug)]
pub struct PropertyOutcome {
    /// Which.
    pub property: Property,
    /// What the scenario says it should be; `None`: it says nothing, so it must not be violated.
    pub declared: Option<Verdict>,
    /// What it is.
    pub verdict: Verdict,
    /// Of a vacuous or inconclusive verdict: why, in words.
    pub why: Option<String>,
    /// Who says so.
    pub engine: Engine,
    /// The shortest trace that breaks it, of liveness one with the shortest stem, judged.
    pub trace: Option<Trace>,
}

impl PropertyOutcome {
    /// Whether it is what the scenario says.
    pub fn is_as_declared(&self) -> bool {
        match self.declared {
            Some(declared) => declared == self.verdict,
            None => matches!(self.verdict, Verdict::Holds | Verdict::Vacuous),
        }
    }
}

impl Outcome {
    /// Whether every property is as declared.
    pub fn is_as_declared(&self) -> bool {
        self.properties.iter().all(PropertyOutcome::is_as_declared)
    }

    /// Whether a limit kept something from being known.
    pub fn is_inconclusive(&self) -> bool {
        self.properties.iter().any(|found| found.verdict == Verdict::Inconclusive)
    }
}
