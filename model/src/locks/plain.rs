//! The plain lock: a key that only its creator deletes. No re-entry, no message.
//!
//! Read beside `impl/src/locks/plain.rs`, which tells Redis the same rule.
//! Source: facts/redisson.md, "Others: Plain", the form in the Redis documentation.

use core::hash::{Hash, Hasher};

use crate::config::{Config, LockKind};
use crate::locks::keys::{Key, KeySlot, KeyValue};
use crate::locks::{AcquireReply, Record, ReleaseReply};
use crate::mutants::Mutant;
use crate::world::{Holder, Timer};

/// The string under the lock's key: who made it; the key's TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plain {
    holder: Option<Holder>,
    remaining: Timer,
}

impl Record for Plain {
    const KIND: LockKind = LockKind::Plain;

    type Wire = ();

    fn holder(&self) -> Option<Holder> {
        self.holder
    }

    fn hold_count(&self) -> u8 {
        u8::from(self.holder.is_some())
    }

    fn remaining(&self) -> Timer {
        self.remaining
    }

    fn keys(&self) -> Vec<Key> {
        let key = |holder: Holder| Key {
            slot: KeySlot::Lock,
            value: KeyValue::String(holder.to_string()),
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
        if self.holder.is_some() && !config.is_mutated(Mutant::AcquireIgnoresHolder) {
            // Its own creator is refused too: NX asks whether the key is there, not whose it is.
            return (self, AcquireReply::Busy { remaining: self.remaining });
        }
        (Self { holder: Some(holder), remaining: Timer::ticks(config.time.lease) }, AcquireReply::Acquired)
    }

    /// The documentation's "extend": compare, then set the TTL.
    fn renew(self, config: &Config, holder: Holder) -> (Self, bool) {
        let lease = Timer::ticks(config.time.lease);
        if self.holder == Some(holder) {
            return (Self { remaining: lease, ..self }, true);
        }
        if config.is_mutated(Mutant::RenewalRecreatesLock) && self.holder.is_none() {
            return (Self { holder: Some(holder), remaining: lease }, true);
        }
        (self, false)
    }

    fn release(self, config: &Config, holder: Holder) -> (Self, ReleaseReply) {
        let is_mine = self.holder == Some(holder)
            || (self.holder.is_some() && config.is_mutated(Mutant::ReleaseWithoutHolderCheck));
        if !is_mine {
            return (self, ReleaseReply::NotHeld);
        }
        (Self::default(), ReleaseReply::Released)
    }
}

impl Hash for Plain {
    // In one word, for the reason that `world` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { holder, remaining } = *self;
        hasher.write_u32(u32::from_le_bytes([Holder::byte(holder), remaining.byte(), 0, 0]));
    }
}
