//! A waiter that does not come back holds up the others until its deadline, and no longer. About those who sleep: who is awake
//! asks at once.

use super::claim::{Claim, PropertyKind};
use crate::client::state::{Phase, Thread};
use crate::config::sections::Config;
use crate::locks::contract::{Lock as _, QueuedWaiter};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "dead-head-passed",
    kind: PropertyKind::Safety,
    sentence: "once the deadlines of the dead waiters before it are over, the first live waiter of a free lock does not sleep on",
    source: "Redisson fairLockWaitTimeout: \"other threads in a queue have to wait\" so long for one that has died \
             (docs/facts/family.md#fair)",
    antecedent: Some(Happening::DeadHeadRemoved),
    untested: "nobody whose deadline is over is ever removed from the head of the queue",
    mutant: Mutant::NoWakeTimer,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if config.queues() { Ok(()) } else { Err("no waiter queues") }
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    let Some(master) = world.acting_master().filter(|master| master.stored.is_free()) else { return true };
    let queue = || master.stored.lock.queue();
    let is_dead = |waiter: &QueuedWaiter| !world.is_live_waiter(waiter.holder);
    let dead_heads = queue().take_while(is_dead).count();
    let are_over = queue().take(dead_heads).all(|waiter| waiter.left_ticks == 0);
    let Some(first) = queue().nth(dead_heads).filter(|_| dead_heads > 0 && are_over) else { return true };
    let (client, thread) = (world.client(first.holder.client()), world.thread(first.holder));
    let will_be_woken = client.wakeup.permits > 0 || client.wakeup.messages() > 0 || thread.wait_left.is_due();
    !client.is_running() || !sleeps(*thread) || will_be_woken
}

fn sleeps(thread: Thread) -> bool {
    thread.phase == Phase::Waiting && !thread.wake_in.may_fire()
}
