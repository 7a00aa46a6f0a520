//! The steps of a split network after a request was sent: it is executed, answered, sent again, abandoned or lost. In an
//! atomic network none of them can happen.

use crate::client::calls::{Answered, Sending};
use crate::client::requests::{BroughtLease, InFlight, Request, Slot, Stage, Verb};
use crate::client::state::Phase;
use crate::config::calls::RequestId;
use crate::config::switches::{FailedRenewal, WaitAfter};
use crate::locks::contract::Requester;
use crate::locks::holder::Holder;
use crate::notes::Happening;
use crate::reply::Reply;
use crate::world::context::Context;
use crate::world::layout::Layout;

impl<Y: Layout> Context<'_, Y> {
    /// A node executes a request, or refuses it: it may be no master any more.
    pub(crate) fn execute(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        let request = *self.world.requests(client).get(slot).filter(|request| request.stage == Stage::Sent)?;
        let node = request.node;
        if !self.world.node(node).is_working() {
            return None;
        }
        let holder = Holder::new(client, request.thread);
        let requester = Requester { holder, value: request.value };
        let (reply, token) = self.execute_at(node, requester, request.verb, request.id, request.lease)?;
        let must_undo = request.must_undo && reply == Reply::Acquired;
        let is_awaited = self.process(client, |process| process.awaits_reply(slot, &request, must_undo));
        if slot.is_late() {
            self.notes.happened(Happening::ExecutedLate);
        }
        // Nobody asks how many replicas have a grant that nobody waits for.
        let asks_for = request.wait.asks_for();
        let is_counted = match self.config.protocol.wait_after {
            WaitAfter::Grants | WaitAfter::GrantsAndRenewals => reply == Reply::Acquired,
            WaitAfter::EveryCall => !reply.is_refusal_to_write(),
        };
        let waits = asks_for > 0 && is_counted && !slot.is_late() && is_awaited;
        let wait = if waits { request.wait } else { request.wait.without_question() };
        let stage = if waits { Stage::Confirming(reply) } else { Stage::Executed(reply) };
        if reply == Reply::Acquired && asks_for == 0 && !slot.is_late() && is_awaited {
            self.note_unacknowledged(node);
        }
        let executed = Request { stage, token, age: 0, must_undo, wait, ..request };
        *self.slot_mut(client, slot)? = Some(executed).filter(|_| is_awaited);
        if waits {
            let answers = self.server().open_wait(holder, node, asks_for);
            self.hear_wait_answers(answers);
        }
        Some(reply)
    }

    /// The caller sees the reply.
    pub(crate) fn answer(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        let answered = *self.world.requests(client).get(slot)?;
        let Request { thread, value, lease, .. } = answered;
        let holder = Holder::new(client, thread);
        let granted = Requester { holder, value };
        self.note_refusal(holder, &answered);
        let (reply, leads_to) = self.process(client, |process| process.answer(slot))?;
        if !matches!(leads_to, Answered::MustRelease | Answered::Failed) {
            self.note_renewed(reply, granted);
        }
        match leads_to {
            Answered::Heard | Answered::Failed => {}
            Answered::RenewalFailed => self.release_after_failed_renewal(granted)?,
            Answered::MustRelease => self.send_back(granted, slot, (Verb::Release, lease))?,
            Answered::MustUndo => {
                self.send_back(granted, Slot::of_thread(thread), (Verb::Undo, BroughtLease::Common))?;
            }
            Answered::MustSetTtl => self.send_or_lose(granted, Verb::SetTtl)?,
            Answered::DropReceipt { receipt } => {
                if self.config.of_client(client).deletes_receipts()
                    && let Some(node) = self.world.reachable_master(client)
                {
                    self.server().drop_receipt(node, holder, receipt)?;
                }
            }
        }
        Some(reply)
    }

    /// A thread sends a request. One to a master that does not answer is lost.
    pub(super) fn send_or_lose(&mut self, requester: Requester, verb: Verb) -> Option<()> {
        let (client, thread) = (requester.holder.client(), requester.holder.thread());
        let (slot, reached) = (Slot::of_thread(thread), self.world.reachable(client));
        let sending = self.sending(requester, verb, reached.unwrap_or_else(|| self.world.client(client).master()));
        self.process(client, |process| {
            process.send(thread, slot, verb, sending)?;
            if reached.is_none() {
                process.lose(slot, |_| true)?;
            }
            process.begin_call(thread, verb);
            Some(())
        })
    }

    /// A grant is given back by a request of the process, whatever has become of the thread. It brings this lease, or what a shared
    /// lock object remembers. A process that reaches no master cannot give it back.
    fn send_back(&mut self, granted: Requester, slot: Slot, (verb, lease): (Verb, BroughtLease)) -> Option<()> {
        let holder = granted.holder;
        let (client, thread) = (holder.client(), holder.thread());
        let Some(node) = self.world.reachable(client) else { return Some(()) };
        self.count_replicas(client);
        let sending = self.sending(granted, verb, node);
        let lease = if self.config.shares_lock_objects() { sending.lease } else { lease };
        let sending = Sending { lease, ..sending };
        let is_awaited = !slot.is_late() && self.world.thread(holder).phase != Phase::Dead;
        self.process(client, |process| {
            process.send(thread, slot, verb, sending)?;
            if is_awaited {
                process.begin_call(thread, verb);
            }
            Some(())
        })?;
        if slot.is_late() {
            self.slot_mut(client, slot)?.as_mut()?.await_nothing();
        }
        Some(())
    }

    /// No answer came in time: the same is asked again, of the master that the client knows now.
    pub(crate) fn resend(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        let request = self.world.view(self.config, client).overdue(slot)?;
        let node = self.world.reachable(client)?;
        let holder = Holder::new(client, request.thread);
        let fresh = self.sending(Requester { holder, value: request.value }, request.verb, node);
        let receipt = match self.config.settings_of(client).calls.request_id {
            RequestId::PerTry if request.id != 0 => fresh.receipt,
            RequestId::PerTry | RequestId::PerRelease => request.id,
        };
        self.close_wait_of(holder, &request);
        self.process(client, |process| process.resend(slot, request, Sending { receipt, ..fresh }))?;
        Some(Reply::Done)
    }

    /// No answer came in time, and nothing is resent: the caller is told that the outcome is unknown, or that it was refused.
    pub(crate) fn abandon(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        let request = self.world.view(self.config, client).overdue(slot)?;
        let holder = Holder::new(client, request.thread);
        self.close_wait_of(holder, &request);
        let told = self.process(client, |process| process.abandon(slot, request))?;
        self.note_refusal_without_answer(holder, told);
        if request.verb == Verb::Renew {
            self.release_after_failed_renewal(Requester { holder, value: request.value })?;
        }
        Some(told)
    }

    /// A renewal has failed, and its client gives the lock back: it sends a release with the value of the renewal, for whose answer nobody
    /// waits, whether the thread still holds or not ([`FailedRenewal::Release`]).
    fn release_after_failed_renewal(&mut self, granted: Requester) -> Option<()> {
        let holder = granted.holder;
        let (client, own) = (holder.client(), self.config.of_client(holder.client()));
        if own.protocol.failed_renewal != FailedRenewal::Release {
            return Some(());
        }
        let Some(node) = self.world.reachable(client) else { return Some(()) };
        let sending = self.sending(granted, Verb::Release, node);
        let slot = self.process(client, |process| {
            let slot = process.free_late_slot()?;
            process.send(holder.thread(), slot, Verb::Release, sending)?;
            Some(slot)
        })?;
        self.slot_mut(client, slot)?.as_mut()?.await_nothing();
        Some(())
    }

    /// A request never reaches its node.
    pub(crate) fn lose_request(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        self.process(client, |process| process.lose(slot, |request| request.stage == Stage::Sent))?;
        Some(Reply::Done)
    }

    /// A reply never reaches its client.
    pub(crate) fn lose_reply(&mut self, client: u8, slot: Slot) -> Option<Reply> {
        let is_unheard = |request: &Request| matches!(request.stage, Stage::Executed(_)) && !request.is_heard;
        self.process(client, |process| process.lose(slot, is_unheard))?;
        Some(Reply::Done)
    }

    fn slot_mut(&mut self, client: u8, slot: Slot) -> Option<&mut Option<Request>> {
        let in_flight = &mut self.world.in_flight.as_mut()[usize::from(client)];
        Some(in_flight.requests_mut()?.slot_mut(slot))
    }
}
