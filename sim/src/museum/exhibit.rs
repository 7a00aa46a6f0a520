//! An exhibit: what a file of `museum/` says.

use std::fmt;

use lockstep_model::Property;
use lockstep_model::config::{Profile, RenewalTimer};
use serde::{Deserialize, Deserializer};
use toml_edit::DocumentMut;

use crate::replay::redisson::Interruption;
use crate::scenario::{BuiltIn, Scenario, ScenarioError};

/// Written by `build/museum.rs`: the name and the text of every file below `museum/`, sorted by name.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/museum.rs"));

/// A defect of a client library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhibit {
    /// Its short name: `D4`.
    pub id: String,
    /// The library that has it.
    pub library: Library,
    /// What goes wrong, in one line.
    pub title: String,
    /// The built-in scenario in which the model finds it.
    pub scenario: String,
    /// The property that breaks.
    #[serde(deserialize_with = "property")]
    pub property: Property,
    /// How the caller of an acquire gives it up, where one does.
    #[serde(default)]
    pub interruption: Interruption,
    /// What an application sees, in a few sentences.
    pub what_breaks: String,
    /// What a user of the library can do today.
    pub today: String,
    /// A text fit for an issue of the library.
    pub report: String,
    /// Which versions have it, as runs have shown.
    pub versions: Versions,
    /// What stops it: in the model the property holds.
    pub repair: Change,
    /// The world beside it in which the library behaves.
    pub control: Change,
}

/// A client library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    /// Redisson, of Java.
    Redisson,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redisson => f.write_str("Redisson"),
        }
    }
}

/// Versions of a library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// Those on which it was reproduced.
    pub reproduced: Vec<String>,
    /// Those that do something else.
    pub absent: Vec<String>,
}

impl Versions {
    /// Whether this version has it; `None`: it is not in the file.
    pub fn has(&self, version: &str) -> Option<bool> {
        let is_in = |versions: &[String]| versions.iter().any(|one| one == version);
        match (is_in(&self.reproduced), is_in(&self.absent)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// A world that differs in some keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What is different, in words.
    pub sentence: String,
    /// The keys, as in the file of a scenario.
    #[serde(default)]
    changes: toml::Table,
    /// Keys that are left out, since they have no effect any more: `cluster.channels`.
    #[serde(default)]
    without: Vec<String>,
}

impl Change {
    /// No change at all.
    pub fn none() -> Self {
        Self { sentence: "nothing is different".to_owned(), changes: toml::Table::new(), without: Vec::new() }
    }

    /// The keys as one would write them: `protocol.stale_renewal = "ignore"`.
    pub fn lines(&self) -> Vec<String> {
        let lines = |(table, keys): (&String, &toml::Value)| match keys.as_table() {
            Some(keys) => keys.iter().map(|(key, value)| format!("{table}.{key} = {value}")).collect(),
            // The tables of all clients.
            None => vec![format!("{table} = {keys}")],
        };
        let without = self.without.iter().map(|key| format!("no {key}"));
        self.changes.iter().flat_map(lines).chain(without).collect()
    }
}

impl Exhibit {
    /// Every exhibit, sorted by id.
    pub fn all() -> Vec<Self> {
        FILES.iter().map(|(name, text)| Self::embedded(name, text)).collect()
    }

    /// The exhibit with this id; `d4` is `D4`.
    pub fn named(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.id.eq_ignore_ascii_case(id))
    }

    fn embedded(name: &str, text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("museum/{name}.toml is wrong:\n{error}"))
    }

    /// The world in which the property breaks, for clients of this profile.
    ///
    /// # Errors
    /// Its keys do not go together.
    pub fn world(&self, profile: Profile) -> Result<Scenario, ScenarioError> {
        self.scenario_with(profile, &Change::none())
    }

    /// The world with this change.
    ///
    /// # Errors
    /// As [`world`](Self::world).
    pub fn changed(&self, profile: Profile, change: &Change) -> Result<Scenario, ScenarioError> {
        self.scenario_with(profile, change)
    }

    fn scenario_with(&self, profile: Profile, change: &Change) -> Result<Scenario, ScenarioError> {
        let file = BuiltIn::named(&self.scenario)
            .unwrap_or_else(|| panic!("{}: there is no built-in scenario {}", self.id, self.scenario));
        let mut document: DocumentMut = file.text.parse().expect("the scenario's reader has read it");
        // What is claimed of the built-in world need not be so of this one.
        document.remove("expect");
        document["protocol"]["profile"] = toml_edit::value(profile.name());
        // With a timer for each lock no renewal carries several.
        if profile.protocol().renewal_timer == RenewalTimer::PerLock
            && let Some(protocol) = document["protocol"].as_table_mut()
        {
            protocol.remove("renewal_batch");
        }
        for (table, keys) in &change.changes {
            if keys.is_array() {
                let tables: toml_edit::Value = keys.to_string().parse().expect("a value is written as one");
                document[table] = toml_edit::value(tables);
            }
            for (key, value) in keys.as_table().into_iter().flatten() {
                let value: toml_edit::Value = value.to_string().parse().expect("a value is written as one");
                document[table][key] = toml_edit::value(value);
            }
        }
        for (table, key) in change.without.iter().filter_map(|path| path.split_once('.')) {
            document[table].as_table_mut().and_then(|keys| keys.remove(key));
        }
        Scenario::parse(&self.scenario, &document.to_string())
    }
}

fn property<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Property, D::Error> {
    let id = String::deserialize(deserializer)?;
    Property::from_id(&id).ok_or_else(|| serde::de::Error::custom(format!("there is no property {id}")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_exhibit_is_right_and_lies_under_its_id() {
        assert!(!FILES.is_empty());
        let ids: BTreeSet<_> = Exhibit::all().into_iter().map(|one| one.id.to_lowercase()).collect();
        let names: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(ids, names);
    }

    #[test]
    fn the_worlds_of_every_exhibit_are_scenarios_for_every_version_that_it_speaks_of() {
        for exhibit in Exhibit::all() {
            for (profile, version) in Profile::ALL.into_iter().filter_map(|one| Some((one, one.redisson_version()?))) {
                let world = match exhibit.world(profile) {
                    Ok(world) => world,
                    Err(error) => {
                        // Of a version with rules that are not modelled nothing is said.
                        assert_eq!(exhibit.versions.has(version), None, "{}: {error}", exhibit.id);
                        continue;
                    }
                };
                for change in [&exhibit.repair, &exhibit.control] {
                    let is_key = |path: &String| path.split_once('.').is_some();
                    assert!(change.without.iter().all(is_key), "{}: {:?}", exhibit.id, change.without);
                    let changed = exhibit.changed(profile, change);
                    let changed = changed.unwrap_or_else(|error| panic!("{}: {error}", exhibit.id));
                    // A version that does not have the defect may do what would repair it.
                    let has_it = exhibit.versions.has(version) == Some(true);
                    assert!(!has_it || changed.config != world.config, "{} on {version}", exhibit.id);
                }
            }
        }
    }

    #[test]
    fn no_version_both_has_a_defect_and_does_not() {
        for exhibit in Exhibit::all() {
            let Versions { reproduced, absent } = &exhibit.versions;
            assert!(!reproduced.is_empty(), "{}", exhibit.id);
            assert!(reproduced.iter().all(|version| !absent.contains(version)), "{}", exhibit.id);
        }
    }
}
