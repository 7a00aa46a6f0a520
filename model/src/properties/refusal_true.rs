//! A caller that is told of a refusal was refused. A request that is still on its way then may be granted later: that is no part of it
//! (`no-orphan`, and the scenario `given-up-acquire-is-executed-late`).

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "refusal-true",
    kind: PropertyKind::Safety,
    sentence: "a caller that is told that it does not have the lock, because a server refuses to write or because its ask had no \
               answer, has not been granted it by then",
    source: "Redis error replies: READONLY and NOREPLICAS execute nothing (docs/facts/redisson.md#readonly-can-leave-an-orphan); \
             RLock.tryLock: \"false if lock is already set\" (docs/facts/redisson.md#a-later-ask-that-is-not-answered)",
    antecedent: Some(Happening::AcquireFailed),
    untested: "no server refuses an acquire, and each is answered in time",
    mutant: Mutant::RefusalRemembered,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.is_split() {
        return Err("request and answer are one step: a caller is told what a server did");
    }
    if !config.can_tell_refusals() {
        return Err("no server refuses to write, and no caller that waits with a limit can be without an answer");
    }
    if config.resource.is_some() {
        return Err("it is not checked where there is a [resource]");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::RefusedAndGranted)
}
