//! The renewal of several locks, each under a name of its own.
//!
//! Redisson since 3.44 renews all locks of a client in rounds: one script carries up to `renewal_batch` of them, the next one is
//! sent when that is answered, and an error ends the round. Their order in a script is the table's own, whatever the order in
//! which they were acquired; here it is that of the names. Up to 3.43 each lock has a timer and a script of its own.
//! Source: docs/facts/redisson.md#several-locks-in-one-renewal.
//!
//! The two sides of a read-write lock are renewed in the same way, each by a timer of its own (docs/facts/family.md#read-write).
//!
//! A thread uses one name, so the count of a thread is that of its lock. The bit that otherwise names the thread that
//! registered first says which lock is next: the first one of the next script, or the one whose timer fires first.

use super::process::Process;
use super::renewal_table::RenewalTable;
use super::requests::InFlight;
use crate::config::switches::{FailedRenewal, MissedRenewal};
use crate::limits::MAX_THREADS;
use crate::locks::batch::RenewalBatch;
use crate::reply::Reply;
use crate::time::Timer;

/// What the watchdog does when its timer fires.
pub(crate) enum Round {
    /// There is nothing to renew; the timer stops.
    Nothing,
    /// What was left of the round has been released meanwhile; the next round comes a period later.
    Over,
    /// It renews these locks in one script. The timer is set again by the answer, or by the lack of one.
    Renews {
        /// Whose.
        batch: RenewalBatch,
        /// Another timer has renewed less than a period ago.
        is_too_soon: bool,
    },
}

impl<Q: InFlight> Process<'_, Q> {
    /// A renewal timer fires.
    pub(crate) fn fire_round(&mut self) -> Option<Round> {
        let is_running = self.client.is_running();
        let has_timer_per_thread = self.config.has_timer_per_thread();
        let size = usize::from(self.config.protocol.renewal_batch);
        let table = &mut self.client.renewal;
        if !is_running || !table.due_in().is_due() {
            return None;
        }
        if has_timer_per_thread {
            let thread = table.first();
            table.cancel_timer_of(thread);
            if table.count(thread) == 0 {
                return Some(Round::Nothing);
            }
            return Some(Round::Renews { batch: RenewalBatch::EMPTY.with(thread), is_too_soon: false });
        }
        let from = table.first();
        let is_too_soon = from == 0 && table.has_renewed_lately();
        table.take_first_timer();
        table.set_first(0);
        if table.is_empty() {
            return Some(Round::Nothing);
        }
        let held = (from..MAX_THREADS).filter(|thread| table.count(*thread) > 0).take(size);
        let batch = held.fold(RenewalBatch::EMPTY, RenewalBatch::with);
        if batch == RenewalBatch::EMPTY {
            self.rearm(true);
            return Some(Round::Over);
        }
        Some(Round::Renews { batch, is_too_soon })
    }

    /// The answer to a renewal of several locks. `missed`: those that are not held any more.
    pub(crate) fn hear_round(&mut self, batch: RenewalBatch, reply: Reply, missed: RenewalBatch) {
        if !matches!(reply, Reply::Renewed | Reply::RenewedInPart { .. } | Reply::RenewalMissed) {
            // An error is no answer.
            return self.round_failed(batch);
        }
        for thread in batch.threads().filter(|thread| !missed.has(*thread)) {
            self.extend_validity(thread);
        }
        for thread in missed.threads() {
            self.miss(thread);
        }
        let has_missed = missed != RenewalBatch::EMPTY;
        if has_missed && self.config.protocol.missed_renewal == MissedRenewal::StopTimer {
            return;
        }
        if self.config.has_timer_per_thread() {
            return self.rearm_each(batch);
        }
        let next = batch.last().map_or(0, |last| last + 1);
        let table = &mut self.client.renewal;
        if (next..MAX_THREADS).any(|thread| table.count(thread) > 0) {
            // The scenario reader refuses timers that multiply beside rounds of several scripts: there is no other timer.
            table.set_only_timer(Timer::DUE);
            table.set_first(next);
        } else {
            self.rearm(true);
        }
    }

    /// A renewal of several locks has no answer, or an error: nobody learns what was renewed, and what comes after these locks in
    /// this round is not renewed.
    pub(crate) fn round_failed(&mut self, batch: RenewalBatch) {
        match self.config.protocol.failed_renewal {
            FailedRenewal::Retry | FailedRenewal::Release if self.config.has_timer_per_thread() => {
                self.rearm_each(batch);
            }
            FailedRenewal::Forget if self.config.has_timer_per_thread() => {
                batch.threads().for_each(|thread| self.forget_renewals(thread));
            }
            FailedRenewal::Retry | FailedRenewal::Release | FailedRenewal::Forget => self.renewal_failed(),
        }
    }

    /// The timer of each of these locks is set again, if there is anything left to renew.
    fn rearm_each(&mut self, batch: RenewalBatch) {
        let period = self.period();
        let table = &mut self.client.renewal;
        for thread in batch.threads().filter(|thread| table.count(*thread) > 0).collect::<Vec<_>>() {
            table.start_timer_of(thread, period);
        }
    }
}

impl RenewalTable {
    /// Where each thread's lock has a timer of its own: until it fires.
    pub(crate) fn due_in_of(self, thread: u8) -> Timer {
        if self.first() == thread { self.due_in() } else { self.later_due_in().next().unwrap_or(Timer::OFF) }
    }

    /// Where each thread's lock has a timer of its own: it starts, for a whole period.
    pub(super) fn start_timer_of(&mut self, thread: u8, period: Timer) {
        const { assert!(MAX_THREADS == 2, "of two timers the second one is that of the other thread") };
        if self.due_in() == Timer::OFF {
            self.set_first(thread);
        }
        let has_room = self.add_timer(period, false);
        debug_assert!(has_room, "there are fewer locks than timers");
    }

    /// Where each thread's lock has a timer of its own: it runs no more.
    pub(super) fn cancel_timer_of(&mut self, thread: u8) {
        if self.first() != thread {
            self.set_only_timer(self.due_in());
            return;
        }
        self.take_first_timer();
        self.set_first(if self.due_in() == Timer::OFF { 0 } else { 1 - thread });
    }
}
