//! What the calls of a history on several masters are, before and while Redisson makes them (`master_locks`).

use std::collections::BTreeMap;

use lockstep_model::trace::Trace;
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
    /// The masters in the order of the call that begins in this step, from 1, as the driver counts them.
    pub(super) orders: BTreeMap<usize, String>,
    /// Of each client: whom it was granted by in its call, in that order, and has not turned to since.
    pub(super) granted: Vec<Vec<u8>>,
    /// Of each client: whether its call is `unlock()`.
    pub(super) unlocks: Vec<bool>,
    /// Of each client: the connection over which a reply is late.
    pub(super) late: Vec<Option<usize>>,
}

impl MasterCalls {
    /// Of a history that begins.
    pub(super) fn of(config: &Config, trace: &Trace) -> Self {
        let clients = usize::from(config.clients.count);
        let mut calls = Self {
            orders: BTreeMap::new(),
            granted: vec![Vec::new(); clients],
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
            let all: Vec<_> = asked.iter().copied().chain(others).map(|master| (master + 1).to_string()).collect();
            all.join(",")
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
