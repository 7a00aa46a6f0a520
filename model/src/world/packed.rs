//! Facts that are too small for a byte of their own: a small world is a small value (design §2).

use core::fmt;

use super::Effect;
use crate::config::{MAX_EFFECTS_UNDER_WAY, MAX_REPLICAS, MAX_THREADS, MAX_TICKS};

/// What a client knows of its master's replicas, in one byte: which of them have acknowledged each thread's grant, a bit
/// each, and how many there were when it counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReplicaNotes(pub(super) u8);

impl ReplicaNotes {
    /// Nothing is known.
    pub const NONE: Self = Self(Self::UNREAD << Self::COUNT_AT);

    const NODES: u8 = MAX_REPLICAS + 1;
    const COUNT_AT: u8 = Self::NODES * MAX_THREADS;
    const UNREAD: u8 = u8::MAX >> Self::COUNT_AT;

    const fn bit(thread: u8, node: u8) -> u8 {
        const { assert!(Self::UNREAD > MAX_REPLICAS, "a number of replicas, or none") };
        1 << (thread * Self::NODES + node)
    }

    /// Whether that node has acknowledged that thread's grant.
    pub const fn has(self, thread: u8, node: u8) -> bool {
        self.0 & Self::bit(thread, node) != 0
    }

    /// It has.
    pub(crate) const fn note(&mut self, thread: u8, node: u8) {
        self.0 |= Self::bit(thread, node);
    }

    /// That thread waits for nothing more.
    pub(crate) const fn forget(&mut self, thread: u8) {
        self.0 &= !(((1 << Self::NODES) - 1) << (thread * Self::NODES));
    }

    /// How many replicas its master had when it counted; `None`: it never did.
    pub const fn known(self) -> Option<u8> {
        let count = self.0 >> Self::COUNT_AT;
        if count == Self::UNREAD { None } else { Some(count) }
    }

    /// It has counted.
    pub(crate) const fn note_known(&mut self, count: u8) {
        self.0 = self.0 & !(Self::UNREAD << Self::COUNT_AT) | count << Self::COUNT_AT;
    }

    /// It has another master.
    pub(crate) const fn forget_known(&mut self) {
        self.0 |= Self::UNREAD << Self::COUNT_AT;
    }
}

impl fmt::Debug for ReplicaNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08b}", self.0)
    }
}

/// What keeps a node apart from the others, in one byte: whether it is cut off from them, which links it takes for open
/// though nothing passes them, and how many effects it had missed when its master died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Apart(pub(super) u8);

impl Apart {
    /// Nothing does.
    pub const NOT: Self = Self(0);

    const CUT: u8 = 1 << 7;
    const LINKS_AT: u8 = 3;
    const LINKS: u8 = ((1 << (MAX_REPLICAS + 1)) - 1) << Self::LINKS_AT;
    const MISSED: u8 = (1 << Self::LINKS_AT) - 1;

    /// Whether it is cut off.
    pub(super) const fn is_cut(self) -> bool {
        self.0 & Self::CUT != 0
    }

    /// Cut off, or not any more.
    pub(crate) const fn set_cut(&mut self, is_cut: bool) {
        self.0 = self.0 & !Self::CUT | if is_cut { Self::CUT } else { 0 };
    }

    /// Whether its link to that node is half-open.
    pub(super) const fn is_half_open_to(self, node: u8) -> bool {
        self.0 & Self::link(node) != 0
    }

    /// Nothing passes its link to that node, and it does not know.
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

    /// Effects it has missed.
    pub(super) const fn missed(self) -> u8 {
        self.0 & Self::MISSED
    }

    /// It has missed so many effects.
    pub(crate) const fn set_missed(&mut self, effects: u8) {
        const { assert!(MAX_EFFECTS_UNDER_WAY <= Self::MISSED, "as many as can be under way") };
        const { assert!(Self::LINKS & Self::CUT == 0, "a bit for each") };
        self.0 = self.0 & !Self::MISSED | effects;
    }

    const fn link(node: u8) -> u8 {
        1 << (Self::LINKS_AT + node)
    }
}

impl<R> Effect<R> {
    const AWAITED: u8 = 1 << 7;

    /// Written just now.
    pub(crate) const fn new(record: R) -> Self {
        Self { record, age: 0 }
    }

    /// Ticks since it was written, as far as they are counted.
    pub const fn age(&self) -> u8 {
        self.age & !Self::AWAITED
    }

    /// A tick has passed.
    pub(crate) const fn grow_older(&mut self) {
        const { assert!(MAX_TICKS < Self::AWAITED, "a lag has room beside the bit") };
        self.age += 1;
    }

    /// Whether it is a grant, and its caller waits for replicas to have it.
    pub const fn is_awaited(&self) -> bool {
        self.age & Self::AWAITED != 0
    }

    /// Its caller waits, or does not any more.
    pub(crate) const fn set_awaited(&mut self, is_awaited: bool) {
        self.age = self.age() | if is_awaited { Self::AWAITED } else { 0 };
    }
}
