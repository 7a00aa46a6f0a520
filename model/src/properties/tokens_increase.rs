//! Fencing tokens grow.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::{Config, Resource};
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "tokens-increase",
    kind: PropertyKind::Safety,
    sentence: "every new grant has a fencing token greater than all before",
    source: "Kleppmann 2016, How to do distributed locking: fencing tokens; Redisson's RFencedLock",
    antecedent: Some(Happening::LaterToken),
    untested: "there is never a second grant",
    mutant: Mutant::TokenReused,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.resource.is_some_and(Resource::is_fenced) {
        return Err("the scenario has no [resource] that checks tokens: fencing = \"ideal\" or \"stored\"");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::TokenNotGreater)
}
