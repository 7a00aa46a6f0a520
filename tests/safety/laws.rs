//! Laws: a world in which more may happen breaks at least what the narrower one breaks. No engine knows them, so they find
//! what all engines have in common: a rule of the model that forbids what it should allow.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::{Bound, ClientSettings, Clients, Fault, MAX_CLIENTS};
use lockstep_model::properties::PropertyKind;
use lockstep_model::{Config, Property, Verdict};
use lockstep_sim::check::{CheckOutcome, Engine, How, Limits, PropertyOutcome, check_as};
use lockstep_sim::scenario::{Scenario, builtin};
use lockstep_tests::drawn::{ShownIfItFails, from_environment, read, texts};

/// Random scenarios, including those that are refused; `LOCKSTEP_DRAW_SCENARIOS` asks for others.
const SCENARIOS: u32 = 100;
/// A scenario that has more states is not widened.
const MOST_STATES: u64 = 1_500;
/// The search of a wider world ends here; what is not known then is not compared.
const MOST_WIDER: u64 = 40_000;

fn checked(scenario: &Scenario, max_states: u64) -> CheckOutcome {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let max_states = Some(max_states);
    let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
    check_as(scenario, How::by(Engine::Native), &limits).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// A world in which more may happen, and what.
type Wider = (String, Config);

/// One more of each fault that may happen, and one of some that may not.
fn one_fault_more(config: &Config) -> Vec<Wider> {
    let also = [Fault::CrashClient, Fault::PauseClient, Fault::CrashNode];
    let can_be_added = |(fault, budget): &(Fault, u8)| *budget > 0 || also.contains(fault);
    let budgets = config.faults.budgets().into_iter().filter(can_be_added);
    budgets
        .map(|(fault, budget)| {
            let mut wider = *config;
            *wider.faults.left_mut(fault) = budget + 1;
            (format!("{} = {}", fault.name(), budget + 1), wider)
        })
        .collect()
}

/// One more acquire for each client.
fn one_acquire_more(config: &Config) -> Vec<Wider> {
    let Some(acquires) = config.clients.acquires else { return Vec::new() };
    let mut wider = *config;
    wider.clients.acquires = Some(acquires + 1);
    vec![(format!("acquires = {}", acquires + 1), wider)]
}

/// Replicas may be late by one tick more, and a failover may take one more.
fn later_by_a_tick(config: &Config) -> Vec<Wider> {
    let mut all = Vec::new();
    if let Bound::Ticks(lag) = config.cluster.lag {
        let mut wider = *config;
        wider.cluster.lag = Bound::Ticks(lag + 1);
        all.push((format!("lag = {}", lag + 1), wider));
    }
    if let Bound::Ticks(within) = config.cluster.failover_within {
        let mut wider = *config;
        wider.cluster.failover_within = Bound::Ticks(within + 1);
        all.push((format!("failover_within = {}", within + 1), wider));
    }
    if config.cluster.replicas == 0 { Vec::new() } else { all }
}

/// Whether a property that is broken must be broken in the wider world as well. Not whether something can still be had: who
/// may ask once more may get what nobody could any more. Nor whether everything happens.
fn is_kept(property: Property) -> bool {
    matches!(property.kind(), PropertyKind::Safety | PropertyKind::Liveness)
}

fn assert_law(scenario: &Scenario, widened: impl Fn(&Config) -> Vec<Wider>) -> u32 {
    let narrow = checked(scenario, MOST_STATES);
    if !narrow.complete {
        return 0;
    }
    let broken: Vec<_> = narrow
        .properties
        .iter()
        .filter(|found| found.verdict == Verdict::Violated && is_kept(found.property))
        .map(|found| found.property)
        .collect();
    if broken.is_empty() {
        return 0;
    }
    let mut compared = 0;
    for (what, config) in widened(&scenario.config) {
        let wide = checked(&Scenario { config, ..scenario.clone() }, MOST_WIDER);
        for &property in &broken {
            let found = wide.properties.iter().find(|found| found.property == property);
            let verdict = found.map(|found| found.verdict);
            let is_broken = matches!(verdict, Some(Verdict::Violated | Verdict::Inconclusive));
            assert!(is_broken, "{}: {property} is violated, and with {what} {verdict:?}", scenario.name);
            compared += u32::from(verdict == Some(Verdict::Violated));
        }
    }
    compared
}

fn of_built_in(widened: fn(&Config) -> Vec<Wider>) {
    let compared: u32 = builtin().iter().map(|scenario| assert_law(scenario, widened)).sum();
    assert!(compared > 10, "only {compared} verdicts compared");
}

/// One client more, which never asks. `None` where it may do something all the same, or where the model has no room for it: it
/// may delete a lock that is not its own, and a bounded failover waits until it knows the new master.
fn with_an_idle_client(config: &Config) -> Option<Config> {
    let faults = &config.faults;
    let waits_for_it = config.can_fail_over() && config.cluster.failover_within != Bound::Any;
    let count = config.clients.count;
    let is_left_out = config.is_split() || count == MAX_CLIENTS || waits_for_it;
    if is_left_out || faults.force_release > 0 || faults.foreign_release > 0 {
        return None;
    }
    let settings: Vec<_> = (0..count).map(|client| config.settings_of(client)).collect();
    let idle = ClientSettings { acquires: Some(0), ..config.common_settings() };
    let clients = Clients { count: count + 1, ..config.clients };
    Some(Config { clients, ..*config }.with_settings(&[settings, vec![idle]].concat()))
}

/// It need not be there, and what it does changes nothing for the others: each safety verdict stays, and so does the length of
/// each shortest trace.
#[test]
fn a_client_that_never_asks_changes_no_safety_verdict() {
    let mut compared = 0;
    for scenario in builtin() {
        let Some(config) = with_an_idle_client(&scenario.config) else { continue };
        let narrow = checked(&scenario, MOST_STATES);
        let wide = checked(&Scenario { config, ..scenario.clone() }, MOST_WIDER);
        if !narrow.complete || !wide.complete {
            continue;
        }
        for (alone, beside) in narrow.properties.iter().zip(&wide.properties) {
            assert_eq!(alone.property, beside.property, "{}", scenario.name);
            if alone.property.kind() != PropertyKind::Safety {
                continue;
            }
            assert_eq!(beside.verdict, alone.verdict, "{} in {}", alone.property, scenario.name);
            let steps = |found: &PropertyOutcome| found.trace.as_ref().map(|trace| trace.steps.len());
            assert_eq!(steps(beside), steps(alone), "{} in {}", alone.property, scenario.name);
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} verdicts compared");
}

#[test]
fn one_more_fault_repairs_nothing() {
    of_built_in(one_fault_more);
}

#[test]
fn one_more_acquire_repairs_nothing() {
    of_built_in(one_acquire_more);
}

#[test]
fn what_may_come_later_repairs_nothing() {
    of_built_in(later_by_a_tick);
}

#[test]
fn nothing_wider_repairs_a_world_that_nobody_thought_of() {
    let widened =
        |config: &Config| [one_fault_more(config), one_acquire_more(config), later_by_a_tick(config)].concat();
    let seed = from_environment("LOCKSTEP_DRAW_SEED", 0);
    let mut compared = 0;
    for text in texts(seed, from_environment("LOCKSTEP_DRAW_SCENARIOS", SCENARIOS)) {
        let _shown = ShownIfItFails(&text);
        if let Ok(scenario) = read(&text) {
            compared += assert_law(&scenario, widened);
        }
    }
    assert!(compared > 0, "no verdict compared");
}
