//! One file per kind of lock: for each verb a function that makes the [`Call`](crate::Call), and the
//! [`ScriptReply`](crate::ScriptReply) that it may get; below them a thin client that sends one call after the other.
//! What several kinds have in common stands in [`counted_hold`].

pub mod counted_hold;
pub mod fair;
pub mod fenced;
pub mod multi;
pub mod plain;
pub mod read_write;
pub mod red;
pub mod redisson_red;
pub mod reentrant;
pub mod semaphore;
pub mod spin;
#[cfg(feature = "toy")]
pub mod toy;
pub mod value_multi;

use crate::script::Scripts;

/// A script's name and its text.
type NamedScript = (&'static str, &'static str);

/// The scripts of every kind.
const SCRIPTS_OF_KINDS: &[&[NamedScript]] = &[
    &plain::SCRIPTS,
    &reentrant::SCRIPTS,
    &fair::SCRIPTS,
    &read_write::SCRIPTS,
    &fenced::SCRIPTS,
    &spin::SCRIPTS,
    &multi::SCRIPTS,
    &value_multi::SCRIPTS,
    &red::SCRIPTS,
    &semaphore::SCRIPTS,
    #[cfg(feature = "toy")]
    &toy::SCRIPTS,
];

impl Scripts {
    /// The scripts of this crate, of every kind of lock.
    pub fn built_in() -> Self {
        Self::of(SCRIPTS_OF_KINDS.iter().copied().flatten().copied())
    }
}

impl Default for Scripts {
    fn default() -> Self {
        Self::built_in()
    }
}
