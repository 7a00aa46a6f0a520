//! A client that waits for the lock of one of several masters: the steps of a waiter, with that master in front. The rules of the client stand
//! in `client/master_waits` and `client/wait_loop`.

use super::context::Context;
use super::layout::Layout;
use super::masters::own;
use super::state::World;
use crate::client::masters::ONLY_THREAD;
use crate::client::wait_loop::SecondAsk;
use crate::locks::contract::{Lock as _, LockRequest};
use crate::reply::Reply;
use crate::time::Timer;

impl<Y: Layout> World<Y> {
    /// The group whose lock this client waits for, and the node of it that it takes for the master; `None`: it waits for none.
    pub(crate) fn waited_for(&self, client: u8) -> Option<(u8, u8)> {
        let call = self.call(client);
        let group = call.waits_at.iter().next()?;
        Some((group, call.master_in(group)))
    }
}

impl<Y: Layout> Context<'_, Y> {
    /// The group in which the waiter of a client is; the first one where it waits for none, or one master stores the lock.
    pub(super) fn group_of_waiter(&self, client: u8) -> u8 {
        self.world.waited_for(client).map_or(0, |(group, _)| group)
    }

    /// A client asks a master: how long it may wait there counts from now.
    pub(super) fn count_wait_at_master(&mut self, client: u8) {
        if Y::Lock::HAS_MASTER_LOCKS {
            self.in_call(client, |process, call| process.count_wait_at_master(call));
        }
    }

    /// A client is refused by a master. False: its call does not wait.
    pub(super) fn begin_wait_at_master(&mut self, client: u8, master: u8) -> bool {
        Y::Lock::HAS_MASTER_LOCKS && self.in_call(client, |process, call| process.begin_wait_at_master(call, master))
    }

    /// A client has heard what its first ask of a master was answered.
    pub(super) fn hear_ask(&mut self, client: u8, master: u8, reply: Reply) {
        let is_refused = matches!(reply, Reply::Busy { .. });
        if !is_refused || !self.begin_wait_at_master(client, master) {
            self.hear(client, master, reply == Reply::Acquired);
        }
    }

    /// A refused client subscribes at the master that has refused it.
    pub(super) fn subscribe_at_master(&mut self, client: u8) -> Option<Reply> {
        let (group, number) = self.world.waited_for(client)?;
        if !self.process(client, |process| process.can_subscribe(ONLY_THREAD)) {
            return None;
        }
        let is_subscribed = self.with_front(group, |context| context.subscribe_in_front(client, number));
        if !is_subscribed {
            self.hear(client, group, false);
            return Some(Reply::Unreachable);
        }
        self.process(client, |process| process.subscribed(ONLY_THREAD));
        Some(Reply::Done)
    }

    /// A client whose subscription ended with its connection subscribes anew.
    pub(super) fn resubscribe_at_master(&mut self, client: u8) -> Option<Reply> {
        let (group, number) = self.world.waited_for(client)?;
        if !self.world.client(client).is_running() {
            return None;
        }
        self.with_front(group, |context| {
            let is_lost = context.world.has_lost_subscription(context.config, client);
            (is_lost && context.subscribe_in_front(client, number)).then_some(Reply::Done)
        })
    }

    fn subscribe_in_front(&mut self, client: u8, node: u8) -> bool {
        let place = self.world.node(node);
        let is_there = place.is_master() && place.answers();
        if is_there {
            self.world.group_mut().connection_mut(client).set_subscription(Some(node));
        }
        is_there
    }

    /// Subscribed, a client asks the same master again.
    pub(super) fn second_ask_at_master(&mut self, client: u8) -> Option<Reply> {
        match self.process(client, |process| process.begin_second_ask(ONLY_THREAD))? {
            SecondAsk::Asks => self.ask_again_at_master(client),
            SecondAsk::Skips(reply) => Some(reply),
        }
    }

    /// A waiter asks the master again for whose lock it waits.
    pub(super) fn ask_again_at_master(&mut self, client: u8) -> Option<Reply> {
        let (group, number) = self.world.waited_for(client)?;
        let node = group * self.config.nodes() + number;
        let reply = self.at_master(node, LockRequest::Acquire(own(client)))?;
        if let Reply::Busy { remaining_ticks } = reply {
            self.process(client, |process| process.refuse_at_master(Timer::optional(remaining_ticks)));
        } else {
            self.hear(client, group, reply == Reply::Acquired);
        }
        Some(reply)
    }

    /// The share of a waiter is over, and it turns to the next master.
    pub(super) fn give_up_at_master(&mut self, client: u8) -> Option<Reply> {
        let (group, _) = self.world.waited_for(client)?;
        self.process(client, |process| process.reach_limit(ONLY_THREAD))?;
        self.hear(client, group, false);
        Some(Reply::Done)
    }
}
