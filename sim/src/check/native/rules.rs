//! What one thread does with its share of a block: successors and their fingerprints, new states and what they break,
//! passages, and the actions of a witness. Nothing here is shared between threads.

use lockstep_model::notes::Capacities;
use lockstep_model::world::normal_form::LeftOut;
use lockstep_model::{
    Action, Config, Happenings, Layout, NormalForm, Prefilter, Property, Reply, Step, World, step, step_into,
};

use super::options::{CHUNK, Options};
use super::shards::{Batch, Candidate, join, shard_of, split};
use crate::check::coverage::{Coverage, Kinds};
use crate::check::fingerprint::{Fingerprint, Recent};

/// What does not change during a search.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, Y: Layout> {
    pub(super) config: &'a Config,
    pub(super) prefilter: &'a Prefilter<Y>,
    pub(super) actions: &'a [Action],
    pub(super) properties: &'a [Property],
    pub(super) options: Options,
    pub(super) reductions: Reductions,
}

/// Which worlds of this scenario are treated as one.
#[derive(Clone, Copy)]
pub(super) struct Reductions {
    form: NormalForm,
    orders_nodes: bool,
    orders_clients: bool,
    skips_idle: bool,
}

impl Reductions {
    pub(super) fn of(config: &Config, options: Options) -> Self {
        Self {
            form: if options.normal_forms { NormalForm::of(config) } else { NormalForm::least(config) },
            orders_nodes: options.normal_forms && config.nodes_are_alike(),
            orders_clients: (options.normal_forms || options.symmetry)
                && (config.clients.count > 1 && config.clients_are_alike() || config.asks_masters()),
            skips_idle: options.skip_idle,
        }
    }

    /// Whether every world is kept as it is.
    fn keeps_all(self) -> bool {
        !(self.form.is_there() || self.orders_nodes || self.orders_clients || self.skips_idle)
    }
}

/// A state that breaks a property: reached from `parent` by `action`, then by this many ticks of a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Broken {
    pub(super) layer: u32,
    pub(super) parent: u32,
    pub(super) action: u16,
    pub(super) ticks: u16,
}

/// What one thread has found in the states that it generated.
pub(super) struct Seen {
    pub(super) coverage: Coverage,
    pub(super) broken: Vec<Option<Broken>>,
}

impl<Y: Layout> Rules<'_, Y> {
    /// The representative of all worlds that differ from this one only by the order of nodes and clients.
    pub(super) fn represent(&self, world: World<Y>) -> World<Y> {
        let world = if self.reductions.orders_nodes { world.with_nodes_in_order(self.config) } else { world };
        if self.reductions.orders_clients { world.canonical(self.config) } else { world }
    }

    /// The normal form of this world, and what was possible only in what it leaves out.
    pub(super) fn normal(&self, mut world: World<Y>) -> (World<Y>, LeftOut) {
        let form = self.reductions.form;
        let idle = if form.is_there() { form.apply(self.config, &mut world) } else { LeftOut::default() };
        (world, idle)
    }

    /// The successors of some states, by shard.
    pub(super) fn expand<F: Fingerprint>(
        &self,
        chunk: &[World<Y>],
        number: usize,
        batch: &mut Batch<F>,
        recent: &mut Recent<F>,
    ) {
        let Batch { by_shard, coverage } = batch;
        by_shard.iter_mut().for_each(Vec::clear);
        *coverage = Coverage::none(self.config);
        let Some(&any) = chunk.first() else { return };
        // Two steps are used alternately: reading the words of a world just after it was written byte by byte is slow.
        let mut steps =
            [Step { world: any, reply: Reply::Done, happenings: Happenings::NONE, touched: Capacities::NONE }; 2];
        let mut turn = false;
        let mut made: Option<u32> = None;
        let keeps_all = self.reductions.keeps_all();
        let mut idle_kinds = Kinds::default();
        let mut send = |next: &Step<Y>, order: u32| {
            let fingerprint = if keeps_all {
                F::of(&next.world)
            } else {
                let (form, idle) = self.normal(next.world);
                idle.kinds().for_each(|kind| idle_kinds.insert(kind));
                F::of(&self.represent(self.pass_idle(form, |_, _, _| ())))
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
                let can_happen = step_into(self.config, world, action, next);
                coverage.note_touched(action.kind(), next.touched);
                if !can_happen {
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
        coverage.note_idle(idle_kinds);
    }

    /// Generates and checks the worlds of new candidates. A block is identified by its first state's number and where
    /// its pieces start.
    pub(super) fn make(
        &self,
        block: &[Vec<World<Y>>],
        orders: &[u32],
        (first, starts): (u32, &[u32]),
        layer: u32,
        mut worlds: Vec<World<Y>>,
    ) -> (Vec<World<Y>>, Seen) {
        let mut seen = Seen { coverage: Coverage::none(self.config), broken: vec![None; self.properties.len()] };
        let Some(&any) = block.first().and_then(|piece| piece.first()) else { return (worlds, seen) };
        let mut step = Step { world: any, reply: Reply::Done, happenings: Happenings::NONE, touched: Capacities::NONE };
        for &order in orders {
            let (place, action) = split(order);
            let mut at = Broken { layer, parent: numbered(first, starts, place), action, ticks: 0 };
            let parent = &block[place / CHUNK][place % CHUNK];
            step_into(self.config, parent, self.actions[usize::from(action)], &mut step);
            seen.look(self.properties, &step.world, at);
            if self.reductions.keeps_all() {
                worlds.push(step.world);
                continue;
            }
            let end = self.pass_idle(self.normal(step.world).0, |world, ticks, happenings| {
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
        if !self.reductions.skips_idle {
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
        self.actions.iter().find(is_other).is_none().then_some((self.normal(ticked.world).0, ticked.happenings))
    }

    /// The actions of a witness as they can be executed from the first state, passages written out. `None`: in the full
    /// worlds that it leads through one of them cannot happen, because the model has no room for it.
    ///
    /// A recorded action belongs to the representative of the real world, in which clients and nodes may have other names. The
    /// real action is the first that leads to a world with the right representative.
    pub(super) fn told(&self, taken: &[u16], last_ticks: u16) -> Option<Vec<Action>> {
        let is_renamed = self.reductions.orders_nodes || self.reductions.orders_clients;
        let mut real = World::<Y>::initial(self.config);
        let mut standing = self.represent(self.normal(real).0);
        let mut told = Vec::with_capacity(taken.len());
        for (index, &action) in taken.iter().enumerate() {
            let named = self.actions[usize::from(action)];
            let after = self.normal(step(self.config, &standing, named)?.world).0;
            let target = self.represent(after);
            let leads_there = |action: Action| {
                let next = step(self.config, &real, action)?.world;
                (self.represent(self.normal(next).0) == target).then_some((action, next))
            };
            let (real_action, next) = match leads_there(named) {
                Some(found) => found,
                None if is_renamed => self.actions.iter().find_map(|action| leads_there(*action))?,
                None => return None,
            };
            told.push(real_action);
            real = next;
            let ticks = if index + 1 == taken.len() { last_ticks } else { self.ticks_of_passage(after) };
            for _ in 0..ticks {
                told.push(Action::Tick);
                real = step(self.config, &real, Action::Tick)?.world;
            }
            standing = self.represent(self.normal(real).0);
        }
        Some(told)
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
pub(super) fn note(coverage: &mut Coverage, broken: &mut [Option<Broken>], seen: Seen) {
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
        self.coverage.note_left(world.faults.all());
        for (property, broken) in properties.iter().zip(&mut self.broken) {
            if broken.is_none() && !property.holds(world) {
                *broken = Some(at);
            }
        }
    }
}

/// For each piece of a block, the number of states before it.
pub(super) fn starts<T>(block: &[Vec<T>]) -> Vec<u32> {
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
pub(super) fn numbered(first: u32, starts: &[u32], place: usize) -> u32 {
    first + starts[place / CHUNK] + u32::try_from(place % CHUNK).unwrap_or(u32::MAX)
}
