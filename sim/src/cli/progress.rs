//! Progress: a moving line on a terminal, a line every ten seconds elsewhere. A long search is also told, once, how it
//! can be bounded.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::screen::Screen;
use super::within::Within;
use crate::check::{Limits, Pass, PassNow};
use crate::render::words::thousands;

const EVERY: Duration = Duration::from_secs(10);
const REDRAW: Duration = Duration::from_millis(100);

/// What is counted, and what to say if the count goes on for long.
#[derive(Clone, Copy)]
pub(super) struct ProgressUnit {
    unit: &'static str,
    /// The word for one of them, where that is another one.
    one: Option<&'static str>,
    advice: Option<&'static str>,
}

impl ProgressUnit {
    /// Histories that were replayed.
    pub(super) const HISTORIES: Self = Self { unit: "histories", one: Some("history"), advice: None };

    /// What an examination has gone through: its searches, and its replays.
    pub(super) const EXAMINED: Self = Self { unit: "states and histories", one: None, advice: None };

    /// `1 history`, `12 histories`.
    pub(super) fn words(self, count: u64) -> String {
        match count {
            1 => format!("1 {}", self.one.unwrap_or(self.unit)),
            more => format!("{} {}", thousands(more), self.unit),
        }
    }

    /// States of a search. Whoever has set a limit knows the advice.
    pub(super) fn states(within: Within) -> Self {
        let advice = "a scenario can have many millions of states: Ctrl-C prints what is known so far, --timeout 60s, \
                      --max-states 1000000 or --max-memory 2G bounds the search; begin with fewer faults";
        Self { unit: "states", one: Some("state"), advice: (!within.is_limited()).then_some(advice) }
    }
}

/// Whether the advice was given: once in a run is enough.
static IS_ADVISED: AtomicBool = AtomicBool::new(false);

/// Searches within limits and shows the progress of each pass: `label: safety pass: 123 states`.
pub(super) fn watched_check<T>(screen: &Screen, label: &str, within: Within, work: impl FnOnce(&Limits<'_>) -> T) -> T {
    let (states, pass) = (AtomicU64::new(0), PassNow::default());
    let advice = ProgressUnit::states(within).advice;
    watched_as(screen, label, advice, &|| of_pass(&pass, &states), || {
        work(&Limits { pass: Some(&pass), ..within.limits(&states) })
    })
}

/// `safety pass: 4 567 states`: each pass counts from 0.
fn of_pass(pass: &PassNow, states: &AtomicU64) -> String {
    let name = match pass.get() {
        Pass::Safety => "safety",
        Pass::Liveness => "liveness",
    };
    format!("{name} pass: {} states", thousands(states.load(Ordering::Relaxed)))
}

/// Does the work and shows its progress: `label: 123 states`.
pub(super) fn watched<T>(
    screen: &Screen,
    label: &str,
    unit: ProgressUnit,
    count: &AtomicU64,
    work: impl FnOnce() -> T,
) -> T {
    watched_as(screen, label, unit.advice, &|| unit.words(count.load(Ordering::Relaxed)), work)
}

/// Does the work and shows its progress in any words: `label: set 12 of 93`.
pub(super) fn watched_as<T>(
    screen: &Screen,
    label: &str,
    advice: Option<&'static str>,
    so_far: &(dyn Fn() -> String + Sync),
    work: impl FnOnce() -> T,
) -> T {
    if screen.is_quiet {
        return work();
    }
    let end = End::default();
    std::thread::scope(|scope| {
        // Also when the work panics: otherwise the scope would wait for the watching thread for ever.
        let _told = EndGuard(&end);
        if io::stderr().is_terminal() {
            scope.spawn(|| draw(label, advice, so_far, &end));
        } else {
            scope.spawn(|| write(label, advice, so_far, &end, EVERY, &mut io::stderr(), &IS_ADVISED));
        }
        work()
    })
}

fn draw(label: &str, advice: Option<&'static str>, so_far: &dyn Fn() -> String, end: &End) {
    let start = Instant::now();
    // Most scenarios end before anybody could read a line.
    if end.comes_within(REDRAW) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg}, {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(label.to_owned());
    while !end.comes_within(REDRAW) {
        bar.set_message(so_far());
        bar.tick();
        if let Some(advice) = advice
            && start.elapsed() >= EVERY
            && !IS_ADVISED.swap(true, Ordering::Relaxed)
        {
            bar.println(advice);
        }
    }
    bar.finish_and_clear();
}

fn write(
    label: &str,
    advice: Option<&'static str>,
    so_far: &dyn Fn() -> String,
    end: &End,
    every: Duration,
    out: &mut impl io::Write,
    is_advised: &AtomicBool,
) {
    let start = Instant::now();
    while !end.comes_within(every) {
        let _ = writeln!(out, "{label}: {} after {} s", so_far(), start.elapsed().as_secs());
        if let Some(advice) = advice
            && !is_advised.swap(true, Ordering::Relaxed)
        {
            let _ = writeln!(out, "{advice}");
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Engine, check};
    use crate::scenario::BuiltIn;

    /// Ends the work after some lines, so that the test does not depend on time.
    struct Reader<'a> {
        said: String,
        end: &'a End,
    }

    impl io::Write for Reader<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.said += &String::from_utf8_lossy(bytes);
            if self.said.lines().count() >= 5 {
                drop(EndGuard(self.end));
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn said(ProgressUnit { unit, advice, .. }: ProgressUnit, is_advised: &AtomicBool) -> String {
        let end = End::default();
        let mut out = Reader { said: String::new(), end: &end };
        let so_far = || format!("7 {unit}");
        write("mine", advice, &so_far, &end, Duration::from_millis(1), &mut out, is_advised);
        out.said
    }

    #[test]
    fn each_pass_of_a_check_is_named() {
        let (states, pass, stop) = (AtomicU64::new(4567), PassNow::default(), AtomicBool::new(false));
        assert_eq!(of_pass(&pass, &states), "safety pass: 4 567 states");
        let limits = Limits { pass: Some(&pass), ..Limits::none(&stop, &states) };
        let scenario = BuiltIn::named("two-clients-one-node").expect("it is built in").scenario();
        check(&scenario, Engine::Native, &limits).unwrap_or_else(|error| panic!("{error}"));
        assert!(of_pass(&pass, &states).starts_with("liveness pass: "), "{}", of_pass(&pass, &states));
    }

    #[test]
    fn a_long_search_is_told_once_how_to_bound_it() {
        let is_advised = AtomicBool::new(false);
        let search = ProgressUnit::states(Within::default());
        let first = said(search, &is_advised);
        assert_eq!(first.matches("--timeout").count(), 1, "{first}");
        assert!(first.starts_with("mine: 7 states after 0 s\na scenario can have"), "{first}");
        assert!(!said(search, &is_advised).contains("--timeout"));
        let limited = Within { max_states: Some(1), ..Within::default() };
        for other in [ProgressUnit::states(limited), ProgressUnit::HISTORIES] {
            assert!(!said(other, &AtomicBool::new(false)).contains("--timeout"));
        }
    }
}
