//! What plays the clients of a history: one implementation of [`Target`] for each program that a history can be replayed
//! on. All of them use the same servers.

mod contract;
mod held_request;
mod in_flight;
mod messages;
mod script_clients;
mod subscriber;
mod wait_connection;

pub use contract::Target;
pub use script_clients::{BEHIND_RENEWAL, ScriptClients};
pub use wait_connection::{end_wait, is_blocked_in_wait};
