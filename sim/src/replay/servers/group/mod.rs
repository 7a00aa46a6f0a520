//! A group of servers: a master, its replicas, the links between them, and what happens to them.

mod counting;
mod faults;
mod links;
mod members;
mod other_master;
mod promotion;
mod refusals;
mod sentinel_watch;
mod slot_move;
mod ties;

pub use members::{START_MS, ServerGroup};
pub use refusals::refuse_unsuited;
pub use sentinel_watch::SentinelWatch;
