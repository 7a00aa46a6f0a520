//! A node dies, a replica becomes master, the others and the clients move over: each a step of its own.
//!
//! Source: facts/redis.md, "Failover": one promotion at a time, the rest is reconfigured, clients learn last.

use crate::config::{Bound, Config, PromoteRule};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::world::{Link, Role, Subscription, Timer, World};
use crate::{call, wakeup};

pub(crate) fn crash<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    world.faults.crash_node = world.faults.crash_node.checked_sub(1)?;
    if !world.node(node).is_up() {
        return None;
    }
    let was_acting = node == world.group.master;
    let dying = world.node_mut(node);
    dying.role = Role::Down;
    dying.link = Link::empty();
    if was_acting {
        world.group.failover_left = match config.cluster.failover_within {
            Bound::Ticks(ticks) => Timer::ticks(ticks),
            Bound::Any => Timer::OFF,
        };
        // What the master had not sent dies with it. Its record stays as a ghost until a replica takes its place: what
        // that replica does not know is what the failover loses.
        for node in world.group.nodes.iter_mut().filter(|node| node.role == Role::Replica) {
            if node.link.len > 0 {
                seen.note(Happening::EffectsLost);
            }
            if config.cluster.promote == PromoteRule::MostData {
                node.missed = node.link.len;
            }
            node.link = Link::empty();
        }
    } else {
        world.node_mut(node).record = R::default();
    }
    wakeup::lose_subscriptions(world, seen, node);
    call::lose_with_node(world, node);
    Some(Reply::Done)
}

pub(crate) fn promote<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    _seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    let master = world.node(world.group.master);
    let is_needed = master.role == Role::Down || config.is_mutated(Mutant::PromoteBesideMaster);
    if !is_needed || !is_candidate(world, node) || !is_chosen(config, world, node) {
        return None;
    }
    let old = world.group.master;
    if world.node(old).role == Role::Down {
        world.node_mut(old).record = R::default();
    }
    world.group.master = node;
    for (index, other) in (0u8..).zip(&mut world.group.nodes) {
        other.missed = 0;
        if index == node {
            other.role = Role::Master;
            other.link = Link::empty();
        } else if other.role == Role::Replica {
            other.role = Role::Unsynced;
            other.link = Link::empty();
        }
    }
    Some(Reply::Done)
}

pub(crate) fn resync<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, node: u8) -> Option<Reply> {
    // Partial or full, it ends with the master's data: a full copy replaces what the replica had.
    let record = world.acting_master()?.record;
    let replica = world.node_mut(node);
    if replica.role != Role::Unsynced {
        return None;
    }
    replica.role = Role::Replica;
    replica.record = record;
    Some(Reply::Done)
}

pub(crate) fn discover<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
) -> Option<Reply> {
    world.acting_master()?;
    let master = world.group.master;
    let client = world.client_mut(client);
    if !client.is_running() || client.master == master {
        return None;
    }
    client.master = master;
    Some(Reply::Done)
}

/// Ends the countdown once every running client has moved over. A client that stands still is not waited for, nor is a
/// master where no replica is left to take its place.
pub(crate) fn note_end<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>) {
    if world.group.failover_left == Timer::OFF {
        return;
    }
    let master = world.group.master;
    let is_over = match world.acting_master() {
        Some(_) => world
            .clients
            .iter()
            .filter(|client| client.is_running())
            .all(|client| client.master == master && client.wakeup.subscription != Subscription::Lost),
        None => (0u8..).zip(&world.group.nodes).all(|(index, _)| !is_candidate(world, index)),
    };
    if is_over {
        world.group.failover_left = Timer::OFF;
    }
}

fn is_candidate<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>, node: u8) -> bool {
    matches!(world.node(node).role, Role::Replica | Role::Unsynced)
}

/// Whether the scenario's rule may choose this replica.
fn is_chosen<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>, node: u8) -> bool {
    let mut candidates = (0u8..).zip(&world.group.nodes).filter(|&(index, _)| is_candidate(world, index));
    match config.cluster.promote {
        PromoteRule::Any => true,
        PromoteRule::Priority => candidates.next().is_some_and(|(first, _)| first == node),
        PromoteRule::MostData => {
            // One that does not follow the dead master yet has less than any that did.
            let rank = |index: u8| (world.node(index).role == Role::Unsynced, world.node(index).missed);
            candidates.all(|(other, _)| rank(node) <= rank(other))
        }
    }
}
