//! How long a grant is valid by its caller's own clock, for callers that look at it (`stops_at = "validity"`).
//!
//! A lease begins when the server executes the request, and its caller knows only when it has sent it: counted from there the lease
//! is over for the caller no later than for the server, if both clocks run alike. When it is over the caller stops: it works no more,
//! does not believe any more, and releases. A renewal that succeeds makes the grant valid anew, counted from when it was sent.
//!
//! A paused client looks at no clock: it goes on believing, and stops when it runs again. The clock is one that never jumps
//! (`System.nanoTime`, `time.monotonic`). A renewal, or an entry once more, whose answer is later than its timeout extends nothing,
//! because the model does not count how late it is. If a renewal is sent again, its time counts from the last sending: the server
//! executes what it answers no earlier.
//!
//! Source: docs/facts/redis.md#a-caller-that-looks-at-its-clock.

use super::process::Process;
use super::requests::{InFlight, Request};
use super::state::{Mode, Thread};
use crate::mutants::Mutant;
use crate::notes::{Happening, Notes};
use crate::time::Timer;

impl<Q: InFlight> Process<'_, Q> {
    /// How long a grant or a renewal that is sent now is valid; off: nobody looks at a clock.
    pub(super) fn validity(&self) -> Timer {
        if self.config.looks_at_clock() { Timer::ticks(self.config.time.lease) } else { Timer::OFF }
    }

    /// A thread was granted the lock, or entered once more, by a request that was sent and answered in one step.
    pub(super) fn count_from_now(&mut self, thread: u8) {
        let from_now = self.validity();
        // A thread that has stopped does not start again, even if a nested call in which it waits is granted.
        if from_now != Timer::OFF && !self.thread(thread).has_stopped() {
            self.thread_mut(thread).valid_left = from_now;
        }
    }

    /// A thread that has no hold asks for the lock now, by a request whose answer is a step of its own. If it is sent again, its
    /// caller does not know, and counts on.
    pub(super) fn count_from_ask(&mut self, thread: u8) {
        if self.thread(thread).holds() == 0 {
            self.count_from_now(thread);
        }
    }

    /// A thread is granted the lock. `counted`: what is left, counted from its ask, if it has had no hold.
    pub(super) fn count_grant(&mut self, thread: u8, counted: Timer) {
        if !Q::IS_SPLIT {
            self.count_from_now(thread);
        } else if self.config.looks_at_clock() && self.thread(thread).holds() == 0 {
            self.thread_mut(thread).valid_left = counted;
        }
    }

    /// A renewal, or an entry once more, has succeeded that was sent and answered in one step.
    pub(crate) fn extend_validity(&mut self, thread: u8) {
        let from_now = self.validity();
        self.extend_to(thread, from_now);
    }

    /// The same, of a request that was sent earlier.
    pub(super) fn extend_validity_by(&mut self, thread: u8, request: &Request) {
        let waited = request.answer_left.left().and_then(|left| self.config.calls.answer_within.checked_sub(left));
        let (Some(waited), false) = (waited, request.answer_left == Timer::OVERDUE) else { return };
        let from_ask = self.validity().left().and_then(|lease| lease.checked_sub(waited));
        if let Some(left) = from_ask {
            self.extend_to(thread, Timer::ticks(left));
        }
    }

    pub(super) fn extend_to(&mut self, thread: u8, valid_left: Timer) {
        let holding = self.thread_mut(thread);
        if holding.holds() > 0 && !holding.has_stopped() && holding.valid_left.left() < valid_left.left() {
            holding.valid_left = valid_left;
        }
    }

    /// Whether it goes on working when its grant is over by its own clock.
    pub(super) fn keeps_on_beyond_validity(&self) -> bool {
        !self.config.looks_at_clock() || self.config.is_mutated(Mutant::ValidityIgnored)
    }

    /// The process looks at its clock when it runs again, or when a thread hears of a grant.
    pub(super) fn look_at_clock(&mut self) {
        let keeps_on = self.keeps_on_beyond_validity();
        for thread in self.client.threads.iter_mut().filter(|_| !keeps_on) {
            thread.stop_if_over(self.notes);
        }
    }
}

impl Thread {
    /// A call ends, or it is refused and does not wait, and its limit is not needed any more.
    pub(super) const fn forget_limit(&mut self) {
        self.limit_left = Timer::OFF;
        self.forget_validity();
    }

    /// What was counted for a grant that did not come is not needed any more. The validity of a hold stays: it belongs to the hold and not
    /// to the call.
    pub(super) const fn forget_validity(&mut self) {
        if self.holds() == 0 {
            self.valid_left = Timer::OFF;
        }
    }

    /// Whether its grant was over by its own clock, and it has stopped: it does not believe any more, and releases.
    pub const fn has_stopped(&self) -> bool {
        matches!(self.valid_left, Timer::OVERDUE)
    }

    /// One tick on the clock by which it measures how long its grant is valid.
    pub(super) fn validity_passes(&mut self, mode: Mode, keeps_on: bool, notes: &mut Notes) {
        // One that is overdue stays so.
        self.valid_left = self.valid_left.later();
        if !keeps_on && mode == Mode::Running {
            self.stop_if_over(notes);
        }
    }

    fn stop_if_over(&mut self, notes: &mut Notes) {
        if self.holds() > 0 && self.valid_left == Timer::DUE {
            if self.believes() {
                notes.happened(Happening::ValidityOver);
            }
            self.valid_left = Timer::OVERDUE;
        }
    }
}
