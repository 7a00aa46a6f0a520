//! A trace: steps with states, as an observer of the whole system sees them. The only thing other tools read.
//!
//! It carries the whole configuration, so that anybody can run it again and compare every state (`sim/src/recorder.rs`). It contains no
//! machine paths and no wall-clock times: two runs compare byte for byte.

mod bounds;
mod claims;
mod contents;
mod format;
mod names;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod snapshot;
mod state;

pub use crate::locks::keys::{KeySlot, KeyValue};
pub use crate::names::{client_name, lock_name, node_name};
pub use bounds::{BOUNDS, CLIENT_BOUNDS, NumberBound};
pub use contents::{Contents, Hold, ReceiptState, StoredKey};
pub use format::{About, ClaimInterval, Claims, FairAction, InLoop, SCHEMA, Trace, TraceStep};
pub use names::{holder_name, lane};
pub use request::{RequestStage, RequestState};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use state::{
    CallState, ClientMode, ClientState, NodeRole, NodeState, SlotMove, State, SubscriptionState, ThreadState,
};
