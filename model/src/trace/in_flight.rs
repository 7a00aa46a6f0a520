//! What is in flight, and what it leaves behind, for readers.

use serde::{Deserialize, Serialize};

use super::{holder_name, node_name};
use crate::config::Config;
use crate::locks::Record;
use crate::receipts::Receipt;
use crate::step::Reply;
use crate::wire::{Request, Slot, Stage, Verb};
use crate::world::{Holder, World};

/// A request in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestState {
    /// Which of the client's.
    pub slot: Slot,
    /// What is asked.
    pub verb: Verb,
    /// For whom.
    pub holder: String,
    /// The node it was sent to.
    pub node: String,
    /// `sent`, `confirming` (granted, the replicas are not counted yet), `executed` or `lost`.
    pub stage: String,
    /// What the node answered, once it is executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Reply>,
    /// Of a release: the number of its receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<u8>,
    /// The rank of the fencing token it was granted; 0: none.
    pub token: u8,
    /// Ticks in this stage; counted only where the scenario bounds the delay.
    pub age: u8,
    /// How often it may still be sent again.
    pub retries_left: u8,
    /// Ticks until its caller waits no longer; `None`: nobody waits.
    pub answer_left: Option<u8>,
    /// The process has heard the reply, the caller has not.
    pub heard: bool,
    /// Once granted, it is to be released.
    pub must_undo: bool,
    /// The holds that it should renew are gone; noted only where that makes a difference.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub stale: bool,
    /// Of an acquire: how many replicas its `WAIT` asks for, as long as that is not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_for: Option<u8>,
}

/// A release receipt as a node stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredReceipt {
    /// Whose release it was.
    pub holder: String,
    /// Which of its releases.
    pub receipt: u8,
    /// Whether that release freed the lock.
    pub freed: bool,
    /// Ticks it lives.
    pub remaining_ticks: Option<u8>,
}

pub(super) fn requests<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    client: u8,
) -> Vec<RequestState> {
    let state = |(slot, request): (Slot, &Request)| {
        let (stage, answer) = match request.stage {
            Stage::Sent => ("sent", None),
            Stage::Confirming => ("confirming", Some(Reply::Acquired)),
            Stage::Executed(reply) => ("executed", Some(reply)),
            Stage::Lost => ("lost", None),
        };
        RequestState {
            slot,
            verb: request.verb,
            holder: holder_name(config, Holder::new(client, request.thread)),
            node: node_name(request.node),
            stage: stage.to_owned(),
            answer,
            receipt: Some(request.id).filter(|id| *id > 0),
            token: request.token,
            age: request.age,
            retries_left: request.retries_left,
            answer_left: request.answer_left.left(),
            heard: request.is_heard,
            must_undo: request.must_undo,
            stale: request.is_stale,
            asks_for: Some(request.asks_for).filter(|replicas| *replicas > 0),
        }
    };
    world.requests(client).iter().map(state).collect()
}

pub(super) fn receipts<R: Record>(config: &Config, record: &R) -> Vec<StoredReceipt> {
    let stored = |receipt: Receipt| StoredReceipt {
        holder: holder_name(config, receipt.holder),
        receipt: receipt.id,
        freed: receipt.freed,
        remaining_ticks: receipt.remaining.left(),
    };
    record.receipts().map(stored).collect()
}
