//! A thread is interrupted while it waits, or while its request is in flight.
//!
//! The waiting thread gets an exception, and a request that is written is executed all the same. In Redisson that is all: the
//! process still awaits the answer, and removes a released hold from the renewal table when it has it or at the timeout
//! (docs/facts/redisson.md#an-interrupted-release-that-is-lost), and enters a grant that nobody knows of
//! (docs/facts/redisson.md#an-interrupted-acquire-is-renewed-for-ever).

use super::process::Process;
use super::requests::{InFlight, Verb};
use crate::config::calls::InterruptedAcquire;
use crate::notes::Happening;

impl<Q: InFlight> Process<'_, Q> {
    /// A thread is interrupted in `lock()` or `unlock()`.
    pub(crate) fn interrupt(&mut self, thread: u8) -> Option<()> {
        let interrupted = self.thread(thread);
        // A thread that is granted hears first how many replicas have the grant.
        if !self.client.is_running() || !(interrupted.is_waiting() || interrupted.is_calling()) {
            return None;
        }
        if !interrupted.is_calling() {
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
            Verb::Acquire | Verb::Renew | Verb::Undo => self.abandon_acquire(thread),
            Verb::Release => self.abandon_release(thread),
        }
        Some(())
    }
}
