//! Visits every state of a scenario and gives the verdicts.
//!
//! Two engines that share only the model give the verdicts on safety; [`liveness`] examines fair paths, whichever
//! engine is chosen, because stateright cannot. The judge executes every witness again before it is shown.

pub(crate) mod adapter;
pub(crate) mod bounds;
mod coverage;
pub mod covering;
mod engine;
pub mod fingerprint;
pub mod judge;
mod layouts;
mod limits;
pub mod liveness;
pub mod memory;
pub mod native;
mod outcome;
mod run;
mod search;
pub mod second_opinion;
pub(crate) mod worker_pool;

pub use coverage::Coverage;
pub use covering::{Covered, covering};
pub use engine::{Engine, How, Width};
pub use limits::{Limits, Pass, PassNow, Stopped};
pub use outcome::{CheckError, CheckOutcome, PropertyOutcome};
pub use run::{check, check_as, search};
pub use search::Search;
