//! What is under way for longer than a step: an effect to its replica, an unlock message to its subscriber.

use std::collections::VecDeque;

use lockstep_model::action::Action;
use lockstep_model::trace::{State, Trace};

use super::super::rows::Lane;

/// One thing under way.
pub(super) struct Flight {
    pub(super) kind: Kind,
    pub(super) from: Lane,
    /// The step that sent it.
    pub(super) sent: usize,
    pub(super) to: Lane,
    pub(super) end: FlightEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Effect,
    Message,
}

/// What became of it, and in which step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlightEnd {
    Arrived(usize),
    Lost(usize),
    UnderWay,
}

/// Everything that was under way in the trace, in the order in which it ended.
pub(super) fn flights(trace: &Trace) -> Vec<Flight> {
    let nodes = (0..trace.config.all_nodes()).map(|node| Route::new(Kind::Effect, Lane::Node(node)));
    let clients =
        (0..trace.config.clients.count).map(|client| Route::new(Kind::Message, Lane::Thread { client, thread: 0 }));
    let mut routes: Vec<Route> = nodes.chain(clients).collect();
    let mut flights = Vec::new();
    for step in &trace.steps {
        for route in &mut routes {
            let (arrives, is_lost) = match (step.action, route.to) {
                (Action::Replicate { node }, Lane::Node(to)) => (node == to, false),
                (Action::Deliver { client }, Lane::Thread { client: to, .. }) => (client == to, false),
                (Action::LoseMessage { client }, Lane::Thread { client: to, .. }) => (client == to, true),
                _ => (false, false),
            };
            if arrives {
                flights.extend(route.land(if is_lost {
                    FlightEnd::Lost(step.number)
                } else {
                    FlightEnd::Arrived(step.number)
                }));
            }
            let left = route.length(&step.state);
            while route.sent.len() > left {
                flights.extend(route.land(FlightEnd::Lost(step.number)));
            }
            while route.sent.len() < left {
                route.sent.push_back((sender(trace, &step.state, route.to), step.number));
            }
        }
    }
    for mut route in routes {
        while !route.sent.is_empty() {
            flights.extend(route.land(FlightEnd::UnderWay));
        }
    }
    flights
}

/// Everything of one kind that goes to one lane, first in, first out.
struct Route {
    kind: Kind,
    to: Lane,
    /// From which node, in which step.
    sent: VecDeque<(u8, usize)>,
}

impl Route {
    fn new(kind: Kind, to: Lane) -> Self {
        Self { kind, to, sent: VecDeque::new() }
    }

    fn length(&self, state: &State) -> usize {
        match self.to {
            Lane::Node(node) => state.nodes[usize::from(node)].under_way.len(),
            Lane::Thread { client, .. } => usize::from(state.clients[usize::from(client)].messages),
            Lane::Resource => 0,
        }
    }

    fn land(&mut self, end: FlightEnd) -> Option<Flight> {
        let (from, sent) = self.sent.pop_front()?;
        Some(Flight { kind: self.kind, from: Lane::Node(from), sent, to: self.to, end })
    }
}

/// Whatever is sent, the acting master sends: to a node that of its group, and to a client of several masters the one for whose lock it waits.
fn sender(trace: &Trace, state: &State, to: Lane) -> u8 {
    let acting = match to {
        Lane::Node(node) => state.acting_master_beside(&trace.config, node),
        _ => state.acting_master(),
    };
    let waited = match to {
        Lane::Thread { client, .. } => state.clients[usize::from(client)].call.as_ref(),
        Lane::Node(_) | Lane::Resource => None,
    };
    let waited = waited.and_then(|call| call.waits_at.as_deref());
    let acting = waited.or(acting.map(|node| node.name.as_str()));
    let node = (0u8..).zip(&state.nodes).find(|(_, node)| Some(node.name.as_str()) == acting);
    node.map(|(index, _)| index).unwrap_or_default()
}
