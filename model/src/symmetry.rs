//! Clients are alike: who is called A and who B makes no difference to what may happen.
//!
//! Two worlds that differ only by the order of their clients have the same future, with the names exchanged. A checker
//! that keeps one of them, the smallest, keeps all that matters to properties that name no client. Nodes are not
//! alike (a rule of promotion may choose by their order), nor are the threads of a client (a table remembers which
//! came first).

use crate::locks::Record;
use crate::world::{Client, Holder, Mode, World};

impl<R: Record, const C: usize, const N: usize> World<R, C, N> {
    /// The smallest of the worlds that differ from this one by the order of their clients.
    ///
    /// Worlds are compared field by field, clients first: so the smallest has its clients in order, and only among
    /// equal ones is there anything left to try.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut order: [u8; C] = core::array::from_fn(|index| u8::try_from(index).unwrap_or(u8::MAX));
        // Slots that the scenario does not use stay behind those it does: actions speak of the first ones.
        let key = |client: u8| (self.client(client).mode == Mode::Absent, self.party(client));
        order.sort_by(|&left, &right| key(left).cmp(&key(right)));
        let mut smallest = self.reordered(&order);
        if order.windows(2).any(|pair| self.party(pair[0]) == self.party(pair[1])) {
            self.try_orders_of_equals(&mut order, 0, &mut smallest);
        }
        smallest
    }

    /// A client with what it has in flight, which names nobody but itself.
    fn party(&self, client: u8) -> (&Client, &R::Wire) {
        (self.client(client), &self.wires.0[usize::from(client)])
    }

    /// The same world with the clients in this order.
    #[must_use]
    pub fn reordered(&self, order: &[u8; C]) -> Self {
        let place = |client: u8| order.iter().position(|&old| old == client).unwrap_or(usize::from(client));
        let renamed = |record: R| {
            record.renamed(|holder| {
                let client = u8::try_from(place(holder.client())).unwrap_or(u8::MAX);
                Holder::new(client, holder.thread())
            })
        };
        let mut world = *self;
        for (client, &old) in world.clients.iter_mut().zip(order) {
            *client = *self.client(old);
        }
        for (wire, &old) in world.wires.0.iter_mut().zip(order) {
            *wire = self.wires.0[usize::from(old)];
        }
        for node in &mut world.group.nodes {
            node.record = renamed(node.record);
            node.disk = renamed(node.disk);
            for effect in &mut node.link.effects[..usize::from(node.link.len)] {
                effect.record = renamed(effect.record);
            }
        }
        world
    }

    /// All orders that keep the clients sorted: those that exchange equal ones, from this place on.
    fn try_orders_of_equals(&self, order: &mut [u8; C], from: usize, smallest: &mut Self) {
        if from == C {
            let candidate = self.reordered(order);
            if candidate < *smallest {
                *smallest = candidate;
            }
            return;
        }
        for other in from..C {
            if self.party(order[other]) == self.party(order[from]) {
                order.swap(from, other);
                self.try_orders_of_equals(order, from + 1, smallest);
                order.swap(from, other);
            }
        }
    }
}
