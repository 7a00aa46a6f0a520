//! `WAIT` on the server side: which replicas have acknowledged what a connection wrote last, and when the answer is given.
//!
//! On time-out it answers the smaller number, and the write stays (docs/facts/redis.md#wait). The time-out is shorter
//! than a tick (Redisson's is a second): the answer may come at any moment, and comes before time passes.

use super::connections::WaitAnswers;
use super::layout::ServerLayout;
use super::queue::Effect;
use super::server::Server;
use crate::config::sections::Config;
use crate::config::switches::WaitAfter;
use crate::limits::MAX_THREADS;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::slots::Slots;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A master has executed a request, and its caller sends `WAIT`. `asks_for`: the node answers as soon as that many replicas
    /// have the grant; 0: only the number at the time-out can be seen.
    pub(crate) fn open_wait(&mut self, holder: Holder, master: u8, asks_for: u8) -> WaitAnswers {
        self.group.connection_mut(holder.client()).open_wait(holder.thread(), master, asks_for);
        // A `WAIT` is for all that its master had written when its connection was served last. The grant was that. Renewals of a hold that was there before may follow it, on another connection.
        for node in 0..self.config.nodes() {
            if self.group.follows(node, master)
                && let Some(last) = self.group.node_mut(node).queue.effects_mut().last_mut()
            {
                if self.config.clients.names > 1 {
                    last.set_awaited_by(holder, true);
                } else {
                    last.set_awaited(true);
                }
            }
        }
        let nodes = u8::try_from(Y::Nodes::<u8>::LEN).unwrap_or(u8::MAX);
        (0..nodes).fold(WaitAnswers::default(), |answers, node| answers.and(self.acknowledge(node)))
    }

    /// A replica has applied an effect, or copied everything: it acknowledges each grant that is not under way to it any
    /// more. Which `WAIT`s are answered by that. A master that stands still reads it later (`count_anew`).
    pub(super) fn acknowledge(&mut self, node: u8) -> WaitAnswers {
        let mut answers = WaitAnswers::default();
        if self.config.cluster.wait_for == 0 {
            return answers;
        }
        let is_believed =
            self.config.is_mutated(Mutant::PausedReplicaAcknowledges) && self.group.node(node).is_paused();
        if self.group.node(node).is_paused() && !is_believed {
            return answers;
        }
        // Each master in turn is answered by the replica that follows it then.
        let is_heard = |master: &u8| self.group.follows(node, *master) && !self.group.node(*master).is_paused();
        let Some(master) = self.group.master_of(node).filter(is_heard) else {
            return answers;
        };
        let queue = self.group.node(node).queue;
        let connections = u8::try_from(Y::Connections::<u8>::LEN).unwrap_or(u8::MAX);
        for client in 0..connections {
            for holder in (0..MAX_THREADS).map(|thread| Holder::new(client, thread)) {
                let is_its_own = |effect: &Effect<Y>| is_awaited_by(self.config, effect, holder);
                let is_under_way = || queue.effects().iter().any(is_its_own);
                if self.group.waits_at(holder) == Some(master) && (is_believed || !is_under_way()) {
                    self.group.connection_mut(client).note_acknowledged(holder.thread(), node);
                    let asks_for = self.group.connection(client).asks_for(holder.thread());
                    let replicas = self.acknowledged(holder, master);
                    if asks_for > 0 && replicas >= asks_for {
                        self.close_wait(holder);
                        answers.note(holder, replicas);
                    }
                }
            }
        }
        answers
    }

    /// How many replicas have acknowledged all that this master has written by now, and are connected to it.
    ///
    /// The `WAIT` behind a renewal is answered in the same step. Nothing is lost by that where replicas are prompt: one that is
    /// late stands still, and whatever it or anybody else does before the time-out it may as well do before the renewal, or after.
    pub(crate) fn acknowledging_all(&self, master: u8) -> u8 {
        let has_all = |node: &u8| {
            let replica = self.group.node(*node);
            self.group.follows(*node, master) && replica.queue.is_empty() && !replica.is_paused()
        };
        let have = self.group.connected_replicas(master).filter(has_all).count();
        u8::try_from(have).unwrap_or(u8::MAX)
    }

    /// How many replicas have acknowledged the grant and are still connected to that master.
    pub(crate) fn acknowledged(&self, holder: Holder, master: u8) -> u8 {
        let connection = self.group.connection(holder.client());
        let is_acknowledged = |node: &u8| connection.is_acknowledged_by(holder.thread(), *node);
        let have = self.group.connected_replicas(master).filter(is_acknowledged).count();
        u8::try_from(have).unwrap_or(u8::MAX)
    }

    /// This `WAIT` is answered, or its connection is gone.
    pub(crate) fn close_wait(&mut self, holder: Holder) {
        self.group.connection_mut(holder.client()).close_wait(holder.thread());
        let tells = self.config.subscribes_to_replica();
        for node in self.group.nodes.as_mut() {
            for effect in node.queue.effects_mut() {
                if !is_awaited_by(self.config, effect, holder) {
                    continue;
                }
                if self.config.clients.names > 1 {
                    effect.set_awaited_by(holder, false);
                } else {
                    effect.set_awaited(false);
                }
            }
            if self.config.merges_effects() {
                node.queue.merge(tells);
            }
        }
    }
}

/// Whether this holder's `WAIT` is for this effect. Behind every call there is one thread, and so one `WAIT` at a time; behind grants
/// one lock has one holder. Several locks may have several, and each effect says which of them wait for it.
fn is_awaited_by<Y: ServerLayout>(config: &Config, effect: &Effect<Y>, holder: Holder) -> bool {
    if config.clients.names > 1 {
        return effect.is_awaited_by(holder);
    }
    effect.is_awaited() && (config.protocol.wait_after == WaitAfter::EveryCall || effect.stored.is_held_by(holder))
}
