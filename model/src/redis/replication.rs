//! How a write reaches the replicas: later.
//!
//! The reply is sent before any replica has the write; one script is one effect (docs/facts/redis.md#asynchronous-replication, #one-script-one-effect).

use super::clock::taken_over;
use super::connections::WaitAnswers;
use super::group::{Group, Role};
use super::layout::{ServerLayout, StoredIn};
use super::queue::{Effect, Queue};
use super::server::Server;
use crate::config::sections::{Bound, Config, Ttls};
use crate::locks::contract::{KeyFamily, Lock, Writes};
use crate::locks::holder::Holder;
use crate::locks::receipts::{Receipt, ReceiptStore};
use crate::locks::stored::Stored;
use crate::mutants::Mutant;
use crate::notes::{Capacity, Happening};
use crate::slots::Slots;
use crate::time::Timer;

impl<Y: ServerLayout> Server<'_, Y> {
    /// A master stores a value and sends it to its replicas. `None`: too many effects are under way already, so this cannot
    /// happen yet.
    pub(super) fn write(&mut self, master: u8, stored: StoredIn<Y>, writes: Writes) -> Option<()> {
        self.write_with(master, stored, writes, false)
    }

    /// The same, with an unlock message or without: a `PUBLISH` in a script is a part of its effect
    /// (docs/facts/redis.md#publish-in-a-script).
    pub(super) fn write_with(
        &mut self,
        master: u8,
        stored: StoredIn<Y>,
        writes: Writes,
        has_message: bool,
    ) -> Option<()> {
        self.notes.happened(Happening::Wrote);
        let before = core::mem::replace(&mut self.group.node_mut(master).stored, stored);
        // Replicas follow the acting master; one that was replaced, or is cut off, writes for itself alone, unless replicas
        // stayed with it.
        if self.writes_elsewhere(master, before.is_absent()) || !self.is_followed(master) {
            return Some(());
        }
        let sent = match self.config.cluster.ttls {
            Ttls::Absolute => stored,
            Ttls::Relative => stored.with_written_ttls(before, writes),
        };
        self.send(master, sent, writes, has_message)
    }

    /// Whether any replica is sent what this master writes.
    pub(super) fn is_followed(&self, master: u8) -> bool {
        (0..self.config.nodes()).any(|node| self.group.follows(node, master))
    }

    /// The replicas that follow this master are sent this effect.
    pub(super) fn send(&mut self, master: u8, stored: StoredIn<Y>, writes: Writes, has_message: bool) -> Option<()> {
        let config = self.config;
        let tells_subscribers = config.subscribes_to_replica();
        let ahead = self.group.node(master).ahead;
        let room = config.room_for(Capacity::Effects);
        let keeps_lock = !writes.has_content(KeyFamily::Lock) && !writes.has_ttl(KeyFamily::Lock);
        // Of an old master's replicas none is compared with those of the acting one.
        let ranks_replicas = config.ranks_replicas() && master == self.group.master();
        for index in 0..config.nodes() {
            if !self.group.follows(index, master) {
                continue;
            }
            let node = self.group.node_mut(index);
            // A time that is left is the same on every clock; a deadline is not.
            let stored = match config.cluster.ttls {
                Ttls::Relative if !config.is_mutated(Mutant::DeadlinesAlwaysTravel) => stored,
                Ttls::Absolute | Ttls::Relative => taken_over(config, stored, ahead, node.ahead),
            };
            let is_kept = keeps_lock && !stored.is_absent() && config.cluster.ttls == Ttls::Relative;
            let effect = Effect::new(stored, if tells_subscribers { has_message || is_kept } else { keeps_lock });
            // One that stands still has it once it goes on, after what waits there already.
            if config.cluster.lag.is_zero() && !node.is_paused() && node.queue.is_empty() {
                apply(config, &mut node.stored, &effect);
                continue;
            }
            let pushed = if config.merges_effects() {
                node.links.set_missed(node.links.missed() + u8::from(ranks_replicas));
                // Whoever is subscribed here hears the message when the effect is applied.
                let is_heard = tells_subscribers && node.queue.effects().last().is_some_and(Effect::has_message);
                if is_heard { node.queue.push(effect, room) } else { node.queue.supersede(effect, room) }
            } else if config.ranks_replicas() || tells_subscribers {
                node.queue.push(effect, room)
            } else {
                node.queue.push_anew(effect, room)
            };
            if pushed.is_none() {
                self.notes.exceeded(Capacity::Effects);
                return None;
            }
            // Nobody can tell whether a replica has what it stored before. One that never lags has something to apply only
            // because it stood still, and is behind until it does. A master that was told to end waits for one that stands still and
            // has something to apply (docs/facts/redis.md#shutdown).
            let is_told_apart = config.cluster.wait_for > 0
                || tells_subscribers
                || config.cluster.lag.is_zero()
                || config.ends_behind_replicas_that_stand_still();
            let is_idle = !config.ranks_replicas() && !is_told_apart;
            if config.merges_effects() && is_idle && node.queue.effects().iter().all(|last| last.stored == node.stored)
            {
                node.queue = Queue::empty();
            }
        }
        self.rank_replicas();
        Some(())
    }

    /// A replica applies the next effect. Which `WAIT`s that answers, and whether it publishes an unlock message.
    pub(crate) fn replicate(&mut self, node: u8) -> Option<(WaitAnswers, bool)> {
        let master = self.group.master_of(node)?;
        let from = self.group.node(master);
        let is_sent = (from.is_master() || from.is_stopping()) && self.group.follows(node, master);
        if !is_sent || self.group.node(node).is_paused() {
            return None;
        }
        let replica = self.group.node_mut(node);
        let next = replica.queue.pop()?;
        apply(self.config, &mut replica.stored, &next);
        if self.config.merges_effects() {
            replica.links.set_missed(0);
            self.rank_replicas();
        }
        let is_published = self.config.subscribes_to_replica() && next.has_message();
        Some((self.acknowledge(node), is_published))
    }

    /// Where the replica with the most data is chosen, what counts is which of two has missed more, and not how much more:
    /// numbers without gaps, so that they do not grow.
    fn rank_replicas(&mut self) {
        if !self.config.merges_effects() || !self.config.ranks_replicas() {
            return;
        }
        let missed = Y::Nodes::from_fn(|index| self.group.nodes.as_ref()[index].links.missed());
        for node in self.group.nodes.as_mut().iter_mut().filter(|node| node.role == Role::Replica) {
            let own = node.links.missed();
            let is_smaller = |number: &u8| (1..own).contains(number) && missed.as_ref().contains(number);
            let rank = u8::from(own > 0) + u8::try_from((1..own).filter(is_smaller).count()).unwrap_or(u8::MAX);
            node.links.set_missed(rank);
        }
    }

    /// The client has the reply to a release, and deletes its receipt: a `DEL` that nobody waits for. It is executed at
    /// once: a late one changes nothing that anybody reads. Where the node refuses to write, the receipt stays until it
    /// expires.
    pub(crate) fn drop_receipt(&mut self, node: u8, holder: Holder, id: u8) -> Option<()> {
        let before = self.group.node(node).stored;
        if before.receipts.find(holder, id).is_none() || self.refusal(node).is_some() {
            return Some(());
        }
        let stored = Stored { receipts: before.receipts.without(holder, id), ..before };
        self.write(node, stored, Writes::NONE.content(KeyFamily::Receipt).ttl(KeyFamily::Receipt))
    }

    /// The key vanishes without a message: evicted because memory is short, or deleted by hand. The master tells its
    /// replicas, as of any write, and no waiter (docs/facts/redis.md#memory, #expiry-is-silent).
    pub(crate) fn vanish(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(node);
        if !master.is_master() || !master.is_working() || master.stored.is_absent() {
            return None;
        }
        let stored = Stored { lock: master.stored.lock.without(KeyFamily::Lock), ..master.stored };
        self.write(node, stored, Writes::NONE.key(KeyFamily::Lock))
    }

    /// Another program stores a string under the name of a lock, whoever holds it: a `SET`, which takes the TTL away as well
    /// (docs/facts/redisson.md#a-key-of-a-wrong-type). The master tells its replicas, as of any write, and no waiter.
    pub(crate) fn overwrite(&mut self, node: u8, name: u8) -> Option<()> {
        let master = self.group.node(node);
        let is_executed = master.is_working() && self.refusal(node).is_none();
        let lock = master.stored.lock.overwritten(name).filter(|_| is_executed)?;
        self.write(node, Stored { lock, ..master.stored }, Writes::NONE.key(KeyFamily::Lock))
    }

    /// The receipts are evicted and the lock stays: `volatile-ttl` takes the keys with the shortest TTL first, and a receipt
    /// outlives no lock that is renewed (docs/facts/redis.md#receipts-are-evicted-first). The master tells its replicas.
    pub(crate) fn vanish_receipts(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(node);
        if !master.is_master() || !master.is_working() || master.stored.receipts.iter().next().is_none() {
            return None;
        }
        let stored = Stored { receipts: Default::default(), ..master.stored };
        self.write(node, stored, Writes::NONE.key(KeyFamily::Receipt))
    }

    /// The counter of fencing tokens vanishes and the lock stays: an `allkeys` policy evicts keys without a TTL as well
    /// (docs/facts/redis.md#memory). The master tells its replicas.
    pub(crate) fn vanish_token(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(node);
        if !master.is_master() || !master.is_working() || master.stored.lock.token_counter() == 0 {
            return None;
        }
        let stored = Stored { lock: master.stored.lock.without(KeyFamily::Token), ..master.stored };
        self.write(node, stored, Writes::NONE.key(KeyFamily::Token))
    }

    /// The TTL of the lock's key is taken away (`PERSIST`). The master tells its replicas, as of any write
    /// (docs/facts/redis.md#persist).
    pub(crate) fn persist(&mut self, node: u8) -> Option<()> {
        let master = self.group.node(node);
        let stored = Stored { lock: master.stored.lock.persisted(), ..master.stored };
        let is_executed = master.is_working() && self.refusal(node).is_none();
        if stored == master.stored || master.stored.is_absent() || !is_executed {
            return None;
        }
        if self.config.is_mutated(Mutant::PersistStaysLocal) {
            self.group.node_mut(node).stored = stored;
            return Some(());
        }
        self.write(node, stored, Writes::NONE.ttl(KeyFamily::Lock))
    }
}

/// A replica applies an effect. Where TTLs travel as the time that is left, a key whose TTL was not written keeps the
/// replica's own: a receipt that was over there is not left once more by the next write.
fn apply<Y: ServerLayout>(config: &Config, own: &mut StoredIn<Y>, effect: &Effect<Y>) {
    if config.is_mutated(Mutant::ReplicaDropsEffect) {
        return;
    }
    let told = effect.stored;
    let is_relative = config.cluster.ttls == Ttls::Relative;
    let receipts = if config.is_mutated(Mutant::ReceiptNotReplicated) {
        own.receipts
    } else if is_relative {
        told.receipts.changed(|receipt: Receipt| {
            let is_written = receipt.remaining != Timer::UNWRITTEN;
            own.receipts.find(receipt.holder, receipt.id).or(Some(receipt).filter(|_| is_written))
        })
    } else {
        told.receipts
    };
    let keeps_lock = effect.keeps_lock() && !told.is_absent();
    let lock = match config.cluster.ttls {
        Ttls::Relative if keeps_lock => own.lock.with_untimed_of(told.lock),
        // A key that the replica hides stays hidden until its TTL is written.
        Ttls::Relative if own.is_absent() && told.lock == told.lock.without_ttl() => {
            Y::Lock::default().with_untimed_of(told.lock)
        }
        Ttls::Relative => told.lock.with_ttl_of(own.lock),
        Ttls::Absolute => told.lock,
    };
    *own = Stored { lock, receipts };
}

/// Whether time must wait for a replica. Not while it, or its master, stands still: what the master wrote may not have
/// left it.
pub(crate) fn has_due_effect<Y: ServerLayout>(config: &Config, group: &Group<Y>) -> bool {
    let Bound::Ticks(lag) = config.cluster.lag else { return false };
    let is_paused = |node: u8| group.node(node).is_paused();
    group.numbered().any(|(index, node)| {
        let is_due = node.queue.effects().first().is_some_and(|oldest| oldest.age() >= lag);
        is_due && !node.is_paused() && !group.master_of(index).is_some_and(is_paused)
    })
}
