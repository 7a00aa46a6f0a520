//! What clients do beside asking for the lock: subscribe, find a new master, delete the lock by force; and how messages
//! reach them.

use super::context::Context;
use super::layout::Layout;
use super::network::clients;
use super::normal_form::unread_nodes;
use super::values;
use crate::client::requests::Slot;
use crate::client::state::GroupView;
use crate::client::wait_loop::SecondAsk;
use crate::limits::MAX_THREADS;
use crate::locks::contract::LockRequest;
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore;
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::reply::Reply;
use crate::time::Timer;

impl<Y: Layout> Context<'_, Y> {
    /// A thread asks for the lock, or to enter it once more.
    pub(crate) fn acquire(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.begin_acquire(holder.thread()))?;
        if Y::Values::IS_THERE && self.config.has_values() {
            let unread = unread_nodes(self.config, self.world);
            let value = values::free_value(self.world, holder, |node| unread.has(node));
            self.world.values_mut(holder.client()).set_own(holder.thread(), value);
        }
        self.ask_for_lock(holder)
    }

    /// A refused thread subscribes to the unlock channel. A second thread of its process shares the first one's
    /// subscription.
    pub(crate) fn subscribe(&mut self, holder: Holder) -> Option<Reply> {
        let client = holder.client();
        if !self.process(client, |process| process.can_subscribe(holder.thread())) {
            return None;
        }
        let node = self.world.reachable_master(client)?;
        if !self.world.client(client).uses_wakeup_entry() {
            self.world.group_mut().connection_mut(client).set_subscription(Some(node));
        }
        self.process(client, |process| process.subscribed(holder.thread()));
        Some(Reply::Done)
    }

    /// Subscribed, a thread asks again: the lock may have been freed before the subscription was there.
    pub(crate) fn second_ask(&mut self, holder: Holder) -> Option<Reply> {
        match self.process(holder.client(), |process| process.begin_second_ask(holder.thread()))? {
            SecondAsk::Asks => self.ask_for_lock(holder),
            SecondAsk::Skips(reply) => Some(reply),
        }
    }

    /// A waiter takes a permit that a message brought, and asks.
    pub(crate) fn wake_by_message(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.wake_by_message(holder.thread()))?;
        self.ask_for_lock(holder)
    }

    /// A waiter's timer fires, and it asks.
    pub(crate) fn wake_by_timer(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.wake_by_timer(holder.thread()))?;
        self.ask_for_lock(holder)
    }

    /// A client whose subscription ended with its connection subscribes on the new master.
    pub(crate) fn resubscribe(&mut self, client: u8) -> Option<Reply> {
        if !self.world.client(client).is_running() || !self.world.has_lost_subscription(self.config, client) {
            return None;
        }
        let node = self.world.reachable_master(client)?;
        self.world.group_mut().connection_mut(client).set_subscription(Some(node));
        Some(Reply::Done)
    }

    /// A client learns which node is the master now.
    pub(crate) fn discover(&mut self, client: u8) -> Option<Reply> {
        self.world.acting_master()?;
        let master = self.world.group().master;
        let process = self.world.client(client);
        if !process.is_running() || process.master() == master {
            return None;
        }
        self.leave_master(client);
        let config = self.config;
        self.process(client, |process| {
            process.client.views[0] = GroupView::of(master);
            if config.cluster.lock_delay > 0 && !config.is_mutated(Mutant::LockDelayIgnored) {
                process.client.asks_in = Timer::ticks(config.cluster.lock_delay);
            }
        });
        // It leaves an old master that still runs, and its subscription there with it (Redisson: `changeMaster`).
        let connection = self.world.group_mut().connection_mut(client);
        if connection.subscription().is_some_and(|node| node != master) {
            connection.set_subscription(None);
            self.notes.happened(Happening::SubscriptionLost);
        }
        Some(Reply::Done)
    }

    /// A client deletes the lock, whoever holds it.
    pub(crate) fn force_release(&mut self, client: u8) -> Option<Reply> {
        if !self.world.client(client).is_running() {
            return None;
        }
        let node = self.world.reachable(client).filter(|node| self.world.node(*node).is_working())?;
        self.count_replicas(client);
        let executed = self.server().execute(node, LockRequest::Force, 0)?;
        if executed.is_published {
            self.publish(node);
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

    /// The lock is free: a message sets out to every process that is subscribed on this node.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(super) fn publish(&mut self, node: u8) {
        for client in clients::<Y>() {
            if self.world.group().connection(client).subscription() == Some(node) {
                self.process(client, |process| process.send_message());
            }
        }
    }

    /// A client dies for good: its connections are gone.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(crate) fn crash_client(&mut self, client: u8) -> Option<Reply> {
        self.process(client, |process| process.crash())?;
        for thread in 0..MAX_THREADS {
            let holder = Holder::new(client, thread);
            if self.world.group().waits_at(holder).is_some() {
                self.server().close_wait(holder);
            }
        }
        Some(Reply::Done)
    }
}
