//! Real Redisson, made deterministic: one JVM for all clients, whose time stands still until the harness moves it (`jvm_clock`),
//! behind gates that hold every request and message (`gate`), and watched until it can do nothing more by itself (`quiet`).

mod gate;
mod jvm;
mod jvm_clock;
mod quiet;

pub use gate::{ClientGate, HeldCommand};
pub use jvm::{Jvm, RedissonProgram};
