//! When a failover is over: once every running client has moved to the new master.

use super::layout::Layout;
use super::state::World;
use crate::config::sections::Config;
use crate::redis::group::Node;
use crate::time::Timer;

/// Ends the countdown of a failover once every running client has moved. A paused client is not waited for, nor is a master
/// where no replica is left to be promoted.
pub(crate) fn note_end<Y: Layout>(config: &Config, world: &mut World<Y>) {
    let group = world.group();
    if group.failover_left == Timer::OFF {
        return;
    }
    let is_over = match group.acting_master().filter(|master| !master.is_away()) {
        Some(_) => world
            .clients()
            .filter(|(_, client)| client.is_running())
            .all(|(index, client)| client.master() == group.master() && !world.has_lost_subscription(config, index)),
        None => !group.nodes.as_ref().iter().any(Node::is_candidate),
    };
    if is_over {
        world.group_mut().failover_left = Timer::OFF;
    }
}
