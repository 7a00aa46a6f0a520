//! What clients that name values promise, observed from outside the rules, so that no rule can forget to say so.

use super::layout::Layout;
use super::state::World;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::notes::{Breach, Notes};

/// Notes whether two clients believe that they have the same value. Those that name different ones are none of each other's
/// business: which they name stands in the scenario, and not in a world.
pub(crate) fn note_shared_values<Y: Layout>(config: &Config, world: &World<Y>, notes: &mut Notes) {
    if !Y::Lock::FACTS.value_sets.is_there() {
        return;
    }
    let clients = || world.believers().map(|(holder, ..)| holder.client());
    let is_shared = |one: u8, other: u8| one != other && config.values_of(one).meets(config.values_of(other));
    if clients().any(|one| clients().any(|other| is_shared(one, other))) {
        notes.broke(Breach::ValueShared);
    }
}
