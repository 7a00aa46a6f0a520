//! A client that will never ask anything again.

use super::due::ProcessView;
use super::requests::{InFlight, Requests};
use super::state::{AcquiresLeft, Client, GroupView, Phase, WakeupEntry};
use crate::time::Timer;

impl<Q: InFlight> ProcessView<'_, Q> {
    /// Whether it has nothing left to do: no acquire, no hold, no request, no renewal and no message. It may still crash,
    /// and it may still release what is not its own.
    pub(crate) fn is_finished(&self) -> bool {
        let Client { acquires_left, renewal, wakeup, threads, .. } = self.client;
        self.client.is_alive()
            && *acquires_left == AcquiresLeft::NONE
            && threads.iter().all(|thread| matches!(thread.phase, Phase::Idle | Phase::Dead) && thread.holds() == 0)
            && renewal.is_at_rest()
            && *wakeup == WakeupEntry::NONE
            && {
                let requests = self.in_flight.requests();
                requests.owed == Requests::NONE.owed && requests.iter().next().is_none()
            }
    }
}

impl Client {
    /// A finished client, without what it does not need any more: which node it takes for the master, unless a failover waits
    /// for it to know that (`keeps_master`); until when it does not ask; what its lock object remembers; and whether a thread is
    /// dead or has nothing to do.
    pub(crate) fn leave_out_finished(&mut self, threads: u8, master: u8, keeps_master: bool) {
        self.views[0] = GroupView::of(if keeps_master { self.master() } else { master });
        self.asks_in = Timer::OFF;
        self.renewal.set_remembers_lease(false);
        for thread in self.threads.iter_mut().take(usize::from(threads)).filter(|thread| thread.phase == Phase::Dead) {
            *thread = thread.settled();
        }
    }
}
