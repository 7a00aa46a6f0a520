//! A set of nodes, in one byte.

use serde::{Deserialize, Serialize};

/// Some nodes of a scenario: a bit each, the first node's is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct NodeSet(u8);

impl NodeSet {
    /// Of these bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether this node is among them.
    pub const fn has(self, node: u8) -> bool {
        self.0 >> node & 1 != 0
    }

    /// Each of them, in their order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..8).filter(move |node| self.has(*node))
    }
}

impl FromIterator<u8> for NodeSet {
    fn from_iter<I: IntoIterator<Item = u8>>(nodes: I) -> Self {
        Self(nodes.into_iter().fold(0, |all, node| all | 1 << node))
    }
}
