//! What the proofs share.

pub mod servers;
