//! A thread is interrupted while it waits, or while its request is in flight.
//!
//! The waiting thread gets an exception, and a request that is written is executed all the same. In Redisson that is all: the
//! process still awaits the answer, and removes a released hold from the renewal table when it has it or at the timeout
//! (docs/facts/redisson.md#an-interrupted-release-that-is-lost), and enters a grant that nobody knows of
//! (docs/facts/redisson.md#an-interrupted-acquire-is-renewed-for-ever). A waiter that is asleep leaves, or swallows the
//! interrupt (docs/facts/redisson.md#an-interrupted-wait).

use super::process::Process;
use super::requests::{InFlight, Verb};
use super::state::Phase;
use crate::config::calls::InterruptedAcquire;
use crate::notes::Happening;
use crate::time::Timer;

impl<Q: InFlight> Process<'_, Q> {
    /// A thread is interrupted in `lock()` or `unlock()`.
    pub(crate) fn interrupt(&mut self, thread: u8) -> Option<()> {
        let interrupted = self.thread(thread);
        // A thread that is granted hears first how many replicas have the grant.
        if !self.client.is_running() || !(interrupted.is_waiting() || interrupted.is_calling()) {
            return None;
        }
        let is_calling = interrupted.is_calling();
        if self.config.takes_several() {
            // Until it sleeps a request of its is under way, which is one step here.
            if interrupted.phase != Phase::Waiting {
                return None;
            }
            self.notes.happened(Happening::WaiterInterrupted);
            self.interrupt_part(thread);
            return Some(());
        }
        if interrupted.phase == Phase::Waiting {
            let anew = interrupted.sleeps_anew().filter(|_| self.config.swallows_interrupts());
            self.notes.happened(Happening::WaiterInterrupted);
            if let Some(ticks) = anew {
                self.sleep_anew(thread, ticks);
                return Some(());
            }
        }
        if !is_calling {
            self.leave(thread);
            return Some(());
        }
        let call = *self.call_of(thread)?;
        // A reply that the process has heard is on its way to the thread already.
        if call.is_heard {
            return None;
        }
        let must_undo =
            call.verb == Verb::Acquire && self.config.calls.interrupted_acquire == InterruptedAcquire::Release;
        self.cancel(thread, must_undo)?;
        self.notes.happened(Happening::OutcomeUnknown);
        match call.verb {
            Verb::Acquire | Verb::SetTtl | Verb::Renew | Verb::Undo => self.abandon_acquire(thread),
            Verb::Release => self.abandon_release(thread),
        }
        Some(())
    }

    /// A waiter swallows an interrupt, and sleeps for as long as it was told when it fell asleep, from now on.
    fn sleep_anew(&mut self, thread: u8, ticks: u8) {
        let ask_again_after = self.config.time.ask_again_after;
        let sleeping = self.thread_mut(thread);
        sleeping.swallow();
        sleeping.wake_in = match ticks {
            0 if ask_again_after == 1 => Timer::SOON,
            0 => Timer::ticks(ask_again_after),
            ticks => Timer::ticks(ticks),
        };
    }
}
