//! Fingerprints of states, and hash tables of the fingerprints seen so far.
//!
//! Two states with equal fingerprints are treated as the same state. For n states the probability that any two collide
//! is at most n² / 2^(bits + 1): [`collision_bound`]. stateright has the same weakness with another hash, so a
//! collision would show as two different counts.

use std::hash::{Hash, Hasher};

/// A fingerprint, 64 or 128 bits wide: never 0, the same on every machine.
pub trait Fingerprint: Copy + Eq + Ord + Send + Sync {
    /// Its width in bits.
    const BITS: u32;
    /// The content of an empty slot.
    const NONE: Self;

    /// The fingerprint of a value.
    fn of<T: Hash>(value: &T) -> Self;

    /// 64 bits for choosing a shard and a slot.
    fn word(self) -> u64;
}

impl Fingerprint for u64 {
    const BITS: u32 = 64;
    const NONE: Self = 0;

    #[inline]
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

/// An upper bound on the probability that any two of this many states share a fingerprint (the birthday bound).
pub fn collision_bound(states: u64, bits: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a bound needs no more than a few digits")]
    let states = states as f64;
    states * states / 2f64.powi(i32::try_from(bits).unwrap_or(i32::MAX) + 1)
}

#[inline]
fn hashed<T: Hash>(value: &T, seed: u64) -> u64 {
    let mut hasher = PackingHasher { lanes: [seed, !seed], half: 0, filled: 0, first: None };
    value.hash(&mut hasher);
    hasher.finish()
}

/// Packs the small fields of a state into words, and mixes the words in pairs: states consist of bytes.
///
/// Two lanes take the pairs alternately, so that one multiplication need not wait for the previous one. A state always
/// has the same fields in the same order, so the compiler knows how they are packed.
struct PackingHasher {
    lanes: [u64; 2],
    /// Bytes that do not fill a word yet; `filled` is how many bits they are.
    half: u64,
    filled: u32,
    /// A word that waits for a second one.
    first: Option<u64>,
}

#[expect(clippy::inline_always, reason = "measured: what is packed with what is then known when this is compiled")]
impl PackingHasher {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.half |= u64::from(byte) << self.filled;
        self.filled += 8;
        self.flush();
    }

    #[inline(always)]
    fn flush(&mut self) {
        if self.filled == 64 {
            let word = self.half;
            (self.half, self.filled) = (0, 0);
            self.take(word);
        }
    }

    #[inline(always)]
    fn take(&mut self, word: u64) {
        match self.first.take() {
            None => self.first = Some(word),
            Some(first) => {
                let [lane, other] = self.lanes;
                self.lanes = [other, mix(first ^ lane, word)];
            }
        }
    }
}

/// Folded multiplication: both halves of a 128-bit product, so that every bit of both words affects every bit of the
/// result. The first word carries what was mixed before.
#[inline]
const fn mix(carried: u64, word: u64) -> u64 {
    let product = (carried ^ 0xA076_1D64_78BD_642F) as u128 * (word ^ 0xE703_7ED1_A0B4_28DB) as u128;
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

#[expect(clippy::inline_always, reason = "measured: what is packed with what is then known when this is compiled")]
impl Hasher for PackingHasher {
    #[inline(always)]
    fn finish(&self) -> u64 {
        let [lane, other] = self.lanes;
        let rest = mix(lane ^ self.half, self.first.unwrap_or(u64::from(self.filled)));
        mix(mix(rest, other), 0)
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    #[inline(always)]
    fn write_u8(&mut self, byte: u8) {
        self.push(byte);
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        if self.filled <= 32 {
            self.half |= u64::from(word) << self.filled;
            self.filled += 32;
            self.flush();
        } else {
            self.write(&word.to_le_bytes());
        }
    }

    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        // A whole word need not wait until the half-filled one is full.
        self.take(word);
    }

    #[inline(always)]
    fn write_isize(&mut self, discriminant: isize) {
        // Derived hashes write enum discriminants this way, and none of our enums has 256 variants.
        match u8::try_from(discriminant) {
            Ok(byte) => self.push(byte),
            Err(_) => self.write(&discriminant.to_le_bytes()),
        }
    }

    #[inline(always)]
    fn write_usize(&mut self, _length: usize) {
        // The length of an array: the same in every state of a run.
    }
}

/// The fingerprints seen so far, or one shard of them: open addressing, at most ¾ full.
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
    /// Inserts a fingerprint. True if it is new.
    #[inline]
    pub fn insert(&mut self, fingerprint: F) -> bool {
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let is_new = place(&mut self.slots, fingerprint);
        self.len += usize::from(is_new);
        is_new
    }

    /// Reads the slots where these fingerprints will be looked up, all at once: memory serves many reads in the time of
    /// one. This affects only speed.
    pub fn warm(&self, fingerprints: impl Iterator<Item = F>) {
        let mask = self.slots.len() - 1;
        for fingerprint in fingerprints {
            std::hint::black_box(self.slots[slot_of(fingerprint, mask)].word());
        }
    }

    /// Its memory in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<F>()
    }

    /// The bytes that it takes at once if this many more fingerprints make it grow; 0: they do not.
    pub fn growth(&self, new: usize) -> usize {
        let grows = (self.len + new) * 4 >= self.slots.len() * 3;
        if grows { self.bytes() * 2 } else { 0 }
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = roomy(F::NONE, self.slots.len() * 2);
        for &fingerprint in self.slots.iter().filter(|&&slot| slot != F::NONE) {
            place(&mut slots, fingerprint);
        }
        self.slots = slots;
    }
}

/// This many empty slots; each of their pages has been written to.
///
/// Measured: fresh memory is one shared page of zeros, so a page that is read before it is written is faulted in twice,
/// the second time interrupting every other thread.
pub(super) fn roomy<T: Copy>(empty: T, slots: usize) -> Vec<T> {
    /// The smallest page size there is.
    const PAGE_BYTES: usize = 1 << 12;
    let mut slots = vec![empty; slots];
    for page in slots.chunks_mut((PAGE_BYTES / size_of::<T>()).max(1)) {
        page[0] = std::hint::black_box(empty);
    }
    slots
}

/// A cache of recently seen fingerprints; each slot keeps the latest one. It forgets entries but never invents one.
pub struct Recent<F> {
    slots: Vec<F>,
    began: usize,
}

impl<F: Fingerprint> Default for Recent<F> {
    fn default() -> Self {
        Self { slots: vec![F::NONE; 1 << 13], began: 0 }
    }
}

impl<F: Fingerprint> Recent<F> {
    /// Starts the piece of work with this number. Entries from a later piece are cleared, because what is found in this
    /// piece comes before them.
    pub fn begin(&mut self, piece: usize) {
        if piece < self.began {
            self.slots.fill(F::NONE);
        }
        self.began = piece;
    }

    /// Whether the fingerprint was seen recently, as far as the cache remembers. Records it in any case.
    #[inline]
    pub fn meet(&mut self, fingerprint: F) -> bool {
        let slot = slot_of(fingerprint, self.slots.len() - 1);
        std::mem::replace(&mut self.slots[slot], fingerprint) == fingerprint
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
