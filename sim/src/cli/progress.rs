//! Progress: a moving line on a terminal, a line every ten seconds elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::screen::Screen;

const EVERY: Duration = Duration::from_secs(10);
const REDRAW: Duration = Duration::from_millis(100);

/// Does the work and shows its progress: `label: 123 states`.
pub(super) fn watched<T>(screen: &Screen, label: &str, unit: &str, count: &AtomicU64, work: impl FnOnce() -> T) -> T {
    if screen.is_quiet {
        return work();
    }
    let end = End::default();
    std::thread::scope(|scope| {
        // Also when the work panics: otherwise the scope would wait for the watching thread for ever.
        let _told = EndGuard(&end);
        if io::stderr().is_terminal() {
            scope.spawn(|| draw(label, unit, count, &end));
        } else {
            scope.spawn(|| write(label, unit, count, &end));
        }
        work()
    })
}

fn draw(label: &str, unit: &str, count: &AtomicU64, end: &End) {
    // Most scenarios end before anybody could read a line.
    if end.comes_within(REDRAW) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {human_pos} {msg}, {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(label.to_owned());
    bar.set_message(unit.to_owned());
    while !end.comes_within(REDRAW) {
        bar.set_position(count.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn write(label: &str, unit: &str, count: &AtomicU64, end: &End) {
    let start = Instant::now();
    while !end.comes_within(EVERY) {
        let so_far = count.load(Ordering::Relaxed);
        let _ = writeln!(io::stderr(), "{label}: {so_far} {unit} after {} s", start.elapsed().as_secs());
    }
}

#[derive(Default)]
struct End {
    is_there: Mutex<bool>,
    bell: Condvar,
}

impl End {
    fn comes_within(&self, wait: Duration) -> bool {
        let guard = self.is_there.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(guard, wait, |is_there| !*is_there);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

struct EndGuard<'a>(&'a End);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        *self.0.is_there.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.bell.notify_all();
    }
}
