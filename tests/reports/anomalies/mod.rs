//! `reports/anomalies.md`: every built-in scenario that violates a property, grouped by cause, with a repair where one
//! is known. A repair consists of lines of the scenario file; its effect is found by running the edited file.

mod groups;
mod repairs;

use std::collections::BTreeSet;

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{CheckOutcome, PropertyOutcome};
use lockstep_sim::scenario::Scenario;

use crate::runs::{ALL, ScenarioLine, edited, known, same_world, violated, violated_in};
use groups::{AnomalyGroup, GROUPS};
use lockstep_tests::page::{self, NOTHING, listed, table};
use repairs::REPAIRS;

#[test]
fn the_page_on_anomalies_says_what_its_runs_say() {
    page::keep("reports/anomalies.md", &anomalies());
}

/// Generates the page.
fn anomalies() -> String {
    let contents: Vec<_> = GROUPS
        .iter()
        .map(|AnomalyGroup { heading, about, .. }| {
            let anchor = heading.to_lowercase().replace(' ', "-");
            format!("- [{heading}](#{anchor}): {about}\n")
        })
        .collect();
    format!(
        "# Anomalies\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         Every built-in scenario in which a property is violated, grouped by cause. `lockstep show SCENARIO` draws the \
         trace, `lockstep replay SCENARIO` executes it on a real server, `lockstep explain PROPERTY` says what a property \
         means and where it comes from.\n\n\
         *Breaks* lists the violated properties with the number of steps: of a safety property the length of a shortest \
         trace, of a liveness property the length of a way into a loop and one turn of it. *Repairs* are lines of the \
         scenario file: with them the named properties hold in that world. \"–\": no repair is tried here.\n\n\
         {}\n{}\
         ## The repairs\n\n\
         - `lag = 0`: every replica has a write before the client is answered. No setting of Redis gives exactly that.\n\
         - `failover_within = 1`: every client knows the new master within one tick, here 10 s.\n\
         - `renew_every = 1`: a watchdog.\n\
         - `fencing = \"ideal\"`: the resource refuses a fencing token older than one it has seen; the tokens come from a \
         counter outside this Redis that no fault touches. This repairs no lock: two clients still believe that they hold it, but the stale \
         one can do no harm.\n\
         - `promote = \"coordinated\"`: `FAILOVER` without `FORCE`, which waits until the replica has everything.\n\
         - `resend = \"none\"`: nothing is sent again, and a caller without an answer gets an error.\n\
         - `answered_receipt = \"keep\"`: the receipt of a release that was answered stays until its TTL ends.\n\
         - `wait_limit = 4`: a waiter gives up, whatever it was told about the TTL.\n\
         - `subscribe_to = \"master\"`: unlock messages come from the master itself.\n\
         - `reentry_lease = 3`: the lease of a nested call is no shorter than the time for which its holder holds.\n\
         - `queue_wait = 9`: a waiter queues for longer than anybody holds.\n\
         - `read_renewal = \"own-holds\"`: a reader renews its own holds, as in Redisson 4.7.\n\
         - `token = \"with-grant\"`: a client is told its fencing token with its grant.\n\
         - `no_ttl_answer = \"refusal\"`: an answer without a TTL is no grant.\n\
         - `held_query = \"every-value\"`: a client that asks whether it holds is answered by all its values.\n\
         - `interrupted_waiter = \"leaves-queue\"`: a waiter that is interrupted takes its place out of the queue.\n\
         - `downgrade = \"publishes\"`: a writer that releases and reads on tells all who wait.\n\
         - `profile = \"redisson-4.7\"`: the client behaves as Redisson of 2026.\n\n\
         More repairs, and what they cost: [repairs.md](repairs.md). How many states stand behind each verdict: \
         [state-space.md](state-space.md).\n",
        contents.concat(),
        GROUPS.iter().map(part).collect::<String>(),
    )
}

/// Generates one group.
fn part(AnomalyGroup { heading, about, scenarios }: &AnomalyGroup) -> String {
    let rows: Vec<_> = scenarios.iter().map(|name| row(known(name))).collect();
    let head = ["scenario", "what happens", "breaks, after so many steps", "what repairs it in this world"];
    format!("## {heading}\n\n{about}\n\n{}\n", table(&head, &rows))
}

fn row((scenario, outcome): &(Scenario, CheckOutcome)) -> Vec<String> {
    let steps = |found: &PropertyOutcome| {
        format!("`{}` {}", found.property, found.trace.as_ref().map_or(0, |trace| trace.steps.len()))
    };
    let violated = outcome.properties.iter().filter(|found| found.verdict == Verdict::Violated);
    let violated: Vec<_> = violated.map(steps).collect();
    let repairs = REPAIRS.iter().filter(|(name, _)| *name == scenario.name);
    let repairs: Vec<_> = repairs.map(|(name, lines)| repair(name, lines)).collect();
    let repairs = if repairs.is_empty() { NOTHING.to_owned() } else { repairs.join("<br>") };
    vec![format!("`{}`", scenario.name), scenario.story.clone(), violated.join("<br>"), repairs]
}

/// The properties that these lines repair, and those that they do not.
fn repair(name: &str, lines: &[ScenarioLine]) -> String {
    let before = violated_in(&known(name).1);
    let after_scenario = edited(name, lines);
    let after = violated(&after_scenario);
    let ids = |properties: Vec<Property>| {
        listed(&properties.iter().map(|property| format!("`{property}`")).collect::<Vec<_>>())
    };
    let (stay, repaired): (Vec<_>, Vec<_>) = before.iter().partition(|property| after.contains(property));
    assert!(!repaired.is_empty(), "{lines:?} repairs nothing in {name}");
    assert!(after.iter().all(|property| before.contains(property)), "{lines:?} breaks something else in {name}");

    let keys: Vec<_> = lines.iter().map(|(_, key, value)| format!("`{key} = {value}`")).collect();
    let what = if stay.is_empty() { "all".to_owned() } else { format!("{}, not {}", ids(repaired), ids(stay)) };
    let is = same_world(&after_scenario).map_or_else(String::new, |name| format!(" (`{name}`)"));
    format!("{}: {what}{is}", keys.join(", "))
}

#[test]
fn every_repair_is_of_a_scenario_that_is_broken() {
    for (name, _) in REPAIRS {
        assert!(!violated_in(&known(name).1).is_empty(), "{name} breaks nothing");
    }
}

/// A new anomaly is missing from the page until it is assigned to a group.
#[test]
fn every_scenario_that_is_broken_stands_in_one_group() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.scenarios).copied().collect();
    let distinct: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(distinct.len(), grouped.len(), "a scenario stands in two groups");
    let violated: BTreeSet<&str> = ALL
        .iter()
        .filter(|(_, outcome)| !violated_in(outcome).is_empty())
        .map(|(scenario, _)| &*scenario.name)
        .collect();
    assert_eq!(distinct, violated);
}
