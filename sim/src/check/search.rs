//! What a search finds, whichever engine does it.

use lockstep_model::Action;

use super::coverage::Coverage;
use super::limits::Stopped;

/// What a search found.
pub struct Search {
    /// Distinct states.
    pub states: u64,
    /// Successors, the first state included.
    pub generated: u64,
    /// Steps from the first state to the farthest.
    pub depth: u32,
    /// Why it did not visit every state.
    pub stopped: Option<Stopped>,
    /// Which actions were taken and what happened.
    pub coverage: Coverage,
    /// For each property asked for, a shortest list of actions that breaks it.
    pub witnesses: Vec<Option<Vec<Action>>>,
    /// The most memory that tables and layers took; `None` where the engine does not say.
    pub peak_bytes: Option<u64>,
}
