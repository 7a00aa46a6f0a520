//! The clock of the machine, which is that of every server.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::record::Interval;

/// A server may use a time that it has read a moment ago.
pub const OLD_CLOCK_US: i64 = 2000;

/// The time of one run.
#[derive(Clone, Copy)]
pub struct MachineClock {
    begin_us: i64,
    end_us: i64,
}

fn since_1970() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_micros()).expect("it fits for 290 000 years")
}

impl MachineClock {
    /// Ticks begin where Redis counts full milliseconds. `end_us`: how long the run lasts.
    pub fn start(ms_of_tick: u16, end_us: i64) -> Self {
        let tick_us = i64::from(ms_of_tick) * 1000;
        Self { begin_us: since_1970().div_euclid(tick_us) * tick_us, end_us }
    }

    /// Now, since the beginning of the run.
    pub fn now_us(self) -> i64 {
        since_1970() - self.begin_us
    }

    /// Whether the run is over.
    pub fn is_over(self) -> bool {
        self.now_us() > self.end_us
    }
}

/// When a key expires of which so much is left; nothing: it has no TTL.
pub fn until(ttl_ms: i64, from_us: i64, to_us: i64) -> Option<Interval> {
    // A TTL is rounded to a millisecond.
    (ttl_ms >= 0).then(|| Interval { from_us: from_us + ttl_ms * 1000, to_us: to_us + (ttl_ms + 1) * 1000 })
}
