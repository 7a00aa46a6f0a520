//! What a queue promises, observed from outside the rules, so that no rule can forget to say so.

use super::layout::Layout;
use super::state::World;
use crate::config::sections::Config;
use crate::locks::contract::{Lock as _, QueuedWaiter};
use crate::locks::holder::Holder;
use crate::notes::{Breach, Happening, Notes};

/// Notes whether the acting master has granted the lock out of turn. A waiter whose deadline is not over stood before the new holder;
/// the clock of the new holder decides whether it is over.
pub(crate) fn note_overtaken<Y: Layout>(config: &Config, before: &World<Y>, after: &World<Y>, notes: &mut Notes) {
    if !Y::Lock::FACTS.queue.is_there() || before.group().master() != after.group().master() {
        return;
    }
    let (Some(was), Some(now)) = (before.acting_master(), after.acting_master()) else { return };
    let Some(granted) = now.stored.holders().map(|hold| hold.by.holder).find(|holder| !was.stored.is_held_by(*holder))
    else {
        return;
    };
    let queue = || was.stored.lock.queue();
    if queue().any(|waiter| waiter.holder != granted) {
        notes.happened(Happening::QueueServed);
    }
    let clock_ahead_ticks = config.clock_ahead_of(granted.client());
    let is_in_time =
        |waiter: QueuedWaiter| waiter.left_ticks > clock_ahead_ticks && before.is_live_waiter(waiter.holder);
    if queue().take_while(|waiter| waiter.holder != granted).any(is_in_time) {
        notes.broke(Breach::Overtaken);
    }
}

impl<Y: Layout> World<Y> {
    /// Whether this thread waits for the lock, and its process lives: it will ask for it.
    pub(crate) fn is_live_waiter(&self, holder: Holder) -> bool {
        self.client(holder.client()).is_alive() && self.thread(holder).is_waiting()
    }
}
