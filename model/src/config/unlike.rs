//! Scenarios whose clients are not alike.
//!
//! A rule of the client side works with the scenario as its own client sees it ([`Config::of_client`]): there the client's
//! settings stand where the common ones do, and nothing can be read that belongs to another client. What is asked of the
//! whole scenario ("does any client wait?") is asked of each client in turn ([`Config::some_client`]).

use std::borrow::Cow;

use super::calls::Calls;
use super::clients::{ClientSettings, ClientTables};
use super::protocol::Protocol;
use super::sections::{Clients, Config, Time};
use super::switches::SubscribeTo;
use crate::limits::MAX_CLIENTS;
use crate::locks::value_set::ValueSet;

impl ClientSettings {
    /// What these sections say of every client.
    pub const fn of(time: Time, clients: Clients, protocol: Protocol, calls: Calls) -> Self {
        let Time { lease, reentry_lease, renew_every, wait_limit, hold_at_most, .. } = time;
        let Clients { acquires, role, parts, values, clock_ahead, .. } = clients;
        Self {
            lease,
            reentry_lease,
            renew_every,
            wait_limit,
            hold_at_most,
            acquires,
            role,
            parts,
            values,
            clock_ahead,
            protocol,
            calls,
        }
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
        let mut tables = [None; MAX_CLIENTS as usize];
        let common = self.common_settings();
        for (table, own) in tables[..settings.len()].iter_mut().zip(settings) {
            *table = Some(*own).filter(|own| *own != common);
        }
        Self { client: ClientTables::new(tables), ..self }
    }

    /// The settings of a client that has none of its own.
    pub const fn common_settings(&self) -> ClientSettings {
        ClientSettings::of(self.time, self.clients, self.protocol, self.calls)
    }

    /// The settings of this client.
    #[inline]
    pub fn settings_of(&self, client: u8) -> ClientSettings {
        self.client.get(client).copied().unwrap_or_else(|| self.common_settings())
    }

    /// The lease of this client's grants, ticks.
    #[inline]
    pub fn lease_of(&self, client: u8) -> u8 {
        self.client.get(client).map_or(self.time.lease, |own| own.lease)
    }

    /// Which values this client names, of a lock over several.
    #[inline]
    pub fn values_of(&self, client: u8) -> ValueSet {
        self.client.get(client).map_or(self.clients.values, |own| own.values)
    }

    /// How far the wall clock of this client is ahead, of a lock whose scripts are told it.
    #[inline]
    pub fn clock_ahead_of(&self, client: u8) -> u8 {
        self.client.get(client).map_or(self.clients.clock_ahead, |own| own.clock_ahead)
    }

    /// The lease that a call of this client inside another one of its thread names; `None`: it names none.
    #[inline]
    pub fn reentry_lease_of(&self, client: u8) -> Option<u8> {
        self.client.get(client).map_or(self.time.reentry_lease, |own| own.reentry_lease)
    }

    /// The lease that some calls of this client name, where the others name none; `None`: there are no such calls.
    #[inline]
    pub fn named_lease_of(&self, client: u8) -> Option<u8> {
        self.time.named_lease.or_else(|| self.reentry_lease_of(client))
    }

    /// Where this client subscribes.
    #[inline]
    pub(crate) fn subscribes_to(&self, client: u8) -> SubscribeTo {
        self.client.get(client).map_or(self.protocol.subscribe_to, |own| own.protocol.subscribe_to)
    }

    /// Whether some client subscribes to a replica: effects then carry unlock messages.
    #[inline]
    pub fn subscribes_to_replica(&self) -> bool {
        let is_one = |client| self.subscribes_to(client) == SubscribeTo::Replica;
        if self.client.is_empty() { is_one(0) } else { (0..self.clients.count).any(is_one) }
    }

    /// The scenario as this client sees it: the common settings are its own, and it has no others.
    #[inline]
    pub fn of_client(&self, client: u8) -> Cow<'_, Self> {
        if self.client.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.with_common(&self.settings_of(client)))
    }

    /// Its own function, since `of_client` is copied to wherever a rule is called, and scenarios are large.
    #[inline(never)]
    fn with_common(&self, settings: &ClientSettings) -> Self {
        let ClientSettings {
            lease,
            reentry_lease,
            renew_every,
            wait_limit,
            hold_at_most,
            acquires,
            role,
            parts,
            values,
            clock_ahead,
            protocol,
            calls,
        } = *settings;
        Self {
            time: Time { lease, reentry_lease, renew_every, wait_limit, hold_at_most, ..self.time },
            clients: Clients { acquires, role, parts, values, clock_ahead, ..self.clients },
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
