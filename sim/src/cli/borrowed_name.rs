//! Names of built-in scenarios: a trace or a file that has one, and is not that scenario, borrows what readers know of it.

use lockstep_model::config::{Cluster, Config};
use lockstep_model::trace::{About, Trace};
use serde_json::Value;

use crate::scenario::{BuiltIn, Scenario};

/// The most letters of a value that a message repeats.
const MOST_LETTERS: usize = 80;

/// Whether the world and the story of a trace are those of the built-in scenario that it names, if it names one. An error
/// names the first field that differs.
pub(super) fn check(trace: &Trace) -> Result<(), String> {
    let Some(built_in) = BuiltIn::named(&trace.scenario).map(|file| file.scenario()) else { return Ok(()) };
    let mut config = built_in.config;
    // `fuzz` draws in the world of its server: TTLs reach the replicas in the way of its version.
    if trace.about == About::Drawn {
        config = Config { cluster: Cluster { ttls: trace.config.cluster.ttls, ..config.cluster }, ..config };
    }
    let differs = |(place, found, expected): (String, String, String)| {
        format!("{place} is {found}, but {expected} in the built-in scenario {}", trace.scenario)
    };
    if trace.story != built_in.story {
        return Err(differs(("/story".to_owned(), shown(&trace.story.as_str().into()), shown(&built_in.story.into()))));
    }
    let values = |config: &Config| serde_json::to_value(config).map_err(|error| error.to_string());
    first_difference(&values(&trace.config)?, &values(&config)?, "/config").map_or(Ok(()), |found| Err(differs(found)))
}

/// Whether a scenario has the name of a built-in one, and another world or story: its traces are refused.
pub(super) fn is_borrowed(scenario: &Scenario) -> bool {
    let built_in = BuiltIn::named(&scenario.name).map(|file| file.scenario());
    built_in.is_some_and(|other| other.config != scenario.config || other.story != scenario.story)
}

/// The place of the first difference, and both values there.
fn first_difference(found: &Value, expected: &Value, place: &str) -> Option<(String, String, String)> {
    if found == expected {
        return None;
    }
    if let (Value::Object(found), Value::Object(expected)) = (found, expected) {
        let keys = found.keys().chain(expected.keys().filter(|key| !found.contains_key(*key)));
        return keys.into_iter().find_map(|key| {
            // A key that is left out has its default.
            let of = |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or_default();
            first_difference(&of(found), &of(expected), &format!("{place}/{key}"))
        });
    }
    Some((place.to_owned(), shown(found), shown(expected)))
}

/// A value in a message.
fn shown(value: &Value) -> String {
    if value.is_null() {
        return "left out".to_owned();
    }
    let text = value.to_string();
    let start: String = text.chars().take(MOST_LETTERS).collect();
    if start.len() == text.len() { text } else { format!("{start}…") }
}
