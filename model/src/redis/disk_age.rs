//! How far a node's disk is behind, in one byte: a small world is a small value.

/// For how many ticks the disk of a node has lacked a write, and whether its AOF is still that of before its last full copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DiskAge(u8);

impl DiskAge {
    const REWRITING: u8 = 1 << 7;

    /// A rewrite of the AOF begins.
    pub(crate) const fn rewriting() -> Self {
        Self(Self::REWRITING)
    }

    /// Whether the AOF is that of before the last full copy: it is still being rewritten.
    pub const fn is_rewriting(self) -> bool {
        self.0 & Self::REWRITING != 0
    }

    /// For how many ticks.
    pub const fn ticks(self) -> u8 {
        self.0 & !Self::REWRITING
    }

    /// One tick later. Time waits for a disk long before there is no room for another tick.
    pub(crate) const fn later(self) -> Self {
        Self(self.0 & Self::REWRITING | (self.ticks() + 1) & !Self::REWRITING)
    }

    /// Lacking nothing since now.
    pub(crate) const fn restarted(self) -> Self {
        Self(self.0 & Self::REWRITING)
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}
