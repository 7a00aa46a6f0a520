//! What the signs of the pictures mean, in the words of their legends.

/// A thread that believes it holds.
pub const BELIEVES: &str = "believes it holds";
/// A thread that has called `lock()`, which has not returned.
pub const WAITS: &str = "waits for the lock, or for an answer";
/// A thread whose client is paused.
pub const PAUSED: &str = "paused";
