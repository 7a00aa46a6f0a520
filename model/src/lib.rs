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
//! 2. [`action`]: the verbs of a trace, declared in one table, and [`reply`], what the party that acts observes;
//! 3. [`step`](mod@step): the one transition function;
//! 4. [`locks`]: the contract of a kind of lock, and one file per kind;
//! 5. [`redis`]: the server side, which knows nodes and locks but no client;
//! 6. [`client`]: the client side, which talks to the servers by request, reply and message;
//! 7. [`world`]: the whole state, and what needs both sides: the network between them, time, the guarded resource;
//! 8. [`properties`]: what must always be so, or come true in the end, and [`mutants`], the proof that each can fail;
//! 9. [`outcomes`]: what each action can be answered, so that an outcome that no run reaches has a name;
//! 10. [`trace`]: the only thing other tools read.
//!
//! No clock, no randomness, no hash-map iteration: the same input gives the same output on every machine.

pub mod action;
pub mod client;
pub mod config;
pub mod limits;
pub mod locks;
pub mod mutants;
pub mod names;
pub mod notes;
pub mod outcomes;
pub mod properties;
pub mod redis;
pub mod reply;
pub mod slots;
pub mod step;
pub mod time;
pub mod trace;
pub mod world;

pub use action::{Action, ActionKind, Party};
pub use config::Config;
pub use locks::{Holder, Lock, LockKind};
pub use notes::{Happening, Happenings};
pub use properties::{Property, Verdict};
pub use reply::{Reply, ReplyKind};
pub use step::{Step, attempt, step, step_into};
pub use world::{InLayout, Layout, NormalForm, Prefilter, World, in_largest_layout, in_layout};
