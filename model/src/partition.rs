//! A node is cut off from the others, and comes back to them; and the rule by which a master notices that it is alone.
//!
//! Clients reach a node that is cut off: two masters may serve at once (facts/redis.md, "Failover": an old master behind a
//! partition keeps serving its clients until min-replicas stops it or it is demoted).
//!
//! No link is closed by a cut: it is half-open, and who looks at its links (`INFO`, `WAIT`) still finds it there. The
//! time-out that ends it (`repl-timeout`, a minute) is longer than any scenario. What closes it: the death of one of its
//! ends, of which an acting master is told; a resync, that makes it anew; a master that is handed over; and the end of a
//! partition behind which the master was passed over. So who is no acting master and is not cut off has none.

use crate::config::Config;
use crate::failover;
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happenings, Reply};
use crate::world::{Link, Node, Role, World};

pub(crate) fn cut<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    node: u8,
) -> Option<Reply> {
    world.faults.cut_link = world.faults.cut_link.checked_sub(1)?;
    let is_acting = node == world.group.master;
    if !world.node(node).is_up() || world.node(node).is_cut() {
        return None;
    }
    half_open_links(config, world, node);
    let cut_off = world.node_mut(node);
    cut_off.apart.set_cut(true);
    if is_acting {
        failover::lose_master(config, world, seen);
    } else if cut_off.role == Role::Replica {
        // What was under way to it comes with all the rest when it follows again.
        cut_off.role = Role::Unsynced;
        cut_off.link = Link::empty();
    }
    Some(Reply::Done)
}

pub(crate) fn heal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    let is_acting = node == world.group.master;
    let healed = world.node_mut(node);
    if !healed.is_cut() {
        return None;
    }
    healed.apart.set_cut(false);
    if healed.is_master() && !is_acting {
        // A master that was passed over finds that its replicas follow another.
        healed.unheard = config.unheard_for_long();
        healed.apart.close_all();
    }
    if is_acting && healed.is_up() {
        for node in world.group.nodes.iter_mut().filter(|node| node.role == Role::Replica) {
            node.role = Role::Unsynced;
            node.apart.set_missed(0);
        }
    }
    Some(Reply::Done)
}

/// What passed between this node and the others passes no more, and no master is told.
fn half_open_links<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>, node: u8) {
    if !config.has_half_open_links() || !world.node(world.group.master).is_master() {
        return;
    }
    let master = world.group.master;
    for replica in 0..config.nodes() {
        let is_linked = world.node(replica).role == Role::Replica;
        if is_linked && (node == master || node == replica) {
            world.node_mut(master).apart.note_half_open(replica);
        }
    }
}

/// A node is dead: its links are closed, and its master is told; but not one that was passed over behind a partition.
pub(crate) fn close_links<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, dead: u8) {
    world.node_mut(dead).apart.close_all();
    world.node_mut(world.group.master).apart.close(dead);
}

/// The replicas that a master takes for connected: what `INFO` counts, and whom `WAIT` asks.
pub(crate) fn connected<R: Record, const C: usize, const N: usize>(
    world: &World<R, C, N>,
    master: u8,
) -> impl Iterator<Item = u8> {
    let hears = master == world.group.master && !world.node(master).is_cut();
    (0u8..)
        .zip(&world.group.nodes)
        .filter(move |(index, node)| {
            let is_linked = hears && node.role == Role::Replica;
            *index != master && (is_linked || world.node(master).is_half_open_to(*index))
        })
        .map(|(index, _)| index)
}

/// What this node answers instead of writing: it looks when a write starts, in scripts too (facts/redis.md, "Replication").
/// `None`: it writes.
pub(crate) fn refusal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    if !world.node(node).is_master() {
        return Some(Reply::ReadOnly);
    }
    (!hears_enough(config, world, node)).then_some(Reply::NotEnoughReplicas)
}

/// Whether a master has heard of enough replicas lately (`min-replicas-to-write`). One counts as long as its last word is
/// fresh, however much of the data it lacks.
fn hears_enough<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    master: u8,
) -> bool {
    let needed = usize::from(config.cluster.min_replicas);
    if needed == 0 || config.is_mutated(Mutant::MinReplicasIgnored) {
        return true;
    }
    if master != world.group.master {
        // It was cut off when it was passed over. Once it is not any more, its replicas are another's.
        let old = world.node(master);
        return old.is_cut() && old.unheard <= config.cluster.min_replicas_max_lag_ticks;
    }
    world.group.nodes.iter().filter(|node| is_counted(config, node)).count() >= needed
}

/// A replica is chosen in this master's place: from here on the master's own silence is what counts.
pub(crate) fn pass_over<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>) {
    let Some(last_needed) = usize::from(config.cluster.min_replicas).checked_sub(1) else { return };
    // Of the replicas that it needs, the one that it heard of least lately.
    let mut unheard: [u8; N] = core::array::from_fn(|index| {
        let node = &world.group.nodes[index];
        if is_replica(node) { node.unheard } else { config.unheard_for_long() }
    });
    unheard.sort_unstable();
    let silence = unheard.get(last_needed).copied().unwrap_or(config.unheard_for_long());
    world.node_mut(world.group.master).unheard = silence;
}

/// A tick without a word from whoever is dead or cut off.
pub(crate) fn grow_silence<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>) {
    let has_lost_all = world.node(world.group.master).is_cut();
    let master = world.group.master;
    for (index, node) in (0u8..).zip(&mut world.group.nodes) {
        if node.is_dead() {
            node.unheard = (node.unheard + 1).min(config.cluster.restart_after);
        } else if index != master
            && (node.is_cut() || (has_lost_all && is_replica(node)) || node.role == Role::Unsynced)
        {
            node.unheard = (node.unheard + 1).min(config.unheard_for_long());
        }
    }
}

fn is_replica<R: Record>(node: &Node<R>) -> bool {
    matches!(node.role, Role::Replica | Role::Unsynced)
}

fn is_counted<R: Record>(config: &Config, node: &Node<R>) -> bool {
    is_replica(node) && node.unheard <= config.cluster.min_replicas_max_lag_ticks
}
