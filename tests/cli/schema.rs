//! The published schema says what a trace is, and nothing more.

use std::collections::BTreeSet;

use lockstep_model::config::{Bound, Config};
use lockstep_model::step::Happening;
use lockstep_model::world::Breach;
use lockstep_model::{ActionKind, LockKind, Property};
use lockstep_sim::render::json::TRACE_SCHEMA;
use serde_json::{Value, json};

use crate::traces::{EVERYTHING, FAILOVER, IN_FLIGHT, failover, orphan, stale_effect, wakeup, walk};

fn validator() -> jsonschema::Validator {
    let schema = serde_json::from_str(TRACE_SCHEMA).expect("the schema is JSON");
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).expect("the schema is a schema")
}

#[test]
fn every_trace_is_as_the_schema_says() {
    let validator = validator();
    let mut traces = vec![failover(), wakeup(), stale_effect(), orphan()];
    let synchronous =
        Config { cluster: lockstep_model::config::Cluster { lag: Bound::Ticks(0), ..FAILOVER.cluster }, ..FAILOVER };
    let plain = Config { lock: LockKind::Plain, ..EVERYTHING };
    traces.extend(
        [EVERYTHING, IN_FLIGHT, synchronous, plain]
            .iter()
            .flat_map(|config| (0..10).map(|seed| walk(config, 60, seed))),
    );
    for trace in traces {
        let trace = serde_json::to_value(&trace).expect("a trace is JSON");
        if let Err(error) = validator.validate(&trace) {
            panic!("at {}: {error}", error.instance_path());
        }
    }
}

/// A schema that accepts anything would prove nothing.
#[test]
fn an_altered_trace_is_not_as_the_schema_says() {
    let validator = validator();
    let good = serde_json::to_value(failover()).expect("a trace is JSON");
    let alterations: [(&str, Value); 8] = [
        ("/schema", json!(2)),
        ("/about/verdict", json!("holds")),
        ("/about/property", json!("two-believers")),
        ("/config/clients/count", json!(5)),
        ("/steps/0/action/do", json!("steal")),
        ("/steps/0/answer/reply", json!(null)),
        ("/initial/nodes/0/role", json!("leader")),
        ("/initial/nodes/0/lock", json!({ "holder": "A" })),
    ];
    for (place, value) in alterations {
        let mut altered = good.clone();
        *altered.pointer_mut(place).expect("the place is there") = value;
        assert!(!validator.is_valid(&altered), "{place}");
    }
    for object in ["", "/config", "/config/time", "/about", "/initial", "/steps/0", "/steps/0/action", "/claims"] {
        let mut altered = good.clone();
        let object_there = altered.pointer_mut(object).and_then(Value::as_object_mut).expect("an object");
        object_there.insert("surprise".to_owned(), json!(1));
        assert!(!validator.is_valid(&altered), "{object}");
    }
}

/// A property, action or happening that the model learns must reach the schema.
#[test]
fn the_schema_knows_every_word_of_the_model() {
    let schema: Value = serde_json::from_str(TRACE_SCHEMA).expect("the schema is JSON");
    let words = |place: &str| -> BTreeSet<String> {
        let place = schema.pointer(place).unwrap_or_else(|| panic!("{place} is there"));
        let variants = place.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![place.clone()]);
        let lists = variants.iter().filter_map(|variant| {
            let verb = variant.pointer("/properties/do").or(variant.pointer("/properties/property"));
            verb.unwrap_or(variant).get("enum")?.as_array()
        });
        lists.flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let actions = ActionKind::ALL.map(|kind| kind.name().to_owned());
    assert_eq!(words("/$defs/action"), BTreeSet::from(actions));
    let properties = Property::ALL.map(|property| property.id().to_owned());
    assert_eq!(words("/$defs/about"), BTreeSet::from(properties));
    let happenings = Happening::ALL.map(|happening| json!(happening).as_str().expect("a word").to_owned());
    assert_eq!(words("/$defs/step/properties/happenings/items"), BTreeSet::from(happenings));
    let breaches = Breach::ALL.map(|breach| json!(breach).as_str().expect("a word").to_owned());
    assert_eq!(words("/$defs/state/properties/breaches/items"), BTreeSet::from(breaches));
}
