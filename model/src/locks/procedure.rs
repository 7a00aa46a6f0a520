//! How a client acquires a lock that has one part or several: which part it asks next, and when it believes.
//!
//! A part is the lock's keys in one group of nodes. Plain, reentrant and all kinds like them have one part
//! ([`OnePart`]). A multi lock asks all its parts in turn ([`AllParts`]).

use crate::config::clients::PartOrder;
use crate::reply::Reply;
use crate::time::Timer;

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask that part.
    Ask {
        /// Counted from 0.
        part: u8,
    },
    /// It holds, as far as it knows.
    Believe,
    /// It was refused, and may wait.
    Wait {
        /// Until the lease in the way is over; off: it has no TTL.
        remaining: Timer,
    },
    /// The call ends with an error; what it held before it still holds.
    GiveUp,
}

/// The order in which the parts of a lock are asked.
pub trait Procedure {
    /// What comes next, after the answer of the part asked last; `None`: nothing was asked yet.
    fn next(&self, heard: Option<Reply>) -> Next;
}

/// A lock with one part: one answer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnePart;

impl Procedure for OnePart {
    fn next(&self, heard: Option<Reply>) -> Next {
        match heard {
            None => Next::Ask { part: 0 },
            Some(Reply::Busy { remaining_ticks }) => Next::Wait { remaining: Timer::optional(remaining_ticks) },
            Some(Reply::Acquired | Reply::Acknowledged { .. }) => Next::Believe,
            // The caller of `lock()` gets an exception.
            Some(_) => Next::GiveUp,
        }
    }
}

/// A lock whose parts are taken one after the other, in the order of the client that asks: each answer decides about its part, and
/// the last one about the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllParts {
    /// In which order.
    pub order: PartOrder,
    /// The part that was asked last.
    pub asked: u8,
}

impl Procedure for AllParts {
    fn next(&self, heard: Option<Reply>) -> Next {
        let after = self.order.after(self.asked);
        match OnePart.next(heard) {
            Next::Ask { .. } => Next::Ask { part: self.order.first() },
            Next::Believe => after.map_or(Next::Believe, |part| Next::Ask { part }),
            refused => refused,
        }
    }
}
