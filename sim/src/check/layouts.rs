//! The layouts that the engines run in: a copy of each engine for each.
//!
//! The unit tests of this crate, for which all of it is compiled a second time, do with the largest.

#[cfg(test)]
pub(super) use lockstep_model::in_largest_layout as in_layout;
#[cfg(not(test))]
pub(super) use lockstep_model::in_layout;
