//! What single clients have of their own, where clients are not alike: the values. How they are read stands in `unlike`.

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::defaults::is_default;
use super::protocol::Protocol;
use crate::limits::MAX_CLIENTS;
use crate::locks::value_set::ValueSet;

/// Which sides of a lock that has two ([`Facts::sharing`](crate::locks::Facts::sharing)) a client uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientRole {
    /// It reads and writes.
    #[default]
    Both,
    /// It reads only.
    Reader,
    /// It writes only.
    Writer,
}

/// Which parts of a lock that has two ([`Facts::parts`](crate::locks::Facts::parts)) a client takes, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PartOrder {
    /// The first one, then the second one.
    #[default]
    InOrder,
    /// The second one, then the first one.
    Reversed,
    /// The first one only.
    FirstOnly,
    /// The second one only.
    SecondOnly,
}

impl PartOrder {
    /// The part that is taken first, and given back first; counted from 0.
    pub const fn first(self) -> u8 {
        match self {
            Self::InOrder | Self::FirstOnly => 0,
            Self::Reversed | Self::SecondOnly => 1,
        }
    }

    /// The part that comes after that one; `None`: that was the last.
    pub const fn after(self, part: u8) -> Option<u8> {
        match (self, part) {
            (Self::InOrder, 0) => Some(1),
            (Self::Reversed, 1) => Some(0),
            _ => None,
        }
    }

    /// How many there are.
    pub const fn count(self) -> u8 {
        match self {
            Self::InOrder | Self::Reversed => 2,
            Self::FirstOnly | Self::SecondOnly => 1,
        }
    }
}

/// Everything in which one client may differ from another; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientSettings {
    /// The TTL of its grants.
    pub lease: u8,
    /// The lease of a call inside another one of its thread; `None`: it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reentry_lease: Option<u8>,
    /// The period of its watchdog; `None`: it has none.
    pub renew_every: Option<u8>,
    /// How long it waits to acquire; `None`: for ever; 0: it asks once.
    pub wait_limit: Option<u8>,
    /// It releases at the latest after this long; `None`: it may hold as long as it likes.
    pub hold_at_most: Option<u8>,
    /// How many acquires it may start, its threads together; `None`: without bound.
    pub acquires: Option<u8>,
    /// Which sides of a lock that has two it uses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub role: ClientRole,
    /// Which parts of a lock that has two it takes, and in which order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parts: PartOrder,
    /// Which values it names, of a lock over several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: ValueSet,
    /// How far its wall clock is ahead of one that is right, of a lock whose scripts are told it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clock_ahead: u8,
    /// Its protocol profile and overrides.
    pub protocol: Protocol,
    /// How it handles unanswered requests.
    #[serde(default, skip_serializing_if = "Calls::is_default")]
    pub calls: Calls,
}

/// The settings of single clients, at their number; `None`: this client is as the common sections say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Vec<Option<ClientSettings>>", try_from = "Vec<Option<ClientSettings>>")]
pub struct ClientTables {
    tables: [Option<ClientSettings>; MAX_CLIENTS as usize],
    /// Up to the last client that has settings of its own: every rule asks whether there is any.
    len: u8,
}

impl ClientTables {
    /// No client has settings of its own.
    pub const NONE: Self = Self { tables: [None; MAX_CLIENTS as usize], len: 0 };

    pub(super) fn new(tables: [Option<ClientSettings>; MAX_CLIENTS as usize]) -> Self {
        let len = (1..).zip(&tables).filter(|(_, table)| table.is_some()).map(|(number, _)| number).max();
        Self { tables, len: len.unwrap_or(0) }
    }

    /// Whether no client has settings of its own.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The settings of that client, if it has its own.
    #[inline]
    pub fn get(&self, client: u8) -> Option<&ClientSettings> {
        self.tables.get(usize::from(client))?.as_ref()
    }

    /// Up to the last client that has settings of its own.
    pub const fn len(&self) -> u8 {
        self.len
    }
}

impl From<ClientTables> for Vec<Option<ClientSettings>> {
    fn from(tables: ClientTables) -> Self {
        tables.tables[..usize::from(tables.len)].to_vec()
    }
}

impl TryFrom<Vec<Option<ClientSettings>>> for ClientTables {
    type Error = String;

    fn try_from(tables: Vec<Option<ClientSettings>>) -> Result<Self, Self::Error> {
        let mut all = Self::NONE.tables;
        let given = tables.len();
        let places = all.get_mut(..given).ok_or_else(|| format!("{given} clients: at most {MAX_CLIENTS} fit"))?;
        places.copy_from_slice(&tables);
        Ok(Self::new(all))
    }
}
