//! What can become of a request: whether it is missed, sent again, refused or abandoned, waits for replicas, or leaves a
//! receipt.

use crate::config::calls::{InterruptedAcquire, RefusedCall, Resend, UnansweredAsk};
use crate::config::sections::{Config, NetworkMode};
use crate::config::switches::{AnsweredReceipt, WaitAfter, WaitRule};

impl Config {
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

    /// Whether a watchdog renews what is granted to a caller that was interrupted.
    pub(crate) fn renews_interrupted_acquires(&self) -> bool {
        self.calls.interrupted_acquire == InterruptedAcquire::Renew && self.time.renew_every.is_some()
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

    /// Whether some client's release leaves a receipt that could ever be read: where request and answer are one step, none
    /// can.
    pub fn leaves_receipts(&self) -> bool {
        self.is_split() && self.lock.facts().receipts.is_there() && self.some_client(|own| own.protocol.receipts)
    }

    /// Whether a client deletes the receipt of a release that was answered.
    pub(crate) fn deletes_receipts(&self) -> bool {
        self.leaves_receipts() && self.protocol.answered_receipt == AnsweredReceipt::Delete
    }
}
