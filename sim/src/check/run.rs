//! Checks a scenario: searches, judges the witnesses, examines fair paths, and gives the verdicts.

use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::config::Fault;
use lockstep_model::properties::PropertyKind;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, ActionKind, Config, InLayout, Layout, Property, Verdict, in_largest_layout};

use super::bounds::{exceeded, weighed};
use super::engine::{Engine, How, Width};
use super::judge::{self, LassoWitness, Witness};
use super::layouts::in_layout;
use super::limits::{Limits, Pass, Stopped};
use super::liveness::{self, Found, LassoRun, Liveness, LivenessQuestion, Whom};
use super::outcome::{CheckError, CheckOutcome, PropertyOutcome};
use super::search::Search;
use super::{native, second_opinion};
use crate::recorder;
use crate::scenario::{Others, Scenario};

/// Visits every state of the scenario and gives the verdicts, on one thread.
///
/// # Errors
/// As [`check_as`].
pub fn check(scenario: &Scenario, engine: Engine, limits: &Limits<'_>) -> Result<CheckOutcome, CheckError> {
    check_as(scenario, How::by(engine), limits)
}

/// Visits every state of the scenario and gives the verdicts.
///
/// # Errors
/// [`CheckError`] when the judge rejects a witness or the engines disagree: a bug of Lockstep, never a result.
pub fn check_as(scenario: &Scenario, how: How, limits: &Limits<'_>) -> Result<CheckOutcome, CheckError> {
    let engine = how.engine;
    let started = Instant::now();
    limits.begin_pass(Pass::Safety);
    let config = &scenario.config;
    let is_asked = |property: &Property| how.only.is_none_or(|only| only == *property);
    let applying: Vec<Property> =
        Property::ALL.into_iter().filter(|property| property.applies(config).is_ok() && is_asked(property)).collect();
    let safety: Vec<Property> =
        applying.iter().copied().filter(|property| Property::SAFETY.contains(property)).collect();

    // The engines are compared on full worlds: stateright knows no normal forms.
    let normal_forms = how.native.normal_forms && engine == Engine::Native;
    let native = native::Options { normal_forms, ..how.native };
    let run = |kind| search(config, &safety, How { engine: kind, native, ..how }, limits);
    let search = match engine {
        Engine::Native | Engine::Stateright => run(engine),
        Engine::Both => {
            let native = run(Engine::Native);
            if native.states > how.second_opinion_up_to {
                native
            } else {
                limits.begin();
                let other = run(Engine::Stateright);
                compare(&scenario.name, &safety, &native, &other)?;
                // What only one of them has looked at has no second opinion.
                let states = native.states.min(other.states);
                Search { states, stopped: native.stopped.or(other.stopped), ..native }
            }
        }
    };

    let witnesses: Vec<Witness<'_>> = safety
        .iter()
        .zip(&search.witnesses)
        .filter_map(|(&property, actions)| Some(Witness { property, actions: actions.as_deref()? }))
        .collect();
    let reject = |rejection| CheckError::Rejected { scenario: scenario.name.clone(), rejection };
    let must_stop = |more| limits.exceeded(0, 0, started).or_else(|| limits.lacks_memory(more)).is_some();
    limits.begin();
    // A passage counts as one step of the search, so the traces that it finds need not be shortest.
    let judgement = if how.seeks_shorter && !how.native.skip_idle {
        judge::judge(config, &witnesses, &must_stop)
    } else {
        judge::execute_all(config, &witnesses)
    };
    let judgement = judgement.map_err(reject)?;

    let promises: Vec<Property> = applying.iter().copied().filter(|property| is_about_runs(*property)).collect();
    let looked = Instant::now();
    limits.begin_pass(Pass::Liveness);
    let liveness = match search.stopped {
        None if !promises.is_empty() => {
            let threads = how.native.threads;
            // What can happen to one client can happen to each, if they are alike and all there from the beginning.
            let whom = if config.clients_are_alike() && config.late_clients() == 0 {
                Whom::OneClient
            } else {
                Whom::Everybody
            };
            let is_touched = search.coverage.touched().next().is_some();
            let asked = LivenessQuestion { properties: &promises, whom, normal_forms };
            Some(liveness::look(config, asked, threads, limits, started, is_touched))
        }
        _ => None,
    };
    // The graph keeps more states apart than the search.
    let graph_states = limits.progress.load(Ordering::Relaxed);
    let liveness_seconds = liveness.as_ref().map(|_| looked.elapsed().as_secs_f64());

    let exceeded = exceeded(config, &search.coverage);
    let mut properties = Vec::new();
    for property in applying {
        let declared = scenario.expect.get(&property).copied();
        let is_required = declared.is_some() || how.only.is_some() || scenario.others == Others::Hold;
        if let Some(index) = promises.iter().position(|promise| *promise == property) {
            let found = of_liveness(scenario, property, index, (liveness.as_ref(), graph_states), &search, &must_stop)
                .map_err(reject)?;
            let (verdict, why) = weighed(property, declared, (found.verdict, found.why), exceeded.as_ref());
            properties.push(PropertyOutcome { declared, is_required, verdict, why, ..found });
            continue;
        }
        let witness = witnesses.iter().find(|witness| witness.property == property);
        let found = verdict(config, property, witness.is_some(), &search);
        let (verdict, why) = weighed(property, declared, found, exceeded.as_ref());
        let trace = witness
            .map(|witness| counterexample(scenario, engine, witness, judgement.is_shortest))
            .transpose()
            .map_err(reject)?;
        properties.push(PropertyOutcome { property, declared, is_required, verdict, why, engine, trace });
    }
    Ok(CheckOutcome {
        scenario: scenario.name.clone(),
        config: *config,
        engine,
        states: search.states,
        generated: search.generated,
        depth: search.depth,
        complete: search.stopped.is_none() && exceeded.is_none() && !liveness.as_ref().is_some_and(is_cut_short),
        seconds: started.elapsed().as_secs_f64(),
        fingerprint_bits: if engine == Engine::Stateright { u64::BITS } else { how.fingerprint.bits() },
        left_normal_forms: search.left_normal_forms,
        peak_bytes: search.peak_bytes,
        liveness_seconds,
        coverage: search.coverage,
        properties,
    })
}

/// Visits every state for these safety properties and returns the findings, without judging the witnesses.
///
/// # Panics
/// If both engines are requested: this function runs a single search.
pub fn search(config: &Config, properties: &[Property], how: How, limits: &Limits<'_>) -> Search {
    assert!(how.engine != Engine::Both, "one engine a search");
    // Each layout is a copy of the engine in the binary, so only the search that most runs use has one for each.
    match (how.engine, how.fingerprint) {
        (Engine::Native, Width::Bits64) => in_layout(config, Narrow { options: how.native, properties, limits }),
        (Engine::Native | Engine::Stateright | Engine::Both, _) => {
            in_largest_layout(config, Wide { how, properties, limits })
        }
    }
}

/// The native search with fingerprints of 64 bits.
struct Narrow<'a> {
    options: native::Options,
    properties: &'a [Property],
    limits: &'a Limits<'a>,
}

impl InLayout for Narrow<'_> {
    type Output = Search;

    fn run<Y: Layout>(self, config: &Config) -> Search {
        native::search::<Y, u64>(config, self.properties, self.options, self.limits)
    }
}

/// Every other search.
struct Wide<'a> {
    how: How,
    properties: &'a [Property],
    limits: &'a Limits<'a>,
}

impl InLayout for Wide<'_> {
    type Output = Search;

    fn run<Y: Layout>(self, config: &Config) -> Search {
        let Self { how, properties, limits } = self;
        match how.engine {
            Engine::Stateright => second_opinion::search::<Y>(config, properties, limits),
            Engine::Native | Engine::Both => native::search::<Y, u128>(config, properties, how.native, limits),
        }
    }
}

/// What was seen of a property, as far as the model has room.
fn verdict(config: &Config, property: Property, is_broken: bool, search: &Search) -> (Verdict, Option<String>) {
    if is_broken {
        return (Verdict::Violated, None);
    }
    if property == Property::ActionsReached {
        let unreached = search.coverage.unreached(config);
        return match search.stopped {
            // Reached actions count, wherever the search stopped.
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

/// The liveness pass's verdict on a property, as far as the model has room; a lasso is judged.
fn of_liveness(
    scenario: &Scenario,
    property: Property,
    index: usize,
    (liveness, graph_states): (Option<&Result<Liveness, Stopped>>, u64),
    search: &Search,
    must_stop: &dyn Fn(u64) -> bool,
) -> Result<PropertyOutcome, judge::Rejection> {
    let say = |verdict, why, trace| {
        let (declared, is_required) = (None, true);
        PropertyOutcome { property, declared, is_required, verdict, why, engine: Engine::Native, trace }
    };
    let stopped = match liveness {
        Some(Ok(liveness)) => {
            return Ok(match &liveness.found[index] {
                Found::Holds => say(Verdict::Holds, None, None),
                Found::Vacuous => say(Verdict::Vacuous, Some(property.antecedent_sentence().to_owned()), None),
                Found::Violated(run) => say(Verdict::Violated, None, Some(lasso(scenario, property, run)?)),
                Found::Stopped(stopped) => say(Verdict::Inconclusive, Some(stopped.words(graph_states)), None),
                Found::OutOfReach(dead_end) => {
                    let witness = Witness { property, actions: &dead_end.actions };
                    if !judge::judge_dead_end(&scenario.config, &witness, must_stop)? {
                        return Ok(say(Verdict::Inconclusive, Some(UNCONFIRMED.to_owned()), None));
                    }
                    let trace = counterexample(scenario, Engine::Native, &witness, false)?;
                    say(Verdict::Violated, Some(helped(&dead_end.helped_by)), Some(trace))
                }
            });
        }
        Some(Err(stopped)) => Some((*stopped, graph_states)),
        None => search.stopped.map(|stopped| (stopped, search.states)),
    };
    let why = stopped.map(|(stopped, states)| stopped.words(states));
    Ok(say(Verdict::Inconclusive, why, None))
}

/// Why a state from which nobody gets the lock any more is not reported.
const UNCONFIRMED: &str =
    "a state was found from which nobody seems to get the lock any more, but too much lies behind it to confirm that";

/// Which faults would help.
fn helped(faults: &[Fault]) -> String {
    let names: Vec<_> = faults.iter().map(|fault| fault.name()).collect();
    match names.as_slice() {
        [] => "none of the faults that may still happen would help".to_owned(),
        names => format!("of the faults that may still happen, only these would help: {}", names.join(", ")),
    }
}

/// Whether the pass over runs left a question open.
fn is_cut_short(liveness: &Result<Liveness, Stopped>) -> bool {
    let is_open = |found: &Found| matches!(found, Found::Stopped(_));
    liveness.as_ref().map_or(true, |looked| looked.found.iter().any(is_open))
}

/// Whether the pass over the complete graph decides it.
const fn is_about_runs(property: Property) -> bool {
    matches!(property.kind(), PropertyKind::Liveness | PropertyKind::Possible)
}

fn lasso(scenario: &Scenario, property: Property, run: &LassoRun) -> Result<Trace, judge::Rejection> {
    let Scenario { name, story, config, .. } = scenario;
    judge::judge_lassos(config, &[LassoWitness { property, actions: &run.actions, loop_start: run.loop_start }])?;
    let about = About::Counterexample {
        property,
        verdict: Verdict::Violated,
        engine: Engine::Native.finder().to_owned(),
        // Only the engine has searched for a shorter stem, and nothing has searched for a shorter loop elsewhere.
        shortest: false,
    };
    let reproduce = format!("lockstep check {name}");
    recorder::record_lasso(name, story, config, about, (&run.actions, run.loop_start), &reproduce)
        .map_err(|_| judge::Rejection::NotClosed { property })
}

fn counterexample(
    scenario: &Scenario,
    engine: Engine,
    witness: &Witness<'_>,
    shortest: bool,
) -> Result<Trace, judge::Rejection> {
    let property = witness.property;
    let engine = engine.finder().to_owned();
    let about = About::Counterexample { property, verdict: Verdict::Violated, engine, shortest };
    let reproduce = format!("lockstep check {}", scenario.name);
    recorder::record(&scenario.name, &scenario.story, &scenario.config, about, witness.actions, &reproduce)
        .map_err(|_| judge::Rejection::NotEnabled { property, step: 0, action: Action::Tick })
}

/// The two engines must agree. A search that stopped early cannot be compared.
fn compare(scenario: &str, properties: &[Property], native: &Search, stateright: &Search) -> Result<(), CheckError> {
    if native.stopped.is_some() || stateright.stopped.is_some() {
        return Ok(());
    }
    let differ = |what: &str, native: String, stateright: String| {
        if native == stateright {
            return Ok(());
        }
        Err(CheckError::Disagree { scenario: scenario.to_owned(), what: what.to_owned(), native, stateright })
    };
    differ("distinct states", native.states.to_string(), stateright.states.to_string())?;
    differ("depth", native.depth.to_string(), stateright.depth.to_string())?;
    let touched =
        |search: &Search| search.coverage.touched().map(|(capacity, _)| capacity.name()).collect::<Vec<_>>().join(", ");
    differ("exceeded capacities", touched(native), touched(stateright))?;
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
