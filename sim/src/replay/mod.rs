//! Histories of the model, played on real servers and compared after each step.
//!
//! `player` walks a trace. On one side it has the `servers`, made deterministic: their clocks, links, disks and failures are
//! the history's. On the other side it has a `target`, which plays the clients and compares what they are told: our own
//! scripts, or real Redisson (`redisson`), as a `target_program` says. Both work on one `testbed`, which queues what need not be
//! answered at once and collects the `findings`.
//!
//! `translate` is where model and implementation meet: it says what an action asks of Redis, in one file per kind of lock.
//! `compare` puts what servers answer into words that are compared with the model's. Where a client library says something else,
//! `beside_scripts` asks our scripts too.

mod beside_scripts;
mod compare;
mod error;
mod findings;
mod given_up;
mod history_step;
mod node_names;
mod player;
pub mod redisson;
mod rounds;
mod servers;
mod target;
mod target_program;
mod testbed;
pub mod translate;
mod value_text;
mod version;

pub use compare::Difference;
pub use error::ReplayError;
pub use player::{Played, Player, suited};
pub use servers::{
    Addresses, Clock, ClockLibrary, ClockOffset, ClusterPlace, Gate, NodeSettings, OwnProcess, ReplicatedEffect,
    ServerConnection, ServerNode, ServerProgram, ServerRole, end_everything, refuse_unsuited, sentinel, tcp_proxy,
};
pub use target_program::TargetProgram;
pub use version::{Flavour, Version};
