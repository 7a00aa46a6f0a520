//! Where settings of clients are said: in the common tables, or in the table of one client.

use lockstep_model::config::{Calls, ClientSettings, Clients, Protocol, Time};

use super::parts::{Parts, Sections};
use super::section::Section;

/// Where settings of clients are said: in the common tables, or in the table of one client.
#[derive(Clone, Copy)]
pub(super) struct SettingsPlace<'s, 'a> {
    /// Where its times are.
    pub(super) time: &'s Section<'a>,
    /// Where its switches are.
    pub(super) protocol: &'s Section<'a>,
    /// What is said there.
    pub(super) said: Option<ClientSettings>,
    /// The settings of everybody that it speaks to.
    all: Option<&'s [ClientSettings]>,
}

impl SettingsPlace<'_, '_> {
    /// Whether this is so of no client that reads what is said there. Not known, so not said, where some part is wrong.
    pub(super) fn nobody(&self, is_so: impl Fn(&ClientSettings) -> bool) -> bool {
        self.all.is_some_and(|all| !all.iter().any(is_so))
    }
}

impl<'a> Sections<'a> {
    /// Everywhere where settings are said: the common tables first, then the table of each client.
    pub(super) fn places<'s>(&'s self, parts: &'s Parts) -> Vec<SettingsPlace<'s, 'a>> {
        let Parts { time, clients, protocol, calls, settings, .. } = parts;
        let all = settings.as_deref();
        let said = common(*time, *clients, *protocol, *calls);
        let mut places = vec![SettingsPlace { time: &self.time, protocol: &self.protocol, said, all }];
        places.extend(self.client.iter().flatten().enumerate().map(|(client, table)| {
            let all = all.and_then(|all| all.get(client..=client));
            let said = all.and_then(|own| own.first().copied());
            SettingsPlace { time: table, protocol: table, said, all }
        }));
        places
    }
}

/// What all clients have; `None`: some part is wrong.
pub(super) const fn common(
    time: Option<Time>,
    clients: Option<Clients>,
    protocol: Option<Protocol>,
    calls: Option<Calls>,
) -> Option<ClientSettings> {
    let (Some(time), Some(clients), Some(protocol), Some(calls)) = (time, clients, protocol, calls) else {
        return None;
    };
    Some(ClientSettings::of(time, clients, protocol, calls))
}
