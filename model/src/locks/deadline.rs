//! When a hold ends by the wall clocks of clients, for kinds that store that ([`CallerClock`](super::facts::CallerClock)).

use super::contract::LockContext;
use crate::mutants::Mutant;

/// A time of a wall clock, as seen from a clock that is right: the ticks that are left, and one. 0: it is over, by how much nobody can
/// tell, since no clock is behind the right one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline(u8);

impl Deadline {
    /// A lease away by the clock of the caller.
    pub(super) const fn of(context: LockContext) -> Self {
        Self(context.lease_ticks + context.clock_ahead_ticks + 1)
    }

    /// The ticks that are left by a clock that is so far ahead; `None`: it is over.
    pub(super) const fn left(self, ahead: u8) -> Option<u8> {
        match self.0.checked_sub(1) {
            Some(left) => left.checked_sub(ahead),
            None => None,
        }
    }

    /// The ticks for which it keeps this caller from the lock; `None`: at a deadline nobody is in the way any more.
    pub(super) fn keeps_out(self, context: LockContext) -> Option<u8> {
        let left = self.left(context.clock_ahead_ticks).filter(|left| *left > 0);
        if context.is_mutated(Mutant::DeadlinesNeverEnd) { left.or(Some(1)) } else { left }
    }

    /// A tick later.
    #[must_use]
    pub(super) const fn later(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// As a byte, for hashing.
    pub(super) const fn byte(self) -> u8 {
        self.0
    }
}
