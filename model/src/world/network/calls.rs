//! The calls of threads, in either network: what the caller does until the answer, and what becomes of it then.

use super::asked::Asked;
use crate::client::requests::{InFlight, Slot, Verb};
use crate::locks::contract::{Lock as _, Requester};
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore;
use crate::reply::Reply;
use crate::world::context::Context;
use crate::world::layout::Layout;

impl<Y: Layout> Context<'_, Y> {
    /// A thread asks for the lock.
    pub(in crate::world) fn ask_for_lock(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.may_ask()) {
            return None;
        }
        let requester = self.world.requester(holder);
        match self.ask(requester, Slot::of_thread(thread), Verb::Acquire)? {
            Asked::Sent => {
                self.process(client, |process| process.begin_call(thread, Verb::Acquire));
                Some(Reply::Done)
            }
            Asked::Answered { reply, token } => {
                let is_grant = reply == Reply::Acquired || self.config.of_client(client).takes_for_grant(reply);
                if !is_grant || !self.begin_wait(holder, token) {
                    self.process(client, |process| {
                        if process.hear_acquire(thread, reply, token) {
                            process.register_grant(client, thread);
                        }
                    });
                    self.note_renewed(reply, requester);
                }
                Some(reply)
            }
        }
    }

    /// A holder gives back one hold.
    pub(crate) fn release(&mut self, holder: Holder) -> Option<Reply> {
        if Y::Lock::HAS_SEVERAL_MASTERS {
            return self.begin_release(holder);
        }
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.can_release(thread)) {
            return None;
        }
        self.send_release(holder)
    }

    /// A client whose call goes on asks for its next part.
    pub(crate) fn next_part(&mut self, holder: Holder) -> Option<Reply> {
        self.process(holder.client(), |process| process.begin_next_part(holder.thread()))?;
        self.ask_for_lock(holder)
    }

    /// A client gives back its next part.
    pub(crate) fn give_back(&mut self, holder: Holder) -> Option<Reply> {
        if !self.process(holder.client(), |process| process.can_give_back(holder.thread())) {
            return None;
        }
        self.send_release(holder)
    }

    /// A thread releases what it has.
    fn send_release(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if self.world.reachable(client).is_none() {
            return self.release_in_vain(holder);
        }
        match self.ask(self.world.requester(holder), Slot::of_thread(thread), Verb::Release)? {
            Asked::Sent => {
                self.process(client, |process| process.begin_call(thread, Verb::Release));
                Some(Reply::Done)
            }
            Asked::Answered { reply, .. } => {
                self.process(client, |process| {
                    // Also where it was no holder's (Redisson: `cancelExpirationRenewal` before the check).
                    process.hear_release_in_table(thread, Some(reply), false);
                    process.hear_release(thread, reply);
                });
                Some(reply)
            }
        }
    }

    /// A holder gives back a hold while its master does not answer. Its critical section is over all the same, and so is its
    /// belief. In a split network it finds out when no answer comes in time.
    fn release_in_vain(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if Y::InFlight::IS_SPLIT {
            self.send_or_lose(self.world.requester(holder), Verb::Release)?;
            Some(Reply::Done)
        } else {
            // Redisson removes the renewal entry on an error too.
            self.process(client, |process| {
                process.hear_release_in_table(thread, None, false);
                process.drop_hold(thread);
            });
            Some(Reply::Unreachable)
        }
    }

    /// A thread that does not believe it holds calls release. It has no hold whose value it could send: with a value per
    /// acquire it sends one that no node stores (docs/facts/redisson.md#plain-lock).
    pub(crate) fn release_foreign(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.can_release_foreign(thread)) {
            return None;
        }
        match self.ask(Requester::of(holder), Slot::of_thread(thread), Verb::Release)? {
            Asked::Sent => {
                self.process(client, |process| process.begin_call(thread, Verb::Release));
                Some(Reply::Done)
            }
            Asked::Answered { reply, .. } => {
                self.process(client, |process| process.forget_lease(Some(reply)));
                Some(reply)
            }
        }
    }

    /// A grant that too few replicas have is given back in one step.
    pub(crate) fn undo(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.can_undo(thread)) {
            return None;
        }
        let reply = match self.world.reachable(client) {
            Some(node) => {
                self.count_replicas(client);
                let lease = self.lease_for(holder, Verb::Undo);
                self.execute_at(node, self.world.requester(holder), Verb::Undo, 0, lease)?.0
            }
            None => Reply::Unreachable,
        };
        self.process(client, |process| process.leave_unconfirmed(thread));
        Some(reply)
    }

    /// A thread sets the TTL of the lock that it has taken, in one step.
    pub(crate) fn set_ttl(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.can_set_ttl(thread)) {
            return None;
        }
        let reply = match self.world.reachable(client) {
            Some(node) => {
                let lease = self.lease_for(holder, Verb::SetTtl);
                self.execute_at(node, self.world.requester(holder), Verb::SetTtl, 0, lease)?.0
            }
            None => Reply::Unreachable,
        };
        self.process(client, |process| process.hear_ttl(thread, reply));
        Some(reply)
    }

    /// A thread is interrupted in `lock()` or `unlock()`.
    pub(crate) fn interrupt(&mut self, holder: Holder) -> Option<Reply> {
        let was_waiting = self.world.thread(holder).is_waiting();
        self.process(holder.client(), |process| process.interrupt(holder.thread()))?;
        let has_left = was_waiting && !self.world.thread(holder).is_waiting();
        if has_left && self.leaves_queue_interrupted(holder.client()) {
            return self.leave_queue(holder);
        }
        // Nobody waits for its `WAIT` any more.
        if self.world.group().waits_at(holder).is_some() {
            self.server().close_wait(holder);
        }
        Some(Reply::Interrupted)
    }

    /// The watchdog renews by the value of the newest grant: a library keeps one per lock and thread.
    pub(super) fn note_renewed(&mut self, reply: Reply, Requester { holder, value }: Requester) {
        if matches!(reply, Reply::Acquired | Reply::Acknowledged { .. }) {
            self.world.values_mut(holder.client()).set_renewed(holder.thread(), value);
        }
    }
}
