//! Real Redisson under our clocks and behind our gates does the same thing each time.
//!
//! `tools/redisson/install` builds what these tests need, and `LOCKSTEP_REDISSON` names it; without it they fail.

mod history;
mod repeated;
