//! The table of fingerprints in shards, and the candidates on their way to them.

use std::iter;

use lockstep_model::Config;

use super::options::{BLOCK, SHARDS};
use crate::check::coverage::Coverage;
use crate::check::fingerprint::{Fingerprint, Table};

/// Candidates whose slots are fetched together.
const WARMED: usize = 32;

/// A successor on its way to its shard: its fingerprint, and its parent's place in the block combined with the action
/// in one number. Packed, because there are several for each state.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Candidate<F> {
    pub(super) fingerprint: F,
    pub(super) order: u32,
}

/// The candidates of a chunk, by shard. Kept from block to block, to reuse its memory.
pub(super) struct Batch<F> {
    pub(super) by_shard: Vec<Vec<Candidate<F>>>,
    pub(super) coverage: Coverage,
}

impl<F> Batch<F> {
    pub(super) fn new(config: &Config) -> Self {
        Self { by_shard: iter::repeat_with(Vec::new).take(SHARDS).collect(), coverage: Coverage::none(config) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.by_shard.iter().map(Vec::capacity).sum::<usize>() * size_of::<Candidate<F>>()
    }
}

/// One shard's part of the fingerprints, and what it found in the last block.
pub(super) struct Shard<F> {
    pub(super) table: Table<F>,
    pub(super) found: Vec<u32>,
}

impl<F: Fingerprint> Default for Shard<F> {
    fn default() -> Self {
        Self { table: Table::default(), found: Vec::new() }
    }
}

impl<F: Fingerprint> Shard<F> {
    /// Returns those of the shard's candidates that are new to its table, in order.
    pub(super) fn sift(&mut self, number: usize, batches: &[&Batch<F>]) {
        let Self { table, found } = self;
        found.clear();
        let mut some = batches.iter().flat_map(|batch| batch.by_shard[number].chunks(WARMED));
        let warm = |table: &Table<F>, some: Option<&[Candidate<F>]>| {
            table.warm(some.unwrap_or_default().iter().map(|candidate| candidate.fingerprint));
        };
        let mut next = some.next();
        warm(table, next);
        while let Some(candidates) = next {
            // The next candidates are fetched while these are looked up.
            next = some.next();
            warm(table, next);
            for &Candidate { fingerprint, order } in candidates {
                if table.insert(fingerprint) {
                    found.push(order);
                }
            }
        }
    }
}

/// The shard is chosen by the high bits, because the low ones choose the slot.
pub(super) fn shard_of<F: Fingerprint>(fingerprint: F) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "six bits")]
    let shard = (fingerprint.word() >> (64 - SHARDS.trailing_zeros())) as usize;
    shard
}

/// A place in a block and an action, as one number that sorts like the pair.
pub(super) fn join(place: usize, action: u16) -> u32 {
    const { assert!(BLOCK < 1 << (u32::BITS - u16::BITS), "place and action share a number") };
    u32::try_from(place << u16::BITS).unwrap_or(u32::MAX) | u32::from(action)
}

pub(super) fn split(order: u32) -> (usize, u16) {
    let [low, high, ..] = order.to_le_bytes();
    (order as usize >> u16::BITS, u16::from_le_bytes([low, high]))
}
