//! How clients call the lock: which of them wait or queue, which calls name a lease, and which callers look at a clock.

use crate::config::clients::ClientSettings;
use crate::config::sections::{AfterRefusal, Config, InterruptedWait, LockObjects, StopsAt};
use crate::config::switches::InterruptedWaiter;
use crate::mutants::Mutant;

impl Config {
    /// How many clients are not there at the beginning, the last ones. One always is.
    pub fn late_clients(&self) -> u8 {
        self.faults.start_client.min(self.clients.count.saturating_sub(1))
    }

    /// Whether some refused client waits, instead of asking once.
    pub fn waits(&self) -> bool {
        self.some_client(|own| own.time.wait_limit != Some(0))
    }

    /// Whether such a client asks as one that waits: where each names values, also one that asks once and names its lease
    /// (docs/facts/family.md#multi-lock-over-values).
    pub fn asks_as_waiter(&self, own: ClientSettings) -> bool {
        own.wait_limit != Some(0) || self.names_values() && own.renew_every.is_none()
    }

    /// Whether a refused client waits for a limited time, in one round of its call or in all of it.
    pub(crate) fn waits_with_limit(&self) -> bool {
        self.call_limit().is_some()
    }

    /// Whether a waiter can leave when its limit is over, and not only when it is refused: one that spins does so where it can ask
    /// nobody, or must not ask yet, and so does one that takes several parts and does not wait.
    pub(crate) fn gives_up_asleep(&self) -> bool {
        let asks_in_vain = self.takes_several() && self.can_be_unreachable();
        let delays = self.cluster.lock_delay > 0 || self.cluster.start_delay > 0;
        let can_fail_to_ask = self.can_be_unreachable() || delays;
        self.waits_with_limit() && (!self.lock.facts().spins() || can_fail_to_ask) || asks_in_vain
    }

    /// Whether refused clients stand in a queue.
    pub fn queues(&self) -> bool {
        self.lock.facts().queue.is_there() && self.waits()
    }

    /// Whether the waiters of some client leave the queue when they are interrupted.
    pub fn leaves_queue_interrupted(&self) -> bool {
        self.queues() && self.some_client(|own| own.protocol.interrupted_waiter == InterruptedWaiter::LeavesQueue)
    }

    /// Whether a waiter that is asleep swallows an interrupt. A call with a wait limit leaves.
    pub(crate) fn swallows_interrupts(&self) -> bool {
        let swallows = self.clients.interrupted_wait == InterruptedWait::Swallow;
        let can_jump = self.faults.clock_jump > 0 || self.faults.client_clock_jump > 0;
        self.faults.interrupt > 0
            && !can_jump
            && self.time.wait_limit.is_none()
            && (swallows || self.is_mutated(Mutant::InterruptSwallowed))
    }

    /// Whether a call of this thread names its lease, if the thread has so many holds around it: nothing renews such a hold
    /// (docs/facts/redisson.md#a-lease-for-each-call).
    pub fn names_lease(&self, client: u8, thread: u8, outer_holds: u8) -> bool {
        self.names_each_lease(thread) || outer_holds > 0 && self.reentry_lease_of(client).is_some()
    }

    /// Whether each call of this thread names its lease, beside other threads under the watchdog.
    pub const fn names_each_lease(&self, thread: u8) -> bool {
        thread == 0 && self.time.named_lease.is_some()
    }

    /// Whether callers look at their own clock, and stop when their lease is over by it.
    pub fn looks_at_clock(&self) -> bool {
        self.clients.stops_at == StopsAt::Validity
    }

    /// Whether a thread whose call ends without the lock asks if it holds.
    pub fn asks_if_held(&self) -> bool {
        self.clients.after_refusal == AfterRefusal::AskIfHeld
    }

    /// Whether the threads of a client share one lock object.
    pub const fn shares_lock_objects(&self) -> bool {
        matches!(self.clients.lock_objects, LockObjects::Shared)
    }
}
