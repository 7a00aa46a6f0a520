//! Who holds: a thread of a client, as every kind of lock stores it.

use core::fmt;
use core::num::NonZeroU8;

use crate::limits::MAX_THREADS;

/// A client's thread, as the lock stores it. `Option<Holder>` is one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder(NonZeroU8);

impl Holder {
    /// Thread `thread` of client `client`, both counted from 0.
    pub const fn new(client: u8, thread: u8) -> Self {
        Self(NonZeroU8::MIN.saturating_add(client * MAX_THREADS + thread))
    }

    /// A holder or nobody, as a byte, for hashing.
    pub(crate) const fn byte(holder: Option<Self>) -> u8 {
        match holder {
            Some(Self(number)) => number.get(),
            None => 0,
        }
    }

    /// Its client.
    pub const fn client(self) -> u8 {
        (self.0.get() - 1) / MAX_THREADS
    }

    /// Its thread.
    pub const fn thread(self) -> u8 {
        (self.0.get() - 1) % MAX_THREADS
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", client_name(self.client()), self.thread() + 1)
    }
}

/// `A` for client 0.
pub fn client_name(client: u8) -> char {
    char::from(b'A' + client)
}
