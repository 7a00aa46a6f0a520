//! Real sentinels, which decide on failovers where `lockstep replay --sentinel` asks for them.
//!
//! Three processes watch the nodes, by the real clock and by Sentinel's own rules. The harness kills the master and waits
//! until the sentinels have noticed, agreed, chosen and promoted. What they publish meanwhile is recorded (`event_log`).
//!
//! Sentinel knows servers by address, and the servers of a replay have none: each gets an `AddressProxy`. To find out that
//! a master is down, Sentinel measures time on its own clock and only needs answers from the nodes. So the clocks of the
//! nodes may stand still (measured on Redis 6.2.5 and 7.0.15 and Valkey 9.1.2), and TTLs agree to the millisecond here too.

mod event_log;
mod lone;
mod priorities;
mod process;
mod refusals;
mod sentinels;
mod settings;

pub use event_log::SentinelEvent;
pub use lone::LoneSentinel;
pub use priorities::{heirs, priority};
pub use refusals::{refuse_trace, refuse_world};
pub use sentinels::{Failover, Sentinels};
pub use settings::{DOWN_AFTER, QUORUM, SENTINELS};
