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
    sentence: "a caller that is told that a server refuses to write was not granted the lock by an attempt after that",
    source: "Redis error replies: READONLY and NOREPLICAS execute nothing (docs/facts/redisson.md#readonly-can-leave-an-orphan)",
    antecedent: Some(Happening::WriteRefused),
    untested: "no server refuses to write",
    mutant: Mutant::RefusalRemembered,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.is_split() {
        return Err("request and answer are one step: a caller is told what a server did");
    }
    if !config.can_refuse_writes() {
        return Err("no server refuses to write: it is never made a replica, counts none, and its saves do not fail");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::GrantedAfterRefusal)
}
