//! How a write reaches the replicas: later.
//!
//! The reply is sent before any replica has the write; one script is one effect (facts/redis.md, "Replication").

use crate::clocks;
use crate::config::{Bound, Config, MAX_EFFECTS_UNDER_WAY, Ttls};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::wait_for;
use crate::world::{Effect, Role, World};

/// A master stores the record and sends it to its replicas. `None`: too many effects are under way already, so that
/// this cannot happen yet.
pub(crate) fn write<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    master: u8,
    record: R,
) -> Option<()> {
    seen.note(Happening::Wrote);
    let before = core::mem::replace(&mut world.node_mut(master).record, record);
    // Replicas follow the acting master; one that was passed over, or is cut off, writes for itself alone.
    if master != world.group.master || world.node(master).is_cut() {
        return Some(());
    }
    send(config, world, master, record.as_effect(before, config))
}

/// The replicas of the acting master will hear of what it stores now.
pub(crate) fn send<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    master: u8,
    record: R,
) -> Option<()> {
    let ahead = world.node(master).ahead;
    for node in world.group.nodes.iter_mut().filter(|node| node.role == Role::Replica) {
        // A time that is left is the same by every clock; a deadline is not.
        let record = match config.cluster.ttls {
            Ttls::Relative if !config.is_mutated(Mutant::DeadlinesAlwaysTravel) => record,
            Ttls::Absolute | Ttls::Relative => clocks::taken_over(config, record, ahead, node.ahead),
        };
        if config.cluster.lag.is_zero() {
            apply(config, &mut node.record, record);
            continue;
        }
        if node.link.len == MAX_EFFECTS_UNDER_WAY {
            return None;
        }
        node.link.effects[usize::from(node.link.len)] = Effect::new(record);
        node.link.len += 1;
    }
    Some(())
}

pub(crate) fn replicate<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) -> Option<Reply> {
    world.acting_master()?;
    let replica = world.node_mut(node);
    if replica.role != Role::Replica {
        return None;
    }
    replica.link.len = replica.link.len.checked_sub(1)?;
    let [next, ..] = replica.link.effects;
    replica.link.effects.copy_within(1.., 0);
    replica.link.effects[usize::from(replica.link.len)..].fill(Effect::default());
    apply(config, &mut replica.record, next.record);
    wait_for::acknowledge(config, world, node);
    Some(Reply::Done)
}

fn apply<R: Record>(config: &Config, stored: &mut R, effect: R) {
    if !config.is_mutated(Mutant::ReplicaDropsEffect) {
        *stored = stored.after(effect, config);
    }
}

/// Whether time must wait for a replica.
pub(crate) fn has_due_effect<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
) -> bool {
    let Bound::Ticks(lag) = config.cluster.lag else { return false };
    world.group.nodes.iter().any(|node| node.link.len > 0 && node.link.effects[0].age() >= lag)
}
