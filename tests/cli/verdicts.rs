//! The page of `check` against its golden file, with one example of everything.

use std::collections::BTreeSet;
use std::slice;

use lockstep_model::config::Faults;
use lockstep_model::{ActionKind, Property, ReplyKind, Verdict};
use lockstep_sim::check::{CheckOutcome, Coverage, Engine, PropertyOutcome};
use lockstep_sim::render::Paint;
use lockstep_sim::render::verdicts::{CheckedScenario, Result, TracesInJson, json, page};
use serde_json::Value;

use crate::traces::failover;

fn found(name: &str, properties: Vec<PropertyOutcome>) -> CheckedScenario {
    let mut coverage = Coverage::none(&failover().config);
    coverage.least_left = Faults::default();
    let outcome = CheckOutcome {
        scenario: name.to_owned(),
        config: failover().config,
        engine: Engine::Native,
        states: 12_345,
        generated: 67_890,
        depth: 14,
        complete: true,
        fingerprint_bits: 64,
        left_normal_forms: false,
        peak_bytes: None,
        seconds: 0.25,
        liveness_seconds: None,
        coverage,
        properties,
    };
    CheckedScenario { argument: name.to_owned(), limits: String::new(), outcome }
}

fn said(property: Property, declared: Option<Verdict>, verdict: Verdict) -> PropertyOutcome {
    let trace = (verdict == Verdict::Violated).then(failover);
    let why = match verdict {
        Verdict::Vacuous => Some(property.antecedent_sentence().to_owned()),
        Verdict::Inconclusive => Some("the limit of 12345 states was reached".to_owned()),
        Verdict::HoldsWithinBounds => Some("the model's room for effects is 4".to_owned()),
        Verdict::Holds | Verdict::Violated => None,
    };
    PropertyOutcome { property, declared, is_required: true, verdict, why, engine: Engine::Native, trace }
}

fn as_declared() -> CheckedScenario {
    let properties = vec![
        said(Property::OneBeliever, Some(Verdict::Violated), Verdict::Violated),
        said(Property::OneServerHolder, None, Verdict::Holds),
        said(Property::OnlyHolderReleases, None, Verdict::Vacuous),
    ];
    found("failover-loses-the-grant", properties)
}

fn surprising() -> CheckedScenario {
    let properties = vec![
        said(Property::OneBeliever, Some(Verdict::Holds), Verdict::Violated),
        said(Property::GrantSurvives, Some(Verdict::Violated), Verdict::Holds),
        said(Property::WaitLimitKept, Some(Verdict::Holds), Verdict::Vacuous),
    ];
    found("synchronous-replica", properties)
}

fn stopped() -> CheckedScenario {
    found("too-large", vec![said(Property::OneBeliever, Some(Verdict::Holds), Verdict::Inconclusive)])
}

#[test]
fn the_page_of_one_of_everything() {
    let mut all = vec![as_declared(), surprising(), stopped()];
    all[2].outcome.complete = false;
    insta::assert_snapshot!(page(&all, Paint::Plain, 120));
}

/// A known wrong verdict is a failure, even if other verdicts are unknown.
#[test]
fn a_scenario_in_one_word() {
    assert_eq!(as_declared().result(), Result::Passed);
    assert_eq!(surprising().result(), Result::Failed);
    assert_eq!(stopped().result(), Result::Undecided);
    let mut both = surprising();
    both.outcome.properties.extend(stopped().outcome.properties);
    assert_eq!(both.result(), Result::Failed);
}

#[test]
fn programs_get_the_keys_of_the_design_page() {
    let object = json(slice::from_ref(&as_declared()), TracesInJson::Included);
    let scenario = &object["scenarios"][0];
    for key in ["name", "states", "generated", "depth", "complete", "seconds", "engine", "properties"] {
        assert!(!scenario[key].is_null(), "{key}");
    }
    let property = scenario["properties"][0].as_object().expect("an object");
    for key in ["id", "declared", "verdict", "as_declared", "steps", "trace"] {
        assert!(property.contains_key(key), "{key}");
    }
    assert_eq!(scenario["engine"], "native");
}

/// The keys of an object as paths, `scenarios[].name`. Names of actions and faults are no keys, nor are those inside of a trace.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    const BY_NAME: [&str; 6] = ["trace", "taken", "enabled", "answers", "faults_left_at_least", "spent"];
    let is_open = |key: &str| BY_NAME.contains(&key.rsplit('.').next().unwrap_or_default());
    match value {
        Value::Object(keys) if !is_open(path) => {
            for (key, value) in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let path = if value.is_array() { path + "[]" } else { path };
                found.insert(path.clone());
                paths(value, &path, found);
            }
        }
        Value::Array(items)
            if items.iter().all(Value::is_object) && (path == "scenarios[]" || path.ends_with("properties[]")) =>
        {
            for item in items {
                paths(item, path, found);
            }
        }
        _ => {}
    }
}

#[test]
fn the_page_on_json_has_every_key_and_no_other() {
    let page = include_str!("../../docs/json.md");
    let (_, page) = page.split_once("## lockstep check\n").expect("it has a section on check");
    let (page, _) = page.split_once("\n## ").expect("others follow");
    let described: BTreeSet<_> =
        page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned())).collect();
    let mut printed = BTreeSet::new();
    let all = vec![as_declared(), surprising(), stopped()];
    paths(&json(&all, TracesInJson::Included), "", &mut printed);
    assert_eq!(described, printed);

    let mut small = BTreeSet::new();
    paths(&json(slice::from_ref(&as_declared()), TracesInJson::LeftOut), "", &mut small);
    assert_eq!(printed.difference(&small).collect::<Vec<_>>(), ["scenarios[].properties[].trace"]);
}

/// What never happened is available as data, not only as text.
#[test]
fn programs_learn_what_was_never_come_to() {
    let mut found = as_declared();
    let config = &mut found.outcome.config;
    config.faults.crash_node = 2;
    found.outcome.coverage = Coverage::none(config);
    found.outcome.coverage.answers[ActionKind::Acquire as usize][ReplyKind::Busy as usize] = 3;
    found.outcome.coverage.enabled[ActionKind::Acquire as usize] = 2;
    let coverage = &json(slice::from_ref(&found), TracesInJson::Included)["scenarios"][0]["coverage"];
    assert_eq!(coverage["taken"]["acquire"], 3);
    assert_eq!(coverage["enabled"]["acquire"], 2);
    assert_eq!(coverage["answers"]["acquire"], serde_json::json!({ "busy": 3 }));
    let never = &coverage["never"];
    let answers = never["answers"].as_array().expect("a list");
    assert!(answers.contains(&serde_json::json!({ "action": "acquire", "answer": "acquired" })), "{never}");
    assert!(!answers.contains(&serde_json::json!({ "action": "acquire", "answer": "busy" })), "{never}");
    assert!(never["happenings"].as_array().is_some_and(|all| all.contains(&"granted".into())), "{never}");
    assert!(never["ways"][0]["switch"].is_string(), "{never}");
    assert_eq!(never["spent"], serde_json::json!({ "crash_node": 2 }));
}
