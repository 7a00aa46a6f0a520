//! What may happen to a Redis lock: one pure function over small values.
//!
//! ```text
//!            Config ──────────────┐
//!                                 ▼
//!   World ── enabled ──▶ Action ─ step ─▶ World + Reply + Happenings
//!     ▲                            │
//!     └────────────────────────────┘
//! ```
//!
//! Reading order:
//! 1. [`config`]: how big the world is, which protocol is spoken, which faults may happen;
//! 2. [`world`]: what each client believes, what each node stores, what the resource accepted;
//! 3. [`action`]: the verbs of a trace;
//! 4. [`step`]: the one transition function, guard and effect side by side;
//! 5. [`locks`]: the rules of one lock kind each, and nothing else;
//! 6. `client`, `watchdog`, `wakeup`, `replication`, `failover`, `partition`, `disk`, `expiry`, `clocks`, `resource`,
//!    `wait_for`: the rules all kinds share; [`wire`], `call` and [`receipts`]: those of a request that is three steps; `interrupt`: what
//!    ends the wait for it;
//! 7. [`branches`]: what each action can be answered, so that what nobody ever came to has a name;
//! 8. [`properties`]: what must always be so, or come true in the end, and [`mutants`], the proof that each can fail;
//! 9. `symmetry`: which worlds are the same but for names; [`glance`]: what can happen, before any rule looks;
//! 10. [`trace`]: the only thing other tools read.
//!
//! No clock, no randomness, no hash-map iteration: the same input gives the same output on every machine.

pub mod action;
pub mod branches;
mod call;
mod class;
mod client;
mod clocks;
pub mod config;
mod disk;
mod expiry;
mod failover;
pub mod glance;
mod interrupt;
pub mod locks;
pub mod mutants;
mod names;
mod partition;
pub mod properties;
pub mod receipts;
mod replication;
mod resource;
pub mod step;
mod symmetry;
pub mod trace;
mod wait_for;
mod wakeup;
mod watchdog;
pub mod wire;
pub mod world;

pub use action::{Action, ActionKind};
pub use branches::ReplyKind;
pub use class::{Classified, in_class};
pub use config::{Config, LockKind};
pub use glance::Glance;
pub use locks::Record;
pub use properties::{Property, Verdict};
pub use step::{Happenings, Reply, Step, step, step_into};
pub use world::World;
