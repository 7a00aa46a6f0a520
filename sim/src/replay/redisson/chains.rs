//! Renewal timers that multiply: since 3.44 a client starts a timer whenever its renewal table goes from empty to filled, also
//! while an earlier one runs, and none ends before it finds the table empty (docs/facts/redisson.md#renewal-timers-multiply).
//! The model has one timer. So Redisson renews more often, and this says when it may.

use lockstep_model::trace::ClientState;

/// The timers of one client's watchdog.
#[derive(Clone, Debug, Default)]
pub struct RenewalChains {
    /// The ticks at which they fire next.
    due: Vec<u32>,
    /// The tick that it is, from 0.
    now: u32,
    /// Whether the watchdog has renewed at this instant: then a timer may have fired before the table became empty.
    has_renewed: bool,
}

impl RenewalChains {
    /// A step was done, in which no time passed. `period`: the watchdog's, in ticks.
    pub fn follow(&mut self, before: &ClientState, after: &ClientState, period: u8) {
        if is_empty(before) && !is_empty(after) {
            self.due.push(self.now + u32::from(period));
        }
    }

    /// The watchdog has renewed.
    pub const fn renewed(&mut self) {
        self.has_renewed = true;
    }

    /// A tick passes: every timer that is due has fired.
    pub fn pass_tick(&mut self, client: &ClientState, period: u8) {
        let goes_on = !is_empty(client) || self.has_renewed;
        let (now, period) = (self.now, u32::from(period));
        self.due.retain(|due| *due > now || goes_on);
        self.due.iter_mut().filter(|due| **due <= now).for_each(|due| *due = now + period);
        self.now += 1;
        self.has_renewed = false;
    }

    /// Whether a timer fires now.
    pub fn is_due(&self) -> bool {
        self.due.iter().any(|due| *due <= self.now)
    }
}

fn is_empty(client: &ClientState) -> bool {
    client.renewal_counts.iter().all(|count| *count == 0)
}
