//! Histories that take every kind of action at least once: a replay of them on real servers exercises everything that
//! the scenario contains.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use foldhash::HashSet;
use lockstep_model::{Action, ActionKind, Config, InLayout, Layout, Prefilter, World, in_largest_layout, step};

use super::limits::{Limits, Stopped};

/// How many states are searched for the next action that is still missing.
const MOST_STATES: usize = 200_000;
/// States between two checks of the limits.
const CHECKED_EVERY: usize = 64;

/// Histories that cover what a scenario contains.
pub struct Covered {
    /// The histories.
    pub histories: Vec<Vec<Action>>,
    /// The limit that ended the search before nothing was missing, and the number of states by then.
    pub stopped: Option<(Stopped, u64)>,
}

/// A few histories, each from the first state, which together take every kind of action that can be found within reach.
/// They are short by a greedy search, not provably shortest: each continues to the nearest state in which something new
/// happens. A limit on states bounds each search for the next action; another limit ends with what was found so far.
pub fn covering(config: &Config, limits: &Limits<'_>) -> Covered {
    limits.begin();
    in_largest_layout(config, Covering { limits })
}

struct Covering<'a> {
    limits: &'a Limits<'a>,
}

impl InLayout for Covering<'_> {
    type Output = Covered;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let prefilter = &Prefilter::new(config);
        let mut missing: HashSet<ActionKind> = prefilter.actions().iter().map(|action| action.kind()).collect();
        let (started, stopped) = (Instant::now(), Cell::new(None));
        let nearby = Nearby { config, prefilter, limits: self.limits, started, stopped: &stopped };
        let mut histories = Vec::new();
        let mut vain_at_start = SoughtInVain::default();
        loop {
            let mut world = World::<Y>::initial(config);
            let mut history = Vec::new();
            let mut vain = vain_at_start.clone();
            while let Some((path, end)) = nearby.nearest(&world, &missing, &mut vain) {
                if history.is_empty() {
                    vain_at_start.clone_from(&vain);
                }
                vain.from_here.clear();
                for action in &path {
                    missing.remove(&action.kind());
                }
                history.extend(path);
                world = end;
            }
            let is_last = history.is_empty() || stopped.get().is_some();
            if !history.is_empty() {
                histories.push(history);
            }
            if is_last {
                let states = self.limits.progress.load(Ordering::Relaxed);
                return Covered { histories, stopped: stopped.get().map(|stopped| (stopped, states)) };
            }
        }
    }
}

/// Kinds of actions that were sought in vain in the history so far: no search is repeated that would find nothing again.
#[derive(Clone, Default)]
struct SoughtInVain {
    /// Those whose search from the present world ended at its bound.
    from_here: HashSet<ActionKind>,
    /// Those that are in nothing that can follow.
    for_good: HashSet<ActionKind>,
}

/// What a search for the nearest missing action ends with.
enum Walked<Y: Layout> {
    Found(Vec<Action>, World<Y>),
    /// It is nowhere among the worlds that can follow.
    Nowhere,
    /// A bound ended the search.
    OutOfBounds,
}

struct Way {
    action: Action,
    before: Option<Rc<Way>>,
}

/// The search for what is near a state.
struct Nearby<'a, Y: Layout> {
    config: &'a Config,
    prefilter: &'a Prefilter<Y>,
    limits: &'a Limits<'a>,
    started: Instant,
    /// The limit that was reached.
    stopped: &'a Cell<Option<Stopped>>,
}

impl<Y: Layout> Nearby<'_, Y> {
    /// The way to the nearest missing action. Faults come last: what they end cannot be covered after them. So
    /// do keys that are gone at the instant at which they are due: in many scenarios none gets so far.
    fn nearest(
        &self,
        from: &World<Y>,
        missing: &HashSet<ActionKind>,
        vain: &mut SoughtInVain,
    ) -> Option<(Vec<Action>, World<Y>)> {
        let is_calm = |kind: &ActionKind| !kind.is_fault() && !kind.decides_tie();
        let calm: HashSet<ActionKind> = missing.iter().copied().filter(is_calm).collect();
        [&calm, missing].into_iter().find_map(|wanted| {
            let is_open = |kind: &&ActionKind| !vain.from_here.contains(*kind) && !vain.for_good.contains(*kind);
            let wanted: HashSet<ActionKind> = wanted.iter().filter(is_open).copied().collect();
            match self.walk(from, &wanted) {
                Walked::Found(path, end) => return Some((path, end)),
                Walked::Nowhere => vain.for_good.extend(wanted),
                Walked::OutOfBounds => vain.from_here.extend(wanted),
            }
            None
        })
    }

    fn walk(&self, from: &World<Y>, wanted: &HashSet<ActionKind>) -> Walked<Y> {
        if wanted.is_empty() {
            return Walked::Nowhere;
        }
        let limit = self.limits.max_states.and_then(|limit| usize::try_from(limit).ok());
        let most = limit.map_or(MOST_STATES, |limit| limit.min(MOST_STATES));
        let mut met: HashSet<_> = [*from].into_iter().collect();
        let mut queue: VecDeque<(World<Y>, Option<Rc<Way>>)> = VecDeque::from([(*from, None)]);
        let (mut visited, mut is_whole) = (0_usize, true);
        let mut possible = Vec::new();
        while let Some((world, way)) = queue.pop_front() {
            let is_full = met.len() + self.prefilter.actions().len() > met.capacity();
            if is_full || visited.is_multiple_of(CHECKED_EVERY) {
                let state = size_of::<World<Y>>();
                let growth = if is_full { 2 * met.capacity() * state } else { 0 };
                if self.must_stop((met.capacity() + queue.capacity()) * state, growth) {
                    return Walked::OutOfBounds;
                }
            }
            visited += 1;
            let mut fresh = 0;
            possible.clear();
            self.prefilter.each_possible(&world, |_, action| possible.push(action));
            for &action in &possible {
                let Some(next) = step(self.config, &world, action) else { continue };
                let is_wanted = wanted.contains(&action.kind());
                if !is_wanted {
                    if met.len() > most {
                        is_whole = false;
                        continue;
                    }
                    if !met.insert(next.world) {
                        continue;
                    }
                }
                fresh += 1;
                let way = Rc::new(Way { action, before: way.clone() });
                if is_wanted {
                    let mut path: Vec<Action> =
                        std::iter::successors(Some(&way), |way| way.before.as_ref()).map(|way| way.action).collect();
                    path.reverse();
                    return Walked::Found(path, next.world);
                }
                queue.push_back((next.world, Some(way)));
            }
            self.limits.progress.fetch_add(fresh, Ordering::Relaxed);
        }
        if is_whole { Walked::Nowhere } else { Walked::OutOfBounds }
    }

    /// Whether a limit other than that on states is reached: each walk has its own number of states. `bytes` are those of
    /// this walk, `growth` those that it may soon take at once.
    fn must_stop(&self, bytes: usize, growth: usize) -> bool {
        let limits = Limits { max_states: None, ..*self.limits };
        let stopped = limits.exceeded(0, bytes as u64, self.started).or_else(|| limits.lacks_memory(growth as u64));
        self.stopped.set(self.stopped.get().or(stopped));
        stopped.is_some()
    }
}
