//! Random histories on real servers.
//!
//! Each action of a history is drawn from those that can happen, so a history that was made shorter is still one that can
//! happen. What is found is kept as a trace and not as a seed: a seed draws other histories once the model changes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;

use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Config};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};

use crate::any_world::AnyWorld;
use crate::check::{Limits, Stopped};
use crate::recorder;
use crate::replay::redisson::is_in_library_order;
use crate::replay::{Difference, Player, ReplayError, ServerProgram, TargetProgram};
use crate::scenario::Scenario;

/// The most steps of a history.
pub const MOST_STEPS: usize = 40;
/// How many shorter histories are tried once one differs; on a client library in a JVM, where each takes a fifth of a second.
const MOST_TRIES: usize = 300;
const MOST_SLOW_TRIES: usize = 60;

/// How many histories to draw, and which.
#[derive(Clone, Copy, Debug)]
pub struct FuzzOptions {
    /// How many histories.
    pub cases: u32,
    /// The same seed draws the same histories, on every machine.
    pub seed: u64,
}

/// What a run of random histories found.
#[derive(Clone, Debug)]
pub struct Fuzzed {
    /// Flavour and version of the servers.
    pub server: String,
    /// The client library that was replayed, and its version; `None`: our scripts.
    pub clients: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Histories that were played.
    pub cases: u32,
    /// Histories that the target could not follow to their end.
    pub left: u32,
    /// Why a client library could not be followed to their end, and how many histories for each reason.
    pub ends: BTreeMap<&'static str, u32>,
    /// How many of these ended at a known difference of this server, and which one that is.
    pub known: Option<(u32, &'static str)>,
    /// Steps that were compared.
    pub steps: usize,
    /// A history on which model and Redis differ, made as short as possible, and the difference.
    pub counterexample: Option<(Trace, Difference)>,
    /// The limit of memory that ended it before all were played.
    pub stopped: Option<Stopped>,
}

/// Why not all histories were played: the servers or the harness failed.
#[derive(Debug, thiserror::Error)]
pub enum FuzzFailure {
    /// Before the first history.
    #[error(transparent)]
    AtStart(#[from] ReplayError),
    /// In a history.
    #[error("{0}: {error}", error = .0.error)]
    InHistory(Box<FailedHistory>),
}

/// A history that was not played to its end.
#[derive(Debug)]
pub struct FailedHistory {
    /// The history.
    pub trace: Trace,
    /// The step at which the failure was noticed: commands may wait for later steps before they are sent. 0: before the first.
    pub step: usize,
    /// Whether it is a part of a history that differs, which was to be made shorter.
    pub is_shortened: bool,
    /// What went wrong.
    pub error: ReplayError,
    /// What was found before.
    pub found: Fuzzed,
}

impl FailedHistory {
    /// Its number among the histories of the seed; 1 for the first.
    pub const fn number(&self) -> u32 {
        // One that differs is counted before it is made shorter.
        if self.is_shortened { self.found.cases } else { self.found.cases + 1 }
    }
}

impl fmt::Display for FailedHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, step, found, .. } = self;
        let shortened = if self.is_shortened { ", made shorter," } else { "" };
        write!(f, "history {} of seed {}{shortened} could not be replayed", self.number(), found.seed)?;
        if *step == 0 {
            f.write_str(" from its first step")
        } else {
            write!(f, " beyond step {step} of {}", trace.steps.len())
        }
    }
}

/// Plays random histories of the scenario until one differs in a way that is not known of this server, memory is short,
/// `limits.stop` is set, or all are played.
/// `limits.progress` counts them, and `limits.tries` those that are tried in order to make one that differs shorter.
///
/// # Errors
/// What keeps the servers from being asked, with the history in which it happened.
pub fn fuzz(
    scenario: &Scenario,
    server: &ServerProgram,
    target: impl Into<TargetProgram>,
    options: FuzzOptions,
    limits: &Limits<'_>,
) -> Result<Fuzzed, FuzzFailure> {
    played(scenario, server, target.into(), options, limits, OnDifference::Shorten)
}

/// What is done with a history that differs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnDifference {
    /// It is made as short as possible.
    Shorten,
    /// It is kept up to the difference.
    Cut,
}

fn played(
    scenario: &Scenario,
    server: &ServerProgram,
    target: TargetProgram,
    options: FuzzOptions,
    limits: &Limits<'_>,
    on_difference: OnDifference,
) -> Result<Fuzzed, FuzzFailure> {
    let Limits { stop, progress, .. } = *limits;
    let mut player = Player::start(server, &scenario.config, target)?;
    let (program, is_library) = (server, player.clients().is_some());
    let (server, clients, seed) = (player.server(), player.clients().map(str::to_owned), options.seed);
    let mut found = Fuzzed {
        server,
        clients,
        seed,
        cases: 0,
        left: 0,
        ends: BTreeMap::new(),
        known: None,
        steps: 0,
        counterexample: None,
        stopped: None,
    };
    let mut runner = runner(options.seed);
    let draws = vec(any::<u16>(), 1..=MOST_STEPS);
    while found.cases < options.cases && !stop.load(Ordering::Relaxed) {
        found.stopped = limits.lacks_memory(0);
        if found.stopped.is_some() {
            break;
        }
        let Ok(mut tree) = draws.new_tree(&mut runner) else { break };
        let trace = drawn_for(scenario, &tree.current(), is_library);
        let result = match player.replay(&trace, false) {
            Ok(result) => result,
            // What was found so far is still known.
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => {
                let step = player.step();
                let failed = FailedHistory { trace, step, is_shortened: false, error, found };
                return Err(FuzzFailure::InHistory(Box::new(failed)));
            }
        };
        found.steps += result.steps;
        found.cases += 1;
        // A history that differs as well is the one that is told.
        if let Some(end) = result.left.filter(|_| result.difference.is_none()) {
            found.left += 1;
            *found.ends.entry(end).or_default() += 1;
        }
        progress.fetch_add(1, Ordering::Relaxed);
        if let Some(cause) = result.difference.as_ref().and_then(|difference| difference.known) {
            found.left += 1;
            found.known = Some((found.known.map_or(1, |(times, _)| times + 1), cause));
            continue;
        }
        if let Some(difference) = result.difference {
            if on_difference == OnDifference::Cut {
                found.counterexample = Some(cut(scenario, (trace, difference)));
                break;
            }
            let ((trace, difference), failed) = shrink(scenario, &mut player, &mut tree, (trace, difference), limits);
            let is_asked = is_library && !stop.load(Ordering::Relaxed);
            let difference = if is_asked { difference.beside_scripts(program, &trace) } else { difference };
            found.counterexample = Some((trace, difference));
            if let Some((trace, error)) = failed {
                let step = player.step();
                let failed = FailedHistory { trace, step, is_shortened: true, error, found };
                return Err(FuzzFailure::InHistory(Box::new(failed)));
            }
            break;
        }
    }
    Ok(found)
}

/// How far servers and clients do what the model says in random histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The first history that differs, from 1.
    pub differs_in: Option<u32>,
    /// How many were followed to their end.
    pub followed: u32,
    /// How many were played.
    pub played: u32,
}

impl Agreement {
    /// Whether they do in as much of each history as can be followed, and in one at least to its end.
    pub const fn is_there(&self) -> bool {
        self.differs_in.is_none() && self.followed > 0
    }
}

/// Plays the same random histories as [`fuzz`], and does not make the one that differs shorter.
///
/// # Errors
/// What keeps the servers from being asked; `Stopped`, also by a limit of memory.
pub fn agreement(
    scenario: &Scenario,
    server: &ServerProgram,
    target: impl Into<TargetProgram>,
    options: FuzzOptions,
    limits: &Limits<'_>,
) -> Result<Agreement, ReplayError> {
    let found =
        played(scenario, server, target.into(), options, limits, OnDifference::Cut).map_err(|failed| match failed {
            FuzzFailure::AtStart(error) => error,
            FuzzFailure::InHistory(failed) => failed.error,
        })?;
    let differs_in = found.counterexample.is_some().then_some(found.cases);
    if differs_in.is_none() && found.cases < options.cases {
        return Err(ReplayError::Stopped);
    }
    let followed = found.cases - found.left - u32::from(differs_in.is_some());
    Ok(Agreement { differs_in, followed, played: found.cases })
}

/// Whether a target does what the model does in this history, in a scenario that may be another one than that in which it was found.
/// `None`: it cannot happen there.
///
/// # Errors
/// What keeps the servers from being asked.
pub fn agrees_in_history(
    scenario: &Scenario,
    server: &ServerProgram,
    target: impl Into<TargetProgram>,
    actions: &[Action],
) -> Result<Option<bool>, ReplayError> {
    let Some(trace) = recorder::record(&scenario.name, "", &scenario.config, About::Drawn, actions, "").ok() else {
        return Ok(None);
    };
    let mut player = Player::start(server, &scenario.config, target)?;
    Ok(Some(player.replay(&trace, false)?.difference.is_none()))
}

/// A random history of the scenario.
pub fn drawn(scenario: &Scenario, draws: &[u16]) -> Trace {
    drawn_for(scenario, draws, false)
}

fn drawn_for(scenario: &Scenario, draws: &[u16], is_library: bool) -> Trace {
    let actions = draw(&scenario.config, draws, is_library);
    record(scenario, &actions)
}

/// Makes the history shorter as long as it still differs. If the servers or the harness fail meanwhile: in which history, and
/// why. The shortest one so far differs all the same.
fn shrink(
    scenario: &Scenario,
    player: &mut Player,
    tree: &mut impl ValueTree<Value = Vec<u16>>,
    first: (Trace, Difference),
    &Limits { stop, tries, .. }: &Limits<'_>,
) -> ((Trace, Difference), Option<(Trace, ReplayError)>) {
    let mut best = cut(scenario, first);
    let mut has_more = tree.simplify();
    let most_tries = if player.clients().is_some() { MOST_SLOW_TRIES } else { MOST_TRIES };
    for _ in 0..most_tries {
        if !has_more || stop.load(Ordering::Relaxed) {
            break;
        }
        if let Some(tries) = tries {
            tries.fetch_add(1, Ordering::Relaxed);
        }
        let trace = drawn_for(scenario, &tree.current(), player.clients().is_some());
        let result = match player.replay(&trace, false) {
            Ok(result) => result,
            // A system call that a signal interrupts is not a failure of the server.
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => return (best, Some((trace, error))),
        };
        match result.difference.filter(|difference| difference.known.is_none()) {
            Some(difference) => {
                let shorter = cut(scenario, (trace, difference));
                if shorter.0.steps.len() <= best.0.steps.len() {
                    best = shorter;
                }
                has_more = tree.simplify();
            }
            None => has_more = tree.complicate(),
        }
    }
    (best, None)
}

/// The history without the steps after the difference.
fn cut(scenario: &Scenario, (trace, difference): (Trace, Difference)) -> (Trace, Difference) {
    let actions: Vec<Action> = trace.actions().into_iter().take(difference.step).collect();
    (record(scenario, &actions), difference)
}

fn record(scenario: &Scenario, actions: &[Action]) -> Trace {
    let reproduce = format!("lockstep fuzz {}", scenario.name);
    recorder::record(&scenario.name, &scenario.story, &scenario.config, About::Drawn, actions, &reproduce)
        .expect("the actions were drawn among those that can happen")
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(RunnerConfig::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// `is_library`: what a library orders by itself comes in its order, since it cannot be made to follow another one.
fn draw(config: &Config, draws: &[u16], is_library: bool) -> Vec<Action> {
    let actions = Action::all(config);
    let mut world = AnyWorld::initial(config);
    let mut history = Vec::with_capacity(draws.len());
    for &draw in draws {
        let mut possible = world.enabled(config, &actions);
        if is_library && config.asks_master_locks() {
            let state = world.state(config);
            possible.retain(|(action, _)| is_in_library_order(config, &history, &state, *action));
        }
        if possible.is_empty() {
            break;
        }
        let (action, next) = possible.swap_remove(usize::from(draw) % possible.len());
        history.push(action);
        world = next.world;
    }
    history
}
