//! Checks the model exhaustively, and replays it on real Redis.
//!
//! [`scenario`] reads what to check, [`check`] visits every state, [`frontier`] finds which faults break which
//! property, [`explore`] shows the states in a browser, [`replay`] and [`fuzz`] compare with real servers, [`museum`]
//! reproduces defects of real client libraries, [`other_protocols`] finds the switch in which one differs and
//! [`telling_apart`] the histories that show it, [`render`] shows the results, and [`cli`] is the `lockstep` command over all of them.

pub mod any_world;
pub mod check;
pub mod cli;
pub mod exit;
pub mod explore;
pub mod frontier;
pub mod fuzz;
pub mod museum;
pub mod other_protocols;
mod plain_text;
pub mod recorder;
pub mod render;
pub mod replay;
pub mod scenario;
pub mod stop;
pub mod telling_apart;
