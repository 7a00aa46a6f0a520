//! Clients are alike, and so are nodes: which client is called A and which B, which replica is the second and which the third
//! node, makes no difference to what may happen.
//!
//! Two worlds that differ only by the order of their clients or nodes have the same future, with the names exchanged. A
//! checker that keeps one of them, the smallest, keeps everything that matters to properties that name no client and no node.
//! Whether clients and nodes are alike is for the scenario to say ([`Config::clients_are_alike`]; a rule of promotion may
//! choose by the order of nodes). The threads of a client are not alike: a table remembers which came first.

use super::layout::Layout;
use super::state::World;
use super::values;
use crate::client::requests::InFlight;
use crate::client::state::{Client, Mode};
use crate::config::sections::Config;
use crate::limits::MAX_REPLICAS;
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::locks::master_calls::CallStore as _;
use crate::locks::tokens::TokenStore as _;
use crate::locks::values::ValueStore as _;
use crate::redis::group::new_number;
use crate::redis::layout::ServerLayout;
use crate::slots::{Slots, Value};

/// An order of the clients of a world.
type Order<Y> = <Y as Layout>::Clients<u8>;

/// An order of the nodes of a group.
type NodeOrder<Y> = <Y as ServerLayout>::Nodes<u8>;

impl<Y: Layout> World<Y> {
    /// One of the worlds that differ from this one by the order of their nodes, the same for all of them: the master first,
    /// then its replicas, the smallest first. The world itself where nodes are not alike.
    #[must_use]
    pub fn with_nodes_in_order(&self, config: &Config) -> Self {
        let nodes = usize::from(config.nodes());
        if !config.nodes_are_alike() {
            return *self;
        }
        let master = self.group().master();
        let mut order = NodeOrder::<Y>::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        order.as_mut()[..=usize::from(master)].rotate_right(1);
        let first = if master == 0 { *self } else { self.with_nodes_in(&order, config) };
        if nodes == 2 {
            return first;
        }
        const { assert!(MAX_REPLICAS == 2, "two replicas have two orders") };
        // What does not name a node decides, if it can.
        let key = |node: u8| {
            let node = first.node(node);
            (node.role, node.queue.len(), node.silent_ticks, node.down_ticks, node.ahead)
        };
        if key(1) < key(2) {
            return first;
        }
        let mut exchanged = NodeOrder::<Y>::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        exchanged.as_mut()[1..3].reverse();
        let second = first.with_nodes_in(&exchanged, config);
        if key(1) > key(2) || second < first { second } else { first }
    }

    fn with_nodes_in(&self, order: &NodeOrder<Y>, config: &Config) -> Self {
        let order = order.as_ref();
        let rename = |node: u8| new_number(order, node);
        let mut world = *self;
        for group in world.groups.as_mut() {
            *group = group.with_nodes_in(order);
        }
        // A dead client knows no node.
        for client in world.clients.as_mut().iter_mut().filter(|client| client.is_alive()) {
            client.views = client.views.map(|view| view.renamed(rename));
        }
        for requests in world.in_flight.as_mut().iter_mut().filter_map(InFlight::requests_mut) {
            requests.rename_nodes(rename);
        }
        // In the order in which they are found on the nodes, as in the normal form.
        if Y::Values::IS_THERE && config.has_values() {
            values::renumber(&mut world);
        }
        world
    }

    /// The smallest of the worlds that differ from this one by the order of their clients; the world itself where clients
    /// are not alike.
    ///
    /// Worlds are compared field by field, clients first: so the smallest has its clients in order, and only among equal
    /// ones is there anything left to try.
    #[must_use]
    pub fn canonical(&self, config: &Config) -> Self {
        if Y::Lock::HAS_SEVERAL_MASTERS {
            return self.canonical_of_masters(config);
        }
        if !config.clients_are_alike() {
            return *self;
        }
        let mut order = Order::<Y>::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        // Slots that the scenario does not use stay behind those it does: actions name the first ones.
        let key = |client: u8| (self.client(client).mode == Mode::Absent, self.party(client));
        order.as_mut().sort_by(|&left, &right| key(left).cmp(&key(right)));
        let mut smallest = self.reordered(&order);
        if order.as_ref().windows(2).any(|pair| self.party(pair[0]) == self.party(pair[1])) {
            self.try_orders_of_equals(&mut order, 0, &mut smallest);
        }
        smallest
    }

    /// The same where a lock is on several masters. They are alike: every client asks them in any order. What a world says of one is a
    /// column: its group, and a few bits of each client's call. So the smallest order of the masters is that in which their columns are sorted,
    /// for each order of the clients.
    fn canonical_of_masters(&self, config: &Config) -> Self {
        let mut order = Order::<Y>::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        let mut smallest = self.with_masters_in_order(config, 0);
        if config.clients_are_alike() {
            self.try_orders(&mut order, 0, config, &mut smallest);
        }
        smallest
    }

    /// All orders of the clients from this place on.
    fn try_orders(&self, order: &mut Order<Y>, from: u8, config: &Config, smallest: &mut Self) {
        if from == config.clients.count {
            let candidate = self.reordered(order).with_masters_in_order(config, 0);
            if candidate < *smallest {
                *smallest = candidate;
            }
            return;
        }
        for other in from..config.clients.count {
            order.as_mut().swap(usize::from(from), usize::from(other));
            self.try_orders(order, from + 1, config, smallest);
            order.as_mut().swap(usize::from(from), usize::from(other));
        }
    }

    /// One of the worlds that differ from this one by the order of their masters from this one on, the same for all of them: the order of
    /// what they say of each. The masters before it keep their places.
    #[must_use]
    pub fn with_masters_in_order(&self, config: &Config, first: u8) -> Self {
        let mut order = Y::Groups::<u8>::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        let bits = |master: u8| self.calls.as_ref().iter().map(move |call| call.of_master(master));
        order.as_mut()[usize::from(first)..usize::from(config.cluster.groups)].sort_by(|&one, &other| {
            let [left, right] = [one, other].map(|master| &self.groups.as_ref()[usize::from(master)]);
            left.cmp(right).then_with(|| bits(one).cmp(bits(other)))
        });
        let mut world = *self;
        reorder(world.groups.as_mut(), self.groups.as_ref(), order.as_ref());
        for call in world.calls.as_mut() {
            *call = call.in_order(order.as_ref());
        }
        world
    }

    /// A client with what it has in flight, which names nobody but itself.
    fn party(&self, client: u8) -> (&Client, &Y::InFlight, &Y::Values) {
        (self.client(client), &self.in_flight.as_ref()[usize::from(client)], self.values(client))
    }

    /// The same world with the clients in this order.
    #[must_use]
    pub fn reordered(&self, order: &Order<Y>) -> Self {
        let order = order.as_ref();
        let place = |client: u8| order.iter().position(|&old| old == client).unwrap_or(usize::from(client));
        let renamed =
            |holder: Holder| Holder::new(u8::try_from(place(holder.client())).unwrap_or(u8::MAX), holder.thread());
        let mut world = *self;
        reorder(world.clients.as_mut(), self.clients.as_ref(), order);
        reorder(world.in_flight.as_mut(), self.in_flight.as_ref(), order);
        reorder(world.values.as_mut(), self.values.as_ref(), order);
        reorder(world.calls.as_mut(), self.calls.as_ref(), order);
        world.tokens = self.tokens.reordered(order);
        for (group, old) in world.groups.as_mut().iter_mut().zip(self.groups.as_ref()) {
            reorder(group.connections.as_mut(), old.connections.as_ref(), order);
            for node in group.nodes.as_mut() {
                node.stored = node.stored.renamed(renamed);
                node.disk = node.disk.renamed(renamed);
                for effect in node.queue.effects_mut() {
                    *effect = effect.renamed(renamed);
                }
            }
        }
        world
    }

    /// All orders that keep the clients sorted: those that exchange equal ones, from this place on.
    fn try_orders_of_equals(&self, order: &mut Order<Y>, from: usize, smallest: &mut Self) {
        let clients = order.as_ref().len();
        if from == clients {
            let candidate = self.reordered(order);
            if candidate < *smallest {
                *smallest = candidate;
            }
            return;
        }
        for other in from..clients {
            if self.party(order.as_ref()[other]) == self.party(order.as_ref()[from]) {
                order.as_mut().swap(from, other);
                self.try_orders_of_equals(order, from + 1, smallest);
                order.as_mut().swap(from, other);
            }
        }
    }
}

fn reorder<T: Value>(to: &mut [T], from: &[T], order: &[u8]) {
    for (to, &old) in to.iter_mut().zip(order) {
        *to = from[usize::from(old)];
    }
}
