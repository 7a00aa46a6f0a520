//! A client's own acts: ask, hold, release; and what can happen to it.
//!
//! The order of acts is Redisson's `lock()` and `unlock()` (facts/redisson.md, "Reentrant lock"): asked and refused, the
//! thread subscribes, asks again, sleeps until a message or its timer, asks again.
//!
//! A running client is prompt: what it can do at once it does before time moves (`has_due_act`). Only a pause, or a
//! master that does not answer, makes it late.

use crate::config::{Config, MAX_THREADS};
use crate::locks::{AcquireReply, Record, ReleaseReply};
use crate::mutants::Mutant;
use crate::receipts::Receipt;
use crate::step::{Happening, Happenings, Reply};
use crate::wire::{Slot, Verb, Wire};
use crate::world::{Breach, Client, Holder, Mode, Phase, Thread, Timer, World};
use crate::{call, partition, replication, resource, wait_for, wakeup, watchdog};

pub(crate) fn acquire<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let client = world.client_mut(holder.client());
    if !client.is_running() {
        return None;
    }
    client.acquires_left = client.acquires_left.once_less()?;

    let thread = world.thread_mut(holder);
    if thread.phase != Phase::Idle || thread.holds >= config.clients.max_holds {
        return None;
    }
    // Who asks once does not wait: it has its answer when that comes.
    thread.wait_left = Timer::optional(config.time.wait_limit.filter(|limit| *limit > 0));
    if config.faults.client_clock_jump > 0 {
        thread.limit_left = thread.wait_left;
    }
    ask(config, world, seen, holder)
}

pub(crate) fn second_ask<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let thread = world.thread(holder);
    let is_due = thread.phase == Phase::Subscribed && !thread.wait_left.is_due();
    if !world.client(holder.client()).is_running() || !is_due {
        return None;
    }
    if config.is_mutated(Mutant::NoSecondAsk) {
        let lease = Timer::ticks(config.time.lease);
        wakeup::refuse(config, world, seen, holder, lease);
        return Some(Reply::Busy { remaining_ticks: lease.left() });
    }
    ask(config, world, seen, holder)
}

pub(crate) fn wake_by_message<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let client = world.client(holder.client());
    let thread = world.thread(holder);
    // At its limit a waiter goes without asking once more, even if a message has come (`tryLock` looks at the time first).
    let is_due = thread.phase == Phase::Waiting && client.wakeup.permits > 0 && !thread.wait_left.is_due();
    if !client.is_running() || !is_due {
        return None;
    }
    world.client_mut(holder.client()).wakeup.permits -= 1;
    ask(config, world, seen, holder)
}

pub(crate) fn wake_by_timer<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let client = world.client(holder.client());
    let thread = world.thread(holder);
    // With a permit there the semaphore gives that, and the timer is not heard.
    let is_due = thread.phase == Phase::Waiting
        && thread.wake_in.is_due()
        && client.wakeup.permits == 0
        && !thread.wait_left.is_due();
    if !client.is_running() || !is_due {
        return None;
    }
    ask(config, world, seen, holder)
}

pub(crate) fn give_up<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let thread = world.thread(holder);
    // A request in flight is waited for: Redisson looks at the limit when it has the reply.
    let is_due = thread.is_waiting() && !thread.is_calling() && thread.wait_left.is_due();
    if !world.client(holder.client()).is_running() || !is_due || config.is_mutated(Mutant::WaitLimitIgnored) {
        return None;
    }
    seen.note(Happening::LimitReached);
    wakeup::leave(world, holder);
    Some(Reply::Done)
}

pub(crate) fn release<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let thread = world.thread(holder);
    if !world.client(holder.client()).is_running() || thread.phase != Phase::Idle || !thread.believes() {
        return None;
    }
    if R::Wire::IS_SPLIT {
        return call::call(config, world, holder, Verb::Release);
    }
    let node = world.reachable(holder.client())?;
    let reply = execute_release(config, world, seen, (node, 0), holder)?;
    // The reply lowers the renewal count whatever it says (Redisson: `cancelExpirationRenewal` before the check).
    watchdog::unregister(config, world.client_mut(holder.client()), holder.thread());
    hear_release(config, world, holder, reply);
    Some(reply)
}

/// What the reply to a release does to the thread.
pub(crate) fn hear_release<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    reply: Reply,
) {
    let thread = world.thread_mut(holder);
    thread.phase = Phase::Idle;
    match reply {
        // Where it is not a holder's release, or the watchdog has told the thread meanwhile, there is nothing to lower.
        Reply::Released | Reply::StillHeld => thread.holds = thread.holds.saturating_sub(1),
        // The client raises, and the exception unwinds every `unlock` of the thread.
        _ => {
            thread.holds = 0;
            watchdog::forget(config, world.client_mut(holder.client()), holder.thread());
        }
    }
    let thread = world.thread_mut(holder);
    if !thread.believes() {
        *thread = Thread::IDLE;
    }
}

/// A release whose outcome is unknown: the exception leaves this `unlock`, and the hold with it. Holds that are left are
/// released by their own.
pub(crate) fn abandon_release<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
    let thread = world.thread_mut(holder);
    if thread.phase != Phase::Releasing {
        return;
    }
    thread.phase = Phase::Idle;
    thread.holds = thread.holds.saturating_sub(1);
    if !thread.believes() {
        *thread = Thread::IDLE;
    }
}

pub(crate) fn foreign_release<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let thread = world.thread(holder);
    if !world.client(holder.client()).is_running() || thread.phase != Phase::Idle || thread.believes() {
        return None;
    }
    world.faults.foreign_release = world.faults.foreign_release.checked_sub(1)?;
    if R::Wire::IS_SPLIT {
        return call::call(config, world, holder, Verb::Release);
    }
    let node = world.reachable(holder.client())?;
    execute_release(config, world, seen, (node, 0), holder)
}

pub(crate) fn force_release<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
) -> Option<Reply> {
    if !world.client(client).is_running() {
        return None;
    }
    world.faults.force_release = world.faults.force_release.checked_sub(1)?;
    let node = world.reachable(client)?;
    // A DEL is a write, even of nothing.
    if let Some(refusal) = partition::refusal(config, world, node) {
        seen.note(Happening::WriteRefused);
        return Some(refusal);
    }
    let record = world.node(node).record;
    if record.holder().is_none() {
        return Some(Reply::NothingToRelease);
    }
    replication::write(config, world, seen, node, record.without_lock())?;
    wakeup::publish(config, world, seen, node)?;
    Some(Reply::ForceReleased)
}

pub(crate) fn crash<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, index: u8) -> Option<Reply> {
    world.faults.crash_client = world.faults.crash_client.checked_sub(1)?;
    let client = world.client_mut(index);
    if !matches!(client.mode, Mode::Running | Mode::Paused) {
        return None;
    }
    for thread in 0..MAX_THREADS {
        wait_for::forget(world, Holder::new(index, thread));
    }
    // What a dead process believed is nobody's belief.
    let client = world.client_mut(index);
    *client = Client { mode: Mode::Crashed, ..Client::ABSENT };
    if let Some(requests) = world.requests_mut(index) {
        requests.outlive_client();
    }
    Some(Reply::Done)
}

pub(crate) fn crash_thread<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    world.faults.crash_thread = world.faults.crash_thread.checked_sub(1)?;
    let is_running = world.client(holder.client()).is_running();
    let thread = world.thread_mut(holder);
    let is_holding = thread.phase == Phase::Idle && thread.believes();
    // With a request in flight its process hears the reply all the same.
    if !is_running || !(is_holding || thread.is_calling()) {
        return None;
    }
    // Its process keeps the renewal entry: nobody has called unlock. Its place among the waiters goes with it.
    if thread.phase == Phase::AskingAgain {
        wakeup::leave(world, holder);
    }
    *world.thread_mut(holder) = Thread::DEAD;
    Some(Reply::Done)
}

pub(crate) fn pause<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    world.faults.pause_client = world.faults.pause_client.checked_sub(1)?;
    let client = world.client_mut(client);
    if !client.is_running() {
        return None;
    }
    client.mode = Mode::Paused;
    Some(Reply::Done)
}

pub(crate) fn resume<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    let client = world.client_mut(client);
    if client.mode != Mode::Paused {
        return None;
    }
    client.mode = Mode::Running;
    Some(Reply::Done)
}

/// Whether the client will act of itself before time moves.
pub(crate) fn has_due_act<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    index: u8,
    client: &Client,
) -> bool {
    if call::has_due_request(config, world, index) {
        return true;
    }
    if !client.is_running() {
        return false;
    }
    let is_renewing = world.requests(index).get(Slot::Renewal).is_some();
    let is_connected = world.node(client.master).is_up();
    let may_ask = is_connected && client.asks_in == Timer::OFF;
    let may_subscribe = world.node(client.master).is_master();
    // Without a master it only gives up, and finds that a renewal has no answer.
    (client.renewal.due_in.is_due() && !is_renewing)
        || client.threads.iter().any(|thread| {
            let is_at_limit = thread.wait_left.is_due() && !config.is_mutated(Mutant::WaitLimitIgnored);
            match thread.phase {
                Phase::Refused => is_at_limit || may_subscribe,
                Phase::Subscribed => is_at_limit || may_ask,
                Phase::Waiting => {
                    is_at_limit
                        || (may_ask
                            && !thread.wait_left.is_due()
                            && (client.wakeup.permits > 0 || thread.wake_in.is_due()))
                }
                Phase::Idle => thread.believes() && thread.hold_left.is_due() && is_connected,
                Phase::Confirming => true,
                // What is in flight is the wire's.
                Phase::Undoing => !R::Wire::IS_SPLIT,
                Phase::Asking | Phase::AskingAgain | Phase::Releasing | Phase::Dead => false,
            }
        })
}

/// One request for the lock, and what the reply does to the thread.
fn ask<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    // A holder that would enter once more waits as well: the new master may have forgotten that it holds.
    if world.client(holder.client()).asks_in != Timer::OFF {
        return None;
    }
    if R::Wire::IS_SPLIT {
        return call::call(config, world, holder, Verb::Acquire);
    }
    let node = world.reachable(holder.client())?;
    let answer = execute_acquire(config, world, seen, node, holder)?;
    if answer.0 != Reply::Acquired || !wait_for::begins(config, world, holder, answer.1) {
        hear_acquire(config, world, seen, holder, answer);
    }
    Some(answer.0)
}

/// One acquire on a node: its reply, and the fencing token of a new grant (0: none).
pub(crate) fn execute_acquire<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
    holder: Holder,
) -> Option<(Reply, u8)> {
    let (record, reply) = world.node(node).record.acquire(config, holder);
    let is_write = !matches!(reply, AcquireReply::Busy { .. }) || config.lock.busy_is_write();
    if is_write && let Some(refusal) = partition::refusal(config, world, node) {
        seen.note(Happening::WriteRefused);
        return Some((refusal, 0));
    }
    match reply {
        AcquireReply::Acquired => {
            seen.note(Happening::Granted);
            replication::write(config, world, seen, node, record)?;
            Some((Reply::Acquired, resource::issue_token(config, world, seen)))
        }
        AcquireReply::Reentered => {
            seen.note(Happening::Reentered);
            replication::write(config, world, seen, node, record)?;
            // Who does not know that it holds takes this for its grant (a token is issued on re-entry too:
            // facts/redisson.md, "Fenced").
            let is_known = world.thread(holder).believes();
            Some((Reply::Acquired, if is_known { 0 } else { resource::issue_token(config, world, seen) }))
        }
        AcquireReply::Busy { remaining } => {
            seen.note(Happening::Refused);
            Some((Reply::Busy { remaining_ticks: remaining.left() }, 0))
        }
    }
}

/// What the reply to an acquire does to the thread.
pub(crate) fn hear_acquire<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
    (reply, token): (Reply, u8),
) {
    if let Reply::Busy { remaining_ticks } = reply {
        return wakeup::refuse(config, world, seen, holder, Timer::optional(remaining_ticks));
    }
    if matches!(reply, Reply::ReadOnly | Reply::NotEnoughReplicas) {
        // The caller of `lock()` gets an exception, and holds what it held before.
        return wakeup::leave(world, holder);
    }
    wakeup::leave(world, holder);
    believe(config, world, holder, token);
}

/// The thread holds, as far as it knows. Where it did not wait for replicas it believes the master alone: from here on a
/// failover can make it wrong.
pub(crate) fn believe<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    token: u8,
) {
    let thread = world.thread_mut(holder);
    if !thread.believes() {
        thread.hold_left = Timer::optional(config.time.hold_at_most);
    }
    thread.phase = Phase::Idle;
    thread.holds += 1;
    if token > 0 {
        thread.token = token;
    }
    // Where the network is split that was a step of its own.
    if !R::Wire::IS_SPLIT {
        watchdog::register(config, world.client_mut(holder.client()), holder.thread(), false);
    }
}

/// An acquire whose outcome is unknown: the exception leaves `lock()`.
pub(crate) fn abandon_acquire<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
    if world.thread(holder).phase != Phase::Dead {
        wakeup::leave(world, holder);
    }
}

/// One release on a node: what it does there, not what the caller makes of it. `id` is that of its receipt.
pub(crate) fn execute_release<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    (node, id): (u8, u8),
    holder: Holder,
) -> Option<Reply> {
    let before = world.node(node).record;
    let leaves_receipt = R::Wire::IS_SPLIT && config.leaves_receipts();
    if leaves_receipt && !config.is_mutated(Mutant::ReceiptIgnored) {
        let receipt = before.receipts().find(|receipt| receipt.holder == holder && receipt.id == id);
        if let Some(receipt) = receipt {
            seen.note(Happening::ReceiptFound);
            return Some(if receipt.freed { Reply::Released } else { Reply::StillHeld });
        }
    }
    let (record, reply) = before.release(config, holder);
    note_foreign(world, seen, before, record, holder);
    if reply != ReleaseReply::NotHeld
        && let Some(refusal) = partition::refusal(config, world, node)
    {
        seen.note(Happening::WriteRefused);
        return Some(refusal);
    }
    let receipted = |freed| {
        let receipt = Receipt { holder, id, freed, remaining: Timer::ticks(config.calls.receipt) };
        if leaves_receipt { record.without_receipt(holder, id).with_receipt(receipt) } else { Some(record) }
    };
    match reply {
        ReleaseReply::Released => {
            replication::write(config, world, seen, node, receipted(true)?)?;
            wakeup::publish(config, world, seen, node)?;
            Some(Reply::Released)
        }
        ReleaseReply::StillHeld => {
            replication::write(config, world, seen, node, receipted(false)?)?;
            Some(Reply::StillHeld)
        }
        ReleaseReply::NotHeld => Some(Reply::NotHeld),
    }
}

/// Notes a release or renewal by somebody who is not the stored holder, and whether it changed anything.
pub(crate) fn note_foreign<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    before: R,
    after: R,
    holder: Holder,
) {
    if before.holder() == Some(holder) {
        return;
    }
    seen.note(Happening::ForeignAttempt);
    if before != after {
        world.breaches.note(Breach::ForeignChange);
    }
}
