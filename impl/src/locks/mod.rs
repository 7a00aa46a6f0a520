//! One file per kind of lock: for each verb a function that makes the [`Call`](crate::Call), and the
//! [`ScriptReply`](crate::ScriptReply) that it may get; below them a thin client that sends one call after the other.

pub mod plain;
pub mod reentrant;
#[cfg(feature = "toy")]
pub mod toy;

/// A script's name and its text.
type NamedScript = (&'static str, &'static str);

/// The scripts of every kind.
pub(crate) const SCRIPTS_OF_KINDS: &[&[NamedScript]] = &[
    &plain::SCRIPTS,
    &reentrant::SCRIPTS,
    #[cfg(feature = "toy")]
    &toy::SCRIPTS,
];
