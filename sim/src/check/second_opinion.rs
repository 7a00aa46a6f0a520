//! The second opinion: stateright 0.31 over the same model, under the rules of facts/stateright.md.
//!
//! One thread; a property of its own that never fails keeps it going to the last state; traces come from a run of one
//! property each, because with several pending a discovery is overwritten by a later one (fact 3). What is listed as
//! an action is always possible (fact 5), and whether every state was seen is kept track of here (fact 6).

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::{Action, Config, Property, Record, World, step};
use stateright::{Checker, Model};

use super::native::Search;
use super::{Coverage, Limits, Stopped};

/// How often the limits are looked at while stateright runs.
const GLANCE: Duration = Duration::from_millis(2);

/// Looks at every state, as [`native::search`](super::native::search) does, and answers in the same terms.
pub fn search<R: Record, const C: usize, const N: usize>(
    config: &Config,
    properties: &[Property],
    limits: &Limits<'_>,
) -> Search {
    let started = Instant::now();
    let whole = run::<R, C, N>(config, Asked::All, limits, started);
    let witnesses = properties
        .iter()
        .map(|property| {
            // Its verdict can be trusted with all properties pending, its path cannot: ask again for this one alone.
            let is_broken = whole.broken.iter().any(|(broken, _)| broken == property);
            let alone = is_broken.then(|| run::<R, C, N>(config, Asked::One(*property), limits, started))?;
            alone.broken.into_iter().map(|(_, path)| path).next()
        })
        .collect();
    Search {
        states: whole.states,
        generated: whole.generated,
        depth: whole.depth,
        stopped: whole.stopped,
        coverage: whole.coverage,
        witnesses,
    }
}

/// Which properties a run looks at.
#[derive(Clone, Copy)]
enum Asked {
    All,
    One(Property),
}

struct Run {
    states: u64,
    generated: u64,
    depth: u32,
    stopped: Option<Stopped>,
    coverage: Coverage,
    broken: Vec<(Property, Vec<Action>)>,
}

/// The model, as stateright wants it.
struct Adapter<R, const C: usize, const N: usize> {
    config: Config,
    actions: Vec<Action>,
    asked: Asked,
    watch: Arc<Watch>,
    class: PhantomData<fn() -> R>,
}

/// What stateright does not tell.
struct Watch {
    coverage: Mutex<Coverage>,
    /// Set from outside: no more successors.
    must_stop: AtomicBool,
}

impl<R: Record, const C: usize, const N: usize> Model for Adapter<R, C, N> {
    type State = World<R, C, N>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![World::initial(&self.config)]
    }

    fn actions(&self, world: &Self::State, actions: &mut Vec<Self::Action>) {
        if self.watch.must_stop.load(Ordering::Relaxed) {
            return;
        }
        let possible = self.actions.iter().filter(|&&action| step(&self.config, world, action).is_some());
        actions.extend(possible);
    }

    fn next_state(&self, world: &Self::State, action: Self::Action) -> Option<Self::State> {
        let next = step(&self.config, world, action)?;
        let mut coverage = self.watch.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        coverage.taken[action.kind() as usize] += 1;
        coverage.happenings = coverage.happenings.and(next.happenings);
        coverage.note_left(next.world.faults);
        Some(next.world)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        match self.asked {
            Asked::All => {
                let go_on = stateright::Property::always("every state is looked at", |_, _| true);
                Property::SAFETY.into_iter().map(as_stateright).chain([go_on]).collect()
            }
            Asked::One(property) => vec![as_stateright(property)],
        }
    }
}

/// stateright takes plain functions, so each property is written out.
fn as_stateright<R: Record, const C: usize, const N: usize>(
    property: Property,
) -> stateright::Property<Adapter<R, C, N>> {
    let condition: fn(&Adapter<R, C, N>, &World<R, C, N>) -> bool = match property {
        Property::OneBeliever => |_, world| Property::OneBeliever.holds(world),
        Property::OneServerHolder => |_, world| Property::OneServerHolder.holds(world),
        Property::GrantSurvives => |_, world| Property::GrantSurvives.holds(world),
        Property::EffectsInOrder => |_, world| Property::EffectsInOrder.holds(world),
        Property::TokensIncrease => |_, world| Property::TokensIncrease.holds(world),
        Property::OnlyHolderReleases => |_, world| Property::OnlyHolderReleases.holds(world),
        Property::CountsAgree => |_, world| Property::CountsAgree.holds(world),
        Property::WaitLimitKept => |_, world| Property::WaitLimitKept.holds(world),
        Property::NoSleepingWaiter => |_, world| Property::NoSleepingWaiter.holds(world),
        Property::RenewedWhileHeld => |_, world| Property::RenewedWhileHeld.holds(world),
        // True of each state: stateright looks at no cycles (facts/stateright.md, 1 and 2).
        Property::WaiterServed => |_, world| Property::WaiterServed.holds(world),
        Property::FreedAfterCrash => |_, world| Property::FreedAfterCrash.holds(world),
        Property::NoOrphan => |_, world| Property::NoOrphan.holds(world),
        Property::ActionsReached => |_, world| Property::ActionsReached.holds(world),
    };
    stateright::Property::always(property.id(), condition)
}

fn run<R: Record, const C: usize, const N: usize>(
    config: &Config,
    asked: Asked,
    limits: &Limits<'_>,
    started: Instant,
) -> Run {
    let watch = Arc::new(Watch { coverage: Mutex::new(Coverage::none(config)), must_stop: AtomicBool::new(false) });
    let adapter = Adapter::<R, C, N> {
        config: *config,
        actions: Action::all(config),
        asked,
        watch: Arc::clone(&watch),
        class: PhantomData,
    };
    let mut checker = adapter.checker().threads(1).spawn_bfs();
    let mut stopped = None;
    let searching = checker.handles();
    while !searching.iter().all(thread::JoinHandle::is_finished) {
        let states = checker.unique_state_count() as u64;
        limits.progress.store(states, Ordering::Relaxed);
        if stopped.is_none() {
            stopped = limits.exceeded(states, started);
            watch.must_stop.store(stopped.is_some(), Ordering::Relaxed);
        }
        thread::sleep(GLANCE);
    }
    let coverage = watch.coverage.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let broken = checker.discoveries().into_iter().filter_map(|(name, path)| {
        let property = Property::from_id(name)?;
        Some((property, path.into_actions()))
    });
    Run {
        states: checker.unique_state_count() as u64,
        generated: checker.state_count() as u64,
        // The first state has depth 1 there (fact 7).
        depth: u32::try_from(checker.max_depth().saturating_sub(1)).unwrap_or(u32::MAX),
        stopped,
        coverage,
        broken: broken.collect(),
    }
}
