//! `reports/repairs.md`: which repair stops which anomaly, and what it costs.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Property, Verdict};
use lockstep_sim::check::{Engine, How, Limits, check_as};
use lockstep_sim::frontier::knobs::REPAIRS;
use lockstep_sim::frontier::{Draft, Effect, Minimal, Options, Survey, survey};
use lockstep_sim::render::frontier::{bounds, costs, lasts};
use lockstep_sim::scenario::{BuiltIn, Scenario};

use crate::page::{self, table};

/// What most teams run.
const WORLD: &str = "a-master-and-a-replica";
const OPTIONS: Options = Options { most: 2, each: 1, threads: 2 };

/// Looked at once.
static SURVEY: LazyLock<Survey> = LazyLock::new(|| surveyed(&draft(), OPTIONS));

fn surveyed(draft: &Draft, options: Options) -> Survey {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let repairs: Vec<_> = REPAIRS.iter().collect();
    survey(draft, &repairs, options, &no_limits(&stop, &progress), |_| ()).expect("the world can be looked at")
}

#[test]
fn the_page_on_repairs_says_what_the_frontier_says() {
    let patient = surveyed(&draft().without("time", "wait_limit"), Options { most: 1, ..OPTIONS });
    let repairs: Vec<_> =
        REPAIRS.iter().map(|repair| vec![format!("`{}`", repair.name), repair.sentence.to_owned()]).collect();
    let page = format!(
        "# Which repair stops what\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         The world is `{WORLD}` (`lockstep explain {WORLD}`): {}. An anomaly is a property and a smallest set of faults \
         that breaks it: with any one fault less it holds. Every cell is a scenario of its own. \
         `lockstep frontier --out DIR` writes them all, with what is so in each as declared verdicts, to be checked, \
         shown and replayed: `DIR/PROPERTY--FAULTS--REPAIR.toml`.\n\n\
         ## The repairs\n\n{}\n\
         ## What they do\n\n{}\n\
         ✓ stops it · < shortens it: it is over sooner · + takes more steps to come to · ! makes it easier: fewer steps, or \
         fewer faults, are enough · ∅ leaves nothing to promise · ? not modelled together · blank: does nothing. *Lasts* is the longest that it can stay \
         broken; a property of steps is broken at one moment. A failover with a repair may still break another property: \
         read by column as well.\n\n\
         ## What they cost\n\n{}\n\
         In the same world, where clients wait without a limit: *fails* says with which faults, one at most, an acquire can \
         be refused because too few replicas hear of it; *waits* is the longest that a thread can be in `lock()` without \
         being served or told. Repairs that change nothing of that are left out.\n\n{}\n\
         Written anew by `make reports`.\n",
        bounds(&SURVEY, OPTIONS),
        table(&["repair", "means"], &repairs),
        effects(),
        table(
            &["repair", "an acquire fails", "waits without a fault", "waits with one"],
            &costs(&patient).into_iter().map(Vec::from).collect::<Vec<_>>()
        ),
        broken_anew(),
    );
    page::keep("reports/repairs.md", &page);
}

/// A row for each anomaly, a column for each repair.
fn effects() -> String {
    let head: Vec<_> = ["property", "broken by", "lasts"].into_iter().chain(REPAIRS.iter().map(|it| it.name)).collect();
    let rows: Vec<_> = SURVEY.anomalies().map(|(property, minimal)| row(property, minimal)).collect();
    table(&head, &rows)
}

fn row(property: Property, minimal: &Minimal) -> Vec<String> {
    let cells = SURVEY.cells(property, minimal);
    let sign = |effect: Effect| match effect {
        Effect::Stops => "✓",
        Effect::Shortens => "<",
        Effect::Nothing => "",
        Effect::Later => "+",
        Effect::Worse => "!",
        Effect::Moot => "∅",
        Effect::Unknown | Effect::NotModelled => "?",
    };
    let signs = REPAIRS.iter().map(|repair| {
        let cell = cells.iter().find(|cell| cell.repair.name == repair.name);
        cell.map_or("?", |cell| sign(cell.effect)).to_owned()
    });
    let lasting = minimal.lasts.map_or_else(String::new, lasts);
    [format!("`{}`", property.id()), minimal.faults.words(), lasting].into_iter().chain(signs).collect()
}

/// What breaks under a repair and did not before.
fn broken_anew() -> String {
    let rows: Vec<_> = SURVEY
        .repaired
        .iter()
        .flat_map(|frontier| SURVEY.price(frontier).map(move |price| (frontier, price)))
        .map(|(frontier, (property, minimal))| {
            let repair = frontier.repair.map_or("bare", |repair| repair.name);
            vec![format!("`{repair}`"), format!("`{}`", property.id()), minimal.faults.words()]
        })
        .collect();
    if rows.is_empty() {
        return "No repair breaks anything that held before.\n".to_owned();
    }
    format!("## What they break\n\nWhat held before, under the same faults, and does not with the repair.\n\n{}", {
        table(&["repair", "property", "by"], &rows)
    })
}

/// Every cell of a single fault is checked once more, alone, as anybody would check its file.
#[test]
fn every_cell_of_one_fault_is_as_its_scenario_says() {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = no_limits(&stop, &progress);
    let mut checked = 0;
    let of_one = |(_, minimal): &(Property, &Minimal)| minimal.faults.iter().map(|(_, budget)| budget).sum::<u8>() == 1;
    for (property, minimal) in SURVEY.anomalies().filter(of_one) {
        for cell in SURVEY.cells(property, minimal) {
            let Some(draft) = minimal.faults.under(&draft(), Some(cell.repair)) else {
                assert_eq!(cell.effect, Effect::NotModelled);
                continue;
            };
            if cell.effect == Effect::Moot {
                continue;
            }
            let holds = cell.effect == Effect::Stops;
            let claims = BTreeMap::from([(property, if holds { Verdict::Holds } else { Verdict::Violated })]);
            let scenario = Scenario::parse("a-cell", &draft.text("A cell.", &claims)).expect("a cell is a scenario");
            let outcome = check_as(&scenario, How::by(Engine::Native), &limits).expect("it is checked");
            let verdict = outcome.properties.iter().find(|found| found.property == property).map(|found| found.verdict);
            // What a repair makes impossible need not be put to the test any more.
            let is_so = verdict == Some(claims[&property]) || (holds && verdict == Some(Verdict::Vacuous));
            assert!(is_so, "{property} by {} under {}: {verdict:?}", minimal.faults.words(), cell.repair.name);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} cells");
}

fn draft() -> Draft {
    Draft::new(BuiltIn::named(WORLD).expect("a built-in scenario").text)
}

fn no_limits<'a>(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Limits<'a> {
    Limits { max_states: None, max_bytes: None, time_limit: None, stop, progress }
}
