//! What must happen in the network before time passes.

use crate::client::requests::{Request, Stage};
use crate::config::sections::Config;
use crate::world::layout::Layout;
use crate::world::state::World;

/// Whether a client will act, or something of its is to arrive, before time passes.
#[inline]
pub(in crate::world) fn is_due<Y: Layout>(config: &Config, world: &World<Y>, client: u8) -> bool {
    let can_execute = |request: &Request| {
        let node = world.node(request.node);
        if matches!(request.stage, Stage::Confirming(_)) { node.answers() } else { node.is_working() }
    };
    // What a node has answered or published may wait in it while it stands still.
    let is_paused = |node: u8| world.node(node).is_paused();
    let subscribed = world.group().connection(client).subscription();
    let is_muted = world.group().numbered().any(|(index, node)| subscribed == Some(index) && node.is_paused());
    world.has_due_watchdog(config, client)
        || world.view(config, client).is_due(
            world.reach(client),
            can_execute,
            |request| is_paused(request.node),
            is_muted,
        )
}
