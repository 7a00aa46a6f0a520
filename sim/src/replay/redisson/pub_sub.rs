//! The commands by which clients of Redisson publish and subscribe: their scripts and their connections for messages have them.

use lockstep_model::config::Channels;

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

    /// The channels of a world whose clients use these commands.
    pub fn channels(self) -> Channels {
        if self == Self::SHARDED { Channels::Sharded } else { Channels::Global }
    }
}
