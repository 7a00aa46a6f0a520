//! How a client waits for the lock of one of several masters: a call that waits and is refused there subscribes, asks again, and sleeps, as
//! that of any lock does (`wait_loop`), for its share of the wait. It waits for one master at a time, and leaves its channel when it turns to
//! the next one.
//!
//! What it is told by an error, or does not reach, has failed at once, as in its first ask.
//!
//! Source: docs/facts/family.md#redlock.

use super::masters::ONLY_THREAD;
use super::process::Process;
use super::requests::InFlight;
use super::state::Phase;
use crate::locks::master_calls::{MasterSet, MastersCall};
use crate::time::Timer;

impl<Q: InFlight> Process<'_, Q> {
    /// A client asks a master: how long it may wait there counts from now.
    pub(crate) fn count_wait_at_master(&mut self, call: &MastersCall) {
        let share = self.config.wait_at_master(call.is_later).filter(|_| call.goes_on);
        let asking = self.thread_mut(ONLY_THREAD);
        asking.wake_in = Timer::OFF;
        asking.wait_left = match (share, call.left.left()) {
            (Some(share), Some(left)) => Timer::ticks(share.min(left)),
            (share, _) => Timer::optional(share),
        };
    }

    /// Somebody else has the lock at this master: a call that waits begins to wait there. False: it does not wait.
    pub(crate) fn begin_wait_at_master(&mut self, call: &mut MastersCall, master: u8) -> bool {
        if !call.goes_on {
            return false;
        }
        (call.unheard, call.unheard_is_busy) = (MasterSet::NONE, false);
        call.waits_at = MasterSet::NONE.with(master);
        self.thread_mut(ONLY_THREAD).phase = Phase::Refused;
        true
    }

    /// Asked again, the master has refused it once more.
    pub(crate) fn refuse_at_master(&mut self, remaining: Timer) {
        self.go_on_counting(|process| process.refuse(ONLY_THREAD, remaining));
    }

    /// It has the lock of this master, or has it not, and waits for that no more.
    pub(super) fn leave_master(&mut self, call: &mut MastersCall) {
        call.waits_at = MasterSet::NONE;
        self.go_on_counting(|process| process.leave(ONLY_THREAD));
    }

    /// By a rule of a call of one lock, which ends here and forgets what it has counted. This one goes on, and its caller counts from where the
    /// whole of it began: it sees one call, and no rounds or masters of that.
    fn go_on_counting(&mut self, rule: impl FnOnce(&mut Self)) {
        let counted = self.thread(ONLY_THREAD).valid_left;
        rule(self);
        self.thread_mut(ONLY_THREAD).valid_left = counted;
    }
}
