//! When a search stops early, and why.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::memory::{self, DEFAULT_PERCENT, LimitSource, MemoryLimit, readable};
use crate::plain_text::thousands;

/// When to stop early. After an early stop, whatever is not yet known is inconclusive, never "holds".
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// At most this many distinct states.
    pub max_states: Option<u64>,
    /// At most this many bytes for tables and layers.
    pub max_bytes: Option<u64>,
    /// At most this much resident memory of the whole process.
    pub resident: Option<MemoryLimit>,
    /// At most this much time, for one scenario.
    pub time_limit: Option<Duration>,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// Distinct states so far, for the progress display.
    pub progress: &'a AtomicU64,
    /// The pass that counts them; `None`: nobody asks.
    pub pass: Option<&'a PassNow>,
    /// Histories that were tried in order to make one that differs shorter; `None`: nobody asks.
    pub tries: Option<&'a AtomicU64>,
}

/// A pass of a check over the states of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The search: safety, and what can be reached.
    Safety,
    /// The graph of all states: liveness and possibility.
    Liveness,
}

/// The pass in progress, for the progress display.
#[derive(Debug, Default)]
pub struct PassNow(AtomicBool);

impl PassNow {
    /// The pass in progress.
    pub fn get(&self) -> Pass {
        if self.0.load(Ordering::Relaxed) { Pass::Liveness } else { Pass::Safety }
    }

    fn set(&self, pass: Pass) {
        self.0.store(pass == Pass::Liveness, Ordering::Relaxed);
    }
}

/// Why a search did not visit every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// `--max-states`.
    MaxStates(u64),
    /// `--timeout`.
    TimeLimit(Duration),
    /// `--max-memory`, by the bytes of tables and layers.
    MaxMemory(u64),
    /// The memory that this process may use.
    Resident {
        /// The limit.
        limit: MemoryLimit,
        /// How many bytes the process uses.
        used: u64,
        /// How many bytes it would have needed in addition, all at once.
        more: u64,
    },
    /// Ctrl-C.
    Interrupted,
    /// The violation that was searched for was found.
    Found,
    /// More states than the engine can number.
    TableFull,
}

impl<'a> Limits<'a> {
    /// No limit: it ends only when it is told to stop.
    pub const fn none(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Self {
        Self {
            max_states: None,
            max_bytes: None,
            resident: None,
            time_limit: None,
            stop,
            progress,
            pass: None,
            tries: None,
        }
    }
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
        if let Some(most) = self.time_limit.filter(|&most| started.elapsed() >= most) {
            return Some(Stopped::TimeLimit(most));
        }
        self.lacks_memory(0)
    }

    /// The limit on the memory of this process, if that is reached, or would be with so many bytes more.
    pub(crate) fn lacks_memory(&self, more: u64) -> Option<Stopped> {
        let limit = self.resident?;
        let used = memory::resident();
        (used.saturating_add(more) >= limit.bytes).then_some(Stopped::Resident { limit, used, more })
    }

    /// How many bytes the process may still take.
    pub(super) fn room(&self) -> u64 {
        self.resident.map_or(u64::MAX, |limit| limit.bytes.saturating_sub(memory::resident()))
    }

    /// Begins a part of the work: what an earlier part has freed is not counted against this one.
    pub(super) fn begin(&self) {
        // It takes a moment, and only where memory becomes short does it make a difference.
        if self.resident.is_some_and(|limit| memory::resident() >= limit.bytes / 2) {
            memory::give_back();
        }
    }

    /// Begins a pass, as [`begin`](Self::begin) does.
    pub(super) fn begin_pass(&self, pass: Pass) {
        if let Some(now) = self.pass {
            now.set(pass);
        }
        self.begin();
    }

    /// These limits for work that began at `started` and is done in parts: each part has what is left of the time. `None`:
    /// nothing is left, or the work is to end.
    pub(crate) fn left(&self, started: Instant) -> Option<Self> {
        let time_limit = match self.time_limit {
            Some(most) => Some(most.checked_sub(started.elapsed()).filter(|left| !left.is_zero())?),
            None => None,
        };
        (!self.stop.load(Ordering::Relaxed)).then_some(Self { time_limit, ..*self })
    }
}

/// What to do where memory is short.
const ADVICE: &str = "a smaller world (fewer clients, replicas or faults) needs less, --max-states stops earlier, and \
                      --max-memory allows more";

impl Stopped {
    /// In words, for a verdict of inconclusive.
    pub fn words(self, states: u64) -> String {
        let says = self.after(&format!("{} states", thousands(states)));
        match self {
            Self::MaxMemory(_) | Self::Resident { .. } => format!("{says}; {ADVICE}"),
            Self::MaxStates(_) | Self::TimeLimit(_) | Self::Interrupted | Self::Found | Self::TableFull => says,
        }
    }

    /// The same of work that is not counted in states: `done` is how far it came.
    pub fn after(self, done: &str) -> String {
        match self {
            Self::MaxStates(most) => format!("stopped after {done} by --max-states {most}"),
            Self::TimeLimit(most) => {
                format!("stopped after {done} by --timeout {}", most.as_secs_f64())
            }
            Self::MaxMemory(most) => {
                let most = memory::typed(most);
                format!("stopped after {done} by --max-memory {most}, which its tables have reached")
            }
            Self::Resident { limit: MemoryLimit { bytes, source }, used, more } => {
                let of_what = |what| format!("the default limit is {}, {DEFAULT_PERCENT} % of {what}", readable(bytes));
                let limit = match source {
                    LimitSource::Given => format!("--max-memory is {}", memory::typed(bytes)),
                    LimitSource::Machine => of_what("the memory of this machine"),
                    LimitSource::ControlGroup => of_what("what the control group of this process may use"),
                };
                let needs = if more > 0 { format!(" and needs {} more", readable(more)) } else { String::new() };
                let used = readable(used);
                format!("stopped after {done}: lockstep uses {used} of memory{needs}, and {limit}")
            }
            Self::Interrupted => format!("interrupted after {done}"),
            Self::Found => {
                format!("stopped after {done}, when a counterexample to another property was found")
            }
            Self::TableFull => format!("stopped after {done}: the engine can number no more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_limit_of_memory_is_named_with_its_size_and_with_what_to_do() {
        let says = |source, more| {
            let limit = MemoryLimit { bytes: 3 * GIB / 2, source };
            Stopped::Resident { limit, used: GIB, more }.words(7)
        };
        let given = says(LimitSource::Given, 0);
        assert!(
            given.starts_with("stopped after 7 states: lockstep uses 1.0 GiB of memory, and --max-memory is 1536M; ")
        );
        assert!(given.ends_with(ADVICE), "{given}");
        let machine = says(LimitSource::Machine, 2 * GIB);
        let needs = "lockstep uses 1.0 GiB of memory and needs 2.0 GiB more, and the default limit is 1.5 GiB, ";
        assert!(machine.contains(&format!("{needs}60 % of the memory of this machine; ")), "{machine}");
        let group = says(LimitSource::ControlGroup, 0);
        assert!(group.contains("60 % of what the control group of this process may use; "), "{group}");
        assert!(
            Stopped::MaxMemory(500 << 20).words(7).starts_with("stopped after 7 states by --max-memory 500M, which")
        );
    }

    #[test]
    fn the_parts_of_a_work_share_its_time() {
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let hour = Duration::from_secs(3600);
        let limits = |time_limit| Limits { time_limit, ..Limits::none(&stop, &progress) };
        let left = |time_limit| limits(time_limit).left(Instant::now()).map(|limits| limits.time_limit);
        assert_eq!(left(None), Some(None));
        assert!(left(Some(hour)).flatten().is_some_and(|left| left <= hour));
        assert_eq!(left(Some(Duration::ZERO)), None);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(left(Some(hour)), None);
    }

    /// A growing table may double what a process uses: it is stopped before, not after.
    #[test]
    fn what_would_be_needed_at_once_counts_too() {
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let resident = Some(MemoryLimit::given(1 << 50));
        let limits = Limits { resident, ..Limits::none(&stop, &progress) };
        assert_eq!(limits.lacks_memory(0), None);
        assert!(matches!(limits.lacks_memory(1 << 50), Some(Stopped::Resident { more, .. }) if more == 1 << 50));
        assert!(limits.room() < 1 << 50);
        assert_eq!(Limits { resident: None, ..limits }.room(), u64::MAX);
    }
}
