//! Clocks of nodes: what passes with a tick, and with a jump.
//!
//! Source: docs/facts/redis.md#the-clock: time is the wall clock, a forward jump ends locks early, a backward jump makes
//! them outlive; every node has its own. A TTL that travels as an absolute time is judged by the receiver's clock. A key
//! with 0 ticks left may be gone already, and both are explored (docs/facts/redis.md#ties); one tick later it is gone. A
//! replica hides an expired key and never deletes it by itself; with all clocks alike that looks the same, so an expired key
//! is simply gone.

use super::disk;
use super::group::{Group, Role};
use super::layout::{ServerLayout, StoredIn};
use super::server::Server;
use crate::config::sections::{Bound, Config, Ttls};
use crate::locks::contract::{KeyFamily, Lock, Writes};
use crate::locks::receipts::ReceiptStore;
use crate::locks::stored::Stored;
use crate::mutants::Mutant;

impl<Y: ServerLayout> Server<'_, Y> {
    /// Whether the lock's key on the acting master expires when `ticks` pass.
    pub(crate) fn expires(&self, ticks: i8) -> bool {
        self.group.acting_master().is_some_and(|master| lapses(self.config, &master.stored, ticks))
    }

    /// One tick on every clock. Time runs while a node is down, on its disk as well (docs/facts/redis.md#loading: nothing expires while
    /// loading, and then everything that is due).
    pub(crate) fn tick(&mut self) -> Option<()> {
        // Where nobody can tell that a master sends what it deletes, it is left out.
        let config = self.config;
        let telling = |group: &Group<Y>, is_over: fn(&Config, &StoredIn<Y>) -> bool| {
            let must_tell = |node: &u8| {
                let master = group.node(*node);
                config.counts_deletions() && master.is_master() && is_over(config, &master.stored)
            };
            (0..config.nodes()).filter(must_tell).fold(0_u8, |all, node| all | 1 << node)
        };
        let of_lock = telling(self.group, |config, stored| lapses(config, stored, 1));
        let of_receipts = telling(self.group, receipts_lapse);
        let context = config.lock_context();
        self.group.failover_left = self.group.failover_left.later();
        self.grow_silence();
        for node in self.group.nodes.as_mut() {
            node.stored = node.stored.later(context);
            node.disk = node.disk.later(context);
            disk::grow_older(config, node);
            for effect in node.queue.effects_mut() {
                match config.cluster.ttls {
                    Ttls::Absolute => effect.stored = effect.stored.later(context),
                    Ttls::Relative => effect.stored.lock = effect.stored.lock.deadlines_pass(),
                }
                // One that is due waits longer only where a node stands still.
                if matches!(config.cluster.lag, Bound::Ticks(lag) if effect.age() < lag) {
                    effect.grow_older();
                }
            }
        }
        (0..config.nodes()).try_for_each(|node| {
            let deleted = |of: u8, family: KeyFamily, writes: Writes| {
                if of >> node & 1 == 0 { writes } else { writes.key(family) }
            };
            let writes = deleted(of_receipts, KeyFamily::Receipt, deleted(of_lock, KeyFamily::Lock, Writes::NONE));
            if (of_lock | of_receipts) >> node & 1 == 0 { Some(()) } else { self.send_deletion_of(node, writes) }
        })
    }

    /// Whether the clock of this node can jump. Backward only that of a master: a replica deletes nothing by itself, and
    /// would show again what it only hides.
    pub(crate) fn can_jump(&self, node: u8) -> bool {
        let jumping = self.group.node(node);
        jumping.is_up() && (self.config.time.jump >= 0 || jumping.is_master())
    }

    /// Whether the lock's key on this node expires by a jump of its clock.
    pub(crate) fn expires_by_jump(&self, node: u8) -> bool {
        lapses(self.config, &self.group.node(node).stored, self.config.time.jump)
    }

    /// The clock of a node jumps.
    pub(crate) fn jump(&mut self, node: u8) -> Option<()> {
        let config = self.config;
        let (context, jump) = (config.lock_context(), config.time.jump);
        let is_over = self.expires_by_jump(node);
        let jumping = self.group.node_mut(node);
        jumping.ahead += jump;
        jumping.stored = jumping.stored.pass(context, jump);
        jumping.disk = jumping.disk.pass(context, jump);
        if config.cluster.ttls == Ttls::Absolute {
            for effect in jumping.queue.effects_mut() {
                effect.stored = effect.stored.pass(context, jump);
            }
        }
        if is_over { self.send_deletion(node) } else { Some(()) }
    }

    /// Whether the lock's key on this node has no time left: it may be gone already.
    pub(crate) fn lock_is_due(&self, node: u8) -> bool {
        let stored = &self.group.node(node).stored;
        let is_due = lapses(self.config, stored, 1) || Y::Lock::FACTS.sharing.is_there() && stored.lock.has_due();
        is_due && !self.config.is_mutated(Mutant::ClientWinsTies)
    }

    /// The lock's key of this node has no time left, and is gone before the others who act at this instant. A replica hides
    /// it, and whatever else has no time left by its clock; what its master sends treats it as alive.
    pub(crate) fn expire(&mut self, node: u8) -> Option<()> {
        let expiring = self.group.node_mut(node);
        expiring.stored.lock = expiring.stored.lock.without_due();
        if !expiring.is_master() {
            expiring.stored.receipts = expiring.stored.receipts.without_due();
        }
        if self.config.sends_expiry() { self.send_deletion(node) } else { Some(()) }
    }

    /// The lock of that name, which has no time left, is gone, and no other one. `None`: there is no such lock.
    pub(crate) fn expire_part(&mut self, node: u8, name: u8) -> Option<()> {
        let expiring = self.group.node_mut(node);
        expiring.stored.lock = expiring.stored.lock.without_due_under(name)?;
        Some(())
    }

    /// The receipts of this node that have no time left are gone. `None`: there is none.
    pub(crate) fn expire_receipts(&mut self, node: u8) -> Option<()> {
        let expiring = self.group.node_mut(node);
        let left = expiring.stored.receipts.without_due();
        if left == expiring.stored.receipts || self.config.is_mutated(Mutant::ClientWinsTies) {
            return None;
        }
        expiring.stored.receipts = left;
        if self.config.waits_for_deletions() {
            self.send_deletion_of(node, Writes::NONE.key(KeyFamily::Receipt))
        } else {
            Some(())
        }
    }

    /// A master deletes what has expired, and sends that to its replicas: they do not look at the time themselves
    /// (docs/facts/redis.md#the-clock).
    pub(super) fn send_deletion(&mut self, master: u8) -> Option<()> {
        self.send_deletion_of(master, Writes::NONE.key(KeyFamily::Lock))
    }

    /// The same of these keys.
    pub(super) fn send_deletion_of(&mut self, master: u8, writes: Writes) -> Option<()> {
        let deleting = self.group.node(master);
        let is_elsewhere = deleting.role == Role::KeysMoved;
        if !deleting.is_master() || !deleting.is_working() || is_elsewhere || !self.is_followed(master) {
            return Some(());
        }
        self.send(master, deleting.stored, writes, false)
    }
}

/// Whether the lock's key expires when `ticks` pass.
fn lapses<L: Lock, R>(config: &Config, stored: &Stored<L, R>, ticks: i8) -> bool {
    stored.lock.pass(config.lock_context(), ticks).1.has(KeyFamily::Lock)
}

/// Whether a receipt is deleted as the next tick passes, and somebody can tell.
fn receipts_lapse<L: Lock, R: ReceiptStore>(config: &Config, stored: &Stored<L, R>) -> bool {
    config.waits_for_deletions() && stored.receipts.iter().any(|receipt| receipt.remaining.is_due())
}

/// What one node stores as another takes it over: its deadlines are times of the first one's clock.
pub(super) fn taken_over<L: Lock, R: ReceiptStore>(
    config: &Config,
    stored: Stored<L, R>,
    from_ahead: i8,
    to_ahead: i8,
) -> Stored<L, R> {
    if from_ahead == to_ahead { stored } else { stored.pass(config.lock_context(), to_ahead - from_ahead) }
}
