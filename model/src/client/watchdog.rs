//! What keeps a lock alive: the process's renewal table and its timer.
//!
//! The table counts holds per thread; the watchdog renews on behalf of the thread that registered first, whichever of them
//! the server takes for the holder. Source: docs/facts/redisson.md#renewal-timer, #renewal-entry; Redisson's `RenewalTask`,
//! `LockEntry`. One simplification: in 4.7 a timer that is left over from an emptied table runs beside the new one until
//! the process next has nothing to renew; here there is one timer with the older phase, so fewer renewals.

use super::process::Process;
use super::requests::{InFlight, Slot};
use super::state::RenewalTable;
use crate::config::profiles::{FailedRenewal, MissedRenewal, RenewalTimer};
use crate::limits::{MAX_HOLDS, MAX_THREADS, REGISTRATIONS};
use crate::mutants::Mutant;
use crate::notes::{Capacity, Happening};
use crate::reply::Reply;
use crate::time::Timer;

/// Holds of one thread that the table counts: more than it ever has at once.
const MAX_REGISTERED: u8 = 2 * MAX_HOLDS;

/// What the watchdog does when its timer fires.
pub(crate) enum Firing {
    /// There is nothing to renew; the timer stops.
    Nothing,
    /// It renews on behalf of this thread. The timer is set again by the answer, or by the lack of one.
    Renews {
        /// The thread that registered first.
        thread: u8,
    },
}

impl<Q: InFlight> Process<'_, Q> {
    /// The renewal timer fires.
    pub(crate) fn fire_renewal(&mut self) -> Option<Firing> {
        if !self.client.is_running() || !self.client.renewal.due_in.is_due() {
            return None;
        }
        self.client.renewal.due_in = Timer::OFF;
        if self.client.renewal.is_empty() {
            return Some(Firing::Nothing);
        }
        Some(Firing::Renews { thread: self.client.renewal.first })
    }

    /// What the reply to a renewal does to the table. However late it comes, it is about the thread that it was sent for:
    /// what that thread has released and acquired since is not considered (Redisson: `LockTask.renew`), unless the protocol
    /// says that a stale answer is ignored.
    pub(crate) fn hear_renewal(&mut self, thread: u8, reply: Reply, is_stale: bool) {
        if matches!(reply, Reply::ReadOnly | Reply::NotEnoughReplicas | Reply::SaveFailed) {
            // An error is no answer.
            return self.renewal_failed();
        }
        let is_missed = reply == Reply::RenewalMissed && !is_stale;
        if !is_missed || self.config.protocol.missed_renewal != MissedRenewal::StopTimer {
            self.rearm();
        }
        if is_missed {
            self.miss(thread);
        }
    }

    /// A renewal has no answer.
    pub(crate) fn renewal_failed(&mut self) {
        match self.config.protocol.failed_renewal {
            FailedRenewal::Retry => self.rearm(),
            FailedRenewal::Forget => self.client.renewal = RenewalTable::EMPTY,
        }
    }

    /// The next renewal is one period after the answer to this one. With a timer per lock, the timer ends with its entry,
    /// and already runs if the lock was acquired anew meanwhile.
    fn rearm(&mut self) {
        let period = self.period();
        let table = &mut self.client.renewal;
        let is_gone = self.config.protocol.renewal_timer == RenewalTimer::PerLock && table.is_empty();
        if table.due_in == Timer::OFF && !is_gone {
            table.due_in = period;
        }
    }

    /// A thread holds once more, as it has just heard. A re-entry that names its own lease is not renewed, and its release ends
    /// the renewal of the hold around it (docs/facts/redisson.md#a-lease-for-each-call).
    pub(crate) fn register_grant(&mut self, thread: u8) {
        let is_nested = self.config.time.reentry_lease.is_some() && self.thread(thread).holds() > 1;
        if !is_nested {
            self.register_hold(thread);
        }
    }

    /// An acquire was answered: there is one hold more to renew.
    pub(crate) fn register_hold(&mut self, thread: u8) {
        if self.config.time.renew_every.is_none() || self.config.is_mutated(Mutant::HoldNotRegistered) {
            return;
        }
        // With a timer per lock it starts with the new entry; a shared one starts with the answer that it waits for.
        let is_renewing = self.config.protocol.renewal_timer == RenewalTimer::Shared
            && self.in_flight.requests().get(Slot::Renewal).is_some();
        let period = self.period();
        let room = MAX_REGISTERED + self.config.room_for(Capacity::Registrations).saturating_sub(REGISTRATIONS);
        let table = &mut self.client.renewal;
        if table.is_empty() {
            table.first = thread;
            // A timer left over from an emptied table keeps its phase.
            if table.due_in == Timer::OFF && !is_renewing {
                table.due_in = period;
            }
        }
        let count = &mut table.counts[usize::from(thread)];
        if *count < room {
            *count += 1;
        } else {
            // Grants that are registered after their release was: the table may count more and more holds.
            self.notes.exceeded(Capacity::Registrations);
        }
    }

    /// A release was answered: there is one hold less to renew.
    pub(crate) fn unregister_hold(&mut self, thread: u8) {
        let left = self.client.renewal.counts[usize::from(thread)].saturating_sub(1);
        self.set_count(thread, left);
    }

    /// A thread has nothing left to renew.
    pub(super) fn forget_renewals(&mut self, thread: u8) {
        self.set_count(thread, 0);
    }

    /// No thread has anything left to renew.
    pub(crate) fn forget_every_renewal(&mut self) {
        for thread in 0..MAX_THREADS {
            self.set_count(thread, 0);
        }
    }

    fn set_count(&mut self, thread: u8, count: u8) {
        let table = &mut self.client.renewal;
        table.counts[usize::from(thread)] = count;
        if count == 0 && table.first == thread {
            // With two threads the other one, if it has holds, is the first now.
            table.first = if table.is_empty() { 0 } else { 1 - thread };
        }
        if table.is_empty() && self.config.protocol.renewal_timer == RenewalTimer::PerLock {
            table.due_in = Timer::OFF;
        }
    }

    /// The server says that this thread does not hold the lock any more.
    fn miss(&mut self, thread: u8) {
        match self.config.protocol.missed_renewal {
            MissedRenewal::LowerFirst => self.unregister_hold(thread),
            // It was not set again. If the lock was acquired anew meanwhile, the timer of that entry continues.
            MissedRenewal::StopTimer => {}
            MissedRenewal::TellHolder => {
                self.forget_renewals(thread);
                let holding = self.thread_mut(thread);
                if holding.believes() {
                    // A thread that was re-entering continues to wait: it may yet be granted, as a first hold.
                    holding.set_holds(0);
                    (holding.token, holding.hold_left) = (0, Timer::OFF);
                    self.notes.happened(Happening::HolderTold);
                }
            }
        }
    }

    fn period(&self) -> Timer {
        if self.config.is_mutated(Mutant::WatchdogTooSlow) {
            return Timer::ticks(self.config.time.lease + 1);
        }
        Timer::optional(self.config.time.renew_every)
    }
}
