//! A private server: one process of our own, its files and its clock.

mod boot;
mod cluster;
mod disk;
mod files;
mod following;
mod saves;
mod server_node;

pub use boot::NodeSettings;
pub use cluster::{ClusterPlace, ClusterPorts, SlotState};
pub use following::FailoverCommand;
pub use server_node::ServerNode;
