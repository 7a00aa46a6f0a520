//! The `WAIT` behind a request: when a client sends one and for how many replicas, and how it ends: with an answer, at its
//! time-out, or with its connection.

use crate::client::requests::{InFlight, Request, Slot, Stage, Verb};
use crate::client::state::{Mode, Phase};
use crate::client::sync_wait::verdict_on;
use crate::config::switches::WaitAfter;
use crate::locks::holder::Holder;
use crate::notes::{Breach, Happening};
use crate::redis::connections::WaitAnswers;
use crate::reply::Reply;
use crate::world::context::Context;
use crate::world::layout::{Layout, clients, holders};
use crate::world::state::World;

impl<Y: Layout> Context<'_, Y> {
    /// Whether a client sends a `WAIT` behind this.
    pub(super) fn waits_behind(&self, verb: Verb) -> bool {
        match self.config.protocol.wait_after {
            WaitAfter::Grants | WaitAfter::GrantsAndRenewals => verb == Verb::Acquire,
            WaitAfter::EveryCall => verb != Verb::Renew,
        }
    }

    /// Before each script of the lock a client reads how many replicas its master has, if it does not know. So it does where
    /// the script is refused, and it may read 0 (docs/facts/redisson.md#replica-count).
    pub(in crate::world) fn count_replicas(&mut self, client: u8) {
        self.replicas_to_wait_for(client);
    }

    /// How many replicas an acquire or a renewal of this client waits for; 0: it sends no `WAIT`.
    pub(in crate::world) fn replicas_to_wait_for(&mut self, client: u8) -> u8 {
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

    /// A thread was granted the lock in one step. Whether it sends a `WAIT` before it believes.
    pub(super) fn begin_wait(&mut self, holder: Holder, token: u8) -> bool {
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

    /// Time passes. A paused client has the answer to its `WAIT` by now, and hears it when it runs again.
    pub(in crate::world) fn time_out_waits(&mut self) {
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
    pub(in crate::world) fn hear_wait_answers(&mut self, answers: WaitAnswers) {
        if self.config.cluster.wait_for == 0 {
            return;
        }
        for (holder, replicas) in answers.iter() {
            let reply = verdict_on(&self.config.of_client(holder.client()), replicas);
            self.process(holder.client(), |process| process.wait_answered(holder.thread(), reply));
        }
    }

    /// The connections to a node are gone: subscriptions end, and `WAIT`s have no answer.
    pub(in crate::world) fn lose_connections(&mut self, node: u8) {
        for client in clients::<Y>() {
            if self.world.group().connection(client).subscription() == Some(node) {
                self.world.group_mut().connection_mut(client).set_subscription(None);
                self.notes.happened(Happening::SubscriptionLost);
            }
        }
        self.lose_waits(|holder, world| world.group().waits_at(holder) == Some(node));
    }

    /// Time passes. Where request and answer are one step, nobody waits for a node that stands still.
    pub(in crate::world) fn lose_paused_waits(&mut self) {
        if self.config.faults.pause_node > 0 && !Y::InFlight::IS_SPLIT {
            self.lose_waits(|holder, world| {
                world.group().waits_at(holder).is_some_and(|node| world.node(node).is_paused())
            });
        }
    }

    /// A client leaves its master for another one. A call in flight stays on its own connection.
    pub(in crate::world) fn leave_master(&mut self, client: u8) {
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

    pub(super) fn close_wait_of(&mut self, holder: Holder, request: &Request) {
        if matches!(request.stage, Stage::Confirming(_)) {
            self.server().close_wait(holder);
        }
    }

    /// A client takes a grant that no replica has acknowledged. Without a replica there is nobody who could.
    pub(super) fn note_unacknowledged(&mut self, master: u8) {
        if self.config.cluster.wait_for > 0 && self.world.group().count_connected(master) > 0 {
            self.notes.broke(Breach::GrantUnacknowledged);
        }
    }
}
