//! Time: one tick on every clock, and what must happen before it.

use super::context::Context;
use super::layout::{Layout, clients};
use super::network;
use super::state::World;
use crate::config::sections::Config;
use crate::notes::Breach;
use crate::redis::group::{Group, Node};
use crate::redis::{disk, hand_over, replication};
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// One tick passes.
    pub(crate) fn tick(&mut self) -> Option<Reply> {
        if must_wait(self.config, self.world) {
            return None;
        }
        for group in 0..self.config.cluster.groups {
            self.with_front(group, |context| {
                if context.server().expires(1) {
                    context.note_lost_lease(1);
                }
                context.server().tick()
            })?;
        }
        self.lose_paused_waits();
        let mut is_overrun = false;
        for client in clients::<Y>() {
            is_overrun |= self.process(client, |process| {
                process.tick_in_flight();
                process.tick()
            });
            self.tick_at_masters(client);
        }
        self.time_out_waits();
        if is_overrun {
            self.notes.broke(Breach::WaitLimitOverrun);
        }
        Some(Reply::Done)
    }
}

/// Whether something is to happen before time passes.
pub(super) fn must_wait<Y: Layout>(config: &Config, world: &World<Y>) -> bool {
    let is_late = |group: &Group<Y>| {
        replication::has_due_effect(config, group)
            || group.failover_left.is_due()
            || disk::is_late(config, group)
            || hand_over::is_late(config, group)
            || group.nodes.as_ref().iter().any(Node::is_uncounted)
    };
    world.groups.as_ref().iter().any(is_late) || clients::<Y>().any(|client| network::is_due(config, world, client))
}
