//! Every key of a scenario file: the accepted values, the meaning, and the default.

mod catalogue;
mod faults;
mod key;
mod kinds;
mod switches;
mod tables;
mod worlds;

pub use catalogue::KEYS;
pub use key::ScenarioKey;
pub(super) use tables::TOP;
pub use tables::{CLIENT, TABLES, header};

/// The keys allowed in that table; before the first table, table names as well.
pub(super) fn known(table: &str) -> Vec<&'static str> {
    let keys = KEYS.iter().filter(|key| key.stands_in(table)).map(|key| key.name);
    let tables = TABLES.iter().map(|(name, _)| *name).filter(|name| table == TOP && *name != TOP);
    keys.chain(tables).collect()
}
