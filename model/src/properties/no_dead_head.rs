//! A waiter that does not come back does not keep a free lock from those behind it for ever.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "no-dead-head",
    kind: PropertyKind::Liveness,
    sentence: "a free lock for which a live client waits is granted to somebody",
    source: "Redisson getFairLock: a thread that has died is passed over after a delay (docs/facts/family.md#fair)",
    antecedent: None,
    untested: "the lock is never free while somebody waits for it",
    mutant: Mutant::DeadHeadStays,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.queues() { Ok(()) } else { Err("no waiter queues") }
}

/// Whether it is still owed to this holder in this state.
pub(super) fn pending<Y: Layout>(world: &World<Y>, holder: Holder) -> bool {
    Y::Lock::FACTS.queue.is_there()
        && world.is_live_waiter(holder)
        && world.acting_master().is_some_and(|master| master.stored.is_free())
}
