//! The built-in scenarios as the page counts them: with their verdicts, their class of faults, and what is unusual in their clients.

use std::sync::LazyLock;

use lockstep_model::config::Profile;
use lockstep_model::{LockKind, Property, Verdict};
use lockstep_sim::check::CheckOutcome;
use lockstep_sim::scenario::{BuiltIn, KEYS, Scenario, ScenarioError};
use toml::{Table, Value};

use super::fault_class::FaultClass;
use crate::runs::ALL;

/// A built-in scenario with its verdicts.
pub(super) struct JudgedWorld {
    pub(super) scenario: &'static Scenario,
    pub(super) outcome: &'static CheckOutcome,
    /// `None`: several classes at once.
    pub(super) class: Option<FaultClass>,
    /// The lines of `[protocol]` by which its clients differ from those of the newest profile.
    pub(super) unusual: Vec<String>,
}

impl JudgedWorld {
    /// Whether it says something of this property: it applies there, and was put to the test.
    pub(super) fn has_tested(&self, property: Property) -> bool {
        let of_property = self.outcome.properties.iter().find(|found| found.property == property);
        of_property.is_some_and(|found| match found.verdict {
            Verdict::Holds | Verdict::HoldsWithinBounds | Verdict::Violated => true,
            Verdict::Vacuous | Verdict::Inconclusive => false,
        })
    }
}

/// Every built-in scenario.
pub(super) static WORLDS: LazyLock<Vec<JudgedWorld>> = LazyLock::new(|| {
    let judged = ALL.iter().map(|(scenario, outcome)| JudgedWorld {
        scenario,
        outcome,
        class: FaultClass::of_world(&scenario.config),
        unusual: unusual_switches(scenario),
    });
    judged.collect()
});

/// Keys of `[protocol]` that say how a client is deployed and set up, and not how its library works.
const OF_DEPLOYMENT: [&str; 2] = ["resend", "retry_attempts"];

fn text_of(name: &str) -> &'static str {
    BuiltIn::named(name).unwrap_or_else(|| panic!("no scenario {name}")).text
}

fn file_of(name: &str) -> Table {
    text_of(name).parse().expect("the reader of scenarios has read it")
}

/// The switches that the file sets, if its world is another one without them.
fn unusual_switches(scenario: &Scenario) -> Vec<String> {
    let mut file = file_of(&scenario.name);
    file.remove("expect");
    let is_switch = |key: &str| {
        KEYS.iter().any(|known| known.table == "protocol" && known.name == key) && !OF_DEPLOYMENT.contains(&key)
    };
    let mut removed = Vec::new();
    let mut without = |table: &mut Table| {
        let keys: Vec<String> = table.keys().filter(|key| is_switch(key)).cloned().collect();
        for key in keys {
            let value = table.remove(&key).expect("it is there");
            removed.push(format!("`{key} = {value}`"));
        }
    };
    if let Some(protocol) = file.get_mut("protocol").and_then(Value::as_table_mut) {
        without(protocol);
    }
    for client in file.get_mut("client").and_then(Value::as_array_mut).into_iter().flatten() {
        without(client.as_table_mut().expect("a client is a table"));
    }
    let profile = scenario.config.protocol.profile;
    let is_same = Scenario::parse(&scenario.name, &file.to_string()).is_ok_and(|mut usual| {
        usual.config.protocol.profile = profile;
        usual.config == scenario.config
    });
    removed.sort();
    removed.dedup();
    if is_same { Vec::new() } else { removed }
}

pub(super) fn newest() -> Profile {
    let mut versions = Profile::ALL.into_iter().filter(|profile| profile.redisson_version().is_some());
    versions.next_back().expect("there is a version of Redisson")
}

pub(super) fn of_class(worlds: &[&'static JudgedWorld], class: FaultClass) -> Vec<&'static JudgedWorld> {
    worlds.iter().copied().filter(|world| world.class == Some(class)).collect()
}

pub(super) fn of_kind(kind: LockKind) -> Vec<&'static JudgedWorld> {
    WORLDS.iter().filter(|world| world.scenario.config.lock == kind).collect()
}

/// The world with these lines instead of its own.
pub(super) fn parsed(world: &JudgedWorld, lines: &[(&str, &str, &str)]) -> Result<Scenario, ScenarioError> {
    let mut file = file_of(&world.scenario.name);
    file.remove("expect");
    for (table, key, value) in lines {
        set(&mut file, table, key, value);
    }
    Scenario::parse(&world.scenario.name, &file.to_string())
}

fn set(file: &mut Table, table: &str, key: &str, value: &str) {
    let parsed: Table = format!("value = {value}").parse().expect("a value is written as one");
    let entry = file.entry(table).or_insert_with(|| Value::Table(Table::new()));
    entry.as_table_mut().expect("the section of a file is a table").insert(key.to_owned(), parsed["value"].clone());
}

#[test]
fn clients_with_another_switch_are_told_from_usual_ones() {
    let unusual = |name: &str| unusual_switches(&BuiltIn::named(name).expect("it is built in").scenario());
    assert_eq!(unusual("two-clients-one-node"), [""; 0]);
    // How a client is set up is no rule of its library.
    assert_eq!(unusual("resent-acquire-counts-twice"), [""; 0]);
    // What the newest profile says, too.
    assert_eq!(unusual("one-renewal-timer"), [""; 0]);
    assert_eq!(unusual("missed-renewal-is-told"), ["`profile = \"lockstep\"`"]);
}
