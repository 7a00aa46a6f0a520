//! A scenario's file as something to write in: faults out, faults and repairs in, claims at the end.

use std::collections::BTreeMap;

use lockstep_model::{Property, Verdict};
use toml_edit::{DocumentMut, Item, Table, value};

use super::knobs::{Idle, Knob, LATENESS, Setting, Value};
use crate::scenario::{Scenario, ScenarioError};

/// The file without its faults and claims.
#[derive(Clone, Debug)]
pub struct Draft {
    document: DocumentMut,
    lease: i64,
    replicas: i64,
}

impl Draft {
    /// The file of a scenario that has been read, as text.
    pub fn new(text: &str) -> Self {
        let mut document: DocumentMut = text.parse().expect("the scenario's reader has read it");
        for table in ["faults", "expect"] {
            document.remove(table);
        }
        // Where request and answer are one step the key is about unlock messages, and no fault.
        if let Some(network) = document.get_mut("network").and_then(Item::as_table_like_mut)
            && network.get("mode").and_then(Item::as_str) == Some("split")
        {
            network.remove(LATENESS.name);
        }
        let lease = document["time"]["lease"].as_integer().expect("every scenario has a lease");
        let replicas = document.get("cluster").and_then(|cluster| cluster.get("replicas"));
        let replicas = replicas.and_then(Item::as_integer).unwrap_or(0);
        Self { document, lease, replicas }
    }

    /// What the file tells.
    pub fn story(&self) -> &str {
        self.document["story"].as_str().expect("every scenario has a story")
    }

    /// The same with this turned.
    #[must_use]
    pub fn with(&self, knob: &Knob) -> Self {
        let mut draft = self.clone();
        for setting in knob.settings {
            draft.set(setting);
        }
        draft
    }

    /// The same with so much of this fault.
    #[must_use]
    pub fn with_fault(&self, fault: &Knob, budget: u8) -> Self {
        let mut draft = self.with(fault);
        draft.table(fault.table())[fault.name] = value(i64::from(budget));
        draft
    }

    /// The same without this key, if it says so.
    #[must_use]
    pub(super) fn without_idle(&self, idle: &Idle) -> Self {
        let said = self.document.get(idle.table).and_then(|table| table.get(idle.key));
        let is_meant = said.is_some_and(|said| idle.word.is_none_or(|word| said.as_str() == Some(word)));
        if is_meant { self.without(idle.table, idle.key) } else { self.clone() }
    }

    /// The same without this key.
    #[must_use]
    pub fn without(&self, table: &str, key: &str) -> Self {
        let mut draft = self.clone();
        draft.table(table)[key] = Item::None;
        draft
    }

    /// The text, under this story, with these claims.
    pub fn text(&self, story: &str, claims: &BTreeMap<Property, Verdict>) -> String {
        let mut draft = self.clone();
        draft.document["story"] = value(story);
        for (property, verdict) in claims {
            draft.table("expect")[property.id()] = value(verdict.name());
        }
        draft.document.to_string()
    }

    /// The scenario of that name.
    ///
    /// # Errors
    /// Why it is none: what was turned does not go together.
    pub fn scenario(&self, name: &str, story: &str) -> Result<Scenario, ScenarioError> {
        Scenario::parse(name, &self.text(story, &BTreeMap::new()))
    }

    fn set(&mut self, setting: &Setting) {
        if setting.value == Value::Nothing && !self.document.contains_key(setting.table) {
            return;
        }
        let (lease, replicas) = (self.lease, self.replicas);
        let table = self.table(setting.table);
        if setting.is_default && table.get(setting.key).is_some() {
            return;
        }
        table[setting.key] = match setting.value {
            Value::Nothing => Item::None,
            Value::Number(number) => value(number),
            Value::Word(word) => value(word),
            Value::Flag(flag) => value(flag),
            Value::LeaseAnd(more) => value(lease + more),
            Value::Replicas => value(replicas.max(1)),
        };
    }

    fn table(&mut self, name: &str) -> &mut Item {
        let item = self.document.entry(name).or_insert(Item::Table(Table::new()));
        debug_assert!(item.is_table_like(), "the scenario's reader has read it");
        item
    }
}
