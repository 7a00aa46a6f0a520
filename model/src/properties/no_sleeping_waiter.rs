//! No waiter sleeps beside a free lock, nor a reader beside one that readers have. Only a running client's waiter is meant: a paused one sleeps for another reason. What
//! may wake it: a permit, a message, its own limit or timer that is due. Where there is a queue, the property is about the waiter who is next.
//! Of a lock on several masters it is about the lock of the master for which the client waits.

use super::claim::{Claim, PropertyKind};
use crate::client::state::{Client, Phase, Thread};
use crate::config::sections::Config;
use crate::locks::contract::{HoldMode, Lock as _};
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::redis::group::{Group, Node};
use crate::redis::queue::Effect;
use crate::world::layout::Layout;
use crate::world::state::World;

/// What it claims.
pub(super) const CLAIM: Claim = Claim {
    id: "no-sleeping-waiter",
    kind: PropertyKind::Safety,
    sentence: "no waiter whose turn it is sleeps with the lock free, or held by readers whom it may join, and nothing under way that will \
               wake it but the TTL timer",
    source: "Redisson LockPubSub: a release wakes a waiter, the TTL timer is the fallback",
    antecedent: Some(Happening::FellAsleep),
    untested: "no waiter ever sleeps",
    mutant: Mutant::ReleaseWithoutMessage,
    applies,
};

fn applies(config: &Config) -> Result<(), &'static str> {
    if !config.lock.facts().publishes() {
        return Err("clients of this lock kind poll; none sleeps");
    }
    if !config.waits() {
        return Err("no client waits: wait_limit in [time] is 0");
    }
    Ok(())
}

/// Whether it is so in this state.
pub(super) fn holds<Y: Layout>(world: &World<Y>) -> bool {
    let sleeps = |client: &Client, thread: &Thread| {
        let will_be_woken = client.wakeup.permits > 0 || client.wakeup.messages() > 0 || thread.wait_left.is_due();
        client.is_running() && thread.phase == Phase::Waiting && !thread.wake_in.may_fire() && !will_be_woken
    };
    if Y::Lock::HAS_MASTER_LOCKS {
        let is_free = |client: u8| {
            let group = world.waited_for(client).map(|(group, _)| &world.groups.as_ref()[usize::from(group)]);
            group.and_then(Group::acting_master).is_some_and(|master| master.stored.is_free())
        };
        return world.threads().all(|(holder, client, thread)| !sleeps(client, thread) || !is_free(holder.client()));
    }
    let may_join = |master: &Node<Y>, holder: Holder| {
        let is_shared = Y::Lock::FACTS.sharing.is_there() && Y::Lock::mode_of(holder) == HoldMode::Shared;
        is_shared && master.stored.holders().all(|hold| Y::Lock::go_together(holder, hold.by.holder))
    };
    let is_open =
        |master: &&Node<Y>| master.stored.is_free() || Y::Lock::FACTS.sharing.is_there() || Y::Lock::NAMES > 1;
    let Some(master) = world.acting_master().filter(is_open) else { return true };
    let first = master.stored.lock.queue().next();
    let is_next = |holder: Holder| {
        let is_free = || match Y::Lock::NAMES {
            1 => master.stored.is_free(),
            _ => master.stored.holder_under(Y::Lock::name_of(holder)).is_none(),
        };
        let has_turn = is_free() && first.is_none_or(|first| first.holder == holder);
        has_turn || may_join(master, holder)
    };
    world
        .threads()
        .filter(|(holder, ..)| is_next(*holder))
        .all(|(holder, client, thread)| !sleeps(client, thread) || is_message_under_way(world, holder.client()))
}

/// Whether an effect brings a message to the replica on which this client is subscribed. Nothing is under way to a master.
fn is_message_under_way<Y: Layout>(world: &World<Y>, client: u8) -> bool {
    let subscribed = world.group().connection(client).subscription();
    let mut nodes = world.group().numbered();
    nodes.any(|(index, node)| subscribed == Some(index) && node.queue.effects().iter().any(Effect::has_message))
}
