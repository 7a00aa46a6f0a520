//! How big the world is, which protocol is spoken in it, and which faults may happen.

pub mod bounds;
pub mod calls;
pub mod clients;
mod defaults;
mod derived;
pub mod faults;
pub mod node_set;
pub mod profiles;
pub mod protocol;
pub mod sections;
pub mod switches;
mod unlike;

pub use crate::limits::*;
pub use crate::locks::kind::LockKind;
pub use crate::locks::value_set::ValueSet;
pub use bounds::Bounds;
pub use calls::{Calls, InterruptedAcquire, RefusedCall, Registration, RequestId, Resend, StaleRenewal, UnansweredAsk};
pub use clients::{ClientRole, ClientSettings, ClientTables, PartOrder};
pub use faults::{Fault, Faults};
pub use node_set::NodeSet;
pub use profiles::Profile;
pub use protocol::Protocol;
pub use sections::{
    AcceptedTokens, AfterRefusal, Bound, Channels, Clients, Cluster, Config, Discovery, Fencing, Fsync,
    InterruptedWait, LockObjects, MessageDelay, Network, NetworkMode, PromoteRule, ReplicasLeave, Resource, StopsAt,
    Time, Ttls, WriteDelay,
};
pub use switches::{
    AcquireRule, AnsweredReceipt, Downgrade, ElapsedTime, ExtendRule, FailedPart, FailedRenewal, FinalLease, HeldQuery,
    InterruptedCall, InterruptedWaiter, MissedRenewal, NeededMasters, NoTtlAnswer, PartialRelease, ReadRelease,
    ReadRenewal, RefusedLease, ReleaseRule, RememberedLease, RenewalTimer, RoundLease, SubscribeTo, TokenRule,
    ValueRule, WaitAfter, WaitRule,
};
