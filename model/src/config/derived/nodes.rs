//! What can happen to nodes and their replicas: failovers, links, clocks, and who counts whom.

use crate::config::sections::{Bound, Config, Discovery, PromoteRule, ReplicasLeave, Ttls};
use crate::config::switches::{FailedPart, NeededMasters, WaitAfter};
use crate::locks::facts::StoringMasters;
use crate::mutants::Mutant;

impl Config {
    /// Nodes of the group: the first master and its replicas.
    pub const fn nodes(&self) -> u8 {
        1 + self.cluster.replicas
    }

    /// Nodes of all groups. Those of one group follow each other.
    pub const fn all_nodes(&self) -> u8 {
        self.cluster.groups * self.nodes()
    }

    /// In which group a node is, and its number there.
    pub const fn place_of(&self, node: u8) -> (u8, u8) {
        (node / self.nodes(), node % self.nodes())
    }

    /// Whether clients ask several masters, each a group of its own.
    #[inline]
    pub const fn asks_masters(&self) -> bool {
        self.lock.facts().masters.are_several()
    }

    /// Whether each of these stores a lock of its own ([`StoringMasters::Locks`]).
    #[inline]
    pub const fn asks_master_locks(&self) -> bool {
        matches!(self.lock.facts().masters, StoringMasters::Locks)
    }

    /// Whether a holder extends its lease in rounds, over all masters, and its code goes on meanwhile. Elsewhere what asks several masters is
    /// a call, and its code waits.
    #[inline]
    pub const fn extends_in_rounds(&self) -> bool {
        matches!(self.lock.facts().masters, StoringMasters::Rounds)
    }

    /// Whether a call sets its lease on each master when it has those that it needs: one that names a lease
    /// (docs/facts/family.md#the-lease-at-the-end-of-redlock).
    pub const fn sets_lease_at_masters(&self) -> bool {
        self.asks_master_locks() && self.names_lease_of_all()
    }

    /// How many masters a client of this scenario needs.
    pub const fn needed_masters(&self) -> u8 {
        match self.protocol.needed_masters {
            NeededMasters::Most => self.majority(),
            NeededMasters::All => self.cluster.groups,
        }
    }

    /// Whether a release ends with the first master that does not accept it, and leaves what it has not come to
    /// (docs/facts/family.md#a-release-that-stops). One of a lock that needs most of the masters hides every error.
    pub(crate) const fn stops_releasing_at_masters(&self) -> bool {
        matches!(self.protocol.needed_masters, NeededMasters::All)
            && matches!(self.protocol.failed_part, FailedPart::Stops)
    }

    /// How many masters are most of them.
    pub const fn majority(&self) -> u8 {
        self.cluster.groups / 2 + 1
    }

    /// How long a grant of several masters is valid, counted from the moment at which its client began to ask, ticks: the lease without
    /// what clocks may differ by in that time (docs/facts/family.md#redlock-as-published).
    pub const fn validity_ticks(&self) -> u8 {
        self.time.lease.saturating_sub(self.time.drift)
    }

    /// Whether a replica can be promoted because the master is dead, cut off, refuses writes or stands still.
    pub const fn can_promote(&self) -> bool {
        let faults = &self.faults;
        let is_away = faults.cut_link > 0 || faults.refuse_writes > 0 || faults.pause_node > 0;
        self.cluster.replicas > 0 && (faults.deaths_of_nodes() > 0 || is_away)
    }

    /// Whether a hand-over is one by the master itself, which lets writes wait meanwhile.
    pub const fn hands_over_by_the_master(&self) -> bool {
        self.cluster.replicas > 0 && self.faults.hand_over > 0 && self.cluster.promote.is_by_the_master()
    }

    /// Whether a node may let writes wait: it stands still, or hands over.
    pub const fn can_stall_writes(&self) -> bool {
        self.faults.pause_node > 0 || self.hands_over_by_the_master()
    }

    /// Whether a master can be replaced while it runs, and become a replica later.
    pub const fn can_demote(&self) -> bool {
        self.can_fail_over() && (self.can_restart() || self.cluster.promote.replaces_running_masters(&self.faults))
    }

    /// Whether a node that a client takes for the master may have been demoted.
    pub(crate) const fn can_be_demoted(&self) -> bool {
        self.can_demote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether a node may refuse to write.
    pub const fn can_refuse_writes(&self) -> bool {
        self.can_be_demoted() || self.cluster.min_replicas > 0 || self.faults.refuse_writes > 0
    }

    /// Whether a node may refuse a release because the slot of the lock is being moved.
    pub const fn refuses_releases_while_moving(&self) -> bool {
        self.faults.move_slot > 0 && self.lock.facts().releases_several_keys(self.protocol.receipts)
    }

    /// Whether a node may refuse an acquire because of that: one that names several keys.
    pub const fn refuses_acquires_while_moving(&self) -> bool {
        self.faults.move_slot > 0 && !self.lock.facts().acquires_by_one_key()
    }

    /// Whether a node may refuse a renewal because of that: that of a reader names the prefix of its holds too.
    pub const fn refuses_renewals_while_moving(&self) -> bool {
        self.faults.move_slot > 0 && self.shares() && self.time.renew_every.is_some()
    }

    /// Whether the master that a client knows may leave it without an answer.
    pub(crate) const fn can_be_unreachable(&self) -> bool {
        self.faults.deaths_of_nodes() > 0 || self.can_stall_writes()
    }

    /// Whether a replica may be told of the new master after the others: replicas leave one by one, or it was dead meanwhile. (One
    /// that was cut off together with the old master is told when the partition ends.)
    pub const fn tells_replicas_late(&self) -> bool {
        let (cluster, faults) = (&self.cluster, &self.faults);
        let is_replaced_alive = cluster.promote.replaces_running_masters(faults) || faults.hand_over > 0;
        let is_dead_meanwhile = self.can_restart() && (faults.deaths_of_nodes() > 1 || is_replaced_alive);
        let leaves_later = matches!(cluster.replicas_leave, ReplicasLeave::OneByOne);
        cluster.replicas > 1 && self.can_fail_over() && (leaves_later || is_dead_meanwhile)
    }

    /// Whether a failover can happen.
    pub const fn can_fail_over(&self) -> bool {
        self.can_promote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether a client may find an old master that says it is master. There is one wherever one can be demoted.
    pub const fn can_go_back(&self) -> bool {
        matches!(self.cluster.discovery, Discovery::AnyMaster) && self.can_demote()
    }

    /// Whether a failover compares how much of the data each replica has.
    pub(crate) const fn ranks_replicas(&self) -> bool {
        matches!(self.cluster.promote, PromoteRule::MostData)
    }

    /// Whether an effect takes the place of the one before it that a replica has not applied yet. Nobody can tell: what a
    /// replica stores is seen when it is promoted and not before, and every state between the two is seen where the replica
    /// has applied the older effect before the newer one was written. Not so where a TTL counts from its arrival
    /// (an effect that arrives late is another one), and where both `WAIT` and a choice by data count effects.
    /// Effects that carry an unlock message to a replica stay apart (`redis/queue`).
    pub fn merges_effects(&self) -> bool {
        let counts_effects = self.cluster.wait_for > 0 || self.subscribes_to_replica();
        matches!(self.cluster.ttls, Ttls::Absolute) && !(self.ranks_replicas() && counts_effects)
    }

    /// Whether there are nodes whose data may become unreadable, and leaving these out changes nothing else. How long a queue
    /// is tells time where the lag is bounded, and tells effects apart where they are not merged; a disk that differs from
    /// memory holds time back.
    pub(crate) fn may_leave_out_data(&self) -> bool {
        let is_prompt = matches!(self.cluster.lag, Bound::Ticks(0)) && self.faults.pause_node == 0;
        let is_timeless = is_prompt || matches!(self.cluster.lag, Bound::Any);
        // Behind a request that may write nothing everything counts that a replica lacks, also one that nobody will ask.
        let counts_all =
            self.some_client(|own| own.protocol.wait_after != WaitAfter::Grants || own.waits_for_nothing_of_its_own());
        // What arrives at a replica is heard by those who are subscribed there.
        self.nodes() > 1
            && !counts_all
            && is_timeless
            && self.merges_effects()
            && !self.has_disk_apart()
            && !self.subscribes_to_replica()
    }

    /// Whether exchanging the names of two nodes changes nothing that can happen: not where the first of several candidates
    /// is promoted, a partition keeps certain nodes together, or clients subscribe to the first of several replicas.
    pub fn nodes_are_alike(&self) -> bool {
        let is_named = matches!(self.cluster.promote, PromoteRule::Priority) || !self.cluster.cut_together.is_empty();
        let has_first = self.subscribes_to_replica() && self.cluster.replicas > 1;
        // The nodes of several groups are exchanged with their groups.
        self.nodes() > 1 && !is_named && !has_first && !self.asks_masters()
    }

    /// Whether it matters which links a master considers open.
    pub(crate) const fn has_half_open_links(&self) -> bool {
        self.cluster.wait_for > 0 && self.can_be_silent()
    }

    /// Whether a replica may be silent while its master believes their link to be open: it is cut off or stands still, or its
    /// machine has died.
    const fn can_be_silent(&self) -> bool {
        let faults = &self.faults;
        faults.cut_link > 0 || faults.pause_node > 0 || faults.crash_node > 0
    }

    /// Whether a master that stood still goes on by what it knew of its replicas before, until it counts them anew
    /// (docs/facts/redis.md#a-server-that-stands-still).
    pub const fn counts_replicas_late(&self) -> bool {
        self.faults.pause_node > 0 && (self.cluster.min_replicas > 0 || self.cluster.wait_for > 0)
    }

    /// Whether the clocks of nodes may differ.
    pub(crate) const fn has_skew(&self) -> bool {
        self.faults.clock_jump > 0
    }

    /// Whether anybody can tell that a master sends what it deletes because it has expired. Where all clocks are alike a replica
    /// finds the same at the same instant; but a master that hands over waits until the heir has been sent everything, and an heir
    /// that was does not find what it has been told to delete.
    pub fn sends_expiry(&self) -> bool {
        let is_awaited = self.faults.hand_over > 0 && self.cluster.promote.is_by_the_master();
        // Whoever takes the lock then takes it elsewhere, and the replica would keep what has expired.
        let is_not_overwritten = self.faults.move_slot > 0 && self.cluster.replicas > 0;
        self.counts_deletions() || is_awaited || is_not_overwritten
    }

    /// Whether such a deletion is told apart wherever it happens: by a clock that says something else, or by a `WAIT` behind a request
    /// that has written nothing, which is for everything that the master has written (docs/facts/redis.md#wait).
    pub fn counts_deletions(&self) -> bool {
        self.has_skew() || self.waits_for_deletions()
    }

    /// Whether a `WAIT` may be for the deletion of what has expired, be it the lock's key or a receipt.
    pub(crate) fn waits_for_deletions(&self) -> bool {
        self.cluster.wait_for > 0 && self.some_client(|own| own.protocol.wait_after != WaitAfter::Grants)
    }

    /// Silent for so long that a replica does not count any more; 0 where replicas are not counted.
    pub(crate) fn silent_for_long(&self) -> u8 {
        if self.cluster.min_replicas == 0 { 0 } else { self.counted_at_most() + 1 }
    }

    /// Silent for so long, a replica may still count.
    pub(crate) fn counted_at_most(&self) -> u8 {
        let slack = if self.is_mutated(Mutant::SlackIgnored) { 0 } else { self.cluster.min_replicas_slack };
        self.cluster.min_replicas_max_lag + slack
    }

    /// Whether it matters when a master finds out that a replica is dead.
    pub(crate) const fn notices_deaths_late(&self) -> bool {
        self.has_half_open_links() && self.cluster.replicas > 0 && self.faults.deaths_of_nodes() > 0
    }

    /// Whether a master may drop a replica from its count earlier or later.
    pub(crate) const fn may_recount(&self) -> bool {
        self.cluster.min_replicas > 0 && self.cluster.min_replicas_slack > 0 && self.can_be_silent()
    }

    /// Whether a master that was told to end may wait for a replica that stands still.
    pub(crate) const fn ends_behind_replicas_that_stand_still(&self) -> bool {
        self.cluster.shutdown_timeout > 0 && self.faults.shutdown_node > 0 && self.faults.pause_node > 0
    }
}
