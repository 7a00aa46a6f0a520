//! The pass over the complete graph of a scenario: for each property, whether an obligation can stay unfulfilled for
//! ever on a fair path.

use std::time::Instant;

use lockstep_model::{Action, Config, Holder, InLayout, Layout, Prefilter, Property, World};

use super::graph::{Graph, Marks};
use super::lasso::Lasso;
use super::worlds::Worlds;
use crate::check::in_layout;
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

/// Examines every fair path, on this many threads. `is_touched`: in some state the model has no room for an action, and
/// nothing is said of paths that stay in such states.
///
/// # Errors
/// The reason why not every state was visited.
pub fn look(
    config: &Config,
    properties: &[Property],
    whom: Whom,
    threads: usize,
    limits: &Limits<'_>,
    started: Instant,
    is_touched: bool,
) -> Result<Liveness, Stopped> {
    in_layout(config, Looking { properties, whom, threads, limits, started, is_touched })
}

struct Looking<'a> {
    properties: &'a [Property],
    whom: Whom,
    threads: usize,
    limits: &'a Limits<'a>,
    started: Instant,
    is_touched: bool,
}

impl InLayout for Looking<'_> {
    type Output = Result<Liveness, Stopped>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let prefilter = Prefilter::<Y>::new(config);
        let actions = prefilter.actions();
        let debts = debts(config, self.properties, self.whom);
        let marks = |world: &World<Y>| -> Marks {
            let owed = (0..).zip(&debts).filter(|(_, (property, holder))| property.pending(world, *holder));
            owed.map(|(number, _): (u32, _)| 1 << number).sum()
        };
        let space = Worlds {
            config,
            prefilter: &prefilter,
            marks: &marks,
            limits: self.limits,
            started: self.started,
            is_touched: self.is_touched,
        };
        let graph = Graph::of(&space, self.threads)?;
        // The graph is complete: its size is no longer a reason to stop.
        let limits = Limits { max_states: None, ..*self.limits };
        let mut found = Vec::with_capacity(self.properties.len());
        for &property in self.properties {
            let marks: Vec<Marks> =
                (0..).zip(&debts).filter(|(_, debt)| debt.0 == property).map(|(n, _)| 1 << n).collect();
            let mut shortest: Option<Lasso> = None;
            for &mark in marks.iter().filter(|mark| graph.has_mark(**mark)) {
                if let Some(stopped) = limits.exceeded(graph.states() as u64, 0, self.started) {
                    return Err(stopped);
                }
                let lasso = graph.always_eventually(|marks| marks & mark == 0);
                let all = shortest.into_iter().chain(lasso);
                shortest = all.min_by_key(|lasso| (lasso.stem.len(), lasso.turn.len()));
            }
            found.push(match shortest {
                Some(lasso) => Found::Violated(lasso.run(actions)),
                None if marks.iter().any(|mark| graph.has_mark(*mark)) => Found::Holds,
                None => Found::Vacuous,
            });
        }
        Ok(Liveness { states: graph.states() as u64, generated: graph.generated(), found })
    }
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
    properties.iter().flat_map(|&property| holders(property)).collect()
}

impl Lasso {
    fn run(self, actions: &[Action]) -> LassoRun {
        let loop_start = self.stem.len();
        let all = self.stem.into_iter().chain(self.turn);
        LassoRun { actions: all.map(|edge| actions[usize::from(edge.action)]).collect(), loop_start }
    }
}
