//! The server side: nodes, replication, failover, disks, clocks, and what the nodes keep for those connected to them.
//!
//! It knows nodes and locks, never a client. A rule works on a [`Server`](server::Server); requests come in by
//! `Server::execute`, and what clients must hear of is returned.

pub(crate) mod clock;
pub mod connections;
pub(crate) mod disk;
pub mod disk_age;
mod failed_save;
pub mod failover;
pub mod group;
pub(crate) mod hand_over;
pub mod layout;
mod link_state;
mod masters;
pub mod partition;
pub mod pause;
pub mod queue;
pub(crate) mod replication;
pub(crate) mod server;
mod slot_move;
pub mod unread;
mod wait;

pub use connections::Connection;
pub use group::{Group, Node, Pace, Role};
pub use layout::{ServerLayout, StoredIn};
pub use link_state::LinkState;
pub use masters::Masters;
pub use queue::{Effect, Queue};
