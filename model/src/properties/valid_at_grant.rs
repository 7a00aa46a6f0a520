//! Who begins to believe may, and who counts on an extension: at that moment most masters store the lock for it, and something is left of
//! its lease.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "valid-at-grant",
    kind: PropertyKind::Safety,
    sentence: "when a client begins to believe, or has extended, something is left of its lease, and as many masters as it needs store the lock for it",
    source: "Redis documentation, Distributed locks with Redis: the lock is considered to be acquired if the client acquired it in the \
             majority of the instances, and the time elapsed is less than the lock validity time",
    antecedent: Some(Happening::Granted),
    untested: "no client is ever granted the lock by most masters",
    mutant: Mutant::HalfIsMost,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.asks_masters() {
        return Err("one master stores the lock, and its grant is one answer");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::GrantInvalid)
}
