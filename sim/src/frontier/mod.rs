//! The frontier: for each property the smallest sets of faults that break it, bare and under each repair.
//!
//! More faults allow more, never less: a set that breaks a property breaks it with every further fault as well. So sets
//! are checked by size, and a set that contains a smaller one that breaks a property says nothing new about that
//! property. That also shows that the sets found are minimal: every set with one fault less was checked, and held.
//!
//! [`settings`] lists faults and repairs, [`ScenarioEdit`] writes them into a scenario, [`frontier`] searches,
//! [`survey`](survey()) compares the results with and without each repair.

mod scenario_edit;
mod search;
pub mod settings;
mod survey;

pub use scenario_edit::ScenarioEdit;
pub use search::{FaultSet, Foreign, Frontier, FrontierOptions, Minimal, Price, SetsChecked, frontier};
pub use survey::{Cell, HAS_IT, RepairEffect, Survey, survey};
