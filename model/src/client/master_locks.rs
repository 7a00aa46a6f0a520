//! A lock on several masters, each of which stores a lock of its own, as a client of Redisson takes it and gives it back
//! (`RedissonRedLock`; `RedissonMultiLock` of locks of several clients).
//!
//! A call asks each master once, and hears each before it asks the next one. As many as it does not need may fail: all but a majority, or
//! none. With one more failure it gives back what it was granted, whatever that is answered, and its caller holds no more than before. One
//! that fails when most have granted ends the asking, and its caller holds. A call that names its lease then sets that on each master that
//! has granted, whoever has the lock there by then; an error there ends the call, and what it was granted stays. Nobody looks at how long that
//! took.
//!
//! A call that waits asks each master for its share of the wait, and is refused there when that is over (`master_waits`). It looks at its
//! clock when it has heard a master, but not after the failure that ends the asking, and only to see whether the whole wait is over: then it
//! gives back what it was granted, and ends. With one failure more than may be it gives that back as well, and begins anew with the first master, at once; without a limit, also when the
//! time of a round is over.
//!
//! A holder may enter again: a call asks the masters again, and each counts by itself, so that counts may differ. A release asks every
//! master, also one that never granted, and hides every error; where every master is needed, it ends with the first error. On each master a
//! watchdog of its own renews what that has granted: a part is an `RLock` of a client of its own.
//!
//! Source: docs/facts/family.md#redlock.

use super::masters::ONLY_THREAD;
use super::process::Process;
use super::requests::InFlight;
use super::state::Phase;
use crate::config::switches::PartialRelease;
use crate::locks::master_calls::{MasterSet, MastersCall};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::reply::Reply;
use crate::time::Timer;

/// Where a call is when a master has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocksDecision {
    /// It goes on.
    GoesOn,
    /// Its caller holds, as far as it knows.
    Believes,
    /// It has ended, and its caller holds no more than before.
    Ended,
}

impl<Q: InFlight> Process<'_, Q> {
    /// A call begins: nobody is asked yet.
    pub(crate) fn begin_asking_locks(&mut self, call: &mut MastersCall) {
        let left = Timer::optional(self.config.call_limit());
        *call = MastersCall { goes_on: self.config.waits(), left, ..call.ended() };
        let asking = self.thread_mut(ONLY_THREAD);
        // What it waits for a master begins with its ask of that one.
        (asking.phase, asking.wait_left) = (Phase::AskingMasters, Timer::OFF);
        // A caller that looks at its own clock counts from here: no lease of the call begins before. The library looks at none.
        self.count_from_ask(ONLY_THREAD);
    }

    /// It has heard a master, or does not reach it, or its wait there is over.
    pub(crate) fn hear_of_lock(&mut self, call: &mut MastersCall, master: u8, is_granted: bool) -> LocksDecision {
        call.asked = call.asked.with(master);
        (call.unheard, call.unheard_is_grant, call.unheard_is_busy) = (MasterSet::NONE, false, false);
        if is_granted {
            call.granted = call.granted.with(master);
        }
        if call.goes_on {
            self.leave_master(call);
        }
        self.thread_mut(ONLY_THREAD).phase = Phase::AskingMasters;
        let masters = self.config.cluster.groups;
        let needed = self.config.needed_masters() - u8::from(self.config.is_mutated(Mutant::HalfIsMost));
        let granted = call.granted.count();
        let failed = call.asked.count() - granted;
        if failed > masters - needed {
            return self.give_up_locks(call);
        }
        // A failure that is tolerated ends the asking only if most have granted, and no more than that; then nobody looks at the clock.
        let ends_asking = !is_granted && granted == needed;
        let looks = !ends_asking && !self.config.is_mutated(Mutant::NoLookBetweenMasters);
        if looks && self.is_out_of_time(call) {
            self.notes.happened(Happening::LimitReached);
            return self.give_up_locks(call);
        }
        if !ends_asking && call.asked.count() < masters {
            return LocksDecision::GoesOn;
        }
        if self.config.sets_lease_at_masters() {
            (call.asked, call.granted) = (call.granted, MasterSet::NONE);
            // From here on nobody looks at the clock.
            call.left = Timer::OFF;
            self.thread_mut(ONLY_THREAD).phase = Phase::SettingTtl;
            return LocksDecision::GoesOn;
        }
        self.have_locks(call)
    }

    /// Too many masters have failed: what the others have granted is given back.
    fn give_up_locks(&mut self, call: &mut MastersCall) -> LocksDecision {
        self.notes.happened(Happening::Refused);
        let keeps = self.config.is_mutated(Mutant::PartsKept);
        (call.asked, call.granted) = (if keeps { MasterSet::NONE } else { call.granted }, MasterSet::NONE);
        if call.asked.is_empty() {
            return self.end_attempt_at_locks(call);
        }
        self.notes.happened(Happening::PartsGivenUp);
        let giving = self.thread_mut(ONLY_THREAD);
        giving.phase = Phase::Undoing;
        if !call.goes_on {
            giving.forget_validity();
        }
        LocksDecision::GoesOn
    }

    /// Whether a call that waits finds its limit over, or the time of its round.
    fn is_out_of_time(&self, call: &MastersCall) -> bool {
        call.goes_on && call.left.is_due() && !self.config.is_mutated(Mutant::WaitLimitIgnored)
    }

    /// What a call was granted is given back: it ends, or begins anew with the first master. It does so at once, and as often as it likes; it
    /// need not do so before the next tick, since that could go on for ever.
    fn end_attempt_at_locks(&mut self, call: &mut MastersCall) -> LocksDecision {
        let is_over = self.is_out_of_time(call);
        if !call.goes_on || is_over && !self.config.takes_in_rounds() {
            *call = call.ended();
            self.leave(ONLY_THREAD);
            return LocksDecision::Ended;
        }
        if is_over {
            call.is_later = self.config.multiplies_round_lease();
            // Its wait is as long as its lease would be: longer than any run.
            call.left = if call.is_later { Timer::FAR } else { Timer::optional(self.config.call_limit()) };
        }
        (call.asked, call.granted) = (MasterSet::NONE, MasterSet::NONE);
        let asking = self.thread_mut(ONLY_THREAD);
        asking.phase = Phase::AskingMasters;
        asking.wake_in = if is_over { Timer::OFF } else { Timer::SOON };
        LocksDecision::GoesOn
    }

    fn have_locks(&mut self, call: &mut MastersCall) -> LocksDecision {
        *call = MastersCall { is_later: call.is_later, ..call.ended() };
        let is_entry = self.thread(ONLY_THREAD).has_hold();
        self.notes.happened(if is_entry { Happening::Reentered } else { Happening::Granted });
        self.believe(ONLY_THREAD, 0);
        LocksDecision::Believes
    }

    /// Whether it may set its lease on this master now.
    pub(crate) fn can_set_lease_at(&self, call: MastersCall, master: u8) -> bool {
        self.client.is_running() && self.thread(ONLY_THREAD).phase == Phase::SettingTtl && call.asked.has(master)
    }

    /// A master has set the lease, or found no lock: nobody looks at which. An error ends the call
    /// (docs/facts/family.md#the-lease-at-the-end-of-redlock).
    pub(crate) fn hear_lease_at(&mut self, call: &mut MastersCall, master: u8, reply: Reply) -> LocksDecision {
        if !matches!(reply, Reply::TtlSet | Reply::NoTtlSet) {
            *call = call.ended();
            self.leave(ONLY_THREAD);
            return LocksDecision::Ended;
        }
        call.asked = call.asked.without(master);
        if call.asked.is_empty() { self.have_locks(call) } else { LocksDecision::GoesOn }
    }

    /// Its caller calls `unlock()`, and counts on one hold less from here on.
    pub(crate) fn begin_release_of_locks(&mut self, call: &mut MastersCall) {
        call.asked = MasterSet::first(self.config.cluster.groups);
        let releasing = self.thread_mut(ONLY_THREAD);
        releasing.set_holds(releasing.holds() - 1);
        if releasing.holds() == 0 {
            *releasing = releasing.settled();
        }
        releasing.phase = Phase::ReleasingMasters;
    }

    /// Whether it may release on this master now: of a call of `unlock()`, or of one that gives back what it was granted.
    pub(crate) fn can_release_lock_at(&self, call: MastersCall, master: u8) -> bool {
        let releases = matches!(self.thread(ONLY_THREAD).phase, Phase::ReleasingMasters | Phase::Undoing);
        self.client.is_running() && releases && call.asked.has(master)
    }

    /// It has released on a master. What that has answered may end an `unlock()`, and nothing else.
    pub(crate) fn has_released_lock_at(&mut self, call: &mut MastersCall, master: u8, reply: Reply) -> LocksDecision {
        call.asked = call.asked.without(master);
        let is_unlock = self.thread(ONLY_THREAD).phase == Phase::ReleasingMasters;
        let has_failed = !matches!(reply, Reply::Released | Reply::StillHeld);
        if is_unlock && has_failed && self.config.stops_releasing_at_masters() {
            call.asked = MasterSet::NONE;
        }
        if !call.asked.is_empty() {
            return LocksDecision::GoesOn;
        }
        if !is_unlock {
            return self.end_attempt_at_locks(call);
        }
        self.leave(ONLY_THREAD);
        if !self.thread(ONLY_THREAD).has_hold() {
            call.is_later = false;
        }
        LocksDecision::Ended
    }

    /// The watchdog of the master that has answered a release hears of it, also of an error: a hold that is left keeps its entry, as the
    /// protocol says, and everything else takes one out (docs/facts/redisson.md#renewal-entry).
    pub(crate) fn hear_release_in_watchdog(&mut self, reply: Reply) {
        if reply != Reply::StillHeld || self.config.protocol.partial_release == PartialRelease::Lower {
            self.unregister_hold(ONLY_THREAD);
        }
    }
}
