//! The world at one moment. Three truths are kept apart: what each client believes, what each node stores, and what the
//! guarded resource accepted.
//!
//! Every time is an offset from now, so time never ends and states repeat. A world is a small `Copy` value whose arrays are
//! sized by its [`Layout`].

use super::layout::Layout;
use crate::client::renewal_table::RenewalTable;
use crate::client::requests::{InFlight, Requests};
use crate::client::state::{AcquiresLeft, Client, Mode, Thread};
use crate::config::faults::FaultsLeft;
use crate::config::sections::Config;
use crate::limits::{MAX_GROUPS, MAX_THREADS};
use crate::locks::contract::Lock as _;
use crate::locks::contract::Requester;
use crate::locks::holder::Holder;
use crate::locks::master_calls::{CallStore as _, MastersCall, Watchdog};
use crate::locks::values::ValueStore;
use crate::notes::Breaches;
use crate::redis::group::{Group, Node};
use crate::slots::Slots;

/// Everything, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct World<Y: Layout> {
    /// What each client believes; slots beyond the scenario's count stay [`Mode::Absent`].
    pub clients: Y::Clients<Client>,
    /// What each client has in flight; nothing where request and answer are one step.
    pub in_flight: Y::Clients<Y::InFlight>,
    /// What each client remembers of the values of its acquires; nothing where a kind stores none.
    pub values: Y::Clients<Y::Values>,
    /// What each client remembers of its call on several masters; nothing where one stores the lock.
    pub calls: Y::Clients<Y::Calls>,
    /// What Redis stores, group by group.
    pub groups: Y::Groups<Group<Y>>,
    /// What the resource accepted.
    pub resource: ResourceLog,
    /// Which of the tokens that are stored in Redis clients and the resource have seen; nothing where a kind stores none.
    pub tokens: Y::Tokens,
    /// What may still go wrong.
    pub faults: FaultsLeft,
    /// Rules about a step that the step into this state broke. Not carried on: they mark the state, not its future.
    pub breaches: Breaches,
}

/// What the guarded resource has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceLog {
    /// The newest token it accepted; 0: none yet.
    pub newest: u8,
}

impl<Y: Layout> World<Y> {
    /// The first moment: every client idle or not started yet, the first node master, nothing stored.
    pub fn initial(config: &Config) -> Self {
        let mut threads = [Thread::DEAD; MAX_THREADS as usize];
        threads[..usize::from(config.clients.threads)].fill(Thread::IDLE);
        let is_late = |number: u8| number >= config.clients.count - config.late_clients();
        let client = |number: u8| Client {
            mode: if is_late(number) { Mode::NotStarted } else { Mode::Running },
            acquires_left: AcquiresLeft::optional(config.settings_of(number).acquires),
            threads,
            ..Client::ABSENT
        };
        let there = |index: usize| u8::try_from(index).ok().filter(|number| *number < config.clients.count);
        Self {
            clients: Y::Clients::from_fn(|index| there(index).map_or(Client::ABSENT, client)),
            in_flight: Y::Clients::from_fn(|_| Y::InFlight::default()),
            values: Y::Clients::from_fn(|_| Y::Values::default()),
            calls: Y::Clients::from_fn(|_| Y::Calls::default()),
            groups: Y::Groups::from_fn(|group| Group::initial(config, group < usize::from(config.cluster.groups))),
            resource: ResourceLog::default(),
            tokens: Y::Tokens::default(),
            faults: FaultsLeft::new(config.faults),
            breaches: Breaches::NONE,
        }
    }

    /// Every client with its number.
    pub fn clients(&self) -> impl Iterator<Item = (u8, &Client)> {
        (0u8..).zip(self.clients.as_ref())
    }

    /// A client.
    pub fn client(&self, client: u8) -> &Client {
        &self.clients.as_ref()[usize::from(client)]
    }

    /// A thread.
    pub fn thread(&self, holder: Holder) -> &Thread {
        &self.client(holder.client()).threads[usize::from(holder.thread())]
    }

    /// A thread, to change it.
    pub(crate) fn thread_mut(&mut self, holder: Holder) -> &mut Thread {
        &mut self.clients.as_mut()[usize::from(holder.client())].threads[usize::from(holder.thread())]
    }

    /// A thread by its hold, or by the acquire that it calls.
    pub fn requester(&self, holder: Holder) -> Requester {
        Requester { holder, value: self.values(holder.client()).own(holder.thread()) }
    }

    /// What a client remembers of the values of its acquires.
    pub fn values(&self, client: u8) -> &Y::Values {
        &self.values.as_ref()[usize::from(client)]
    }

    /// The same, to change it.
    pub(crate) fn values_mut(&mut self, client: u8) -> &mut Y::Values {
        &mut self.values.as_mut()[usize::from(client)]
    }

    /// What a client has in flight.
    pub fn requests(&self, client: u8) -> &Requests {
        self.in_flight.as_ref()[usize::from(client)].requests()
    }

    /// The call of a client on several masters.
    pub fn call(&self, client: u8) -> MastersCall {
        self.calls.as_ref()[usize::from(client)].get()
    }

    /// Another call of it.
    pub(crate) fn set_call(&mut self, client: u8, call: MastersCall) {
        let of_client = &mut self.calls.as_mut()[usize::from(client)];
        *of_client = of_client.with(call);
    }

    /// What a client renews on one of several masters.
    pub fn watchdog(&self, client: u8, master: u8) -> RenewalTable {
        RenewalTable::of(self.calls.as_ref()[usize::from(client)].watchdog(master))
    }

    /// Another table of it.
    pub(crate) fn set_watchdog(&mut self, client: u8, master: u8, table: RenewalTable) {
        let of_client = &mut self.calls.as_mut()[usize::from(client)];
        *of_client = of_client.with_watchdog(master, table.watchdog());
    }

    /// Whether a client renews nothing on any master, and no timer for that runs.
    pub(super) fn watchdogs_rest(&self, client: u8) -> bool {
        let call = self.calls.as_ref()[usize::from(client)];
        (0..MAX_GROUPS).all(|master| call.watchdog(master) == Watchdog::NONE)
    }

    /// The group in front, about which every rule is that knows one: the only one, but where there are several masters
    /// ([`with_front`](Self::with_front)).
    pub fn group(&self) -> &Group<Y> {
        &self.groups.as_ref()[0]
    }

    /// The same, to change it.
    pub(crate) fn group_mut(&mut self) -> &mut Group<Y> {
        &mut self.groups.as_mut()[0]
    }

    /// A node.
    pub fn node(&self, node: u8) -> &Node<Y> {
        self.group().node(node)
    }

    /// The acting master; `None` while there is none.
    pub fn acting_master(&self) -> Option<&Node<Y>> {
        self.group().acting_master()
    }

    /// The node that executes this client's writes at once; `None` while the master it knows is dead, stands still, hands
    /// over or is none any more.
    pub(crate) fn reachable_master(&self, client: u8) -> Option<u8> {
        let known = self.client(client).master();
        (self.node(known).is_master() && self.node(known).is_working()).then_some(known)
    }

    /// The node that this client's requests reach, even if it is a replica by now and will refuse to write. Where requests
    /// are steps of their own they wait in the sockets of one that stands still or hands over; elsewhere it is as one that is dead.
    pub(crate) fn reachable(&self, client: u8) -> Option<u8> {
        let known = self.client(client).master();
        let is_reached = if Y::InFlight::IS_SPLIT { self.node(known).is_up() } else { self.node(known).is_working() };
        is_reached.then_some(known)
    }

    /// Every thread of every client that has not crashed, with its client.
    pub fn threads(&self) -> impl Iterator<Item = (Holder, &Client, &Thread)> {
        self.clients().filter(move |(_, client)| client.is_alive()).flat_map(|(index, client)| {
            (0u8..).zip(&client.threads).map(move |(thread, state)| (Holder::new(index, thread), client, state))
        })
    }

    /// The threads that believe they hold. A paused client believes; a crashed one does not; nor does one that has some parts of a
    /// lock, and is still taking the others or gives them back.
    pub fn believers(&self) -> impl Iterator<Item = (Holder, &Client, &Thread)> {
        let has_all = |client: &Client| !Y::Lock::FACTS.parts.is_there() || !client.is_in_call();
        self.threads().filter(move |(_, client, thread)| thread.believes() && has_all(client))
    }
}
