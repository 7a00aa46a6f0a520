//! Facts about a scenario that follow from its sections.

use super::calls::Resend;
use super::profiles::{ValueRule, WaitRule};
use super::sections::{Bound, Config, Fsync, NetworkMode, PromoteRule, Ttls};
use crate::limits::{EFFECTS_UNDER_WAY, MAX_EFFECTS_UNDER_WAY, RECEIPTS};
use crate::locks::contract::{LockContext, LockRequest};
use crate::locks::holder::Holder;
use crate::mutants::{ActiveMutant, Mutant};
use crate::notes::Capacity;

impl Config {
    /// Nodes of the group: the first master and its replicas.
    pub const fn nodes(&self) -> u8 {
        1 + self.cluster.replicas
    }

    /// Whether some refused client waits, instead of asking once.
    pub fn waits(&self) -> bool {
        self.some_client(|own| own.time.wait_limit != Some(0))
    }

    /// Whether a replica can be promoted because the master is dead, cut off or stands still.
    pub const fn can_promote(&self) -> bool {
        let is_lost = self.faults.crash_node > 0 || self.faults.cut_link > 0 || self.faults.pause_node > 0;
        self.cluster.replicas > 0 && is_lost
    }

    /// Whether a master can be replaced while it runs, and become a replica later.
    pub const fn can_demote(&self) -> bool {
        let is_left = self.faults.hand_over > 0 && !matches!(self.cluster.promote, PromoteRule::Coordinated);
        let is_away = self.faults.cut_link > 0 || self.faults.pause_node > 0;
        self.can_fail_over() && (is_away || self.can_restart() || is_left)
    }

    /// Whether a failover can happen.
    pub const fn can_fail_over(&self) -> bool {
        self.can_promote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether `WAIT` may find fewer replicas than it asks for.
    pub const fn can_time_out_waiting(&self) -> bool {
        let may_lack = !self.cluster.lag.is_zero() || self.faults.crash_node > 0 || self.can_fail_over();
        self.cluster.wait_for > 0 && may_lack
    }

    /// Whether `WAIT` may find too few replicas for the client's rule.
    pub const fn can_lack_replicas(&self) -> bool {
        self.can_time_out_waiting() && !matches!(self.protocol.wait_rule, WaitRule::Ignored)
    }

    /// Whether a failover compares how much of the data each replica has.
    pub(crate) const fn ranks_replicas(&self) -> bool {
        matches!(self.cluster.promote, PromoteRule::MostData)
    }

    /// Whether an effect takes the place of the one before it that a replica has not applied yet. Nobody can tell: what a
    /// replica stores is seen when it is promoted and not before, and every state between the two is seen where the replica
    /// has applied the older effect before the newer one was written. Not so where a TTL counts from its arrival
    /// (an effect that arrives late is another one), and where both `WAIT` and a choice by data count effects.
    pub const fn merges_effects(&self) -> bool {
        matches!(self.cluster.ttls, Ttls::Absolute) && !(self.ranks_replicas() && self.cluster.wait_for > 0)
    }

    /// Whether there are nodes whose data may become unreadable, and leaving these out changes nothing else. How long a queue
    /// is tells time where the lag is bounded, and tells effects apart where they are not merged; a disk that differs from
    /// memory holds time back.
    pub(crate) const fn may_leave_out_data(&self) -> bool {
        let is_prompt = matches!(self.cluster.lag, Bound::Ticks(0)) && self.faults.pause_node == 0;
        let is_timeless = is_prompt || matches!(self.cluster.lag, Bound::Any);
        self.nodes() > 1 && is_timeless && self.merges_effects() && !self.has_late_disk()
    }

    /// Whether exchanging the names of two nodes changes nothing that can happen: not where the first of several candidates
    /// is promoted.
    pub const fn nodes_are_alike(&self) -> bool {
        self.nodes() > 1 && !matches!(self.cluster.promote, PromoteRule::Priority)
    }

    /// Whether it matters which links a master considers open.
    pub(crate) const fn has_half_open_links(&self) -> bool {
        self.cluster.wait_for > 0 && (self.faults.cut_link > 0 || self.faults.pause_node > 0)
    }

    /// Whether a master that stood still goes on by what it knew of its replicas before, until it counts them anew
    /// (docs/facts/redis.md#a-server-that-stands-still).
    pub const fn counts_replicas_late(&self) -> bool {
        self.faults.pause_node > 0 && (self.cluster.min_replicas > 0 || self.cluster.wait_for > 0)
    }

    /// Whether a dead node may restart.
    pub const fn can_restart(&self) -> bool {
        self.faults.restart_node > 0
    }

    /// Whether the clocks of nodes may differ.
    pub(crate) const fn has_skew(&self) -> bool {
        self.faults.clock_jump > 0
    }

    /// Whether the data on a node's disk may differ from those in its memory.
    pub(crate) const fn has_late_disk(&self) -> bool {
        self.can_restart() && matches!(self.cluster.fsync, Fsync::EverySecond)
    }

    /// Silent for so long that a replica does not count any more; 0 where replicas are not counted.
    pub(crate) const fn silent_for_long(&self) -> u8 {
        if self.cluster.min_replicas == 0 { 0 } else { self.cluster.min_replicas_max_lag + 1 }
    }

    /// Whether request and answer are steps of their own.
    pub const fn is_split(&self) -> bool {
        matches!(self.network.mode, NetworkMode::Split)
    }

    /// Whether an answer can miss its caller's timeout. The answer to a paused client waits until it runs, its timeout does
    /// not.
    pub fn can_miss_answers(&self) -> bool {
        let faults = &self.faults;
        self.is_split()
            && (faults.lose_request > 0
                || faults.lose_reply > 0
                || faults.pause_client > 0
                || faults.crash_node > 0
                || faults.pause_node > 0
                || self.can_lose_waits()
                || self.some_client(|own| own.network.can_outlast(own.calls)))
    }

    /// Whether a `WAIT` can lose its connection: when the node dies, or is demoted.
    const fn can_lose_waits(&self) -> bool {
        self.cluster.wait_for > 0 && self.can_fail_over()
    }

    /// Whether a request can be abandoned: not if every one that can be lost is resent.
    pub fn can_abandon(&self) -> bool {
        let faults = &self.faults;
        let losses = u32::from(faults.lose_request)
            + u32::from(faults.lose_reply)
            + u32::from(faults.pause_client)
            + u32::from(faults.crash_node)
            + if self.can_lose_waits() { u32::from(faults.cut_link) + u32::from(faults.hand_over) } else { 0 };
        self.some_client(|own| {
            let is_late = own.network.can_outlast(own.calls);
            own.can_miss_answers()
                && (own.calls.resend != Resend::All
                    || is_late
                    || faults.pause_node > 0
                    || losses > u32::from(own.calls.retry_attempts))
        })
    }

    /// How many requests of one client can be under way that their callers have abandoned, as far as there is room for them.
    pub(crate) fn late_requests(&self) -> u8 {
        // Without delays a request is abandoned before it was executed only by an interrupt, or because its caller was
        // paused or its node died. While a node stands still, any number of them may be.
        let faults = &self.faults;
        let by_fault = faults.interrupt.saturating_add(faults.pause_client).saturating_add(faults.crash_node);
        let is_late = self.some_client(|own| own.network.can_outlast(own.calls));
        let most = if is_late || faults.pause_node > 0 { u8::MAX } else { by_fault.saturating_add(1) };
        most.min(self.room_for(Capacity::LateRequests))
    }

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
            None => capacity.usual(),
        }
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

    /// Whether it is remembered which of a holder's acquires a grant, a request or a hold is of. Elsewhere the number is 0: it
    /// could not be told.
    ///
    /// A holder asks again only when it has no hold. So a release, a renewal or a grant of an *earlier* acquire can meet a
    /// later one only
    /// - on its way, where requests are steps of their own;
    /// - in the data of a second node that becomes the master: the replica may not have heard of the release, nor of the new
    ///   grant, and its late effects are of either;
    /// - in the data that a node finds after a restart.
    ///
    /// With one node, requests in one step and no disk, what the node stores for a holder is always of its last acquire; nor
    /// does a thread without a hold find anything of its own there. And if each client acquires once, all values of a holder
    /// are one, unless a thread calls release without a hold: it then has no value to send.
    pub fn has_values(&self) -> bool {
        let is_unique = self.lock.facts().value.is_there() && matches!(self.protocol.value, ValueRule::PerAcquire);
        let finds_data = self.can_restart() && !matches!(self.cluster.fsync, Fsync::None);
        let is_late = self.is_split() || self.can_fail_over() || finds_data;
        let asks_again = self.some_client(|own| !matches!(own.clients.acquires, Some(..=1)));
        let has_several = asks_again || self.faults.foreign_release > 0;
        is_unique && is_late && has_several
    }

    /// Whether it needs the roomiest layout. Only replicas have effects under way, and only a split network has receipts.
    pub fn is_roomy(&self) -> bool {
        let many_effects = self.room_for(Capacity::Effects) > EFFECTS_UNDER_WAY;
        let many_receipts = self.room_for(Capacity::Receipts) > RECEIPTS;
        (many_effects && self.cluster.replicas > 0) || (many_receipts && self.is_split())
    }

    /// Whether some client's release leaves a receipt that could ever be read: where request and answer are one step, none
    /// can.
    pub fn leaves_receipts(&self) -> bool {
        self.is_split() && self.lock.facts().receipts.is_there() && self.some_client(|own| own.protocol.receipts)
    }

    /// What the scripts of the lock are given besides their keys, where nobody asks: time passes, and sets no lease.
    pub(crate) const fn lock_context(&self) -> LockContext {
        LockContext { lease_ticks: self.time.lease, mutant: self.active_mutant() }
    }

    /// The same for a request, which brings the lease of the client that makes it.
    pub(crate) fn lock_context_for(&self, request: LockRequest) -> LockContext {
        let caller = request.caller().map(Holder::client);
        LockContext {
            lease_ticks: caller.map_or(self.time.lease, |client| self.lease_of(client)),
            ..self.lock_context()
        }
    }

    /// The rule that is wrong on purpose.
    #[cfg(feature = "mutants")]
    const fn active_mutant(&self) -> ActiveMutant {
        ActiveMutant::new(self.mutant)
    }

    /// The rule that is wrong on purpose: none, in a build without mutants.
    #[cfg(not(feature = "mutants"))]
    #[expect(clippy::unused_self, reason = "the call sites are the same in both builds")]
    const fn active_mutant(&self) -> ActiveMutant {
        ActiveMutant {}
    }

    /// Whether the rule of this mutant is the one that is wrong.
    pub(crate) fn is_mutated(&self, mutant: Mutant) -> bool {
        self.active_mutant().is(mutant)
    }

    /// The same world with one wrong rule.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub const fn with_mutant(self, mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..self }
    }
}
