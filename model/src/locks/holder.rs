//! Who holds: a thread of a client, as every kind of lock stores it.

use core::fmt;
use core::num::NonZeroU8;

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_CLIENTS, MAX_THREADS};
use crate::names::client_name;

/// A client's thread, as the lock stores it. `Option<Holder>` is one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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

/// As Redis stores it: `A:1` for the first thread of the first client.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", client_name(self.client()), self.thread() + 1)
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Holder> for String {
    fn from(holder: Holder) -> Self {
        holder.to_string()
    }
}

impl TryFrom<String> for Holder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut all = (0..MAX_CLIENTS).flat_map(|client| (0..MAX_THREADS).map(move |thread| Self::new(client, thread)));
        let named = all.find(|holder| holder.to_string() == text);
        named.ok_or_else(|| format!("{text:?} is not a holder such as \"A:1\""))
    }
}
