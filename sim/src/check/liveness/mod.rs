//! Liveness: whether an obligation can stay unfulfilled for ever on a fair path.
//!
//! The complete graph is built ([`graph`]); where masters are alike, first one in which the order of most of them does not count
//! (`orbits`), which is enough for what holds. For each property, the states with an unfulfilled obligation are split into
//! [`components`], and a component that a fair run can stay in gives a [`lasso`].
//! [`ActionKind::is_fair`](lockstep_model::ActionKind::is_fair) says which actions are fair; [`Fairness`] says what
//! that means.

pub mod actions;
mod building;
pub mod components;
pub mod graph;
pub mod lasso;
pub mod lasting;
mod orbits;
mod pass;
mod reach;
mod rounds;
mod worlds;

pub use actions::{ActionSet, Fairness};
pub use graph::{Graph, Marks, Move, Space};
pub use lasso::Lasso;
pub use lasting::{Lasting, lasting, longest_wait};
pub use pass::{DeadEnd, Found, LassoRun, Liveness, LivenessQuestion, Whom, look};
