//! Facts about a scenario that follow from its sections, one room for each subject.
//!
//! A rule asks for such a fact instead of comparing sections itself, so that the reason stands in one place.

mod callers;
mod disks;
mod mutant;
mod nodes;
mod parts;
mod requests;
mod room;
mod scripts;
mod sides;
mod tokens;
