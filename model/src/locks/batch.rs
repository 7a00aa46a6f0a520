//! The locks of a client that one renewal carries, by the threads that use them.

use crate::limits::MAX_THREADS;

/// Which locks, a bit for each thread: a thread uses one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenewalBatch(u8);

impl RenewalBatch {
    /// None.
    pub const EMPTY: Self = Self(0);

    /// Also that of this thread.
    #[must_use]
    pub const fn with(self, thread: u8) -> Self {
        Self(self.0 | 1 << thread)
    }

    /// Whether that of this thread is among them.
    pub(crate) const fn has(self, thread: u8) -> bool {
        self.0 >> thread & 1 != 0
    }

    /// Whose, in the order of the names in the script.
    pub fn threads(self) -> impl Iterator<Item = u8> {
        (0..MAX_THREADS).filter(move |thread| self.has(*thread))
    }

    /// The last of them; `None`: there is none.
    pub fn last(self) -> Option<u8> {
        self.threads().last()
    }
}
