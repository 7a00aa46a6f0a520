//! The scenarios that the binary embeds.

use super::definition::Scenario;

/// An embedded scenario file, not parsed yet.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its folder, named after a lock kind, in snake case.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

/// Written by `build/scenarios.rs`: every file below `scenarios/`, sorted by kind and name.
static BUILT_IN: &[BuiltIn] = &include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The scenarios that the binary embeds, not parsed, sorted by kind and name.
pub fn builtin_files() -> &'static [BuiltIn] {
    BUILT_IN
}

/// The scenarios that the binary embeds, sorted by kind and name.
pub fn builtin() -> Vec<Scenario> {
    BUILT_IN.iter().map(BuiltIn::scenario).collect()
}

impl BuiltIn {
    /// The built-in scenario with that name.
    pub fn named(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|file| file.name == name).copied()
    }

    /// The parsed scenario.
    pub fn scenario(&self) -> Scenario {
        Scenario::parse(self.name, self.text).unwrap_or_else(|error| panic!("a built-in scenario is wrong:\n{error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_built_in_scenario_is_right() {
        assert!(!builtin().is_empty());
    }

    /// Names are unique, because a command names a scenario without its kind.
    #[test]
    fn no_two_built_in_scenarios_have_one_name() {
        let names: BTreeSet<_> = builtin_files().iter().map(|file| file.name).collect();
        assert_eq!(names.len(), builtin_files().len());
    }

    #[test]
    fn a_built_in_scenario_stands_in_the_folder_of_its_lock_kind() {
        for file in builtin_files() {
            assert_eq!(file.scenario().config.lock.name().replace('-', "_"), file.kind, "{}", file.name);
        }
    }
}
