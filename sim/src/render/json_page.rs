//! The page on JSON (docs/json.md) compared with what the commands print: every key stands there, and no other.

use std::collections::BTreeSet;

use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/json.md");
/// What these contain is described elsewhere.
const DESCRIBED_ELSEWHERE: [&str; 2] = ["trace", "action"];

/// Fails unless the section on a command has the keys of these objects and no other. What is below a key of `as_above` stands in
/// another section or further up.
pub fn assert_described(command: &str, as_above: &[&str], objects: &[Value]) {
    let head = format!("## lockstep {command}\n");
    let (_, section) = PAGE.split_once(&head).unwrap_or_else(|| panic!("docs/json.md has no section on {command}"));
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let described: BTreeSet<_> =
        section.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned())).collect();
    let mut printed = BTreeSet::new();
    for object in objects {
        add_paths(object, "", as_above, &mut printed);
    }
    let (missing, foreign): (Vec<_>, Vec<_>) =
        (printed.difference(&described).collect(), described.difference(&printed).collect());
    assert!(
        missing.is_empty() && foreign.is_empty(),
        "docs/json.md, lockstep {command}: printed and not described: {missing:?}; described and not printed: {foreign:?}"
    );
}

fn add_paths(value: &Value, path: &str, as_above: &[&str], found: &mut BTreeSet<String>) {
    match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                let dot = if path.is_empty() { "" } else { "." };
                let brackets = if value.is_array() { "[]" } else { "" };
                let path = format!("{path}{dot}{key}{brackets}");
                found.insert(path.clone());
                if !DESCRIBED_ELSEWHERE.contains(&key.as_str()) && !as_above.contains(&path.as_str()) {
                    add_paths(value, &path, as_above, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_paths(item, path, as_above, found)),
        _ => {}
    }
}
