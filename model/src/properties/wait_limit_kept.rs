//! Wait limits are kept.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "wait-limit-kept",
    kind: PropertyKind::Safety,
    sentence: "a client with a wait limit has its answer when the limit is over; one that spins, when it next asks",
    source: "Redisson RLock.tryLock(waitTime)",
    antecedent: Some(Happening::LimitReached),
    untested: "no wait ever reaches its limit",
    mutant: Mutant::WaitLimitIgnored,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.asks_master_locks() {
        return Err(
            "a client that asks several masters looks at its limit once it has heard one, however late that is, and not after each",
        );
    }
    if config.asks_masters() {
        return Err(
            "a client that asks several masters looks at its limit when a round ends, however long the last reply takes",
        );
    }
    if !config.some_client(|own| own.time.wait_limit.is_some_and(|limit| limit > 0)) {
        return Err("no client waits with a limit: wait_limit in [time] is left out or 0");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::WaitLimitOverrun)
}
