//! `reports/state-space.md`: how many states were visited, what was found, and what was never reached.

use lockstep_model::Happening;
use lockstep_model::config::{MAX_ACQUIRES, MAX_CLIENTS, MAX_FAULTS, MAX_HOLDS, MAX_REPLICAS, MAX_THREADS, MAX_TICKS};
use lockstep_model::notes::Capacity;
use lockstep_model::outcomes::SWITCH_VALUES;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{ActionKind, Config, InLayout, Layout, Property, ReplyKind, Verdict, World, in_layout};
use lockstep_sim::check::judge::MOST_STATES;
use lockstep_sim::check::{CheckOutcome, PropertyOutcome};
use lockstep_sim::scenario::Scenario;

use crate::runs::{ALL, SECOND_OPINION_STATES};
use lockstep_tests::page::{self, listed, table, thousands};

#[test]
fn the_page_on_the_state_spaces_says_what_its_runs_say() {
    let total: u64 = ALL.iter().map(|(_, outcome)| outcome.states).sum();
    let page = format!(
        "# State spaces\n\n\
         Made by `make reports` from real runs; a test fails when it is stale.\n\n\
         {} built-in scenarios with {} distinct states. All of them were visited by two engines that share only the model \
         and agree in the number of distinct states, in depth and in every verdict. Every verdict is as declared. \
         `make test` repeats this, and asks the second engine about worlds of at most {} states; `make soak` asks it about all.\n\n\
         ## Size\n\n{}\n\
         *Generated* counts a state as often as it was reached; *depth* is the number of steps to the farthest one; \
         *bytes* is the size of one state.\n\n\
         ## Verdicts\n\n{}\n\
         ✓ holds · a number: violated after so many steps, and no shorter history breaks it (of a liveness property: the \
         steps to the end of one turn of the loop) · ∅ vacuous: never put to the test · blank: does not apply.\n\n\
         ## Actions, and what was never reached\n\n{}\n{}\n\
         ## Branches of the rules\n\n{}\n\
         A branch is an answer to an action, something else that happens in a step, or the value of a protocol switch where \
         a rule reads it. A table of the model (`model/src/outcomes/`) says which scenarios can reach it, and a test \
         compares runs with that table in both directions. Branches that no scenario reaches are reached by a small world \
         of that test (`tests/safety/coverage.rs`).\n\n\
         ## Bounds of every claim\n\n{}\n{}",
        ALL.len(),
        thousands(total),
        thousands(SECOND_OPINION_STATES),
        sizes(),
        verdicts(),
        actions(),
        unseen(),
        branches(),
        bounds(),
        "A scenario has bounds of its own: clients, ticks and fault budgets (`lockstep explain NAME`). What is not modelled \
         at all is listed in README.md.\n\nUpdated by `make reports`.\n"
    );
    page::keep("reports/state-space.md", &page);
}

fn sizes() -> String {
    let rows: Vec<_> = ALL
        .iter()
        .map(|(scenario, outcome)| {
            vec![
                format!("`{}`", scenario.name),
                thousands(outcome.states),
                thousands(outcome.generated),
                outcome.depth.to_string(),
                in_layout(&scenario.config, Bytes).to_string(),
            ]
        })
        .collect();
    table(&["scenario", "distinct#", "generated#", "depth#", "bytes#"], &rows)
}

struct Bytes;

impl InLayout for Bytes {
    type Output = usize;

    fn run<Y: Layout>(self, _: &Config) -> usize {
        size_of::<World<Y>>()
    }
}

fn verdicts() -> String {
    let ids = Property::ALL.map(Property::id);
    let head: Vec<_> = std::iter::once("scenario").chain(ids).collect();
    let rows: Vec<Vec<String>> = ALL
        .iter()
        .map(|(scenario, outcome)| {
            let cell = |property: Property| {
                let found = outcome.properties.iter().find(|found| found.property == property);
                found.map_or_else(String::new, |found| match (found.verdict, &found.trace) {
                    (Verdict::Holds, _) => "✓".to_owned(),
                    (Verdict::Violated, Some(trace)) => format!("**{}**", trace.steps.len()),
                    (Verdict::Vacuous, _) => "∅".to_owned(),
                    (verdict, _) => verdict.to_string(),
                })
            };
            std::iter::once(format!("`{}`", scenario.name)).chain(Property::ALL.map(cell)).collect()
        })
        .collect();
    table(&head, &rows)
}

fn actions() -> String {
    let rows: Vec<_> = ActionKind::ALL
        .into_iter()
        .map(|kind| {
            let taken = |outcome: &CheckOutcome| outcome.coverage.taken(kind);
            let allowed = ALL.iter().filter(|(scenario, _)| kind.is_allowed(&scenario.config)).count();
            let reached = ALL.iter().filter(|(_, outcome)| taken(outcome) > 0).count();
            let times = ALL.iter().map(|(_, outcome)| taken(outcome)).sum();
            let states = ALL.iter().map(|(_, outcome)| outcome.coverage.enabled[kind as usize]).sum();
            vec![
                format!("`{}`", kind.name()),
                allowed.to_string(),
                reached.to_string(),
                thousands(states),
                thousands(times),
            ]
        })
        .collect();
    let head =
        ["action", "scenarios that allow it#", "that reach it#", "states in which it can happen#", "times taken#"];
    table(&head, &rows)
}

/// Every named branch of the rules: each answer, each happening, each value of a switch.
fn branches() -> String {
    let row = |what: String, can: usize, does: usize, times: Option<u64>| {
        let times = times.map_or_else(String::new, thousands);
        (can > 0).then(|| vec![what, can.to_string(), does.to_string(), times])
    };
    let answers = ActionKind::ALL.into_iter().flat_map(|kind| ReplyKind::ALL.map(|reply| (kind, reply)));
    let answers = answers.filter_map(|(kind, reply)| {
        let can = ALL.iter().filter(|(scenario, _)| kind.can_be_answered(reply, &scenario.config)).count();
        let times = |outcome: &CheckOutcome| outcome.coverage.answered(kind, reply);
        let does = ALL.iter().filter(|(_, outcome)| times(outcome) > 0).count();
        let all = ALL.iter().map(|(_, outcome)| times(outcome)).sum();
        row(format!("`{}` → `{}`", kind.name(), reply.name()), can, does, Some(all))
    });
    let happenings = Happening::ALL.into_iter().filter_map(|happening| {
        let can = ALL.iter().filter(|(scenario, _)| happening.is_possible(&scenario.config)).count();
        let does = ALL.iter().filter(|(_, outcome)| outcome.coverage.happenings.has(happening)).count();
        row(format!("`{}`", happening.name()), can, does, None)
    });
    let ways = SWITCH_VALUES.iter().filter_map(|way| {
        let can = |scenario: &Scenario| way.is_possible(&scenario.config);
        let possible = ALL.iter().filter(|(scenario, _)| can(scenario)).count();
        let does = ALL.iter().filter(|(scenario, outcome)| can(scenario) && outcome.coverage.has_gone(way)).count();
        row(format!("`{}` = `{}`", way.switch, way.value), possible, does, None)
    });
    let rows: Vec<_> = answers.chain(happenings).chain(ways).collect();
    table(&["branch", "scenarios that can reach it#", "that do#", "times#"], &rows)
}

/// Everything that no scenario reaches.
fn unseen() -> String {
    let not_taken = ALL.iter().flat_map(|(scenario, outcome)| {
        ActionKind::ALL
            .into_iter()
            .filter(|kind| kind.is_allowed(&scenario.config) && outcome.coverage.taken(*kind) == 0)
            .map(|kind| format!("`{}` in `{}`", kind.name(), scenario.name))
    });
    let nowhere = ActionKind::ALL
        .into_iter()
        .filter(|kind| ALL.iter().all(|(_, outcome)| outcome.coverage.taken(*kind) == 0))
        .map(|kind| format!("`{}`", kind.name()));
    let any = |is: &dyn Fn(&Config) -> bool| ALL.iter().any(|(scenario, _)| is(&scenario.config));
    let pairs = ActionKind::ALL.into_iter().flat_map(|kind| ReplyKind::ALL.map(|reply| (kind, reply)));
    let never_answered = pairs
        .filter(|(kind, reply)| any(&|config| kind.can_be_answered(*reply, config)))
        .filter(|(kind, reply)| ALL.iter().all(|(_, outcome)| outcome.coverage.answered(*kind, *reply) == 0))
        .map(|(kind, reply)| format!("`{}` → `{}`", kind.name(), reply.name()));
    let never_gone = SWITCH_VALUES
        .iter()
        .filter(|way| {
            let has_gone = |(scenario, outcome): &(Scenario, CheckOutcome)| {
                way.is_set_for_all(&scenario.config) && outcome.coverage.has_gone(way)
            };
            !ALL.iter().any(has_gone)
        })
        .map(|way| format!("`{}` = `{}`", way.switch, way.value));
    let unspent = ALL.iter().flat_map(|(scenario, outcome)| {
        outcome.coverage.unspent().map(|(kind, left)| format!("{left} of `{}` in `{}`", kind.name(), scenario.name))
    });
    let never_happens = Happening::ALL
        .into_iter()
        .filter(|&happening| ALL.iter().all(|(_, outcome)| !outcome.coverage.happenings.has(happening)))
        .map(|happening| format!("`{happening:?}`"));
    let never_broken = Property::SAFETY
        .into_iter()
        .filter(|&property| ALL.iter().all(|(scenario, _)| scenario.expect.get(&property) != Some(&Verdict::Violated)))
        .map(|property| format!("`{property}`"));
    let said = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { listed(&names) };
    format!(
        "- Actions that a scenario allows and that never happen in it: {}.\n\
         - Actions that happen in no scenario: {}.\n\
         - Of the {} things that can happen in a step beside its reply, seen in no scenario: {}.\n\
         - Answers that some scenario can give and none gives: {}.\n\
         - Values of a switch that no scenario reaches: {}.\n\
         - Fault budgets that are never used up: {}.\n\
         - Safety properties that no scenario breaks: {}. A mutant shows for each that it can fail \
         (`tests/safety/mutants.rs`).\n",
        said(not_taken.collect()),
        said(nowhere.collect()),
        Happening::ALL.len(),
        said(never_happens.collect()),
        said(never_answered.collect()),
        said(never_gone.collect()),
        said(unspent.collect()),
        said(never_broken.collect()),
    )
}

fn bounds() -> String {
    let rows = [
        ("MAX_CLIENTS", u64::from(MAX_CLIENTS), "clients of a scenario"),
        ("MAX_THREADS", MAX_THREADS.into(), "threads of a client"),
        ("MAX_HOLDS", MAX_HOLDS.into(), "holds of a thread"),
        ("MAX_ACQUIRES", MAX_ACQUIRES.into(), "acquires of a client, where they are bounded"),
        ("MAX_REPLICAS", MAX_REPLICAS.into(), "replicas of the master"),
        ("MAX_TICKS", MAX_TICKS.into(), "ticks of any one time"),
        ("MAX_FAULTS", MAX_FAULTS.into(), "budget of any one fault"),
        (
            "MOST_STATES",
            MOST_STATES as u64,
            "states that the judge stores to confirm that a trace is the shortest; beyond that it does not claim so",
        ),
    ];
    let capacities = Capacity::ALL.map(|capacity| {
        let (most, noun) = (capacity.most(), capacity.noun());
        let what = format!("{noun}; at most {most}; where more are needed, a verdict is inconclusive");
        vec![format!("`[bounds] {}`", capacity.key()), capacity.usual().to_string(), what]
    });
    let rows: Vec<_> = rows
        .map(|(name, value, what)| vec![format!("`{name}`"), thousands(value), what.to_owned()])
        .into_iter()
        .chain(capacities)
        .collect();
    table(&["constant", "value#", "bounds"], &rows)
}

/// The page claims that every number is the length of a shortest trace.
#[test]
fn every_trace_that_the_page_counts_is_the_shortest() {
    let safety = |found: &&PropertyOutcome| found.property.kind() == PropertyKind::Safety;
    for found in ALL.iter().flat_map(|(_, outcome)| &outcome.properties).filter(safety) {
        if let Some(trace) = &found.trace {
            let is_shortest =
                matches!(trace.about, lockstep_model::trace::About::Counterexample { shortest: true, .. });
            assert!(is_shortest, "{} of {}", found.property, trace.scenario);
        }
    }
}
