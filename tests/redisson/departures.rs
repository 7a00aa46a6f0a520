//! `reports/departures.md`: where the model and real Redisson differ on purpose, and which scenarios it cannot follow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstep_sim::replay::redisson::{Departure, has_rules_of_its_version, refuse_world};
use lockstep_sim::replay::{ReplayError, suited};
use lockstep_sim::scenario;
use lockstep_tests::page;
use lockstep_tests::servers::servers;

use crate::scenarios::version_of;

#[test]
fn the_page_on_departures_has_each_of_them_and_every_scenario_that_is_not_followed() {
    let mut made = String::from(INTRODUCTION);
    for departure in Departure::all() {
        let _ = writeln!(made, "- [{}](#{}): {}", departure.id, departure.id, departure.title);
    }
    made.extend(Departure::all().iter().map(section));
    made += NOT_FOLLOWED;
    for (reason, names) in not_followed() {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(made, "- {reason}: {}", names.join(", "));
    }
    page::keep("reports/departures.md", &made);
}

const INTRODUCTION: &str = "# Departures

Where the model and the real Redisson differ on purpose, and what that means for a verdict. Everything else in which the two
differed was mended in the model: `make test` replays every built-in scenario that Redisson can follow, with random histories,
and compares what the application is told, every request, all keys, messages and renewals after each step. A history that needs
what a departure says ends there; `lockstep replay --on redisson` and `lockstep fuzz --on redisson` name it, and `lockstep explain
ID` shows it.

";

const NOT_FOLLOWED: &str = "
## Scenarios that are not followed

Built-in scenarios whose clients are those of a version of Redisson, and that the replay refuses before the first step, with its
reason. The other scenarios are followed, or their clients have other rules than any Redisson.

";

fn section(departure: &Departure) -> String {
    let Departure { id, title, model, redisson, reason, consequence, followed_by, report, facts, ends } = departure;
    let mut text = format!(
        "\n## {id}\n\n{}.\n\n- **The model**: {model}\n- **Redisson**: {redisson}\n- **Why**: {reason}\n- **For a verdict**: {consequence}\n",
        capitalised(title)
    );
    if let Some(key) = followed_by {
        let _ = writeln!(text, "- **The model does the same with** {key}.");
    }
    if !ends.is_empty() {
        let quoted: Vec<_> = ends.iter().map(|end| format!("“{end}”")).collect();
        let _ = writeln!(text, "- **A replay ends with**: {}.", quoted.join("; "));
    }
    if let Some(report) = report {
        let _ = writeln!(text, "- **For its developers**: {report}");
    }
    if !facts.is_empty() {
        let linked: Vec<_> = facts.iter().map(|fact| link(fact)).collect();
        let _ = writeln!(text, "- **Facts**: {}.", linked.join(", "));
    }
    text
}

/// `docs/facts/redisson.md#resending` as a link from `reports/`.
fn link(fact: &str) -> String {
    let heading = fact.rsplit('#').next().unwrap_or(fact).replace('-', " ");
    format!("[{heading}](../{fact})")
}

fn capitalised(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The scenarios that are refused, by reason.
fn not_followed() -> BTreeMap<String, Vec<String>> {
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for scenario in scenario::builtin() {
        let config = suited(&scenario.config, &servers()[0]);
        if !has_rules_of_its_version(&config) {
            continue;
        }
        if let Err(ReplayError::NotForRedisson { reason, .. }) = refuse_world(&config, &version_of(&config)) {
            refused.entry(reason).or_default().push(scenario.name);
        }
    }
    refused
}
