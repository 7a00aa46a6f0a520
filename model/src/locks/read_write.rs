//! The read-write lock: any number of readers, or one writer, who may read as well.
//!
//! Read beside `impl/src/locks/read_write.rs`, which tells Redis the same rules. Each client has one thread of its application, which
//! Redis knows by two fields: as a writer, here thread 0 of the client, and as a reader, here thread 1. So what one of them does
//! inside the other is between two holders that are one and the same.
//! Source: docs/facts/family.md#read-write.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;

use super::contract::{
    HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Publish, Requester, StoredHold,
    Writes,
};
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{HashValue, Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::NoValues;
use crate::config::switches::ReadRenewal;
use crate::limits::{MAX_CLIENTS, MAX_READ_HOLDS};
use crate::mutants::Mutant;
use crate::time::Timer;

const CLIENTS: usize = MAX_CLIENTS as usize;

/// How often one thread may read at once, with the holds that it has left behind: each has a TTL of its own.
const HOLDS: usize = MAX_READ_HOLDS as usize;

/// How many readers are remembered by their order.
const ORDERED: usize = CLIENTS - 1;
/// Their order is kept: also that of a single one, who may have another name where names are exchanged.
const IN_ORDER: u8 = 1 << 7;

/// The thread of a client as a writer.
const WRITER: u8 = 0;
/// The same as a reader.
const READER: u8 = 1;

/// The hash under the lock's key, its TTL, and the strings that stand for the holds of readers, each with a TTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
pub struct ReadWrite {
    mode: Option<Held>,
    /// The client whose thread writes; only in that mode.
    writer: u8,
    writes: u8,
    /// Until the lock's key expires.
    remaining: Timer,
    /// For each client, how often its thread reads.
    reads: [u8; CLIENTS],
    /// In which order the readers are in the hash, two bits for each of the first three, the first in the lowest, and [`IN_ORDER`]; 0
    /// where that does not matter, or nobody reads.
    order: u8,
    /// The TTLs of its holds, by their number; off: there is no such string. They outlive the hash.
    holds: [[Timer; HOLDS]; CLIENTS],
}

/// The field `mode` of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Read,
    Write,
}

impl ReadWrite {
    /// Without the hash: the strings stay.
    fn freed(self) -> Self {
        Self { holds: self.holds, ..Self::default() }
    }

    const fn is_writer(self, client: u8) -> bool {
        matches!(self.mode, Some(Held::Write)) && self.writer == client
    }

    /// The longer of two TTLs. A key without a TTL answers −1, which is less than any (docs/facts/family.md#read-write).
    const fn longer(left: Timer, lease: u8) -> Timer {
        match left.left() {
            Some(ticks) if ticks > lease => left,
            _ => Timer::ticks(lease),
        }
    }

    fn is_held_by(self, holder: Holder) -> bool {
        let client = holder.client();
        if holder.thread() == WRITER { self.is_writer(client) } else { self.reads[usize::from(client)] > 0 }
    }

    /// The TTLs of the holds that this client has as a reader.
    fn holds_of(&self, client: usize) -> impl Iterator<Item = Timer> {
        self.holds[client].into_iter().take(self.reads[client].into())
    }

    /// Until a reader's holds are over, by the longest of them: from then on the release of another one may end the lock.
    fn left_of_reader(&self, client: u8) -> Timer {
        let longest = self.holds_of(client.into()).filter_map(Timer::left).max().unwrap_or(0);
        self.remaining.left().map_or(Timer::ticks(longest), |left| Timer::ticks(left.min(longest)))
    }

    /// The readers in the hash, in the order in which they have entered it, where that is kept.
    fn in_order(self) -> impl Iterator<Item = u8> {
        let readers = self.reads.iter().filter(|count| **count > 0).count();
        let stored = move |at: usize| self.order >> (2 * at) & 3;
        // Of four the last one is the one that is left.
        let last = (0..MAX_CLIENTS).find(|client| (0..ORDERED).all(|at| stored(at) != *client)).unwrap_or_default();
        (0..readers).map(move |at| if at < ORDERED { stored(at) } else { last })
    }

    fn with_order(self, readers: impl Iterator<Item = u8>) -> Self {
        const { assert!(CLIENTS == ORDERED + 1, "two bits for each client but one") };
        let order =
            readers.take(ORDERED).enumerate().fold(0, |order, (at, client)| order | client << (2 * at) | IN_ORDER);
        Self { order, ..self }
    }

    fn read(self, context: LockContext, client: u8) -> Outcome<Self> {
        let is_others = self.mode == Some(Held::Write) && !self.is_writer(client);
        let excludes = context.is_mutated(Mutant::ReadersExclude)
            && self.reads.iter().sum::<u8>() > self.reads[usize::from(client)];
        if excludes || is_others && !context.is_mutated(Mutant::AcquireIgnoresHolder) {
            return Outcome::of(self, Writes::NONE, LockReply::Busy { remaining: self.remaining });
        }
        let at = usize::from(client);
        let mut after = self;
        let is_free = self.mode.is_none();
        after.mode = self.mode.or(Some(Held::Read));
        after.reads[at] += 1;
        assert!(after.reads[at] <= MAX_READ_HOLDS, "the scenario reader refuses worlds with more holds of a reader");
        after.holds[at][usize::from(after.reads[at]) - 1] = context.lease();
        after.remaining = if is_free { context.lease() } else { Self::longer(self.remaining, context.lease_ticks) };
        if context.keeps_order && self.reads[at] == 0 {
            after = after.with_order(self.in_order().chain([client]));
        }
        let reply = if self.reads[at] > 0 { LockReply::Reentered } else { LockReply::Acquired };
        Outcome::of(after, Writes::NONE.key(KeyFamily::Lock).key(KeyFamily::Hold), reply)
    }

    fn write(self, context: LockContext, client: u8) -> Outcome<Self> {
        let writes = Writes::NONE.key(KeyFamily::Lock);
        let is_others = self.mode.is_some() && !self.is_writer(client);
        if self.mode.is_none() || is_others && context.is_mutated(Mutant::AcquireIgnoresHolder) {
            let after = Self { mode: Some(Held::Write), writer: client, writes: 1, remaining: context.lease(), ..self };
            return Outcome::of(after, writes, LockReply::Acquired);
        }
        if self.is_writer(client) {
            // What is left and the lease are added; a key without a TTL answers −1, and gets the lease but for 1 ms.
            let ticks = self.remaining.left().unwrap_or(0).saturating_add(context.lease_ticks);
            let count = u8::from(!context.is_mutated(Mutant::ReentryWithoutCount));
            let after = Self { writes: self.writes + count, remaining: Timer::ticks(ticks), ..self };
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
        if context.keeps_order && after.reads[at] == 0 {
            after = after.with_order(self.in_order().filter(|reader| *reader != client));
        }
        let has_others = mode == Held::Write || after.reads.iter().any(|count| *count > 0);
        if has_others {
            // Of readers only: a write lease is cut to the longest hold of a reader that is left.
            let left = (0..CLIENTS).flat_map(|client| after.holds_of(client)).filter_map(Timer::left);
            if let Some(longest) = left.max().filter(|ticks| *ticks > 0) {
                after.remaining = Timer::ticks(longest);
                let writes = Writes::NONE.key(KeyFamily::Lock).key(KeyFamily::Hold);
                return Outcome::of(after, writes, LockReply::StillHeld);
            }
            if mode == Held::Write {
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
        // A downgrade: other readers may join from now on, and only by a switch somebody is told. That message follows what is
        // written, so that a node that refuses to write publishes none.
        let after = Self { mode: Some(Held::Read), writer: 0, writes: 0, ..self };
        let outcome = Outcome::of(after, Writes::NONE.content(KeyFamily::Lock), LockReply::Released);
        if context.tells_of_downgrade { outcome.publishing(Publish::UnlockAll) } else { outcome }
    }

    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let at = usize::from(holder.client());
        if !self.is_held_by(holder) {
            return Outcome::of(self, Writes::NONE, LockReply::RenewalMissed);
        }
        let mut after = Self { remaining: context.lease(), ..self };
        let mut reply = LockReply::Renewed;
        if holder.thread() == READER {
            match context.read_renewal {
                ReadRenewal::OwnHolds => after.renew_holds(context, at),
                ReadRenewal::AllHolds => (0..CLIENTS).for_each(|client| after.renew_holds(context, client)),
                ReadRenewal::FailsNested => {
                    // The field of a writer comes before those of readers: it is there before anybody reads inside it.
                    let is_nested_write = self.mode == Some(Held::Write) && self.writes > 1;
                    let is_nested = |client: &u8| self.reads[usize::from(*client)] > 1;
                    let before = self.in_order().take_while(|client| !is_nested_write && !is_nested(client));
                    before.for_each(|client| after.renew_holds(context, client.into()));
                    if is_nested_write || self.in_order().any(|client| is_nested(&client)) {
                        reply = LockReply::RenewalFailed;
                    }
                }
            }
        }
        Outcome::of(after, Writes::NONE.ttl(KeyFamily::Lock).ttl(KeyFamily::Hold), reply)
    }

    fn renew_holds(&mut self, context: LockContext, client: usize) {
        for hold in self.holds[client].iter_mut().take(self.reads[client].into()) {
            // A string that has run out is not made anew.
            *hold = if *hold == Timer::OFF { Timer::OFF } else { context.lease() };
        }
    }

    /// `writeLock().forceUnlock()`: it frees a lock that is held for writing, with the reads inside it, and no other one.
    fn force(self) -> Outcome<Self> {
        if self.mode != Some(Held::Write) {
            return Outcome::of(self, Writes::NONE, LockReply::NothingToRelease);
        }
        let writes = Writes::NONE.key(KeyFamily::Lock);
        Outcome::of(self.freed(), writes, LockReply::ForceReleased).publishing(Publish::UnlockAll)
    }

    /// The thread of this client, as Redis stores it.
    fn name(client: usize) -> Holder {
        Holder::new(u8::try_from(client).unwrap_or(u8::MAX), 0)
    }
}

impl Lock for ReadWrite {
    const FACTS: Facts = Facts {
        name: "read-write",
        other_names: &["readwrite", "rwlock", "readwritelock", "redissonreadwritelock", "readlock", "writelock"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::No { why: "it locks its name, and no values below it" },
        caller_clock: CallerClock::Unread { why: "its scripts are told no time" },
        receipts: Support::Yes,
        force: Support::Yes,
        value: Support::No { why: "the fields of the hash are the holders" },
        two_commands: Support::No { why: "its scripts write field and TTL at once" },
        bare_release: Support::No { why: "its releases lower the count of a holder" },
        bare_extend: Support::No { why: "they renew the field of a holder" },
        names: Support::No { why: "each is renewed by two tables of its client" },
        queue: Support::No { why: "whoever asks first when it is free has it" },
        sharing: Support::Yes,
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::No { why: "what it answers to that question is not modelled yet" },
        calls: CallNames {
            acquire: "writeLock().lock()",
            try_acquire: "writeLock().tryLock()",
            renew: "renew the write lock",
            release: "writeLock().unlock()",
            force_release: "writeLock().forceUnlock()",
        },
        reader_calls: Some(CallNames {
            acquire: "readLock().lock()",
            try_acquire: "readLock().tryLock()",
            renew: "renew the read lock",
            release: "readLock().unlock()",
            force_release: "writeLock().forceUnlock()",
        }),
    };
    const HAS_SMALL_WORLDS: bool = false;
    const HAS_SPLIT_WORLDS: bool = false;

    type Values = NoValues;
    type Calls = NoCalls;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) if holder.thread() == WRITER => {
                self.write(context, holder.client())
            }
            LockRequest::Acquire(Requester { holder, .. }) => self.read(context, holder.client()),
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) if holder.thread() == WRITER => {
                self.release_write(context, holder.client())
            }
            LockRequest::Release(Requester { holder, .. }) => self.release_read(context, holder.client()),
            LockRequest::Force => self.force(),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) | LockRequest::AskIfHeld(_) => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
        }
    }

    /// What a reader sends names the prefix of its holds, or of all, and no key has that name.
    fn lacks_key_of(&self, request: LockRequest) -> bool {
        let (LockRequest::Acquire(by) | LockRequest::Renew(by)) = request else { return false };
        by.holder.thread() == READER
    }

    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let Self { mode, writer, writes, remaining, .. } = *self;
        let writing = (mode == Some(Held::Write)).then(|| StoredHold {
            by: Requester::of(Holder::new(writer, WRITER)),
            mode: HoldMode::Exclusive,
            count: writes,
            remaining,
        });
        let reading = (0..).zip(self.reads).filter(|(_, count)| *count > 0).map(|(client, count)| StoredHold {
            by: Requester::of(Holder::new(client, READER)),
            mode: HoldMode::Shared,
            count,
            remaining: self.left_of_reader(client),
        });
        writing.into_iter().chain(reading)
    }

    fn mode_of(holder: Holder) -> HoldMode {
        if holder.thread() == WRITER { HoldMode::Exclusive } else { HoldMode::Shared }
    }

    /// Readers; and who reads inside its own write lock.
    fn go_together(one: Holder, other: Holder) -> bool {
        one.client() == other.client() || (one.thread() == READER && other.thread() == READER)
    }

    fn has_due(&self) -> bool {
        let mut holds = (0..CLIENTS).flat_map(|client| self.holds_of(client));
        self.mode.is_some() && self.remaining.is_due() || holds.any(Timer::is_due)
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        let mut lapsed = Lapsed::NONE;
        let mut after = self;
        for hold in after.holds.as_flattened_mut() {
            *hold = hold.moved(ticks).unwrap_or_else(|| {
                lapsed = lapsed.and(KeyFamily::Hold);
                Timer::OFF
            });
        }
        if self.mode.is_some() {
            match self.remaining.moved(ticks) {
                Some(remaining) => after.remaining = remaining,
                None if context.is_mutated(Mutant::LeaseNeverEnds) => after.remaining = Timer::DUE,
                None => (after, lapsed) = (after.freed(), lapsed.and(KeyFamily::Lock)),
            }
        }
        (after, lapsed)
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => self.freed(),
            KeyFamily::Hold => Self { holds: Self::default().holds, ..self },
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Token => self,
        }
    }

    fn without_due(self) -> Self {
        let holds = self.holds.map(|of_one| of_one.map(|hold| if hold.is_due() { Timer::OFF } else { hold }));
        let after = Self { holds, ..self };
        if self.mode.is_some() && self.remaining.is_due() { after.freed() } else { after }
    }

    fn without_ttl(self) -> Self {
        Self { remaining: Timer::UNWRITTEN, ..self }
    }

    fn persisted(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = self.mode.is_some() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        if let Some(mode) = self.mode {
            let word = match mode {
                Held::Read => "read",
                Held::Write => "write",
            };
            let mut fields = BTreeMap::from([("mode".to_owned(), HashValue::from(word))]);
            if mode == Held::Write {
                fields.insert(format!("{}:write", Self::name(self.writer.into())), u64::from(self.writes).into());
            }
            for (client, count) in self.reads.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                fields.insert(Self::name(client).to_string(), u64::from(count).into());
            }
            keys.push(Key { slot: KeySlot::Lock, value: KeyValue::Hash(fields), ttl: self.remaining });
        }
        for (client, holds) in self.holds.into_iter().enumerate() {
            for (number, ttl) in (1..).zip(holds).filter(|(_, ttl)| *ttl != Timer::OFF) {
                let slot = KeySlot::Hold { holder: Self::name(client), number };
                keys.push(Key { slot, value: KeyValue::String("1".to_owned()), ttl });
            }
        }
        keys
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        let to = |client: usize| rename(Self::name(client)).client();
        let mut after = Self { reads: [0; CLIENTS], holds: Self::default().holds, ..self };
        if self.mode == Some(Held::Write) {
            after.writer = to(self.writer.into());
        }
        for client in 0..CLIENTS {
            let to = usize::from(to(client));
            (after.reads[to], after.holds[to]) = (self.reads[client], self.holds[client]);
        }
        if self.order & IN_ORDER == 0 {
            after
        } else {
            after.with_order(self.in_order().map(|client| to(client.into())))
        }
    }
}

impl Hash for ReadWrite {
    // In words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { mode, writer, writes, remaining, reads, order, holds } = *self;
        let mode = mode.map_or(0, |mode| 1 + mode as u8);
        hasher.write_u32(u32::from_le_bytes([mode, writer, writes, remaining.byte()]));
        hasher.write_u32(u32::from_le_bytes(reads));
        hasher.write_u32(order.into());
        for of_one in holds {
            hasher.write_u32(u32::from_le_bytes(of_one.map(Timer::byte)));
        }
    }
}
