//! Facts about a scenario that follow from its sections.

use super::calls::{InterruptedAcquire, RefusedCall, Resend, UnansweredAsk};
use super::clients::{ClientRole, ClientSettings};
use super::profiles::{
    AcquireRule, AnsweredReceipt, Downgrade, ExtendRule, InterruptedWaiter, NoTtlAnswer, ReadRenewal, ReleaseRule,
    RenewalTimer, TokenRule, ValueRule, WaitAfter, WaitRule,
};
use super::sections::{
    Bound, Config, Discovery, Fsync, InterruptedWait, LockObjects, NetworkMode, PromoteRule, ReplicasLeave, Resource,
    StopsAt, Ttls,
};
use crate::limits::{EFFECTS_UNDER_WAY, FEW_TOKENS, MAX_EFFECTS_UNDER_WAY, MAX_TOKENS, RECEIPTS};
use crate::locks::contract::{CallNames, LockContext, LockRequest};
use crate::locks::holder::Holder;
use crate::locks::value_set::ValueSet;
use crate::mutants::{ActiveMutant, Mutant};
use crate::notes::Capacity;
use crate::reply::Reply;

impl Config {
    /// Whether a client has a timer for each of several locks.
    pub(crate) const fn has_timer_per_thread(&self) -> bool {
        self.shares() || self.clients.names > 1 && matches!(self.protocol.renewal_timer, RenewalTimer::PerLock)
    }

    /// Whether each thread of a client is renewed apart from the others: it has a lock of its own, or is one side of a lock that has
    /// two.
    pub(crate) const fn renews_threads_apart(&self) -> bool {
        self.shares() || self.clients.names > 1
    }

    /// Whether several may hold the lock at once ([`Facts::sharing`](crate::locks::Facts::sharing)).
    pub const fn shares(&self) -> bool {
        self.lock.facts().sharing.is_there()
    }

    /// Whether this thread ever asks: of a lock with two sides a client may use one only.
    pub(crate) const fn may_ask_as(&self, thread: u8) -> bool {
        match (self.shares(), self.clients.role) {
            (false, _) | (true, ClientRole::Both) => true,
            (true, ClientRole::Writer) => thread == 0,
            (true, ClientRole::Reader) => thread != 0,
        }
    }

    /// Nodes of the group: the first master and its replicas.
    pub const fn nodes(&self) -> u8 {
        1 + self.cluster.replicas
    }

    /// Whether some refused client waits, instead of asking once.
    pub fn waits(&self) -> bool {
        self.some_client(|own| own.time.wait_limit != Some(0))
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

    /// How many clients are not there at the beginning, the last ones. One always is.
    pub fn late_clients(&self) -> u8 {
        self.faults.start_client.min(self.clients.count.saturating_sub(1))
    }

    /// Whether `WAIT` may find fewer replicas than it asks for.
    pub const fn can_time_out_waiting(&self) -> bool {
        let may_lack = !self.cluster.lag.is_zero()
            || self.faults.deaths_of_nodes() > 0
            || self.faults.break_link > 0
            || self.faults.pause_node > 0
            || self.can_fail_over();
        self.cluster.wait_for > 0 && may_lack
    }

    /// Whether `WAIT` may find too few replicas for the client's rule.
    pub const fn can_lack_replicas(&self) -> bool {
        self.can_time_out_waiting() && !matches!(self.protocol.wait_rule, WaitRule::Ignored)
    }

    /// Whether a client waits behind its renewals for replicas that may be late.
    pub(crate) fn acknowledges_renewals(&self) -> bool {
        let waits = self.protocol.wait_after == WaitAfter::GrantsAndRenewals && self.cluster.wait_for > 0;
        waits && self.time.renew_every.is_some() && !self.cluster.lag.is_zero()
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
        let counts_all = self.some_client(|own| own.protocol.wait_after != WaitAfter::Grants);
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
        self.nodes() > 1 && !is_named && !has_first
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

    /// Whether a dead node may restart.
    pub const fn can_restart(&self) -> bool {
        self.faults.restart_node > 0
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
        self.counts_deletions() || is_awaited
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

    /// Whether a write may reach a node's disk after it was answered.
    pub const fn has_late_disk(&self) -> bool {
        let is_late = match self.cluster.fsync {
            Fsync::None | Fsync::Snapshot => false,
            Fsync::EverySecond => true,
            Fsync::Always => self.cluster.no_appendfsync_on_rewrite,
        };
        self.can_restart() && is_late
    }

    /// Whether a node restarts with a snapshot.
    pub const fn has_snapshots(&self) -> bool {
        self.can_restart() && matches!(self.cluster.fsync, Fsync::Snapshot)
    }

    /// Whether the AOF of a node may be that of before its last full copy.
    pub const fn has_slow_rewrites(&self) -> bool {
        let has_aof = matches!(self.cluster.fsync, Fsync::EverySecond | Fsync::Always);
        self.can_restart() && has_aof && self.cluster.replicas > 0 && self.cluster.aof_rewrite_within > 0
    }

    /// Whether what a killed process has answered is in its files. While an fsync runs, a write waits for up to two seconds
    /// (docs/facts/redis.md#the-death-of-a-process): only a disk that is never that late makes none wait.
    pub fn writes_before_replies(&self) -> bool {
        const NEVER_LATE_MS: u32 = 1_000;
        match self.cluster.fsync {
            Fsync::None | Fsync::Snapshot => false,
            Fsync::EverySecond => u32::from(self.cluster.fsync_within) * self.time.tick_ms <= NEVER_LATE_MS,
            Fsync::Always => true,
        }
    }

    /// Whether a node's disk is a part of the world of its own.
    pub(crate) const fn has_disk_apart(&self) -> bool {
        self.has_late_disk() || self.has_snapshots() || self.has_slow_rewrites()
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
                || faults.deaths_of_nodes() > 0
                || self.can_stall_writes()
                || self.can_lose_waits()
                || self.some_client(|own| own.network.can_outlast(own.calls)))
    }

    /// Whether a request can be sent again: one that has no answer in time, or one whose answer makes its client do so.
    pub fn can_send_again(&self) -> bool {
        let is_made_again = self.protocol.wait_after == WaitAfter::EveryCall && self.can_lack_replicas();
        let is_refused = self.retries_refused_calls();
        self.calls.resend != Resend::None
            && (self.can_miss_answers() || self.is_split() && (is_made_again || is_refused))
    }

    /// Whether a node that a client takes for the master may have been demoted.
    pub(crate) const fn can_be_demoted(&self) -> bool {
        self.can_demote() || (self.cluster.replicas > 0 && self.faults.hand_over > 0)
    }

    /// Whether a node may refuse to write.
    pub const fn can_refuse_writes(&self) -> bool {
        self.can_be_demoted() || self.cluster.min_replicas > 0 || self.faults.refuse_writes > 0
    }

    /// Whether a client sends again what a server refuses, and one may.
    pub fn retries_refused_calls(&self) -> bool {
        self.calls.refused_call == RefusedCall::Retry && self.can_refuse_writes()
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
            + u32::from(faults.deaths_of_nodes())
            + if self.can_lose_waits() { u32::from(faults.cut_link) + u32::from(faults.hand_over) } else { 0 };
        // A hand-over that is the only loss, of the answer to a `WAIT`, refuses only what is sent after it, and that is not lost.
        let is_one_hand_over = losses == 1 && self.can_lose_waits() && faults.hand_over == 1;
        let can_refuse_before = !is_one_hand_over || self.cluster.min_replicas > 0 || faults.refuse_writes > 0;
        self.some_client(|own| {
            let is_late = own.network.can_outlast(own.calls);
            // An answer that makes its client send again uses up an attempt as a loss does.
            let is_made_again = own.retries_refused_calls() && losses > 0 && can_refuse_before;
            own.can_miss_answers()
                && (own.calls.resend != Resend::All
                    || is_late
                    || is_made_again
                    || self.can_stall_writes()
                    || losses > u32::from(own.calls.retry_attempts))
        })
    }

    /// Whether a caller of this client can ask for the lock again within one call that it may leave without it.
    fn asks_again_with_a_limit(&self) -> bool {
        self.lock.facts().publishes() && self.time.wait_limit.is_some_and(|limit| limit > 0)
    }

    /// Whether a waiter of this client is told that it does not have the lock when it asks again and has no answer in time.
    pub fn refuses_unanswered_asks(&self) -> bool {
        self.asks_again_with_a_limit() && self.calls.unanswered_ask == UnansweredAsk::Refuse
    }

    /// Whether a caller can be told that it does not have the lock by something else than the answer that it is busy: this is so, or
    /// a client could take it so.
    pub(crate) fn can_tell_refusals(&self) -> bool {
        let can_miss = self.can_abandon() && self.some_client(Self::asks_again_with_a_limit);
        self.is_split() && (self.can_refuse_writes() || can_miss)
    }

    /// How many tokens can be remembered at once: by each thread, by its write, by the resource, and by requests in flight.
    pub fn most_tokens(&self) -> u32 {
        let threads = u32::from(self.clients.count) * u32::from(self.clients.threads);
        let late = u32::from(self.clients.count) * u32::from(self.late_requests());
        let requests = if self.is_split() { threads + late } else { 0 };
        2 * threads + 1 + requests
    }

    /// Whether a watchdog renews what is granted to a caller that was interrupted.
    pub(crate) fn renews_interrupted_acquires(&self) -> bool {
        self.calls.interrupted_acquire == InterruptedAcquire::Renew && self.time.renew_every.is_some()
    }

    /// How many requests of one client can be under way that their callers have abandoned, as far as there is room for them.
    pub(crate) fn late_requests(&self) -> u8 {
        // Without delays a request is abandoned before it was executed only by an interrupt, or because its caller was
        // paused or its node died. While a node stands still or hands over, any number of them may be.
        let faults = &self.faults;
        let by_fault = faults.interrupt.saturating_add(faults.pause_client).saturating_add(faults.deaths_of_nodes());
        let is_late = self.some_client(|own| own.network.can_outlast(own.calls));
        let most = if is_late || self.can_stall_writes() { u8::MAX } else { by_fault.saturating_add(1) };
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

    /// Whether a master that was told to end may wait for a replica that stands still.
    pub(crate) const fn ends_behind_replicas_that_stand_still(&self) -> bool {
        self.cluster.shutdown_timeout > 0 && self.faults.shutdown_node > 0 && self.faults.pause_node > 0
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

    /// Whether a client deletes the receipt of a release that was answered.
    pub(crate) fn deletes_receipts(&self) -> bool {
        self.leaves_receipts() && self.protocol.answered_receipt == AnsweredReceipt::Delete
    }

    /// Whether the lock raises a counter in Redis with each grant.
    pub const fn issues_tokens(&self) -> bool {
        self.lock.facts().tokens.is_there()
    }

    /// Whether each client names a set of values, and takes all of them or none.
    pub const fn names_values(&self) -> bool {
        self.lock.facts().value_sets.is_there()
    }

    /// Whether a resource checks the tokens that the lock stores in Redis.
    #[inline]
    pub fn has_stored_tokens(&self) -> bool {
        self.resource.is_some_and(Resource::is_fenced_by_stored) && self.issues_tokens()
    }

    /// Whether a client of this scenario is told its token with its grant.
    pub const fn tokens_come_with_grants(&self) -> bool {
        self.issues_tokens() && matches!(self.protocol.token, TokenRule::WithGrant)
    }

    /// Whether a client of this scenario reads its token from the counter after it was granted the lock.
    pub fn reads_tokens(&self) -> bool {
        self.has_stored_tokens() && matches!(self.protocol.token, TokenRule::ReadLater)
    }

    /// Whether the counter of tokens may be smaller than it was: lost with its node or by eviction, or behind on a replica that
    /// is promoted.
    pub(crate) const fn may_set_counter_back(&self) -> bool {
        self.can_fail_over() || self.can_restart() || self.faults.vanish_token > 0
    }

    /// Whether the numbers of tokens can make no difference beyond their order.
    pub(crate) fn leaves_out_token_numbers(&self) -> bool {
        self.issues_tokens() && !self.may_set_counter_back()
    }

    /// Whether a client takes this answer to its acquire for a grant that is none: where a token comes with each grant, a TTL of
    /// -1 looks like one (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
    pub(crate) const fn takes_for_grant(&self, reply: Reply) -> bool {
        matches!(reply, Reply::Busy { remaining_ticks: None })
            && self.tokens_come_with_grants()
            && matches!(self.protocol.no_ttl_answer, NoTtlAnswer::Grant)
    }

    /// Whether a grant that too few replicas have acknowledged stays as it is, and its caller is told an error: the calls that
    /// answer a token do not undo it (docs/facts/family.md#fenced-lock).
    pub const fn keeps_unacknowledged_grants(&self) -> bool {
        self.tokens_come_with_grants()
    }

    /// The calls by which a thread of an application uses the lock, as pictures show them.
    pub fn call_names(&self, thread: u8) -> CallNames {
        let facts = self.lock.facts();
        let names = facts.reader_calls.filter(|_| thread > 0).unwrap_or(facts.calls);
        let names = match self.protocol.token {
            TokenRule::ReadLater if self.issues_tokens() => {
                CallNames { acquire: "lock()", try_acquire: "tryLock()", ..names }
            }
            TokenRule::WithGrant | TokenRule::ReadLater => names,
        };
        let names = match self.protocol.release {
            ReleaseRule::Compare => names,
            ReleaseRule::Delete => CallNames { release: "DEL", ..names },
        };
        let names = match self.protocol.extend {
            ExtendRule::Compare => names,
            ExtendRule::Overwrite => CallNames { renew: "SET XX PX", ..names },
        };
        match self.protocol.acquire {
            AcquireRule::SetNxPx => names,
            AcquireRule::OwnOrFree => CallNames { acquire: "obtain", try_acquire: "obtain", ..names },
            AcquireRule::SetnxExpire => CallNames { acquire: "SETNX", try_acquire: "SETNX", ..names },
        }
    }

    /// Whether an acquire sets the TTL of the lock by a command of its own.
    pub const fn sets_ttl_apart(&self) -> bool {
        matches!(self.protocol.acquire, AcquireRule::SetnxExpire)
    }

    /// Whether an extension of the lease takes whatever lock is there.
    pub const fn has_bare_extend(&self) -> bool {
        matches!(self.protocol.extend, ExtendRule::Overwrite)
    }

    /// What the scripts of the lock are given besides their keys, where nobody asks: time passes, and sets no lease.
    pub(crate) const fn lock_context(&self) -> LockContext {
        let has_bare_release = matches!(self.protocol.release, ReleaseRule::Delete);
        let sets_ttl_apart = self.sets_ttl_apart();
        LockContext {
            lease_ticks: self.time.lease,
            queue_wait_ticks: 0,
            may_queue: false,
            leaves_receipts: false,
            has_bare_release,
            has_bare_extend: self.has_bare_extend(),
            sets_ttl_apart,
            takes_own: matches!(self.protocol.acquire, AcquireRule::OwnOrFree),
            tells_of_downgrade: false,
            read_renewal: ReadRenewal::OwnHolds,
            values: ValueSet::ALL,
            clock_ahead_ticks: 0,
            keeps_order: false,
            mutant: self.active_mutant(),
        }
    }

    /// The same for a request, which brings the lease of the client that makes it. `brings_named`: it brings the one that
    /// some of its calls name.
    pub(crate) fn lock_context_for(&self, request: LockRequest, brings_named: bool) -> LockContext {
        let lease_of = |client| {
            let named = if brings_named { self.named_lease_of(client) } else { None };
            named.unwrap_or_else(|| self.lease_of(client))
        };
        let caller = request.caller().map(Holder::client);
        let context = LockContext { lease_ticks: caller.map_or(self.time.lease, lease_of), ..self.lock_context() };
        if !self.lock.facts().queue.is_there() && !self.shares() && !self.names_values() {
            return context;
        }
        let Some(own) = caller.map(|client| self.settings_of(client)) else { return context };
        let own_limit = own.wait_limit.filter(|limit| *limit > 0);
        LockContext {
            queue_wait_ticks: own_limit.or(self.time.queue_wait).unwrap_or(0),
            may_queue: self.asks_as_waiter(own),
            leaves_receipts: own.protocol.receipts,
            tells_of_downgrade: own.protocol.downgrade == Downgrade::Publishes,
            read_renewal: own.protocol.read_renewal,
            values: own.values,
            clock_ahead_ticks: own.clock_ahead,
            keeps_order: self.has_failing_renewals(),
            ..context
        }
    }

    /// Whether such a client asks as one that waits: where each names values, also one that asks once and names its lease
    /// (docs/facts/family.md#multi-lock-over-values).
    pub fn asks_as_waiter(&self, own: ClientSettings) -> bool {
        own.wait_limit != Some(0) || self.names_values() && own.renew_every.is_none()
    }

    /// Whether a refused client waits for a limited time.
    pub(crate) fn waits_with_limit(&self) -> bool {
        self.time.wait_limit.is_some_and(|limit| limit > 0)
    }

    /// Whether a waiter can leave when its limit is over, and not only when it is refused: one that spins does so where it can ask
    /// nobody.
    pub(crate) fn gives_up_asleep(&self) -> bool {
        self.waits_with_limit() && (!self.lock.facts().spins() || self.can_be_unreachable())
    }

    /// Whether the master that a client knows may leave it without an answer.
    pub(crate) const fn can_be_unreachable(&self) -> bool {
        self.faults.deaths_of_nodes() > 0 || self.can_stall_writes()
    }

    /// Whether refused clients stand in a queue.
    pub fn queues(&self) -> bool {
        self.lock.facts().queue.is_there() && self.waits()
    }

    /// Whether the renewal of some client fails where a reader has entered twice: then it matters who has entered first.
    pub fn has_failing_renewals(&self) -> bool {
        let fails =
            |own: &Self| own.time.renew_every.is_some() && own.protocol.read_renewal == ReadRenewal::FailsNested;
        self.shares() && self.some_client(fails)
    }

    /// Whether the waiters of some client leave the queue when they are interrupted.
    pub fn leaves_queue_interrupted(&self) -> bool {
        self.queues() && self.some_client(|own| own.protocol.interrupted_waiter == InterruptedWaiter::LeavesQueue)
    }

    /// Whether a call of this thread names its lease, if the thread has so many holds around it: nothing renews such a hold
    /// (docs/facts/redisson.md#a-lease-for-each-call).
    pub fn names_lease(&self, client: u8, thread: u8, outer_holds: u8) -> bool {
        self.names_each_lease(thread) || outer_holds > 0 && self.reentry_lease_of(client).is_some()
    }

    /// Whether each call of this thread names its lease, beside other threads under the watchdog.
    pub const fn names_each_lease(&self, thread: u8) -> bool {
        thread == 0 && self.time.named_lease.is_some()
    }

    /// Whether callers look at their own clock, and stop when their lease is over by it.
    pub fn looks_at_clock(&self) -> bool {
        self.clients.stops_at == StopsAt::Validity
    }

    /// Whether a waiter that is asleep swallows an interrupt. A call with a wait limit leaves.
    pub(crate) fn swallows_interrupts(&self) -> bool {
        let swallows = self.clients.interrupted_wait == InterruptedWait::Swallow;
        let can_jump = self.faults.clock_jump > 0 || self.faults.client_clock_jump > 0;
        self.faults.interrupt > 0
            && !can_jump
            && !self.looks_at_clock()
            && self.time.wait_limit.is_none()
            && (swallows || self.is_mutated(Mutant::InterruptSwallowed))
    }

    /// Whether the threads of a client share one lock object.
    pub const fn shares_lock_objects(&self) -> bool {
        matches!(self.clients.lock_objects, LockObjects::Shared)
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
