//! The network between clients and servers: the only file that distinguishes its two modes.
//!
//! In an atomic network request and answer are one step. In a split network a request is sent, executed and answered, each
//! a step, and things happen in between. Merging the modes would make atomic worlds larger and change their counts, so they
//! stay two, behind one question: [`Asked`].

use super::context::Context;
use super::layout::Layout;
use super::receipts::free_receipt;
use super::state::World;
use crate::client::calls::{Answered, Sending};
use crate::client::requests::{BroughtLease, InFlight, Request, Slot, Stage, Verb};
use crate::client::state::{Mode, Phase};
use crate::client::sync_wait::verdict_on;
use crate::config::calls::RequestId;
use crate::config::sections::Config;
use crate::config::switches::WaitAfter;
use crate::limits::MAX_THREADS;
use crate::locks::contract::{LockRequest, Requester};
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore;
use crate::notes::{Breach, Happening};
use crate::redis::connections::WaitAnswers;
use crate::reply::Reply;
use crate::slots::Slots;

/// What became of a request that a client makes.
pub(super) enum Asked {
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
    pub(super) fn ask(&mut self, requester: Requester, slot: Slot, verb: Verb) -> Option<Asked> {
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
    fn sending(&mut self, Requester { holder, value }: Requester, verb: Verb, node: u8) -> Sending {
        let leaves_receipt = verb.releases() && self.config.of_client(holder.client()).leaves_receipts();
        let receipt = if leaves_receipt { free_receipt(self.config, self.world, holder) } else { 0 };
        let asks_for = if self.waits_behind(verb) { self.replicas_to_wait_for(holder.client()) } else { 0 };
        Sending { value, node, receipt, asks_for, lease: self.lease_for(holder, verb) }
    }

    /// Which lease a request of this thread brings. A call may name one, and the release that ends it brings what its lock object
    /// remembers: that one, if each call has an object of its own (docs/facts/redisson.md#a-lease-for-each-call,
    /// #explicit-lease).
    fn lease_for(&self, holder: Holder, verb: Verb) -> BroughtLease {
        let (client, thread) = (holder.client(), holder.thread());
        let holds = self.world.thread(holder).holds();
        let names = |outer_holds| self.config.names_lease(client, thread, outer_holds);
        let is_shared = self.config.shares_lock_objects();
        let is_named = match verb {
            Verb::Acquire => names(holds),
            Verb::Release => !is_shared && holds > 0 && names(holds - 1),
            Verb::SetTtl | Verb::Renew | Verb::Undo => false,
        };
        let is_remembered = is_shared && verb != Verb::Renew && self.world.client(client).renewal.remembers_lease();
        match (is_named, is_remembered) {
            (true, _) => BroughtLease::Named,
            (false, true) => BroughtLease::Remembered,
            (false, false) => BroughtLease::Common,
        }
    }

    /// Whether a client sends a `WAIT` behind this.
    fn waits_behind(&self, verb: Verb) -> bool {
        match self.config.protocol.wait_after {
            WaitAfter::Grants | WaitAfter::GrantsAndRenewals => verb == Verb::Acquire,
            WaitAfter::EveryCall => verb != Verb::Renew,
        }
    }

    /// Before each script of the lock a client reads how many replicas its master has, if it does not know. So it does where
    /// the script is refused, and it may read 0 (docs/facts/redisson.md#replica-count).
    pub(super) fn count_replicas(&mut self, client: u8) {
        self.replicas_to_wait_for(client);
    }

    /// How many replicas an acquire or a renewal of this client waits for; 0: it sends no `WAIT`.
    pub(super) fn replicas_to_wait_for(&mut self, client: u8) -> u8 {
        let connected = self.count_connected(client);
        self.process(client, |process| process.replicas_to_wait_for(|| connected))
    }

    /// How many replicas the master that this client knows has, as `INFO` says.
    fn count_connected(&self, client: u8) -> u8 {
        if self.config.cluster.wait_for == 0 {
            return 0;
        }
        self.world.group().count_connected(self.world.client(client).master())
    }

    /// One request, executed by one node: its reply, and the token of a new grant.
    fn execute_at(
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
            self.publish(node, publish);
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

    /// A thread asks for the lock.
    pub(super) fn ask_for_lock(&mut self, holder: Holder) -> Option<Reply> {
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

    /// A thread was granted the lock in one step. Whether it sends a `WAIT` before it believes.
    fn begin_wait(&mut self, holder: Holder, token: u8) -> bool {
        let client = holder.client();
        let master = self.world.client(client).master();
        if self.replicas_to_wait_for(client) == 0 {
            self.note_unacknowledged(master);
            return false;
        }
        self.process(client, |process| process.begin_confirming(holder.thread(), token));
        // Nobody sees when the answer is given, only what it says at the time-out.
        let answers = self.server().open_wait(holder, master, 0);
        self.hear_wait_answers(answers);
        true
    }

    /// A holder gives back one hold.
    pub(crate) fn release(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        if !self.process(client, |process| process.can_release(thread)) {
            return None;
        }
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

    /// A thread sends a request. One to a master that does not answer is lost.
    fn send_or_lose(&mut self, requester: Requester, verb: Verb) -> Option<()> {
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

    /// `WAIT` answers at its time-out.
    pub(crate) fn confirm(&mut self, holder: Holder) -> Option<Reply> {
        let (client, thread) = (holder.client(), holder.thread());
        let node = self.world.group().waits_at(holder).filter(|node| self.world.node(*node).answers())?;
        let replicas = self.server().acknowledged(holder, node);
        let reply = verdict_on(&self.config.of_client(client), replicas);
        let is_grant = self.world.requests(client).get(Slot::of_thread(thread)).is_none_or(Request::confirms_grant);
        if reply == (Reply::Acknowledged { replicas: 0 }) && is_grant {
            self.note_unacknowledged(node);
        }
        if Y::InFlight::IS_SPLIT {
            self.server().close_wait(holder);
            self.process(client, |process| process.wait_answered(thread, reply))?;
            return Some(reply);
        }
        if !self.world.client(client).is_running() {
            return None;
        }
        self.server().close_wait(holder);
        self.process(client, |process| {
            if process.hear_wait(thread, reply) {
                process.register_grant(client, thread);
            }
        });
        self.note_renewed(reply, self.world.requester(holder));
        Some(reply)
    }

    /// A client takes a grant that no replica has acknowledged. Without a replica there is nobody who could.
    fn note_unacknowledged(&mut self, master: u8) {
        if self.config.cluster.wait_for > 0 && self.world.group().count_connected(master) > 0 {
            self.notes.broke(Breach::GrantUnacknowledged);
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
            Some(node) => self.execute_at(node, self.world.requester(holder), Verb::SetTtl, 0, BroughtLease::Common)?.0,
            None => Reply::Unreachable,
        };
        self.process(client, |process| process.hear_ttl(thread, reply));
        Some(reply)
    }

    /// Time passes. A paused client has the answer to its `WAIT` by now, and hears it when it runs again.
    pub(super) fn time_out_waits(&mut self) {
        if self.config.cluster.wait_for == 0 {
            return;
        }
        for holder in holders::<Y>() {
            let is_paused = self.world.client(holder.client()).mode == Mode::Paused;
            if !is_paused || self.world.thread(holder).phase != Phase::Confirming {
                continue;
            }
            let master = self.world.client(holder.client()).master();
            let replicas = self.server().acknowledged(holder, master);
            let reply = verdict_on(&self.config.of_client(holder.client()), replicas);
            if matches!(reply, Reply::TooFewReplicas { .. }) {
                self.server().close_wait(holder);
                self.process(holder.client(), |process| process.note_too_few(holder.thread(), reply));
            }
        }
    }

    /// `WAIT`s were answered: clients hear of it.
    pub(super) fn hear_wait_answers(&mut self, answers: WaitAnswers) {
        if self.config.cluster.wait_for == 0 {
            return;
        }
        for (holder, replicas) in answers.iter() {
            let reply = verdict_on(&self.config.of_client(holder.client()), replicas);
            self.process(holder.client(), |process| process.wait_answered(holder.thread(), reply));
        }
    }

    /// The connections to a node are gone: subscriptions end, and `WAIT`s have no answer.
    pub(super) fn lose_connections(&mut self, node: u8) {
        for client in clients::<Y>() {
            if self.world.group().connection(client).subscription() == Some(node) {
                self.world.group_mut().connection_mut(client).set_subscription(None);
                self.notes.happened(Happening::SubscriptionLost);
            }
        }
        self.lose_waits(|holder, world| world.group().waits_at(holder) == Some(node));
    }

    /// Time passes. Where request and answer are one step, nobody waits for a node that stands still.
    pub(super) fn lose_paused_waits(&mut self) {
        if self.config.faults.pause_node > 0 && !Y::InFlight::IS_SPLIT {
            self.lose_waits(|holder, world| {
                world.group().waits_at(holder).is_some_and(|node| world.node(node).is_paused())
            });
        }
    }

    /// A client leaves its master for another one. A call in flight stays on its own connection.
    pub(super) fn leave_master(&mut self, client: u8) {
        if !Y::InFlight::IS_SPLIT {
            self.lose_waits(|holder, world| holder.client() == client && world.group().waits_at(holder).is_some());
        }
    }

    /// Some `WAIT`s lose their connection. The caller does not know whether it holds, nor that there is anything to give
    /// back, and gets an exception.
    fn lose_waits(&mut self, is_meant: impl Fn(Holder, &World<Y>) -> bool) {
        if self.config.cluster.wait_for == 0 {
            return;
        }
        for holder in holders::<Y>() {
            if !is_meant(holder, self.world) {
                continue;
            }
            self.server().close_wait(holder);
            if Y::InFlight::IS_SPLIT {
                self.process(holder.client(), |process| process.wait_lost(holder.thread()));
            } else {
                self.notes.happened(Happening::OutcomeUnknown);
                self.process(holder.client(), |process| process.leave_unconfirmed(holder.thread()));
            }
        }
    }

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

    /// The watchdog renews by the value of the newest grant: a library keeps one per lock and thread.
    fn note_renewed(&mut self, reply: Reply, Requester { holder, value }: Requester) {
        if matches!(reply, Reply::Acquired | Reply::Acknowledged { .. }) {
            self.world.values_mut(holder.client()).set_renewed(holder.thread(), value);
        }
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
        Some(told)
    }

    fn close_wait_of(&mut self, holder: Holder, request: &Request) {
        if matches!(request.stage, Stage::Confirming(_)) {
            self.server().close_wait(holder);
        }
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

/// Whether a client will act, or something of its is to arrive, before time passes.
#[inline]
pub(super) fn is_due<Y: Layout>(config: &Config, world: &World<Y>, client: u8) -> bool {
    let can_execute = |request: &Request| {
        let node = world.node(request.node);
        if matches!(request.stage, Stage::Confirming(_)) { node.answers() } else { node.is_working() }
    };
    // What a node has answered or published may wait in it while it stands still.
    let is_paused = |node: u8| world.node(node).is_paused();
    let is_muted = world.group().connection(client).subscription().is_some_and(is_paused);
    world.view(config, client).is_due(world.reach(client), can_execute, |request| is_paused(request.node), is_muted)
}

/// Every client of this layout.
pub(super) fn clients<Y: Layout>() -> impl Iterator<Item = u8> {
    0..u8::try_from(Y::Clients::<u8>::LEN).unwrap_or(u8::MAX)
}

/// Every thread of every client of this layout.
pub(super) fn holders<Y: Layout>() -> impl Iterator<Item = Holder> {
    clients::<Y>().flat_map(|client| (0..MAX_THREADS).map(move |thread| Holder::new(client, thread)))
}
