//! The replication queue of one replica: effects that its master has written and that it has not applied yet.

use super::layout::{ServerLayout, StoredIn};
use crate::limits::{MAX_THREADS, MAX_TICKS, MAX_WAITING_CLIENTS};
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::locks::receipts::ReceiptStore as _;
use crate::locks::stored::Stored;
use crate::slots::Slots;
use crate::time::Timer;

/// Effects under way to one replica, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue<Y: ServerLayout> {
    len: u8,
    /// Free cells are in their default.
    effects: Y::Queue<Effect<Y>>,
}

/// One effect: everything that one script wrote.
///
/// It holds what it leaves at its master: effects are applied in order over the same prefix, so that is the same as the
/// writes themselves (Redis sends them as one `MULTI … EXEC`, TTLs as absolute times; docs/facts/redis.md#one-script-one-effect, #ttls-on-the-link).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Effect<Y: ServerLayout> {
    /// What the replica stores once it is applied.
    pub stored: StoredIn<Y>,
    /// Ticks since it was written, counted only where the scenario bounds the lag, and two flags. With several lock names, whose lag
    /// has no bound, a bit for each thread whose `WAIT` is for this effect stands in the place of the ticks.
    bits: u8,
}

impl<Y: ServerLayout> Queue<Y> {
    /// Nothing under way.
    pub fn empty() -> Self {
        Self { len: 0, effects: Y::Queue::from_fn(|_| Effect::default()) }
    }

    /// How many effects are under way.
    pub const fn len(&self) -> u8 {
        self.len
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The effects under way, oldest first.
    pub fn effects(&self) -> &[Effect<Y>] {
        &self.effects.as_ref()[..usize::from(self.len)]
    }

    /// The effects under way, to change them.
    pub(crate) fn effects_mut(&mut self) -> &mut [Effect<Y>] {
        &mut self.effects.as_mut()[..usize::from(self.len)]
    }

    /// One effect more, in the place of the newest if nobody waits for that one: whoever could see the replica between the
    /// two sees the same where the replica has applied the older one before the newer one was written. `None`: there is no
    /// room.
    #[must_use]
    pub(super) fn supersede(&mut self, effect: Effect<Y>, room: u8) -> Option<()> {
        match self.effects_mut().last_mut() {
            Some(newest) if !newest.is_awaited() => {
                *newest = effect.aged(effect.age().max(newest.age()));
                Some(())
            }
            _ => self.push(effect, room),
        }
    }

    /// One effect more, where a TTL counts from its arrival. An older one that is alike is dropped: it could arrive when this
    /// one does, and before this one was written it could have arrived at any time. Not so if an effect between them leaves
    /// a TTL as it was. `None`: there is no room.
    #[must_use]
    pub(super) fn push_anew(&mut self, effect: Effect<Y>, room: u8) -> Option<()> {
        let alike = self.effects().iter().position(|older| *older == effect.aged(older.age()));
        let Some(at) = alike.filter(|&at| self.effects()[at..].iter().all(Effect::tells_every_ttl)) else {
            return self.push(effect, room);
        };
        let age = self.effects()[at].age();
        let end = usize::from(self.len) - 1;
        let effects = self.effects_mut();
        effects.copy_within(at + 1.., at);
        effects[end] = effect;
        effects[at] = effects[at].aged(effects[at].age().max(age));
        Some(())
    }

    /// Drops each effect that nobody waits for any more and that another follows; see [`supersede`](Self::supersede). `tells`:
    /// those that carry a message stay.
    pub(super) fn merge(&mut self, tells: bool) {
        let mut at = 0;
        while at + 1 < usize::from(self.len) {
            let effects = self.effects_mut();
            let older = effects[at];
            if older.is_awaited() || tells && older.has_message() {
                at += 1;
                continue;
            }
            effects[at + 1] = effects[at + 1].aged(effects[at + 1].age().max(older.age()));
            effects.copy_within(at + 1.., at);
            self.len -= 1;
            self.effects.as_mut()[usize::from(self.len)] = Effect::default();
        }
    }

    /// One effect more. `None`: as many are under way as there is room for.
    #[must_use]
    pub(super) fn push(&mut self, effect: Effect<Y>, room: u8) -> Option<()> {
        if self.len >= room {
            return None;
        }
        *self.effects.as_mut().get_mut(usize::from(self.len))? = effect;
        self.len += 1;
        Some(())
    }

    /// Takes the oldest effect out; `None`: there is none.
    pub(super) fn pop(&mut self) -> Option<Effect<Y>> {
        self.len = self.len.checked_sub(1)?;
        let effects = self.effects.as_mut();
        let next = effects[0];
        effects.copy_within(1.., 0);
        effects[usize::from(self.len)..].fill(Effect::default());
        Some(next)
    }
}

impl<Y: ServerLayout> Effect<Y> {
    const AWAITED: u8 = 1 << 7;
    const KEEPS_LOCK: u8 = 1 << 6;
    /// The same flag, of an effect that leaves the lock free: only then is there a message, and nothing else that an effect
    /// could leave as it was. Set so where clients subscribe to replicas.
    const HAS_MESSAGE: u8 = Self::KEEPS_LOCK;
    const AGE: u8 = Self::KEEPS_LOCK - 1;

    /// Written just now. `is_marked`: neither content nor TTL of the lock's key was written; or, where clients subscribe to
    /// replicas, it carries an unlock message.
    pub(super) const fn new(stored: StoredIn<Y>, is_marked: bool) -> Self {
        Self { stored, bits: if is_marked { Self::KEEPS_LOCK } else { 0 } }
    }

    /// The same, written this many ticks ago: what arrives in the place of an older effect has to arrive as early.
    const fn aged(self, age: u8) -> Self {
        Self { bits: self.bits & !Self::AGE | age, ..self }
    }

    /// Whether a replica that applies it keeps no TTL of its own.
    fn tells_every_ttl(&self) -> bool {
        let Stored { lock, receipts } = self.stored;
        let tells_lock = self.stored.is_absent() || lock != lock.without_ttl();
        !self.keeps_lock() && tells_lock && receipts.iter().all(|receipt| receipt.remaining != Timer::UNWRITTEN)
    }

    /// Ticks since it was written, as far as they are counted. Where it took the place of others: since the oldest was.
    pub const fn age(&self) -> u8 {
        self.bits & Self::AGE
    }

    /// Whether neither content nor TTL of the lock's key was written.
    pub(super) const fn keeps_lock(&self) -> bool {
        self.bits & Self::KEEPS_LOCK != 0
    }

    /// Whether it carries an unlock message; asked only where clients subscribe to replicas.
    pub(crate) fn has_message(&self) -> bool {
        self.bits & Self::HAS_MESSAGE != 0 && self.stored.is_absent()
    }

    /// A tick has passed.
    pub(super) const fn grow_older(&mut self) {
        const { assert!(MAX_TICKS < Self::AGE, "a lag has room beside the flags") };
        self.bits += 1;
    }

    /// Whether it is a grant whose caller waits for replicas to have it.
    pub const fn is_awaited(&self) -> bool {
        self.bits & Self::AWAITED != 0
    }

    /// Its caller waits for it, or does not any more.
    pub(super) const fn set_awaited(&mut self, is_awaited: bool) {
        self.bits = self.bits & !Self::AWAITED | if is_awaited { Self::AWAITED } else { 0 };
    }

    /// With several lock names: whether this thread waits for it.
    pub(super) const fn is_awaited_by(&self, holder: Holder) -> bool {
        self.bits & Self::bit_of(holder) != 0
    }

    /// With several lock names: this thread waits for it, or does not any more.
    pub(super) const fn set_awaited_by(&mut self, holder: Holder, is_awaited: bool) {
        let waiters = self.bits & Self::AGE & !Self::bit_of(holder);
        let waiters = if is_awaited { waiters | Self::bit_of(holder) } else { waiters };
        self.bits = self.bits & Self::KEEPS_LOCK | waiters;
        self.set_awaited(waiters != 0);
    }

    /// The same with other numbers for clients and threads. With one lock name nobody is named but by what is stored.
    pub(crate) fn renamed(self, rename: impl Fn(Holder) -> Holder + Copy) -> Self {
        let named = Self { stored: self.stored.renamed(rename), ..self };
        if Y::Lock::NAMES == 1 {
            return named;
        }
        let unawaited = Self { bits: self.bits & Self::KEEPS_LOCK, ..named };
        let waiters = (0..MAX_WAITING_CLIENTS)
            .flat_map(|client| (0..MAX_THREADS).map(move |thread| Holder::new(client, thread)))
            .filter(|holder| self.is_awaited_by(*holder));
        waiters.fold(unawaited, |mut effect, holder| {
            effect.set_awaited_by(rename(holder), true);
            effect
        })
    }

    const fn bit_of(holder: Holder) -> u8 {
        const { assert!(1 << (MAX_WAITING_CLIENTS * MAX_THREADS) == Self::AGE + 1, "a bit each, in the place of the age") };
        1 << (holder.client() * MAX_THREADS + holder.thread())
    }

    /// Age and flags as a byte, for hashing.
    pub(crate) const fn byte(&self) -> u8 {
        self.bits
    }
}
