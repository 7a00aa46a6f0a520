//! The columns of a picture.

use lockstep_model::Config;
use lockstep_model::Holder;
use lockstep_model::trace::{holder_name, node_name};

/// A column of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// A client's thread.
    Thread {
        /// Its client.
        client: u8,
        /// Which of its threads.
        thread: u8,
    },
    /// A node, whatever its role.
    Node(u8),
    /// What the lock guards.
    Resource,
}

impl Lane {
    /// The lanes of a scenario, from left to right: half of the clients, what they ask, the other half.
    pub fn all(config: &Config) -> Vec<Self> {
        let left = config.clients.count.div_ceil(2);
        let threads = |clients: core::ops::Range<u8>| {
            clients.flat_map(|client| (0..config.clients.threads).map(move |thread| Self::Thread { client, thread }))
        };
        threads(0..left)
            .chain((0..config.all_nodes()).map(Self::Node))
            .chain(config.resource.map(|_| Self::Resource))
            .chain(threads(left..config.clients.count))
            .collect()
    }

    /// Its name: `A`, `A:1`, `n1`, `resource`.
    pub fn name(self, config: &Config) -> String {
        match self {
            Self::Thread { client, thread } => holder_name(config, Holder::new(client, thread)),
            Self::Node(node) => node_name(node),
            Self::Resource => "resource".to_owned(),
        }
    }
}
