//! Under construction.

pub mod replay;
