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
mod master_locks;
mod multi;
mod museum;
mod other_servers;
mod plain_driver;
mod queue;
mod random;
mod read_write;
mod repeated;
mod replicas;
mod scenarios;
mod scripts;
mod slot_moves;
mod spin;
mod switches;
mod value_multi;
mod worlds;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use lockstep_sim::replay::redisson::{IdleJvms, RedissonProgram};

/// JVMs that a test has used, for the next world of any test: they end when no test is left that knows them. As many as the tests
/// that run at once may need of one version, or of two.
const MOST_IDLE: usize = 20;
static IDLE: Mutex<Weak<IdleJvms>> = Mutex::new(Weak::new());

thread_local! {
    static OWN_IDLE: Arc<IdleJvms> = {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.upgrade().unwrap_or_else(|| {
            let new = Arc::new(IdleJvms::of_at_most(MOST_IDLE));
            *idle = Arc::downgrade(&new);
            new
        })
    };
}

/// A version that tools/redisson/install has built.
fn redisson(version: &str) -> RedissonProgram {
    let idle = OWN_IDLE.with(|idle| IdleJvms::clone(idle));
    RedissonProgram::find_with(version, idle).unwrap_or_else(|error| panic!("{error}"))
}
