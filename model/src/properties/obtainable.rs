//! The lock can still be had. About what may happen from a state on: nothing is promised, but it must not be out of reach.

use super::claim::{Claim, PropertyKind};
use crate::client::state::{AcquiresLeft, Phase, Thread};
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "obtainable",
    kind: PropertyKind::Possible,
    sentence: "a client that may still ask can still get the lock, without another fault",
    source: "Redis documentation, Distributed locks: liveness property A, deadlock free: eventually it is always possible to \
             acquire a lock",
    antecedent: None,
    untested: "no client ever may ask",
    mutant: Mutant::LeaseNeverEnds,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.clients.names > 1 && !config.has_parts() {
        return Err("there are several locks, and it is checked for one only (names in [clients])");
    }
    let may_ask = config.some_client(|own| own.clients.acquires != Some(0));
    if may_ask { Ok(()) } else { Err("no client ever asks for the lock: acquires is 0") }
}

/// Whether some client may start another acquire, now or after it has released.
pub(super) fn is_wanted<Y: Layout>(world: &World<Y>) -> bool {
    let may_ask = |thread: &Thread| thread.phase != Phase::Dead;
    world.threads().any(|(_, client, thread)| client.acquires_left != AcquiresLeft::NONE && may_ask(thread))
}

/// Whether some client may still be granted the lock: it may ask, or has asked. One that only asks whether it holds is granted nothing.
pub(super) fn is_pursued<Y: Layout>(world: &World<Y>) -> bool {
    // A call on several masters that does not wait has failed once it gives back what it was granted; one that waits may begin anew.
    let has_failed = |holder: Holder, thread: &Thread| {
        Y::Lock::HAS_MASTER_LOCKS && thread.phase == Phase::Undoing && !world.call(holder.client()).goes_on
    };
    let has_asked = world.threads().any(|(holder, _, thread)| {
        thread.is_waiting() || (thread.is_confirming() && !has_failed(holder, thread)) || thread.asks_masters()
    });
    has_asked || is_wanted(world)
}
