//! What one node stores of one lock: what its kind keeps, and the release receipts beside it.

use super::contract::{KeyFamily, Lock, LockContext, Requester, StoredHold, Writes};
use super::holder::Holder;
use super::keys::Key;
use super::receipts::{Receipt, ReceiptStore};
use crate::time::Timer;

/// A lock with its receipts. Both travel in effects and lie on disks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stored<L, R> {
    /// What the kind keeps.
    pub lock: L,
    /// The receipts beside it.
    pub receipts: R,
}

impl<L: Lock, R: ReceiptStore> Stored<L, R> {
    /// Whether nobody holds.
    pub fn is_free(&self) -> bool {
        self.lock.holders().next().is_none()
    }

    /// Whether nothing is stored under the lock's own key.
    pub fn is_absent(&self) -> bool {
        self.lock.is_absent()
    }

    /// Whether this holder holds, by whichever of its acquires.
    pub fn is_held_by(&self, holder: Holder) -> bool {
        self.lock.holders().any(|hold| hold.by.holder == holder)
    }

    /// Whether this holder holds by that acquire: only then may it release and renew.
    pub fn is_held_as(&self, requester: Requester) -> bool {
        self.lock.holders().any(|hold| hold.by == requester)
    }

    /// The first holder of the lock with that name.
    pub fn holder_under(&self, name: u8) -> Option<StoredHold> {
        self.lock.holders().find(|hold| L::name_of(hold.by.holder) == name)
    }

    /// How often this holder entered, by that acquire; 0: it does not hold.
    pub fn hold_count(&self, requester: Requester) -> u8 {
        self.lock.holders().find(|hold| hold.by == requester).map_or(0, |hold| hold.count)
    }

    /// Everybody who holds.
    pub fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.lock.holders()
    }

    /// Every key that it occupies on a node.
    pub fn keys(&self) -> Vec<Key> {
        self.lock.keys().into_iter().chain(self.receipts.keys()).collect()
    }

    /// `ticks` pass on this node's clock. Receipts age with time alone: clocks that jump beside receipts are refused by
    /// the scenario reader.
    #[must_use]
    pub(crate) fn pass(self, context: LockContext, ticks: i8) -> Self {
        Self { lock: self.lock.pass(context, ticks).0, ..self }
    }

    /// One tick passes.
    #[must_use]
    pub(crate) fn later(self, context: LockContext) -> Self {
        Self { lock: self.lock.pass(context, 1).0.deadlines_pass(), receipts: self.receipts.later() }
    }

    /// The same with every holder renamed.
    #[must_use]
    pub(crate) fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        let receipts = self.receipts.changed(|receipt| Some(Receipt { holder: rename(receipt.holder), ..receipt }));
        Self { lock: self.lock.renamed(rename), receipts }
    }

    /// The same with every value's number exchanged.
    #[must_use]
    pub(crate) fn renumbered(self, renumber: impl Fn(Requester) -> u8) -> Self {
        Self { lock: self.lock.renumbered(renumber), ..self }
    }

    /// What replicas are sent where TTLs travel as the time that is left: no TTL of a receipt that was there before, nor of
    /// the lock's key if only its content was written.
    #[must_use]
    pub(crate) fn with_written_ttls(self, before: Self, writes: Writes) -> Self {
        let keeps_ttl = writes.has_content(KeyFamily::Lock) && !writes.has_ttl(KeyFamily::Lock);
        let lock = if keeps_ttl { self.lock.without_ttl() } else { self.lock };
        let untold = |receipt: Receipt| match before.receipts.find(receipt.holder, receipt.id) {
            Some(_) => Receipt { remaining: Timer::UNWRITTEN, ..receipt },
            None => receipt,
        };
        Self { lock, receipts: self.receipts.changed(|receipt| Some(untold(receipt))) }
    }
}
