//! What the signs of the pictures mean, in the words of their legends.

/// A thread that believes it holds.
pub const BELIEVES: &str = "believes it holds";
/// A thread that has called `lock()`, which has not returned.
pub const WAITS: &str = "waits for the lock, or for an answer";
/// A thread whose client is paused, or a node that stands still.
pub const PAUSED: &str = "paused";
/// A lane without an event.
pub const QUIET: &str = "no event";
/// A fault, or an arrow that does not arrive.
pub const FAULT: &str = "fault";
/// A line that is part of the loop of a lasso.
pub const REPEATS: &str = "part of the loop";
