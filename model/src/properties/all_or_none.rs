//! A lock of several parts is held as a whole, or not at all, by a client whose call has ended. That the parts are taken one after the
//! other is no part of it: while its call goes on, a client may have some of them.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "all-or-none",
    kind: PropertyKind::Safety,
    sentence: "a call that has ended, an acquire that failed or a release, leaves no part of the lock held for its client",
    source: "Redisson RedissonMultiLock: groups several locks and handles them as one",
    antecedent: Some(Happening::PartsGivenUp),
    untested: "no call ever fails that has taken a part",
    mutant: Mutant::PartsKept,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.asks_masters() {
        return Ok(());
    }
    if !config.has_parts() {
        return Err("this kind of lock has no parts");
    }
    if !config.some_client(|own| own.clients.parts.count() > 1) {
        return Err("each client takes one part only (parts in [[client]])");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    let left = if Y::Lock::HAS_SEVERAL_MASTERS { Breach::KeyLeft } else { Breach::PartLeft };
    !world.breaches.has(left)
}
