//! Whether this process was asked to end: by Ctrl-C, SIGTERM or SIGHUP.
//!
//! That is a fact of the whole process, and everything that may take long looks at it. So it is one static, and not a
//! parameter of every function that waits.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set once the process was asked to end; never reset.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Whether the process was asked to end.
pub fn is_asked() -> bool {
    STOP.load(Ordering::Relaxed)
}
