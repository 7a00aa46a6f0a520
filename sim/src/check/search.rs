//! The result of a search, whichever engine performs it.

use lockstep_model::Action;

use super::coverage::Coverage;
use super::limits::Stopped;

/// The result of a search.
pub struct Search {
    /// Distinct states.
    pub states: u64,
    /// Successors generated, including the first state.
    pub generated: u64,
    /// Steps from the first state to the farthest one.
    pub depth: u32,
    /// The reason why it did not visit every state.
    pub stopped: Option<Stopped>,
    /// Which actions were taken and what happened.
    pub coverage: Coverage,
    /// For each requested property, a shortest list of actions that breaks it.
    pub witnesses: Vec<Option<Vec<Action>>>,
    /// Whether what was found among normal forms could not be executed, so that full worlds were searched instead: a normal form
    /// leaves out what can still be seen there. Verdicts are those of full worlds then.
    pub left_normal_forms: bool,
    /// Peak memory of tables and layers; `None` where the engine does not report it.
    pub peak_bytes: Option<u64>,
}
