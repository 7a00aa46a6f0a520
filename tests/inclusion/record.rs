//! What was seen of one free run, and how it is kept in a file.
//!
//! Every time is in microseconds since the beginning of the first tick, by the one clock of the machine. An event has no exact
//! time: it happened at some instant of its interval.

use lockstep_model::Action;
use serde::{Deserialize, Serialize};

/// One free run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which server ran.
    pub server: String,
    /// The world in which the model has to find the run: a scenario file.
    pub scenario: String,
    /// What each party did and was told, in the order in which it did so: the clients first.
    pub parties: Vec<Vec<Event>>,
}

/// Something that a party did or was told, at some instant of an interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The earliest instant, µs.
    pub from_us: i64,
    /// The latest instant, µs.
    pub to_us: i64,
    /// What happened.
    pub what: Deed,
}

/// What happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    /// A fault, or what an operator or a client did without asking.
    Did(Action),
    /// A client sent a request to a node.
    Sent {
        /// The request.
        request: Action,
        /// To which node.
        node: u8,
    },
    /// A client heard the answer to its request.
    Heard {
        /// The answer, as the action of the model.
        answer: Action,
        /// What it said.
        told: ToldAnswer,
    },
    /// Somebody looked at the lock on a node.
    Saw {
        /// On which.
        node: u8,
        /// The holder and its hold count; nothing: the lock was free.
        hold: Option<SeenHold>,
    },
}

/// What a client was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToldAnswer {
    /// It holds the lock now.
    Acquired,
    /// Somebody else holds it.
    Busy(
        /// When the key expires.
        Option<Interval>,
    ),
    /// The lock is free now.
    Released,
    /// One hold less.
    StillHeld,
    /// It does not hold the lock.
    NotHeld,
    /// The node is a replica.
    ReadOnly,
    /// The node refuses writes after a failed save.
    SaveFailed,
    /// The node hears of too few replicas.
    NotEnoughReplicas,
    /// Not compared: what is left if a record is made weaker.
    Anything,
}

/// Between two instants, µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The earliest.
    pub from_us: i64,
    /// The latest.
    pub to_us: i64,
}

/// A hold as a node stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenHold {
    /// The number of the client.
    pub client: u8,
    /// How often it entered.
    pub count: u8,
    /// When the key expires; nothing: it has no TTL.
    pub until: Option<Interval>,
}

impl Record {
    /// Every answer and every look at a node that is compared, as places to weaken.
    pub fn observations(&self) -> Vec<(usize, usize)> {
        let is_observation = |event: &Event| match event.what {
            Deed::Heard { told, .. } => told != ToldAnswer::Anything,
            Deed::Saw { .. } => true,
            Deed::Did(_) | Deed::Sent { .. } => false,
        };
        let of_party = |(party, events): (usize, &Vec<Event>)| {
            let places = events.iter().enumerate().filter(|(_, event)| is_observation(event));
            places.map(|(place, _)| (party, place)).collect::<Vec<_>>()
        };
        self.parties.iter().enumerate().flat_map(of_party).collect()
    }

    /// The same run with one thing less known of it. What the model explains of a run, it explains of a weaker record too.
    pub fn without_knowing(&self, (party, place): (usize, usize)) -> Self {
        let mut weaker = self.clone();
        match &mut weaker.parties[party][place].what {
            Deed::Heard { told, .. } => *told = ToldAnswer::Anything,
            Deed::Saw { .. } => {
                weaker.parties[party].remove(place);
            }
            Deed::Did(_) | Deed::Sent { .. } => {}
        }
        weaker
    }

    /// The same run as far as it was by the end of an instant: what had begun by then.
    pub fn until(&self, end_us: i64) -> Self {
        let parties = self
            .parties
            .iter()
            .map(|events| events.iter().take_while(|event| event.from_us <= end_us).cloned().collect());
        Self { parties: parties.collect(), ..self.clone() }
    }
}
