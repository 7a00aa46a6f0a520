//! A call whose thread was interrupted says so.

use super::claim::{Claim, PropertyKind};
use crate::client::state::{Client, Phase};
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
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
    // A call about several parts goes on while a thread is outside it that has its part.
    let goes_on = |client: &Client| Y::Lock::FACTS.parts.is_there() && client.is_in_call();
    world.threads().all(|(_, client, thread)| thread.phase != Phase::Idle || !thread.has_swallowed() || goes_on(client))
}
