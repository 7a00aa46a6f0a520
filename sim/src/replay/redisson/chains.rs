//! Renewal timers that multiply: since 3.44 a client starts a timer whenever its renewal table goes from empty to filled, also
//! while an earlier one runs, and none ends before it finds the table empty (docs/facts/redisson.md#renewal-timers-multiply).
//! Unless a scenario says that they do (`renewal_timer = "multiplying"`), the model has one timer. So Redisson renews more often,
//! and this says when it may. The two sides of a lock with
//! readers are renewed by two tables, each with its timers.

use lockstep_model::Config;
use lockstep_model::client::Slot;
use lockstep_model::config::RenewalTimer;
use lockstep_model::trace::ClientState;

/// The timers of one renewal table of a client.
#[derive(Clone, Debug)]
pub struct RenewalChains {
    chains: Vec<RenewalChain>,
    /// The thread that the table is about, where each has one of its own.
    thread: Option<usize>,
    /// The timer that the model has, where each thread has one.
    of_model: Option<ModelTimer>,
    /// The tick that it is, from 0.
    now: u32,
    /// Whether the watchdog has renewed at this instant: then a timer may have fired before the table became empty.
    has_renewed: bool,
    /// When its version starts one, and ends it.
    timer: RenewalTimer,
    /// Whether the model's timer runs on after a renewal whose answer has left nothing: in Redisson it has ended.
    is_left_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct ModelTimer {
    /// The tick at which it fires.
    due: u32,
    /// The step in which it was set: of two that are due the earlier one fires first.
    set_in: usize,
}

#[derive(Clone, Copy, Debug)]
struct RenewalChain {
    /// The tick at which it fires next.
    due: u32,
    /// The tick at which it has fired last.
    fired_at: Option<u32>,
    /// Whether it is the one that the model has.
    is_of_model: bool,
}

impl RenewalChains {
    /// Those of each table of a client with these settings: none runs yet.
    pub fn of(own: &Config) -> Vec<Self> {
        let of_table = |thread: Option<usize>| Self {
            chains: Vec::new(),
            thread,
            of_model: None,
            now: 0,
            has_renewed: false,
            timer: own.protocol.renewal_timer,
            is_left_over: false,
        };
        if own.shares() {
            (0..own.clients.threads.into()).map(Some).map(of_table).collect()
        } else {
            vec![of_table(None)]
        }
    }

    /// Whether the model has every timer itself.
    pub fn are_of_model(&self) -> bool {
        self.timer == RenewalTimer::Multiplying
    }

    /// A step was done, in which no time passed. `period`: the watchdog's, in ticks.
    pub fn follow(&mut self, (before, after): (&ClientState, &ClientState), period: u8, step: usize) {
        // Up to 3.43 a timer ends as soon as its lock has no entry any more. While its renewal is under way it has none, and the answer
        // starts it again if there is an entry by then.
        let is_renewing = after.requests.iter().any(|request| request.slot == Slot::Renewal);
        if self.timer == RenewalTimer::PerLock && self.is_empty(after) && !is_renewing {
            // One that is due may have fired before.
            let now = self.now;
            self.chains.retain(|chain| chain.due <= now);
            self.of_model = None;
        }
        if !self.are_of_model() && self.is_empty(before) && !self.is_empty(after) {
            // A timer that is left over from an emptied table is the model's.
            let is_of_model = self.chains.iter().all(|chain| !chain.is_of_model);
            let due = self.now + u32::from(period);
            self.chains.push(RenewalChain { due, fired_at: None, is_of_model });
            self.of_model = self.of_model.or(Some(ModelTimer { due, set_in: step }));
        }
    }

    /// The model's timer has fired, and the watchdog has renewed, or the timer has ended. In Redisson it may still be to fire at
    /// this instant, and goes on if the table is filled until then.
    pub fn fired(&mut self, has_renewed: bool) {
        self.has_renewed |= has_renewed;
        self.of_model = None;
        if !has_renewed {
            self.chains.iter_mut().for_each(|chain| chain.is_of_model = false);
            self.is_left_over = false;
        }
    }

    /// A renewal was answered, and the table may be empty by that, or since it was sent: then its timer has ended in Redisson, and
    /// runs on in the model.
    pub fn answered(&mut self, after: &ClientState, period: u8, step: usize) {
        // Where each thread has a timer, the model's ends as well.
        let is_apart = self.thread.is_some();
        if is_apart && !self.is_empty(after) {
            self.of_model = Some(ModelTimer { due: self.now + u32::from(period), set_in: step });
        }
        if !self.are_of_model() && self.is_empty(after) && (is_apart || after.renewal_due_in.is_some()) {
            let now = self.now;
            self.chains.retain(|chain| !chain.is_of_model || chain.due > now);
            self.is_left_over = !is_apart;
        }
    }

    /// Whether the model renews by a timer that has ended in Redisson.
    pub fn are_left_over(&self) -> bool {
        self.is_left_over
    }

    /// A tick passes: every timer that is due has fired.
    pub fn pass_tick(&mut self, client: &ClientState, period: u8) {
        let goes_on = !self.is_empty(client) || self.has_renewed;
        let (now, period) = (self.now, u32::from(period));
        self.chains.retain(|chain| chain.due > now || goes_on);
        for chain in self.chains.iter_mut().filter(|chain| chain.due <= now) {
            (chain.due, chain.fired_at) = (now + period, Some(now));
        }
        self.now += 1;
        self.has_renewed = false;
    }

    /// Whether a timer fires now that the model does not have, or has fired since the last tick. It is late by up to a tenth of a
    /// second, and so is each of its next firings: it may find what was put into the table after the instant at which it was due, and
    /// renew after that instant.
    pub fn has_extra_due(&self) -> bool {
        let is_late = |at: u32| at + 1 == self.now;
        let is_now = |chain: &RenewalChain| chain.due <= self.now || chain.fired_at.is_some_and(is_late);
        self.chains.iter().any(|chain| !chain.is_of_model && is_now(chain))
    }

    /// Whether the model's timer is due.
    pub fn is_model_due(&self, client: &ClientState) -> bool {
        match self.thread {
            None => client.renewal_due_in == Some(0),
            Some(_) => self.of_model.is_some_and(|timer| timer.due <= self.now),
        }
    }

    /// The step in which that was set, where each thread has one.
    pub fn model_set_in(&self) -> Option<usize> {
        self.of_model.map(|timer| timer.set_in)
    }

    /// Whether there is nothing to renew.
    pub fn is_empty(&self, client: &ClientState) -> bool {
        match self.thread {
            None => client.renewal_counts.iter().all(|count| *count == 0),
            Some(thread) => client.renewal_counts[thread] == 0,
        }
    }
}
