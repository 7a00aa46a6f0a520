//! Real Redisson, made deterministic: one JVM for all clients, whose time stands still until the harness moves it (`jvm_clock`),
//! behind gates that hold every request and message (`gate`, by `client_connection`), and watched until it can do nothing more by itself (`quiet`). The next
//! world gets the same JVM (`idle_jvms`).
//!
//! `clients` is the target of a replay: it makes the `applications` (set up by `client_times`, their clocks moved by
//! `passing_time`) do what a history says of them (`calls`, `interruption`), and compares what they send and are told (`sent`,
//! `told`, `wire_words`). `split` is a network on which requests take time, `unanswered` what becomes of those that take too long,
//! `master_locks` an application that asks several masters (`master_calls`, in the order that `master_order` says), `batch_wait` the `WAIT` behind each, `renewals` what the watchdogs do (by the timers of `chains`), and `replicas` what clients do
//! because their master has some. `deployment` is how their servers are set up, and `pub_sub` the commands for messages that follow
//! from it. What differs on purpose is listed in `departures`.

mod after_replies;
mod applications;
mod asking;
mod batch_wait;
mod calls;
mod chains;
mod client_connection;
mod client_times;
mod clients;
mod departures;
mod deployment;
mod gate;
mod idle_jvms;
mod interruption;
mod jvm;
mod jvm_clock;
mod master_calls;
mod master_locks;
mod master_order;
mod messages;
mod older_sides;
mod open_wait;
mod overtaking;
mod passing_time;
mod program;
mod pub_sub;
mod quiet;
mod redirects;
mod refusals;
mod renewals;
mod replicas;
mod requests;
mod script_clock;
mod semaphore;
mod sent;
mod several_parts;
mod sides;
mod spare_permits;
mod split;
mod started_jvm;
mod told;
mod unanswered;
mod unwinding;
mod wire_words;

pub use client_times::ClientTimes;
pub use clients::RedissonClients;
pub use departures::Departure;
pub use deployment::Deployment;
pub use gate::{ClientGate, HeldCommand};
pub use idle_jvms::IdleJvms;
pub use interruption::Interruption;
pub use jvm::Jvm;
pub use master_order::is_in_library_order;
pub use program::RedissonProgram;
pub use pub_sub::PubSubCommands;
pub use refusals::{asks_once, has_rules_of_its_version, refuse_on_server, refuse_world};
