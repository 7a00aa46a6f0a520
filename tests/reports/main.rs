//! The pages in `reports/` and the README say what real runs say: each is generated here and compared with the committed
//! one. `make reports` writes them.
//!
//! Numbers, pictures and tables come from runs. A sentence that says more than its numbers is asserted where it stands.

mod anomalies;
mod answers;
mod keys;
mod lock_loss;
mod minimal;
mod page;
mod performance;
mod readme;
mod repairs;
mod runs;
mod state_space;
