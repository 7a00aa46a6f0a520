//! Ctrl-C, SIGTERM and SIGHUP: long-running work looks at [`STOP`] and ends with what it has. What does not end within a
//! moment is ended here, and so is everything by a second Ctrl-C.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::exit::Exit;
use crate::replay::end_everything;
pub(super) use crate::stop::{STOP, is_asked};

/// How long the program may take to print what is known: the first Ctrl-C ends it within a second.
const LAST_WORDS: Duration = Duration::from_millis(800);

/// Signals within this time are one.
const TOGETHER: Duration = Duration::from_millis(300);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Installs the handler. If that fails, Ctrl-C ends the process at once.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            // The program `timeout` sends a signal to a process, and at once another one to its whole group.
            if FIRST.get().is_none_or(|first| first.elapsed() > TOGETHER) {
                end_now();
            }
            return;
        }
        FIRST.get_or_init(Instant::now);
        // A write to a pipe that nobody reads waits for ever, and looks at nothing.
        let waits = thread::Builder::new().name("last-words".to_owned()).spawn(|| {
            thread::sleep(LAST_WORDS);
            end_now();
        });
        if waits.is_err() {
            end_now();
        }
    });
}

/// Ends the process from any thread, and leaves neither servers nor folders behind.
fn end_now() -> ! {
    end_everything();
    std::process::exit(Exit::Interrupted.code().into())
}
