//! Real servers, made deterministic: what the model says is asked of Redis itself.
//!
//! A server is deterministic once nothing reaches it by chance. So time comes from the harness
//! (`clock`), a replica hears of a write when the harness says so (`gate`, which reads the link with
//! `stream`), and a process shares nothing with the machine but its processor (`node`).

mod clock;
mod error;
mod gate;
mod node;
mod stream;

pub use clock::{Clock, ClockLibrary};
pub use error::Error;
pub use gate::{Effect, Gate};
pub use node::{Flavour, Node, Role, Server, Version};
