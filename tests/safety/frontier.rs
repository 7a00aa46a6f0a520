//! The frontier says what single checks say: what it calls smallest breaks the property, and with one fault less it holds.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::config::Faults;
use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{Engine, Limits};
use lockstep_sim::frontier::knobs::{FAULTS, Knob, REPAIRS};
use lockstep_sim::frontier::{Draft, Effect, FaultSet, Options, Survey, survey};
use lockstep_sim::scenario::BuiltIn;

use crate::exhaust;

const OPTIONS: Options = Options { most: 2, each: 1, threads: 2 };

fn draft() -> Draft {
    Draft::new(BuiltIn::named("a-master-and-a-replica").expect("it is built in").text)
}

fn surveyed(repairs: &[&'static Knob], options: Options) -> Survey {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { max_states: None, max_bytes: None, time_limit: None, stop: &stop, progress: &progress };
    survey(&draft(), repairs, options, &limits, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

fn repair(name: &str) -> &'static Knob {
    REPAIRS.iter().find(|repair| repair.name == name).expect("it is known")
}

fn verdict(set: &FaultSet, property: Property) -> Option<Verdict> {
    let scenario = set.on(&draft()).scenario("a-set", "A set of faults.").ok()?;
    let outcome = exhaust(&scenario, Engine::Native);
    outcome.properties.iter().find(|found| found.property == property).map(|found| found.verdict)
}

#[test]
fn every_smallest_set_breaks_its_property_and_with_any_one_fault_less_nothing_does() {
    let found = surveyed(&[], OPTIONS);
    let mut anomalies = 0;
    for (property, minimal) in found.anomalies() {
        assert!(minimal.is_confirmed, "{property} by {}", minimal.faults.words());
        assert_eq!(verdict(&minimal.faults, property), Some(Verdict::Violated), "{property}");
        for smaller in minimal.faults.smaller() {
            assert_ne!(verdict(&smaller, property), Some(Verdict::Violated), "{property} by {}", smaller.words());
        }
        anomalies += 1;
    }
    assert!(anomalies > 10, "{anomalies} anomalies");
}

#[test]
fn fencing_keeps_stale_effects_out_and_mends_no_lock() {
    let found = surveyed(&[repair("fencing")], Options { most: 1, ..OPTIONS });
    let effect = |property, fault| {
        let is_meant = |&(broken, minimal): &(Property, _)| {
            let minimal: &lockstep_sim::frontier::Minimal = minimal;
            broken == property && minimal.faults.words() == fault
        };
        let (property, minimal) = found.anomalies().find(is_meant).expect("the fault breaks it");
        found.cells(property, minimal)[0].effect
    };
    assert_eq!(effect(Property::EffectsInOrder, "crash_node"), Effect::Stops);
    assert_eq!(effect(Property::OneBeliever, "crash_node"), Effect::Nothing);
}

#[test]
fn the_frontier_is_the_same_on_any_number_of_threads() {
    let told = |threads| format!("{:?}", surveyed(&[], Options { threads, most: 1, ..OPTIONS }).bare.broken);
    assert_eq!(told(1), told(3));
}

#[test]
fn every_fault_is_turned_and_those_that_the_world_does_not_know_are_named() {
    let turned: BTreeSet<_> = FAULTS.iter().map(|fault| fault.name).collect();
    let known: BTreeSet<_> = Faults::default().budgets().map(|(kind, _)| kind.name()).into();
    assert_eq!(turned, known);

    let found = surveyed(&[], Options { most: 1, ..OPTIONS });
    let foreign: Vec<_> = found.foreign.iter().map(|foreign| foreign.fault.name).collect();
    assert_eq!(foreign, ["lose_request", "lose_reply"], "only they need a split network");
}
