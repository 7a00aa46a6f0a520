//! The results of `check`: a table, the violated properties, and in full everything that is not as declared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::ValueEnum as _;
use lockstep_model::{Action, ActionKind, Party, Property, ReplyKind, Verdict};
use serde_json::{Value, json};

use super::actions::does;
use super::paint::{Paint, Tone};
use super::table::Rows;
use super::text::{self, Declared};
use super::words::{as_declared, assumptions, count, hanging, thousands};
use crate::check::bounds::more_room;
use crate::check::fingerprint::collision_bound;
use crate::check::{CheckOutcome, Engine, PropertyOutcome};

/// The outcome of one scenario, and the argument that named it.
#[derive(Clone, Debug)]
pub struct CheckedScenario {
    /// A name or a path: what to give to `lockstep show`.
    pub argument: String,
    /// The limits of the run, as they must be repeated: ` --max-states 20000`.
    pub limits: String,
    /// The outcome.
    pub outcome: CheckOutcome,
}

/// The result of a scenario in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Everything is as declared.
    Passed,
    /// Something known is not as declared.
    Failed,
    /// Nothing known is wrong, but a limit kept a verdict from being known.
    Undecided,
}

impl CheckedScenario {
    /// The result in one word.
    pub fn result(&self) -> Result {
        let wrong = |found: &PropertyOutcome| !found.is_as_declared();
        let is_known = |found: &PropertyOutcome| found.verdict != Verdict::Inconclusive;
        if self.outcome.properties.iter().any(|found| wrong(found) && is_known(found)) {
            Result::Failed
        } else if self.outcome.properties.iter().any(wrong) {
            Result::Undecided
        } else {
            Result::Passed
        }
    }
}

impl Result {
    const fn word(self) -> &'static str {
        match self {
            Self::Passed => "as declared",
            Self::Failed => "NOT as declared",
            Self::Undecided => "inconclusive",
        }
    }
}

/// The page for people.
pub fn page(all: &[CheckedScenario], paint: Paint, width: usize) -> String {
    let mut page = table(all, width);
    if let [found] = all {
        claimed(&found.outcome, width, &mut page);
    }
    violated(all, width, &mut page);
    for found in all {
        let wrong = found.outcome.properties.iter().filter(|property| !property.is_as_declared());
        for property in wrong.filter(|property| property.verdict != Verdict::Inconclusive) {
            page.push('\n');
            surprise(found, property, paint, width, &mut page);
        }
        undecided(found, width, &mut page);
        bounded(found, width, &mut page);
    }
    if let [found] = all {
        kept(&found.outcome, width, &mut page);
    }
    doubt(all, width, &mut page);
    page
}

/// Columns before a sentence with a label: those of a picture.
const LABEL: usize = 6;
/// Columns before the properties of one verdict.
const MARGIN: usize = 9;

/// Of a single scenario that claims something of some properties: what became of its claims, before everything else.
fn claimed(outcome: &CheckOutcome, width: usize, page: &mut String) {
    let claims = outcome.properties.iter().filter(|found| is_told_as_a_claim(outcome, found));
    for (number, found) in claims.enumerate() {
        let (blank, label) = if number == 0 { ("\n", "claimed") } else { ("", "") };
        let said = as_declared(found.verdict, found.declared, true);
        let why = found.why.as_ref().filter(|_| found.verdict == Verdict::Vacuous);
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let text = format!("{}: {said}{why}", found.property);
        let _ = writeln!(page, "{blank}{label:<MARGIN$}{}", hanging(&text, MARGIN, width));
    }
}

/// Whether the property is claimed, and not every other one is expected to hold beside it.
fn is_told_as_a_claim(outcome: &CheckOutcome, found: &PropertyOutcome) -> bool {
    found.declared.is_some() && outcome.properties.iter().any(|other| !other.is_required)
}

/// Of a single scenario: the properties that hold, and those that were never put to the test.
fn kept(outcome: &CheckOutcome, width: usize, page: &mut String) {
    let of = |verdict: Verdict| outcome.properties.iter().filter(move |found| found.verdict == verdict);
    let not_told = |found: &&PropertyOutcome| !is_told_as_a_claim(outcome, found);
    let holding: Vec<_> = of(Verdict::Holds).filter(not_told).map(|found| found.property.id()).collect();
    let vacuous = of(Verdict::Vacuous).filter(not_told).map(|found| {
        let meaning = if found.property == Property::ActionsReached { never_taken(outcome) } else { String::new() };
        ("vacuous", format!("{}: {}{meaning}", found.property, found.why.as_deref().unwrap_or_default()))
    });
    let holding_any = of(Verdict::Holds).next().is_some();
    let lines = (!holding.is_empty()).then(|| ("hold", holding.join(", "))).into_iter().chain(vacuous);
    // Who refuses everybody gives the lock to nobody twice.
    let is_out_of_reach = of(Verdict::Violated).any(|found| found.property == Property::Obtainable);
    let text = if is_out_of_reach && of(Verdict::Holds).any(|found| found.property == Property::OneBeliever) {
        Some("one-believer may hold because nobody gets the lock any more after a fault: obtainable is violated")
    } else if is_alone(outcome) {
        Some("obtainable was not looked at: one-believer would also hold if nobody got the lock any more")
    } else {
        None
    };
    let lines = lines.chain(text.map(|text| ("note", text.to_owned())));
    // A promise says what it rests on.
    let assumed = if holding_any { assumptions(&outcome.config) } else { Vec::new() };
    let label = |number| if number == 0 { "assumed" } else { "" };
    let lines = lines.chain(assumed.into_iter().enumerate().map(|(number, text)| (label(number), text)));
    for (number, (label, text)) in lines.enumerate() {
        let blank = if number == 0 { "\n" } else { "" };
        let _ = writeln!(page, "{blank}{label:<MARGIN$}{}", hanging(&text, MARGIN, width));
    }
}

/// Whether one-believer was looked at alone, and holds in a world in which something may keep everybody from the lock.
fn is_alone(outcome: &CheckOutcome) -> bool {
    let [found] = outcome.properties.as_slice() else { return false };
    let config = &outcome.config;
    let may_be_lost =
        config.cluster.min_replicas > 0 || config.faults.budgets().into_iter().any(|(_, budget)| budget > 0);
    found.property == Property::OneBeliever
        && found.verdict == Verdict::Holds
        && may_be_lost
        && Property::Obtainable.applies(config).is_ok()
}

/// What the actions are that never happen, which a reader knows only by the name in a trace: ` (wake_by_timer: …)`.
fn never_taken(outcome: &CheckOutcome) -> String {
    let all = Action::all(&outcome.config);
    let says = outcome.coverage.never_taken(&outcome.config).filter_map(|kind| {
        let action = all.iter().find(|action| action.kind() == kind)?;
        Some(format!("{}: {} {}", kind.name(), kind_of_actor(*action), does(*action)))
    });
    let says: Vec<_> = says.collect();
    if says.is_empty() { String::new() } else { format!(" ({})", says.join("; ")) }
}

/// Whoever it is that does it.
fn kind_of_actor(action: Action) -> &'static str {
    match action.party() {
        Party::Thread(_) | Party::Client(_) => "a client",
        Party::Node(_) => "a node",
        Party::World => "it happens that",
    }
}

/// The doubt that remains: states are distinguished by fingerprints. The chances of several scenarios add up.
fn doubt(all: &[CheckedScenario], width: usize, page: &mut String) {
    let chance: f64 = all.iter().map(|found| hidden_state_chance(&found.outcome)).sum();
    let text = format!("probability that a fingerprint collision hid a state: at most {chance:.0e}");
    let _ = writeln!(page, "\n{}", hanging(&text, 0, width));
}

fn hidden_state_chance(outcome: &CheckOutcome) -> f64 {
    collision_bound(outcome.states, outcome.fingerprint_bits)
}

/// Whether the object for programs has the counterexamples, which are most of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracesInJson {
    /// Each with its property.
    Included,
    /// None.
    LeftOut,
}

/// The object for programs. `docs/json.md` describes its keys.
pub fn json(all: &[CheckedScenario], traces: TracesInJson) -> Value {
    let each = all.iter().map(|found| scenario_json(&found.outcome, traces));
    json!({ "schema": 1, "scenarios": each.collect::<Vec<_>>() })
}

fn table(all: &[CheckedScenario], width: usize) -> String {
    let rows = all.iter().map(|found| {
        let outcome = &found.outcome;
        let states =
            if outcome.complete { thousands(outcome.states) } else { format!("{}+", thousands(outcome.states)) };
        [
            outcome.scenario.clone(),
            states,
            outcome.depth.to_string(),
            format!("{:.2} s", outcome.seconds),
            summary(outcome),
            found.result().word().to_owned(),
        ]
    });
    let head = ["scenario", "states", "depth", "time", "found", ""];
    Rows::within(head, &rows.collect::<Vec<_>>(), &[1, 2, 3], width).text()
}

/// `8 hold, 1 violated`.
fn summary(outcome: &CheckOutcome) -> String {
    let phrases = [
        (Verdict::Holds, "hold"),
        (Verdict::HoldsWithinBounds, "hold within bounds"),
        (Verdict::Violated, "violated"),
        (Verdict::Vacuous, "vacuous"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let said = phrases.into_iter().filter_map(|(verdict, word)| {
        let times = outcome.properties.iter().filter(|found| found.verdict == verdict).count();
        (times > 0).then(|| format!("{times} {word}"))
    });
    said.collect::<Vec<_>>().join(", ")
}

/// Every violated property, claimed ones first, with its length and the command that shows it: beside it, or below it where
/// that is too wide.
fn violated(all: &[CheckedScenario], width: usize, page: &mut String) {
    let rows: Vec<_> = all
        .iter()
        .flat_map(|found| {
            let violated = found.outcome.properties.iter().filter(|property| property.verdict == Verdict::Violated);
            let (claimed, others): (Vec<_>, Vec<_>) = violated.partition(|property| property.declared.is_some());
            claimed.into_iter().chain(others).map(move |property| (found, property))
        })
        .map(|(found, property)| {
            let steps = property.trace.as_ref().map_or_else(String::new, |trace| count(trace.steps.len(), "step"));
            let hint = format!("lockstep show {} --property {}{}", found.argument, property.property, found.limits);
            let declared = match property.declared {
                Some(Verdict::Violated) => "violated".to_owned(),
                Some(other) => format!("{other}: NOT met"),
                None if property.is_required => "no".to_owned(),
                None => "not claimed".to_owned(),
            };
            [found.outcome.scenario.clone(), property.property.to_string(), declared, steps, hint]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    page.push('\n');
    let beside = Rows::within(["violated", "property", "declared", "in", "see it"], &rows, &[], usize::MAX).text();
    if beside.lines().all(|line| line.chars().count() <= width) {
        page.push_str(&beside);
        return;
    }
    let (rows, hints): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .map(|[scenario, property, declared, steps, hint]| ([scenario, property, declared, steps], hint))
        .unzip();
    let Rows { head, rows } = Rows::within(["violated", "property", "declared", "in"], &rows, &[], width);
    page.push_str(&head);
    for (row, hint) in rows.iter().zip(hints) {
        let _ = writeln!(page, "{row}    {hint}");
    }
}

/// A verdict that is not as declared: the declaration, the result, the reason and the picture.
fn surprise(found: &CheckedScenario, property: &PropertyOutcome, paint: Paint, width: usize, page: &mut String) {
    let outcome = &found.outcome;
    let headline = format!(
        "{}: {} {}",
        outcome.scenario,
        property.property,
        as_declared(property.verdict, property.declared, true)
    );
    let _ = writeln!(page, "{}", paint.paint(Tone::Bad, &hanging(&headline, LABEL, width)));
    let mut say = |label: &str, text: &str| {
        let _ = writeln!(page, "{label:<LABEL$}{}", hanging(text, LABEL, width));
    };
    say("says", property.property.sentence());
    if property.trace.is_none() {
        property.why.iter().for_each(|why| say("why", why));
    }
    if let Some(trace) = &property.trace {
        let options = text::TextOptions {
            paint,
            width,
            declared: Declared::As(property.declared),
            next: Some(format!("lockstep replay {} --property {}{}", found.argument, property.property, found.limits)),
            found: property.why.clone(),
        };
        let _ = write!(page, "\n{}", text::picture(trace, &options));
    } else if property.declared == Some(Verdict::Violated) && property.verdict == Verdict::Holds {
        let states = thousands(outcome.states);
        say(
            "found",
            &format!(
                "it holds in each of the {states} states: the claim does not fit this scenario, or the model has changed"
            ),
        );
    }
}

/// The unknown verdicts, and why: a paragraph for each reason.
fn undecided(found: &CheckedScenario, width: usize, page: &mut String) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for property in found.outcome.properties.iter().filter(|found| found.verdict == Verdict::Inconclusive) {
        let why = property.why.as_deref().unwrap_or("it was stopped early");
        let id = property.property.id();
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, ids)) => ids.push(id),
            None => reasons.push((why, vec![id])),
        }
    }
    for (why, ids) in reasons {
        let text = format!("{}: inconclusive ({why}): {}", found.outcome.scenario, ids.join(", "));
        let _ = writeln!(page, "\n{}", hanging(&text, MARGIN, width));
    }
}

/// What is claimed within the bounds of the file only: where these matter, and where the property holds outright.
fn bounded(found: &CheckedScenario, width: usize, page: &mut String) {
    let claimed: Vec<_> = found
        .outcome
        .properties
        .iter()
        .filter(|found| found.declared == Some(Verdict::HoldsWithinBounds) && found.is_as_declared())
        .collect();
    let (outright, bounded): (Vec<_>, Vec<_>) = claimed.into_iter().partition(|found| found.verdict == Verdict::Holds);
    let ids = |all: &[&PropertyOutcome]| all.iter().map(|found| found.property.id()).collect::<Vec<_>>().join(", ");
    let name = &found.outcome.scenario;
    if let Some(first) = bounded.first() {
        let why = first.why.as_deref().unwrap_or_default();
        let text = format!("{name}: holds within the bounds of the file ({why}): {}", ids(&bounded));
        let _ = writeln!(page, "\n{}", hanging(&text, MARGIN, width));
    }
    if !outright.is_empty() {
        let why = "no bound was touched, so \"holds\" can be claimed";
        let text = format!("{name}: holds outright ({why}): {}", ids(&outright));
        let _ = writeln!(page, "\n{}", hanging(&text, MARGIN, width));
    }
}

fn scenario_json(outcome: &CheckOutcome, traces: TracesInJson) -> Value {
    json!({
        "name": outcome.scenario,
        "states": outcome.states,
        "generated": outcome.generated,
        "depth": outcome.depth,
        "complete": outcome.complete,
        "seconds": outcome.seconds,
        "fingerprint_bits": outcome.fingerprint_bits,
        "hidden_state_chance": hidden_state_chance(outcome),
        "liveness_seconds": outcome.liveness_seconds,
        "engine": engine_json(outcome.engine),
        "assumed": assumptions(&outcome.config),
        "coverage": coverage_json(outcome),
        "properties": outcome.properties.iter().map(|found| property_json(found, traces)).collect::<Vec<_>>(),
    })
}

/// What the run reached and what it never reached; if the run is not complete: not so far.
fn coverage_json(outcome: &CheckOutcome) -> Value {
    let CheckOutcome { config, coverage, .. } = outcome;
    let each = |count: &dyn Fn(ActionKind) -> Value| -> BTreeMap<&str, Value> {
        ActionKind::ALL.into_iter().map(|kind| (kind.name(), count(kind))).collect()
    };
    let answers = |kind: ActionKind| -> BTreeMap<&str, u64> {
        let given = ReplyKind::ALL.into_iter().map(|reply| (reply.name(), coverage.answered(kind, reply)));
        given.filter(|(_, times)| *times > 0).collect()
    };
    let missing_answers =
        coverage.answers_never_given(config).map(|(kind, reply)| json!({ "action": kind, "answer": reply.name() }));
    let missing_ways = coverage.ways_never_gone(config).map(|way| json!({ "switch": way.switch, "value": way.value }));
    let unspent: BTreeMap<_, _> = coverage.unspent().map(|(kind, left)| (kind.name(), left)).collect();
    let touched = coverage.touched().map(|(capacity, kind)| {
        let room = config.room_for(capacity);
        json!({
            "capacity": capacity.name(),
            "room": room,
            "action": kind,
            "key": format!("bounds.{}", capacity.key()),
            "try": more_room(capacity, room),
            "most": capacity.most(),
        })
    });
    json!({
        "taken": each(&|kind| json!(coverage.taken(kind))),
        "enabled": each(&|kind| json!(coverage.enabled[kind as usize])),
        "answers": each(&|kind| json!(answers(kind))),
        "happenings": coverage.happenings.iter().collect::<Vec<_>>(),
        "faults_left_at_least": coverage.least_left,
        "capacities_exceeded": touched.collect::<Vec<_>>(),
        "never": {
            "answers": missing_answers.collect::<Vec<_>>(),
            "happenings": coverage.never_happened(config).collect::<Vec<_>>(),
            "ways": missing_ways.collect::<Vec<_>>(),
            "spent": unspent,
        },
    })
}

fn engine_json(engine: Engine) -> Option<String> {
    engine.to_possible_value().map(|value| value.get_name().to_owned())
}

fn property_json(found: &PropertyOutcome, traces: TracesInJson) -> Value {
    let mut property = json!({
        "id": found.property,
        "declared": found.declared,
        "required": found.is_required,
        "verdict": found.verdict,
        "as_declared": found.is_as_declared(),
        "steps": found.trace.as_ref().map(|trace| trace.steps.len()),
        "why": found.why,
        "engine": engine_json(found.engine),
    });
    if traces == TracesInJson::Included {
        property["trace"] = json!(found.trace);
    }
    property
}
