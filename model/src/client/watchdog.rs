//! What keeps a lock alive: the process's renewal table and its timers.
//!
//! The table counts holds per thread; the watchdog renews on behalf of the thread that registered first, whichever of them
//! the server takes for the holder. Source: docs/facts/redisson.md#renewal-timer, #renewal-entry; Redisson's `RenewalTask`,
//! `LockEntry`. One simplification, unless `renewal_timer` says that timers multiply: in 4.7 a timer that is left over from an
//! emptied table runs beside the new one until the process next has nothing to renew; with a shared timer there is one, with
//! the older phase, so fewer renewals (docs/facts/redisson.md#renewal-timers-multiply).

use super::process::Process;
use super::renewal_table::MAX_REGISTERED;
use super::requests::{InFlight, Slot};
use crate::config::switches::{
    FailedRenewal, MissedRenewal, PartialRelease, ReadRelease, RefusedLease, RememberedLease, RenewalTimer,
};
use crate::limits::{MAX_THREADS, REGISTRATIONS};
use crate::mutants::Mutant;
use crate::notes::{Capacity, Happening};
use crate::reply::Reply;
use crate::time::Timer;

/// What the watchdog does when its timer fires.
pub(crate) enum Firing {
    /// There is nothing to renew; the timer stops.
    Nothing,
    /// It renews on behalf of this thread. The timer is set again by the answer, or by the lack of one.
    Renews {
        /// The thread that registered first.
        thread: u8,
        /// Another timer has renewed less than a period ago.
        is_too_soon: bool,
    },
}

impl<Q: InFlight> Process<'_, Q> {
    /// The renewal timer fires, or the first of them.
    pub(crate) fn fire_renewal(&mut self) -> Option<Firing> {
        let is_running = self.client.is_running();
        let table = &mut self.client.renewal;
        if !is_running || !table.due_in().is_due() {
            return None;
        }
        let is_too_soon = table.has_renewed_lately();
        table.take_first_timer();
        if table.is_empty() {
            return Some(Firing::Nothing);
        }
        Some(Firing::Renews { thread: table.first(), is_too_soon })
    }

    /// What the reply to a renewal does to the table. However late it comes, it is about the thread that it was sent for:
    /// what that thread has released and acquired since is not considered (Redisson: `LockTask.renew`), unless the protocol
    /// says that a stale answer is ignored.
    pub(crate) fn hear_renewal(&mut self, thread: u8, reply: Reply, is_stale: bool) {
        if reply.is_refusal_to_write() || matches!(reply, Reply::WrongType | Reply::RenewalFailed) {
            // An error is no answer.
            return self.renewal_failed();
        }
        let is_missed = reply == Reply::RenewalMissed && !is_stale;
        if is_missed {
            self.miss(thread);
        }
        if !is_missed || self.config.protocol.missed_renewal != MissedRenewal::StopTimer {
            self.rearm(true);
        }
    }

    /// A renewal has no answer.
    pub(crate) fn renewal_failed(&mut self) {
        match self.config.protocol.failed_renewal {
            FailedRenewal::Retry | FailedRenewal::Release => self.rearm(false),
            // What was forgotten keeps no other timer from firing.
            FailedRenewal::Forget if self.adds_timers() => self.forget_every_renewal(),
            FailedRenewal::Forget => {
                self.forget_every_renewal();
                self.client.renewal.set_only_timer(Timer::OFF);
            }
        }
    }

    /// The next renewal is one period after the answer to this one. With a timer per lock, the timer ends with its entry,
    /// and already runs if the lock was acquired anew meanwhile. One of several ends if nothing is left to renew
    /// (Redisson's `RenewalTask.schedule`). `has_renewed`: a renewal was sent and answered.
    pub(super) fn rearm(&mut self, has_renewed: bool) {
        let (period, adds_timers) = (self.period(), self.adds_timers());
        let is_shared = self.config.protocol.renewal_timer == RenewalTimer::Shared;
        let table = &mut self.client.renewal;
        let is_gone = !is_shared && table.is_empty();
        if !is_gone && (adds_timers || table.due_in() == Timer::OFF) {
            let has_room = table.add_timer(period, has_renewed);
            debug_assert!(has_room, "it takes the place of the timer that has fired");
        }
    }

    /// Whether one more timer starts whenever there is something to renew again.
    fn adds_timers(&self) -> bool {
        match self.config.protocol.renewal_timer {
            RenewalTimer::Multiplying => true,
            RenewalTimer::Shared => self.config.is_mutated(Mutant::TimersMultiply),
            RenewalTimer::PerLock => false,
        }
    }

    /// A thread holds once more, as it has just heard. A call that names its own lease is not renewed, and its release ends the
    /// renewal of the hold around it (docs/facts/redisson.md#a-lease-for-each-call).
    pub(crate) fn register_grant(&mut self, client: u8, thread: u8) {
        let outer_holds = self.thread(thread).holds().saturating_sub(1);
        if self.config.names_lease(client, thread, outer_holds) {
            self.remember_lease();
        } else {
            self.register_hold(thread);
        }
    }

    /// A call that names its lease was granted: the lock object remembers it, if threads share one
    /// (docs/facts/redisson.md#explicit-lease).
    pub(super) fn remember_lease(&mut self) {
        if self.config.shares_lock_objects() {
            self.client.renewal.set_remembers_lease(true);
        }
    }

    /// A call that names its lease asks: a lock object that asks by a lease of its own has that one now, whatever is answered
    /// (docs/facts/family.md#the-lease-of-a-refused-ask).
    pub(crate) fn note_asked_lease(&mut self) {
        let remembers = self.config.protocol.refused_lease == RefusedLease::Remembered;
        if remembers && self.config.lock.facts().asks_by_object_lease() {
            self.remember_lease();
        }
    }

    /// What a lock object forgets with the answer to a release, or without one (`None`). One that leaves a hold makes it forget
    /// nothing.
    pub(crate) fn forget_lease(&mut self, reply: Option<Reply>) {
        let is_partial = reply == Some(Reply::StillHeld);
        if !is_partial && self.config.protocol.remembered_lease == RememberedLease::UntilReleased {
            self.client.renewal.set_remembers_lease(false);
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
        let (period, adds_timers) = (self.period(), self.adds_timers());
        let timers = usize::from(self.config.room_for(Capacity::RenewalTimers));
        let room = MAX_REGISTERED + self.config.room_for(Capacity::Registrations).saturating_sub(REGISTRATIONS);
        let has_timer_per_thread = self.config.has_timer_per_thread();
        let is_apart = self.config.renews_threads_apart();
        let table = &mut self.client.renewal;
        if has_timer_per_thread {
            // One that is left over from an emptied table keeps its phase, unless it has ended with that.
            if table.due_in_of(thread) == Timer::OFF {
                table.start_timer_of(thread, period);
            }
        } else if table.is_empty() {
            if !is_apart {
                table.set_first(thread);
            }
            if adds_timers {
                if table.timers() == timers || !table.add_timer(period, false) {
                    self.notes.exceeded(Capacity::RenewalTimers);
                }
            } else if table.due_in() == Timer::OFF && !is_renewing {
                // A timer left over from an emptied table keeps its phase.
                table.set_only_timer(period);
            }
        }
        let count = table.count(thread);
        if count < room {
            table.set_count(thread, count + 1);
        } else {
            // Grants that are registered after their release was: the table may count more and more holds.
            self.notes.exceeded(Capacity::Registrations);
        }
    }

    /// A release was answered, or will not be (`None`), and the table hears of it. `is_late`: its caller was interrupted, and has
    /// dropped the hold already.
    pub(crate) fn hear_release_in_table(&mut self, thread: u8, reply: Option<Reply>, is_late: bool) {
        self.forget_lease(reply);
        let holds = self.thread(thread).holds() + u8::from(is_late);
        let is_last = match reply {
            // The exception unwinds every `unlock()` of the thread.
            Some(reply) if !is_late && !matches!(reply, Reply::Released | Reply::StillHeld) => holds > 0,
            _ => holds == 1,
        };
        if is_last || self.config.protocol.partial_release == PartialRelease::Lower {
            self.unregister_release(thread);
        }
    }

    /// A release takes its hold out of the table; that of a reader may take one of the writer with it.
    pub(super) fn unregister_release(&mut self, thread: u8) {
        self.unregister_hold(thread);
        if self.config.shares() && thread > 0 && self.config.protocol.read_release == ReadRelease::EndsWriteRenewal {
            self.unregister_hold(0);
        }
    }

    /// There is one hold less to renew.
    pub(crate) fn unregister_hold(&mut self, thread: u8) {
        let left = self.client.renewal.count(thread).saturating_sub(1);
        self.set_count(thread, left);
    }

    /// A thread has nothing left to renew.
    pub(super) fn forget_renewals(&mut self, thread: u8) {
        self.set_count(thread, 0);
    }

    /// The lock is to be released by force: of one with readers that is the write lock, and what the client reads is renewed on
    /// (docs/facts/family.md#read-write).
    pub(crate) fn forget_forced(&mut self) {
        if self.config.shares() {
            self.forget_renewals(0);
        } else {
            self.forget_every_renewal();
        }
    }

    /// No thread has anything left to renew.
    pub(crate) fn forget_every_renewal(&mut self) {
        for thread in 0..MAX_THREADS {
            self.set_count(thread, 0);
        }
    }

    fn set_count(&mut self, thread: u8, count: u8) {
        let (is_apart, has_timer_per_thread) = (self.config.renews_threads_apart(), self.config.has_timer_per_thread());
        let ends_with_entry = self.config.protocol.renewal_timer == RenewalTimer::PerLock;
        let table = &mut self.client.renewal;
        table.set_count(thread, count);
        if is_apart {
            if count == 0 && has_timer_per_thread && ends_with_entry {
                table.cancel_timer_of(thread);
            }
            return;
        }
        if count == 0 && table.first() == thread {
            // With two threads the other one, if it has holds, is the first now.
            table.set_first(if table.is_empty() { 0 } else { 1 - thread });
        }
        if table.is_empty() && self.config.protocol.renewal_timer == RenewalTimer::PerLock {
            table.set_only_timer(Timer::OFF);
        }
    }

    /// The server says that this thread does not hold the lock any more.
    pub(super) fn miss(&mut self, thread: u8) {
        match self.config.protocol.missed_renewal {
            MissedRenewal::LowerFirst => self.unregister_hold(thread),
            // It was not set again. If the lock was acquired anew meanwhile, the timer of that entry continues.
            MissedRenewal::StopTimer => {}
            MissedRenewal::Forget if self.config.renews_threads_apart() => self.forget_renewals(thread),
            MissedRenewal::Forget => {
                self.forget_every_renewal();
                // docs/facts/redisson.md#explicit-lease
                self.forget_lease(None);
            }
            MissedRenewal::TellHolder => {
                self.forget_renewals(thread);
                let holding = self.thread_mut(thread);
                if holding.has_hold() {
                    // A thread that was re-entering continues to wait: it may yet be granted, as a first hold.
                    holding.set_holds(0);
                    (holding.token, holding.hold_left) = (0, Timer::OFF);
                    holding.forget_limit();
                    self.notes.happened(Happening::HolderTold);
                }
            }
        }
    }

    pub(super) fn period(&self) -> Timer {
        if self.config.is_mutated(Mutant::WatchdogTooSlow) {
            return Timer::ticks(self.config.time.lease + 1);
        }
        Timer::optional(self.config.time.renew_every)
    }
}
