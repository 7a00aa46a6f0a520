//! A thread is interrupted while it waits, or while its request is in flight.
//!
//! Source: Redisson's `RedissonLock.lockInterruptibly`, `tryLock` and `CommandAsyncService.get`: the waiting thread gets an
//! exception, and the future that it waited for is cancelled. A request that is written is executed all the same; what
//! depends on the cancelled future does not run. So an acquire that is granted afterwards is neither known to anybody nor
//! renewed, and a release that is executed afterwards stays in the renewal table.

use crate::call;
use crate::client;
use crate::config::{Config, InterruptedAcquire};
use crate::locks::Record;
use crate::step::{Happening, Happenings, Reply};
use crate::wakeup;
use crate::wire::{Slot, Verb};
use crate::world::{Holder, World};

pub(crate) fn interrupt<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    world.faults.interrupt = world.faults.interrupt.checked_sub(1)?;
    let client = holder.client();
    let thread = world.thread(holder);
    // One that is granted hears how many replicas know first.
    if !world.client(client).is_running() || !(thread.is_waiting() || thread.is_calling()) {
        return None;
    }
    if !thread.is_calling() {
        wakeup::leave(world, holder);
        return Some(Reply::Interrupted);
    }
    let call = *world.requests(client).get(Slot::of_thread(holder.thread()))?;
    // What has been heard is on its way to the thread already.
    if call.is_heard {
        return None;
    }
    let must_undo = call.verb == Verb::Acquire && config.calls.interrupted_acquire == InterruptedAcquire::Release;
    call::cancel(world, holder, must_undo)?;
    seen.note(Happening::OutcomeUnknown);
    match call.verb {
        Verb::Acquire | Verb::Renew | Verb::Undo => client::abandon_acquire(world, holder),
        Verb::Release => client::abandon_release(world, holder),
    }
    Some(Reply::Interrupted)
}
