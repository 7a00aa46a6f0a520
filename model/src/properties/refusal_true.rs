//! A caller that is told of a refusal was refused.

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
    sentence: "a caller that is told that it does not have the lock, by an exception for a server that refuses to write or because \
               its ask has no answer, has not been granted it",
    source: "Redis error replies: READONLY and NOREPLICAS execute nothing (docs/facts/redisson.md#readonly-can-leave-an-orphan); \
             RLock.tryLock: \"false if lock is already set\" (docs/facts/redisson.md#a-later-ask-that-is-not-answered)",
    antecedent: Some(Happening::AcquireFailed),
    untested: "no server refuses to write an acquire, and none is without an answer",
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
        return Err("beside a resource it is not counted");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::RefusedAndGranted)
}
