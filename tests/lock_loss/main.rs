//! What a replay relies on: real servers under our clock, our gates and our faults behave as it assumes, and live only as
//! long as we do.
//!
//! Every test runs on every server in `LOCKSTEP_TEST_SERVERS` (paths separated by colons), or on the one on `PATH`. Without a
//! server the tests fail.

mod acknowledgement;
mod clock;
mod harness;
mod links;
mod nodes;
mod processes;
mod programs;
mod replication;
mod sentinel;
