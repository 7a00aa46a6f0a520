//! Why another process is not waited for, or read from, any longer. It travels inside the errors of input and output, through
//! libraries that know nothing of it.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Why nothing more is read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenUp {
    /// The deadline has passed.
    #[error("{who} has not answered for {} s", waited.as_secs())]
    NoAnswer {
        /// The other process.
        who: Arc<str>,
        /// How long we waited.
        waited: Duration,
    },
    /// The answer has no end.
    #[error("{who} has answered more than {most} bytes, and the answer is not complete")]
    TooLong {
        /// The other process.
        who: Arc<str>,
        /// The most bytes of one answer.
        most: usize,
    },
    /// This process was asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Inside an [`io::Error`], whose own `source` is that of what it contains.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Carried(#[source] GivenUp);

impl GivenUp {
    /// The reason inside an error, if this module caused it.
    pub fn cause_of<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(reason) = error.downcast_ref() {
                return Some(reason);
            }
            next = error.source();
        }
        None
    }
}

impl From<GivenUp> for io::Error {
    fn from(reason: GivenUp) -> Self {
        Self::other(Carried(reason))
    }
}
