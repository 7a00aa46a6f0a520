//! The check of replicas is made.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims. It says nothing of a master without replicas: nobody could acknowledge there.
pub(super) const CLAIM: Claim = Claim {
    id: "grant-acknowledged",
    kind: PropertyKind::Safety,
    sentence: "no client that waits for replicas is granted what none of them has, while its master has one",
    source: "Redisson checkLockSyncedSlaves (docs/facts/redisson.md#replica-count)",
    antecedent: Some(Happening::Granted),
    untested: "nothing is ever granted",
    mutant: Mutant::WaitIgnored,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.cluster.wait_for == 0 {
        return Err("no client waits for replicas: wait_for in [cluster] is left out or 0");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::GrantUnacknowledged)
}
