//! What masters write for their replicas: marked, counted and passed on, each inside its group.

use super::server_groups::ServerGroups;
use crate::replay::error::ReplayError;
use crate::replay::servers::group::ServerGroup;

impl ServerGroups {
    /// As [`ServerGroup::mark`].
    pub fn mark(&self, master: usize, offset: u64) {
        let (group, master) = self.group_of(master);
        group.mark(master, offset);
    }

    /// As [`ServerGroup::has_one_effect`].
    pub fn has_one_effect(&self) -> bool {
        self.first().has_one_effect()
    }

    /// The number of effects that are marked and under way to a node.
    pub fn effects_under_way(&self, node: usize) -> usize {
        let (group, node) = self.group_of(node);
        group.effects_under_way(node)
    }

    /// As [`ServerGroup::merge_effects`].
    pub fn merge_effects(&self, node: usize, index: usize, left: usize) {
        let (group, node) = self.group_of(node);
        group.merge_effects(node, index, left);
    }

    /// The masters that run and whose writes reach replicas, of every group.
    pub fn followed_masters(&self) -> Vec<usize> {
        let of =
            |(first, group): (usize, &ServerGroup)| group.followed_masters().into_iter().map(move |one| first + one);
        self.numbered().flat_map(of).collect()
    }

    /// As [`ServerGroup::mark_written`].
    ///
    /// # Errors
    /// As [`ServerGroup::mark_written`].
    pub fn mark_written(&self, master: usize) -> Result<(), ReplayError> {
        let (group, master) = self.group_of(master);
        group.mark_written(master)
    }

    /// As [`ServerGroup::release_if_without_lag`], in every group.
    ///
    /// # Errors
    /// As [`ServerGroup::release_if_without_lag`].
    pub fn release_if_without_lag(&self) -> Result<(), ReplayError> {
        self.groups.iter().try_for_each(ServerGroup::release_if_without_lag)
    }

    /// As [`ServerGroup::extend_last_effect`].
    ///
    /// # Errors
    /// As [`ServerGroup::extend_last_effect`].
    pub fn extend_last_effect(&self, master: usize) -> Result<(), ReplayError> {
        let (group, master) = self.group_of(master);
        group.extend_last_effect(master)
    }

    /// As [`ServerGroup::wait_acknowledged`].
    ///
    /// # Errors
    /// As [`ServerGroup::wait_acknowledged`].
    pub fn wait_acknowledged(&self, node: usize) -> Result<(), ReplayError> {
        let (group, node) = self.group_of(node);
        group.wait_acknowledged(node)
    }
}
