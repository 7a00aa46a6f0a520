//! Readers do not exclude each other.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::Config;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "readers-share",
    kind: PropertyKind::Safety,
    sentence: "a reader is never refused while nobody else has the lock for writing, by what its master stores",
    source: "java.util.concurrent.locks.ReadWriteLock: \"the read lock may be held simultaneously by multiple reader \
             threads, so long as there are no writers\" (docs/facts/family.md#read-write)",
    antecedent: Some(Happening::ReadersShared),
    untested: "no two readers ever hold at once",
    mutant: Mutant::ReadersExclude,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.shares() { Ok(()) } else { Err("only one holder holds this kind of lock at a time") }
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::ReaderRefused)
}
