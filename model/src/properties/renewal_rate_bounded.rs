//! The watchdog does not renew more often than it is set to.

use super::claim::{Claim, PropertyKind, has_watchdog};
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims. It is about steps: a client whose timer fires, and who sends a renewal, has sent none for a renewal period. A
/// client with several timers of which only one has renewed yet has broken nothing yet.
pub(super) const CLAIM: Claim = Claim {
    id: "renewal-rate-bounded",
    kind: PropertyKind::Safety,
    sentence: "the renewals that a client sends are at least a renewal period apart",
    source: "Redisson lockWatchdogTimeout: renewal every third of it (docs/facts/redisson.md#renewal-timers-multiply)",
    antecedent: Some(Happening::LeaseRenewed),
    untested: "the watchdog never renews",
    mutant: Mutant::TimersMultiply,
    applies: has_watchdog,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::RenewedTooSoon)
}
