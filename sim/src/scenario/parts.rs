//! The tables of a scenario file, and the parts of a world that are read from them.

use lockstep_model::config::{
    Bounds, Calls, ClientSettings, ClientTables, Clients, Cluster, Config, Faults, LockKind, Network, NetworkMode,
    Protocol, Resource, Time, UnansweredAsk,
};

use super::keys::CLIENT;
use super::section::{Entry, Section};

/// The tables of the file.
pub(super) struct Sections<'a> {
    pub(super) time: Section<'a>,
    pub(super) clients: Section<'a>,
    /// The tables of single clients; `None`: what stands there is no list of tables.
    pub(super) client: Option<Vec<Section<'a>>>,
    pub(super) cluster: Section<'a>,
    pub(super) network: Section<'a>,
    pub(super) protocol: Section<'a>,
    pub(super) faults: Section<'a>,
    pub(super) resource: Section<'a>,
    pub(super) fairness: Section<'a>,
    pub(super) bounds: Section<'a>,
    pub(super) expect: Section<'a>,
}

/// The parts of a world; `None`: the part has a problem, which is already recorded.
pub(super) struct Parts {
    pub(super) lock: Option<LockKind>,
    pub(super) time: Option<Time>,
    pub(super) clients: Option<Clients>,
    /// What each client has, with or without a table of its own.
    pub(super) settings: Option<Vec<ClientSettings>>,
    pub(super) cluster: Option<Cluster>,
    pub(super) network: Option<Network>,
    pub(super) protocol: Option<Protocol>,
    pub(super) calls: Option<Calls>,
    pub(super) faults: Option<Faults>,
    pub(super) resource: Entry<Resource>,
    pub(super) strong_fairness: Option<bool>,
    pub(super) bounds: Option<Bounds>,
}

impl Parts {
    /// The world, if all its parts are valid.
    pub(super) fn config(&self) -> Option<Config> {
        let is_split = self.network?.mode == NetworkMode::Split;
        let publishes = self.lock?.facts().publishes();
        // What nothing reads has no value of its own.
        let calls = |calls: Calls, wait_limit: Option<u8>| {
            let asks_later = publishes && wait_limit.is_some_and(|limit| limit > 0);
            let unanswered_ask = if asks_later { calls.unanswered_ask } else { UnansweredAsk::Throw };
            if is_split { Calls { unanswered_ask, ..calls } } else { Calls::DEFAULT }
        };
        let common = Config {
            lock: self.lock?,
            time: self.time?,
            clients: self.clients?,
            client: ClientTables::NONE,
            cluster: self.cluster?,
            network: self.network?,
            protocol: self.protocol?,
            calls: calls(self.calls?, self.time?.wait_limit),
            faults: self.faults?,
            resource: self.resource.optional().or(None)?,
            strong_fairness: self.strong_fairness?,
            bounds: self.bounds?,
            #[cfg(feature = "mutants")]
            mutant: None,
        };
        let own = |own: &ClientSettings| ClientSettings { calls: calls(own.calls, own.wait_limit), ..*own };
        let settings = self.settings.as_ref()?.iter().map(own);
        Some(common.with_settings(&settings.collect::<Vec<_>>()))
    }

    /// Whether this is so of no client. Not known, so not said, where some part is wrong.
    pub(super) fn nobody(&self, is_so: impl Fn(&ClientSettings) -> bool) -> bool {
        self.settings.as_ref().is_some_and(|all| !all.iter().any(is_so))
    }

    /// Whether this is so of some client. Not known, so not said, where some part is wrong.
    pub(super) fn somebody(&self, is_so: impl Fn(&ClientSettings) -> bool) -> bool {
        self.settings.as_ref().is_some_and(|all| all.iter().any(is_so))
    }
}

impl<'a> Sections<'a> {
    /// Opens all tables before any is read, so that a key in the wrong table is not also reported as missing in the
    /// right one.
    pub(super) fn open(top: &Section<'a>, end: usize) -> Self {
        Self {
            time: top.table("time", end),
            clients: top.table("clients", end),
            client: top.tables(CLIENT),
            cluster: top.table("cluster", end),
            network: top.table("network", end),
            protocol: top.table("protocol", end),
            faults: top.table("faults", end),
            resource: top.table("resource", end),
            fairness: top.table("fairness", end),
            bounds: top.table("bounds", end),
            expect: top.table("expect", end),
        }
    }
}
