//! The keys that a lock occupies on a node, as Redis stores them.
//!
//! Each kind lists its own ([`Lock::keys`](super::contract::Lock::keys)); traces, pictures and the comparison with a real
//! server read the list, so none of them knows a kind.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::holder::Holder;
use crate::time::Timer;

/// What the name of a field of a hash ends with whose number is a deadline: ticks until it, in a trace ms.
pub const DEADLINE_FIELD: &str = ":expire_time";
/// What such a field contains whose deadline is over.
pub const DEADLINE_OVER: &str = "over";

/// One key on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Which of the lock's keys it is.
    pub slot: KeySlot,
    /// Its type and content.
    pub value: KeyValue,
    /// How long it lives; off: it has no TTL, or, in an effect, the effect does not write it.
    pub ttl: Timer,
}

/// Which of a lock's keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum KeySlot {
    /// The key that carries the lock's name.
    Lock,
    /// Where there are several locks: the key that carries the name of another one than the first.
    NamedLock {
        /// Which, from 2.
        number: u8,
    },
    /// The list of those who wait for the lock.
    Queue,
    /// The sorted set of their deadlines.
    Deadlines,
    /// The string that stands for one hold of a reader.
    Hold {
        /// Who reads, as Redis stores it: client and thread.
        #[cfg_attr(feature = "schema", schemars(with = "String", regex(pattern = r"^[A-Z]:[1-9]$")))]
        holder: Holder,
        /// Which of its holds, from 1.
        number: u8,
    },
    /// The counter of the fencing tokens that were issued.
    Token,
    /// The receipt of one release: it makes the same release harmless when it is sent again.
    Receipt {
        /// Who released, as Redis stores it: client and thread.
        #[cfg_attr(feature = "schema", schemars(with = "String", regex(pattern = r"^[A-Z]:[1-9]$")))]
        holder: Holder,
        /// Which of that holder's releases. A number is used again once nothing refers to the earlier release.
        number: u8,
    },
}

/// What a key contains, by the type that Redis gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "content", rename_all = "lowercase")]
pub enum KeyValue {
    /// A string.
    String(String),
    /// A hash: each field with its number or its word.
    Hash(BTreeMap<String, HashValue>),
    /// A list, from its head.
    List(Vec<String>),
    /// A sorted set: each member with its deadline: how far that is away, ticks, in a trace ms; 0: it is over. Where Redis stores when it
    /// began, the score there is a lease less ([`CallerClock::Grants`](super::facts::CallerClock::Grants)).
    Zset(BTreeMap<String, i64>),
}

/// What a field of a hash contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HashValue {
    /// A number.
    Number(u64),
    /// A word.
    Word(String),
}

impl From<u64> for HashValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for HashValue {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl fmt::Display for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}
