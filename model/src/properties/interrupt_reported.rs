//! A call whose thread was interrupted says so.

use super::claim::{Claim, PropertyKind};
use crate::client::state::Phase;
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "interrupt-reported",
    kind: PropertyKind::Safety,
    sentence: "a call whose thread was interrupted says so, by an exception or by the thread's interrupt flag",
    source: "Goetz et al., Java Concurrency in Practice (2006), 7.1.3; java.util.concurrent.locks.ReentrantLock.lock()",
    antecedent: Some(Happening::WaiterInterrupted),
    untested: "no waiter is interrupted while it is asleep",
    mutant: Mutant::InterruptSwallowed,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.faults.interrupt == 0 {
        return Err("no thread is interrupted: interrupt in [faults] is left out or 0");
    }
    if !config.lock.facts().publishes() || !config.waits() {
        return Err("no client sleeps until a message wakes it");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    world.threads().all(|(_, _, thread)| thread.phase != Phase::Idle || !thread.has_swallowed())
}
