//! The kinds of lock: their contract, and one file for each.
//!
//! Nothing here knows of nodes, replication or clients: a lock is a value, and a request turns it into another.

pub mod batch;
pub mod contract;
pub mod counted_hold;
mod deadline;
pub mod facts;
pub mod fair;
pub mod fenced;
pub mod holder;
pub mod keys;
pub mod kind;
pub mod master_calls;
pub mod multi;
pub mod named;
pub mod one_hold;
pub mod plain;
pub mod procedure;
pub mod read_write;
pub mod receipts;
pub mod red;
pub mod redisson_red;
pub mod reentrant;
pub mod semaphore;
pub mod spin;
pub mod stored;
pub mod tokens;
#[cfg(feature = "toy")]
pub mod toy;
pub mod value_multi;
pub mod value_set;
pub mod values;

pub use contract::{Lock, LockContext, LockReply, LockRequest, Outcome, QueuedWaiter, Requester, StoredHold};
pub use facts::{CallerClock, Facts, StoringMasters, Support, Waiting};
pub use holder::Holder;
pub use kind::{LockKind, WithKind};
pub use master_calls::{CallStore, MasterSet, MastersCall, Watchdog};
pub use receipts::Receipt;
pub use stored::Stored;
pub use value_set::ValueSet;
