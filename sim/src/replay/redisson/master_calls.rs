//! What the calls of a history on several masters are, before and while Redisson makes them (`master_locks`).

use std::collections::{BTreeMap, BTreeSet};

use lockstep_model::trace::{ClientState, Trace, node_name};
use lockstep_model::{Action, Config};

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
    order: Vec<Vec<u8>>,
    /// Of each client: whom it was granted by in its call, in that order, and has not turned to since.
    pub(super) granted: Vec<Vec<u8>>,
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
        self.granted[client].clear();
        self.order[client] = self.orders.get(&step).cloned().unwrap_or_default();
        self.order[client].iter().map(|master| (master + 1).to_string()).collect::<Vec<_>>().join(",")
    }

    /// Whom a client asks next, in the order of its call: also in a later round.
    pub(super) fn next_of(&self, client: usize, before: &ClientState) -> Option<u8> {
        let asked = before.call.iter().flat_map(|call| &call.asked);
        let has_asked = |master: &u8| asked.clone().any(|name| *name == node_name(*master));
        self.order[client].iter().copied().find(|master| !has_asked(master))
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
            granted: vec![Vec::new(); clients],
            later_leases: BTreeSet::new(),
            unlocks: vec![false; clients],
            late: vec![None; clients],
        };
        if !config.asks_master_locks() {
            return calls;
        }
        // The masters of each call, and the step in which it begins.
        let mut begun: Vec<Option<(usize, Vec<u8>)>> = vec![None; clients];
        let masters = config.cluster.groups;
        let order_of = |asked: &[u8]| {
            let others = (0..masters).filter(|master| !asked.contains(master));
            asked.iter().copied().chain(others).collect::<Vec<_>>()
        };
        for step in &trace.steps {
            match step.action {
                Action::Acquire { client, .. } | Action::Release { client, .. } => {
                    let new = Some((step.number, Vec::new()));
                    if let Some((number, asked)) = std::mem::replace(&mut begun[usize::from(client)], new) {
                        calls.orders.insert(number, order_of(&asked));
                    }
                }
                Action::AskMaster { client, node }
                | Action::SlowReply { client, node }
                | Action::ReleaseAt { client, node } => {
                    if let Some((_, asked)) = &mut begun[usize::from(client)]
                        && !asked.contains(&node)
                    {
                        asked.push(node);
                    }
                }
                _ => {}
            }
        }
        for (number, asked) in begun.into_iter().flatten() {
            calls.orders.insert(number, order_of(&asked));
        }
        calls
    }
}
