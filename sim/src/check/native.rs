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

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::{Action, Config, Happenings, Layout, Prefilter, Property, Reply, Step, World, step, step_into};

use super::coverage::{Coverage, Kinds};
use super::fingerprint::{Fingerprint, Recent, Table};
use super::limits::{Limits, Stopped};
use super::search::Search;
use super::worker_pool::{WorkerPool, lock};

/// Shards of the table; many more than threads, so that the work is shared evenly. A power of two.
const SHARDS: usize = 64;
/// States expanded between two checks of the limits. Bounds the number of candidates on their way to the shards.
const BLOCK: usize = 1 << 14;
/// States that a thread processes at once.
const CHUNK: usize = 1 << 9;
/// Candidates whose slots are fetched together.
const WARMED: usize = 32;
/// Pieces into which the ordering work is split, for each thread.
const PARTS_A_THREAD: usize = 4;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many threads search.
    pub threads: usize,
    /// Whether worlds that differ only in the order of their clients are treated as one.
    pub symmetry: bool,
    /// Whether a state in which only time can advance is passed through and not kept.
    ///
    /// Sound for every verdict: such a state has one successor, it is checked in passing like any other, and whatever
    /// can be reached from it can be reached from where the passage ends. Only counts and depths become smaller.
    pub skip_idle: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, symmetry: false, skip_idle: false }
    }
}

impl Options {
    /// Whether no reduction applies, so that every world is kept.
    const fn keeps_all(self) -> bool {
        !self.symmetry && !self.skip_idle
    }
}

/// Visits every state.
pub fn search<Y: Layout, F: Fingerprint>(
    config: &Config,
    properties: &[Property],
    options: Options,
    limits: &Limits<'_>,
) -> Search {
    let prefilter = Prefilter::new(config);
    let rules = Rules { config, prefilter: &prefilter, actions: prefilter.actions(), properties, options };
    Searching::<Y, F>::new(rules).run(limits)
}

/// What does not change during a search.
#[derive(Clone, Copy)]
struct Rules<'a, Y: Layout> {
    config: &'a Config,
    prefilter: &'a Prefilter<Y>,
    actions: &'a [Action],
    properties: &'a [Property],
    options: Options,
}

/// A successor on its way to its shard: its fingerprint, and its parent's place in the block combined with the action
/// in one number. Packed, because there are several for each state.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Candidate<F> {
    fingerprint: F,
    order: u32,
}

/// The candidates of a chunk, by shard. Kept from block to block, to reuse its memory.
struct Batch<F> {
    by_shard: Vec<Vec<Candidate<F>>>,
    coverage: Coverage,
}

/// One shard's part of the fingerprints, and what it found in the last block.
struct Shard<F> {
    table: Table<F>,
    found: Vec<u32>,
}

impl<F: Fingerprint> Default for Shard<F> {
    fn default() -> Self {
        Self { table: Table::default(), found: Vec::new() }
    }
}

/// How a state was first reached.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    action: u16,
}

/// The packed form in memory: there is one for each state, and few scenarios have more actions than a byte can number.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct PackedOrigin {
    parent: u32,
    low: u8,
}

/// A state that breaks a property: reached from `parent` by `action`, then by this many ticks of a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Broken {
    layer: u32,
    parent: u32,
    action: u16,
    ticks: u16,
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

/// Parents and actions by number, in pieces: a single array would be copied whenever it grows, and then exist twice.
struct Origins {
    pieces: Vec<Vec<PackedOrigin>>,
    /// The high bytes of the action numbers, in pieces as well; `None`: one byte is enough for each.
    high: Option<Vec<Vec<u8>>>,
}

impl Origins {
    const PIECE: usize = 1 << 16;

    /// An empty store for a scenario with this many actions.
    fn of(actions: usize) -> Self {
        Self { pieces: Vec::new(), high: (actions > 1 << u8::BITS).then(Vec::new) }
    }

    fn push(&mut self, Origin { parent, action }: Origin) {
        let [low, high] = action.to_le_bytes();
        push_in_pieces(&mut self.pieces, PackedOrigin { parent, low });
        if let Some(pieces) = &mut self.high {
            push_in_pieces(pieces, high);
        }
    }

    fn len(&self) -> usize {
        self.pieces.len().saturating_sub(1) * Self::PIECE + self.pieces.last().map_or(0, Vec::len)
    }

    fn get(&self, number: u32) -> Origin {
        let number = number as usize;
        let (piece, place) = (number / Self::PIECE, number % Self::PIECE);
        let PackedOrigin { parent, low } = self.pieces[piece][place];
        let high = self.high.as_ref().map_or(0, |pieces| pieces[piece][place]);
        Origin { parent, action: u16::from_le_bytes([low, high]) }
    }

    fn bytes(&self) -> usize {
        let packed: usize = self.pieces.iter().map(|piece| piece.capacity() * size_of::<PackedOrigin>()).sum();
        packed + self.high.iter().flatten().map(Vec::capacity).sum::<usize>()
    }
}

/// Adds one entry at the end, in pieces of [`Origins::PIECE`].
fn push_in_pieces<T>(pieces: &mut Vec<Vec<T>>, value: T) {
    match pieces.last_mut() {
        Some(piece) if piece.len() < Origins::PIECE => piece.push(value),
        _ => pieces.push(vec![value]),
    }
}

/// What one thread has found in the states that it generated.
struct Seen {
    coverage: Coverage,
    broken: Vec<Option<Broken>>,
}

impl<'a, Y: Layout, F: Fingerprint> Searching<'a, Y, F> {
    fn new(rules: Rules<'a, Y>) -> Self {
        let initial = rules.represent(World::<Y>::initial(rules.config));
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

    fn run(mut self, limits: &Limits<'_>) -> Search {
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
                // State numbers are 32 bits wide, and a block may add some beyond the limit.
                if stopped.is_none() && states > u64::from(u32::MAX) - (BLOCK as u64) * 256 {
                    stopped = Some(Stopped::TableFull);
                }
                if stopped.is_some() {
                    break 'search;
                }
                let block: Vec<_> = layer.drain(..layer.len().min(BLOCK / CHUNK)).collect();
                let expanded: usize = block.iter().map(Vec::len).sum();
                made += self.expand(block, depth, &mut next);
                waiting -= expanded;
                self.first += expanded;
            }
            depth += u32::from(!next.is_empty());
            self.layer = next;
        }
        limits.progress.store(self.origins.len() as u64, Ordering::Relaxed);
        let witnesses = (0..self.broken.len()).map(|property| self.witness(property)).collect();
        Search {
            states: self.origins.len() as u64,
            generated: self.generated,
            depth,
            stopped,
            coverage: self.coverage,
            witnesses,
            peak_bytes: Some(peak_bytes as u64),
        }
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
    /// state.
    fn witness(&self, property: usize) -> Option<Vec<Action>> {
        if self.is_broken_at_once[property] {
            return Some(Vec::new());
        }
        let broken = self.broken[property]?;
        let mut taken = vec![broken.action];
        let mut at = broken.parent;
        while at != 0 {
            let origin = self.origins.get(at);
            taken.push(origin.action);
            at = origin.parent;
        }
        taken.reverse();
        Some(self.rules.told(&taken, broken.ticks))
    }
}

impl<Y: Layout> Rules<'_, Y> {
    /// The representative of this world under client symmetry.
    fn represent(&self, world: World<Y>) -> World<Y> {
        if self.options.symmetry { world.canonical(self.config) } else { world }
    }

    /// The successors of some states, by shard.
    fn expand<F: Fingerprint>(&self, chunk: &[World<Y>], number: usize, batch: &mut Batch<F>, recent: &mut Recent<F>) {
        let Batch { by_shard, coverage } = batch;
        by_shard.iter_mut().for_each(Vec::clear);
        *coverage = Coverage::none(self.config);
        let Some(&any) = chunk.first() else { return };
        // Two steps are used alternately: reading the words of a world just after it was written byte by byte is slow.
        let mut steps = [Step { world: any, reply: Reply::Done, happenings: Happenings::NONE }; 2];
        let mut turn = false;
        let mut made: Option<u32> = None;
        let mut send = |next: &Step<Y>, order: u32| {
            let fingerprint = if self.options.keeps_all() {
                F::of(&next.world)
            } else {
                F::of(&self.represent(self.pass_idle(next.world, |_, _, _| ())))
            };
            if !recent.meet(fingerprint) {
                by_shard[shard_of(fingerprint)].push(Candidate { fingerprint, order });
            }
        };
        for (place, world) in (number * CHUNK..).zip(chunk) {
            let mut kinds = Kinds::default();
            self.prefilter.each_possible(world, |number, action| {
                let [one, other] = &mut steps;
                let (next, last) = if turn { (one, other) } else { (other, one) };
                if !step_into(self.config, world, action, next) {
                    return;
                }
                kinds.insert(action.kind());
                coverage.note(action.kind(), next.reply, next.happenings);
                if let Some(order) = made.replace(join(place, number)) {
                    send(last, order);
                }
                turn = !turn;
            });
            coverage.note_enabled(kinds);
        }
        if let Some(order) = made {
            send(&steps[usize::from(turn)], order);
        }
    }

    /// Generates and checks the worlds of new candidates. A block is identified by its first state's number and where
    /// its pieces start.
    fn make(
        &self,
        block: &[Vec<World<Y>>],
        orders: &[u32],
        (first, starts): (u32, &[u32]),
        layer: u32,
        mut worlds: Vec<World<Y>>,
    ) -> (Vec<World<Y>>, Seen) {
        let mut seen = Seen { coverage: Coverage::none(self.config), broken: vec![None; self.properties.len()] };
        let Some(&any) = block.first().and_then(|piece| piece.first()) else { return (worlds, seen) };
        let mut step = Step { world: any, reply: Reply::Done, happenings: Happenings::NONE };
        for &order in orders {
            let (place, action) = split(order);
            let mut at = Broken { layer, parent: numbered(first, starts, place), action, ticks: 0 };
            let parent = &block[place / CHUNK][place % CHUNK];
            step_into(self.config, parent, self.actions[usize::from(action)], &mut step);
            seen.look(self.properties, &step.world, at);
            if self.options.keeps_all() {
                worlds.push(step.world);
                continue;
            }
            let end = self.pass_idle(step.world, |world, ticks, happenings| {
                at.ticks = ticks;
                seen.coverage.note_tick_in_passing(happenings);
                seen.look(self.properties, world, at);
            });
            worlds.push(self.represent(end));
        }
        (worlds, seen)
    }

    /// Passes through states in which only time can advance, and reports each state that it reaches, with the number of
    /// ticks it took.
    fn pass_idle(&self, mut world: World<Y>, mut show: impl FnMut(&World<Y>, u16, Happenings)) -> World<Y> {
        if !self.options.skip_idle {
            return world;
        }
        for ticks in 1.. {
            let Some((next, happenings)) = self.only_tick(&world) else { break };
            show(&next, ticks, happenings);
            // If a tick leaves the state unchanged, further ticks will too.
            if next == world {
                break;
            }
            world = next;
        }
        world
    }

    /// The state after a tick, if nothing else can happen.
    fn only_tick(&self, world: &World<Y>) -> Option<(World<Y>, Happenings)> {
        let ticked = step(self.config, world, Action::Tick)?;
        let is_other = |action: &&Action| **action != Action::Tick && step(self.config, world, **action).is_some();
        self.actions.iter().find(is_other).is_none().then_some((ticked.world, ticked.happenings))
    }

    fn successor(&self, world: &World<Y>, action: Action) -> World<Y> {
        step(self.config, world, action).map_or(*world, |next| next.world)
    }

    /// The actions of a witness as they can be executed from the first state, passages written out.
    ///
    /// With symmetry, a recorded action belongs to the representative of the real world, in which clients may have
    /// other names. The real action is the first that leads to a world with the right representative.
    fn told(&self, taken: &[u16], last_ticks: u16) -> Vec<Action> {
        let mut real = World::<Y>::initial(self.config);
        let mut standing = self.represent(real);
        let mut told = Vec::with_capacity(taken.len());
        for (index, &action) in taken.iter().enumerate() {
            let target = self.represent(self.successor(&standing, self.actions[usize::from(action)]));
            let leads_there = |&&action: &&Action| {
                step(self.config, &real, action).is_some_and(|next| self.represent(next.world) == target)
            };
            let named = self.actions[usize::from(action)];
            let real_action =
                if self.options.symmetry { self.actions.iter().find(leads_there).copied() } else { Some(named) };
            let real_action = real_action.unwrap_or(named);
            told.push(real_action);
            real = self.successor(&real, real_action);
            let ticks = if index + 1 == taken.len() { last_ticks } else { self.ticks_of_passage(real) };
            for _ in 0..ticks {
                told.push(Action::Tick);
                real = self.successor(&real, Action::Tick);
            }
            standing = self.represent(real);
        }
        told
    }

    fn ticks_of_passage(&self, from: World<Y>) -> u16 {
        let mut world = from;
        let mut taken = 0;
        let end = self.pass_idle(from, |next, ticks, _| {
            if *next != world {
                taken = ticks;
                world = *next;
            }
        });
        debug_assert!(end == world, "the passage ends where it was followed to");
        taken
    }
}

/// Adds what a thread has found to the common result.
fn note(coverage: &mut Coverage, broken: &mut [Option<Broken>], seen: Seen) {
    coverage.add(&seen.coverage);
    for (known, found) in broken.iter_mut().zip(seen.broken) {
        if let Some(found) = found
            && known.is_none_or(|known| found < known)
        {
            *known = Some(found);
        }
    }
}

impl Seen {
    /// Records the first state that breaks each property.
    fn look<Y: Layout>(&mut self, properties: &[Property], world: &World<Y>, at: Broken) {
        self.coverage.note_left(world.faults);
        for (property, broken) in properties.iter().zip(&mut self.broken) {
            if broken.is_none() && !property.holds(world) {
                *broken = Some(at);
            }
        }
    }
}

impl<F> Batch<F> {
    fn new(config: &Config) -> Self {
        Self { by_shard: iter::repeat_with(Vec::new).take(SHARDS).collect(), coverage: Coverage::none(config) }
    }

    fn bytes(&self) -> usize {
        self.by_shard.iter().map(Vec::capacity).sum::<usize>() * size_of::<Candidate<F>>()
    }
}

impl<F: Fingerprint> Shard<F> {
    /// Returns those of the shard's candidates that are new to its table, in order.
    fn sift(&mut self, number: usize, batches: &[&Batch<F>]) {
        let Self { table, found } = self;
        found.clear();
        let mut some = batches.iter().flat_map(|batch| batch.by_shard[number].chunks(WARMED));
        let warm = |table: &Table<F>, some: Option<&[Candidate<F>]>| {
            table.warm(some.unwrap_or_default().iter().map(|candidate| candidate.fingerprint));
        };
        let mut next = some.next();
        warm(table, next);
        while let Some(candidates) = next {
            // The next candidates are fetched while these are looked up.
            next = some.next();
            warm(table, next);
            for &Candidate { fingerprint, order } in candidates {
                if table.insert(fingerprint) {
                    found.push(order);
                }
            }
        }
    }
}

fn exclusive<T>(shared: &mut Mutex<T>) -> &mut T {
    shared.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The shard is chosen by the high bits, because the low ones choose the slot.
fn shard_of<F: Fingerprint>(fingerprint: F) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "six bits")]
    let shard = (fingerprint.word() >> (64 - SHARDS.trailing_zeros())) as usize;
    shard
}

/// For each piece of a block, the number of states before it.
fn starts<T>(block: &[Vec<T>]) -> Vec<u32> {
    block
        .iter()
        .scan(0, |before, piece| {
            let start = *before;
            *before += u32::try_from(piece.len()).unwrap_or(u32::MAX);
            Some(start)
        })
        .collect()
}

/// The number of a state, from its place: piece and offset as one number, as if every piece were full.
fn numbered(first: u32, starts: &[u32], place: usize) -> u32 {
    first + starts[place / CHUNK] + u32::try_from(place % CHUNK).unwrap_or(u32::MAX)
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

/// A place in a block and an action, as one number that sorts like the pair.
fn join(place: usize, action: u16) -> u32 {
    const { assert!(BLOCK < 1 << (u32::BITS - u16::BITS), "place and action share a number") };
    u32::try_from(place << u16::BITS).unwrap_or(u32::MAX) | u32::from(action)
}

fn split(order: u32) -> (usize, u16) {
    let [low, high, ..] = order.to_le_bytes();
    (order as usize >> u16::BITS, u16::from_le_bytes([low, high]))
}
