//! A request in flight.

use serde::{Deserialize, Serialize};

use super::contents::is_zero;
use crate::client::requests::{Slot, Verb};
use crate::reply::Reply;

/// A request in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in a trace")]
pub struct RequestState {
    /// Which of its client's requests it is.
    pub slot: Slot,
    /// What is asked.
    pub verb: Verb,
    /// The client thread that asks, or whose hold the watchdog renews.
    pub holder: String,
    /// The node it was sent to.
    pub node: String,
    /// How far it has come.
    pub stage: RequestStage,
    /// What the node replied; there from the stage `confirming` on, but not once the reply is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Reply>,
    /// Of a release: the number of its receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<u8>,
    /// Which of the holder's acquires it is of, also when it is sent again; 0: the caller had no hold. Recorded where
    /// acquires are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u8>,
    /// The rank of the fencing token of its grant; 0: none.
    pub token: u8,
    /// Ticks in this stage; counted only where the scenario bounds the delay.
    pub age: u8,
    /// How often it may still be sent again.
    pub retries_left: u8,
    /// Ticks until its caller stops waiting; `None`: no caller waits.
    pub answer_left: Option<u8>,
    /// The process has received the reply, but the calling thread has not seen it yet.
    pub heard: bool,
    /// If it is granted, the grant is to be released.
    pub must_undo: bool,
    /// The holds that it should renew are gone; recorded only where that makes a difference.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub stale: bool,
    /// It brings the lease that its call names, and not the usual one. Older traces call it nested.
    #[serde(default, skip_serializing_if = "core::ops::Not::not", alias = "nested")]
    pub names_lease: bool,
    /// It brings the lease that its lock object remembers.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub remembers_lease: bool,
    /// How many replicas its `WAIT` asks for, until that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_for: Option<u8>,
    /// Of anything but a grant: how many replicas have acknowledged everything, once its `WAIT` is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<u8>,
    /// How often its call is made again if too few replicas acknowledge it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats_left: u8,
    /// Its caller is told of an exception, whatever is answered: an earlier attempt was answered `READONLY`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub has_failed: bool,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestStage {
    /// On its way to the node.
    Sent,
    /// Executed; the node has not answered yet how many replicas have acknowledged it.
    Confirming,
    /// Executed; the reply is on its way back.
    Executed,
    /// The request or its reply will never arrive, and the caller does not know.
    Lost,
}
