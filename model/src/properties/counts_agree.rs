//! Client and master agree on hold counts. Between promotion and discovery the client cannot know better; what counts is what
//! the acting master would answer.

use super::claim::{Claim, PropertyKind, of_one_master};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "counts-agree",
    kind: PropertyKind::Safety,
    sentence: "with no request in flight, a believer's hold count is what the master stores for it",
    source: "Redisson RLock.getHoldCount",
    antecedent: Some(Happening::Granted),
    untested: "no thread is ever granted the lock",
    mutant: Mutant::ReentryWithoutCount,
    applies: of_one_master,
};

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    let Some(stored) = world.acting_master().map(|master| master.stored) else { return true };
    world.believers().all(|(holder, _, thread)| {
        world.requests(holder.client()).is_calling(holder.thread())
            || thread.is_confirming()
            || stored.hold_count(world.requester(holder)) == thread.holds()
    })
}
