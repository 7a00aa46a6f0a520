//! The pass over the complete graph of a scenario: for each property, whether an obligation can stay unfulfilled for
//! ever on a fair path.

use std::time::Instant;

use lockstep_model::config::Fault;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{Action, Config, Holder, InLayout, Layout, NormalForm, Prefilter, Property, World, step};

use super::graph::{Graph, Marks};
use super::lasso::Lasso;
use super::reach::{OutOfReach, ReachMarks};
use super::worlds::Worlds;
use crate::check::layouts::in_layout;
use crate::check::limits::{Limits, Stopped};

/// The result of the pass.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Distinct states of the graph.
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
    /// Whether worlds that can never again be told apart are treated as one. A fair run of the others is one of these, with
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
        let LivenessQuestion { properties, whom, normal_forms } = self.asked;
        let prefilter = Prefilter::<Y>::new(config);
        let actions = prefilter.actions();
        let form = if normal_forms { NormalForm::of(config) } else { NormalForm::least(config) };
        let debts = debts(config, properties, whom);
        assert!(debts.len() <= ReachMarks::OTHERS, "a mark for each");
        let possible = properties.iter().copied().find(|property| property.kind() == PropertyKind::Possible);
        let marks = |world: &World<Y>| -> Marks {
            let owed = (0..).zip(&debts).filter(|(_, (property, holder))| property.pending(world, *holder));
            let owed: Marks = owed.map(|(number, _): (u32, _)| 1 << number).sum();
            owed | possible.map_or(0, |property| ReachMarks::of(property, world))
        };
        let space = Worlds {
            config,
            form,
            prefilter: &prefilter,
            marks: &marks,
            limits: self.limits,
            started: self.started,
            is_touched: self.is_touched,
        };
        let graph = Graph::of(&space, self.threads)?;
        // Its tables are no longer there.
        self.limits.begin();
        // The graph is complete: its size is no longer a reason to stop.
        let limits = Limits { max_states: None, ..*self.limits };
        let mut found = Vec::with_capacity(properties.len());
        for &property in properties {
            if Some(property) == possible {
                if let Some(stopped) = limits.exceeded(graph.states() as u64, 0, self.started) {
                    return Err(stopped);
                }
                found.push(reached(&graph, actions));
                continue;
            }
            let marks: Vec<Marks> =
                (0..).zip(&debts).filter(|(_, debt)| debt.0 == property).map(|(n, _)| 1 << n).collect();
            let mut shortest: Option<Lasso> = None;
            for &mark in marks.iter().filter(|mark| graph.has_mark(**mark)) {
                let stopped = limits.exceeded(graph.states() as u64, 0, self.started);
                if let Some(stopped) = stopped.or_else(|| limits.lacks_memory(graph.bytes_of_a_search())) {
                    return Err(stopped);
                }
                let lasso = graph.always_eventually(|marks| marks & mark == 0);
                let all = shortest.into_iter().chain(lasso);
                shortest = all.min_by_key(|lasso| (lasso.stem.len(), lasso.turn.len()));
            }
            found.push(match shortest {
                Some(lasso) => {
                    let run = lasso.run(actions);
                    let Some(run) = in_full_worlds::<Y>(config, form, actions, run) else {
                        let of_full_worlds = LivenessQuestion { normal_forms: false, ..self.asked };
                        return Looking { asked: of_full_worlds, ..self }.run::<Y>(config);
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
