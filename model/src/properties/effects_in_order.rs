//! The resource sees holders in the order of their grants.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "effects-in-order",
    kind: PropertyKind::Safety,
    sentence: "the resource never accepts an effect of a holder after one of a later holder",
    source: "Kleppmann 2016, How to do distributed locking: fencing tokens; Redisson's RFencedLock",
    antecedent: Some(Happening::AnotherHoldersEffect),
    untested: "no second holder ever writes to the resource",
    mutant: Mutant::FenceIgnored,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.resource.is_none() {
        return Err("the scenario has no [resource]");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::EffectOutOfOrder)
}
