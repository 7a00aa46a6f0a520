//! The servers of a replay: real processes, made deterministic.
//!
//! A server is deterministic once nothing reaches it by chance. So its time comes from the harness (`clock`), a replica
//! receives a write when the harness releases it (`gate`, which parses the link with `replication_stream`), and a process
//! shares nothing with the machine but its processor (`node`, which runs a program that `server` has found, in a folder
//! that a `lockfile_dir` deletes even after a kill).
//!
//! A `group` is a master, its replicas, and the faults that happen to them. The history decides on failovers, or real
//! sentinels if they are asked for (`sentinel`). The servers of a scenario are one or more such `groups`.

mod address_proxy;
mod addresses;
mod clock;
mod connection;
mod control;
mod gate;
mod group;
mod groups;
mod limits;
mod lockfile_dir;
mod node;
mod patient_stream;
mod process;
pub(super) mod replication_stream;
mod reserved_port;
pub mod sentinel;
mod server;
pub mod tcp_proxy;

pub use addresses::Addresses;
pub use clock::{Clock, ClockLibrary, ClockOffset};
pub use connection::ServerConnection;
pub use control::{ServerRole, scan_every_key};
pub use gate::{Gate, ReplicatedEffect};
pub use group::{START_MS, SentinelWatch, refuse_unsuited};
pub use groups::ServerGroups;
pub use limits::{ANSWER_WAIT, LINK_WAIT};
pub(super) use lockfile_dir::LockfileDir;
pub use node::{ClusterPlace, NodeSettings, ServerNode};
pub(super) use patient_stream::PatientStream;
pub use process::OwnProcess;
pub(super) use reserved_port::ReservedPort;
pub use server::ServerProgram;

/// Kills every server and deletes every temporary folder of this process: for an end without clean-up.
pub fn end_everything() {
    process::kill_all();
    lockfile_dir::delete_all();
}
