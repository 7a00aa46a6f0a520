//! The commands by which clients of Redisson publish and subscribe: their scripts and their connections for messages have them.

use lockstep_model::config::Profile;

use super::deployment::Deployment;
use super::program::RedissonProgram;
use crate::replay::servers::ServerProgram;
use crate::replay::version::Version;

/// The commands by which a client publishes, subscribes, and ends that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PubSubCommands {
    /// In its scripts.
    pub publish: &'static str,
    /// What a thread that is refused makes it send.
    pub subscribe: &'static str,
    /// What it sends once no thread waits any more.
    pub unsubscribe: &'static str,
}

impl PubSubCommands {
    /// Channels that every node of a cluster knows.
    pub const ORDINARY: Self = Self { publish: "PUBLISH", subscribe: "SUBSCRIBE", unsubscribe: "UNSUBSCRIBE" };
    /// Channels of one slot.
    pub const SHARDED: Self = Self { publish: "SPUBLISH", subscribe: "SSUBSCRIBE", unsubscribe: "SUNSUBSCRIBE" };

    /// Those of this version on such a server, in the deployment that it is set up for (docs/facts/redisson.md#publish-command).
    pub fn of(program: &RedissonProgram, server: &ServerProgram) -> Self {
        let has_server_them = server.version() >= Version { major: 7, minor: 0, patch: 0 };
        let has_client_them = program.profile() != Profile::Redisson315;
        let is_in_cluster = program.deployment() == Deployment::Cluster;
        if is_in_cluster && has_server_them && has_client_them { Self::SHARDED } else { Self::ORDINARY }
    }
}
