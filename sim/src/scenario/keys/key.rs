//! What is said of one key.

use super::tables::CLIENT;

/// What every time takes begins with this.
pub(super) const IN_TICKS: &str = "a whole number of ticks";

/// What a key takes that is so or not so.
pub(super) const FLAG: &str = "true or false";

/// A key of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioKey {
    /// The table that contains it; empty: before the first table.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The accepted values, in the same words as the reader's errors.
    pub takes: &'static str,
    /// The default; empty: the key is required.
    pub unless_said: &'static str,
    /// The meaning.
    pub means: &'static str,
    /// Whether a table `[[client]]` may have it as well, for one client.
    pub is_of_client: bool,
}

impl ScenarioKey {
    /// Whether its value is a time, in ticks.
    pub fn is_in_ticks(&self) -> bool {
        self.takes.starts_with(IN_TICKS)
    }

    /// The values that it takes, as a file writes them, where they are words.
    pub fn words(&self) -> Vec<String> {
        if self.takes == FLAG {
            return vec!["true".to_owned(), "false".to_owned()];
        }
        self.takes.split('"').skip(1).step_by(2).map(|word| format!("\"{word}\"")).collect()
    }

    /// Whether that table may have it.
    pub fn stands_in(&self, table: &str) -> bool {
        self.table == table || (self.is_of_client && table == CLIENT)
    }
}

pub(super) const fn key(
    table: &'static str,
    name: &'static str,
    takes: &'static str,
    unless_said: &'static str,
    means: &'static str,
) -> ScenarioKey {
    ScenarioKey { table, name, takes, unless_said, means, is_of_client: false }
}

/// A key that a table of one client may have as well.
pub(super) const fn of_each(key: ScenarioKey) -> ScenarioKey {
    ScenarioKey { is_of_client: true, ..key }
}
