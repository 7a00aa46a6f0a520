//! Which nodes are masters, in one byte: a small world is a small value.

use crate::limits::MAX_REPLICAS;

/// The acting master, or the last one if that is down; and the nodes whose configuration files say something else than what
/// they are: a `FAILOVER` rewrites none (docs/facts/redis.md#the-failover-command).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Masters(u8);

impl Masters {
    /// The first node is the master.
    pub const FIRST: Self = Self(0);

    const FILES_AT: u8 = 4;
    const ACTING: u8 = (1 << Self::FILES_AT) - 1;

    /// The acting master.
    pub const fn acting(self) -> u8 {
        self.0 & Self::ACTING
    }

    /// This node is the acting master, and its file says so.
    pub(crate) const fn set_acting(&mut self, node: u8) {
        const { assert!(MAX_REPLICAS < Self::FILES_AT, "a bit for each node") };
        self.0 = self.0 & !Self::ACTING & !Self::file(node) | node;
    }

    /// Whether this replica takes itself for a master when it restarts. Distinguished only where a node may restart.
    pub const fn is_on_file(self, node: u8) -> bool {
        node != self.acting() && self.is_wrong_on_file(node)
    }

    /// Whether the file of this node says something else than what the node is: of a replica that it is a master, of the acting
    /// master that it is a replica.
    pub(crate) const fn is_wrong_on_file(self, node: u8) -> bool {
        self.0 & Self::file(node) != 0
    }

    /// The file of this node says something else than what the node is, or not.
    pub(crate) const fn note_file(&mut self, node: u8, is_wrong: bool) {
        self.0 = self.0 & !Self::file(node) | if is_wrong { Self::file(node) } else { 0 };
    }

    /// Without what files say.
    pub(crate) const fn forget_files(&mut self) {
        self.0 &= Self::ACTING;
    }

    /// The same with every node renamed.
    pub(crate) fn renamed(self, rename: impl Fn(u8) -> u8) -> Self {
        let wrong = (0..=MAX_REPLICAS).filter(|node| self.is_wrong_on_file(*node));
        Self(wrong.fold(rename(self.acting()), |bits, node| bits | Self::file(rename(node))))
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    const fn file(node: u8) -> u8 {
        1 << (Self::FILES_AT + node)
    }
}
