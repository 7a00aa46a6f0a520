//! When a failover is over: once every running client has moved to the new master.

use super::layout::Layout;
use super::state::World;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::redis::group::Node;
use crate::time::Timer;

/// Ends the countdown of a failover once every running client has moved. A paused client is not waited for, nor is a master
/// where no replica is left to be promoted.
pub(crate) fn note_end<Y: Layout>(config: &Config, world: &mut World<Y>) {
    for group in 0..config.cluster.groups {
        if is_over(config, world, group) {
            world.groups.as_mut()[usize::from(group)].failover_left = Timer::OFF;
        }
    }
}

/// Whether there is a failover in a group, and it is over.
fn is_over<Y: Layout>(config: &Config, world: &World<Y>, number: u8) -> bool {
    let group = &world.groups.as_ref()[usize::from(number)];
    if group.failover_left == Timer::OFF {
        return false;
    }
    match group.acting_master().filter(|master| !master.is_away()) {
        Some(_) => world.clients().filter(|(_, client)| client.is_running()).all(|(index, client)| {
            let known =
                if Y::Lock::HAS_SEVERAL_MASTERS { world.call(index).master_in(number) } else { client.master() };
            known == group.master() && !world.has_lost_subscription(config, index)
        }),
        None => !group.nodes.as_ref().iter().any(Node::is_candidate),
    }
}
