//! A state's fingerprint, and the tables of those that were met.
//!
//! Two states with one fingerprint are taken for the same. Of n states the chance that any two collide is at most
//! n² / 2^(bits + 1): [`collision_bound`]. stateright has the same weakness with another hash, so a collision would
//! show as two distinct counts.

use std::hash::{Hash, Hasher};

/// A fingerprint, 64 or 128 bits wide: never 0, the same on every machine.
pub trait Fingerprint: Copy + Eq + Ord + Send + Sync {
    /// How wide it is.
    const BITS: u32;
    /// What an empty slot holds.
    const NONE: Self;

    /// The fingerprint of a value.
    fn of<T: Hash>(value: &T) -> Self;

    /// 64 bits to choose a shard and a slot by.
    fn word(self) -> u64;
}

impl Fingerprint for u64 {
    const BITS: u32 = 64;
    const NONE: Self = 0;

    fn of<T: Hash>(value: &T) -> Self {
        hashed(value, 0x243F_6A88_85A3_08D3).max(1)
    }

    fn word(self) -> u64 {
        self
    }
}

impl Fingerprint for u128 {
    const BITS: u32 = 128;
    const NONE: Self = 0;

    fn of<T: Hash>(value: &T) -> Self {
        let high = hashed(value, 0x1319_8A2E_0370_7344);
        (Self::from(high) << 64 | Self::from(hashed(value, 0x243F_6A88_85A3_08D3))).max(1)
    }

    fn word(self) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        let low = self as u64;
        low
    }
}

/// The chance that any two of so many states have one fingerprint, at most (the birthday bound).
pub fn collision_bound(states: u64, bits: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a bound needs no more than a few digits")]
    let states = states as f64;
    states * states / 2f64.powi(i32::try_from(bits).unwrap_or(i32::MAX) + 1)
}

fn hashed<T: Hash>(value: &T, seed: u64) -> u64 {
    let mut hasher = PackingHasher { state: seed, word: 0, filled: 0 };
    value.hash(&mut hasher);
    hasher.finish()
}

/// Packs the small fields of a state into words before mixing: states are made of bytes.
struct PackingHasher {
    state: u64,
    word: u64,
    filled: u32,
}

impl PackingHasher {
    #[inline]
    fn push(&mut self, byte: u8) {
        self.word |= u64::from(byte) << self.filled;
        self.filled += 8;
        if self.filled == 64 {
            self.state = mix(self.state ^ self.word);
            self.word = 0;
            self.filled = 0;
        }
    }
}

/// Folded multiplication: both halves of a 128-bit product, so that every bit of the word reaches every bit of the state.
#[inline]
const fn mix(word: u64) -> u64 {
    let product = (word ^ 0xA076_1D64_78BD_642F) as u128 * 0xE703_7ED1_A0B4_28DB;
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

impl Hasher for PackingHasher {
    fn finish(&self) -> u64 {
        mix(mix(self.state ^ self.word) ^ u64::from(self.filled))
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.push(byte);
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        if self.filled <= 32 {
            self.word |= u64::from(word) << self.filled;
            self.filled += 32;
            if self.filled == 64 {
                self.state = mix(self.state ^ self.word);
                self.word = 0;
                self.filled = 0;
            }
        } else {
            self.write(&word.to_le_bytes());
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        // Words need not wait for what is half filled: the state is made of the same fields in the same order always.
        self.state = mix(self.state ^ word).rotate_left(1);
    }

    #[inline]
    fn write_isize(&mut self, discriminant: isize) {
        // Derived hashes write the discriminants of enums so, and none of ours has 256 variants.
        match u8::try_from(discriminant) {
            Ok(byte) => self.push(byte),
            Err(_) => self.write(&discriminant.to_le_bytes()),
        }
    }

    #[inline]
    fn write_usize(&mut self, _length: usize) {
        // The length of an array: the same in every state of a run.
    }
}

/// The fingerprints that were met, or one shard of them: open addressing, at most ¾ full.
pub struct Table<F> {
    slots: Vec<F>,
    len: usize,
}

impl<F: Fingerprint> Default for Table<F> {
    fn default() -> Self {
        Self { slots: vec![F::NONE; 1 << 6], len: 0 }
    }
}

impl<F: Fingerprint> Table<F> {
    /// Notes a fingerprint. True if it is new.
    pub fn insert(&mut self, fingerprint: F) -> bool {
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let is_new = place(&mut self.slots, fingerprint);
        self.len += usize::from(is_new);
        is_new
    }

    /// Looks at the slots that these will want first, all at once: memory answers many questions in the time of one.
    /// Nothing depends on it but speed.
    pub fn warm(&self, fingerprints: &[F]) {
        let mask = self.slots.len() - 1;
        for &fingerprint in fingerprints {
            std::hint::black_box(self.slots[slot_of(fingerprint, mask)].word());
        }
    }

    /// The memory it takes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<F>()
    }

    fn grow(&mut self) {
        let mut slots = vec![F::NONE; self.slots.len() * 2];
        for &fingerprint in self.slots.iter().filter(|&&slot| slot != F::NONE) {
            place(&mut slots, fingerprint);
        }
        self.slots = slots;
    }
}

/// Puts a fingerprint into its slot; false if it is there already. There is always an empty slot.
#[inline]
fn place<F: Fingerprint>(slots: &mut [F], fingerprint: F) -> bool {
    let mask = slots.len() - 1;
    let mut slot = slot_of(fingerprint, mask);
    loop {
        let there = slots[slot];
        if there == F::NONE {
            slots[slot] = fingerprint;
            return true;
        }
        if there == fingerprint {
            return false;
        }
        slot = (slot + 1) & mask;
    }
}

#[inline]
fn slot_of<F: Fingerprint>(fingerprint: F, mask: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot, the high ones the shard")]
    let slot = fingerprint.word() as usize & mask;
    slot
}
