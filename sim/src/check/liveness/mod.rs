//! Liveness: whether something is owed for ever on a fair path.
//!
//! The complete graph is built ([`graph`]); for each property the states in which something is owed are split into
//! [`components`], and a component that a fair run can stay in gives a [`lasso`]. Which actions are fair is said by
//! [`ActionKind::is_fair`](lockstep_model::ActionKind::is_fair); what that means, by [`Fairness`].

pub mod actions;
mod building;
pub mod components;
pub mod graph;
pub mod lasso;
pub mod lasting;
mod pass;
mod rounds;
mod worlds;

pub use actions::{ActionSet, Fairness};
pub use graph::{Graph, Marks, Move, Space};
pub use lasso::Lasso;
pub use lasting::{Lasting, lasting, longest_wait};
pub use pass::{Found, Liveness, Run, Whom, look};
