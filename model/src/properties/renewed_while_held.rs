//! The watchdog keeps the lease.

use super::claim::{Claim, PropertyKind};
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
    if !config.some_client(|own| own.time.renew_every.is_some()) {
        return Err("there is no watchdog: renew_every in [time] is left out");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::LeaseLost)
}
