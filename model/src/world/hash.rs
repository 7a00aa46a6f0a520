//! How a world is hashed: states are hashed more often than anything else is done to them.
//!
//! Written by hand, and only here, because derived hashes go byte by byte: small fields make up whole words, and every
//! field is named by a pattern without `..`, so that none can be forgotten.

use core::hash::{Hash, Hasher};

use super::{Client, Effect, Group, Link, Node, RenewalTable, ResourceLog, Thread, WakeupEntry, Wires, World};
use crate::locks::Record;

/// Small fields in one word.
const fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

impl<R: Record, const C: usize, const N: usize> Hash for World<R, C, N> {
    // Loops, because a derived hash of an array is a call and not inlined. What has a length of its own comes last: how
    // everything before is packed is then known when this is compiled.
    #[expect(clippy::inline_always, reason = "measured: words are mixed where they are read")]
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { clients, wires, group, resource: ResourceLog { newest }, faults, breaches } = self;
        let Group { master, failover_left, nodes } = group;
        for client in clients {
            client.hash(hasher);
        }
        for node in nodes {
            node.hash_standing(hasher);
        }
        faults.hash(hasher);
        hasher.write_u32(u32::from_le_bytes([*master, failover_left.0, *newest, breaches.0]));
        for node in nodes {
            node.hash_rest(hasher);
        }
        wires.hash(hasher);
    }
}

impl<W: Hash, const C: usize> Hash for Wires<W, C> {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for wire in &self.0 {
            wire.hash(hasher);
        }
    }
}

impl Hash for Thread {
    #[expect(clippy::inline_always, reason = "as for the world")]
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { phase, holds, token, wait_left, limit_left, wake_in, hold_left } = *self;
        let bytes = [phase as u8, holds, token, wait_left.0, limit_left.0, wake_in.0, hold_left.0, 0];
        hasher.write_u64(word(bytes));
    }
}

impl Hash for Client {
    #[expect(clippy::inline_always, reason = "as for the world")]
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { mode, master, acquires_left, asks_in, renewal, wakeup, threads, replicas } = *self;
        let RenewalTable { counts: [first_count, second_count], first, due_in } = renewal;
        let WakeupEntry { subscription, permits, messages } = wakeup;
        let bytes = [mode as u8, master, acquires_left.0, asks_in.0, first_count, second_count, first, due_in.0];
        hasher.write_u64(word(bytes));
        let [one, other] = threads;
        one.hash(hasher);
        other.hash(hasher);
        hasher.write_u32(u32::from_le_bytes([subscription as u8, permits, messages, replicas.0]));
    }
}

impl<R: Record> Node<R> {
    /// What every node has.
    #[expect(clippy::inline_always, reason = "as for the world")]
    #[inline(always)]
    fn hash_standing<H: Hasher>(&self, hasher: &mut H) {
        let Self { role, record, link: Link { len, effects: _ }, apart, disk, unheard, ahead } = self;
        record.hash(hasher);
        // A disk that is kept for no rule is in its default.
        let has_disk = *disk != R::default();
        let bytes = [*role as u8, apart.0, *len, *unheard, u8::from(has_disk), ahead.to_le_bytes()[0], 0, 0];
        hasher.write_u64(word(bytes));
    }

    /// What most have not: a disk that is looked at, effects under way.
    #[inline]
    fn hash_rest<H: Hasher>(&self, hasher: &mut H) {
        if self.disk != R::default() {
            self.disk.hash(hasher);
        }
        // The slots behind are in their default.
        for Effect { record, age } in &self.link.effects[..usize::from(self.link.len)] {
            record.hash(hasher);
            hasher.write_u32(u32::from(*age));
        }
    }
}
