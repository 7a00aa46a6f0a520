//! At most one believer: mutual exclusion as a user of the lock sees it.

use super::claim::{Claim, PropertyKind, always};
use crate::locks::contract::Lock as _;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "one-believer",
    kind: PropertyKind::Safety,
    sentence: "at most one holder (one thread of one client) believes it holds, or readers and no writer beside them",
    source: "mutual exclusion, seen from the clients: what a user of RLock relies on",
    antecedent: Some(Happening::Granted),
    untested: "no thread is ever granted the lock",
    mutant: Mutant::AcquireIgnoresHolder,
    applies: always,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    if Y::Lock::FACTS.value_sets.is_there() {
        return !world.breaches.has(Breach::ValueShared);
    }
    if Y::Lock::FACTS.sharing.is_there() {
        let mut believers = world.believers().map(|(holder, ..)| holder);
        return believers.all(|one| world.believers().all(|(other, ..)| Y::Lock::go_together(one, other)));
    }
    (0..Y::Lock::NAMES)
        .all(|name| world.believers().filter(|(holder, ..)| Y::Lock::name_of(*holder) == name).count() <= 1)
}
