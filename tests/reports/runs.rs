//! The data behind the pages: scenarios, explored completely by both engines.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::Resource;
use lockstep_model::trace::{About, Trace};
use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, PropertyOutcome, check_as};
use lockstep_sim::recorder::{self, TraceError};
use lockstep_sim::scenario::{BuiltIn, Scenario, builtin};
use lockstep_tests::at_once::at_once;
use lockstep_tests::drawn::from_environment;
use lockstep_tests::page;

/// One line of a scenario file: table, key and value.
pub type ScenarioLine = (&'static str, &'static str, &'static str);

/// Every built-in scenario and its outcome, in the order of the scenarios.
pub static ALL: LazyLock<Vec<(Scenario, CheckOutcome)>> = LazyLock::new(|| {
    let scenarios = builtin();
    let outcomes = at_once(&scenarios, exhaust);
    scenarios.into_iter().zip(outcomes).collect()
});

/// `make test` asks stateright only about worlds of at most so many states: most, though these have an eighth of all states. It takes
/// three times as long as all else that is done with the larger ones. `make soak` sets `LOCKSTEP_SECOND_OPINION_ON_ALL`, and asks it
/// about every world, as whoever writes the pages does.
pub const SECOND_OPINION_STATES: u64 = 50_000;

fn asks_about_every_world() -> bool {
    page::is_writing() || from_environment("LOCKSTEP_SECOND_OPINION_ON_ALL", 0) > 0
}

fn second_opinion_up_to() -> u64 {
    if asks_about_every_world() { u64::MAX } else { SECOND_OPINION_STATES }
}

/// Explores every state with both engines: any difference in what both count fails the run.
pub fn exhaust(scenario: &Scenario) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits::none(&stop, &progress);
    let how = How { second_opinion_up_to: second_opinion_up_to(), ..How::by(Engine::Both) };
    let outcome = check_as(scenario, how, &limits).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.complete, "{} was not exhausted", scenario.name);
    outcome
}

/// The properties that are violated in a scenario, of which nothing else is told: in `make test` those of a world that is not built in
/// are looked for among normal forms, by the native engine alone.
pub fn violated(scenario: &Scenario) -> Vec<Property> {
    if let Some((_, outcome)) = of_same_world(scenario) {
        return violated_in(outcome);
    }
    if asks_about_every_world() {
        return violated_in(&exhaust(scenario));
    }
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let how = How { seeks_shorter: false, ..How::by(Engine::Native) };
    let outcome = check_as(scenario, how, &Limits::none(&stop, &progress)).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.complete, "{} was not exhausted", scenario.name);
    violated_in(&outcome)
}

/// The properties that are violated.
pub fn violated_in(outcome: &CheckOutcome) -> Vec<Property> {
    let violated = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated);
    violated.map(|found| found.property).collect()
}

/// The built-in scenario with that name, and its outcome.
pub fn known(name: &str) -> &'static (Scenario, CheckOutcome) {
    ALL.iter().find(|(scenario, _)| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name}"))
}

/// The outcome of one property.
pub fn found(outcome: &CheckOutcome, property: Property) -> &PropertyOutcome {
    let found = outcome.properties.iter().find(|found| found.property == property);
    found.unwrap_or_else(|| panic!("{property} does not apply to {}", outcome.scenario))
}

/// The verdict in words: `holds`, `violated in 5 steps`, `vacuous`.
pub fn verdict_words(found: &PropertyOutcome) -> String {
    match &found.trace {
        Some(trace) => format!("{} in {} steps", found.verdict, trace.steps.len()),
        None => found.verdict.to_string(),
    }
}

/// The built-in scenario with these lines replacing the corresponding lines of its file, and without its claims: the
/// same as when a reader edits the file.
pub fn edited(name: &str, lines: &[ScenarioLine]) -> Scenario {
    let file = BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}"));
    let (mut text, _) = file.text.split_once("[expect]").expect("a built-in scenario has claims");
    let mut owned;
    for &(table, key, value) in lines {
        owned = with_line(text, table, key, value);
        text = &owned;
    }
    Scenario::parse(name, text).unwrap_or_else(|error| panic!("{error}"))
}

/// The built-in scenario with the same world, if there is one.
pub fn same_world(scenario: &Scenario) -> Option<&'static str> {
    of_same_world(scenario).map(|(known, _)| known.name.as_str())
}

fn of_same_world(scenario: &Scenario) -> Option<&'static (Scenario, CheckOutcome)> {
    ALL.iter().find(|(known, _)| known.config == scenario.config)
}

/// A history of a scenario, or the reason why the actions are not one.
pub fn history(scenario: &Scenario, actions: &[Action]) -> Result<Trace, TraceError> {
    recorder::record(&scenario.name, &scenario.story, &scenario.config, About::Drawn, actions, "make reports")
}

fn with_line(text: &str, table: &str, key: &str, value: &str) -> String {
    let mut current = "";
    let kept = text.lines().filter(|line| {
        if let Some(name) = line.strip_prefix('[') {
            current = name.trim_end_matches(']');
        }
        let is_replaced = current == table && line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
        !is_replaced
    });
    let (head, line) = (format!("[{table}]"), format!("{key} = {value}"));
    let mut lines: Vec<_> = kept.map(str::to_owned).collect();
    match lines.iter().position(|line| *line == head) {
        Some(at) => lines.insert(at + 1, line),
        None => lines.extend([head, line]),
    }
    lines.join("\n") + "\n"
}

#[test]
fn an_edited_scenario_is_the_one_that_was_meant() {
    let kept = edited("failover-loses-the-grant", &[("cluster", "lag", "0"), ("cluster", "failover_within", "0")]);
    assert_eq!(same_world(&kept), Some("failover-keeps-the-grant"));
    let fenced = edited("force-release", &[("resource", "fencing", "\"ideal\"")]);
    assert!(fenced.config.resource.is_some_and(Resource::is_fenced));
}

/// The pages present only verdicts that were declared.
#[test]
fn every_built_in_scenario_is_as_declared() {
    for (_, outcome) in ALL.iter() {
        for found in &outcome.properties {
            assert!(found.is_as_declared(), "{} in {}", found.property, outcome.scenario);
            assert!(found.verdict != Verdict::Inconclusive);
        }
    }
}
