//! Several locks of one kind, each under a name of its own.
//!
//! A node stores all of them, and each travels in every effect. Thread *t* of every client uses the lock with the name *t*: so
//! a request says by its holder which lock it is about, and nothing but this file and the renewal of several names
//! (`client/named_renewals`) has to know that there is more than one.

use super::contract::{
    KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Requester, StoredHold, Writes,
};
use super::facts::Facts;
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use crate::limits::MAX_NAMES;
use crate::time::Timer;

/// What somebody stores who takes a lock's key for another one.
pub const FOREIGN_VALUE: &str = "oops";

/// As many locks of a kind as there can be names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Named<L> {
    locks: [L; MAX_NAMES as usize],
    /// Bit *n*: another program has stored a string under the name *n* (`SET`). It has no TTL, and every script that looks
    /// into it fails (docs/facts/redisson.md#a-key-of-a-wrong-type).
    overwritten: u8,
}

impl<L: Lock> Named<L> {
    fn is_overwritten(&self, name: u8) -> bool {
        self.overwritten >> name & 1 != 0
    }

    fn map(self, change: impl Fn(L) -> L) -> Self {
        Self { locks: self.locks.map(change), ..self }
    }
}

impl<L: Lock> Lock for Named<L> {
    const FACTS: Facts = L::FACTS;
    const NAMES: u8 = MAX_NAMES;
    /// Worlds of several names have one size.
    const HAS_SMALL_WORLDS: bool = false;

    type Values = L::Values;
    type Calls = NoCalls;
    type Tokens = L::Tokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        // A forced release names no holder, and so no lock: the scenario reader refuses it beside several names.
        let Some(caller) = request.caller() else {
            return Outcome::of(self, Writes::ATTEMPT, LockReply::NothingToRelease);
        };
        let name = Self::name_of(caller);
        if self.is_overwritten(name) {
            // The script fails before it writes.
            return Outcome::of(self, Writes::NONE, LockReply::WrongType);
        }
        let mut after = self;
        let own = &mut after.locks[usize::from(name)];
        let Outcome { stored, writes, reply, publish, publishes_first, token } = own.execute(context, request);
        *own = stored;
        Outcome { stored: after, writes, reply, publish, publishes_first, token }
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        self.locks.iter().flat_map(L::holders)
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let mut lapsed = Lapsed::NONE;
        let locks = self.locks.map(|lock| {
            let (lock, own) = lock.pass(context, ticks);
            if own.has(KeyFamily::Lock) {
                lapsed = lapsed.and(KeyFamily::Lock);
            }
            lock
        });
        (Self { locks, ..self }, lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        let overwritten = if slot == KeyFamily::Lock { 0 } else { self.overwritten };
        Self { overwritten, ..self.map(|lock| lock.without(slot)) }
    }

    fn without_due(self) -> Self {
        let is_due = |lock: &L| lock.holders().any(|hold| hold.remaining.is_due());
        self.map(|lock| if is_due(&lock) { lock.without(KeyFamily::Lock) } else { lock })
    }

    fn without_due_under(self, name: u8) -> Option<Self> {
        let mut after = self;
        let own = after.locks.get_mut(usize::from(name)).filter(|lock| lock.has_due())?;
        *own = own.without(KeyFamily::Lock);
        Some(after)
    }

    fn persisted(self) -> Self {
        self.map(L::persisted)
    }

    fn without_ttl(self) -> Self {
        self.map(L::without_ttl)
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let mut after = self;
        for (lock, own) in after.locks.iter_mut().zip(own.locks) {
            *lock = lock.with_ttl_of(own);
        }
        after
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (name, lock) in (0..).zip(&self.locks) {
            let slot = |slot: KeySlot| match (slot, name) {
                (KeySlot::Lock, 1..) => KeySlot::NamedLock { number: name + 1 },
                (slot, _) => slot,
            };
            if self.is_overwritten(name) {
                let value = KeyValue::String(FOREIGN_VALUE.to_owned());
                keys.push(Key { slot: slot(KeySlot::Lock), value, ttl: Timer::OFF });
            }
            keys.extend(lock.keys().into_iter().map(|key| Key { slot: slot(key.slot), ..key }));
        }
        keys
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        self.map(|lock| lock.renamed(&rename))
    }

    fn renumbered(self, renumber: impl Fn(Requester) -> u8) -> Self {
        self.map(|lock| lock.renumbered(&renumber))
    }

    fn overwritten(self, name: u8) -> Option<Self> {
        if name >= MAX_NAMES || self.is_overwritten(name) {
            return None;
        }
        let mut after = self;
        after.locks[usize::from(name)] = L::default();
        after.overwritten |= 1 << name;
        Some(after)
    }
}
