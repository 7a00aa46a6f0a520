//! The result of checking a scenario.

use lockstep_model::trace::Trace;
use lockstep_model::{Config, Property, Verdict};

use super::coverage::Coverage;
use super::engine::Engine;
use super::judge;

/// A defect of Lockstep that it detected itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The judge rejects a witness.
    #[error("{scenario}: {rejection}")]
    Rejected {
        /// The scenario.
        scenario: String,
        /// The reason.
        rejection: judge::Rejection,
    },
    /// The two engines disagree.
    #[error("{scenario}: the engines differ in {what}: native says {native}, stateright says {stateright}")]
    Disagree {
        /// The scenario.
        scenario: String,
        /// What they disagree about.
        what: String,
        /// The result of one engine.
        native: String,
        /// The result of the other engine.
        stateright: String,
    },
}

/// The result of checking one scenario.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The scenario's name.
    pub scenario: String,
    /// Its world.
    pub config: Config,
    /// The engine that searched.
    pub engine: Engine,
    /// Distinct states.
    pub states: u64,
    /// States reached, each counted as often as it was reached.
    pub generated: u64,
    /// Steps from the first state to the farthest one.
    pub depth: u32,
    /// Whether every reachable state was visited: no limit was reached, and the model had room for everything.
    pub complete: bool,
    /// Wall-clock time.
    pub seconds: f64,
    /// The width of the fingerprints that told states apart, bits.
    pub fingerprint_bits: u32,
    /// Whether what was found among normal forms could not be executed, so that full worlds were searched instead: a normal form
    /// leaves out what can still be seen there. Verdicts are those of full worlds then.
    pub left_normal_forms: bool,
    /// Peak memory of tables and layers; `None` where the engine does not report it.
    pub peak_bytes: Option<u64>,
    /// The part of the time that was spent on liveness; `None`: no such property applies, or the search stopped early.
    pub liveness_seconds: Option<f64>,
    /// Which actions were taken and what happened.
    pub coverage: Coverage,
    /// One per property that applies, in the order of [`Property::ALL`].
    pub properties: Vec<PropertyOutcome>,
}

/// The result for one property.
#[derive(Clone, Debug)]
pub struct PropertyOutcome {
    /// The property.
    pub property: Property,
    /// The declared verdict.
    pub declared: Option<Verdict>,
    /// Whether another verdict fails the run; without a declared one, any but holds and vacuous does.
    pub is_required: bool,
    /// The actual verdict.
    pub verdict: Verdict,
    /// The reason for a vacuous or inconclusive verdict, or the bounds within which it holds, in words.
    pub why: Option<String>,
    /// The source of the verdict.
    pub engine: Engine,
    /// The shortest trace that breaks the property (for liveness, one with the shortest stem), accepted by the judge.
    pub trace: Option<Trace>,
}

impl PropertyOutcome {
    /// Whether the verdict is as declared, or nothing is expected of it.
    pub fn is_as_declared(&self) -> bool {
        match self.declared {
            // What holds outright holds within any bounds.
            Some(Verdict::HoldsWithinBounds) => matches!(self.verdict, Verdict::HoldsWithinBounds | Verdict::Holds),
            Some(declared) => declared == self.verdict,
            None => !self.is_required || matches!(self.verdict, Verdict::Holds | Verdict::Vacuous),
        }
    }
}

impl CheckOutcome {
    /// Whether every verdict is as declared.
    pub fn is_as_declared(&self) -> bool {
        self.properties.iter().all(PropertyOutcome::is_as_declared)
    }

    /// What is known of a property, if it is violated.
    pub fn found(&self, property: Property) -> Option<&PropertyOutcome> {
        self.properties.iter().find(|found| found.property == property && found.trace.is_some())
    }

    /// Whether the model has too little room for a step somewhere: then no limit on the search is the reason.
    pub fn is_out_of_room(&self) -> bool {
        self.coverage.touched().next().is_some()
    }

    /// Whether a limit left a verdict inconclusive.
    pub fn is_inconclusive(&self) -> bool {
        self.properties.iter().any(|found| found.verdict == Verdict::Inconclusive)
    }
}
