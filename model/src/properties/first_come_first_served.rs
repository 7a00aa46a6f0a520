//! Nobody is served before one who came earlier. Who is dead, or whose deadline is over, may be passed over: so a fair lock gets
//! past a waiter that does not come back.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "first-come-first-served",
    kind: PropertyKind::Safety,
    sentence: "a free lock is granted to the first in the queue of the acting master who still waits and whose deadline is not \
               over by the clock of the one who asks",
    source: "Redisson RLock getFairLock: \"provides fair acquire ordering for threads requesting acquisition\" \
             (docs/facts/family.md#fair)",
    antecedent: Some(Happening::QueueServed),
    untested: "nobody is granted the lock while another one queues",
    mutant: Mutant::QueueIsIgnored,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.queues() {
        return Err("no waiter queues");
    }
    if config.resource.is_some() {
        return Err("it is not checked where there is a [resource]");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::Overtaken)
}
