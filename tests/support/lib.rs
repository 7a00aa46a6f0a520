//! What the proofs share.

pub mod command;
pub mod drawn;
pub mod servers;
