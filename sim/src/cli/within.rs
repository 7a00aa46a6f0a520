//! The limits of a search: `--max-states`, `--max-memory`, `--timeout`. Memory is limited in every command that works long.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::interrupt;
use crate::check::Limits;
use crate::check::memory::{MemoryLimit, typed};

/// The variable that limits memory where the option does not.
const VARIABLE: &str = "LOCKSTEP_MAX_MEMORY";

/// The limit on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(super) struct MaxMemory {
    /// Stop when lockstep, or a table of a search, uses this much memory: 500M, 2G [default: 60 % of the memory of the
    /// machine, or of its control group]
    #[arg(id = "max_memory", long = "max-memory", value_name = "BYTES", env = VARIABLE, hide_env_values = true, value_parser = memory)]
    bytes: Option<u64>,
}

/// The limits of the search of one scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Within {
    #[command(flatten)]
    pub(super) memory: MaxMemory,
    /// Stop a scenario after this number of distinct states; the block in progress is finished first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_states: Option<u64>,
    /// Stop a scenario after this time: 30, 30s, 5m, 1h; the block in progress is finished first
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) timeout: Option<Duration>,
}

impl MaxMemory {
    /// The limits of work that Ctrl-C also stops.
    pub(super) fn limits(self, progress: &AtomicU64) -> Limits<'_> {
        let resident = self.bytes.map_or_else(MemoryLimit::by_default, |bytes| Some(MemoryLimit::given(bytes)));
        Limits { max_bytes: self.bytes, resident, ..Limits::none(&interrupt::STOP, progress) }
    }

    /// The limit as it can be typed again, after a blank.
    pub(super) fn again(self) -> String {
        self.bytes.map_or_else(String::new, |bytes| format!(" --max-memory {}", typed(bytes)))
    }
}

impl Within {
    /// The limits of a search that Ctrl-C also stops.
    pub(super) fn limits(self, progress: &AtomicU64) -> Limits<'_> {
        let Self { memory, max_states, timeout } = self;
        Limits { max_states, time_limit: timeout, ..memory.limits(progress) }
    }

    /// The limits as they can be typed again, each after a blank: ` --max-states 20000`.
    pub(super) fn again(self) -> String {
        let Self { memory, max_states, timeout } = self;
        let states = max_states.map(|most| format!(" --max-states {most}"));
        let time = timeout.map(|time| format!(" --timeout {}s", time.as_secs()));
        [Some(memory.again()), states, time].into_iter().flatten().collect()
    }

    /// Whether any limit was given.
    pub(super) fn is_limited(self) -> bool {
        self != Self::default()
    }
}

/// A size of memory, and whether a wrong one is that of the variable: who typed no option would search for it in vain.
fn memory(text: &str) -> Result<u64, String> {
    bytes(text).map_err(|wrong| match std::env::var(VARIABLE) {
        Ok(value) if value == text => format!("{wrong} (it is the value of the variable {VARIABLE})"),
        _ => wrong,
    })
}

/// A size of memory: `500M`, `2G`, or plain bytes; K, M and G are powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 10),
        Some((end, 'M' | 'm')) => (&text[..end], 20),
        Some((end, 'G' | 'g')) => (&text[..end], 30),
        _ => (text, 0),
    };
    let wrong = || format!("`{text}` is not a size: write a whole number above 0 and K, M or G, such as 500M");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text.char_indices().next_back() {
        Some((end, 's')) => (&text[..end], 1),
        Some((end, 'm')) => (&text[..end], 60),
        Some((end, 'h')) => (&text[..end], 3600),
        _ => (text, 1),
    };
    let wrong = || format!("`{text}` is not a time: write a whole number above 0 and s, m or h, such as 30s");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "0", "-1", "1.5", "s", "3 s", "9999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_typed_again_as_they_were_given() {
        let given = |max_memory: &str, time: &str| Within {
            memory: MaxMemory { bytes: bytes(max_memory).ok() },
            max_states: Some(20_000),
            timeout: duration(time).ok(),
        };
        assert_eq!(given("500M", "5m").again(), " --max-memory 500M --max-states 20000 --timeout 300s");
        assert_eq!(given("1025", "").again(), " --max-memory 1025 --max-states 20000");
        assert_eq!(Within::default().again(), "");
    }

    #[test]
    fn a_size_is_a_number_and_a_unit() {
        assert_eq!(bytes("30"), Ok(30));
        assert_eq!(bytes("500M"), Ok(500 << 20));
        for wrong in ["", "0", "-1", "1.5", "M", "3 M", "99999999999999999999G", "9999999999G9"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
