//! A node dies, a replica becomes master, the others and the clients move over: each a step of its own.
//!
//! Source: facts/redis.md, "Failover": one promotion at a time, the rest is reconfigured, clients learn last.

use crate::clocks;
use crate::config::{Bound, Config, PromoteRule};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::world::{Link, Node, Role, Subscription, Timer, World};
use crate::{call, disk, expiry, partition, wait_for, wakeup};

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
    let may_return = config.can_restart();
    let dying = world.node_mut(node);
    dying.role = if may_return && !dying.is_master() { Role::DownReplica } else { Role::Down };
    dying.link = Link::empty();
    dying.unheard = 0;
    partition::close_links(world, node);
    if was_acting {
        // Its record stays as a ghost until a replica takes its place: what that replica does not know is what the
        // failover loses.
        lose_master(config, world, seen);
    } else {
        disk::forget_memory(config, world.node_mut(node));
    }
    lose_connections(config, world, seen, node);
    call::lose_with_node(world, node);
    Some(Reply::Done)
}

/// Whoever was connected to the node is not any more.
fn lose_connections<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) {
    wakeup::lose_subscriptions(world, seen, node);
    wait_for::lose(config, world, seen, |_, client| client.master == node);
    wait_for::lose_calls(config, world, node);
}

/// The acting master is dead, or cut off: what it had not sent does not reach its replicas, and a failover may begin.
pub(crate) fn lose_master<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
) {
    world.group.failover_left = match config.cluster.failover_within {
        Bound::Ticks(ticks) => Timer::ticks(ticks),
        Bound::Any => Timer::OFF,
    };
    for node in world.group.nodes.iter_mut().filter(|node| node.role == Role::Replica) {
        if node.link.len > 0 {
            seen.note(Happening::EffectsLost);
        }
        if config.cluster.promote == PromoteRule::MostData {
            node.apart.set_missed(node.missed().max(node.link.len));
        }
        node.link = Link::empty();
    }
}

pub(crate) fn promote<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    _seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    let master = world.node(world.group.master);
    let is_needed = master.is_dead() || master.is_cut() || config.is_mutated(Mutant::PromoteBesideMaster);
    if !is_needed || !is_candidate(world.node(node)) || !is_chosen(config, world, node) {
        return None;
    }
    take_over(config, world, node);
    Some(Reply::Done)
}

/// Somebody makes a replica the master while the master runs. Coordinated, it waits until the replica has everything, and
/// what is written meanwhile waits as well: the old master is a replica at once, and nothing is lost (`FAILOVER`,
/// facts/redis.md). Otherwise the old one goes on until it is told (`SENTINEL FAILOVER`, `REPLICAOF NO ONE`). The other
/// replicas leave it in both.
pub(crate) fn hand_over<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    world.faults.hand_over = world.faults.hand_over.checked_sub(1)?;
    let old = world.group.master;
    let (master, heir) = (world.node(old), world.node(node));
    if !master.is_master() || master.is_cut() || heir.role != Role::Replica || heir.is_cut() {
        return None;
    }
    let is_coordinated = config.cluster.promote == PromoteRule::Coordinated;
    if is_coordinated && heir.link.len > 0 && !config.is_mutated(Mutant::HandOverTooEarly) {
        return None;
    }
    lose_master(config, world, seen);
    take_over(config, world, node);
    let left = world.node_mut(old);
    left.unheard = config.unheard_for_long();
    left.apart.close_all();
    if is_coordinated {
        // It goes on from where it is (a partial resync): what it stores is what it stored.
        let master = world.node_mut(old);
        (master.role, master.unheard) = (Role::Replica, 0);
        wait_for::acknowledge(config, world, old);
        lose_connections(config, world, seen, old);
        // By the new master's clock the key may be over: it deletes what the old one still stores.
        if config.has_skew() && world.node(node).record.holder().is_none() && world.node(old).record.holder().is_some()
        {
            expiry::tell_replicas(config, world, node)?;
        }
    }
    Some(Reply::Done)
}

/// The replica is the master now, and the others do not follow it yet.
fn take_over<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>, node: u8) {
    let old = world.group.master;
    if world.node(old).is_dead() {
        disk::forget_memory(config, world.node_mut(old));
    } else {
        partition::pass_over(config, world);
    }
    world.group.master = node;
    for (index, other) in (0u8..).zip(&mut world.group.nodes) {
        other.apart.set_missed(0);
        if index == node {
            other.role = Role::Master;
            other.link = Link::empty();
            other.unheard = 0;
        } else if matches!(other.role, Role::Replica | Role::Unsynced) {
            other.role = Role::Unsynced;
            other.link = Link::empty();
            other.unheard = config.unheard_for_long();
        }
    }
}

pub(crate) fn resync<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    if world.node(node).role != Role::Unsynced {
        return None;
    }
    follow(config, world, node)
}

/// Whoever decides on failovers makes an old master a replica: its own suffix is erased, and its clients lose their
/// connections (Sentinel sends `CLIENT KILL TYPE normal` and `pubsub` with `REPLICAOF`).
pub(crate) fn demote<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    let old = world.node(node);
    if node == world.group.master || !old.is_master() {
        return None;
    }
    let reply = follow(config, world, node)?;
    lose_connections(config, world, seen, node);
    Some(reply)
}

/// A node begins to follow the acting master. Partial or full, the resync ends with the master's data: a full copy
/// replaces what the node had.
fn follow<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    let master = world.acting_master().filter(|master| !master.is_cut())?;
    let (record, ahead) = (master.record, master.ahead);
    let replica = world.node_mut(node);
    if replica.is_cut() {
        return None;
    }
    replica.role = Role::Replica;
    // A copy holds deadlines, in every version.
    replica.record = clocks::taken_over(config, record, ahead, replica.ahead);
    replica.unheard = 0;
    disk::copy(config, replica);
    world.node_mut(world.group.master).apart.close(node);
    wait_for::acknowledge(config, world, node);
    Some(Reply::Done)
}

pub(crate) fn discover<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
) -> Option<Reply> {
    world.acting_master()?;
    let master = world.group.master;
    let process = world.client(client);
    if !process.is_running() || process.master == master {
        return None;
    }
    wait_for::lose(config, world, seen, |index, _| index == client);
    let client = world.client_mut(client);
    client.master = master;
    client.replicas.forget_known();
    if config.cluster.lock_delay > 0 && !config.is_mutated(Mutant::LockDelayIgnored) {
        client.asks_in = Timer::ticks(config.cluster.lock_delay);
    }
    // It leaves an old master that still runs, and its subscription there with it (Redisson: `changeMaster`).
    if client.wakeup.subscription.node().is_some_and(|node| node != master) {
        client.wakeup.subscription = Subscription::Lost;
        seen.note(Happening::SubscriptionLost);
    }
    Some(Reply::Done)
}

/// Ends the countdown once every running client has moved over. A client that stands still is not waited for, nor is a
/// master where no replica is left to take its place.
pub(crate) fn note_end<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>) {
    if world.group.failover_left == Timer::OFF {
        return;
    }
    let master = world.group.master;
    let is_over = match world.acting_master().filter(|master| !master.is_cut()) {
        Some(_) => world
            .clients
            .iter()
            .filter(|client| client.is_running())
            .all(|client| client.master == master && client.wakeup.subscription != Subscription::Lost),
        None => !world.group.nodes.iter().any(is_candidate),
    };
    if is_over {
        world.group.failover_left = Timer::OFF;
    }
}

fn is_candidate<R: Record>(node: &Node<R>) -> bool {
    matches!(node.role, Role::Replica | Role::Unsynced) && !node.is_cut()
}

/// Whether the scenario's rule may choose this replica.
fn is_chosen<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>, node: u8) -> bool {
    let mut candidates = (0u8..).zip(&world.group.nodes).filter(|(_, node)| is_candidate(node));
    match config.cluster.promote {
        PromoteRule::Any | PromoteRule::Coordinated => true,
        PromoteRule::Priority => candidates.next().is_some_and(|(first, _)| first == node),
        PromoteRule::MostData => {
            // One that does not follow the dead master yet has less than any that did.
            let rank = |index: u8| (world.node(index).role == Role::Unsynced, world.node(index).missed());
            candidates.all(|(other, _)| rank(node) <= rank(other))
        }
    }
}
