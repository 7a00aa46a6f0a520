//! At most one stored holder among the nodes that accept writes: mutual exclusion as Redis sees it. Where values are unique
//! per acquire, two acquires of one thread are two holders: neither can release or renew what the other stored.

use super::claim::{Claim, PropertyKind, of_one_master};
use crate::locks::contract::Lock as _;
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "one-server-holder",
    kind: PropertyKind::Safety,
    sentence: "no two nodes that act as master store different unexpired holders, but for readers on both, not even if one refuses to write for want \
               of replicas",
    source: "mutual exclusion, seen from Redis: one hash field `holder` under one key",
    antecedent: Some(Happening::TwoMasters),
    untested: "no two nodes ever act as master",
    mutant: Mutant::PromoteBesideMaster,
    applies: of_one_master,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    if Y::Lock::FACTS.value_sets.is_there() {
        let nodes = world.groups.as_ref().iter().flat_map(|group| group.nodes.as_ref());
        let masters = || nodes.clone().filter(|node| node.is_master());
        return !masters().any(|one| masters().any(|other| one.stored.lock.contradicts(&other.stored.lock)));
    }
    if Y::Lock::FACTS.sharing.is_there() {
        let nodes = world.groups.as_ref().iter().flat_map(|group| group.nodes.as_ref());
        let stored = || nodes.clone().filter(|node| node.is_master()).flat_map(|node| node.stored.holders());
        let holders = || stored().map(|hold| hold.by.holder);
        return holders().all(|one| holders().all(|other| Y::Lock::go_together(one, other)));
    }
    (0..Y::Lock::NAMES).all(|name| {
        let nodes = world.groups.as_ref().iter().flat_map(|group| group.nodes.as_ref());
        let masters = nodes.filter(|node| node.is_master());
        let mut holders = masters.filter_map(|node| node.stored.holder_under(name)).map(|hold| hold.by);
        let first = holders.next();
        holders.all(|by| Some(by) == first)
    })
}
