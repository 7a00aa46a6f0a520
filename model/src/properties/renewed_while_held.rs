//! The watchdog keeps the lease.

use super::claim::{Claim, PropertyKind, has_watchdog, of_one_master};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "renewed-while-held",
    kind: PropertyKind::Safety,
    sentence: "a running, connected believer with a watchdog never loses its lease to expiry",
    source: "Redisson lockWatchdogTimeout, LockRenewalScheduler: renewal at a third of the lease",
    antecedent: Some(Happening::LeaseRenewed),
    untested: "the watchdog never renews",
    mutant: Mutant::WatchdogTooSlow,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    has_watchdog(config)?;
    of_one_master(config)
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::LeaseLost)
}
