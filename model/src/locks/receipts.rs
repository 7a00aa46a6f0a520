//! Release receipts: short-lived keys beside the lock, by which a release that is sent again does nothing.
//!
//! They are written by the script of the release and replicated in its effect; the client deletes one once it has the
//! reply (docs/facts/redisson.md#release-receipt). Only where request and answer are steps of their own does anybody ever
//! read one, so a node keeps [`NoReceipts`] elsewhere.

use core::fmt::Debug;
use core::hash::{Hash, Hasher};

use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use crate::time::Timer;

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
    /// The key that it occupies on a node.
    fn key(self) -> Key {
        Key {
            slot: KeySlot::Receipt { holder: self.holder, number: self.id },
            value: KeyValue::String(if self.freed { "1" } else { "0" }.to_owned()),
            ttl: self.remaining,
        }
    }
}

/// The receipts that a node stores.
pub trait ReceiptStore:
    Copy + Clone + Debug + Default + PartialEq + Eq + Hash + PartialOrd + Ord + Send + Sync + 'static
{
    /// Every receipt.
    fn iter(&self) -> impl Iterator<Item = Receipt>;

    /// Each receipt changed, or dropped where `change` says `None`.
    #[must_use]
    fn changed(self, change: impl Fn(Receipt) -> Option<Receipt>) -> Self;

    /// One receipt more. `None`: there are as many as there is room for.
    #[must_use]
    fn with(self, receipt: Receipt, room: u8) -> Option<Self>;

    /// The keys that they occupy on a node.
    fn keys(&self) -> Vec<Key> {
        self.iter().map(Receipt::key).collect()
    }

    /// The receipt of that release.
    fn find(&self, holder: Holder, id: u8) -> Option<Receipt> {
        self.iter().find(|receipt| receipt.holder == holder && receipt.id == id)
    }

    /// The same without the receipt of that release.
    #[must_use]
    fn without(self, holder: Holder, id: u8) -> Self {
        self.changed(|receipt| Some(receipt).filter(|other| other.holder != holder || other.id != id))
    }

    /// One tick later: a receipt that was due is gone.
    #[must_use]
    fn later(self) -> Self {
        let alive = self.without_due();
        alive.changed(|receipt| Some(Receipt { remaining: receipt.remaining.later(), ..receipt }))
    }

    /// The same without the receipts that have no time left.
    #[must_use]
    fn without_due(self) -> Self {
        self.changed(|receipt| Some(receipt).filter(|receipt| !receipt.remaining.is_due()))
    }
}

/// No receipt, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoReceipts;

impl ReceiptStore for NoReceipts {
    fn iter(&self) -> impl Iterator<Item = Receipt> {
        core::iter::empty()
    }

    fn changed(self, _: impl Fn(Receipt) -> Option<Receipt>) -> Self {
        self
    }

    fn with(self, _: Receipt, _: u8) -> Option<Self> {
        Some(self)
    }
}

/// Up to `R` receipts. In one order, whichever was left first; free cells come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipts<const R: usize>([Option<Receipt>; R]);

impl<const R: usize> Default for Receipts<R> {
    fn default() -> Self {
        Self([None; R])
    }
}

impl<const R: usize> ReceiptStore for Receipts<R> {
    fn iter(&self) -> impl Iterator<Item = Receipt> {
        self.0.into_iter().flatten()
    }

    fn changed(self, change: impl Fn(Receipt) -> Option<Receipt>) -> Self {
        let mut cells = self.0.map(|cell| cell.and_then(&change));
        cells.sort_unstable_by(|left, right| right.cmp(left));
        Self(cells)
    }

    fn with(self, receipt: Receipt, room: u8) -> Option<Self> {
        if self.iter().count() >= usize::from(room) {
            return None;
        }
        let mut cells = self.0;
        *cells.iter_mut().find(|cell| cell.is_none())? = Some(receipt);
        Some(Self(cells).changed(Some))
    }
}

impl<const R: usize> Hash for Receipts<R> {
    // In words, for the reason that `world/hash` gives.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for cell in self.0 {
            hasher.write_u32(cell.map_or(0, |Receipt { holder, id, freed, remaining }| {
                u32::from_le_bytes([Holder::byte(Some(holder)), id, u8::from(freed), remaining.byte()])
            }));
        }
    }
}
