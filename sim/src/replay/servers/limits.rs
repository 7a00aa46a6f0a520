//! How long each answer from outside is waited for. None of these is reached unless something is broken: a loaded
//! machine is slow, so each is a thousand times what is normal.

use std::time::Duration;

/// A server program's answer to `--version`.
pub const VERSION_WAIT: Duration = Duration::from_secs(10);
/// The first answer of a server that was started.
pub const START_WAIT: Duration = Duration::from_secs(15);
/// What normally takes two servers a millisecond: a write reaches a replica, a link is established.
pub const LINK_WAIT: Duration = Duration::from_secs(5);
/// The answer to one command.
pub const ANSWER_WAIT: Duration = Duration::from_secs(10);
