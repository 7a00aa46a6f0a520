//! What a replay relies on: real servers under our clock, our gates and our faults behave as it assumes.

mod nodes;
mod sentinel;
mod servers;
