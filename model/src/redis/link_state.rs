//! The links of one node to the others, in one byte: a small world is a small value.

use crate::limits::{MAX_EFFECTS_UNDER_WAY, MAX_REPLICAS};

/// Whether a node is cut off from the others, which of its links are half open, and how many effects it had missed when
/// its master died. Whether a master hands over to it has the bit of a link to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkState(u8);

impl LinkState {
    /// Connected to all, nothing missed.
    pub const CONNECTED: Self = Self(0);

    const CUT: u8 = 1 << 7;
    const LINKS_AT: u8 = 4;
    const LINKS: u8 = ((1 << (MAX_REPLICAS + 1)) - 1) << Self::LINKS_AT;
    const MISSED: u8 = (1 << Self::LINKS_AT) - 1;

    /// Whether it is cut off.
    pub const fn is_cut(self) -> bool {
        self.0 & Self::CUT != 0
    }

    /// Cut off, or not any more.
    pub(crate) const fn set_cut(&mut self, is_cut: bool) {
        self.0 = self.0 & !Self::CUT | if is_cut { Self::CUT } else { 0 };
    }

    /// Whether its link to that node is half open: nothing passes, and it does not know.
    pub const fn is_half_open_to(self, node: u8) -> bool {
        self.0 & Self::link(node) != 0
    }

    /// Whether the acting master hands over to this node, which has this number: the bit of a link to itself says so.
    pub const fn is_of_heir(self, own: u8) -> bool {
        self.is_half_open_to(own)
    }

    /// The acting master hands over to this node, which has this number.
    pub(crate) const fn note_heir(&mut self, own: u8) {
        self.note_half_open(own);
    }

    /// The acting master does not hand over to this node, which has this number, or not any more.
    pub(crate) const fn note_no_heir(&mut self, own: u8) {
        self.close(own);
    }

    /// Its link to that node is half open from now on.
    pub(crate) const fn note_half_open(&mut self, node: u8) {
        self.0 |= Self::link(node);
    }

    /// Its link to that node is closed.
    pub(crate) const fn close(&mut self, node: u8) {
        self.0 &= !Self::link(node);
    }

    /// All its links are closed.
    pub(crate) const fn close_all(&mut self) {
        self.0 &= !Self::LINKS;
    }

    /// How many effects it had missed when its master died.
    pub const fn missed(self) -> u8 {
        self.0 & Self::MISSED
    }

    /// It has missed this many effects.
    pub(crate) const fn set_missed(&mut self, effects: u8) {
        const { assert!(MAX_EFFECTS_UNDER_WAY <= Self::MISSED, "as many as can be under way") };
        const { assert!(Self::LINKS & Self::CUT == 0, "a bit for each") };
        self.0 = self.0 & !Self::MISSED | effects;
    }

    /// The same with every node renamed.
    pub(crate) fn renamed(self, rename: impl Fn(u8) -> u8) -> Self {
        let links = (0..=MAX_REPLICAS).filter(|node| self.is_half_open_to(*node));
        Self(links.fold(self.0 & !Self::LINKS, |bits, node| bits | Self::link(rename(node))))
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    const fn link(node: u8) -> u8 {
        1 << (Self::LINKS_AT + node)
    }
}
