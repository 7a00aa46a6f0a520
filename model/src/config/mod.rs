//! How big the world is, which protocol is spoken in it, and which faults may happen.

pub mod bounds;
pub mod calls;
pub mod clients;
mod defaults;
pub mod derived;
pub mod faults;
pub mod node_set;
pub mod profiles;
pub mod sections;
mod unlike;

pub use crate::limits::*;
pub use crate::locks::kind::LockKind;
pub use crate::locks::value_set::ValueSet;
pub use bounds::Bounds;
pub use calls::{Calls, InterruptedAcquire, RefusedCall, Registration, RequestId, Resend, StaleRenewal, UnansweredAsk};
pub use clients::{ClientRole, ClientSettings, ClientTables};
pub use faults::{Fault, Faults};
pub use node_set::NodeSet;
pub use profiles::{
    AcquireRule, AnsweredReceipt, Downgrade, ExtendRule, FailedRenewal, InterruptedWaiter, MissedRenewal, NoTtlAnswer,
    PartialRelease, Profile, Protocol, ReadRelease, ReadRenewal, RefusedLease, ReleaseRule, RememberedLease,
    RenewalTimer, SubscribeTo, TokenRule, ValueRule, WaitAfter, WaitRule,
};
pub use sections::{
    AcceptedTokens, Bound, Clients, Cluster, Config, Discovery, Fencing, Fsync, InterruptedWait, LockObjects,
    MessageDelay, Network, NetworkMode, PromoteRule, ReplicasLeave, Resource, StopsAt, Time, Ttls, WriteDelay,
};
