//! A crashed holder does not keep the lock. What a dead master stored is gone, whoever held it.

use super::claim::{Claim, PropertyKind};
use crate::client::state::Mode;
use crate::config::sections::Config;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::redis::group::Group;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "freed-after-crash",
    kind: PropertyKind::Liveness,
    sentence: "after its holder crashed the lock becomes free",
    source: "Redis documentation, SET: the lock is released after the expire time is reached; Redisson \
             RLock: the watchdog renews only while the holder's process is alive",
    antecedent: None,
    untested: "no client ever crashes while it holds",
    mutant: Mutant::LeaseNeverEnds,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.faults.crash_client == 0 {
        return Err("no client crashes: crash_client in [faults] is 0");
    }
    Ok(())
}

/// Whether it is still owed to this holder in this state.
pub(super) fn pending<Y: Layout>(world: &World<Y>, holder: Holder) -> bool {
    let mut masters = world.groups.as_ref().iter().filter_map(Group::acting_master);
    let mut is_stored = || masters.any(|master| master.stored.is_held_by(holder));
    world.client(holder.client()).mode == Mode::Crashed && is_stored()
}
