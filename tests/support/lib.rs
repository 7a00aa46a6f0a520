//! What the proofs share.

pub mod command;
pub mod servers;
