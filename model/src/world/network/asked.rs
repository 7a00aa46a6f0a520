//! A client makes a request: it is sent, or executed and answered at once.

use crate::client::calls::Sending;
use crate::client::requests::{BroughtLease, InFlight, Slot, Verb};
use crate::locks::contract::{Lock as _, LockRequest, Requester};
use crate::locks::holder::Holder;
use crate::reply::Reply;
use crate::world::context::Context;
use crate::world::layout::Layout;
use crate::world::receipts::free_receipt;

/// What became of a request that a client makes.
pub(in crate::world) enum Asked {
    /// It is on its way; the answer is another step.
    Sent,
    /// It was executed, and this is the answer.
    Answered {
        /// What the node replies.
        reply: Reply,
        /// Of a new grant: the rank of its fencing token; 0: none.
        token: u8,
    },
}

impl<Y: Layout> Context<'_, Y> {
    /// A client makes a request of the master that it knows.
    pub(in crate::world) fn ask(&mut self, requester: Requester, slot: Slot, verb: Verb) -> Option<Asked> {
        let holder = requester.holder;
        let node = self.world.reachable(holder.client())?;
        self.count_replicas(holder.client());
        if Y::InFlight::IS_SPLIT {
            let sending = self.sending(requester, verb, node);
            self.process(holder.client(), |process| process.send(holder.thread(), slot, verb, sending))?;
            return Some(Asked::Sent);
        }
        let lease = self.lease_for(holder, verb);
        if verb == Verb::Acquire && lease == BroughtLease::Named {
            self.process(holder.client(), |process| {
                process.note_asked_lease();
                Some(())
            });
        }
        let (reply, token) = self.execute_at(node, requester, verb, 0, lease)?;
        Some(Asked::Answered { reply, token })
    }

    /// What a request is sent with.
    pub(super) fn sending(&mut self, Requester { holder, value }: Requester, verb: Verb, node: u8) -> Sending {
        let leaves_receipt = verb.releases() && self.config.of_client(holder.client()).leaves_receipts();
        let receipt = if leaves_receipt { free_receipt(self.config, self.world, holder) } else { 0 };
        let asks_for = if self.waits_behind(verb) { self.replicas_to_wait_for(holder.client()) } else { 0 };
        Sending { value, node, receipt, asks_for, lease: self.lease_for(holder, verb) }
    }

    /// Which lease a request of this thread brings. A call may name one, and the release that ends it brings what its lock object
    /// remembers: that one, if each call has an object of its own (docs/facts/redisson.md#a-lease-for-each-call,
    /// #explicit-lease).
    pub(super) fn lease_for(&self, holder: Holder, verb: Verb) -> BroughtLease {
        let (client, thread) = (holder.client(), holder.thread());
        if Y::Lock::FACTS.parts.is_there() {
            let is_later = self.world.thread(holder).is_in_later_round();
            return if is_later { BroughtLease::Named } else { BroughtLease::Common };
        }
        let holds = self.world.thread(holder).holds();
        let names = |outer_holds| self.config.names_lease(client, thread, outer_holds);
        let is_shared = self.config.shares_lock_objects();
        let is_named = match verb {
            Verb::Acquire => names(holds),
            Verb::Release => !is_shared && holds > 0 && names(holds - 1),
            Verb::SetTtl | Verb::Renew | Verb::Undo => false,
        };
        let is_remembered = is_shared
            && !matches!(verb, Verb::Renew | Verb::SetTtl)
            && self.world.client(client).renewal.remembers_lease();
        match (is_named, is_remembered) {
            (true, _) => BroughtLease::Named,
            (false, true) => BroughtLease::Remembered,
            (false, false) => BroughtLease::Common,
        }
    }

    /// One request, executed by one node: its reply, and the token of a new grant.
    pub(super) fn execute_at(
        &mut self,
        node: u8,
        requester: Requester,
        verb: Verb,
        receipt: u8,
        lease: BroughtLease,
    ) -> Option<(Reply, u8)> {
        let request = match verb {
            Verb::Acquire => LockRequest::Acquire(requester),
            Verb::SetTtl => LockRequest::SetTtl(requester),
            Verb::Release | Verb::Undo => LockRequest::Release(requester),
            Verb::Renew => LockRequest::Renew(requester),
        };
        let executed = self.server().execute(node, request, receipt, lease.is_named())?;
        if let Some(publish) = executed.published {
            self.publish(node, Y::Lock::name_of(requester.holder), publish);
        }
        // A holder that does not know that it holds takes a re-entry for its grant (a token is issued on re-entry too:
        // docs/facts/redisson.md#fenced-lock).
        let thread = self.world.thread(requester.holder);
        let token = if executed.reply != Reply::Acquired {
            0
        } else if executed.is_reentry && thread.has_hold() {
            // Its grant is the one that it has, also if it is told meanwhile that a renewal was missed.
            thread.token
        } else {
            self.issue_token()
        };
        if let Some(issued) = executed.token {
            self.note_issued(requester.holder, issued);
        }
        if self.config.of_client(requester.holder.client()).takes_for_grant(executed.reply) {
            return Some((executed.reply, self.issue_token()));
        }
        Some((executed.reply, token))
    }
}
