//! How much room a world has: the types it is made of, chosen by the scenario.
//!
//! A small world is a small value: that is what makes the search fast. Each layout is a copy of the whole engine in the
//! binary, so there are few.

use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;

use crate::client::requests::{InFlight, Requests};
use crate::config::sections::Config;
use crate::limits::{
    EFFECTS_UNDER_WAY, MAX_ACTIONS, MAX_CLIENTS, MAX_CLIENTS_OF_MASTERS, MAX_EFFECTS_UNDER_WAY, MAX_GROUPS,
    MAX_RECEIPTS, MAX_REPLICAS, MAX_REPLICAS_OF_MASTERS, MAX_THREADS, RECEIPTS,
};
use crate::locks::contract::Lock;
use crate::locks::holder::Holder;
use crate::locks::kind::WithKind;
use crate::locks::master_calls::CallStore;
use crate::locks::receipts::{NoReceipts, ReceiptStore, Receipts};
use crate::locks::tokens::TokenStore;
use crate::locks::values::ValueStore;
use crate::redis::layout::ServerLayout;
use crate::slots::{Slots, Value};

/// The types that a [`World`](crate::World) is made of.
pub trait Layout: ServerLayout {
    /// What one client has in flight.
    type InFlight: InFlight;
    /// What one client remembers of the values of its acquires.
    type Values: ValueStore;
    /// What one client remembers of its call on several masters.
    type Calls: CallStore;
    /// What clients and the resource have seen of the tokens that are stored in Redis.
    type Tokens: TokenStore;
    /// One value per client process.
    type Clients<T: Value>: Slots<T>;
    /// One value per group.
    type Groups<T: Value>: Slots<T>;
    /// A bit for each action that can happen in some world of this layout.
    type ActionBits: Slots<u64>;
}

/// Whether request and answer are one step or steps of their own: what has to be remembered of them.
pub trait NetworkLayout: Copy + Default + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// What one client has in flight.
    type InFlight: InFlight;
    /// The release receipts that a node keeps: nobody can ever read one where request and answer are one step.
    type Receipts: ReceiptStore;
}

/// Request and answer are one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atomic;

/// Request and answer are steps of their own; a node has room for `R` receipts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Split<const R: usize = { RECEIPTS as usize }>;

impl NetworkLayout for Atomic {
    type InFlight = ();
    type Receipts = NoReceipts;
}

impl<const R: usize> NetworkLayout for Split<R> {
    type InFlight = Requests;
    type Receipts = Receipts<R>;
}

/// A lock of kind `L` in a network `M`, for `C` clients and `N` nodes, with `E` effects under way to each; `W` words of
/// bits name their actions, and `G` such groups of nodes are independent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Room<L, M, const C: usize, const N: usize, const E: usize, const W: usize, const G: usize = 1>(
    PhantomData<(L, M)>,
);

impl<L: Lock, M: NetworkLayout, const C: usize, const N: usize, const E: usize, const W: usize, const G: usize>
    ServerLayout for Room<L, M, C, N, E, W, G>
{
    type Lock = L;
    type Receipts = M::Receipts;
    type Nodes<T: Value> = [T; N];
    type Queue<T: Value> = [T; E];
    type Connections<T: Value> = [T; C];
}

impl<L: Lock, M: NetworkLayout, const C: usize, const N: usize, const E: usize, const W: usize, const G: usize> Layout
    for Room<L, M, C, N, E, W, G>
{
    type InFlight = M::InFlight;
    type Values = L::Values;
    type Calls = L::Calls;
    type Tokens = L::Tokens;
    type Clients<T: Value> = [T; C];
    type Groups<T: Value> = [T; G];
    type ActionBits = [u64; W];
}

/// Effects under way to one replica, and in a roomy world.
const QUEUE: usize = EFFECTS_UNDER_WAY as usize;
const LONG_QUEUE: usize = MAX_EFFECTS_UNDER_WAY as usize;
/// Words of bits for the actions of two clients and three nodes, and of the largest world.
const FEW_ACTIONS: usize = 5;
const MANY_ACTIONS: usize = MAX_ACTIONS / u64::BITS as usize;

/// One client process or two, and a node without replicas.
pub type Alone<L, M> = Room<L, M, 2, 1, 0, FEW_ACTIONS>;
/// Two processes, and a master with one replica.
pub type Pair<L, M> = Room<L, M, 2, 2, QUEUE, FEW_ACTIONS>;
/// Two processes, and a master with two replicas.
pub type Trio<L, M> = Room<L, M, 2, 3, QUEUE, FEW_ACTIONS>;
/// Many processes, and a node without replicas.
pub type CrowdAlone<L, M> = Room<L, M, { MAX_CLIENTS as usize }, 1, 0, MANY_ACTIONS>;
/// The largest world there is, with the usual room.
pub type Largest<L, M> = Room<L, M, { MAX_CLIENTS as usize }, { MAX_REPLICAS as usize + 1 }, QUEUE, MANY_ACTIONS>;
/// The same with all the room that a scenario may ask for: it serves every size, so that there is one copy more for each
/// network and no more than that.
pub type Roomiest<L, M> = Room<L, M, { MAX_CLIENTS as usize }, { MAX_REPLICAS as usize + 1 }, LONG_QUEUE, MANY_ACTIONS>;
/// A split network with all the room there is.
pub type RoomySplit = Split<{ MAX_RECEIPTS as usize }>;

/// Processes, and several masters, each with a replica or without.
pub type SeveralMasters<L> = Room<
    L,
    Atomic,
    { MAX_CLIENTS_OF_MASTERS as usize },
    { MAX_REPLICAS_OF_MASTERS as usize + 1 },
    QUEUE,
    MANY_ACTIONS,
    { MAX_GROUPS as usize },
>;

/// Work to be done in the layout of a scenario.
pub trait InLayout {
    /// What comes out, the same type for every layout.
    type Output;

    /// Does it.
    fn run<Y: Layout>(self, config: &Config) -> Self::Output;
}

/// Does the work in the smallest layout that holds the scenario's world: for what is done once for each state.
///
/// # Panics
/// The scenario has a split network or several names, and its kind of lock has none; the scenario reader refuses that.
pub fn in_layout<W: InLayout>(config: &Config, work: W) -> W::Output {
    config.lock.with(Smallest { config, work })
}

/// Does the work in the largest layout of the scenario's kind, network and room: for what is done once for each step of a trace,
/// so that there need not be many copies of it.
///
/// # Panics
/// As [`in_layout`].
pub fn in_largest_layout<W: InLayout>(config: &Config, work: W) -> W::Output {
    config.lock.with(OfKind { config, work })
}

struct Smallest<'a, W> {
    config: &'a Config,
    work: W,
}

impl<W: InLayout> WithKind for Smallest<'_, W> {
    type Output = W::Output;

    fn run<L: Lock>(self) -> W::Output {
        let Self { config, work } = self;
        if L::HAS_SEVERAL_MASTERS || !L::HAS_SMALL_WORLDS || config.is_roomy() || config.clients.names > 1 {
            return OfKind { config, work }.run::<L>();
        }
        if L::HAS_SPLIT_WORLDS && config.is_split() {
            return match (config.clients.count, config.nodes()) {
                (..=2, ..=1) => work.run::<Alone<L, Split>>(config),
                (_, _) => work.run::<Largest<L, Split>>(config),
            };
        }
        match (config.clients.count, config.nodes()) {
            (..=2, ..=1) => work.run::<Alone<L, Atomic>>(config),
            (..=2, 2) => work.run::<Pair<L, Atomic>>(config),
            (..=2, _) => work.run::<Trio<L, Atomic>>(config),
            (_, ..=1) => work.run::<CrowdAlone<L, Atomic>>(config),
            (_, _) => work.run::<Largest<L, Atomic>>(config),
        }
    }
}

struct OfKind<'a, W> {
    config: &'a Config,
    work: W,
}

impl<W: InLayout> WithKind for OfKind<'_, W> {
    type Output = W::Output;

    fn run<L: Lock>(self) -> W::Output {
        let Self { config, work } = self;
        // Constants alone decide where they can, so that the compiler makes no copy that is never used.
        if L::HAS_SEVERAL_MASTERS {
            return work.run::<SeveralMasters<L>>(config);
        }
        let has_network = L::HAS_SPLIT_WORLDS || !config.is_split();
        assert!(has_network, "the scenario reader refuses a split network for this kind of lock");
        if L::HAS_PARTS {
            return work.run::<Largest<L::Several, Atomic>>(config);
        }
        if L::MAY_HAVE_NAMES {
            if config.clients.names > 1 {
                // One copy of the engine for a kind: such worlds are few, and their network is atomic.
                return work.run::<Largest<L::Several, Atomic>>(config);
            }
        } else {
            assert!(config.clients.names <= 1, "the scenario reader refuses several names for this kind of lock");
        }
        if L::HAS_SPLIT_WORLDS && config.is_split() {
            return if !L::HAS_SMALL_WORLDS || config.is_roomy() {
                work.run::<Roomiest<L, RoomySplit>>(config)
            } else {
                work.run::<Largest<L, Split>>(config)
            };
        }
        if !L::HAS_SMALL_WORLDS || config.is_roomy() {
            work.run::<Roomiest<L, Atomic>>(config)
        } else {
            work.run::<Largest<L, Atomic>>(config)
        }
    }
}

/// Every client of this layout.
pub(super) fn clients<Y: Layout>() -> impl Iterator<Item = u8> {
    0..u8::try_from(Y::Clients::<u8>::LEN).unwrap_or(u8::MAX)
}

/// Every thread of every client of this layout.
pub(super) fn holders<Y: Layout>() -> impl Iterator<Item = Holder> {
    clients::<Y>().flat_map(|client| (0..MAX_THREADS).map(move |thread| Holder::new(client, thread)))
}
