//! Times of the model: offsets from now, in ticks.

use core::fmt;

/// A countdown: it reaches 0 and stays there, or it is off. At 0 it is due: a key with 0 ticks left is still there and
/// may be gone at any moment before the next tick, a client's timer with 0 ticks left is about to fire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timer(u8);

impl Timer {
    /// Not running.
    pub const OFF: Self = Self(u8::MAX);
    /// Due now.
    pub const DUE: Self = Self(0);
    /// It was due before now: kept apart only by [`later_or_overdue`](Self::later_or_overdue).
    pub const OVERDUE: Self = Self(u8::MAX - 1);
    /// Due with the next tick at the latest, and ready to fire before: what it waits for may come about at this instant.
    pub const SOON: Self = Self(u8::MAX - 2);
    /// Of a TTL in an effect: it was not written, and the receiver keeps its own. Apart from [`OFF`](Self::OFF): a key that
    /// has no TTL.
    pub(crate) const UNWRITTEN: Self = Self(u8::MAX - 3);

    /// So far away that no run comes near it, and no tick brings it nearer: at least [`FAR_TICKS`](crate::limits::FAR_TICKS).
    pub const FAR: Self = Self(crate::limits::FAR_TICKS);

    /// Due in this many ticks. Configured times are at most [`MAX_TICKS`](crate::limits::MAX_TICKS), far below `OFF`.
    pub const fn ticks(ticks: u8) -> Self {
        Self(ticks)
    }

    /// Due in this many ticks; `None`: off.
    pub const fn optional(ticks: Option<u8>) -> Self {
        match ticks {
            Some(ticks) => Self(ticks),
            None => Self::OFF,
        }
    }

    /// The ticks left; `None` when off.
    pub const fn left(self) -> Option<u8> {
        match self {
            Self::OFF | Self::UNWRITTEN => None,
            Self::OVERDUE => Some(0),
            Self::SOON => Some(1),
            Self(ticks) => Some(ticks),
        }
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    /// That of such a byte.
    pub(crate) const fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// Whether it is due, or overdue.
    pub const fn is_due(self) -> bool {
        matches!(self, Self::DUE | Self::OVERDUE)
    }

    /// Whether it may fire now: it is due, or ready to fire before it is.
    pub const fn may_fire(self) -> bool {
        self.is_due() || matches!(self, Self::SOON)
    }

    /// The same deadline on a clock that has moved forward by `ticks` (backward if negative). `None`: the deadline has
    /// passed. A timer that is off stays off.
    pub(crate) fn moved(self, ticks: i8) -> Option<Self> {
        match self.left() {
            None | Some(crate::limits::FAR_TICKS) => Some(self),
            Some(left) => u8::try_from(i16::from(left) - i16::from(ticks)).ok().map(Self),
        }
    }

    /// One tick later. A due timer stays due: it is overdue, and nothing depends on by how much.
    #[must_use]
    pub const fn later(self) -> Self {
        match self {
            Self::OFF | Self::OVERDUE | Self::UNWRITTEN | Self::FAR => self,
            Self::SOON => Self::DUE,
            Self(ticks) => Self(ticks.saturating_sub(1)),
        }
    }

    /// One tick later, where it matters whether a timer that is due was due before.
    #[must_use]
    pub const fn later_or_overdue(self) -> Self {
        if self.is_due() { Self::OVERDUE } else { self.later() }
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::OFF
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.left() {
            Some(crate::limits::FAR_TICKS) => f.write_str("far"),
            Some(left) => write!(f, "{left}"),
            None => f.write_str("off"),
        }
    }
}
