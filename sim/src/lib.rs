//! Runs: checks the model exhaustively, and replays it on real Redis.
//!
//! [`scenario`] reads what to look at, [`check`] looks at every state, [`frontier`] asks which faults break what,
//! [`explore`] shows them in a browser, [`replay`] and
//! [`fuzz`] ask real servers, [`render`] shows what was found, and [`cli`] is the `lockstep` command over all of them.

pub mod check;
pub mod cli;
pub mod exit;
pub mod explore;
pub mod frontier;
pub mod fuzz;
pub mod render;
pub mod replay;
pub mod scenario;
