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

/// How many worlds the short search looks at before it gives up.
const SOON_WORLDS: usize = 100_000;

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
    let config = without.map_or(config, |lack| lack.in_world(&config));
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
        let search = OrderSearch::<Y>::of(self, config);
        // Few records need more than the usual order of things; whether one has an explanation says the whole search.
        if search.is_soon_explained() { Explanation::Explained } else { search.by_ticks() }
    }
}

/// A world and how far every party has come in it.
type RecordPlace<Y> = (World<Y>, Progress);

struct OrderSearch<'a, Y: Layout> {
    config: &'a Config,
    seeing: Seeing<'a>,
    /// What servers and the network do by themselves, what they seldom do first.
    unseen: Vec<Action>,
    /// How many of those are seldom.
    seldom: usize,
    initial: World<Y>,
}

/// The places that follow one in the same tick, and whether the model had too little room for another one.
struct NextPlaces<Y: Layout> {
    places: Vec<RecordPlace<Y>>,
    lacks_room: bool,
}

impl<'a, Y: Layout> OrderSearch<'a, Y> {
    fn of(RecordSearch { record, without }: RecordSearch<'a>, config: &'a Config) -> Self {
        let is_free = |action: &Action| happens_unseen(action.kind()) && without != Some(action.kind());
        let (mut unseen, usual): (Vec<_>, Vec<_>) =
            Action::all(config).into_iter().filter(is_free).partition(|action| happens_seldom(action.kind()));
        let seldom = unseen.len();
        unseen.extend(usual);
        let tick_us = i64::from(config.time.tick_ms) * 1000;
        let seeing = Seeing { parties: &record.parties, tick_us, without };
        Self { config, seeing, unseen, seldom, initial: World::initial(config) }
    }

    fn start(&self) -> RecordPlace<Y> {
        (self.initial, vec![0; self.seeing.parties.len()])
    }

    /// What somebody did or saw may happen next.
    fn seen(&self, (world, progress): &RecordPlace<Y>, tick: i64) -> impl Iterator<Item = RecordPlace<Y>> {
        (0..progress.len()).filter_map(move |party| {
            let event = self.seeing.next(progress, party)?;
            if !self.seeing.is_open(event, tick) {
                return None;
            }
            let to = self.seeing.happen(self.config, (world, progress), party, tick)?;
            let mut further = progress.clone();
            further[party] += 1;
            Some((self.without_breaches(to), further))
        })
    }

    /// What of these nobody sees may happen next.
    fn unseen(&self, (world, progress): &RecordPlace<Y>, tick: i64, actions: &[Action]) -> NextPlaces<Y> {
        let mut next = NextPlaces { places: Vec::new(), lacks_room: false };
        for &action in actions {
            match attempt(self.config, world, action) {
                Ok(step) if self.seeing.agrees(&step.world, progress, action, tick) => {
                    next.places.push((self.without_breaches(step.world), progress.clone()));
                }
                Ok(_) => {}
                Err(touched) => next.lacks_room |= touched.any(),
            }
        }
        next
    }

    /// What a step breaks is of that step alone.
    fn without_breaches(&self, world: World<Y>) -> World<Y> {
        World { breaches: self.initial.breaches, ..world }
    }

    /// The place in the next tick. `None`: something has to happen in this one before.
    fn pass(&self, (world, progress): &RecordPlace<Y>, tick: i64) -> Option<RecordPlace<Y>> {
        let is_over = (0..progress.len())
            .all(|party| self.seeing.next(progress, party).is_none_or(|event| self.seeing.tick(event.to_us) > tick));
        if !is_over {
            return None;
        }
        Some((step(self.config, world, Action::Tick)?.world, progress.clone()))
    }

    /// Whether an explanation is found at once by a search that does first what usually happens first, and tries other orders
    /// only where that leads nowhere. It gives up soon; `false` says nothing.
    fn is_soon_explained(&self) -> bool {
        let (seldom, usual) = self.unseen.split_at(self.seldom);
        let last_tick = self.seeing.last_tick();
        let mut met = HashSet::new();
        let mut waiting = vec![(0, self.start())];
        while let Some((tick, place)) = waiting.pop() {
            if tick > last_tick {
                return true;
            }
            if met.len() > SOON_WORLDS {
                return false;
            }
            if !met.insert((tick, place.clone())) {
                continue;
            }
            // The last one is taken first.
            waiting.extend(self.unseen(&place, tick, seldom).places.into_iter().map(|next| (tick, next)));
            waiting.extend(self.pass(&place, tick).map(|next| (tick + 1, next)));
            waiting.extend(self.unseen(&place, tick, usual).places.into_iter().map(|next| (tick, next)));
            waiting.extend(self.seen(&place, tick).map(|next| (tick, next)));
        }
        false
    }

    /// Follows every world from tick to tick.
    fn by_ticks(&self) -> Explanation {
        let mut lacks_room = false;
        let mut places = vec![self.start()];
        for tick in 0..=self.seeing.last_tick() {
            let mut met: HashSet<RecordPlace<Y>> = places.drain(..).collect();
            let mut waiting: Vec<_> = met.iter().cloned().collect();
            while let Some(place) = waiting.pop() {
                let unseen = self.unseen(&place, tick, &self.unseen);
                lacks_room |= unseen.lacks_room;
                for next in self.seen(&place, tick).chain(unseen.places) {
                    if !met.contains(&next) {
                        met.insert(next.clone());
                        waiting.push(next);
                    }
                }
                if met.len() > MOST_WORLDS {
                    return Explanation::Undecided("there are too many worlds");
                }
            }
            places = met.iter().filter_map(|place| self.pass(place, tick)).collect();
            if places.is_empty() {
                if lacks_room {
                    return Explanation::Undecided("the model has too little room");
                }
                let sum = |progress: &Progress| progress.iter().map(|&done| u32::from(done)).sum::<u32>();
                let furthest = met.iter().max_by_key(|(_, progress)| sum(progress));
                let Some((world, progress)) = furthest else { unreachable!("a tick begins with a world") };
                let progress = progress.iter().map(|&done| usize::from(done)).collect();
                let world = format!("{:?}\n{:?}\n{:?}", world.clients, world.in_flight, world.groups);
                return Explanation::Unexplained { end_us: (tick + 1) * self.seeing.tick_us, progress, world };
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
            | ActionKind::LeaveMaster
            | ActionKind::Fsync
            | ActionKind::FinishShutdown
            | ActionKind::Recount
            | ActionKind::NoticeDeath
            | ActionKind::CountReplicas
    )
}

/// Whether it is tried last: a caller that stops waiting, and what a server that says it may do for a while usually does later.
const fn happens_seldom(kind: ActionKind) -> bool {
    matches!(kind, ActionKind::Abandon | ActionKind::Recount | ActionKind::NoticeDeath | ActionKind::Expire)
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
            // Where nothing arrives late, a write is made when it arrives.
            Deed::Did(Action::Arrive { client, thread }) if self.without == Some(ActionKind::Arrive) => {
                Some(step(config, world, Action::Work { client, thread })?.world)
            }
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
        // Its sender does nothing then: see `happen`.
        ActionKind::Arrive => ActionKind::Work,
        _ => kind,
    }
}

const fn client_of(action: Action) -> Option<u8> {
    match action {
        Action::Acquire { client, .. } | Action::Release { client, .. } => Some(client),
        _ => None,
    }
}
