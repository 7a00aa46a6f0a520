//! Ctrl-C: long-running work checks [`STOP`] and ends with what it has. A second Ctrl-C ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Set by Ctrl-C (and by SIGTERM and SIGHUP).
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handler. If that fails, Ctrl-C ends the process at once.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// Whether the user has asked to stop.
pub(super) fn is_asked() -> bool {
    STOP.load(Ordering::Relaxed)
}
