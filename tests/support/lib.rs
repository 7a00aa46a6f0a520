//! Code shared by the tests.

pub mod at_once;
pub mod built_in;
pub mod command;
pub mod counterexamples;
pub mod drawn;
pub mod free_nodes;
pub mod page;
pub mod refused_release;
pub mod servers;
pub mod slot_cluster;
