//! All servers of one scenario: a master, its replicas, the links between them, and what happens to them.

mod faults;
mod links;
mod members;
mod promotion;
mod refusals;

pub use members::ServerGroup;
pub use promotion::SentinelWatch;
pub use refusals::refuse_unsuited;
