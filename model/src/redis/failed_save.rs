//! A master refuses every write for a while: its last save failed.
//!
//! Redis then refuses writes and `PING` (`MISCONF`, `stop-writes-on-bgsave-error`) and answers reads. What it has written goes on
//! to the replicas that are connected, but none can begin to follow it: the handshake begins with a `PING`
//! (`redis/failover`). It saves no snapshot, and where it would have to save one it refuses to end (`redis/disk`). Sentinel
//! counts the refused `PING`s as no answer, and may replace it; it does not demote it before it answers again. Source:
//! docs/facts/redis.md#a-failed-save.
//!
//! A replica whose save fails is not modelled: since 7.0 it dies of the next write of its master (`crash_node`).

use super::connections::WaitAnswers;
use super::disk;
use super::group::Role;
use super::layout::ServerLayout;
use super::server::Server;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A master's save fails: from here on it refuses every write.
    pub(crate) fn refuse_writes(&mut self, node: u8) -> Option<()> {
        self.change_role(node, Role::Master, Role::Refusing)
    }

    /// A save succeeds, and the node accepts writes again. Replicas that are to follow it do so now.
    pub(crate) fn accept_writes(&mut self, node: u8) -> Option<WaitAnswers> {
        self.change_role(node, Role::Refusing, Role::Master)?;
        if self.config.has_snapshots() {
            // It is a save like any other.
            disk::copy(self.config, self.group.node_mut(node));
        }
        Some(self.rejoin_old_master())
    }

    pub(super) fn change_role(&mut self, node: u8, from: Role, to: Role) -> Option<()> {
        let changing = self.group.node_mut(node);
        if changing.role != from || changing.is_paused() {
            return None;
        }
        changing.role = to;
        Some(())
    }
}
