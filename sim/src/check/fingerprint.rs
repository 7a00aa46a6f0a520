//! A state's fingerprint, and the table of those that were met.
//!
//! Two states with one fingerprint are taken for the same: of n states the chance that any two collide is about
//! n² / 2⁶⁵, 3 in 10⁸ for a million. stateright has the same weakness with another hash, so a collision would show
//! as two distinct counts.

use std::hash::{Hash, Hasher};

/// The fingerprint of a value: never 0, the same on every machine.
pub fn fingerprint<T: Hash>(value: &T) -> u64 {
    let mut hasher = PackingHasher { state: 0x243F_6A88_85A3_08D3, word: 0, filled: 0 };
    value.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Packs the small fields of a state into words before mixing: states are made of bytes.
struct PackingHasher {
    state: u64,
    word: u64,
    filled: u32,
}

impl PackingHasher {
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

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.push(byte);
    }

    fn write_isize(&mut self, discriminant: isize) {
        // Derived hashes write the discriminants of enums so, and none of ours has 256 variants.
        match u8::try_from(discriminant) {
            Ok(byte) => self.push(byte),
            Err(_) => self.write(&discriminant.to_le_bytes()),
        }
    }

    fn write_usize(&mut self, _length: usize) {
        // The length of an array: the same in every state of a run.
    }
}

/// The fingerprints that were met: open addressing, 8 bytes a slot, at most ¾ full.
pub struct Table {
    slots: Vec<u64>,
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { slots: vec![0; 1 << 12], len: 0 }
    }
}

impl Table {
    /// Notes a fingerprint. True if it is new.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let is_new = place(&mut self.slots, fingerprint);
        self.len += usize::from(is_new);
        is_new
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 2];
        for &fingerprint in self.slots.iter().filter(|&&slot| slot != 0) {
            place(&mut slots, fingerprint);
        }
        self.slots = slots;
    }
}

/// Puts a fingerprint into its slot; false if it is there already. There is always an empty slot.
fn place(slots: &mut [u64], fingerprint: u64) -> bool {
    let mask = slots.len() - 1;
    #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
    let mut slot = fingerprint as usize & mask;
    loop {
        match slots[slot] {
            0 => {
                slots[slot] = fingerprint;
                return true;
            }
            there if there == fingerprint => return false,
            _ => slot = (slot + 1) & mask,
        }
    }
}
