//! How many effects, tokens and abandoned requests there can be, and for how many a world of this scenario has room.

use crate::config::sections::{Config, Ttls};
use crate::config::switches::FailedRenewal;
use crate::limits::{EFFECTS_UNDER_WAY, FEW_TOKENS, MAX_EFFECTS_UNDER_WAY, MAX_TOKENS, RECEIPTS};
use crate::notes::Capacity;

impl Config {
    /// For how many there is room in this scenario.
    #[inline]
    pub fn room_for(&self, capacity: Capacity) -> u8 {
        match self.bounds.of(capacity) {
            // There are numbers for the acquires in so many (`limits::MAX_VALUES`).
            _ if matches!(capacity, Capacity::Effects) && self.has_values() => {
                self.bounds.effects_under_way.unwrap_or(EFFECTS_UNDER_WAY).min(EFFECTS_UNDER_WAY)
            }
            Some(room) => room,
            None if matches!(capacity, Capacity::Effects) => self.effects_to_hold(),
            None if matches!(capacity, Capacity::Tokens) => self.tokens_to_hold(),
            None => capacity.usual(),
        }
    }

    /// How many tokens a counter may issue where the scenario does not say it. Where it may be set back, their numbers keep worlds
    /// apart; and if everybody may ask for ever they would grow without end, so that few are enough to say so soon.
    fn tokens_to_hold(&self) -> u8 {
        let is_endless = self.some_client(|own| own.clients.acquires.is_none());
        if is_endless && self.may_set_counter_back() { FEW_TOKENS } else { MAX_TOKENS }
    }

    /// How many effects may be under way to a replica where the scenario does not say it: all that there can be, where many
    /// stay apart and the roomiest layout holds them. Where a TTL counts from its arrival they are not merged; in a split
    /// network each acquire leads to a grant, a release and a receipt that is dropped, and a `WAIT` keeps apart what would be
    /// alike.
    fn effects_to_hold(&self) -> u8 {
        let stay_apart = matches!(self.cluster.ttls, Ttls::Relative) && self.cluster.wait_for > 0 && self.is_split();
        let mut of_each = (0..self.clients.count).map(|client| self.settings_of(client).acquires);
        let acquires = of_each.try_fold(0_u8, |all, acquires| Some(all.saturating_add(acquires?)));
        if let Some(acquires) = acquires.filter(|_| stay_apart) {
            let all = acquires.saturating_mul(3);
            if EFFECTS_UNDER_WAY < all && all <= MAX_EFFECTS_UNDER_WAY {
                return all;
            }
        }
        EFFECTS_UNDER_WAY
    }

    /// How many tokens can be remembered at once: by each thread, by its write, by the resource, and by requests in flight.
    pub fn most_tokens(&self) -> u32 {
        let threads = u32::from(self.clients.count) * u32::from(self.clients.threads);
        let late = u32::from(self.clients.count) * u32::from(self.late_requests());
        let requests = if self.is_split() { threads + late } else { 0 };
        2 * threads + 1 + requests
    }

    /// How many requests of one client can be under way that their callers have abandoned, as far as there is room for them.
    pub(crate) fn late_requests(&self) -> u8 {
        // Without delays a request is abandoned before it was executed only by an interrupt, or because its caller was
        // paused or its node died. While a node stands still or hands over, any number of them may be.
        let faults = &self.faults;
        let by_fault = faults.interrupt.saturating_add(faults.pause_client).saturating_add(faults.deaths_of_nodes());
        let is_late = self.some_client(|own| own.network.can_outlast(own.calls));
        // Each renewal that fails may be followed by a release that nobody waits for.
        let frees = self.some_client(|own| own.protocol.failed_renewal == FailedRenewal::Release);
        let is_any = is_late || frees || self.can_stall_writes();
        let most = if is_any { u8::MAX } else { by_fault.saturating_add(1) };
        most.min(self.room_for(Capacity::LateRequests))
    }

    /// Whether it needs the roomiest layout. Only replicas have effects under way, and only a split network has receipts.
    pub fn is_roomy(&self) -> bool {
        let many_effects = self.room_for(Capacity::Effects) > EFFECTS_UNDER_WAY;
        let many_receipts = self.room_for(Capacity::Receipts) > RECEIPTS;
        (many_effects && self.cluster.replicas > 0) || (many_receipts && self.is_split())
    }
}
