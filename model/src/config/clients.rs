//! What single clients have of their own, where clients are not alike.
//!
//! A rule of the client side works with the scenario as its own client sees it ([`Config::of_client`]): there the client's
//! settings stand where the common ones do, and nothing can be read that belongs to another client. What is asked of the
//! whole scenario ("does any client wait?") is asked of each client in turn ([`Config::some_client`]).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::profiles::Protocol;
use super::sections::{Clients, Config, Time};
use crate::limits::MAX_CLIENTS;

/// Everything in which one client may differ from another; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientSettings {
    /// The TTL of its grants.
    pub lease: u8,
    /// The period of its watchdog; `None`: it has none.
    pub renew_every: Option<u8>,
    /// How long it waits to acquire; `None`: for ever; 0: it asks once.
    pub wait_limit: Option<u8>,
    /// It releases at the latest after this long; `None`: it may hold as long as it likes.
    pub hold_at_most: Option<u8>,
    /// How many acquires it may start, its threads together; `None`: without bound.
    pub acquires: Option<u8>,
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
pub struct ClientTables([Option<ClientSettings>; MAX_CLIENTS as usize]);

impl ClientTables {
    /// No client has settings of its own.
    pub const NONE: Self = Self([None; MAX_CLIENTS as usize]);

    /// Whether no client has settings of its own.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The settings of that client, if it has its own.
    pub fn get(&self, client: u8) -> Option<&ClientSettings> {
        self.0.get(usize::from(client))?.as_ref()
    }

    /// Up to the last client that has settings of its own.
    pub fn len(&self) -> usize {
        self.0.iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }
}

impl From<ClientTables> for Vec<Option<ClientSettings>> {
    fn from(tables: ClientTables) -> Self {
        tables.0[..tables.len()].to_vec()
    }
}

impl TryFrom<Vec<Option<ClientSettings>>> for ClientTables {
    type Error = String;

    fn try_from(tables: Vec<Option<ClientSettings>>) -> Result<Self, Self::Error> {
        let mut all = Self::NONE;
        let given = tables.len();
        let places = all.0.get_mut(..given).ok_or_else(|| format!("{given} clients: at most {MAX_CLIENTS} fit"))?;
        places.copy_from_slice(&tables);
        Ok(all)
    }
}

impl Config {
    /// The same scenario with these settings of its clients, one for each. Where all are equal they become the common ones:
    /// such clients are alike, and no table says so again.
    ///
    /// # Panics
    /// There are more settings than clients can be.
    #[must_use]
    pub fn with_settings(self, settings: &[ClientSettings]) -> Self {
        if let Some(first) = settings.first()
            && settings.iter().all(|other| other == first)
        {
            return self.with_common(first);
        }
        let mut client = ClientTables::NONE;
        let common = self.common_settings();
        for (table, own) in client.0[..settings.len()].iter_mut().zip(settings) {
            *table = Some(*own).filter(|own| *own != common);
        }
        Self { client, ..self }
    }

    /// What a client has that has no settings of its own.
    pub const fn common_settings(&self) -> ClientSettings {
        let Time { lease, renew_every, wait_limit, hold_at_most, .. } = self.time;
        let Clients { acquires, .. } = self.clients;
        let (protocol, calls) = (self.protocol, self.calls);
        ClientSettings { lease, renew_every, wait_limit, hold_at_most, acquires, protocol, calls }
    }

    /// What this client has.
    pub fn settings_of(&self, client: u8) -> ClientSettings {
        self.client.get(client).copied().unwrap_or_else(|| self.common_settings())
    }

    /// The lease of this client's grants, ticks.
    pub fn lease_of(&self, client: u8) -> u8 {
        self.client.get(client).map_or(self.time.lease, |own| own.lease)
    }

    /// The scenario as this client sees it: the common settings are its own, and it has no others.
    pub fn of_client(&self, client: u8) -> Cow<'_, Self> {
        if self.client.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.with_common(&self.settings_of(client)))
    }

    fn with_common(&self, settings: &ClientSettings) -> Self {
        let ClientSettings { lease, renew_every, wait_limit, hold_at_most, acquires, protocol, calls } = *settings;
        Self {
            time: Time { lease, renew_every, wait_limit, hold_at_most, ..self.time },
            clients: Clients { acquires, ..self.clients },
            protocol,
            calls,
            client: ClientTables::NONE,
            ..*self
        }
    }

    /// Whether it is so of some client, by the scenario as that client sees it.
    pub fn some_client(&self, is_so: impl Fn(&Self) -> bool) -> bool {
        if self.client.is_empty() {
            return is_so(self);
        }
        (0..self.clients.count).any(|client| is_so(&self.of_client(client)))
    }

    /// Whether all clients are alike: exchanging the names of two clients then changes nothing that can happen. Symmetry
    /// reduction and per-client liveness rely on it.
    pub fn clients_are_alike(&self) -> bool {
        self.client.is_empty() || {
            let first = self.settings_of(0);
            (1..self.clients.count).all(|client| self.settings_of(client) == first)
        }
    }
}
