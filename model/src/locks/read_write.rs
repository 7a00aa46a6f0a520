//! The read-write lock: any number of readers, or one writer, who may read as well.
//!
//! Read beside `impl/src/locks/read_write.rs`, which tells Redis the same rules. Each client has one thread of its application, which
//! Redis knows by two fields: as a writer, here thread 0 of the client, and as a reader, here thread 1. So what one of them does
//! inside the other is between two holders that are one and the same.
//! Source: docs/facts/family.md#read-write.

use core::hash::{Hash, Hasher};

use super::contract::{
    CallNames, Facts, HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Publish,
    Requester, StoredHold, Support, Waiting, Writes,
};
use super::holder::Holder;
use super::keys::{Key, KeySlot, KeyValue};
use super::values::NoValues;
use crate::limits::MAX_CLIENTS;
use crate::time::Timer;

const CLIENTS: usize = MAX_CLIENTS as usize;

/// How often one thread may read at once: each hold has a TTL of its own.
const HOLDS: usize = 2;

/// The thread of a client as a writer.
const WRITER: u8 = 0;
/// The same as a reader.
const READER: u8 = 1;

/// The hash under the lock's key, its TTL, and the strings that stand for the holds of readers, each with a TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
pub struct ReadWrite {
    mode: Option<Mode>,
    /// The client whose thread writes; only in that mode.
    writer: u8,
    writes: u8,
    /// Until the lock's key expires.
    remaining: Timer,
    /// For each client, how often its thread reads.
    reads: [u8; CLIENTS],
    /// The TTLs of its holds, by their number; off: there is no such string. They outlive the hash.
    holds: [[Timer; HOLDS]; CLIENTS],
}

/// The field `mode` of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Read,
    Write,
}

impl ReadWrite {
    /// Without the hash: the strings stay.
    fn freed(self) -> Self {
        Self { holds: self.holds, ..Self::default() }
    }

    const fn is_writer(self, client: u8) -> bool {
        matches!(self.mode, Some(Mode::Write)) && self.writer == client
    }

    /// The longer of two TTLs. A key without a TTL answers −1, which is less than any (docs/facts/family.md#read-write).
    const fn longer(left: Timer, lease: u8) -> Timer {
        match left.left() {
            Some(ticks) if ticks > lease => left,
            _ => Timer::ticks(lease),
        }
    }

    fn read(self, context: LockContext, client: u8) -> Outcome<Self> {
        if self.mode.is_some() && self.mode != Some(Mode::Read) && !self.is_writer(client) {
            return Outcome::of(self, Writes::NONE, LockReply::Busy { remaining: self.remaining });
        }
        let at = usize::from(client);
        let mut after = self;
        let is_free = self.mode.is_none();
        after.mode = self.mode.or(Some(Mode::Read));
        after.reads[at] += 1;
        after.holds[at][usize::from(after.reads[at]) - 1] = context.lease();
        after.remaining = if is_free { context.lease() } else { Self::longer(self.remaining, context.lease_ticks) };
        let reply = if self.reads[at] > 0 { LockReply::Reentered } else { LockReply::Acquired };
        Outcome::of(after, Writes::NONE.key(KeyFamily::Lock).key(KeyFamily::Hold), reply)
    }

    fn write(self, context: LockContext, client: u8) -> Outcome<Self> {
        let writes = Writes::NONE.key(KeyFamily::Lock);
        if self.mode.is_none() {
            let after = Self {
                mode: Some(Mode::Write),
                writer: client,
                writes: 1,
                remaining: context.lease(),
                ..self
            };
            return Outcome::of(after, writes, LockReply::Acquired);
        }
        if self.is_writer(client) {
            // What is left and the lease are added; a key without a TTL answers −1, and gets the lease but for 1 ms.
            let ticks = self.remaining.left().unwrap_or(0).saturating_add(context.lease_ticks);
            let after = Self { writes: self.writes + 1, remaining: Timer::ticks(ticks), ..self };
            return Outcome::of(after, writes, LockReply::Reentered);
        }
        // Also where it is the caller itself who reads.
        Outcome::of(self, Writes::NONE, LockReply::Busy { remaining: self.remaining })
    }

    /// A release of a free lock tells everybody that it is free, and its caller that it holds nothing.
    fn release_free(self, context: LockContext, publish: Publish) -> Outcome<Self> {
        let writes = if context.leaves_receipts { Writes::ATTEMPT } else { Writes::NONE };
        let outcome = Outcome::of(self, writes, LockReply::NotHeld).publishing(publish);
        Outcome { publishes_first: true, ..outcome }
    }

    fn release_read(self, context: LockContext, client: u8) -> Outcome<Self> {
        let Some(mode) = self.mode else { return self.release_free(context, Publish::Unlock) };
        let at = usize::from(client);
        if self.reads[at] == 0 {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        let mut after = self;
        after.holds[at][usize::from(self.reads[at]) - 1] = Timer::OFF;
        after.reads[at] -= 1;
        let has_others = mode == Mode::Write || after.reads.iter().any(|count| *count > 0);
        if has_others {
            // Of readers only: a write lease is cut to the longest hold of a reader that is left.
            let left = after.reads.iter().zip(after.holds).flat_map(|(count, holds)| {
                holds.into_iter().take(usize::from(*count)).filter_map(Timer::left)
            });
            if let Some(longest) = left.max().filter(|ticks| *ticks > 0) {
                after.remaining = Timer::ticks(longest);
                let writes = Writes::NONE.key(KeyFamily::Lock).key(KeyFamily::Hold);
                return Outcome::of(after, writes, LockReply::StillHeld);
            }
            if mode == Mode::Write {
                let writes = Writes::NONE.content(KeyFamily::Lock).key(KeyFamily::Hold);
                return Outcome::of(after, writes, LockReply::StillHeld);
            }
        }
        let writes = Writes::NONE.key(KeyFamily::Lock).key(KeyFamily::Hold);
        Outcome::of(after.freed(), writes, LockReply::Released).publishing(Publish::Unlock)
    }

    fn release_write(self, context: LockContext, client: u8) -> Outcome<Self> {
        if self.mode.is_none() {
            return self.release_free(context, Publish::UnlockAll);
        }
        if !self.is_writer(client) {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld);
        }
        let writes = Writes::NONE.key(KeyFamily::Lock);
        if self.writes > 1 {
            let after = Self { writes: self.writes - 1, remaining: context.lease(), ..self };
            return Outcome::of(after, writes, LockReply::StillHeld);
        }
        if self.reads.iter().all(|count| *count == 0) {
            return Outcome::of(self.freed(), writes, LockReply::Released).publishing(Publish::UnlockAll);
        }
        // A downgrade: nobody is told.
        let after = Self { mode: Some(Mode::Read), writer: 0, writes: 0, ..self };
        Outcome::of(after, Writes::NONE.content(KeyFamily::Lock), LockReply::Released)
    }

    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let (client, at) = (holder.client(), usize::from(holder.client()));
        let is_held = if holder.thread() == WRITER { self.is_writer(client) } else { self.reads[at] > 0 };
        if !is_held {
            return Outcome::of(self, Writes::NONE, LockReply::RenewalMissed);
        }
        let mut after = Self { remaining: context.lease(), ..self };
        if holder.thread() == READER {
            for hold in after.holds[at].iter_mut().take(usize::from(self.reads[at])) {
                // A string that has run out is not made anew.
                *hold = if *hold == Timer::OFF { Timer::OFF } else { context.lease() };
            }
        }
        Outcome::of(after, Writes::NONE.ttl(KeyFamily::Lock).ttl(KeyFamily::Hold), LockReply::Renewed)
    }
}
