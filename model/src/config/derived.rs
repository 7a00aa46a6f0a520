//! Facts about a scenario that follow from its sections.

use super::calls::Resend;
use super::sections::{Bound, Clients, Config, Fsync, NetworkMode, PromoteRule, Ttls};
use crate::limits::MAX_LATE_REQUESTS;
use crate::locks::contract::LockContext;
use crate::mutants::{ActiveMutant, Mutant};

impl Config {
    /// Nodes of the group: the first master and its replicas.
    pub const fn nodes(&self) -> u8 {
        1 + self.cluster.replicas
    }

    /// Whether a refused client waits, instead of asking once.
    pub fn waits(&self) -> bool {
        self.time.wait_limit != Some(0)
    }

    /// Whether a replica can be promoted because the master is dead or cut off.
    pub const fn can_promote(&self) -> bool {
        self.cluster.replicas > 0 && (self.faults.crash_node > 0 || self.faults.cut_link > 0)
    }

    /// Whether a master can be replaced while it runs, and become a replica later.
    pub const fn can_demote(&self) -> bool {
        let is_left = self.faults.hand_over > 0 && !matches!(self.cluster.promote, PromoteRule::Coordinated);
        self.can_fail_over() && (self.faults.cut_link > 0 || self.can_restart() || is_left)
    }

    /// Whether a failover can happen.
    pub const fn can_fail_over(&self) -> bool {
        self.can_promote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether `WAIT` may find too few replicas.
    pub const fn can_lack_replicas(&self) -> bool {
        let may_lack = !self.cluster.lag.is_zero() || self.faults.crash_node > 0 || self.can_fail_over();
        self.cluster.wait_for > 0 && may_lack
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
        let is_timeless = matches!(self.cluster.lag, Bound::Ticks(0) | Bound::Any);
        self.nodes() > 1 && is_timeless && self.merges_effects() && !self.has_late_disk()
    }

    /// Whether exchanging the names of two nodes changes nothing that can happen: not where the first of several candidates
    /// is promoted.
    pub const fn nodes_are_alike(&self) -> bool {
        !matches!(self.cluster.promote, PromoteRule::Priority)
    }

    /// Whether it matters which links a master considers open.
    pub(crate) const fn has_half_open_links(&self) -> bool {
        self.cluster.wait_for > 0 && self.faults.cut_link > 0
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
                || self.can_lose_waits()
                || self.network.can_outlast(self.calls))
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
        let is_late = self.network.can_outlast(self.calls);
        self.can_miss_answers()
            && (self.calls.resend != Resend::All || is_late || losses > u32::from(self.calls.retry_attempts))
    }

    /// How many requests of one client can be under way that their callers have abandoned, as far as there is room for them.
    pub(crate) fn late_requests(&self) -> u8 {
        // Without delays a request is abandoned before it was executed only by an interrupt, or because its caller was
        // paused or its node died.
        let faults = &self.faults;
        let by_fault = faults.interrupt.saturating_add(faults.pause_client).saturating_add(faults.crash_node);
        let most = if self.network.can_outlast(self.calls) { u8::MAX } else { by_fault.saturating_add(1) };
        most.min(MAX_LATE_REQUESTS)
    }

    /// Whether a release leaves a receipt that could ever be read: where request and answer are one step, none can.
    pub const fn leaves_receipts(&self) -> bool {
        self.is_split() && self.protocol.receipts && self.lock.facts().receipts.is_there()
    }

    /// Whether all clients are alike: exchanging the names of two clients then changes nothing that can happen. Symmetry
    /// reduction and per-client liveness rely on it.
    pub const fn clients_are_alike(&self) -> bool {
        // Every client has the same threads, limits, lease and protocol. A field that is given per client makes them
        // unlike: this pattern has to be visited with it.
        let Clients { count: _, threads: _, max_holds: _, acquires: _, hold_for_ever: _ } = self.clients;
        true
    }

    /// What the scripts of the lock are given besides their keys.
    pub(crate) const fn lock_context(&self) -> LockContext {
        LockContext { lease_ticks: self.time.lease, mutant: self.active_mutant() }
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
