//! Real Redisson under our clocks and behind our gates does the same thing each time, and what the clients of the model do.
//!
//! `tools/redisson/install` builds what these tests need, and `LOCKSTEP_REDISSON` names it; without it they fail.

mod cluster;
mod departures;
mod deployments;
mod fenced;
mod history;
mod jvms;
mod load;
mod multi;
mod museum;
mod plain_driver;
mod queue;
mod random;
mod read_write;
mod repeated;
mod replicas;
mod scenarios;
mod scripts;
mod spin;
mod switches;
mod value_multi;
mod worlds;

use lockstep_sim::replay::redisson::{IdleJvms, RedissonProgram};

thread_local! {
    /// JVMs that a test has used, for its next world: they end with its thread.
    static IDLE: IdleJvms = IdleJvms::default();
}

/// A version that tools/redisson/install has built.
fn redisson(version: &str) -> RedissonProgram {
    RedissonProgram::find_with(version, IDLE.with(IdleJvms::clone)).unwrap_or_else(|error| panic!("{error}"))
}
