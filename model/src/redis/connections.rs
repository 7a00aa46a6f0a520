//! What the nodes keep for the processes that are connected to them: subscriptions, and `WAIT`s that are not answered yet.
//!
//! Source: docs/facts/redis.md#delivery, #expiry-is-silent: subscriptions live on the node they were made on, and end with their connection.

use core::fmt;

use crate::limits::{MAX_CLIENTS, MAX_REPLICAS, MAX_THREADS};
use crate::locks::holder::Holder;

/// What the nodes keep for one process, in two bytes: a small world is a small value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection {
    /// Where it is subscribed and where each thread's `WAIT` is open: two bits each, the node's number and one, 0: nowhere.
    /// Above them how many replicas the first thread asks for.
    places: u8,
    /// Which replicas have acknowledged what each thread's `WAIT` asks for, a bit each. Above them how many replicas the
    /// second thread asks for.
    acknowledged: u8,
}

/// `WAIT`s that a node has answered, each with the number of replicas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitAnswers([Option<u8>; (MAX_CLIENTS * MAX_THREADS) as usize]);

impl Connection {
    /// Nothing.
    pub const NONE: Self = Self { places: 0, acknowledged: 0 };

    /// Where a subscription is that has ended, and whose client does not know it: the number of no node of a group whose slot may be
    /// moved, which has one replica at most (S008).
    pub(super) const ENDED_UNNOTICED: u8 = MAX_REPLICAS;

    const NODES: u8 = MAX_REPLICAS + 1;
    const PLACE_BITS: u8 = 2;
    const PLACE: u8 = (1 << Self::PLACE_BITS) - 1;
    const ASKED_AT: u8 = 6;

    const fn place(self, number: u8) -> Option<u8> {
        const { assert!(Self::NODES <= Self::PLACE, "a number for each node, and one for none") };
        const { assert!((1 + MAX_THREADS) * Self::PLACE_BITS == Self::ASKED_AT, "two bits are left") };
        (self.places >> (number * Self::PLACE_BITS) & Self::PLACE).checked_sub(1)
    }

    const fn set_place(&mut self, number: u8, node: Option<u8>) {
        let at = number * Self::PLACE_BITS;
        let value = match node {
            Some(node) => node + 1,
            None => 0,
        };
        self.places = self.places & !(Self::PLACE << at) | value << at;
    }

    /// The node that it is subscribed on; [`ENDED_UNNOTICED`](Self::ENDED_UNNOTICED): the subscription has ended, and its client does not know that.
    pub const fn subscription(self) -> Option<u8> {
        self.place(0)
    }

    /// It is subscribed on that node, or nowhere.
    pub(crate) const fn set_subscription(&mut self, node: Option<u8>) {
        self.set_place(0, node);
    }

    /// The node at which this thread's `WAIT` is open.
    pub const fn waits_at(self, thread: u8) -> Option<u8> {
        self.place(1 + thread)
    }

    /// This thread has sent a `WAIT` to that node. `asks_for`: the node answers as soon as that many replicas have what it
    /// waits for; 0: it answers at the time-out only.
    pub(super) const fn open_wait(&mut self, thread: u8, node: u8, asks_for: u8) {
        const { assert!(MAX_REPLICAS < 4, "a number of replicas has two bits") };
        self.set_place(1 + thread, Some(node));
        *self.byte_of(thread) |= asks_for << Self::ASKED_AT;
    }

    /// This thread's `WAIT` is answered, or its connection is gone.
    pub(super) const fn close_wait(&mut self, thread: u8) {
        self.set_place(1 + thread, None);
        *self.byte_of(thread) &= (1 << Self::ASKED_AT) - 1;
        self.acknowledged &= !(((1 << Self::NODES) - 1) << (thread * Self::NODES));
    }

    /// How many replicas this thread's `WAIT` asks for; 0: none is open, or it is answered at its time-out only.
    pub(super) const fn asks_for(mut self, thread: u8) -> u8 {
        *self.byte_of(thread) >> Self::ASKED_AT
    }

    /// Whether that node has acknowledged what this thread's `WAIT` asks for.
    pub const fn is_acknowledged_by(self, thread: u8, node: u8) -> bool {
        self.acknowledged >> (thread * Self::NODES + node) & 1 != 0
    }

    /// It has.
    pub(super) const fn note_acknowledged(&mut self, thread: u8, node: u8) {
        const { assert!(MAX_THREADS * Self::NODES == Self::ASKED_AT, "two bits are left") };
        self.acknowledged |= 1 << (thread * Self::NODES + node);
    }

    /// The same with every node renamed.
    pub(crate) fn renamed(self, rename: impl Fn(u8) -> u8) -> Self {
        let mut renamed = self;
        for number in 0..=MAX_THREADS {
            renamed.set_place(number, self.place(number).map(&rename));
        }
        renamed.acknowledged &= !((1 << Self::ASKED_AT) - 1);
        for thread in 0..MAX_THREADS {
            for node in (0..Self::NODES).filter(|node| self.is_acknowledged_by(thread, *node)) {
                renamed.note_acknowledged(thread, rename(node));
            }
        }
        renamed
    }

    /// As bytes, for hashing.
    pub(crate) const fn bytes(self) -> [u8; 2] {
        [self.places, self.acknowledged]
    }

    /// The byte whose highest bits say how many replicas this thread asks for.
    const fn byte_of(&mut self, thread: u8) -> &mut u8 {
        const { assert!(MAX_THREADS == 2, "a byte for each thread") };
        if thread == 0 { &mut self.places } else { &mut self.acknowledged }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08b} {:08b}", self.places, self.acknowledged)
    }
}

impl WaitAnswers {
    /// Notes one.
    pub(super) fn note(&mut self, holder: Holder, replicas: u8) {
        self.0[usize::from(holder.client() * MAX_THREADS + holder.thread())] = Some(replicas);
    }

    /// Whose `WAIT` was answered, and with how many replicas.
    pub(crate) fn iter(self) -> impl Iterator<Item = (Holder, u8)> {
        let holders =
            (0..MAX_CLIENTS).flat_map(|client| (0..MAX_THREADS).map(move |thread| Holder::new(client, thread)));
        holders.zip(self.0).filter_map(|(holder, replicas)| Some((holder, replicas?)))
    }

    /// These and those.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.or(theirs);
        }
        self
    }
}
