//! The whole state, and what needs both sides: the network between clients and servers, time, the end of a failover, the
//! guarded resource.

pub(crate) mod acts;
pub(crate) mod context;
pub(crate) mod failover_end;
mod front;
mod hash;
pub(crate) mod incidents;
pub mod layout;
mod master_locks;
mod master_waits;
mod masters;
pub(crate) mod network;
pub mod normal_form;
pub(crate) mod parts;
pub mod prefilter;
pub(crate) mod queue;
mod receipts;
mod refusals;
mod renewals;
pub(crate) mod resource;
pub mod state;
mod symmetry;
pub(crate) mod tick;
pub(crate) mod tokens;
pub(crate) mod value_sets;
pub(crate) mod values;

pub use layout::{InLayout, Layout, in_largest_layout, in_layout};
pub use normal_form::{LeftOut, NormalForm};
pub use prefilter::Prefilter;
pub use state::{ResourceLog, World};
