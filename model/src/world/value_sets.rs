//! What clients that name values promise, observed from outside the rules, so that no rule can forget to say so.

use super::layout::Layout;
use super::state::World;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::notes::{Breach, Notes};

/// Notes whether two clients believe from this step on that they have the same value. Those that name different ones are none of each
/// other's business: which they name stands in the scenario, and not in a world.
pub(crate) fn note_shared_values<Y: Layout>(config: &Config, before: &World<Y>, after: &World<Y>, notes: &mut Notes) {
    if Y::Lock::FACTS.value_sets.is_there() && is_shared(config, after) && !is_shared(config, before) {
        notes.broke(Breach::ValueShared);
    }
}

fn is_shared<Y: Layout>(config: &Config, world: &World<Y>) -> bool {
    let clients = || world.believers().map(|(holder, ..)| holder.client());
    let have_one = |one: u8, other: u8| one != other && config.values_of(one).meets(config.values_of(other));
    clients().any(|one| clients().any(|other| have_one(one, other)))
}
