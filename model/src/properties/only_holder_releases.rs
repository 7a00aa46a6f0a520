//! A release or renewal by anyone but the holder changes nothing.

use super::claim::{Claim, PropertyKind, always};
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "only-holder-releases",
    kind: PropertyKind::Safety,
    sentence: "a release, renewal or extension by anyone else changes nothing",
    source: "Redisson unlockInner, renew: `hexists` before every write; Redis documentation, SET: \
             compare-and-delete",
    antecedent: Some(Happening::ForeignAttempt),
    untested: "only the stored holder ever releases or renews",
    mutant: Mutant::ReleaseWithoutHolderCheck,
    applies: always,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    !world.breaches.has(Breach::ForeignChange)
}
