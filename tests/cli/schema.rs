//! The published schema describes a trace exactly, and accepts nothing else.

use std::path::Path;

use lockstep_model::config::{Bound, ClientSettings, Config, Profile};
use lockstep_model::trace;
use lockstep_sim::render::json::TRACE_SCHEMA;
use serde_json::{Value, json};

use crate::traces::{EVERYTHING, FAILOVER, IN_FLIGHT, NAMED, failover, kind, orphan, stale_effect, wakeup, walk};

fn validator() -> jsonschema::Validator {
    let schema = serde_json::from_str(TRACE_SCHEMA).expect("the schema is JSON");
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).expect("the schema is a schema")
}

/// The published file is generated from the types, so a type cannot change without it.
#[test]
fn the_schema_is_generated_from_the_types() {
    let mut generated = serde_json::to_string_pretty(&trace::json_schema()).expect("a schema is JSON");
    generated.push('\n');
    if std::env::var_os("LOCKSTEP_WRITE_REPORTS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/schema/trace.schema.json");
        std::fs::write(&file, &generated).expect("the file can be written");
        return;
    }
    assert!(
        generated == TRACE_SCHEMA,
        "sim/schema/trace.schema.json is not what the types say: write it with \
         LOCKSTEP_WRITE_REPORTS=1 cargo test -p lockstep-tests --test cli schema"
    );
}

/// A number that only its type bounds has a format, such as `uint8`, and one with bounds of its own has none: the reader of trace
/// files would take any value of the type for it.
#[test]
fn every_number_of_a_configuration_has_bounds_of_its_own() {
    let schema: Value = serde_json::from_str(TRACE_SCHEMA).expect("the schema is JSON");
    let mut places = vec!["/$defs/Config".to_owned()];
    let (mut seen, mut unbounded, mut bounded) = (Vec::new(), Vec::new(), 0);
    while let Some(place) = places.pop() {
        if seen.contains(&place) {
            continue;
        }
        let here = schema.pointer(&place).expect("it was found before");
        if let Some(target) = here["$ref"].as_str() {
            places.push(target.trim_start_matches('#').to_owned());
        }
        let is_number =
            here["type"] == "integer" || here["type"].as_array().is_some_and(|all| all.contains(&"integer".into()));
        if is_number && here.get("format").is_some() {
            unbounded.push(place.clone());
        }
        bounded += u32::from(is_number && here.get("format").is_none());
        for of in ["properties", "oneOf", "anyOf"] {
            match &here[of] {
                Value::Object(all) => places.extend(all.keys().map(|key| format!("{place}/{of}/{key}"))),
                Value::Array(all) => places.extend((0..all.len()).map(|at| format!("{place}/{of}/{at}"))),
                _ => {}
            }
        }
        if here["items"].is_object() {
            places.push(format!("{place}/items"));
        }
        seen.push(place);
    }
    assert_eq!(unbounded, [""; 0], "add them to model/src/trace/bounds.rs");
    assert!(bounded > 60, "{bounded} numbers were found");
}

#[test]
fn every_trace_is_as_the_schema_says() {
    let validator = validator();
    let mut traces = vec![failover(), wakeup(), stale_effect(), orphan()];
    let synchronous =
        Config { cluster: lockstep_model::config::Cluster { lag: Bound::Ticks(0), ..FAILOVER.cluster }, ..FAILOVER };
    let plain = Config { lock: kind(false), ..EVERYTHING };
    traces.extend(
        [EVERYTHING, IN_FLIGHT, NAMED, synchronous, plain, unlike()]
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

/// Client A has a lease and a limit of its own, and client B nothing.
fn unlike() -> Config {
    let common = EVERYTHING.common_settings();
    let own = ClientSettings { lease: 1, acquires: Some(2), protocol: Profile::Redisson315.protocol(), ..common };
    EVERYTHING.with_settings(&[own, common])
}

/// Traces of alike clients are as they always were, so old ones can be read; what one client has of its own is written out.
#[test]
fn a_trace_says_what_single_clients_have_only_where_they_differ() {
    let alike = serde_json::to_value(EVERYTHING).expect("a configuration is JSON");
    assert_eq!(alike.get("client"), None);
    assert_eq!(serde_json::from_value::<Config>(alike).expect("it can be read"), EVERYTHING);
    let config = serde_json::to_value(unlike()).expect("a configuration is JSON");
    assert_eq!(config["client"].as_array().map(Vec::len), Some(1), "{config}");
    assert_eq!((&config["client"][0]["lease"], &config["client"][0]["acquires"]), (&json!(1), &json!(2)));
    assert_eq!(serde_json::from_value::<Config>(config.clone()).expect("it can be read"), unlike());
    let mut trace = serde_json::to_value(walk(&unlike(), 5, 0)).expect("a trace is JSON");
    assert!(validator().is_valid(&trace));
    trace["config"]["client"] = json!([null, null, null, null, null]);
    assert!(!validator().is_valid(&trace), "there are four places");
    let mut five = config;
    five["client"] = json!([null, null, null, null, null]);
    let error = serde_json::from_value::<Config>(five).expect_err("there are four places");
    assert!(error.to_string().contains("5 clients: at most 4 fit"), "{error}");
}

/// A schema that accepts everything would prove nothing.
#[test]
fn an_altered_trace_is_not_as_the_schema_says() {
    let validator = validator();
    let good = serde_json::to_value(failover()).expect("a trace is JSON");
    let alterations: [(&str, Value); 13] = [
        ("/schema", json!(1)),
        ("/about/verdict", json!("holds")),
        ("/about/property", json!("two-believers")),
        ("/config/clients/count", json!(5)),
        ("/steps/0/action/do", json!("steal")),
        ("/steps/0/answer/reply", json!(null)),
        ("/initial/nodes/0/role", json!("leader")),
        ("/initial/clients/0/mode", json!("asleep")),
        ("/initial/clients/0/threads/0/phase", json!("dreaming")),
        ("/steps/0/state/nodes/0/stored/holders/0", json!({ "holder": "A" })),
        ("/steps/0/state/nodes/0/stored/keys/0/slot", json!("elsewhere")),
        ("/steps/0/state/nodes/0/stored/keys/0/type", json!("stream")),
        ("/steps/0/state/nodes/0/stored/keys/0/content", json!("A:1")),
    ];
    for (place, value) in alterations {
        let mut altered = good.clone();
        *altered.pointer_mut(place).expect("the place is there") = value;
        assert!(!validator.is_valid(&altered), "{place}");
    }
    let key = "/steps/0/state/nodes/0/stored/keys/0";
    for object in ["", "/config", "/config/time", "/about", "/initial", "/steps/0", "/steps/0/action", "/claims", key] {
        let mut altered = good.clone();
        let object_there = altered.pointer_mut(object).and_then(Value::as_object_mut).expect("an object");
        object_there.insert("surprise".to_owned(), json!(1));
        assert!(!validator.is_valid(&altered), "{object}");
    }
}
