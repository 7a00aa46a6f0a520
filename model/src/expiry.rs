//! Time: one tick on every clock, and what runs out by it.
//!
//! A key with 0 left is alive, one tick later it is gone (facts/redis.md, "Expiry and time"). A replica hides an expired
//! key and never deletes it by itself; with all clocks alike that looks the same, so an expired key is simply gone.

use crate::config::{Bound, Config, Ttls};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::world::{Breach, Mode, Timer, World};
use crate::{call, client, disk, partition, replication, wait_for, wakeup};

pub(crate) fn tick<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
) -> Option<Reply> {
    if must_wait(config, world) {
        return None;
    }

    let is_over = config.has_skew() && runs_out(config, world);
    if world.acting_master().is_some_and(|master| master.record.remaining().is_due()) {
        note_lost_lease(config, world, seen);
    }
    world.group.failover_left = world.group.failover_left.later();
    partition::grow_silence(config, world);
    for node in &mut world.group.nodes {
        node.record = later(config, node.record);
        // Time runs while a node is down, on its disk as well (facts/redis.md: nothing expires while loading, and then
        // everything that is due).
        node.disk = later(config, node.disk);
        for effect in &mut node.link.effects[..usize::from(node.link.len)] {
            if config.cluster.ttls == Ttls::Absolute {
                effect.record = later(config, effect.record);
            }
            if !matches!(config.cluster.lag, Bound::Any) {
                effect.grow_older();
            }
        }
    }

    if is_over {
        tell_replicas(config, world, world.group.master)?;
    }

    let mut is_overrun = false;
    for client in world.clients.iter_mut().filter(|client| matches!(client.mode, Mode::Running | Mode::Paused)) {
        for thread in &mut client.threads {
            let limit = if thread.limit_left == Timer::OFF { thread.wait_left } else { thread.limit_left };
            is_overrun |= client.mode == Mode::Running && thread.is_waiting() && limit.is_due();
            thread.wait_left = thread.wait_left.later();
            thread.limit_left = thread.limit_left.later();
            thread.wake_in = thread.wake_in.later();
            thread.hold_left = thread.hold_left.later();
        }
        client.renewal.due_in = client.renewal.due_in.later();
        client.asks_in = client.asks_in.later();
        if client.asks_in.is_due() {
            client.asks_in = Timer::OFF;
        }
    }
    call::tick(config, world);
    wait_for::time_out(config, world);
    if is_overrun {
        world.breaches.note(Breach::WaitLimitOverrun);
    }
    Some(Reply::Done)
}

/// Whether something is to happen before time moves.
pub(crate) fn must_wait<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>) -> bool {
    replication::has_due_effect(config, world)
        || world.group.failover_left.is_due()
        || disk::is_late(config, world)
        || (0u8..).zip(&world.clients).any(|(index, client)| {
            client::has_due_act(config, world, index, client) || wakeup::has_due_message(config, world, index, client)
        })
}

/// The key vanishes without a word: evicted for want of memory, or deleted by hand. The master tells its replicas, as of
/// any write, and no waiter (facts/redis.md, "Pub/sub, memory, durability").
pub(crate) fn vanish<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    world.faults.vanish_key = world.faults.vanish_key.checked_sub(1)?;
    let master = world.node(node);
    if !master.is_master() || master.record.holder().is_none() {
        return None;
    }
    let record = master.record.without_lock();
    replication::write(config, world, seen, node, record)?;
    Some(Reply::Done)
}

/// The record one tick later.
fn later<R: Record>(config: &Config, record: R) -> R {
    let record = record.with_older_receipts();
    let remaining = record.remaining();
    if remaining.is_due() && !config.is_mutated(Mutant::LeaseNeverEnds) {
        record.without_lock()
    } else {
        record.with_remaining(remaining.later())
    }
}

/// Whether the acting master's key runs out in this tick.
fn runs_out<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>) -> bool {
    let master = world.acting_master();
    let is_due = master.is_some_and(|master| master.record.holder().is_some() && master.record.remaining().is_due());
    is_due && !config.is_mutated(Mutant::LeaseNeverEnds)
}

/// A master deletes what has run out, and says so to its replicas: they do not look at the time themselves (facts/redis.md,
/// "Expiry and time"). Where all clocks are alike nobody can tell, and it is left out.
pub(crate) fn tell_replicas<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    master: u8,
) -> Option<()> {
    let is_heard = master == world.group.master && world.node(master).is_master() && !world.node(master).is_cut();
    if is_heard { replication::send(config, world, master, R::default()) } else { Some(()) }
}

/// Notes that the acting master's key runs out, and whether its holder has a watchdog that should have
/// prevented it.
pub(crate) fn note_lost_lease<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
) {
    let Some(record) = world.acting_master().map(|master| master.record) else { return };
    let Some(holder) = record.holder() else { return };
    seen.note(Happening::Expired);
    let is_connected = world.client(holder.client()).master == world.group.master;
    let is_held = world.client(holder.client()).is_running() && world.thread(holder).believes();
    if config.time.renew_every.is_some() && is_connected && is_held {
        world.breaches.note(Breach::LeaseLost);
    }
}
