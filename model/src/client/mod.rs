//! The client side: processes and their threads, what they believe, and how they ask.
//!
//! A rule works on a [`Process`](process::Process). It reaches no server: requests are its output, replies and messages its
//! input. Which of them meet when is for `world/network` to say.

pub(crate) mod calls;
pub(crate) mod due;
mod finished;
pub(crate) mod interrupt;
pub(crate) mod master_locks;
pub(crate) mod master_waits;
pub(crate) mod masters;
pub(crate) mod named_renewals;
mod parts;
pub(crate) mod process;
pub mod renewal_table;
pub mod requests;
pub mod state;
pub(crate) mod sync_wait;
mod two_commands;
pub(crate) mod validity;
pub(crate) mod wait_loop;
pub(crate) mod watchdog;

pub use renewal_table::RenewalTable;
pub use requests::{BroughtLease, InFlight, Request, Requests, Slot, Stage, Verb};
pub use state::{AcquiresLeft, Client, GroupView, Mode, Phase, Thread, WakeupEntry};
