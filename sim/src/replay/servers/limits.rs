//! How long each answer from outside is waited for, and how much of it is read. None of these is reached unless something
//! is broken: a loaded machine is slow, so each is a thousand times what is normal.

use std::time::Duration;

/// A server program's answer to `--version`.
pub const VERSION_WAIT: Duration = Duration::from_secs(10);
/// The first answer of a server that was started.
pub const START_WAIT: Duration = Duration::from_secs(15);
/// What normally takes two servers a millisecond: a write reaches a replica, a link is established.
pub const LINK_WAIT: Duration = Duration::from_secs(5);
/// What nodes of a cluster tell each other: they do so ten times a second, and where a machine is loaded, late. A node became ready after
/// more than five seconds beside two builds.
pub const CLUSTER_WAIT: Duration = Duration::from_secs(30);
/// What ends with a sync of the disk, which takes milliseconds and on a busy disk seconds: a save, the rewrite of an AOF.
pub const DISK_WAIT: Duration = Duration::from_secs(30);
/// The answer to one command, or to one pipeline.
pub const ANSWER_WAIT: Duration = Duration::from_secs(10);
/// The end of a process that was killed.
pub const END_WAIT: Duration = Duration::from_secs(5);

/// How long anything waits before it looks again whether this process was asked to stop.
pub const SLICE: Duration = Duration::from_millis(20);

/// The most bytes of one answer of a server. Ours are a few kilobytes.
pub const MOST_ANSWER: usize = 16 << 20;
/// The most bytes of an answer to `--version`.
pub const MOST_VERSION: usize = 64 << 10;
/// The most bytes that a program may write to its console before it serves.
pub const MOST_CONSOLE: u64 = 1 << 20;
/// The largest file that a server may write. An AOF is rewritten long before.
pub const MOST_FILE: u64 = 256 << 20;
/// The most bytes of a replication stream that are held back. One step writes a few hundred.
pub const MOST_HELD: u64 = 16 << 20;
