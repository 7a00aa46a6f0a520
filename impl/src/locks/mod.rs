//! One file a kind: for each verb a function that words the [`Call`](crate::Call) and a reply that
//! reads the answer; below them a thin client that does one after the other.
//!
//! A reply is strict. What no script of that verb can say is an
//! [`UnexpectedReply`](crate::Error::UnexpectedReply), never a guess.

pub mod plain;
pub mod reentrant;
