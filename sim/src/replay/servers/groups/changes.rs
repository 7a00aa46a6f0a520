//! What happens to nodes and their links, each inside its group, and what the passing of time does to all.

use lockstep_model::trace::NodeState;

use super::server_groups::ServerGroups;
use crate::replay::error::ReplayError;
use crate::replay::servers::group::ServerGroup;

/// A method for each of these, which does in the node's group what the method of this name does there.
macro_rules! inside_the_group {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        impl ServerGroups {
            $(
                #[doc = concat!("As [`ServerGroup::", stringify!($name), "`].")]
                ///
                /// # Errors
                #[doc = concat!("As [`ServerGroup::", stringify!($name), "`].")]
                pub fn $name(&mut self, node: usize, $($argument: $kind),*) -> Result<String, ReplayError> {
                    let (group, node) = self.group_of_mut(node);
                    group.$name(node, $($argument),*)
                }
            )*
        }
    };
}

inside_the_group! {
    // Processes.
    crash();
    kill(is_noticed: bool);
    shut_down(waits_for_replicas: bool, is_noticed: bool);
    finish_shutdown(has_sent_all: bool);
    notice_death();
    pause();
    resume(counts_late: Option<bool>, counts: bool);

    // Disks and keys.
    fsync();
    snapshot();
    refuse_writes();
    accept_writes();
    drop_key();
    change_keys(command: &'static str, keys: &[String]);
    overwrite_key(key: &str, value: &str);
    unlink(keys: &[String]);

    // Links.
    replicate();
    resync();
    cut();
    heal();
    break_link();
    leave_old_master();
    demote();

    // Failovers.
    promote(step: usize);
    replace(step: usize);
    replace_paused(step: usize);
    hand_over(step: usize);
    finish_hand_over(lacks_some: bool);
    give_up_hand_over();

    // Slots.
    move_slot(lock: &str);
    move_keys();
    finish_move();

    // Counts of replicas.
    recount();
    count_anew(is_cut: bool);

    // Clocks.
    jump();
    expire(keys: Vec<String>);
}

impl ServerGroups {
    /// As [`ServerGroup::restart`]. Nodes of other groups have no links to the node.
    ///
    /// # Errors
    /// As [`ServerGroup::restart`].
    pub fn restart(
        &mut self,
        node: usize,
        is_master: bool,
        finds_data: bool,
        reached: &[usize],
    ) -> Result<String, ReplayError> {
        let beside = self.nodes_beside(node);
        let reached: Vec<_> =
            reached.iter().filter(|other| beside.contains(other)).map(|other| other - beside.start).collect();
        let (group, node) = self.group_of_mut(node);
        group.restart(node, is_master, finds_data, &reached)
    }

    /// As [`ServerGroup::rejoin`].
    ///
    /// # Errors
    /// As [`ServerGroup::rejoin`].
    pub fn rejoin(&mut self, rejoining: &[(usize, usize)]) -> Result<(), ReplayError> {
        rejoining.iter().try_for_each(|&(replica, master)| {
            let (_, master) = self.group_of(master);
            let (group, replica) = self.group_of_mut(replica);
            group.rejoin(&[(replica, master)])
        })
    }

    /// Lets one tick pass on the clock of every node.
    ///
    /// # Errors
    /// As [`ServerGroup::pass_tick`].
    pub fn pass_tick(&mut self) -> Result<(), ReplayError> {
        self.groups.iter_mut().try_for_each(ServerGroup::pass_tick)
    }

    /// As [`ServerGroup::delete_expired`], in every group.
    ///
    /// # Errors
    /// As [`ServerGroup::delete_expired`].
    pub fn delete_expired(&mut self, keys: &[String]) -> Result<(), ReplayError> {
        self.groups.iter_mut().try_for_each(|group| group.delete_expired(keys))
    }

    /// As [`ServerGroup::ms_beyond_tie`].
    pub fn ms_beyond_tie(&self, node: usize) -> i64 {
        let (group, node) = self.group_of(node);
        group.ms_beyond_tie(node)
    }

    /// Before a step: the nodes that must not hide anything any more in the state after it.
    pub fn beyond_tie_no_longer(&self, after: &[NodeState]) -> Vec<usize> {
        let states = after.chunks(self.group_size());
        let of = |((first, group), after): ((usize, &ServerGroup), &[NodeState])| {
            group.beyond_tie_no_longer(after).into_iter().map(move |one| first + one)
        };
        self.numbered().zip(states).flat_map(of).collect()
    }

    /// As [`ServerGroup::return_to_tie`].
    ///
    /// # Errors
    /// As [`ServerGroup::return_to_tie`].
    pub fn return_to_tie(&mut self, node: usize) -> Result<(), ReplayError> {
        let (group, node) = self.group_of_mut(node);
        group.return_to_tie(node)
    }

    /// As [`ServerGroup::delete_hidden`], in every group.
    ///
    /// # Errors
    /// As [`ServerGroup::delete_hidden`].
    pub fn delete_hidden(&mut self) -> Result<(), ReplayError> {
        self.groups.iter_mut().try_for_each(ServerGroup::delete_hidden)
    }
}
