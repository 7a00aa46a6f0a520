//! Which of a holder's acquires a grant is of: the numbers of the values that a kind stores which are unique per acquire.
//!
//! A value is a random text in real life (the Redis documentation) and a small number here: each call of `lock()` takes the
//! smallest that nothing of its holder has any more, so that states stay finite. A request that is sent again, and each poll of
//! one call, keep the value of the call (docs/facts/redisson.md#plain-lock). Where numbers could make no difference there are
//! none ([`Config::has_values`](crate::Config::has_values)).

use super::layout::Layout;
use super::state::World;
use crate::client::requests::InFlight as _;
use crate::client::state::Phase;
use crate::limits::{MAX_CLIENTS, MAX_THREADS, MAX_VALUES};
use crate::locks::contract::Requester;
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore as _;
use crate::redis::group::Node;

/// The smallest number that no acquire of this thread has that anybody could still come upon. `is_unread`: nobody will read
/// what that node stores.
pub(super) fn free_value<Y: Layout>(world: &World<Y>, holder: Holder, is_unread: impl Fn(u8) -> bool) -> u8 {
    const { assert!(MAX_VALUES < 64, "a bit for each number") };
    // Bit n: n is used. 0 is no number.
    let mut used = 1u64;
    let values = world.values(holder.client());
    used |= 1 << values.own(holder.thread());
    used |= 1 << values.renewed(holder.thread());
    for (_, request) in world.requests(holder.client()).iter().filter(|(_, request)| request.thread == holder.thread())
    {
        used |= 1 << request.value;
    }
    for (_, node) in world.group().numbered().filter(|(index, _)| !is_unread(*index)) {
        for by in stored_on(node).filter(|by| by.holder == holder) {
            used |= 1 << by.value;
        }
    }
    u8::try_from(used.trailing_ones()).unwrap_or(u8::MAX)
}

/// A thread that neither asks nor believes has no value, and a watchdog that has nothing to renew needs none.
pub(crate) fn forget_unused<Y: Layout>(world: &mut World<Y>) {
    let processes = world.clients.as_ref().iter().zip(world.in_flight.as_ref()).zip(world.values.as_mut());
    for ((client, in_flight), values) in processes {
        for (number, thread) in (0u8..).zip(&client.threads) {
            if matches!(thread.phase, Phase::Idle | Phase::Dead) && !thread.has_hold() {
                values.set_own(number, 0);
            }
            if client.renewal.count(number) == 0 && in_flight.requests().owed[usize::from(number)] == 0 {
                values.set_renewed(number, 0);
            }
        }
    }
}

/// Gives the values of each holder other numbers: 1, 2, … in the order in which they are found. Which number a value has makes
/// no difference to what may happen.
pub(super) fn renumber<Y: Layout>(world: &mut World<Y>) {
    let mut numbers = ValueNumbers::default();
    for (index, values) in (0u8..).zip(world.values.as_mut()) {
        for thread in 0..MAX_THREADS {
            let mut number = |value| numbers.of(Requester { holder: Holder::new(index, thread), value });
            values.set_own(thread, number(values.own(thread)));
            values.set_renewed(thread, number(values.renewed(thread)));
        }
    }
    for (index, in_flight) in (0u8..).zip(world.in_flight.as_mut()) {
        for request in in_flight.requests_mut().into_iter().flat_map(|requests| requests.slots.iter_mut().flatten()) {
            let holder = Holder::new(index, request.thread);
            request.value = numbers.of(Requester { holder, value: request.value });
        }
    }
    for node in world.group_mut().nodes.as_mut() {
        for by in stored_on(node) {
            numbers.of(by);
        }
        let known = |by: Requester| numbers.known(by);
        node.stored = node.stored.renumbered(known);
        node.disk = node.disk.renumbered(known);
        for effect in node.queue.effects_mut() {
            effect.stored = effect.stored.renumbered(known);
        }
    }
}

/// Every hold in a node's memory, on its disk and on the way to it.
fn stored_on<Y: Layout>(node: &Node<Y>) -> impl Iterator<Item = Requester> {
    let under_way = node.queue.effects().iter().map(|effect| &effect.stored);
    [&node.stored, &node.disk].into_iter().chain(under_way).flat_map(|stored| stored.holders().map(|hold| hold.by))
}

/// The new number of each value that was found, by thread and old number; 0: it was not found yet.
struct ValueNumbers {
    new: [[u8; MAX_VALUES as usize + 1]; HOLDERS],
    found: [u8; HOLDERS],
}

/// Threads of all clients.
const HOLDERS: usize = (MAX_CLIENTS * MAX_THREADS) as usize;

impl Default for ValueNumbers {
    fn default() -> Self {
        Self { new: [[0; MAX_VALUES as usize + 1]; HOLDERS], found: [0; HOLDERS] }
    }
}

impl ValueNumbers {
    /// The new number of this value, which is found here. None keeps 0.
    fn of(&mut self, by: Requester) -> u8 {
        let holder = Self::index(by);
        let new = &mut self.new[holder][usize::from(by.value)];
        if by.value > 0 && *new == 0 {
            self.found[holder] += 1;
            *new = self.found[holder];
        }
        *new
    }

    /// The new number of a value that was found before.
    fn known(&self, by: Requester) -> u8 {
        self.new[Self::index(by)][usize::from(by.value)]
    }

    fn index(Requester { holder, .. }: Requester) -> usize {
        usize::from(holder.client() * MAX_THREADS + holder.thread())
    }
}
