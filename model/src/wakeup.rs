//! How a waiter is woken: one entry a process and lock, with permits that its threads take.
//!
//! Source: facts/redisson.md, "Wake-up inside one process"; facts/redis.md, "Pub/sub": at most once and not stored, and
//! expiry publishes nothing.

use crate::config::{Config, MAX_MESSAGES};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::world::{Client, Holder, Phase, Subscription, Timer, WakeupEntry, World};

/// How long a client of a lock without messages sleeps before it asks again. One tick: less cannot be told apart.
const POLL: Timer = Timer::ticks(1);

pub(crate) fn subscribe<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    let thread = world.thread(holder);
    let is_due = thread.phase == Phase::Refused && !thread.wait_left.is_due();
    if !world.client(holder.client()).is_running() || !is_due {
        return None;
    }
    let node = world.reachable_master(holder.client())?;
    let entry = &mut world.client_mut(holder.client()).wakeup;
    // A second thread shares the first one's subscription.
    if entry.subscription == Subscription::None {
        entry.subscription = Subscription::on(node);
    }
    world.thread_mut(holder).phase = Phase::Subscribed;
    Some(Reply::Done)
}

pub(crate) fn resubscribe<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    if !world.client(client).is_running() || world.client(client).wakeup.subscription != Subscription::Lost {
        return None;
    }
    let node = world.reachable_master(client)?;
    world.client_mut(client).wakeup.subscription = Subscription::on(node);
    Some(Reply::Done)
}

pub(crate) fn deliver<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    index: u8,
) -> Option<Reply> {
    let client = world.client_mut(index);
    let has_room = client.wakeup.permits < MAX_MESSAGES;
    if !client.is_running() || !has_room || config.is_mutated(Mutant::MessagesNeverArrive) {
        return None;
    }
    client.wakeup.messages = client.wakeup.messages.checked_sub(1)?;
    if !client.threads.iter().any(|thread| thread.phase == Phase::Waiting) {
        seen.note(Happening::MessageUnheard);
    }
    client.wakeup.permits += 1;
    if let Some(requests) = world.requests_mut(index) {
        requests.drop_message();
    }
    Some(Reply::Done)
}

pub(crate) fn lose_message<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    world.faults.lose_message = world.faults.lose_message.checked_sub(1)?;
    let entry = &mut world.client_mut(client).wakeup;
    entry.messages = entry.messages.checked_sub(1)?;
    if let Some(requests) = world.requests_mut(client) {
        requests.drop_message();
    }
    Some(Reply::Done)
}

/// The lock is free: a message sets out to every process that is subscribed on this node. `None`: too many are under
/// way already, so that this cannot happen yet.
pub(crate) fn publish<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<()> {
    if !config.lock.publishes() || config.is_mutated(Mutant::ReleaseWithoutMessage) {
        return Some(());
    }
    seen.note(Happening::Published);
    for client in &mut world.clients {
        if client.wakeup.subscription == Subscription::on(node) {
            if client.wakeup.messages == MAX_MESSAGES {
                return None;
            }
            client.wakeup.messages += 1;
        }
    }
    Some(())
}

/// A thread was refused: what it does next depends on how far it had come.
pub(crate) fn refuse<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
    remaining: Timer,
) {
    if !config.waits() {
        let thread = world.thread_mut(holder);
        thread.phase = Phase::Idle;
        thread.wait_left = Timer::OFF;
        thread.limit_left = Timer::OFF;
        return;
    }
    let thread = world.thread_mut(holder);
    if matches!(thread.phase, Phase::Idle | Phase::Asking) && config.lock.publishes() {
        thread.phase = Phase::Refused;
        return;
    }
    seen.note(Happening::FellAsleep);
    thread.phase = Phase::Waiting;
    thread.wake_in = match remaining.left() {
        _ if config.is_mutated(Mutant::NoWakeTimer) => Timer::OFF,
        _ if !config.lock.publishes() => POLL,
        // A key whose remaining time is 0 is still there now and gone at the next tick: that is when to ask.
        Some(0) => Timer::ticks(1),
        Some(_) => remaining,
        // No TTL: only a message wakes it.
        None => Timer::OFF,
    };
}

/// A thread leaves `lock()`, served or not. With the last waiter goes the process's subscription, and with it the
/// messages under way and the permits nobody took.
pub(crate) fn leave<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
    let thread = world.thread_mut(holder);
    thread.phase = Phase::Idle;
    thread.wait_left = Timer::OFF;
    thread.limit_left = Timer::OFF;
    thread.wake_in = Timer::OFF;
    let client = world.client_mut(holder.client());
    if !client.threads.iter().any(|thread| uses_entry(thread.phase)) {
        client.wakeup = WakeupEntry::NONE;
        if let Some(requests) = world.requests_mut(holder.client()) {
            requests.forget_messages();
        }
    }
}

/// The node is dead, and every subscription on it. Messages it had sent are still under way.
pub(crate) fn lose_subscriptions<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) {
    for client in &mut world.clients {
        if client.wakeup.subscription == Subscription::on(node) {
            client.wakeup.subscription = Subscription::Lost;
            seen.note(Happening::SubscriptionLost);
        }
    }
}

/// Whether time must wait for a message.
pub(crate) fn has_due_message<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    index: u8,
    client: &Client,
) -> bool {
    config.network.delay.most().is_some_and(|most| world.requests(index).message_age() >= most)
        && client.is_running()
        && client.wakeup.messages > 0
        && client.wakeup.permits < MAX_MESSAGES
        && !config.is_mutated(Mutant::MessagesNeverArrive)
}

const fn uses_entry(phase: Phase) -> bool {
    matches!(phase, Phase::Subscribed | Phase::Waiting | Phase::AskingAgain)
}
