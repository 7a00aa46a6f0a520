//! How many sentinels there are, and the times they are given.

use std::time::Duration;

/// How many sentinels watch: the smallest number of which one may fail (Redis documentation, "High availability with
/// Sentinel").
pub const SENTINELS: usize = 3;
/// How many must agree that the master is down.
pub const QUORUM: usize = 2;
/// How long a master must be silent until a sentinel considers it down (`down-after-milliseconds`). Longer than the second
/// for which a sentinel waits before it connects again: a promotion ends all connections, and with 500 ms the sentinels
/// considered the new master down as well and promoted another one beside it (measured on Redis 7.0.15 with two replicas).
pub const DOWN_AFTER: Duration = Duration::from_secs(2);
/// The master's name among sentinels.
pub const MASTER_NAME: &str = "lockstep";
/// `failover-timeout`: an election may take this long, and the next one starts after twice this time.
pub const ELECTION_WITHIN: Duration = Duration::from_secs(3);
/// `failover-timeout` once a replica is promoted: the history decides whether and when the other replicas follow, and a
/// sentinel whose time is over would tell them again.
pub const RECONFIGURED_WITHIN: Duration = Duration::from_secs(3600);
/// How long sentinels may take to find one another: they publish greetings every two seconds.
pub const ACQUAINTED_WITHIN: Duration = Duration::from_secs(30);
/// How long a failover may take: several elections, and the half minute for which a sentinel that could not run trusts
/// nothing (tilt mode).
pub const FAILOVER_WITHIN: Duration = Duration::from_secs(60);
/// Between two questions to the sentinels.
pub const PAUSE: Duration = Duration::from_millis(5);
