//! Several groups of nodes: the one that a rule is about stands in front.
//!
//! All rules of the server side, and most of those between clients and servers, know one group. Where a lock is stored by several masters,
//! the group that a step is about is brought to the front for as long as the rule takes. With one group this is nothing.

use super::context::Context;
use super::layout::Layout;
use super::state::World;
use crate::action::{Action, Party};
use crate::locks::contract::Lock as _;

impl<Y: Layout> World<Y> {
    /// Exchanges a group and the one in front. Twice is not at all.
    pub(super) fn exchange_front(&mut self, group: u8) {
        self.groups.as_mut().swap(0, usize::from(group));
    }
}

impl<Y: Layout> Context<'_, Y> {
    /// A rule about a group.
    pub(super) fn with_front<T>(&mut self, group: u8, rule: impl FnOnce(&mut Self) -> T) -> T {
        if !Y::Lock::HAS_SEVERAL_MASTERS || group == 0 {
            return rule(self);
        }
        self.world.exchange_front(group);
        let before = core::mem::replace(&mut self.front, group);
        let result = rule(self);
        self.front = before;
        self.world.exchange_front(group);
        result
    }

    /// The rule of an action. That of a node is about the group in which the node is, by the number that it has there.
    pub(crate) fn with_group_of<T>(&mut self, action: Action, rule: impl FnOnce(&mut Self, Action) -> T) -> T {
        if Y::Lock::HAS_SEVERAL_MASTERS
            && let Party::Node(node) = action.party()
        {
            let (group, number) = self.config.place_of(node);
            return self.with_front(group, |context| rule(context, action.at_node(number)));
        }
        rule(self, action)
    }
}
