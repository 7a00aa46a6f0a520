//! A node stands still and goes on: its machine is paused, it forks, swaps or runs a slow script.
//!
//! While it stands still it executes, applies and acknowledges nothing. Its connections stay open, so what it is sent
//! waits in its sockets, and nobody loses anything by that alone. Its clock goes on: what is over when it goes on is
//! over at once. The authority that decides on failovers does not reach it and may promote another node meanwhile. A
//! master does not notice that: it goes on as a master until it is demoted. A failover that is bounded
//! (`failover_within`) counts from the moment at which the master stands still; if the master goes on before it is
//! replaced, there is none.
//!
//! A master that goes on serves its clients before it has counted its replicas: the count of `min-replicas-to-write`
//! is made once a second, and is as old as the pause until then. It also answers a `WAIT` at its time-out before it
//! reads what its replicas have acknowledged meanwhile.
//!
//! Simplified: where the lag is bounded and effects are merged (`Config::merges_effects`), a replica has all or nothing
//! of what was written while it stood still. A key that expires while its node stands still is gone from the node's
//! data at once: nobody can read them before it goes on. Where a master that was replaced is cut off before it has counted
//! anew, it has read by then which replicas left it. A link does not break (`break_link`) while one of its ends
//! stands still, and a node that was told to end stands still no more than it serves anybody. Nothing that a client
//! does not wait for reaches a node that stands still: a receipt that would be deleted stays until it expires. Where
//! request and answer are one step, a request is never late by a pause: a node that stands still is then as one that is
//! dead, and a `WAIT` that is open there fails when time passes.
//!
//! Source: docs/facts/redis.md#a-server-that-stands-still.

use super::connections::WaitAnswers;
use super::group::{Node, Pace};
use super::layout::ServerLayout;
use super::server::Server;
use crate::config::node_set::NodeSet;
use crate::locks::contract::{KeyFamily, Writes};
use crate::locks::receipts::ReceiptStore as _;
use crate::mutants::Mutant;
use crate::slots::Slots as _;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A node stands still. One that was told to end does not: it serves nobody anyway.
    pub(crate) fn pause(&mut self, node: u8) -> Option<()> {
        if !self.group.node(node).is_working() {
            return None;
        }
        let counts = self.config.cluster.min_replicas > 0 && self.group.node(node).is_master();
        let has_enough = counts && self.has_enough_replicas(node);
        self.group.node_mut(node).pace = if has_enough { Pace::StillWithEnough } else { Pace::Still };
        if node == self.group.master() {
            self.begin_failover();
        }
        Some(())
    }

    /// A node that stood still goes on. What its sockets have for it is served by the actions that serve it anyway, in any
    /// order.
    pub(crate) fn resume(&mut self, node: u8) -> Option<WaitAnswers> {
        let config = self.config;
        let is_heard = self.is_linked(node);
        let resuming = self.group.node_mut(node);
        if !resuming.is_paused() {
            return None;
        }
        let is_counted = !resuming.is_master() || !config.counts_replicas_late();
        resuming.pace = match resuming.pace {
            _ if is_counted || config.is_mutated(Mutant::PausedMasterCountsAtOnce) => Pace::Runs,
            Pace::StillWithEnough => Pace::UncountedWithEnough,
            Pace::Still | Pace::Runs | Pace::Uncounted | Pace::UncountedWithEnough => Pace::Uncounted,
        };
        if is_heard {
            resuming.silent_ticks = 0;
        }
        self.delete_expired_meanwhile(node)?;
        let answers = self.rejoin_old_master();
        Some(answers.and(self.acknowledge(node)))
    }

    /// A master that stood still counts its replicas anew, and reads what they have acknowledged meanwhile. One that was
    /// replaced finds that they follow another.
    pub(crate) fn count_anew(&mut self, node: u8) -> Option<WaitAnswers> {
        if !self.group.node(node).is_uncounted() {
            return None;
        }
        let is_acting = node == self.group.master();
        let counting = self.group.node_mut(node);
        counting.pace = Pace::Runs;
        if !is_acting && !counting.is_cut() {
            self.close_links_of_left(node);
        }
        let nodes = u8::try_from(Y::Nodes::<u8>::LEN).unwrap_or(u8::MAX);
        Some((0..nodes).fold(WaitAnswers::default(), |answers, replica| answers.and(self.acknowledge(replica))))
    }

    /// A master that stands still is replaced. Unless it is cut off, the replicas that do not stay have told it that they
    /// leave: it reads that when it counts anew. `staying`: a bit each.
    pub(super) fn leave_paused(&mut self, old: u8, staying: u8) {
        if !self.group.node(old).is_paused() || self.group.node(old).is_cut() {
            return;
        }
        self.leave_links_half_open(old, NodeSet::from_bits(staying));
        let silent_for_long = self.config.silent_for_long();
        self.group.node_mut(old).silent_ticks = silent_for_long;
    }

    /// What has expired while the node wrote nothing is deleted now, and the replicas are told, where their clocks may say
    /// something else: also those that have not applied the grant yet.
    pub(super) fn delete_expired_meanwhile(&mut self, node: u8) -> Option<()> {
        let own = self.group.node(node).stored;
        let in_the_end = (0..self.config.nodes()).filter(|replica| self.group.follows(*replica, node)).map(|replica| {
            let Node { stored, queue, .. } = self.group.node(replica);
            queue.effects().last().map_or(*stored, |effect| effect.stored)
        });
        let (mut has_lock, mut has_receipt) = (false, false);
        for last in in_the_end {
            has_lock |= !last.is_absent();
            has_receipt |= last.receipts.iter().any(|one| own.receipts.find(one.holder, one.id).is_none());
        }
        let is_lock_over = self.config.counts_deletions() && own.is_absent() && has_lock;
        let is_receipt_over = self.config.waits_for_deletions() && has_receipt;
        let writes = if is_lock_over { Writes::NONE.key(KeyFamily::Lock) } else { Writes::NONE };
        let writes = if is_receipt_over { writes.key(KeyFamily::Receipt) } else { writes };
        if is_lock_over || is_receipt_over { self.send_deletion_of(node, writes) } else { Some(()) }
    }
}
