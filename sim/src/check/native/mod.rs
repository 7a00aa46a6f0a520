//! The native engine: breadth-first, all properties at once, on any number of threads.
//!
//! A layer of states is expanded in blocks, each in three passes that the threads share:
//!
//! ```text
//!   expand   states of the block → fingerprints of their successors, each sent to its shard
//!   sift     shards → the fingerprints that are new, each with its first parent and action
//!   make     the new ones, in the order of parent and action → states of the next layer
//! ```
//!
//! There are many shards, and their number is fixed. Within a shard, candidates are processed in the order of parent
//! and action. So the states found, their order and their parents do not depend on the number of threads: the result is
//! what one thread would find by processing states and actions in order. The first state that breaks a property is
//! therefore at the end of a shortest trace, and it is the same one on every machine.
//!
//! Stored for every state: its fingerprint, its parent, the action that led to it. The state itself is stored only
//! while it waits in a layer. It is generated again from its parent, which is cheaper than carrying every successor to
//! its shard.
//!
//! [`rules`] is what one thread does with its share of a block, [`shards`] the table and what is on its way to it,
//! [`origins`] the way back.

mod options;
mod origins;
mod rules;
mod shards;

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::{Action, Config, Layout, Prefilter, Property, World};

pub use self::options::Options;
use self::options::{BLOCK, CHUNK, SHARDS};
use self::origins::{Origin, Origins};
use self::rules::{Broken, Reductions, Rules, note, numbered, starts};
use self::shards::{Batch, Shard, join, shard_of, split};
use super::coverage::Coverage;
use super::fingerprint::{Fingerprint, Recent};
use super::limits::{Limits, Stopped};
use super::search::Search;
use super::worker_pool::{WorkerPool, lock};

/// How many new states a state leads to, roughly: near a limit on states, blocks are as small as this suggests.
const NEW_STATES_OF_ONE: usize = 8;
/// Pieces into which the ordering work is split, for each thread.
const PARTS_A_THREAD: usize = 4;

/// Visits every state.
pub fn search<Y: Layout, F: Fingerprint>(
    config: &Config,
    properties: &[Property],
    options: Options,
    limits: &Limits<'_>,
) -> Search {
    let prefilter = Prefilter::new(config);
    let search_as = |options| {
        let reductions = Reductions::of(config, options);
        let actions = prefilter.actions();
        let rules = Rules { config, prefilter: &prefilter, actions, properties, options, reductions };
        Searching::<Y, F>::new(rules).run(limits)
    };
    // What was found among normal forms could not be executed in full worlds: only these count.
    search_as(options).unwrap_or_else(|| {
        let of_full_worlds = Options { normal_forms: false, ..options };
        let found = search_as(of_full_worlds).expect("a witness of full worlds is executed as it was found");
        Search { left_normal_forms: options.normal_forms, ..found }
    })
}

struct Searching<'a, Y: Layout, F> {
    rules: Rules<'a, Y>,
    pool: WorkerPool,
    shards: Vec<Mutex<Shard<F>>>,
    origins: Origins,
    coverage: Coverage,
    generated: u64,
    broken: Vec<Option<Broken>>,
    is_broken_at_once: Vec<bool>,
    layer: Layer<Y>,
    /// The number of the first state of the layer.
    first: usize,
    /// One batch for each chunk of a block.
    batches: Vec<Mutex<Batch<F>>>,
    /// What each thread last sent to the shards.
    recent: Vec<Mutex<Recent<F>>>,
    /// Buffers of the ordering work: for each part, and for the whole block.
    parts: Vec<Mutex<Vec<u32>>>,
    found: Vec<u32>,
    /// Emptied pieces of layers: their memory is reused.
    spare: Mutex<Vec<Vec<World<Y>>>>,
}

/// States that wait to be expanded, in order. They are in pieces that are dropped as soon as they are expanded: a layer
/// is the largest structure in memory, and a single array would be copied whenever it grows, and then exist twice.
type Layer<Y> = VecDeque<Vec<World<Y>>>;

impl<'a, Y: Layout, F: Fingerprint> Searching<'a, Y, F> {
    fn new(rules: Rules<'a, Y>) -> Self {
        let initial = rules.represent(rules.normal(World::<Y>::initial(rules.config)).0);
        let mut searching = Self {
            rules,
            pool: WorkerPool::of(rules.options.threads),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            origins: Origins::of(rules.actions.len()),
            coverage: Coverage::none(rules.config),
            generated: 1,
            broken: vec![None; rules.properties.len()],
            is_broken_at_once: rules.properties.iter().map(|property| !property.holds(&initial)).collect(),
            layer: VecDeque::from([vec![initial]]),
            first: 0,
            batches: Vec::new(),
            recent: iter::repeat_with(Mutex::default).take(rules.options.threads.max(1)).collect(),
            parts: Vec::new(),
            found: Vec::new(),
            spare: Mutex::default(),
        };
        let fingerprint = F::of(&initial);
        lock(&searching.shards[shard_of(fingerprint)]).table.insert(fingerprint);
        searching.origins.push(Origin { parent: 0, action: 0 });
        searching
    }

    /// `None`: a witness that was found among normal forms cannot be executed.
    fn run(mut self, limits: &Limits<'_>) -> Option<Search> {
        let started = Instant::now();
        let mut stopped = None;
        let mut depth = 0;
        let mut peak_bytes = 0;
        'search: while !self.layer.is_empty() {
            let mut layer = mem::take(&mut self.layer);
            let mut next = Layer::new();
            let mut waiting: usize = layer.iter().map(Vec::len).sum();
            let mut made = 0;
            while !layer.is_empty() {
                let states = self.origins.len() as u64;
                let bytes = self.bytes() + (waiting + made) * size_of::<World<Y>>();
                peak_bytes = peak_bytes.max(bytes);
                limits.progress.store(states, Ordering::Relaxed);
                stopped = limits.exceeded(states, bytes as u64, started);
                // Tables grow to twice their size at once, most of them in the same block.
                let growth = self.growth();
                if stopped.is_none() && growth > 0 {
                    stopped = limits.lacks_memory(growth as u64);
                }
                // State numbers are 32 bits wide, and a block may add some beyond the limit.
                if stopped.is_none() && states > u64::from(u32::MAX) - (BLOCK as u64) * 256 {
                    stopped = Some(Stopped::TableFull);
                }
                // The states of a block are checked in order, so the first violation that is met is the final one.
                if stopped.is_none() && self.is_found() {
                    stopped = Some(Stopped::Found);
                }
                if stopped.is_some() {
                    break 'search;
                }
                let block: Vec<_> = layer.drain(..layer.len().min(pieces::<Y>(limits, states))).collect();
                let expanded: usize = block.iter().map(Vec::len).sum();
                made += self.expand(block, depth, &mut next);
                waiting -= expanded;
                self.first += expanded;
            }
            depth += u32::from(!next.is_empty());
            self.layer = next;
        }
        limits.progress.store(self.origins.len() as u64, Ordering::Relaxed);
        let witnesses = (0..self.broken.len()).map(|property| self.witness(property)).collect::<Option<_>>()?;
        Some(Search {
            states: self.origins.len() as u64,
            generated: self.generated,
            depth,
            stopped,
            coverage: self.coverage,
            witnesses,
            left_normal_forms: false,
            peak_bytes: Some(peak_bytes as u64),
        })
    }

    /// Whether the property that the search is for is broken.
    fn is_found(&self) -> bool {
        let Rules { properties, options, .. } = self.rules;
        let is_wanted = |property: &Property| options.until == Some(*property);
        let is_broken = |index: usize| self.is_broken_at_once[index] || self.broken[index].is_some();
        properties.iter().position(is_wanted).is_some_and(is_broken)
    }

    /// The bytes that the tables may take at once in the next block.
    fn growth(&self) -> usize {
        let new = BLOCK * NEW_STATES_OF_ONE / SHARDS;
        self.shards.iter().map(|shard| lock(shard).table.growth(new)).sum()
    }

    fn bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(|shard| lock(shard).table.bytes()).sum();
        let batches: usize = self.batches.iter().map(|batch| lock(batch).bytes()).sum();
        let spare: usize = lock(&self.spare).iter().map(|piece| piece.capacity() * size_of::<World<Y>>()).sum();
        tables + batches + spare + self.origins.bytes()
    }

    /// Finds the successors of a block, adds the new ones to the next layer, and returns their number.
    fn expand(&mut self, block: Vec<Vec<World<Y>>>, layer: u32, next: &mut Layer<Y>) -> usize {
        let rules = self.rules;
        let pool = self.pool.for_states(block.len() * CHUNK);
        let first = u32::try_from(self.first).unwrap_or(u32::MAX);

        // Expand.
        while self.batches.len() < block.len() {
            self.batches.push(Mutex::new(Batch::new(rules.config)));
        }
        let batches = &self.batches[..block.len()];
        let recent = &self.recent;
        let at = self.first;
        pool.share(block.len(), |thread, number| {
            let mut recent = lock(&recent[thread]);
            recent.begin(at + number);
            rules.expand(&block[number], number, &mut lock(&batches[number]), &mut recent);
        });

        // Sift. Each shard receives its candidates in the order of parent and action.
        let shards = &self.shards;
        let expanded: Vec<_> = self.batches[..block.len()].iter_mut().map(|batch| &*exclusive(batch)).collect();
        pool.share(SHARDS, |_, number| lock(&shards[number]).sift(number, &expanded));
        for Batch { coverage, .. } in expanded {
            self.generated += coverage.steps();
            self.coverage.add(coverage);
        }

        // Order. The findings of each shard are sorted, but not the findings of all shards together.
        let sifted: Vec<_> = self.shards.iter_mut().map(|shard| &exclusive(shard).found).collect();
        let parts = pool.threads() * PARTS_A_THREAD;
        self.parts.resize_with(parts.max(self.parts.len()), Mutex::default);
        let sorted = &self.parts;
        pool.share(parts, |_, part| {
            let bound = |part: usize| join(block.len() * CHUNK * part / parts, 0);
            let (from, to) = (bound(part), bound(part + 1));
            let of_part = |found: &Vec<u32>| {
                let at = |bound| found.partition_point(|&order| order < bound);
                at(from)..at(to)
            };
            let mut orders = lock(&sorted[part]);
            orders.clear();
            for found in &sifted {
                orders.extend_from_slice(&found[of_part(found)]);
            }
            orders.sort_unstable();
        });
        self.found.clear();
        for part in &mut self.parts[..parts] {
            self.found.extend_from_slice(exclusive(part));
        }
        let found = &self.found;

        // Make. Every piece except a block's last is full, and a place determines its piece.
        let pieces: Vec<&[u32]> = found.chunks(CHUNK).collect();
        let starts = starts(&block);
        let spare = &self.spare;
        let made = pool.share(pieces.len(), |_, number| {
            let piece = lock(spare).pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
            rules.make(&block, pieces[number], (first, &starts), layer, piece)
        });
        for (worlds, seen) in made {
            note(&mut self.coverage, &mut self.broken, seen);
            append(next, worlds, exclusive(&mut self.spare));
        }
        for &order in found {
            let (place, action) = split(order);
            self.origins.push(Origin { parent: numbered(first, &starts, place), action });
        }
        // Keep no more spare pieces than the successors of a block will need.
        let spare = exclusive(&mut self.spare);
        spare.extend(block.into_iter().take((BLOCK / CHUNK).saturating_sub(spare.len())).map(|mut piece| {
            piece.clear();
            piece
        }));
        found.len()
    }

    /// The actions that lead to the state that breaks a property, found by following the parents back to the first
    /// state; `Some(None)`: no state does. `None`: they cannot be executed.
    #[expect(clippy::option_option, reason = "whether there is a witness, and whether it can be told")]
    fn witness(&self, property: usize) -> Option<Option<Vec<Action>>> {
        if self.is_broken_at_once[property] {
            return Some(Some(Vec::new()));
        }
        let Some(broken) = self.broken[property] else { return Some(None) };
        let mut taken = vec![broken.action];
        let mut at = broken.parent;
        while at != 0 {
            let origin = self.origins.get(at);
            taken.push(origin.action);
            at = origin.parent;
        }
        taken.reverse();
        self.rules.told(&taken, broken.ticks).map(Some)
    }
}

/// How many chunks to expand before the limits are checked again. The size of blocks does not change what is found.
fn pieces<Y: Layout>(limits: &Limits<'_>, states: u64) -> usize {
    let most = BLOCK / CHUNK;
    let that_fit = |new_states: u64| {
        let chunks = usize::try_from(new_states).map_or(usize::MAX, |states| states / (CHUNK * NEW_STATES_OF_ONE));
        chunks.clamp(1, most)
    };
    let by_number = limits.max_states.map_or(most, |limit| that_fit(limit.saturating_sub(states)));
    by_number.min(that_fit(limits.room() / size_of::<World<Y>>() as u64))
}

fn exclusive<T>(shared: &mut Mutex<T>) -> &mut T {
    shared.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds states at the end, in pieces of a chunk at most.
fn append<Y: Layout>(layer: &mut Layer<Y>, mut worlds: Vec<World<Y>>, spare: &mut Vec<Vec<World<Y>>>) {
    // A short piece is filled up first: with many small pieces, threads would spend their time on overhead.
    let room = layer.back().map_or(0, |last| CHUNK - last.len());
    if room >= worlds.len()
        && let Some(last) = layer.back_mut()
    {
        last.append(&mut worlds);
        spare.push(worlds);
    } else {
        layer.push_back(worlds);
    }
}
