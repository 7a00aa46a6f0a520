//! The pages in `reports/` and the README match real runs: each page is generated here and compared with the committed
//! one. `make reports` writes them.
//!
//! Numbers, pictures and tables come from runs. A sentence that claims more than its numbers has an assertion beside
//! it.

mod anomalies;
mod answers;
mod family;
mod keys;
mod lock_loss;
mod minimal;
mod performance;
mod protocol;
mod readme;
mod repairs;
mod runs;
mod staleness;
mod state_space;
