//! Edits of a scenario's file: its faults and claims are removed, faults and repairs are added, claims come last.

use std::collections::BTreeMap;

use lockstep_model::{Property, Verdict};
use toml_edit::{DocumentMut, Item, Table, value};

use super::settings::{Idle, LATENESS, Setting, SettingEntry, SettingValue};
use crate::scenario::{KEYS, Scenario, ScenarioError, ms_of};

/// The file without its faults and claims.
#[derive(Clone, Debug)]
pub struct ScenarioEdit {
    document: DocumentMut,
    lease: i64,
    replicas: i64,
}

impl ScenarioEdit {
    /// The file of a scenario that has been read, as text.
    pub fn new(text: &str) -> Self {
        let mut document: DocumentMut = text.parse().expect("the scenario's reader has read it");
        in_ticks(&mut document, text);
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

    /// The story of the file.
    pub fn story(&self) -> &str {
        self.document["story"].as_str().expect("every scenario has a story")
    }

    /// The same with this fault or repair.
    #[must_use]
    pub fn with(&self, setting: &Setting) -> Self {
        let mut edit = self.clone();
        for entry in setting.entries {
            edit.set(entry);
        }
        edit
    }

    /// The same with so much of this fault.
    #[must_use]
    pub fn with_fault(&self, fault: &Setting, budget: u8) -> Self {
        let mut edit = self.with(fault);
        edit.table(fault.table())[fault.name] = value(i64::from(budget));
        edit
    }

    /// The same without this key, if it has the word that is refused.
    #[must_use]
    pub(super) fn without_idle(&self, idle: &Idle) -> Self {
        let said = self.document.get(idle.table).and_then(|table| table.get(idle.key));
        let is_meant = said.is_some_and(|said| idle.word.is_none_or(|word| said.as_str() == Some(word)));
        if is_meant { self.without(idle.table, idle.key) } else { self.clone() }
    }

    /// The same without this key.
    #[must_use]
    pub fn without(&self, table: &str, key: &str) -> Self {
        let mut edit = self.clone();
        edit.table(table)[key] = Item::None;
        edit
    }

    /// The text, under this story, with these claims.
    pub fn text(&self, story: &str, claims: &BTreeMap<Property, Verdict>) -> String {
        let mut edit = self.clone();
        edit.document["story"] = value(story);
        for (property, verdict) in claims {
            edit.table("expect")[property.id()] = value(verdict.name());
        }
        edit.document.to_string()
    }

    /// The scenario of that name.
    ///
    /// # Errors
    /// The settings do not go together.
    pub fn scenario(&self, name: &str, story: &str) -> Result<Scenario, ScenarioError> {
        Scenario::parse(name, &self.text(story, &BTreeMap::new()))
    }

    fn set(&mut self, entry: &SettingEntry) {
        if entry.value == SettingValue::Nothing && !self.document.contains_key(entry.table) {
            return;
        }
        let (lease, replicas) = (self.lease, self.replicas);
        let table = self.table(entry.table);
        if entry.is_default && table.get(entry.key).is_some() {
            return;
        }
        table[entry.key] = match entry.value {
            SettingValue::Nothing => Item::None,
            SettingValue::Number(number) => value(number),
            SettingValue::Word(word) => value(word),
            SettingValue::Flag(flag) => value(flag),
            SettingValue::LeaseAnd(more) => value(lease + more),
            SettingValue::LeaseBy(part) => value((lease / part).max(1)),
            SettingValue::Replicas => value(replicas.max(1)),
        };
    }

    fn table(&mut self, name: &str) -> &mut Item {
        let item = self.document.entry(name).or_insert(Item::Table(Table::new()));
        debug_assert!(item.is_table_like(), "the scenario's reader has read it");
        item
    }
}

/// Writes times with units as ticks, so that others can be added to them.
fn in_ticks(document: &mut DocumentMut, text: &str) {
    let Ok(scenario) = Scenario::parse("edit", text) else { return };
    let tick_ms = scenario.config.time.tick_ms;
    let mut has_units = false;
    for key in KEYS.iter().filter(|key| key.is_in_ticks()) {
        let item = document.get_mut(key.table).and_then(|table| table.get_mut(key.name));
        let ms = item.as_ref().and_then(|item| ms_of(item.as_str()?));
        if let (Some(item), Some(ms)) = (item, ms) {
            *item = value(ms / i64::from(tick_ms));
            has_units = true;
        }
    }
    if has_units {
        document["time"]["tick_ms"] = value(i64::from(tick_ms));
    }
}
