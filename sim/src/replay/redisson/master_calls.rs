//! What the calls of a history on several masters are, before and while Redisson makes them (`master_locks`).

use std::collections::{BTreeMap, BTreeSet};

use lockstep_model::Config;
use lockstep_model::trace::Trace;

use super::master_order::{caller_of, order_of_call};

/// Whether a step is about a lock on several masters.
pub(super) enum MastersStep {
    /// It is, and was done.
    Done {
        /// The node that has executed a request.
        executed_by: Option<usize>,
    },
    /// It is about something else.
    Other,
}

/// What the clients of a history are inside of.
#[derive(Debug, Default)]
pub(super) struct MasterCalls {
    /// The masters in the order of the call that begins in this step.
    orders: BTreeMap<usize, Vec<u8>>,
    /// The same of the call in which each client is.
    pub(super) order: Vec<Vec<u8>>,
    /// Of each client: whether its call is `unlock()`.
    pub(super) unlocks: Vec<bool>,
    /// Clients and masters: where the lock of a client was granted last in a later round of a call, which has a lease of its own.
    later_leases: BTreeSet<(usize, u8)>,
    /// Of each client: the connection over which a reply is late.
    pub(super) late: Vec<Option<usize>>,
}

impl MasterCalls {
    /// A client's call begins in this step: the masters in its order, from 1, as the driver counts them.
    pub(super) fn begin(&mut self, client: usize, step: usize) -> String {
        self.order[client] = self.orders.get(&step).cloned().unwrap_or_default();
        self.order[client].iter().map(|master| (master + 1).to_string()).collect::<Vec<_>>().join(",")
    }

    /// Whether the lock of a client on this master was granted last with the lease of a later round.
    pub(super) fn has_lease_of_later(&self, client: usize, master: u8) -> bool {
        self.later_leases.contains(&(client, master))
    }

    /// It was granted in such a round, or in the first one of its call.
    pub(super) fn remember_lease(&mut self, client: usize, master: u8, is_later: bool) {
        if is_later {
            self.later_leases.insert((client, master));
        } else {
            self.later_leases.remove(&(client, master));
        }
    }

    /// Of a history that begins.
    pub(super) fn of(config: &Config, trace: &Trace) -> Self {
        let clients = usize::from(config.clients.count);
        let mut calls = Self {
            orders: BTreeMap::new(),
            order: vec![Vec::new(); clients],
            later_leases: BTreeSet::new(),
            unlocks: vec![false; clients],
            late: vec![None; clients],
        };
        if !config.asks_master_locks() {
            return calls;
        }
        let actions = trace.actions();
        for (at, step) in trace.steps.iter().enumerate() {
            if let Some(client) = caller_of(step.action) {
                let turned_to = order_of_call(&actions[at..], client);
                // The call does not come to the others: they may stand in any order.
                let others = (0..config.cluster.groups).filter(|master| !turned_to.contains(master));
                calls.orders.insert(step.number, turned_to.iter().copied().chain(others).collect());
            }
        }
        calls
    }
}
