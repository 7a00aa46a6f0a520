//! A node dies and comes back: what it finds on its disk, and as what it stands up.
//!
//! Source: facts/redis.md, "Pub/sub, memory, durability" and "Replication": without an AOF a node comes back empty, and an
//! empty master wipes its replicas; fsync every second loses about a second, always loses nothing that was answered.

use crate::config::{Config, Fsync};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::Reply;
use crate::world::{Node, Role, World};

/// What a node has written reaches its disk.
pub(crate) fn fsync<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    let node = world.node_mut(node);
    if !config.has_late_disk() || !node.is_up() || node.disk == node.record {
        return None;
    }
    node.disk = node.record;
    Some(Reply::Done)
}

/// Whether time must wait for a disk: a tick is longer than the second after which it is written to.
pub(crate) fn is_late<R: Record, const C: usize, const N: usize>(config: &Config, world: &World<R, C, N>) -> bool {
    config.has_late_disk() && world.group.nodes.iter().any(|node| node.is_up() && node.disk != node.record)
}

/// A node took a whole copy: its AOF is written anew from that, and on the disk before the old one is given up
/// (`rewriteAppendOnlyFile`).
pub(crate) fn copy<R: Record>(config: &Config, node: &mut Node<R>) {
    if config.has_late_disk() {
        node.disk = node.record;
    }
}

/// Nobody asks any more what a dead node had in its memory: from here on it has what it will find.
pub(crate) fn forget_memory<R: Record>(config: &Config, node: &mut Node<R>) {
    node.record = found(config, node);
    copy(config, node);
}

/// A node that died comes back: as a master, if it was one, whoever is master now; else to follow.
pub(crate) fn restart<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    world.faults.restart_node = world.faults.restart_node.checked_sub(1)?;
    let is_acting = node == world.group.master;
    let returning = world.node_mut(node);
    let is_early = returning.unheard < config.cluster.restart_after && !config.is_mutated(Mutant::RestartTooEarly);
    if !returning.is_dead() || is_early {
        return None;
    }
    forget_memory(config, returning);
    if returning.role == Role::DownReplica {
        returning.role = Role::Unsynced;
        returning.unheard = config.unheard_for_long();
        return Some(Reply::Done);
    }
    returning.role = Role::Master;
    // One that was passed over has no replicas; the acting one counts them one by one.
    returning.unheard = if is_acting { 0 } else { config.unheard_for_long() };
    if is_acting {
        // It does not know its replicas, nor they its data: they take a whole copy, even of nothing.
        for node in world.group.nodes.iter_mut().filter(|node| matches!(node.role, Role::Replica | Role::Unsynced)) {
            node.role = Role::Unsynced;
            node.apart.set_missed(0);
            node.unheard = config.unheard_for_long();
        }
    }
    Some(Reply::Done)
}

/// What is on the disk, where that is not just what the node stores, and where it will ever matter.
pub(crate) fn on_disk<R: Record>(config: &Config, node: &Node<R>) -> Option<R> {
    let differs = node.is_dead() || (config.has_late_disk() && node.disk != node.record);
    (config.can_restart() && differs).then(|| found(config, node))
}

fn found<R: Record>(config: &Config, node: &Node<R>) -> R {
    if !config.can_restart() {
        return R::default();
    }
    match config.cluster.fsync {
        Fsync::None => R::default(),
        Fsync::EverySecond => node.disk,
        Fsync::Always if config.is_mutated(Mutant::FsyncForgotten) => R::default(),
        Fsync::Always => node.record,
    }
}
