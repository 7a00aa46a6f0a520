//! A writer does not wait for ever while readers come and go.

use super::claim::{Claim, PropertyKind};
use super::waiter_served;
use crate::config::sections::Config;
use crate::locks::contract::{HoldMode, Lock as _};
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "writer-served",
    kind: PropertyKind::Liveness,
    sentence: "every writer that waits is eventually granted, times out or crashes",
    source: "java.util.concurrent.locks.ReadWriteLock: a policy must say whether readers may enter while a writer waits; \
             Redisson's has none (docs/facts/family.md#read-write)",
    antecedent: None,
    untested: "no writer ever waits",
    mutant: Mutant::NoWakeTimer,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.shares() {
        return Err("this kind of lock has no readers");
    }
    if config.waits() { Ok(()) } else { Err("no client waits: wait_limit in [time] is 0") }
}

/// Whether it is still owed to this holder in this state.
pub(super) fn pending<Y: Layout>(world: &World<Y>, holder: Holder) -> bool {
    let is_writer = Y::Lock::FACTS.sharing.is_there() && Y::Lock::mode_of(holder) == HoldMode::Exclusive;
    is_writer && waiter_served::pending(world, holder)
}
