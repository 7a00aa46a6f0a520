//! The reentrant lock: one holder, who may enter again.
//!
//! Read beside `impl/src/locks/reentrant.rs`, which tells Redis the same rule.
//! Waiting is not here (`wakeup`), nor is keeping the lock alive (`watchdog`).
//! Source: facts/redisson.md, "Reentrant lock".

use core::hash::{Hash, Hasher};

use crate::config::{Config, LockKind};
use crate::locks::keys::{Key, KeySlot, KeyValue};
use crate::locks::{AcquireReply, Record, ReleaseReply};
use crate::mutants::Mutant;
use crate::world::{Holder, Timer};

/// The hash under the lock's key: one field, the holder, with its hold count; the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
pub struct Reentrant {
    holder: Option<Holder>,
    hold_count: u8,
    remaining: Timer,
}

impl Record for Reentrant {
    const KIND: LockKind = LockKind::Reentrant;

    type Wire = ();

    fn holder(&self) -> Option<Holder> {
        self.holder
    }

    fn hold_count(&self) -> u8 {
        self.hold_count
    }

    fn remaining(&self) -> Timer {
        self.remaining
    }

    fn keys(&self) -> Vec<Key> {
        let key = |holder: Holder| Key {
            slot: KeySlot::Lock,
            value: KeyValue::Hash([(holder.to_string(), self.hold_count.into())].into()),
            ttl: self.remaining,
        };
        self.holder.map(key).into_iter().collect()
    }

    fn with_remaining(self, remaining: Timer) -> Self {
        Self { remaining, ..self }
    }

    fn with_holder(self, holder: Holder) -> Self {
        Self { holder: Some(holder), ..self }
    }

    fn acquire(self, config: &Config, holder: Holder) -> (Self, AcquireReply) {
        let lease = Timer::ticks(config.time.lease);
        match self.holder {
            // A re-entry resets the TTL: it does not add to it.
            Some(stored) if stored == holder => {
                let hold_count = self.hold_count + u8::from(!config.is_mutated(Mutant::ReentryWithoutCount));
                (Self { hold_count, remaining: lease, ..self }, AcquireReply::Reentered)
            }
            Some(_) if !config.is_mutated(Mutant::AcquireIgnoresHolder) => {
                (self, AcquireReply::Busy { remaining: self.remaining })
            }
            _ => (Self { holder: Some(holder), hold_count: 1, remaining: lease }, AcquireReply::Acquired),
        }
    }

    fn renew(self, config: &Config, holder: Holder) -> (Self, bool) {
        let lease = Timer::ticks(config.time.lease);
        if self.holder == Some(holder) {
            return (Self { remaining: lease, ..self }, true);
        }
        if config.is_mutated(Mutant::RenewalRecreatesLock) && self.holder.is_none() {
            return (Self { holder: Some(holder), hold_count: 1, remaining: lease }, true);
        }
        (self, false)
    }

    fn release(self, config: &Config, holder: Holder) -> (Self, ReleaseReply) {
        let is_mine = self.holder == Some(holder)
            || (self.holder.is_some() && config.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return (self, ReleaseReply::NotHeld);
        }
        if self.hold_count > 1 && !config.is_mutated(Mutant::ReleaseDropsAllHolds) {
            // A partial release gives the rest a whole lease again.
            let remaining = Timer::ticks(config.time.lease);
            return (Self { hold_count: self.hold_count - 1, remaining, ..self }, ReleaseReply::StillHeld);
        }
        (Self::default(), ReleaseReply::Released)
    }
}

impl Hash for Reentrant {
    // In one word, for the reason that `world` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, hold_count, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), hold_count, remaining.byte(), 0]));
    }
}
