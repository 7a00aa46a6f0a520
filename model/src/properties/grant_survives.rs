//! Grants do not vanish.

use super::claim::{Claim, PropertyKind, of_one_master};
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "grant-survives",
    kind: PropertyKind::Safety,
    sentence: "a grant that is neither released nor expired does not vanish from the acting master",
    source: "Redis documentation, replication: an acknowledged write can be lost in a failover",
    antecedent: Some(Happening::GrantAtRisk),
    untested: "no master is ever lost with a grant, or loses its key",
    mutant: Mutant::ReplicaDropsEffect,
    applies: of_one_master,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::GrantVanished)
}
