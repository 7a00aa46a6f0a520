//! The pass over the complete graph of a scenario: for each property, whether an obligation can stay unfulfilled for
//! ever on a fair path.

use std::time::Instant;

use lockstep_model::config::Fault;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{
    Action, Config, Holder, InLayout, Layout, Lock as _, NormalForm, Prefilter, Property, World, step,
};

use super::actions::ActionSet;
use super::graph::{Graph, Marks};
use super::lasso::Lasso;
use super::reach::{OutOfReach, ReachMarks};
use super::worlds::{ToldApart, Worlds};
use crate::check::layouts::in_layout;
use crate::check::limits::{Limits, Stopped};

/// The result of the pass.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Distinct states of the graph; where several masters are alike, of the last one that was completed ([`orbits`](super::orbits)).
    pub states: u64,
    /// Its edges, and one that leads to the first state: the number of states that a search generates.
    pub generated: u64,
    /// One for each requested property.
    pub found: Vec<Found>,
}

/// The result for one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The property never creates an obligation.
    Vacuous,
    /// It is fulfilled on every fair path.
    Holds,
    /// On this fair path it is never fulfilled.
    Violated(LassoRun),
    /// After these actions what it calls possible is not.
    OutOfReach(DeadEnd),
    /// The graph in which the history would be looked for was not completed.
    Stopped(Stopped),
}

/// A way into a state from which something cannot be reached any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEnd {
    /// No shorter one leads into such a state.
    pub actions: Vec<Action>,
    /// The faults that would make it possible again.
    pub helped_by: Vec<Fault>,
}

/// A lasso of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LassoRun {
    /// The stem, and one turn of the loop.
    pub actions: Vec<Action>,
    /// The number of steps in the stem.
    pub loop_start: usize,
}

/// The clients for which a property is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The threads of one client. All clients start alike and are treated alike, so what can happen to one can happen
    /// to any of them.
    OneClient,
    /// Every thread of every client: to confirm that it makes no difference.
    Everybody,
}

/// What a pass is asked.
#[derive(Clone, Copy, Debug)]
pub struct LivenessQuestion<'a> {
    /// The properties.
    pub properties: &'a [Property],
    /// For whom each is examined.
    pub whom: Whom,
    /// Whether worlds that can never again be told apart are treated as one, and of several masters that are alike, those that differ by
    /// their order. A fair run of the others is one of these, with
    /// what only the left out parts can do done at once.
    pub normal_forms: bool,
}

/// Examines every fair path, on this many threads. `is_touched`: in some state the model has no room for an action, and
/// nothing is said of paths that stay in such states.
///
/// # Errors
/// The reason why not every state was visited.
pub fn look(
    config: &Config,
    asked: LivenessQuestion<'_>,
    threads: usize,
    limits: &Limits<'_>,
    started: Instant,
    is_touched: bool,
) -> Result<Liveness, Stopped> {
    in_layout(config, Looking { asked, threads, limits, started, is_touched })
}

#[derive(Clone, Copy)]
struct Looking<'a> {
    asked: LivenessQuestion<'a>,
    threads: usize,
    limits: &'a Limits<'a>,
    started: Instant,
    is_touched: bool,
}

impl InLayout for Looking<'_> {
    type Output = Result<Liveness, Stopped>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let LivenessQuestion { properties, normal_forms, .. } = self.asked;
        // Of two masters, one told apart from the other leaves every world as it is. Worlds are treated as one only where normal forms are
        // allowed; strong fairness needs the graph in which each master has its place.
        let has_orbits = Y::Lock::HAS_SEVERAL_MASTERS && config.cluster.groups > 2;
        if !has_orbits || !normal_forms || config.strong_fairness {
            return Looked::at::<Y>(self, config, ToldApart::EachMaster)?.histories::<Y>();
        }
        let orbits = Looked::at::<Y>(self, config, ToldApart::FirstMaster)?;
        let known = orbits.without_histories()?;
        let (states, generated) = (orbits.graph.states() as u64, orbits.graph.generated());
        drop(orbits);
        self.limits.begin();
        // What breaks a property is a history, in which each master has its place.
        let is_open = |(_, known): &(_, &Option<Found>)| known.is_none();
        let open: Vec<Property> =
            properties.iter().zip(&known).filter(is_open).map(|(property, _)| *property).collect();
        let asked = LivenessQuestion { properties: &open, ..self.asked };
        let rest = if open.is_empty() {
            Liveness { states, generated, found: Vec::new() }
        } else {
            let looked = Looked::at::<Y>(Looking { asked, ..self }, config, ToldApart::EachMaster);
            // What is known remains so.
            looked.and_then(|looked| looked.histories::<Y>()).unwrap_or_else(|stopped| Liveness {
                states,
                generated,
                found: vec![Found::Stopped(stopped); open.len()],
            })
        };
        let is_kept = |found: &Found| matches!(found, Found::Holds | Found::Vacuous);
        debug_assert!(!rest.found.iter().any(is_kept), "what orbits break, a history breaks");
        let mut of_histories = rest.found.into_iter();
        let found = known.into_iter().filter_map(|known| known.or_else(|| of_histories.next())).collect();
        Ok(Liveness { found, ..rest })
    }
}

/// A graph of every state, or of every orbit with the places of the first master, and what is owed in it.
struct Looked<'a> {
    looking: Looking<'a>,
    config: &'a Config,
    actions: Vec<Action>,
    form: NormalForm,
    /// A mark for each.
    debts: Vec<(Property, Holder)>,
    graph: Graph,
    limits: Limits<'a>,
}

impl<'a> Looked<'a> {
    fn at<Y: Layout>(looking: Looking<'a>, config: &'a Config, told_apart: ToldApart) -> Result<Self, Stopped> {
        let LivenessQuestion { properties, whom, normal_forms } = looking.asked;
        let prefilter = Prefilter::<Y>::new(config);
        let form = if normal_forms { NormalForm::of(config) } else { NormalForm::least(config) };
        let debts = debts(config, properties, whom);
        assert!(debts.len() <= ReachMarks::OTHERS, "a mark for each");
        let possible = properties.iter().copied().find(|property| is_possible(*property));
        let marks = |world: &World<Y>| -> Marks {
            let owed = (0..).zip(&debts).filter(|(_, (property, holder))| property.pending(world, *holder));
            let owed: Marks = owed.map(|(number, _): (u32, _)| 1 << number).sum();
            owed | possible.map_or(0, |property| ReachMarks::of(property, world))
        };
        let space = Worlds {
            config,
            form,
            told_apart,
            prefilter: &prefilter,
            marks: &marks,
            limits: looking.limits,
            started: looking.started,
            is_touched: looking.is_touched,
        };
        let graph = Graph::of(&space, looking.threads)?;
        // Its tables are no longer there.
        looking.limits.begin();
        // The graph is complete: its size is no longer a reason to stop.
        let limits = Limits { max_states: None, ..*looking.limits };
        let actions = prefilter.actions().to_vec();
        Ok(Self { looking, config, actions, form, debts, graph, limits })
    }

    /// The marks of the debts of a property.
    fn marks(&self, property: Property) -> Vec<Marks> {
        (0..).zip(&self.debts).filter(|(_, debt)| debt.0 == property).map(|(n, _)| 1 << n).collect()
    }

    fn stops(&self) -> Option<Stopped> {
        let Self { looking, graph, limits, .. } = self;
        let stopped = limits.exceeded(graph.states() as u64, 0, looking.started);
        stopped.or_else(|| limits.lacks_memory(graph.bytes_of_a_search()))
    }

    /// What is found where the order of all masters but the first does not count; `None`: it does not hold.
    fn without_histories(&self) -> Result<Vec<Option<Found>>, Stopped> {
        let Self { graph, config, actions, .. } = self;
        let is_of_the_first = |action: &Action| action.node().is_none_or(|node| node < config.nodes());
        let of_the_first: ActionSet =
            (0..).zip(actions).filter(|(_, action)| is_of_the_first(action)).map(|(number, _)| number).collect();
        let mut found = Vec::new();
        for &property in self.looking.asked.properties {
            if let Some(stopped) = self.stops() {
                return Err(stopped);
            }
            if is_possible(property) {
                found.push(Some(reached(graph, actions)).filter(|found| *found == Found::Holds));
                continue;
            }
            let marks: Vec<Marks> =
                self.marks(property).into_iter().filter(|mark| self.graph.has_mark(*mark)).collect();
            found.push(if marks.is_empty() {
                Some(Found::Vacuous)
            } else if marks.iter().any(|mark| graph.can_stay_in_orbits(*mark, of_the_first)) {
                None
            } else {
                Some(Found::Holds)
            });
        }
        Ok(found)
    }

    /// What is found where each master has its place, with the history that breaks each property.
    fn histories<Y: Layout>(&self) -> Result<Liveness, Stopped> {
        let Self { looking, config, actions, form, graph, .. } = self;
        let mut found = Vec::with_capacity(looking.asked.properties.len());
        for &property in looking.asked.properties {
            if is_possible(property) {
                if let Some(stopped) = self.limits.exceeded(graph.states() as u64, 0, looking.started) {
                    return Err(stopped);
                }
                found.push(reached(graph, actions));
                continue;
            }
            let marks = self.marks(property);
            let mut shortest: Option<Lasso> = None;
            for &mark in marks.iter().filter(|mark| graph.has_mark(**mark)) {
                if let Some(stopped) = self.stops() {
                    return Err(stopped);
                }
                let lasso = graph.always_eventually(|marks| marks & mark == 0);
                let all = shortest.into_iter().chain(lasso);
                shortest = all.min_by_key(|lasso| (lasso.stem.len(), lasso.turn.len()));
            }
            found.push(match shortest {
                Some(lasso) => {
                    let run = lasso.run(actions);
                    let Some(run) = in_full_worlds::<Y>(config, *form, actions, run) else {
                        let of_full_worlds = LivenessQuestion { normal_forms: false, ..looking.asked };
                        return Looking { asked: of_full_worlds, ..*looking }.run::<Y>(config);
                    };
                    Found::Violated(run)
                }
                None if marks.iter().any(|mark| graph.has_mark(*mark)) => Found::Holds,
                None => Found::Vacuous,
            });
        }
        Ok(Liveness { states: graph.states() as u64, generated: graph.generated(), found })
    }
}

fn is_possible(property: Property) -> bool {
    property.kind() == PropertyKind::Possible
}

/// Whether everybody who wants the lock can still get it.
fn reached(graph: &Graph, actions: &[Action]) -> Found {
    let fault = |number: u16| actions[usize::from(number)].kind().fault();
    let is_question = |number: u16| actions[usize::from(number)].kind().is_question();
    match graph.out_of_reach(|number| fault(number).is_some(), is_question) {
        None => Found::Holds,
        Some(OutOfReach { state, helped_by }) => {
            let path = graph.path(state);
            let mut helped_by: Vec<Fault> = helped_by.into_iter().filter_map(fault).collect();
            helped_by.sort_unstable();
            helped_by.dedup();
            let actions = path.into_iter().map(|edge| actions[usize::from(edge.action)]).collect();
            Found::OutOfReach(DeadEnd { actions, helped_by })
        }
    }
}

/// Most turns of a loop of normal forms until it closes in full worlds.
const MOST_TURNS: usize = 64;

/// A lasso of normal forms as one of full worlds. What can happen only in what normal forms leave out happens as soon as it
/// can: in a fair run it does. `None`: that closes no loop, or the model has no room for a step of it.
fn in_full_worlds<Y: Layout>(config: &Config, form: NormalForm, actions: &[Action], run: LassoRun) -> Option<LassoRun> {
    if !form.is_there() {
        return Some(run);
    }
    let (stem, turn) = run.actions.split_at(run.loop_start);
    let mut world = World::<Y>::initial(config);
    let mut taken = Vec::new();
    let mut take = |world: &mut World<Y>, action: Action| -> Option<usize> {
        *world = step(config, world, action)?.world;
        taken.push(action);
        Some(taken.len())
    };
    let mut length = 0;
    for &action in stem {
        length = take(&mut world, action)?;
    }
    let mut met: Vec<(World<Y>, usize)> = Vec::new();
    for _ in 0..MOST_TURNS {
        while let Some(idle) = idle_action(config, form, actions, &world) {
            length = take(&mut world, idle)?;
        }
        if turn.is_empty() {
            return Some(LassoRun { actions: taken, loop_start: length });
        }
        let alike = world.up_to_token_numbers(config);
        if let Some((_, loop_start)) = met.iter().find(|(before, _)| *before == alike) {
            return Some(LassoRun { loop_start: *loop_start, actions: taken });
        }
        met.push((alike, length));
        for &action in turn {
            length = take(&mut world, action)?;
            while let Some(idle) = idle_action(config, form, actions, &world) {
                length = take(&mut world, idle)?;
            }
        }
    }
    None
}

/// An action that can happen in this world and not in its normal form.
fn idle_action<Y: Layout>(config: &Config, form: NormalForm, actions: &[Action], world: &World<Y>) -> Option<Action> {
    let mut normal = *world;
    let kinds: Vec<_> = form.apply(config, &mut normal).kinds().collect();
    let can = |world: &World<Y>, action: Action| step(config, world, action).is_some();
    let is_idle = |action: &Action| kinds.contains(&action.kind()) && can(world, *action) && !can(&normal, *action);
    actions.iter().copied().find(is_idle)
}

/// The possible obligations, each a property and a holder: one mark each.
fn debts(config: &Config, properties: &[Property], whom: Whom) -> Vec<(Property, Holder)> {
    let all = config.clients.count;
    let holders = |property| {
        // The choice that reads most naturally in a trace: the first client holds, the last one waits.
        let clients = match (whom, property) {
            (Whom::Everybody, _) => 0..all,
            (Whom::OneClient, Property::WaiterServed) => all - 1..all,
            (Whom::OneClient, _) => 0..1,
        };
        let threads = 0..config.clients.threads;
        clients.flat_map(move |client| threads.clone().map(move |thread| (property, Holder::new(client, thread))))
    };
    let owed = properties.iter().filter(|property| property.kind() == PropertyKind::Liveness);
    owed.flat_map(|&property| holders(property)).collect()
}

impl Lasso {
    fn run(self, actions: &[Action]) -> LassoRun {
        let loop_start = self.stem.len();
        let all = self.stem.into_iter().chain(self.turn);
        LassoRun { actions: all.map(|edge| actions[usize::from(edge.action)]).collect(), loop_start }
    }
}
