//! The normal form of a world: without what nothing can ever show again.
//!
//! Two worlds with the same normal form have the same future: the same properties hold, clients are told the same, and the same
//! actions can happen, but for those that only a node or a client could do that nobody hears of any more ([`LeftOut`]). So a
//! checker that keeps normal forms alone keeps every verdict and the length of every shortest trace. Traces are of real steps:
//! what an engine finds among normal forms is executed in full worlds before it is shown.
//!
//! Left out are the data of nodes that nobody can read (`redis/unread`), what a client does not need that is finished
//! (`client/finished`), the receipts that no release names any more, the nodes of requests that are executed or lost, and in
//! which order a holder's values were numbered (`world/values`), and of fencing tokens all but their order (`world/tokens`). Which of two alike replicas or clients is which is left to
//! [`World::with_nodes_in_order`] and [`World::canonical`].

use super::layout::Layout;
use super::state::World;
use super::{tokens, values};
use crate::action::ActionKind;
use crate::client::requests::{InFlight, Stage};
use crate::client::state::AcquiresLeft;
use crate::config::faults::Fault;
use crate::config::sections::{Bound, Config};
use crate::locks::contract::Lock as _;
use crate::locks::receipts::Receipt;
use crate::redis::unread::IdleNode;

/// What can be left out of the worlds of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing that can be left out")]
pub struct NormalForm {
    has_data: bool,
    has_finished: bool,
    keeps_masters: bool,
    has_values: bool,
    has_requests: bool,
    has_receipts: bool,
    has_tokens: bool,
}

/// Which actions were possible only in what a normal form leaves out. They change nothing that it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Of nodes whose data nobody reads.
    pub nodes: IdleNode,
    /// A client that never asks again could learn of its new master.
    pub discovers: bool,
    /// The same, of one of several groups.
    pub discovers_one_of_several: bool,
    /// A receipt that no release names could be gone, at the instant at which it is due.
    pub expires_receipts: bool,
}

impl LeftOut {
    /// Their kinds.
    pub fn kinds(self) -> impl Iterator<Item = ActionKind> {
        let IdleNode { replicates, resyncs, leaves, heals, resumes } = self.nodes;
        let kinds = [
            (replicates, ActionKind::Replicate),
            (resyncs, ActionKind::Resync),
            (leaves, ActionKind::LeaveMaster),
            (heals, ActionKind::Heal),
            (resumes, ActionKind::ResumeNode),
            (self.discovers, ActionKind::Discover),
            (self.discovers_one_of_several, ActionKind::DiscoverMaster),
            (self.expires_receipts, ActionKind::ExpireReceipts),
        ];
        kinds.into_iter().filter_map(|(is_possible, kind)| is_possible.then_some(kind))
    }
}

impl NormalForm {
    /// Nothing is left out: every world is kept as it is.
    pub const NONE: Self = Self {
        has_data: false,
        has_finished: false,
        keeps_masters: false,
        has_values: false,
        has_requests: false,
        has_receipts: false,
        has_tokens: false,
    };

    /// What every engine leaves out, so that worlds are finite: the numbers of fencing tokens where they can make no difference.
    pub fn least(config: &Config) -> Self {
        Self { has_tokens: config.leaves_out_token_numbers(), ..Self::NONE }
    }

    /// What can be left out of the worlds of this scenario.
    pub fn of(config: &Config) -> Self {
        Self {
            has_data: config.may_leave_out_data(),
            // What it leaves out is what failovers and crashes of threads do to a client.
            has_finished: (config.can_fail_over() || config.faults.crash_thread > 0)
                && config.some_client(|own| own.clients.acquires.is_some()),
            // A failover that is bounded is over when every client knows the new master; and which node a client can go back
            // to depends on the one that it knows.
            keeps_masters: !matches!(config.cluster.failover_within, Bound::Any) || config.can_go_back(),
            has_values: config.has_values(),
            // What a node has answered may wait in it while it stands still.
            has_requests: config.is_split() && config.nodes() > 1 && config.faults.pause_node == 0,
            // A `WAIT` may be for the deletion of a receipt that nobody names any more.
            has_receipts: config.leaves_receipts() && !config.waits_for_deletions(),
            has_tokens: config.leaves_out_token_numbers(),
        }
    }

    /// Whether some world may differ from its normal form.
    pub const fn is_there(self) -> bool {
        self.has_data
            || self.has_finished
            || self.has_values
            || self.has_requests
            || self.has_receipts
            || self.has_tokens
    }

    /// Leaves out of the world what nothing can show again.
    pub fn apply<Y: Layout>(self, config: &Config, world: &mut World<Y>) -> LeftOut {
        let mut idle = LeftOut::default();
        let master = world.group().master();
        let has_master = world.acting_master().is_some();
        let faults = world.faults.within(config.faults);
        for group in (0..config.cluster.groups).filter(|_| self.has_data) {
            world.exchange_front(group);
            idle.nodes = idle.nodes.or(leave_out_data_in_front(config, world, group));
            world.exchange_front(group);
        }
        if self.has_requests {
            for requests in world.in_flight.as_mut().iter_mut().filter_map(InFlight::requests_mut) {
                requests.leave_out_places(master);
            }
        }
        if self.has_receipts {
            world.group_mut().leave_out_receipts(faults);
            let World { in_flight, groups, .. } = world;
            let is_named = |receipt: Receipt| {
                let of_client = in_flight.as_ref()[usize::from(receipt.holder.client())].requests();
                of_client.iter().any(|(_, request)| request.names(receipt))
            };
            for node in groups.as_mut()[0].nodes.as_mut() {
                idle.expires_receipts |= node.keep_receipts(is_named);
            }
        }
        if self.has_finished {
            for client in 0..config.clients.count {
                if is_finished(config, world, client) {
                    let finished = &mut world.clients.as_mut()[usize::from(client)];
                    // One that asks several masters remembers them in its call.
                    let master = if Y::Lock::HAS_SEVERAL_MASTERS { finished.master() } else { master };
                    let is_unaware = finished.is_running() && finished.master() != master;
                    idle.discovers |= is_unaware && !self.keeps_masters && has_master;
                    finished.leave_out_finished(config.clients.threads, master, self.keeps_masters);
                    idle.discovers_one_of_several |= !self.keeps_masters && tell_of_masters(config, world, client);
                }
            }
        }
        if self.has_values {
            values::renumber(world);
        }
        if self.has_tokens {
            tokens::leave_out(world);
        }
        idle
    }
}

/// Leaves out the data that nobody can read in the group in front, and says what only those could show.
fn leave_out_data_in_front<Y: Layout>(config: &Config, world: &mut World<Y>, group: u8) -> IdleNode {
    let faults = world.faults.within(config.faults);
    let has_master = world.acting_master().is_some();
    world.group_mut().leave_out_ranks(config, faults);
    world.group_mut().leave_out_files(faults);
    let Unread { lost, unasked } = unread_nodes(config, world, group);
    let mut idle = IdleNode::default();
    for (index, node) in (0u8..).zip(world.group_mut().nodes.as_mut()) {
        if (lost | unasked) >> index & 1 != 0 {
            idle.replicates |= node.leave_out_data(faults).replicates && has_master;
        }
        if unasked >> index & 1 != 0 {
            idle = idle.or(node.leave_out_standing(config, faults));
        }
    }
    idle
}

/// Tells a client that asks several masters of those that there are now. Whether it did not know one of them.
fn tell_of_masters<Y: Layout>(config: &Config, world: &mut World<Y>, client: u8) -> bool {
    let mut discovers = false;
    for group in (0..config.cluster.groups).filter(|_| Y::Lock::HAS_SEVERAL_MASTERS) {
        let (call, found) = (world.call(client), &world.groups.as_ref()[usize::from(group)]);
        let is_unaware = call.master_in(group) != found.master();
        discovers |= is_unaware && found.acting_master().is_some() && world.client(client).is_running();
        let told = call.turned_to(group, found.master());
        world.set_call(client, told);
    }
    discovers
}

/// The nodes whose data nobody will read: a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unread {
    /// They never run again.
    lost: u8,
    /// They never become a master, and no client asks them.
    unasked: u8,
}

impl Unread {
    /// Whether this node is one of them.
    pub(super) const fn has(self, node: u8) -> bool {
        (self.lost | self.unasked) >> node & 1 != 0
    }
}

/// The nodes of the group in front whose data nobody will read. `group`: which one that is.
pub(super) fn unread_nodes<Y: Layout>(config: &Config, world: &World<Y>, group: u8) -> Unread {
    if !config.may_leave_out_data() {
        return Unread::default();
    }
    let lost = world.group().lost(world.faults.within(config.faults));
    let unless_asked = world.group().unread(config, world.faults.within(config.faults));
    if unless_asked == 0 {
        return Unread { lost, unasked: 0 };
    }
    Unread { lost, unasked: unless_asked & !asked_nodes(config, world, group) }
}

/// The nodes of a group that a client asks now, or takes for the master and may ask: a bit each.
pub(super) fn asked_nodes<Y: Layout>(config: &Config, world: &World<Y>, group: u8) -> u8 {
    let mut asked = 0;
    for (client, process) in world.clients() {
        if process.is_alive() && !is_finished(config, world, client) {
            let known =
                if Y::Lock::HAS_SEVERAL_MASTERS { world.call(client).master_in(group) } else { process.master() };
            asked |= 1 << known;
        }
        for (_, request) in world.requests(client).iter().filter(|(_, request)| request.stage == Stage::Sent) {
            asked |= 1 << request.node;
        }
    }
    asked
}

/// Whether this client will never ask anything again.
fn is_finished<Y: Layout>(config: &Config, world: &World<Y>, client: u8) -> bool {
    world.client(client).acquires_left == AcquiresLeft::NONE
        && world.faults.of(Fault::ForceRelease) == 0
        && world.faults.of(Fault::ForeignRelease) == 0
        && world.view(config, client).is_finished()
        && world.watchdogs_rest(client)
}
