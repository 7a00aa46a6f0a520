//! Clocks that jump: a node's, by which its keys run out, and a client's, by which it waits.
//!
//! Source: facts/redis.md, "Expiry and time": time is the wall clock, a jump ahead ends locks early, a jump back makes
//! them outlive; every node has its own. A TTL that travels as an absolute time is judged by the receiver's clock.
//! A client measures its wait limit by `System.currentTimeMillis` (Redisson's `tryLock`), and all else by timers that
//! never jump. Simplified: a sleeper whose limit is over by such a jump goes at once, and not when it next wakes.

use crate::config::{Config, Ttls};
use crate::expiry;
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happenings, Reply};
use crate::world::{Mode, Timer, World};

/// The clock of a node jumps. Back only that of a master: a replica deletes nothing by itself, and would show again what
/// it only hides.
pub(crate) fn jump<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    world.faults.clock_jump = world.faults.clock_jump.checked_sub(1)?;
    let jump = config.time.jump;
    let jumping = world.node(node);
    if !jumping.is_up() || (jump < 0 && !jumping.is_master()) {
        return None;
    }
    let record = nearer(config, jumping.record, jump);
    let is_over = jumping.record.holder().is_some() && record.holder().is_none();
    if is_over && node == world.group.master {
        expiry::note_lost_lease(config, world, seen);
    }
    let jumping = world.node_mut(node);
    jumping.ahead += jump;
    jumping.record = record;
    jumping.disk = nearer(config, jumping.disk, jump);
    if config.cluster.ttls == Ttls::Absolute {
        for effect in &mut jumping.link.effects[..usize::from(jumping.link.len)] {
            effect.record = nearer(config, effect.record, jump);
        }
    }
    if is_over {
        expiry::tell_replicas(config, world, node)?;
    }
    Some(Reply::Done)
}

/// The wall clock of a client jumps, and with it all its wait limits.
pub(crate) fn jump_of_client<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    world.faults.client_clock_jump = world.faults.client_clock_jump.checked_sub(1)?;
    let client = world.client_mut(client);
    let is_there = matches!(client.mode, Mode::Running | Mode::Paused);
    if !is_there || !client.threads.iter().any(|thread| thread.wait_left != Timer::OFF) {
        return None;
    }
    for thread in &mut client.threads {
        thread.wait_left = thread.wait_left.nearer(config.time.jump).unwrap_or(Timer::DUE);
    }
    Some(Reply::Done)
}

/// The record of one node as another takes it over: its deadline is a time of the first one's clock.
pub(crate) fn taken_over<R: Record>(config: &Config, record: R, from_ahead: i8, to_ahead: i8) -> R {
    if from_ahead == to_ahead { record } else { nearer(config, record, to_ahead - from_ahead) }
}

fn nearer<R: Record>(config: &Config, record: R, ticks: i8) -> R {
    match record.remaining().nearer(ticks) {
        Some(remaining) => record.with_remaining(remaining),
        None if config.is_mutated(Mutant::LeaseNeverEnds) => record.with_remaining(Timer::DUE),
        None => R::default(),
    }
}
