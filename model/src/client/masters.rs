//! A lock on several independent masters, as a client takes it and gives it back (the Redis documentation, "The Redlock Algorithm").
//!
//! A round: the client asks every master, hears each or gives up on it, and then counts. It holds if most of them have granted, and
//! something is left of the lease without the drift, counted from the moment at which it began to ask. Otherwise it releases on all of
//! them, also where it was not granted anything, and begins the next round after a while. Who holds releases on all of them, too.
//!
//! An extension is a round of a holder, whose code goes on meanwhile. If most masters have set the lease anew within the time of one,
//! the grant is valid from the moment at which the extension began. Otherwise nothing has changed: the grant is valid for as long as it was,
//! and the next extension begins after the usual period.
//!
//! Source: docs/facts/family.md#redlock-as-published. What was simplified: docs/locks/red.md.

use super::process::Process;
use super::requests::InFlight;
use super::state::{Phase, Thread};
use super::watchdog::Firing;
use crate::config::switches::ElapsedTime;
use crate::locks::master_calls::{MasterSet, MastersCall};
use crate::mutants::Mutant;
use crate::notes::Happening;
use crate::time::Timer;

/// The thread of a client: who takes a lock on several masters has one.
pub(crate) const ONLY_THREAD: u8 = 0;

/// What a client does that has asked every master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It has not asked every one yet.
    Asks,
    /// It holds, as far as it knows. `is_valid`: something was left of the lease.
    Believes {
        /// Whether something is left of the lease.
        is_valid: bool,
    },
    /// It gives back what it was granted.
    GivesBack,
    /// It holds for no longer than before: its extension does not count.
    HoldsOn,
}

impl Thread {
    /// Whether it asks several masters, or waits for the reply of one.
    pub const fn asks_masters(&self) -> bool {
        matches!(self.phase, Phase::AskingMasters | Phase::HearingMaster)
    }

    /// Whether it holds, and extends its lease on several masters.
    pub const fn extends(&self) -> bool {
        self.asks_masters() && self.has_hold()
    }
}

impl<Q: InFlight> Process<'_, Q> {
    /// A round begins.
    pub(crate) fn begin_round(&mut self) {
        let validity = Timer::ticks(self.config.validity_ticks());
        let asking = self.thread_mut(ONLY_THREAD);
        (asking.phase, asking.wake_in, asking.valid_left) = (Phase::AskingMasters, Timer::OFF, validity);
    }

    /// A holder's timer fires: it extends its lease. `None`: nobody may extend now; else whether that is earlier than it should be.
    pub(crate) fn begin_extension(&mut self, call: &mut MastersCall) -> Option<bool> {
        let holding = self.thread(ONLY_THREAD);
        if holding.phase != Phase::Idle || !holding.believes() {
            return None;
        }
        let Firing::Renews { is_too_soon, .. } = self.fire_renewal()? else { return None };
        (call.asked, call.granted) = (MasterSet::NONE, MasterSet::NONE);
        let validity = Timer::ticks(self.config.validity_ticks());
        let extending = self.thread_mut(ONLY_THREAD);
        (extending.phase, extending.wake_in) = (Phase::AskingMasters, validity);
        Some(is_too_soon)
    }

    /// Whether it may ask this master now, for the lock or for more time.
    pub(crate) fn can_ask_master(&self, call: MastersCall, master: u8) -> bool {
        let asking = self.thread(ONLY_THREAD);
        self.client.is_running()
            && asking.phase == Phase::AskingMasters
            // Code that is inside a call goes on until that ends.
            && !(asking.has_stopped() && self.config.extends_in_rounds())
            && !call.asked.has(master)
    }

    /// Whether it asks for more time, and not for the lock.
    pub(crate) fn extends(&self) -> bool {
        self.config.extends_in_rounds() && self.thread(ONLY_THREAD).extends()
    }

    /// It has asked a master, and waits for the reply.
    pub(crate) const fn wait_for_reply(&mut self) {
        self.thread_mut(ONLY_THREAD).phase = Phase::HearingMaster;
    }

    /// Whether it may hear this master now.
    pub(crate) fn can_hear_master(&self, call: MastersCall, master: u8) -> bool {
        self.client.is_running() && self.thread(ONLY_THREAD).phase == Phase::HearingMaster && call.unheard.has(master)
    }

    /// It has heard a master, or gives up on it.
    pub(crate) fn hear_of_master(&mut self, call: &mut MastersCall, master: u8, is_granted: bool) -> Decision {
        call.asked = call.asked.with(master);
        call.unheard = MasterSet::NONE;
        call.unheard_is_grant = false;
        if is_granted {
            call.granted = call.granted.with(master);
        }
        self.thread_mut(ONLY_THREAD).phase = Phase::AskingMasters;
        if call.asked.count() < self.config.cluster.groups {
            return Decision::Asks;
        }
        let needed = self.config.majority() - u8::from(self.config.is_mutated(Mutant::HalfIsMost));
        let extends = self.thread(ONLY_THREAD).has_hold();
        let asking = self.thread(ONLY_THREAD);
        let valid_left = if extends { asking.wake_in } else { asking.valid_left };
        let is_valid = !valid_left.is_due();
        let looks = self.config.protocol.elapsed_time == ElapsedTime::Checked
            && !self.config.is_mutated(Mutant::ElapsedTimeIgnored);
        let has_most = call.granted.count() >= needed && (is_valid || !looks);
        if extends {
            return self.end_extension(call, has_most.then_some(valid_left));
        }
        if has_most {
            self.have_majority(call);
            return Decision::Believes { is_valid };
        }
        if call.granted != MasterSet::NONE {
            self.notes.happened(Happening::PartsGivenUp);
        }
        self.notes.happened(Happening::Refused);
        let is_over = self.thread(ONLY_THREAD).wait_left.is_due();
        if is_over {
            self.notes.happened(Happening::LimitReached);
        }
        call.goes_on &= !is_over;
        self.begin_release_at_masters(call);
        Decision::GivesBack
    }

    fn have_majority(&mut self, call: &mut MastersCall) {
        (call.asked, call.granted, call.goes_on) = (MasterSet::NONE, MasterSet::NONE, false);
        let counts_on = self.config.looks_at_clock();
        let holding = self.thread_mut(ONLY_THREAD);
        holding.wait_left = Timer::OFF;
        if !counts_on {
            holding.valid_left = Timer::OFF;
        }
        self.notes.happened(Happening::Granted);
        self.believe(ONLY_THREAD, 0);
        self.register_hold(ONLY_THREAD);
    }

    /// Every master was asked to set the lease anew. `valid_left`: most of them have, and what is left of it.
    fn end_extension(&mut self, call: &mut MastersCall, valid_left: Option<Timer>) -> Decision {
        (call.asked, call.granted) = (MasterSet::NONE, MasterSet::NONE);
        let extending = self.thread_mut(ONLY_THREAD);
        (extending.phase, extending.wake_in) = (Phase::Idle, Timer::OFF);
        self.rearm(valid_left.is_some());
        let Some(valid_left) = valid_left else {
            self.notes.happened(Happening::RenewalWasMissed);
            return Decision::HoldsOn;
        };
        self.notes.happened(Happening::LeaseRenewed);
        if self.config.looks_at_clock() {
            self.extend_to(ONLY_THREAD, valid_left);
        }
        Decision::Believes { is_valid: !valid_left.is_due() }
    }

    /// It releases on every master: of an `unlock`, or of a round that has failed. From here on it counts on nothing.
    pub(crate) fn begin_release_at_masters(&mut self, call: &mut MastersCall) {
        call.asked = MasterSet::first(self.config.cluster.groups);
        (call.granted, call.unheard, call.unheard_is_grant) = (MasterSet::NONE, MasterSet::NONE, false);
        self.forget_every_renewal();
        self.client.renewal.set_only_timer(Timer::OFF);
        let releasing = self.thread_mut(ONLY_THREAD);
        let wait_left = releasing.wait_left;
        *releasing = Thread { phase: Phase::ReleasingMasters, wait_left, ..releasing.settled() };
    }

    /// Whether it may release on this master now.
    pub(crate) fn can_release_at(&self, call: MastersCall, master: u8) -> bool {
        self.client.is_running() && self.thread(ONLY_THREAD).phase == Phase::ReleasingMasters && call.asked.has(master)
    }

    /// It has released on a master, whatever that has answered. True: its call has ended.
    pub(crate) fn has_released_at(&mut self, call: &mut MastersCall, master: u8) -> bool {
        call.asked = call.asked.without(master);
        if !call.asked.is_empty() {
            return false;
        }
        if call.goes_on {
            call.goes_on = false;
            self.refuse(ONLY_THREAD, Timer::OFF);
            return false;
        }
        let ending = self.thread_mut(ONLY_THREAD);
        *ending = ending.settled();
        true
    }
}
