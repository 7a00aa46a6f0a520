//! Edits of a scenario's file: its faults and claims are removed, faults and repairs are added, claims come last.

use std::collections::BTreeMap;

use lockstep_model::Config;
use lockstep_model::config::Cluster;
use lockstep_model::trace::client_name;
use lockstep_model::{Property, Verdict};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value, value};

use super::settings::{Idle, LATENESS, Setting, SettingEntry, SettingValue};
use crate::scenario::{CLIENT, KEYS, Scenario, ScenarioError, ms_of, usual_slack};

/// The file without its claims, and, unless it keeps them, without its faults.
#[derive(Clone, Debug)]
pub struct ScenarioEdit {
    document: DocumentMut,
    lease: i64,
    /// Of any client.
    longest_lease: i64,
    /// For how long a master that needs a replica may count one that is silent.
    longest_silence: i64,
    replicas: i64,
}

impl ScenarioEdit {
    /// The file of a scenario that has been read, as text, without its faults.
    pub fn new(text: &str) -> Self {
        let mut edit = Self::with_its_faults(text);
        edit.document.remove("faults");
        // Where request and answer are one step the key is about unlock messages, and no fault.
        if let Some(network) = edit.document.get_mut("network").and_then(Item::as_table_like_mut)
            && network.get("mode").and_then(Item::as_str) == Some("split")
        {
            network.remove(LATENESS.name);
        }
        edit
    }

    /// The same with its faults.
    pub fn with_its_faults(text: &str) -> Self {
        let mut document: DocumentMut = text.parse().expect("the scenario's reader has read it");
        let config = Scenario::parse("edit", text).expect("the scenario's reader has read it").config;
        in_ticks(&mut document, config.time.tick_ms);
        document.remove("expect");
        let lease = document["time"]["lease"].as_integer().expect("every scenario has a lease");
        let replicas = document.get("cluster").and_then(|cluster| cluster.get("replicas"));
        let replicas = replicas.and_then(Item::as_integer).unwrap_or(0);
        let leases = (0..config.clients.count).map(|client| i64::from(config.lease_of(client)));
        let longest_lease = leases.max().unwrap_or(lease);
        let longest_silence = longest_silence(&config);
        Self { document, lease, longest_lease, longest_silence, replicas }
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

    /// The clients that have a key of this setting in a table of their own: it changes the common keys only. In words:
    /// `renew_every (client A)`.
    pub fn overridden(&self, setting: &Setting) -> Vec<String> {
        let mut overridden = Vec::new();
        for (client, table) in (0u8..).zip(client_tables(&self.document)) {
            // A profile brings every switch; what is sent again is none of them.
            let has = |entry: &SettingEntry| {
                let is_of_profile = entry.table == "protocol" && !["resend", "retry_attempts"].contains(&entry.key);
                table.contains_key(entry.key) || (is_of_profile && table.contains_key("profile"))
            };
            let keys = setting.entries.iter().filter(|entry| is_of_client(entry.table, entry.key) && has(entry));
            overridden.extend(keys.map(|entry| format!("{} (client {})", entry.key, client_name(client))));
        }
        overridden
    }

    /// The same without this key, if it has the word that is refused.
    #[must_use]
    pub(super) fn without_idle(&self, idle: &Idle) -> Self {
        let said = self.document.get(idle.table).and_then(|table| table.get(idle.key));
        let is_meant = said.is_some_and(|said| idle.word.is_none_or(|word| said.as_str() == Some(word)))
            || (is_of_client(idle.table, idle.key)
                && client_tables(&self.document).iter().any(|table| table.contains_key(idle.key)));
        if is_meant { self.without(idle.table, idle.key) } else { self.clone() }
    }

    /// The same without this key, also in the tables of single clients.
    #[must_use]
    pub fn without(&self, table: &str, key: &str) -> Self {
        let mut edit = self.clone();
        edit.table(table)[key] = Item::None;
        if is_of_client(table, key) {
            for client in client_tables_mut(&mut edit.document) {
                client.remove(key);
            }
        }
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
        let (lease, longest_lease, replicas) = (self.lease, self.longest_lease, self.replicas);
        let longest_silence = self.longest_silence;
        let table = self.table(entry.table);
        if entry.is_default && table.get(entry.key).is_some() {
            return;
        }
        table[entry.key] = match entry.value {
            SettingValue::Nothing => Item::None,
            SettingValue::Number(number) => value(number),
            SettingValue::Word(word) => value(word),
            SettingValue::Flag(flag) => value(flag),
            SettingValue::LeaseAnd(more) => value(longest_lease + more),
            SettingValue::LeaseAndSilence(more) => value(longest_lease + longest_silence + more),
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

/// For how long a master that needs a replica may count one that is silent, in ticks; where the file needs none, by default.
fn longest_silence(config: &Config) -> i64 {
    let Cluster { min_replicas, min_replicas_max_lag, min_replicas_slack, .. } = config.cluster;
    if min_replicas > 0 {
        return i64::from(min_replicas_max_lag) + i64::from(min_replicas_slack);
    }
    1 + i64::from(usual_slack(config.time.tick_ms))
}

fn is_of_client(table: &str, key: &str) -> bool {
    KEYS.iter().any(|known| known.table == table && known.name == key && known.is_of_client)
}

/// The tables of single clients, in their order.
fn client_tables(document: &DocumentMut) -> Vec<&dyn TableLike> {
    match document.get(CLIENT) {
        Some(Item::ArrayOfTables(tables)) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Some(Item::Value(Value::Array(tables))) => {
            tables.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// The same, to change them.
fn client_tables_mut(document: &mut DocumentMut) -> Vec<&mut dyn TableLike> {
    match document.get_mut(CLIENT) {
        Some(Item::ArrayOfTables(tables)) => tables.iter_mut().map(|table| table as &mut dyn TableLike).collect(),
        Some(Item::Value(Value::Array(tables))) => {
            tables.iter_mut().filter_map(Value::as_inline_table_mut).map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes times with units as ticks, so that others can be added to them.
fn in_ticks(document: &mut DocumentMut, tick_ms: u32) {
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
