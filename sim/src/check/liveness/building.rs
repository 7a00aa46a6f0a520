//! Builds the complete graph, on any number of threads.
//!
//! A layer of states is expanded in blocks, each in five passes; the threads share all passes but one:
//!
//! ```text
//!   expand   states of the block → identities of their successors, each sent to its shard
//!   sift     shards → where each of them is, or will be, among the states of the shard
//!   number   one thread, in the order of state and successor: each new one gets the next number
//!   make     the new ones, in the order of their numbers → states of the next layer, and the properties' marks on them
//!   join     places in shards → numbers: the edges
//! ```
//!
//! Within a shard, successors are processed in the order of state and successor. So which of them are new, and their
//! numbers, do not depend on the number of threads: the result is what one thread would find by processing them in
//! order.

use std::sync::Mutex;

use super::graph::{Graph, Marks, Space, StateOrigin};
use crate::check::fingerprint::roomy;
use crate::check::limits::Stopped;
use crate::check::worker_pool::{WorkerPool, lock};

/// Shards of the numbers; many more than threads, so that the work is shared evenly. A power of two.
const SHARDS: usize = 64;
/// States expanded between two checks of the limits.
const BLOCK: usize = 1 << 16;
/// States that a thread processes at once.
const CHUNK: usize = 1 << 9;
/// Successors whose slots are fetched together.
const WARMED: usize = 32;
/// How many new states a state leads to, roughly, and the bytes of each beside the state itself: near a limit of memory,
/// blocks are as small as this suggests.
const NEW_STATES_OF_ONE: usize = 8;
const BYTES_OF_NEW: usize = 64;
/// Most successors of one state: state numbers are 32 bits wide, and a block must not exceed them.
const MOST_SUCCESSORS: usize = 1 << 8;

/// A graph under construction.
pub(super) struct Building<'a, S: Space> {
    space: &'a S,
    threads: usize,
    graph: Graph,
    shards: Vec<Mutex<Numbers>>,
    /// By shard, the number of each state in the order in which the shard first saw them.
    numbers: Vec<Vec<u32>>,
    /// States that wait to be expanded, in pieces: a single array would be copied whenever it grows.
    layer: Vec<Vec<S::State>>,
}

/// The successors of a chunk of states.
struct Expanded {
    /// The action and the shard of each successor, in the order of state and successor.
    successors: Vec<(u16, u8)>,
    /// Where the successors of each state end.
    ends: Vec<usize>,
    /// By shard, the identities of the successors.
    identities: Vec<Vec<u64>>,
}

/// A new state: its position among the successors of the block, and the action that leads to it.
#[derive(Clone, Copy)]
struct New {
    piece: u32,
    offset: u16,
    nth: u16,
    action: u16,
}

/// The edges of a chunk of states.
struct Edges {
    targets: Vec<u32>,
    actions: Vec<u16>,
    /// Where the edges of each state end.
    ends: Vec<usize>,
}

impl Graph {
    /// Visits every state, on this many threads. The states found and their order do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// The reason why it stopped early.
    pub fn of<S: Space>(space: &S, threads: usize) -> Result<Self, Stopped> {
        Building::new(space, threads).whole()
    }
}

impl<'a, S: Space> Building<'a, S> {
    pub(super) fn new(space: &'a S, threads: usize) -> Self {
        let initial = space.initial();
        let mut building = Self {
            space,
            threads,
            graph: Graph::starting(space.marks(&initial), space.orbit(&initial), space.fairness()),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            numbers: vec![Vec::new(); SHARDS],
            layer: vec![vec![initial]],
        };
        let identity = space.identity(&initial);
        let shard = shard_of(identity);
        lock(&building.shards[shard]).place(identity);
        building.numbers[shard].push(0);
        building
    }

    /// Visits every state.
    pub(super) fn whole(mut self) -> Result<Graph, Stopped> {
        let pool = WorkerPool::of(self.threads);
        let mut first = 0;
        while !self.layer.is_empty() {
            self.graph.layers.push(first);
            let layer = std::mem::take(&mut self.layer);
            let waiting: usize = layer.iter().map(Vec::len).sum();
            let mut layer = layer.as_slice();
            while !layer.is_empty() {
                let states = self.graph.states();
                if let Some(stopped) = self.space.stops(states, self.bytes(waiting), self.growth()) {
                    return Err(stopped);
                }
                if states > u32::MAX as usize - BLOCK * MOST_SUCCESSORS {
                    return Err(Stopped::TableFull);
                }
                let (block, rest) = layer.split_at(self.pieces().min(layer.len()));
                first = self.expand(pool.for_states(block.len() * CHUNK), block, first);
                layer = rest;
            }
        }
        Ok(self.graph)
    }

    /// How many chunks to expand before the limits are checked again. The size of blocks does not change what is found.
    fn pieces(&self) -> usize {
        let of_chunk = CHUNK * NEW_STATES_OF_ONE * (size_of::<S::State>() + BYTES_OF_NEW);
        let that_fit = usize::try_from(self.space.room()).map_or(usize::MAX, |room| room / of_chunk);
        that_fit.clamp(1, BLOCK / CHUNK)
    }

    /// The bytes that the tables may take at once in the next block.
    fn growth(&self) -> usize {
        let new = BLOCK * NEW_STATES_OF_ONE / SHARDS;
        self.shards.iter().map(|shard| lock(shard).growth(new)).sum()
    }

    fn bytes(&self, waiting: usize) -> usize {
        let shards: usize = self.shards.iter().map(|shard| lock(shard).bytes()).sum();
        let numbers = self.graph.states() * size_of::<u32>();
        let next: usize = self.layer.iter().map(Vec::len).sum();
        shards + numbers + self.graph.bytes() + (waiting + next) * size_of::<S::State>()
    }

    /// Adds the edges of a block of states, and the new states to the next layer. `first` is the number of the block's
    /// first state; the result is the number of the first state after the block.
    fn expand(&mut self, pool: &WorkerPool, block: &[Vec<S::State>], first: u32) -> u32 {
        let space = self.space;

        let expanded = pool.share(block.len(), |_, piece| Expanded::of(space, &block[piece]));

        let shards = &self.shards;
        let sifted = pool.share(SHARDS, |_, shard| {
            let mut table = lock(&shards[shard]);
            expanded.iter().map(|piece| table.places(&piece.identities[shard])).collect::<Vec<_>>()
        });

        let places = |piece: usize| sifted.iter().map(|shard| shard[piece].as_slice()).collect::<Vec<_>>();
        let mut new = Vec::new();
        let mut firsts = vec![first];
        for (number, piece) in expanded.iter().enumerate() {
            let first = firsts[number];
            self.number(piece, number, first, &places(number), &mut new);
            firsts.push(first + u32::try_from(piece.ends.len()).unwrap_or(u32::MAX));
        }

        let pieces: Vec<&[New]> = new.chunks(CHUNK).collect();
        let state = |new: &New| {
            let parent = &block[new.piece as usize][usize::from(new.offset)];
            space.nth_successor(parent, new.action, usize::from(new.nth))
        };
        let has_orbits = !self.graph.orbits.is_empty();
        let made = pool.share(pieces.len(), |_, piece| {
            let states: Vec<_> = pieces[piece].iter().map(state).collect();
            let marks: Vec<_> = states.iter().map(|state| space.marks(state)).collect();
            // Where nothing is owed nobody asks.
            let orbit = |state, marks| if space.keeps_edges(marks) { space.orbit(state) } else { Some(0) };
            let of_states = states.iter().zip(&marks).filter(|_| has_orbits);
            let orbits: Vec<_> = of_states.filter_map(|(state, marks)| orbit(state, *marks)).collect();
            (states, marks, orbits)
        });

        let (graph, numbers) = (&self.graph, &self.numbers);
        let joined = pool.share(expanded.len(), |_, piece| {
            let marks = &graph.marks[firsts[piece] as usize..];
            expanded[piece].edges(space, &places(piece), numbers, marks)
        });

        let graph = &mut self.graph;
        for Edges { targets, actions, ends } in joined {
            let before = graph.targets.len();
            graph.starts.extend(ends.iter().map(|end| before + end));
            graph.targets.extend(targets);
            graph.actions.extend(actions);
        }
        for (states, marks, orbits) in made {
            self.layer.push(states);
            graph.marks.extend(marks);
            graph.orbits.extend(orbits);
        }
        firsts.last().copied().unwrap_or(first)
    }

    /// Numbers the new states among the successors of a piece of the block; `first` is the number of the piece's first
    /// state.
    fn number(&mut self, piece: &Expanded, number: usize, first: u32, places: &[&[u32]], new: &mut Vec<New>) {
        let graph = &mut self.graph;
        let piece_number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut met = [0; SHARDS];
        for (parent, (offset, successors)) in (first..).zip((0..).zip(piece.by_state())) {
            for (nth, &(action, shard)) in (0..).zip(successors) {
                let shard = usize::from(shard);
                let place = places[shard][met[shard]] as usize;
                met[shard] += 1;
                let numbers = &mut self.numbers[shard];
                if place == numbers.len() {
                    numbers.push(u32::try_from(graph.origins.len()).unwrap_or(u32::MAX));
                    graph.origins.push(StateOrigin { parent, action });
                    new.push(New { piece: piece_number, offset, nth, action });
                }
            }
        }
        graph.generated += piece.successors.len() as u64;
    }
}

impl Expanded {
    fn of<S: Space>(space: &S, chunk: &[S::State]) -> Self {
        let mut found = Self {
            // A rough estimate of the number of successors: a few for each state.
            successors: Vec::with_capacity(chunk.len() * 8),
            ends: Vec::with_capacity(chunk.len()),
            identities: (0..SHARDS).map(|_| Vec::with_capacity(chunk.len() * 8 / SHARDS + 8)).collect(),
        };
        for state in chunk {
            space.each_successor(state, |action, next| {
                let identity = space.identity(&next);
                let shard = shard_of(identity);
                found.identities[shard].push(identity);
                #[expect(clippy::cast_possible_truncation, reason = "shards are few")]
                found.successors.push((action, shard as u8));
            });
            found.ends.push(found.successors.len());
        }
        found
    }

    /// The successors of each state.
    fn by_state(&self) -> impl Iterator<Item = &[(u16, u8)]> {
        self.ends.iter().scan(0, |start, &end| {
            let successors = &self.successors[*start..end];
            *start = end;
            Some(successors)
        })
    }

    /// The edges of those states whose edges are kept.
    fn edges(&self, space: &impl Space, places: &[&[u32]], numbers: &[Vec<u32>], marks: &[Marks]) -> Edges {
        let mut edges = Edges { targets: Vec::new(), actions: Vec::new(), ends: Vec::with_capacity(self.ends.len()) };
        let mut met = [0; SHARDS];
        for (successors, &marks) in self.by_state().zip(marks) {
            for &(action, shard) in successors {
                let shard = usize::from(shard);
                if space.keeps_edges(marks) {
                    edges.targets.push(numbers[shard][places[shard][met[shard]] as usize]);
                    edges.actions.push(action);
                }
                met[shard] += 1;
            }
            edges.ends.push(edges.targets.len());
        }
        edges
    }
}

/// The shard is chosen by the high bits, because the low ones choose the slot.
fn shard_of(identity: u64) -> usize {
    const { assert!(SHARDS <= 1 << u8::BITS, "a shard is a byte") };
    #[expect(clippy::cast_possible_truncation, reason = "six bits")]
    let shard = (identity >> (u64::BITS - SHARDS.trailing_zeros())) as usize;
    shard
}

/// The states that one shard has seen, each with its place among them: open addressing, at most ¾ full.
struct Numbers {
    slots: Vec<(u64, u32)>,
    len: u32,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1 << 4], len: 0 }
    }
}

impl Numbers {
    /// The place of each of these identities; a new one gets the next place.
    fn places(&mut self, identities: &[u64]) -> Vec<u32> {
        let mut places = Vec::with_capacity(identities.len());
        for some in identities.chunks(WARMED) {
            // Read all at once: memory serves many reads in the time of one.
            for &identity in some {
                std::hint::black_box(self.slots[slot_of(identity, self.slots.len() - 1)].0);
            }
            places.extend(some.iter().map(|&identity| self.place(identity)));
        }
        places
    }

    fn place(&mut self, identity: u64) -> u32 {
        if self.len as usize * 4 >= self.slots.len() * 3 {
            let mut slots = roomy((0, 0), self.slots.len() * 2);
            for &(identity, place) in self.slots.iter().filter(|(identity, _)| *identity != 0) {
                *slot(&mut slots, identity) = (identity, place);
            }
            self.slots = slots;
        }
        let slot = slot(&mut self.slots, identity);
        if slot.0 == 0 {
            *slot = (identity, self.len);
            self.len += 1;
        }
        slot.1
    }

    fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u64, u32)>()
    }

    /// The bytes that it takes at once if this many more states make it grow; 0: they do not.
    fn growth(&self, new: usize) -> usize {
        let grows = (self.len as usize + new) * 4 >= self.slots.len() * 3;
        if grows { self.bytes() * 2 } else { 0 }
    }
}

fn slot_of(identity: u64, mask: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
    let slot = identity as usize & mask;
    slot
}

/// The slot where the state is, or where it would be inserted. There is always an empty slot.
fn slot(slots: &mut [(u64, u32)], identity: u64) -> &mut (u64, u32) {
    let mask = slots.len() - 1;
    let mut at = slot_of(identity, mask);
    while slots[at].0 != 0 && slots[at].0 != identity {
        at = (at + 1) & mask;
    }
    &mut slots[at]
}
