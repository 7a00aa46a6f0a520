//! How a master counts its replicas (`min-replicas-to-write`): when it stops to count a silent one is for the history to say.
//!
//! A real master counts once a second of real time, and measures by whole seconds of its clock, so it may count a silent
//! replica up to two seconds longer than `min-replicas-max-lag` says (docs/facts/redis.md#min-replicas-in-real-time). Here its
//! limit contains the slack, and is made smaller when the history says that it counts. It then grows with the silence of the
//! replicas that it dropped, and so these are never counted again, and a replica that falls silent later is.

use super::members::ServerGroup;
use crate::replay::error::ReplayError;

impl ServerGroup {
    /// A master counts its replicas, and drops those that are silent for longer than it allows without the slack. Returns what
    /// was done, in words.
    ///
    /// # Errors
    /// `Redis` if the node is not running.
    pub fn recount(&mut self, node: usize) -> Result<String, ReplayError> {
        // One tick longer than the limit is too long.
        let too_long = self.seconds(self.config.cluster.min_replicas_max_lag + 1);
        let limit = too_long.saturating_sub(1).max(1);
        self.members[node].limit = Some(limit);
        self.members[node].node.require_replicas(self.config.cluster.min_replicas.into(), limit)?;
        self.is_worn = true;
        Ok(format!("{} counts its replicas: min-replicas-max-lag {limit}", self.name_of(node)))
    }

    /// A tick has passed: what a master dropped is silent for longer.
    pub(super) fn raise_limits(&mut self) -> Result<(), ReplayError> {
        let (usual, tick) = (self.longest_silence(), self.seconds(1).max(1));
        let needed = self.config.cluster.min_replicas.into();
        for member in &mut self.members {
            let Some(limit) = member.limit else { continue };
            let raised = limit.saturating_add(tick).min(usual);
            member.limit = Some(raised).filter(|raised| *raised < usual);
            if member.node.is_running() && !member.is_paused() && !member.is_uncounted {
                member.node.require_replicas(needed, raised)?;
            }
        }
        Ok(())
    }

    /// For how long a silent replica may be counted, in seconds.
    pub(super) fn longest_silence(&self) -> u32 {
        self.seconds(self.config.cluster.min_replicas_max_lag + self.config.cluster.min_replicas_slack)
    }

    fn seconds(&self, ticks: u8) -> u32 {
        u32::try_from(u64::from(ticks) * u64::from(self.config.time.tick_ms) / 1000).unwrap_or(u32::MAX)
    }
}
