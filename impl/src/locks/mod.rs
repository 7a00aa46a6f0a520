//! One file a kind: for each verb a function that words the [`Call`](crate::Call) and the
//! [`Reply`](crate::Reply) it may get; below them a thin client that does one after the other.

pub mod plain;
pub mod reentrant;
