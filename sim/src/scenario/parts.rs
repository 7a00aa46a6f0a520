//! The tables of a scenario file, and the parts of a world that are read from them.

use lockstep_model::config::{
    Bounds, Calls, Clients, Cluster, Config, Faults, LockKind, Network, NetworkMode, Protocol, Resource, Time,
};

use super::section::{Entry, Section};

/// The tables of the file.
pub(super) struct Sections<'a> {
    pub(super) time: Section<'a>,
    pub(super) clients: Section<'a>,
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
        Some(Config {
            lock: self.lock?,
            time: self.time?,
            clients: self.clients?,
            cluster: self.cluster?,
            network: self.network?,
            protocol: self.protocol?,
            calls: if self.network?.mode == NetworkMode::Split { self.calls? } else { Calls::DEFAULT },
            faults: self.faults?,
            resource: self.resource.optional().or(None)?,
            strong_fairness: self.strong_fairness?,
            bounds: self.bounds?,
            #[cfg(feature = "mutants")]
            mutant: None,
        })
    }
}

impl<'a> Sections<'a> {
    /// Opens all tables before any is read, so that a key in the wrong table is not also reported as missing in the
    /// right one.
    pub(super) fn open(top: &Section<'a>, end: usize) -> Self {
        Self {
            time: top.table("time", end),
            clients: top.table("clients", end),
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
