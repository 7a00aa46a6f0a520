//! Real servers, made deterministic: what the model says is asked of Redis itself.
//!
//! A server is deterministic once nothing reaches it by chance. So time comes from the harness
//! (`clock`), a replica hears of a write when the harness says so (`gate`, which reads the link with
//! `stream`), and a process shares nothing with the machine but its processor (`node`, of a program that `server` has found,
//! in a folder that `held` clears away even after a kill).
//!
//! Who decides on a failover is the history, or real sentinels if they are asked for (`sentinel`).
//!
//! On these, `player` plays a history. `translate` is where model and implementation meet: it says what an
//! action tells Redis. `compare` puts what Redis answers into words that can be held beside the model's.

mod clock;
mod compare;
mod error;
mod gate;
mod held;
mod line;
mod node;
mod player;
pub mod sentinel;
mod server;
mod stream;
mod subscriber;
pub mod translate;

pub use clock::{Clock, ClockLibrary};
pub use compare::Difference;
pub use error::Error;
pub use gate::{Effect, Gate};
pub use node::{Node, Role, Settings};
pub use player::{Played, Player, suited};
pub use server::{Flavour, Server, Version};
