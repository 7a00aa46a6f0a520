//! Looks at every state of a scenario and says what is so.
//!
//! Two engines that share nothing but the model give the verdicts on safety; [`liveness`] looks at fair paths, whichever
//! engine is asked for, for stateright can't. The judge re-executes every witness before anybody sees it.

pub(crate) mod adapter;
mod coverage;
pub mod covering;
pub mod fingerprint;
pub mod judge;
pub mod liveness;
pub mod native;
pub mod second_opinion;
pub(crate) mod team;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockstep_model::config::{Fault, Faults};
use lockstep_model::trace::{About, Trace};
use lockstep_model::{
    Action, ActionKind, Config, Happenings, InLayout, Layout, Property, Reply, ReplyKind, Verdict, in_layout,
};

pub use covering::covering;

use crate::scenario::Scenario;
use judge::{LassoWitness, Witness};
use liveness::{Found, Liveness, Run, Whom};

/// Who looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Our own breadth-first search.
    #[default]
    Native,
    /// stateright, the second opinion on safety; liveness stays with the native engine.
    Stateright,
    /// Both on safety; that they differ is an internal error.
    Both,
}

/// How to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Who looks.
    pub engine: Engine,
    /// How the native engine does.
    pub native: native::Options,
    /// How wide its fingerprints are.
    pub fingerprint: Width,
}

/// How wide a fingerprint is, bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Width {
    /// 8 bytes a state.
    #[default]
    #[value(name = "64")]
    Bits64,
    /// 16 bytes a state, for who finds the chance of a collision too large.
    #[value(name = "128")]
    Bits128,
}

impl Width {
    /// As a number.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => u64::BITS,
            Self::Bits128 => u128::BITS,
        }
    }
}

impl How {
    /// One thread, every state kept apart.
    pub fn by(engine: Engine) -> Self {
        Self { engine, native: native::Options::default(), fingerprint: Width::default() }
    }
}

/// When to stop early. Stopping early makes what is not yet known inconclusive, never "holds".
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// At most so many distinct states.
    pub max_states: Option<u64>,
    /// At most so many bytes for tables and layers.
    pub max_bytes: Option<u64>,
    /// At most so long, for one scenario.
    pub time_limit: Option<Duration>,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Distinct states so far, for whoever shows progress.
    pub progress: &'a AtomicU64,
}

/// What a search found.
pub struct Search {
    /// Distinct states.
    pub states: u64,
    /// Successors, the first state included.
    pub generated: u64,
    /// Steps from the first state to the farthest.
    pub depth: u32,
    /// Why it did not look at every state.
    pub stopped: Option<Stopped>,
    /// What was taken and what happened.
    pub coverage: Coverage,
    /// For each property asked for, a shortest list of actions that breaks it.
    pub witnesses: Vec<Option<Vec<Action>>>,
    /// The most memory that tables and layers took; `None` where the engine does not say.
    pub peak_bytes: Option<u64>,
}

/// Why a search did not look at every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// `--max-states`.
    MaxStates(u64),
    /// `--timeout`.
    TimeLimit(Duration),
    /// `--max-memory`.
    MaxMemory(u64),
    /// Ctrl-C.
    Interrupted,
    /// More states than the engine can number.
    TableFull,
}

/// A bug of ours, found by ourselves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The judge does not accept a witness.
    #[error("{scenario}: {rejection}")]
    Rejected {
        /// Of which scenario.
        scenario: String,
        /// Why.
        rejection: judge::Rejection,
    },
    /// The two engines do not say the same.
    #[error("{scenario}: the engines differ in {what}: native says {native}, stateright says {stateright}")]
    Disagree {
        /// Of which scenario.
        scenario: String,
        /// In what.
        what: String,
        /// One opinion.
        native: String,
        /// The other.
        stateright: String,
    },
}

/// What was found of one scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: String,
    /// Its world.
    pub config: Config,
    /// Who looked.
    pub engine: Engine,
    /// Distinct states.
    pub states: u64,
    /// States reached, the same one as often as it was reached.
    pub generated: u64,
    /// Steps from the first state to the farthest.
    pub depth: u32,
    /// Whether every reachable state was looked at.
    pub complete: bool,
    /// Wall-clock time.
    pub seconds: f64,
    /// How wide the fingerprints were by which states were told apart, bits.
    pub fingerprint_bits: u32,
    /// The most memory that tables and layers took; `None` where the engine does not say.
    pub peak_bytes: Option<u64>,
    /// The part of it that was spent on liveness; `None`: no such property applies, or the search had to stop before.
    pub liveness_seconds: Option<f64>,
    /// What was taken and what happened.
    pub coverage: Coverage,
    /// One per property that applies, in the order of [`Property::ALL`].
    pub properties: Vec<PropertyOutcome>,
}

/// What a run came to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How often an action of each kind was taken and answered so, in the order of [`ActionKind::ALL`] and
    /// [`ReplyKind::ALL`].
    pub answers: [[u64; ReplyKind::ALL.len()]; ActionKind::ALL.len()],
    /// In how many states an action of each kind can happen.
    pub enabled: [u64; ActionKind::ALL.len()],
    /// Everything that happened in any step.
    pub happenings: Happenings,
    /// For each fault, the least that was left of its budget in any state.
    pub least_left: Faults,
}

/// What was found of one property.
#[derive(Clone, Debug)]
pub struct PropertyOutcome {
    /// Which.
    pub property: Property,
    /// What the scenario says it should be; `None`: it says nothing, so it must not be violated.
    pub declared: Option<Verdict>,
    /// What it is.
    pub verdict: Verdict,
    /// Of a vacuous or inconclusive verdict: why, in words.
    pub why: Option<String>,
    /// Who says so.
    pub engine: Engine,
    /// The shortest trace that breaks it, of liveness one with the shortest stem, judged.
    pub trace: Option<Trace>,
}

impl PropertyOutcome {
    /// Whether it is what the scenario says.
    pub fn is_as_declared(&self) -> bool {
        match self.declared {
            Some(declared) => declared == self.verdict,
            None => matches!(self.verdict, Verdict::Holds | Verdict::Vacuous),
        }
    }
}

impl Outcome {
    /// Whether every property is as declared.
    pub fn is_as_declared(&self) -> bool {
        self.properties.iter().all(PropertyOutcome::is_as_declared)
    }

    /// Whether a limit kept something from being known.
    pub fn is_inconclusive(&self) -> bool {
        self.properties.iter().any(|found| found.verdict == Verdict::Inconclusive)
    }
}

impl Limits<'_> {
    /// The limit that has been passed, if any.
    fn exceeded(&self, states: u64, bytes: u64, started: Instant) -> Option<Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Stopped::Interrupted);
        }
        if let Some(most) = self.max_states.filter(|&most| states >= most) {
            return Some(Stopped::MaxStates(most));
        }
        if let Some(most) = self.max_bytes.filter(|&most| bytes >= most) {
            return Some(Stopped::MaxMemory(most));
        }
        self.time_limit.filter(|&most| started.elapsed() >= most).map(Stopped::TimeLimit)
    }
}

impl Stopped {
    /// In words, for a verdict of inconclusive.
    pub fn words(self, states: u64) -> String {
        match self {
            Self::MaxStates(most) => format!("stopped after {states} states by --max-states {most}"),
            Self::TimeLimit(most) => {
                format!("stopped after {states} states by --timeout {}", most.as_secs_f64())
            }
            Self::MaxMemory(most) => format!("stopped after {states} states by --max-memory {most}"),
            Self::Interrupted => format!("interrupted after {states} states"),
            Self::TableFull => format!("stopped after {states} states: the engine can number no more"),
        }
    }
}

impl Coverage {
    /// Nothing seen yet.
    pub fn none(config: &Config) -> Self {
        Self { answers: [[0; _]; _], enabled: [0; _], happenings: Happenings::NONE, least_left: config.faults }
    }

    /// Notes a step: the one count that is made for each.
    fn note(&mut self, kind: ActionKind, reply: Reply, happenings: Happenings) {
        self.answers[kind as usize][reply.kind() as usize] += 1;
        self.happenings = self.happenings.and(happenings);
    }

    /// What somebody else saw.
    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.answers.as_flattened_mut().iter_mut().zip(other.answers.as_flattened()) {
            *mine += theirs;
        }
        for (mine, theirs) in self.enabled.iter_mut().zip(other.enabled) {
            *mine += theirs;
        }
        self.happenings = self.happenings.and(other.happenings);
        self.note_left(other.least_left);
    }

    /// Notes what a state has left of the budgets.
    fn note_left(&mut self, left: Faults) {
        self.least_left = self.least_left.least(left);
    }

    /// What the scenario allows and the run never did, in words.
    fn unreached(&self, config: &Config) -> Vec<String> {
        let never = ActionKind::ALL
            .into_iter()
            .filter(|kind| kind.is_allowed(config) && self.taken(*kind) == 0)
            .map(|kind| format!("{} is never taken", kind.name()));
        let unspent = self
            .unspent()
            .filter(|(fault, _)| self.taken(ActionKind::of_fault(*fault)) > 0)
            .map(|(fault, left)| format!("of the budget for {} always {left} are left", fault.name()));
        never.chain(unspent).collect()
    }

    /// The budgets that are never spent to the end, and what is always left of them.
    pub fn unspent(&self) -> impl Iterator<Item = (Fault, u8)> {
        self.least_left.budgets().into_iter().filter(|(_, left)| *left > 0)
    }
}

/// Looks at every state of the scenario and says what is so, on one thread.
///
/// # Errors
/// As [`check_as`].
pub fn check(scenario: &Scenario, engine: Engine, limits: &Limits<'_>) -> Result<Outcome, Error> {
    check_as(scenario, How::by(engine), limits)
}

/// Looks at every state of the scenario and says what is so.
///
/// # Errors
/// [`Error`] when the judge rejects a witness or the engines disagree: a bug of Lockstep, never a result.
pub fn check_as(scenario: &Scenario, how: How, limits: &Limits<'_>) -> Result<Outcome, Error> {
    let engine = how.engine;
    let started = Instant::now();
    let config = &scenario.config;
    let applying: Vec<Property> =
        Property::ALL.into_iter().filter(|property| property.applies(config).is_ok()).collect();
    let safety: Vec<Property> =
        applying.iter().copied().filter(|property| Property::SAFETY.contains(property)).collect();

    let run = |kind| search(config, &safety, How { engine: kind, ..how }, limits);
    let search = match engine {
        Engine::Native | Engine::Stateright => run(engine),
        Engine::Both => {
            let native = run(Engine::Native);
            compare(&scenario.name, &safety, &native, &run(Engine::Stateright))?;
            native
        }
    };

    let witnesses: Vec<Witness<'_>> = safety
        .iter()
        .zip(&search.witnesses)
        .filter_map(|(&property, actions)| Some(Witness { property, actions: actions.as_deref()? }))
        .collect();
    let reject = |rejection| Error::Rejected { scenario: scenario.name.clone(), rejection };
    let must_stop = || limits.exceeded(0, 0, started).is_some();
    // A passage counts as one step of the search: what it finds need not be shortest.
    let judgement = if how.native.skip_idle {
        judge::execute_all(config, &witnesses)
    } else {
        judge::judge(config, &witnesses, &must_stop)
    };
    let judgement = judgement.map_err(reject)?;

    let promises: Vec<Property> =
        applying.iter().copied().filter(|property| Property::LIVENESS.contains(property)).collect();
    let looked = Instant::now();
    let liveness = match search.stopped {
        None if !promises.is_empty() => {
            let threads = how.native.threads;
            Some(liveness::look(config, &promises, Whom::OneClient, threads, limits, started))
        }
        _ => None,
    };
    let liveness_seconds = liveness.as_ref().map(|_| looked.elapsed().as_secs_f64());

    let mut properties = Vec::new();
    for property in applying {
        let declared = scenario.expect.get(&property).copied();
        if let Some(index) = promises.iter().position(|promise| *promise == property) {
            let found = of_liveness(scenario, property, index, liveness.as_ref(), &search).map_err(reject)?;
            properties.push(PropertyOutcome { declared, ..found });
            continue;
        }
        let witness = witnesses.iter().find(|witness| witness.property == property);
        let (verdict, why) = verdict(config, property, witness.is_some(), &search);
        let trace = witness
            .map(|witness| counterexample(scenario, engine, witness, judgement.is_shortest))
            .transpose()
            .map_err(reject)?;
        properties.push(PropertyOutcome { property, declared, verdict, why, engine, trace });
    }
    Ok(Outcome {
        scenario: scenario.name.clone(),
        config: *config,
        engine,
        states: search.states,
        generated: search.generated,
        depth: search.depth,
        complete: search.stopped.is_none(),
        seconds: started.elapsed().as_secs_f64(),
        fingerprint_bits: if engine == Engine::Stateright { u64::BITS } else { how.fingerprint.bits() },
        peak_bytes: search.peak_bytes,
        liveness_seconds,
        coverage: search.coverage,
        properties,
    })
}

/// Looks at every state for these safety properties and says what was found, judged by nobody.
///
/// # Panics
/// Asked for both engines at once: there is one search.
pub fn search(config: &Config, properties: &[Property], how: How, limits: &Limits<'_>) -> Search {
    assert!(how.engine != Engine::Both, "one engine a search");
    in_layout(config, Searching { how, properties, limits })
}

struct Searching<'a> {
    how: How,
    properties: &'a [Property],
    limits: &'a Limits<'a>,
}

impl InLayout for Searching<'_> {
    type Output = Search;

    fn run<Y: Layout>(self, config: &Config) -> Search {
        let Self { how, properties, limits } = self;
        match (how.engine, how.fingerprint) {
            (Engine::Stateright, _) => second_opinion::search::<Y>(config, properties, limits),
            (_, Width::Bits64) => native::search::<Y, u64>(config, properties, how.native, limits),
            (_, Width::Bits128) => native::search::<Y, u128>(config, properties, how.native, limits),
        }
    }
}

fn verdict(config: &Config, property: Property, is_broken: bool, search: &Search) -> (Verdict, Option<String>) {
    if is_broken {
        return (Verdict::Violated, None);
    }
    if property == Property::ActionsReached {
        let unreached = search.coverage.unreached(config);
        return match search.stopped {
            // What was reached was reached, wherever the search stopped.
            _ if unreached.is_empty() => (Verdict::Holds, None),
            Some(stopped) => (Verdict::Inconclusive, Some(stopped.words(search.states))),
            None => (Verdict::Vacuous, Some(unreached.join("; "))),
        };
    }
    if let Some(stopped) = search.stopped {
        return (Verdict::Inconclusive, Some(stopped.words(search.states)));
    }
    match property.antecedent() {
        Some(antecedent) if !search.coverage.happenings.has(antecedent) => {
            (Verdict::Vacuous, Some(property.antecedent_sentence().to_owned()))
        }
        _ => (Verdict::Holds, None),
    }
}

/// What the liveness pass says of a property; a lasso is judged.
fn of_liveness(
    scenario: &Scenario,
    property: Property,
    index: usize,
    liveness: Option<&Result<Liveness, Stopped>>,
    search: &Search,
) -> Result<PropertyOutcome, judge::Rejection> {
    let say =
        |verdict, why, trace| PropertyOutcome { property, declared: None, verdict, why, engine: Engine::Native, trace };
    let stopped = match liveness {
        Some(Ok(liveness)) => {
            return Ok(match &liveness.found[index] {
                Found::Holds => say(Verdict::Holds, None, None),
                Found::Vacuous => say(Verdict::Vacuous, Some(property.antecedent_sentence().to_owned()), None),
                Found::Violated(run) => say(Verdict::Violated, None, Some(lasso(scenario, property, run)?)),
            });
        }
        Some(Err(stopped)) => Some(*stopped),
        None => search.stopped,
    };
    let why = stopped.map(|stopped| stopped.words(search.states));
    Ok(say(Verdict::Inconclusive, why, None))
}

fn lasso(scenario: &Scenario, property: Property, run: &Run) -> Result<Trace, judge::Rejection> {
    let Scenario { name, story, config, .. } = scenario;
    judge::judge_lassos(config, &[LassoWitness { property, actions: &run.actions, loop_start: run.loop_start }])?;
    let about = About::Counterexample {
        property,
        verdict: Verdict::Violated,
        engine: "native".to_owned(),
        // Nobody but the engine has looked for a shorter stem, and no one for a shorter loop elsewhere.
        shortest: false,
    };
    let reproduce = format!("lockstep check {name}");
    Trace::record_lasso(name, story, config, about, (&run.actions, run.loop_start), &reproduce)
        .map_err(|_| judge::Rejection::NotClosed { property })
}

fn counterexample(
    scenario: &Scenario,
    engine: Engine,
    witness: &Witness<'_>,
    shortest: bool,
) -> Result<Trace, judge::Rejection> {
    let property = witness.property;
    let engine = match engine {
        Engine::Native | Engine::Both => "native",
        Engine::Stateright => "stateright",
    };
    let about = About::Counterexample { property, verdict: Verdict::Violated, engine: engine.to_owned(), shortest };
    let reproduce = format!("lockstep check {}", scenario.name);
    Trace::record(&scenario.name, &scenario.story, &scenario.config, about, witness.actions, &reproduce)
        .map_err(|_| judge::Rejection::NotEnabled { property, step: 0, action: Action::Tick })
}

/// Two engines, one truth. What stopped early cannot be compared.
fn compare(scenario: &str, properties: &[Property], native: &Search, stateright: &Search) -> Result<(), Error> {
    if native.stopped.is_some() || stateright.stopped.is_some() {
        return Ok(());
    }
    let differ = |what: &str, native: String, stateright: String| {
        if native == stateright {
            return Ok(());
        }
        Err(Error::Disagree { scenario: scenario.to_owned(), what: what.to_owned(), native, stateright })
    };
    differ("distinct states", native.states.to_string(), stateright.states.to_string())?;
    differ("depth", native.depth.to_string(), stateright.depth.to_string())?;
    for kind in ActionKind::ALL {
        let seen = |search: &Search| {
            let coverage = &search.coverage;
            format!("{:?} in {} states", coverage.answers[kind as usize], coverage.enabled[kind as usize])
        };
        differ(&format!("answers to {}", kind.name()), seen(native), seen(stateright))?;
    }
    for ((property, mine), theirs) in properties.iter().zip(&native.witnesses).zip(&stateright.witnesses) {
        let words = |witness: &Option<Vec<Action>>| match witness {
            Some(actions) => format!("violated after {} steps", actions.len()),
            None => "not violated".to_owned(),
        };
        differ(property.id(), words(mine), words(theirs))?;
    }
    Ok(())
}
