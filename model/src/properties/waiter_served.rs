//! Nobody waits for ever. A thread whose first answer is still to come was not refused yet.

use super::claim::{Claim, PropertyKind};
use crate::client::state::Phase;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "waiter-served",
    kind: PropertyKind::Liveness,
    sentence: "every waiter is eventually granted, times out or crashes",
    source: "Redisson RLock.lock: waits until the lock is there; RLock is not fair, so a newcomer may \
             always be faster",
    antecedent: None,
    untested: "nobody ever waits",
    mutant: Mutant::NoWakeTimer,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.waits() {
        return Err("no client waits: wait_limit in [time] is 0");
    }
    Ok(())
}

/// Whether it is still owed to this holder in this state.
pub(super) fn pending<Y: Layout>(world: &World<Y>, holder: Holder) -> bool {
    // A client that takes several parts waits as one: also while it gives back what it has, to begin anew.
    if Y::Lock::FACTS.parts.is_there() {
        return holder.thread() == 0 && world.client(holder.client()).waits_for_parts();
    }
    // So does one that asks several masters, from its first round on.
    if world.call(holder.client()).goes_on {
        return true;
    }
    let thread = world.thread(holder);
    thread.is_waiting() && thread.phase != Phase::Asking
}
