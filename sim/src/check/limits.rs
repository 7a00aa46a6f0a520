//! When a search stops early, and why.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When to stop early. After an early stop, whatever is not yet known is inconclusive, never "holds".
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// At most this many distinct states.
    pub max_states: Option<u64>,
    /// At most this many bytes for tables and layers.
    pub max_bytes: Option<u64>,
    /// At most this much time, for one scenario.
    pub time_limit: Option<Duration>,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Distinct states so far, for the progress display.
    pub progress: &'a AtomicU64,
}

/// Why a search did not visit every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// `--max-states`.
    MaxStates(u64),
    /// `--timeout`.
    TimeLimit(Duration),
    /// `--max-memory`.
    MaxMemory(u64),
    /// Ctrl-C.
    Interrupted,
    /// The violation that was searched for was found.
    Found,
    /// More states than the engine can number.
    TableFull,
}

impl Limits<'_> {
    /// The limit that has been passed, if any.
    pub(super) fn exceeded(&self, states: u64, bytes: u64, started: Instant) -> Option<Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Stopped::Interrupted);
        }
        if let Some(most) = self.max_states.filter(|&most| states >= most) {
            return Some(Stopped::MaxStates(most));
        }
        if let Some(most) = self.max_bytes.filter(|&most| bytes >= most) {
            return Some(Stopped::MaxMemory(most));
        }
        self.time_limit.filter(|&most| started.elapsed() >= most).map(Stopped::TimeLimit)
    }
}

impl Stopped {
    /// In words, for a verdict of inconclusive.
    pub fn words(self, states: u64) -> String {
        match self {
            Self::MaxStates(most) => format!("stopped after {states} states by --max-states {most}"),
            Self::TimeLimit(most) => {
                format!("stopped after {states} states by --timeout {}", most.as_secs_f64())
            }
            Self::MaxMemory(most) => format!("stopped after {states} states by --max-memory {most}"),
            Self::Interrupted => format!("interrupted after {states} states"),
            Self::Found => {
                format!("stopped after {states} states, when a counterexample to another property was found")
            }
            Self::TableFull => format!("stopped after {states} states: the engine can number no more"),
        }
    }
}
