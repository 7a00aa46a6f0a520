//! Whether the model can do what a record says: a search over every order of events that the intervals allow, with whatever
//! the servers and the network may do in between.
//!
//! A tick of the model is one stretch of real time. What happens within one tick happens in any order that the parties' own
//! orders allow, so the search follows a set of worlds from tick to tick, each with how far every party has come in it.

use std::collections::HashSet;

use lockstep_model::client::requests::Stage;
use lockstep_model::config::Config;
use lockstep_model::{Action, ActionKind, InLayout, Layout, Reply, World, attempt, in_layout, step};
use lockstep_tests::drawn::read;

use crate::lack::Lack;
use crate::record::{Deed, Event, Interval, Record, SeenHold, ToldAnswer};

/// A search that would follow more worlds than this in one tick is given up.
const MOST_WORLDS: usize = 300_000;

/// What became of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// The model can do it.
    Explained,
    /// It cannot.
    Unexplained {
        /// When the tick ended in which the last world was left behind, µs.
        end_us: i64,
        /// How far each party had come in the world that came furthest.
        progress: Vec<usize>,
        /// That world.
        world: String,
    },
    /// Nobody knows: the model has too little room, or there are too many worlds.
    Undecided(&'static str),
}

/// Searches for the record among the behaviours of the model. `without`: what the model lacks.
pub fn search(record: &Record, without: Option<Lack>) -> Explanation {
    let config = read(&record.scenario).unwrap_or_else(|error| panic!("{error}\n{}", record.scenario)).config;
    let config = without.map_or(config, |lack| lack.in_world(config));
    in_layout(&config, RecordSearch { record, without: without.and_then(Lack::action) })
}

struct RecordSearch<'a> {
    record: &'a Record,
    without: Option<ActionKind>,
}

/// How far each party has come.
type Progress = Vec<u16>;

impl InLayout for RecordSearch<'_> {
    type Output = Explanation;

    fn run<Y: Layout>(self, config: &Config) -> Explanation {
        let tick_us = i64::from(config.time.tick_ms) * 1000;
        let is_free = |action: &Action| happens_unseen(action.kind()) && self.without != Some(action.kind());
        let unseen: Vec<Action> = Action::all(config).into_iter().filter(is_free).collect();
        let seeing = Seeing { parties: &self.record.parties, tick_us, without: self.without };
        let mut lacks_room = false;
        let last_tick = seeing.last_tick();
        let mut worlds = vec![(World::<Y>::initial(config), vec![0; self.record.parties.len()])];
        for tick in 0..=last_tick {
            let mut met: HashSet<(World<Y>, Progress)> = HashSet::new();
            let mut waiting = Vec::new();
            for start in worlds.drain(..) {
                if met.insert(start.clone()) {
                    waiting.push(start);
                }
            }
            while let Some((world, progress)) = waiting.pop() {
                let mut next = |to: World<Y>, progress: Progress| {
                    // What a step breaks is of that step alone.
                    let to = World { breaches: World::<Y>::initial(config).breaches, ..to };
                    let state = (to, progress);
                    if !met.contains(&state) {
                        met.insert(state.clone());
                        waiting.push(state);
                    }
                };
                for party in 0..progress.len() {
                    if !seeing.next(&progress, party).is_some_and(|event| seeing.is_open(event, tick)) {
                        continue;
                    }
                    if let Some(to) = seeing.happen(config, (&world, &progress), party, tick) {
                        let mut further = progress.clone();
                        further[party] += 1;
                        next(to, further);
                    }
                }
                for &action in &unseen {
                    match attempt(config, &world, action) {
                        Ok(step) if seeing.agrees(&step.world, &progress, action, tick) => {
                            next(step.world, progress.clone());
                        }
                        Ok(_) => {}
                        Err(touched) => lacks_room |= touched.any(),
                    }
                }
                if met.len() > MOST_WORLDS {
                    return Explanation::Undecided("there are too many worlds");
                }
            }
            let is_over = |progress: &Progress| {
                (0..progress.len())
                    .all(|party| seeing.next(progress, party).is_none_or(|event| seeing.tick(event.to_us) > tick))
            };
            let passed = met
                .iter()
                .filter(|(_, progress)| is_over(progress))
                .filter_map(|(world, progress)| Some((step(config, world, Action::Tick)?.world, progress.clone())));
            worlds = passed.collect();
            if worlds.is_empty() {
                if lacks_room {
                    return Explanation::Undecided("the model has too little room");
                }
                let sum = |progress: &&Progress| progress.iter().map(|&done| u32::from(done)).sum::<u32>();
                let furthest = met.iter().max_by_key(|(_, progress)| sum(&progress));
                let Some((world, progress)) = furthest else { unreachable!("a tick begins with a world") };
                let progress = progress.iter().map(|&done| usize::from(done)).collect();
                let world = format!("{:?}\n{:?}\n{:?}", world.clients, world.in_flight, world.groups);
                return Explanation::Unexplained { end_us: (tick + 1) * tick_us, progress, world };
            }
        }
        Explanation::Explained
    }
}

/// Whether it may happen at any time and nobody records it: what servers and the network do by themselves, and a caller that
/// stops waiting.
fn happens_unseen(kind: ActionKind) -> bool {
    matches!(
        kind,
        ActionKind::Execute
            | ActionKind::Abandon
            | ActionKind::Expire
            | ActionKind::ExpireReceipts
            | ActionKind::Replicate
            | ActionKind::Resync
            | ActionKind::Fsync
            | ActionKind::FinishShutdown
            | ActionKind::Recount
            | ActionKind::NoticeDeath
            | ActionKind::CountReplicas
    )
}

/// The events of a record, in ticks.
#[derive(Clone, Copy)]
struct Seeing<'a> {
    parties: &'a [Vec<Event>],
    tick_us: i64,
    without: Option<ActionKind>,
}

impl<'a> Seeing<'a> {
    const fn tick(self, us: i64) -> i64 {
        us.div_euclid(self.tick_us)
    }

    fn last_tick(self) -> i64 {
        self.parties.iter().flatten().map(|event| self.tick(event.to_us)).max().unwrap_or(0)
    }

    fn next(self, progress: &Progress, party: usize) -> Option<&'a Event> {
        self.parties[party].get(usize::from(progress[party]))
    }

    const fn is_open(self, event: &Event, tick: i64) -> bool {
        self.tick(event.from_us) <= tick && tick <= self.tick(event.to_us)
    }

    /// Whether the next event of a party, a request, is answered.
    fn is_heard(self, progress: &Progress, party: usize) -> bool {
        let answer = self.parties[party].get(usize::from(progress[party]) + 1);
        matches!(answer, Some(Event { what: Deed::Heard { .. }, .. }))
    }

    /// The world after the next event of a party, if it can happen in this one.
    fn happen<Y: Layout>(
        self,
        config: &Config,
        (world, progress): (&World<Y>, &Progress),
        party: usize,
        tick: i64,
    ) -> Option<World<Y>> {
        match self.next(progress, party)?.what {
            // Without its rule it changes nothing, and nothing has to end.
            Deed::Did(action) if self.without.is_some_and(|kind| [kind, ended_by(kind)].contains(&action.kind())) => {
                Some(*world)
            }
            // The model leaves out a snapshot that is as the one before.
            Deed::Did(Action::Snapshot { node }) if world.node(node).disk == world.node(node).stored => Some(*world),
            Deed::Did(action) => Some(step(config, world, action)?.world),
            Deed::Sent { request, node } => {
                let client = client_of(request)?;
                // A node that ends executes nothing that it is sent, and its client hears nothing.
                let is_gone = !world.node(node).is_up() || world.node(node).is_stopping();
                if is_gone && !self.is_heard(progress, party) {
                    return Some(*world);
                }
                (world.client(client).master() == node).then(|| step(config, world, request))?.map(|step| step.world)
            }
            Deed::Heard { answer, .. } => {
                // What it says was compared when it was executed.
                Some(step(config, world, answer)?.world)
            }
            Deed::Saw { node, hold } => self.stores(world, node, hold, tick).then_some(*world),
        }
    }

    /// Whether what a node has just executed is what its caller will be told.
    fn agrees<Y: Layout>(self, after: &World<Y>, progress: &Progress, action: Action, tick: i64) -> bool {
        let Action::Execute { client, slot } = action else { return true };
        let Some(Event { what: Deed::Heard { answer, told }, .. }) = self.next(progress, usize::from(client)) else {
            return true;
        };
        let Action::Answer { slot: awaited, .. } = *answer else { return true };
        if awaited != slot {
            return true;
        }
        match after.requests(client).get(slot).map(|request| request.stage) {
            Some(Stage::Executed(reply)) => self.says(reply, *told, tick),
            _ => true,
        }
    }

    fn says(self, reply: Reply, told: ToldAnswer, tick: i64) -> bool {
        match (told, reply) {
            (ToldAnswer::Anything, _)
            | (ToldAnswer::Acquired, Reply::Acquired)
            | (ToldAnswer::Released, Reply::Released)
            | (ToldAnswer::StillHeld, Reply::StillHeld)
            | (ToldAnswer::NotHeld, Reply::NotHeld)
            | (ToldAnswer::ReadOnly, Reply::ReadOnly)
            | (ToldAnswer::SaveFailed, Reply::SaveFailed)
            | (ToldAnswer::NotEnoughReplicas, Reply::NotEnoughReplicas) => true,
            // Not every kind tells how much time is left.
            (ToldAnswer::Busy(until), Reply::Busy { remaining_ticks }) => {
                until.is_none() || self.is_until(until, remaining_ticks, tick)
            }
            _ => false,
        }
    }

    /// Whether a key that has so many ticks left in this tick may be the one that was seen to expire within that interval.
    fn is_until(self, seen: Option<Interval>, left: Option<u8>, tick: i64) -> bool {
        match (seen, left) {
            (None, None) => true,
            (Some(seen), Some(left)) => {
                let ends = tick + i64::from(left);
                self.tick(seen.from_us) <= ends && ends <= self.tick(seen.to_us)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    fn stores<Y: Layout>(self, world: &World<Y>, node: u8, seen: Option<SeenHold>, tick: i64) -> bool {
        let mut holders = world.node(node).stored.holders();
        match (seen, holders.next()) {
            (None, None) => true,
            (Some(seen), Some(hold)) => {
                (hold.by.holder.client(), hold.count) == (seen.client, seen.count)
                    && self.is_until(seen.until, hold.remaining.left(), tick)
            }
            // The model leaves out that a key with no time left is gone where no client reads it: on a replica.
            (None, Some(hold)) => hold.remaining.is_due() && !world.node(node).is_master(),
            (Some(_), None) => false,
        }
    }
}

/// The action that ends what another one begins; itself: none does.
const fn ended_by(kind: ActionKind) -> ActionKind {
    match kind {
        ActionKind::PauseNode => ActionKind::ResumeNode,
        ActionKind::RefuseWrites => ActionKind::AcceptWrites,
        ActionKind::CutLink => ActionKind::Heal,
        ActionKind::HandOver => ActionKind::FinishHandOver,
        _ => kind,
    }
}

const fn client_of(action: Action) -> Option<u8> {
    match action {
        Action::Acquire { client, .. } | Action::Release { client, .. } => Some(client),
        _ => None,
    }
}
