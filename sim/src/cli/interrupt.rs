//! Ctrl-C: whoever works looks at [`STOP`] and ends with what it has. A second Ctrl-C does not wait for that.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Set by Ctrl-C (and by SIGTERM and SIGHUP).
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Begins to listen. Where that cannot be, Ctrl-C ends the process as it always did.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// Whether it was asked for.
pub(super) fn is_asked() -> bool {
    STOP.load(Ordering::Relaxed)
}
