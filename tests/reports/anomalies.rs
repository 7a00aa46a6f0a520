//! The README's table of anomalies: every built-in scenario that breaks something, and what repairs it, where that is
//! known. A repair is lines of the scenario file; what it repairs is found by looking.

use lockstep_model::{Property, Verdict};

use crate::page::{listed, table};
use crate::runs::{ALL, Line, edited, exhaust, known, same_world};

const AT_ONCE: Line = ("cluster", "lag", "0");
const SOON: Line = ("cluster", "failover_within", "1");
const FENCED: Line = ("resource", "fenced", "true");
const WATCHDOG: Line = ("time", "renew_every", "1");
const OF_2026: Line = ("protocol", "profile", "\"redisson-4.7\"");

/// The scenario, and the lines that repair it.
const REPAIRS: [(&str, &[Line]); 10] = [
    ("plain-failover-loses-the-grant", &[AT_ONCE, SOON]),
    ("plain-lease-ends-while-holder-works", &[FENCED]),
    ("failover-loses-the-grant", &[AT_ONCE, SOON]),
    ("failover-slower-than-the-lease", &[SOON]),
    ("failover-to-the-fullest-replica", &[AT_ONCE, SOON]),
    ("failover-to-the-wrong-replica", &[AT_ONCE, SOON]),
    ("lease-ends-while-holder-works", &[FENCED]),
    ("lease-ends-while-holder-works", &[WATCHDOG]),
    ("missed-renewal-of-2021", &[OF_2026]),
    ("pause-longer-than-lease", &[FENCED]),
];

/// The table.
pub fn anomalies() -> String {
    let rows: Vec<_> = ALL
        .iter()
        .filter_map(|(scenario, outcome)| {
            let broken: Vec<_> = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated).collect();
            if broken.is_empty() {
                return None;
            }
            let steps = |found: &&lockstep_sim::check::PropertyOutcome| {
                format!("`{}` {}", found.property, found.trace.as_ref().map_or(0, |trace| trace.steps.len()))
            };
            let repairs: Vec<_> = REPAIRS
                .iter()
                .filter(|(name, _)| *name == scenario.name)
                .map(|(name, lines)| repair(name, lines))
                .collect();
            let repairs = if repairs.is_empty() { "–".to_owned() } else { repairs.join("<br>") };
            let broken: Vec<_> = broken.iter().map(steps).collect();
            Some(vec![format!("`{}`", scenario.name), scenario.story.clone(), broken.join("<br>"), repairs])
        })
        .collect();
    table(&["scenario", "what happens", "breaks, after so many steps", "what repairs it in this world"], &rows)
}

/// What those lines mend, and what they do not.
fn repair(name: &str, lines: &[Line]) -> String {
    let before = broken(&known(name).1);
    let after_scenario = edited(name, lines);
    let after = broken(&exhaust(&after_scenario));
    let ids = |properties: Vec<Property>| {
        listed(&properties.iter().map(|property| format!("`{property}`")).collect::<Vec<_>>())
    };
    let (stay, mended): (Vec<_>, Vec<_>) = before.iter().partition(|property| after.contains(property));
    assert!(!mended.is_empty(), "{lines:?} repairs nothing in {name}");
    assert!(after.iter().all(|property| before.contains(property)), "{lines:?} breaks something else in {name}");

    let keys: Vec<_> = lines.iter().map(|(_, key, value)| format!("`{key} = {value}`")).collect();
    let what = if stay.is_empty() { "all".to_owned() } else { format!("{}, not {}", ids(mended), ids(stay)) };
    let is = same_world(&after_scenario).map_or_else(String::new, |name| format!(" (`{name}`)"));
    format!("{}: {what}{is}", keys.join(", "))
}

fn broken(outcome: &lockstep_sim::check::Outcome) -> Vec<Property> {
    let violated = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated);
    violated.map(|found| found.property).collect()
}

#[test]
fn every_repair_is_of_a_scenario_that_is_broken() {
    for (name, _) in REPAIRS {
        assert!(!broken(&known(name).1).is_empty(), "{name} breaks nothing");
    }
}
