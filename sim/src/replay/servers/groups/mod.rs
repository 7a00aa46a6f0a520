//! The servers of a scenario: one group, or several that know nothing of each other.
//!
//! Nodes are numbered through all groups: those of the first, then those of the second. What the rest of the replay asks of a
//! node reaches it in its group under its index there (`server_groups`); so does what happens to it (`changes`), and what it
//! writes for its replicas (`effects`).

mod changes;
mod effects;
mod server_groups;

pub use server_groups::ServerGroups;
