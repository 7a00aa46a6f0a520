//! Release receipts: short-lived keys beside the lock, by which a release that is sent again does nothing.
//!
//! They are written by the script of the release and replicated in its effect; the client deletes one once it has the
//! reply (facts/redisson.md, "release receipt"). Only where the network is split does anybody ever read one.

use core::hash::{Hash, Hasher};

use crate::config::{Config, LockKind, MAX_RECEIPTS, Ttls};
use crate::locks::keys::{Key, KeySlot, KeyValue};
use crate::locks::{AcquireReply, Record, ReleaseReply};
use crate::mutants::Mutant;
use crate::step::Happenings;
use crate::wire::Requests;
use crate::world::{Holder, Timer, World};
use crate::{partition, replication};

/// One receipt: `redisson_unlock_latch:{name}:id`, `1` or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// Whose release it was.
    pub holder: Holder,
    /// Which of its releases. Numbers are used again once nobody remembers them.
    pub id: u8,
    /// Whether that release freed the lock.
    pub freed: bool,
    /// How long the key lives.
    pub remaining: Timer,
}

impl Receipt {
    /// The key it is.
    fn key(self) -> Key {
        Key {
            slot: KeySlot::Receipt { holder: self.holder, number: self.id },
            value: KeyValue::String(u8::from(self.freed).to_string()),
            ttl: self.remaining,
        }
    }
}

/// A lock with its receipts: what a node stores where the network is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receipted<K> {
    lock: K,
    receipts: Receipts,
    /// Of an effect: it writes no more than the receipts. A node that stores it has this off.
    keeps_lock: bool,
}

/// In one order, whichever was left first; those that are not there come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Receipts([Option<Receipt>; MAX_RECEIPTS as usize]);

impl Receipts {
    fn iter(&self) -> impl Iterator<Item = Receipt> {
        self.0.into_iter().flatten()
    }

    fn find(&self, holder: Holder, id: u8) -> Option<Receipt> {
        self.iter().find(|receipt| receipt.holder == holder && receipt.id == id)
    }

    fn changed(self, change: impl Fn(Receipt) -> Option<Receipt>) -> Self {
        let mut cells = self.0.map(|cell| cell.and_then(&change));
        cells.sort_unstable_by(|left, right| right.cmp(left));
        Self(cells)
    }
}

impl<K: Record<Wire = ()>> Record for Receipted<K> {
    const KIND: LockKind = K::KIND;

    type Wire = Requests;

    fn holder(&self) -> Option<Holder> {
        self.lock.holder()
    }

    fn hold_count(&self) -> u8 {
        self.lock.hold_count()
    }

    fn remaining(&self) -> Timer {
        self.lock.remaining()
    }

    fn keys(&self) -> Vec<Key> {
        self.lock.keys().into_iter().chain(self.receipts.iter().map(Receipt::key)).collect()
    }

    fn with_remaining(self, remaining: Timer) -> Self {
        Self { lock: self.lock.with_remaining(remaining), ..self }
    }

    fn with_holder(self, holder: Holder) -> Self {
        Self { lock: self.lock.with_holder(holder), ..self }
    }

    fn without_lock(self) -> Self {
        Self { lock: self.lock.without_lock(), ..self }
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        let receipts = self.receipts.changed(|receipt| Some(Receipt { holder: rename(receipt.holder), ..receipt }));
        Self { lock: self.lock.renamed(rename), receipts, ..self }
    }

    fn receipts(&self) -> impl Iterator<Item = Receipt> {
        self.receipts.iter()
    }

    fn with_receipt(self, receipt: Receipt) -> Option<Self> {
        let mut receipts = self.receipts;
        *receipts.0.iter_mut().find(|cell| cell.is_none())? = Some(receipt);
        // Only a release leaves one, and it writes the lock as well.
        Some(Self { receipts: receipts.changed(Some), keeps_lock: false, ..self })
    }

    fn without_receipt(self, holder: Holder, id: u8) -> Self {
        let is_other = |receipt: &Receipt| receipt.holder != holder || receipt.id != id;
        Self { receipts: self.receipts.changed(|receipt| Some(receipt).filter(is_other)), keeps_lock: true, ..self }
    }

    fn with_older_receipts(self) -> Self {
        let older = |receipt: Receipt| Receipt { remaining: receipt.remaining.later(), ..receipt };
        let is_alive = |receipt: &Receipt| !receipt.remaining.is_due();
        Self { receipts: self.receipts.changed(|receipt| Some(receipt).filter(is_alive).map(older)), ..self }
    }

    fn as_effect(self, before: Self, config: &Config) -> Self {
        if config.cluster.ttls == Ttls::Absolute {
            return self;
        }
        let untold = |receipt: Receipt| match before.receipts.find(receipt.holder, receipt.id) {
            Some(_) => Receipt { remaining: Timer::OFF, ..receipt },
            None => receipt,
        };
        Self { receipts: self.receipts.changed(|receipt| Some(untold(receipt))), ..self }
    }

    /// Where TTLs travel as the time that is left, what an effect does not write keeps the replica's own time: a receipt
    /// that was over there is not left once more by the next write.
    fn after(self, effect: Self, config: &Config) -> Self {
        let receipts = match config.cluster.ttls {
            _ if config.is_mutated(Mutant::ReceiptNotReplicated) => self.receipts,
            Ttls::Absolute => effect.receipts,
            Ttls::Relative => effect.receipts.changed(|told| {
                let is_written = told.remaining != Timer::OFF;
                self.receipts.find(told.holder, told.id).or(Some(told).filter(|_| is_written))
            }),
        };
        let is_alive_elsewhere = effect.lock.holder().is_some();
        let keeps_lock = effect.keeps_lock && is_alive_elsewhere && config.cluster.ttls == Ttls::Relative;
        let lock = if keeps_lock { self.lock } else { effect.lock };
        Self { lock, receipts, keeps_lock: false }
    }

    fn acquire(self, config: &Config, holder: Holder) -> (Self, AcquireReply) {
        let (lock, reply) = self.lock.acquire(config, holder);
        (Self { lock, ..self }, reply)
    }

    fn renew(self, config: &Config, holder: Holder) -> (Self, bool) {
        let (lock, is_renewed) = self.lock.renew(config, holder);
        (Self { lock, ..self }, is_renewed)
    }

    fn release(self, config: &Config, holder: Holder) -> (Self, ReleaseReply) {
        let (lock, reply) = self.lock.release(config, holder);
        (Self { lock, ..self }, reply)
    }
}

/// The client has its reply, so the receipt of that release goes: a `DEL` that nobody waits for. It is executed at once:
/// a late one changes nothing that anybody reads. Where no master is reached, or it refuses to write, the receipt stays
/// until it runs out.
pub(crate) fn drop_receipt<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
    id: u8,
) -> Option<()> {
    let Some(node) = world.reachable_master(holder.client()) else { return Some(()) };
    let before = world.node(node).record;
    let is_there = before.receipts().any(|receipt| receipt.holder == holder && receipt.id == id);
    if !is_there || partition::refusal(config, world, node).is_some() {
        return Some(());
    }
    let effect = before.without_receipt(holder, id);
    replication::write(config, world, seen, node, effect)?;
    world.node_mut(node).record = effect.after(effect, config);
    Some(())
}

impl Hash for Receipts {
    // In words, for the reason that `world` gives.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for cell in self.0 {
            hasher.write_u32(cell.map_or(0, |Receipt { holder, id, freed, remaining }| {
                u32::from_le_bytes([Holder::byte(Some(holder)), id, u8::from(freed), remaining.byte()])
            }));
        }
    }
}
