//! A lock that nobody believes in does not stay.

use super::claim::{Claim, PropertyKind};
use crate::config::sections::{Config, Fsync};
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::redis::group::Group;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "no-orphan",
    kind: PropertyKind::Liveness,
    sentence: "a lock that nobody believes in becomes free",
    source: "Redisson lockWatchdogTimeout: the watchdog serves the process, not the thread that holds",
    antecedent: None,
    untested: "the stored holder always believes",
    mutant: Mutant::LeaseNeverEnds,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    // Who asks several masters releases on all of them, and looks at no answer.
    if config.asks_masters() {
        return Ok(());
    }
    // A failover can lose a release, and so can a disk; a release in vain leaves what a node finds on its disk, and a node can
    // refuse one, or stand still meanwhile. Nothing else leaves a lock behind whose holder does not believe.
    let returns_with_data = config.can_restart() && config.cluster.fsync != Fsync::None;
    let is_refused = config.faults.refuse_writes > 0
        || config.some_client(Config::refuses_releases_while_moving)
        || config.faults.pause_node > 0;
    // A grant that too few replicas have is stored until it is given back.
    let is_given_back = config.can_lack_replicas();
    let can_lose_release =
        config.is_split() || config.can_fail_over() || returns_with_data || is_refused || is_given_back;
    // A release of several parts may leave some behind, of which one is gone.
    let stops = config.some_client(Config::takes_several);
    let can_die = config.faults.crash_client > 0 || config.faults.crash_thread > 0;
    // A hold whose deadline is over counts on in the next one of its value.
    let counts_on = config.names_values();
    if !can_lose_release && !can_die && !stops && !counts_on && !config.looks_at_clock() {
        return Err("no holder dies and no failover loses a release: the stored holder always believes");
    }
    Ok(())
}

/// Whether it is still owed to this holder in this state.
pub(super) fn pending<Y: Layout>(world: &World<Y>, holder: Holder) -> bool {
    let believes = world.thread(holder).believes();
    // With a value per acquire, what an earlier acquire left behind is nobody's, even if its holder holds elsewhere.
    world.groups.as_ref().iter().filter_map(Group::acting_master).any(|master| {
        let is_its_own = believes && master.stored.is_held_as(world.requester(holder));
        master.stored.is_held_by(holder) && !is_its_own
    })
}
