//! Looks at every state of a scenario and says what is so.
//!
//! Two engines that share nothing but the model give the verdicts; the judge re-executes every witness before anybody
//! sees it.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use lockstep_model::config::Faults;
use lockstep_model::trace::Trace;
use lockstep_model::{ActionKind, Happenings, Property, Verdict};

/// Who looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Our own breadth-first search.
    #[default]
    Native,
    /// stateright, the second opinion.
    Stateright,
    /// Both; that they differ is an internal error.
    Both,
}

/// When to stop early. Stopping early makes what is not yet known inconclusive, never "holds".
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// At most so many distinct states.
    pub max_states: Option<u64>,
    /// At most so long, for one scenario.
    pub timeout: Option<Duration>,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Distinct states so far, for whoever shows progress.
    pub progress: &'a AtomicU64,
}

/// What was found of one scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: String,
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
    /// What was taken and what happened.
    pub coverage: Coverage,
    /// One per property that applies, in the order of [`Property::ALL`].
    pub properties: Vec<PropertyOutcome>,
}

/// What a run came to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How often an action of each kind was taken, in the order of [`ActionKind::ALL`].
    pub taken: [u64; ActionKind::ALL.len()],
    /// Everything that happened in any step.
    pub happenings: Happenings,
    /// For each fault, the least that was left of its budget in any state.
    pub least_left: Faults,
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
    /// The shortest trace that breaks it, judged.
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
