//! What clients do beside asking for the lock: subscribe, find a new master, delete the lock by force; and how messages
//! reach them.

use super::context::Context;
use super::layout::{Layout, clients};
use super::normal_form::unread_nodes;
use super::state::World;
use super::values;
use crate::client::requests::Slot;
use crate::client::wait_loop::SecondAsk;
use crate::config::switches::{InterruptedWaiter, SubscribeTo};
use crate::limits::MAX_THREADS;
use crate::locks::contract::{Lock as _, LockRequest, Publish, Requester};
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore;
use crate::notes::Happening;
use crate::redis::group::Node;
use crate::reply::Reply;
use crate::time::Timer;

impl<Y: Layout> Context<'_, Y> {
    /// A thread asks for the lock, or to enter it once more.
    pub(crate) fn acquire(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.begin_acquire(holder.thread()))?;
        if Y::Lock::HAS_MASTER_LOCKS {
            return Some(self.begin_asking_locks(holder.client()));
        }
        if Y::Lock::HAS_SEVERAL_MASTERS {
            return Some(self.begin_round(holder.client()));
        }
        if Y::Values::IS_THERE && self.config.has_values() {
            let unread = unread_nodes(self.config, self.world, 0);
            let value = values::free_value(self.world, holder, |node| unread.has(node));
            self.world.values_mut(holder.client()).set_own(holder.thread(), value);
        }
        self.ask_for_lock(holder)
    }

    /// A refused thread subscribes to the unlock channel. A second thread of its process shares the first one's
    /// subscription.
    pub(crate) fn subscribe(&mut self, holder: Holder) -> Option<Reply> {
        let client = holder.client();
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.subscribe_at_master(client);
        }
        if !self.process(client, |process| process.can_subscribe(holder.thread())) {
            return None;
        }
        let node = self.subscription_place(client)?;
        if !self.world.client(client).uses_wakeup_entry() {
            self.world.group_mut().connection_mut(client).set_subscription(Some(node));
        }
        self.process(client, |process| process.subscribed(holder.thread()));
        Some(Reply::Done)
    }

    /// Subscribed, a thread asks again: the lock may have been freed before the subscription was there.
    pub(crate) fn second_ask(&mut self, holder: Holder) -> Option<Reply> {
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.second_ask_at_master(holder.client());
        }
        match self.process(holder.client(), |process| process.begin_second_ask(holder.thread()))? {
            SecondAsk::Asks => self.ask_for_lock(holder),
            SecondAsk::Skips(reply) => Some(reply),
        }
    }

    /// A waiter takes a permit that a message brought, and asks.
    pub(crate) fn wake_by_message(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.wake_by_message(holder.thread()))?;
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.ask_again_at_master(holder.client());
        }
        self.ask_for_lock(holder)
    }

    /// A waiter's timer fires, and it asks.
    pub(crate) fn wake_by_timer(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.wake_by_timer(holder.thread()))?;
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.ask_again_at_master(holder.client());
        }
        if Y::Lock::HAS_SEVERAL_MASTERS {
            return Some(self.begin_round(holder.client()));
        }
        self.ask_for_lock(holder)
    }

    /// A client whose subscription ended with its connection subscribes on the new master.
    pub(crate) fn resubscribe(&mut self, client: u8) -> Option<Reply> {
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.resubscribe_at_master(client);
        }
        if !self.world.client(client).is_running() || !self.world.has_lost_subscription(self.config, client) {
            return None;
        }
        let node = self.subscription_place(client)?;
        self.world.group_mut().connection_mut(client).set_subscription(Some(node));
        Some(Reply::Done)
    }

    /// The node on which this client subscribes: the master that it knows, or the first replica that runs, if its protocol
    /// says so and there is one. `None` while its master does not answer: it has just been refused by it, or looks for it.
    fn subscription_place(&self, client: u8) -> Option<u8> {
        let master = self.world.client(client).master();
        if !self.world.node(master).is_master() || !self.world.node(master).answers() {
            return None;
        }
        if self.config.subscribes_to(client) == SubscribeTo::Master {
            return Some(master);
        }
        let is_followed = |(index, node): &(u8, &Node<Y>)| *index != master && node.is_replica() && node.is_working();
        Some(self.world.group().numbered().find(is_followed).map_or(master, |(index, _)| index))
    }

    /// A client learns which node is the master now.
    pub(crate) fn discover(&mut self, client: u8) -> Option<Reply> {
        self.world.acting_master()?;
        let master = self.world.group().master();
        let process = self.world.client(client);
        if !process.is_running() || process.master() == master {
            return None;
        }
        self.turn_to(client, master);
        Some(Reply::Done)
    }

    /// A client takes an old master for the master, which still says that it is one: a sentinel, a name or an address that
    /// is not up to date has named it (docs/facts/redis.md#a-client-that-starts-or-goes-back).
    pub(crate) fn go_back(&mut self, client: u8, node: u8) -> Option<Reply> {
        let process = self.world.client(client);
        let old = self.world.node(node);
        let is_old = node != self.world.group().master() && old.is_master() && old.answers();
        if !self.config.can_go_back() || !process.is_running() || process.master() == node || !is_old {
            return None;
        }
        self.turn_to(client, node);
        Some(Reply::Done)
    }

    /// A client that was not there at the beginning starts, and finds a node that says it is master: the acting one, unless
    /// the scenario lets it find any.
    pub(crate) fn start_client(&mut self, client: u8, node: u8) -> Option<Reply> {
        let is_found = node == self.world.group().master() || self.config.can_go_back();
        let found = self.world.node(node);
        if !is_found || !found.is_master() || !found.answers() {
            return None;
        }
        self.process(client, |process| process.start(node))?;
        Some(Reply::Done)
    }

    /// A client leaves the node that it took for the master, and takes this one for it.
    fn turn_to(&mut self, client: u8, master: u8) {
        self.leave_master(client);
        self.process(client, |process| process.turn_to(master));
        // It leaves a master that may still run, and its subscription there with it (Redisson: `changeMaster`).
        // One on a replica lasts as long as that is one: a node that is promoted leaves the replicas of its clients.
        let subscribed = self.world.group().connection(client).subscription();
        let may_stay = |node: u8| match self.config.subscribes_to(client) {
            SubscribeTo::Master => node == master,
            SubscribeTo::Replica => self.world.node(node).is_replica() || self.subscription_place(client) == Some(node),
        };
        if subscribed.is_some_and(|node| !may_stay(node)) {
            self.world.group_mut().connection_mut(client).set_subscription(None);
            self.notes.happened(Happening::SubscriptionLost);
        }
    }

    /// A client deletes the lock, whoever holds it.
    pub(crate) fn force_release(&mut self, client: u8) -> Option<Reply> {
        if !self.world.client(client).is_running() {
            return None;
        }
        let node = self.world.reachable(client).filter(|node| self.world.node(*node).is_working())?;
        self.count_replicas(client);
        // Before it asks, so whatever the answer is (docs/facts/redisson.md#force-release).
        self.process(client, |process| {
            process.forget_forced();
            process.forget_lease(None);
            Some(())
        })?;
        let executed = self.server().execute(node, LockRequest::Force, 0, false)?;
        if let Some(publish) = executed.published {
            self.publish(node, 0, publish);
        }
        Some(executed.reply)
    }

    /// The renewal table hears of a grant.
    pub(crate) fn register(&mut self, client: u8, thread: u8) -> Option<Reply> {
        let requests = self.world.requests(client);
        let is_owed = requests.owed[usize::from(thread)] > 0;
        // The value of a grant that is owed was noted with its answer.
        let value = requests.get(Slot::of_thread(thread)).filter(|_| !is_owed).map(|call| call.value);
        self.process(client, |process| process.register(thread))?;
        if let Some(value) = value {
            self.world.values_mut(client).set_renewed(thread, value);
        }
        Some(Reply::Done)
    }

    /// The lock is free: a message sets out to every process that is subscribed on this node, and on a replica that has
    /// everything at once; or to the one who is next.
    /// `name`: of which lock, where there are several, each with channels of its own.
    pub(super) fn publish(&mut self, node: u8, name: u8, publish: Publish) {
        if let Publish::UnlockFor(next) = publish {
            self.publish_to(next, node);
            return;
        }
        let for_all = publish == Publish::UnlockAll;
        self.publish_on(node, name, for_all);
        if !self.config.cluster.lag.is_zero() || !self.config.subscribes_to_replica() {
            return;
        }
        for replica in 0..self.config.nodes() {
            // One that stands still, or is behind since then, publishes it with the effect.
            let applying = self.world.node(replica);
            let has_all = applying.queue.is_empty() && !applying.is_paused();
            if has_all && self.world.group().follows(replica, node) {
                self.publish_on(replica, name, for_all);
            }
        }
    }

    /// A message sets out to every process that is subscribed on this node, for the lock of that name: one thread of it uses that.
    pub(super) fn publish_on(&mut self, node: u8, name: u8, for_all: bool) {
        let is_meant = |world: &World<Y>, client: u8| {
            Y::Lock::NAMES == 1 || world.thread(Holder::new(client, name)).phase.uses_wakeup_entry()
        };
        for client in clients::<Y>() {
            let subscribed = self.world.group().connection(client).subscription();
            if subscribed == Some(node) && is_meant(self.world, client) {
                self.process(client, |process| process.send_message(for_all));
            }
        }
    }

    /// A message sets out to one waiter, on its own channel: its process hears it if it waits, subscribed on this node.
    fn publish_to(&mut self, waiter: Holder, node: u8) {
        let is_subscribed = self.world.group().connection(waiter.client()).subscription() == Some(node);
        if is_subscribed && self.world.thread(waiter).phase.uses_wakeup_entry() {
            self.process(waiter.client(), |process| process.send_message(false));
        }
    }

    /// A waiter's limit is over, and it leaves without the lock. Where there is a queue it tells the master that it knows; one
    /// that does not answer keeps its place until its deadline.
    pub(crate) fn give_up(&mut self, waiter: Holder) -> Option<Reply> {
        let client = waiter.client();
        if Y::Lock::HAS_MASTER_LOCKS {
            return self.give_up_at_master(client);
        }
        let is_reached = self.world.reach(client).is_up;
        let can_ask = is_reached && self.world.client(client).asks_in == Timer::OFF;
        self.process(client, |process| process.give_up(waiter.thread(), can_ask, is_reached))?;
        if Y::Lock::FACTS.queue.is_there() { self.leave_queue(waiter) } else { Some(Reply::Done) }
    }

    /// Whether the waiters of this client leave the queue when they are interrupted.
    pub(super) fn leaves_queue_interrupted(&self, client: u8) -> bool {
        let leaves = self.config.settings_of(client).protocol.interrupted_waiter == InterruptedWaiter::LeavesQueue;
        Y::Lock::FACTS.queue.is_there() && leaves
    }

    /// A waiter that has left asks for its place to be taken away.
    pub(super) fn leave_queue(&mut self, waiter: Holder) -> Option<Reply> {
        let client = waiter.client();
        let Some(node) = self.world.reachable(client) else { return Some(Reply::Unreachable) };
        self.count_replicas(client);
        let request = LockRequest::LeaveQueue(Requester::of(waiter));
        Some(self.server().execute(node, request, 0, false)?.reply)
    }

    /// A thread whose call has ended without the lock asks the master that it knows whether it holds. Where that does not answer the
    /// question ends with an exception.
    pub(crate) fn ask_if_held(&mut self, asker: Holder) -> Option<Reply> {
        let (client, thread) = (asker.client(), asker.thread());
        if !self.process(client, |process| process.can_ask_if_held(thread)) {
            return None;
        }
        let reply = match self.world.reachable(client) {
            Some(node) => self.server().execute(node, LockRequest::AskIfHeld(Requester::of(asker)), 0, false)?.reply,
            None => Reply::Unreachable,
        };
        self.process(client, |process| process.hear_if_held(thread, reply));
        Some(reply)
    }

    /// A client dies for good: its connections are gone.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(crate) fn crash_client(&mut self, client: u8) -> Option<Reply> {
        let group = self.group_of_waiter(client);
        self.with_front(group, |context| context.process(client, |process| process.crash()))?;
        let call = self.world.call(client).of_dead();
        self.world.set_call(client, call);
        self.world.forget_watchdogs(client);
        for thread in 0..MAX_THREADS {
            let holder = Holder::new(client, thread);
            if self.world.group().waits_at(holder).is_some() {
                self.server().close_wait(holder);
            }
        }
        Some(Reply::Done)
    }
}
