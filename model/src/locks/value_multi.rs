//! The lock over several values: one hash, in which each value that somebody has locked has an holder, and each holder a deadline
//! and a count of its own for it. Who names several values takes all of them or none.
//!
//! Read beside `impl/src/locks/value_multi.rs`, which tells Redis the same rules.
//! A deadline is a time of the wall clock of the client that has set it, and whoever asks compares it with its own. The hash has a
//! TTL as well, by the clock of its node. What an holder leaves behind whose deadline is over stays until that.
//! Source: docs/facts/family.md#multi-lock-over-values.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;

use super::contract::{
    HoldMode, KeyFamily, Lapsed, Lock, LockContext, LockReply, LockRequest, Outcome, Publish, Requester, StoredHold,
    Writes,
};
use super::deadline::Deadline;
use super::facts::{CallNames, CallerClock, Facts, StoringMasters, Support, Waiting};
use super::holder::Holder;
use super::keys::{DEADLINE_FIELD, DEADLINE_OVER, HashValue, Key, KeySlot, KeyValue};
use super::master_calls::NoCalls;
use super::tokens::NoTokens;
use super::values::NoValues;
use crate::config::switches::HeldQuery;
use crate::limits::{MAX_CLIENTS, MAX_SET_VALUES};
use crate::mutants::Mutant;
use crate::time::Timer;

/// The hash, or no key: a key without a field is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueMulti {
    values: [ValueFields; MAX_SET_VALUES as usize],
    remaining: Timer,
}

/// One place for each client: the scenario reader refuses this kind beside clients of several threads.
const PLACES: usize = MAX_CLIENTS as usize;

/// The fields of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed.
#[repr(C)]
struct ValueFields {
    current: Option<Holder>,
    own: [OwnFields; PLACES],
}

/// What one client has set for one value: its fields outlive its hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
struct OwnFields {
    /// How often it has entered; 0: there are no such fields.
    count: u8,
    deadline: Deadline,
}

impl ValueFields {
    fn own_of(&self, holder: Holder) -> OwnFields {
        self.own[usize::from(holder.client())]
    }

    fn own_mut(&mut self, holder: Holder) -> &mut OwnFields {
        &mut self.own[usize::from(holder.client())]
    }

    fn is_absent(&self) -> bool {
        self.current.is_none() && self.own.iter().all(|own| own.count == 0)
    }

    /// The holder, and how long it is one yet by a clock that is right.
    fn hold(&self) -> Option<StoredHold> {
        let current = self.current?;
        let OwnFields { count, deadline } = self.own_of(current);
        let remaining = Timer::ticks(deadline.left(0)?);
        Some(StoredHold { by: Requester::of(current), mode: HoldMode::Exclusive, count, remaining })
    }

    /// Until the holder's deadline, if that is another one than the caller and not over by the caller's clock.
    fn in_the_way_of(&self, holder: Holder, context: LockContext) -> Option<u8> {
        let current = self.current.filter(|current| *current != holder)?;
        self.own_of(current).deadline.keeps_out(context)
    }
}

impl Lock for ValueMulti {
    const FACTS: Facts = Facts {
        name: "value-multi",
        other_names: &["valuemulti", "fastermultilock", "redissonfastermultilock"],
        waiting: Waiting::Subscribes,
        reentry: Support::Yes,
        busy_is_write: false,
        value_sets: Support::Yes,
        caller_clock: CallerClock::Ends,
        receipts: Support::Yes,
        force: Support::No {
            why: "its forced release fails where one of the values is free, and the model has no answer for that",
        },
        value: Support::No { why: "a field of the hash names the holder" },
        two_commands: Support::No { why: "its script writes fields and TTL at once" },
        bare_release: Support::No { why: "its release lowers the count of a holder" },
        bare_extend: Support::No { why: "it renews the fields of a holder" },
        names: Support::No { why: "one hash has all values" },
        queue: Support::No { why: "whoever asks first when its values are free has them" },
        sharing: Support::No { why: "only one thread holds a value at a time" },
        tokens: Support::No { why: "its grants raise no counter" },
        parts: Support::No { why: "it is one lock under one name" },
        masters: StoringMasters::One,
        held_query: Support::Yes,
        calls: CallNames {
            acquire: "lock()",
            try_acquire: "tryLock()",
            renew: "renew",
            release: "unlock()",
            force_release: "forceUnlock()",
        },
        reader_calls: None,
    };
    const HAS_SMALL_WORLDS: bool = false;
    const HAS_SPLIT_WORLDS: bool = false;

    type Values = NoValues;
    type Calls = NoCalls;
    type Tokens = NoTokens;
    type Several = Self;

    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self> {
        match request {
            LockRequest::Acquire(Requester { holder, .. }) => self.acquire(context, holder),
            LockRequest::Renew(Requester { holder, .. }) => self.renew(context, holder),
            LockRequest::Release(Requester { holder, .. }) => self.release(context, holder),
            LockRequest::AskIfHeld(Requester { holder, .. }) => self.ask_if_held(context, holder),
            LockRequest::SetTtl(_) | LockRequest::LeaveQueue(_) | LockRequest::Force => {
                unreachable!("the scenario reader allows it for kinds that have it only")
            }
        }
    }

    /// The holder of each value, once for each: until its deadline by a clock that is right.
    fn holders(&self) -> impl Iterator<Item = StoredHold> {
        let hold = |at: usize| self.values[at].hold();
        let is_new = move |at: usize| (0..at).all(|before| self.values[before].current != self.values[at].current);
        (0..self.values.len()).filter(move |at| is_new(*at)).filter_map(hold)
    }

    fn holds_of(&self, holder: Holder) -> u8 {
        self.values.iter().map(|fields| fields.own_of(holder).count).max().unwrap_or(0)
    }

    fn is_absent(&self) -> bool {
        self.values.iter().all(ValueFields::is_absent)
    }

    fn has_all_of(&self, context: LockContext, requester: Requester) -> bool {
        self.of_set(context).all(|fields| fields.current == Some(requester.holder))
    }

    fn contradicts(&self, other: &Self) -> bool {
        self.values
            .iter()
            .zip(&other.values)
            .any(|(one, other)| one.hold().zip(other.hold()).is_some_and(|(one, other)| one.by != other.by))
    }

    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed) {
        match self.remaining.moved(ticks) {
            Some(remaining) => (Self { remaining, ..self }, Lapsed::NONE),
            None if context.is_mutated(Mutant::LeaseNeverEnds) => {
                (Self { remaining: Timer::DUE, ..self }, Lapsed::NONE)
            }
            None => (Self::default(), Lapsed::NONE.and(KeyFamily::Lock)),
        }
    }

    fn deadlines_pass(mut self) -> Self {
        for own in self.values.iter_mut().flat_map(|fields| &mut fields.own) {
            own.deadline = own.deadline.later();
        }
        self
    }

    fn has_due(&self) -> bool {
        self.remaining.is_due()
    }

    fn without(self, slot: KeyFamily) -> Self {
        match slot {
            KeyFamily::Lock => Self::default(),
            KeyFamily::Receipt | KeyFamily::Queue | KeyFamily::Hold | KeyFamily::Token => self,
        }
    }

    fn without_ttl(self) -> Self {
        Self { remaining: Timer::UNWRITTEN, ..self }
    }

    fn persisted(self) -> Self {
        Self { remaining: Timer::OFF, ..self }
    }

    fn with_ttl_of(self, own: Self) -> Self {
        let is_unwritten = !self.is_absent() && self.remaining == Timer::UNWRITTEN;
        if is_unwritten { Self { remaining: own.remaining, ..self } } else { self }
    }

    fn keys(&self) -> Vec<Key> {
        if self.is_absent() {
            return Vec::new();
        }
        let mut hash = BTreeMap::new();
        for (number, fields) in (1..).zip(&self.values) {
            let value = value_name(number);
            if let Some(current) = fields.current {
                hash.insert(value.clone(), HashValue::Word(current.to_string()));
            }
            for (client, OwnFields { count, deadline }) in (0..).zip(fields.own).filter(|(_, own)| own.count > 0) {
                let holder = Holder::new(client, 0);
                let left = deadline.left(0).map(|left| HashValue::from(u64::from(left)));
                hash.insert(format!("{value}:{holder}{DEADLINE_FIELD}"), left.unwrap_or(DEADLINE_OVER.into()));
                hash.insert(format!("{value}:{holder}:lock_count"), u64::from(count).into());
            }
        }
        vec![Key { slot: KeySlot::Lock, value: KeyValue::Hash(hash), ttl: self.remaining }]
    }

    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self {
        let values = self.values.map(|fields| {
            let mut renamed = ValueFields { current: fields.current.map(&rename), ..ValueFields::default() };
            for (client, own) in (0..).zip(fields.own).filter(|(_, own)| own.count > 0) {
                *renamed.own_mut(rename(Holder::new(client, 0))) = own;
            }
            renamed
        });
        Self { values, ..self }
    }
}

impl ValueMulti {
    /// The fields of those values that the caller names, in their order.
    fn of_set(&self, context: LockContext) -> impl Iterator<Item = &ValueFields> {
        self.values.iter().enumerate().filter(move |(at, _)| context.values.has(*at)).map(|(_, fields)| fields)
    }

    fn of_set_mut(&mut self, context: LockContext) -> impl Iterator<Item = &mut ValueFields> {
        self.values.iter_mut().enumerate().filter(move |(at, _)| context.values.has(*at)).map(|(_, fields)| fields)
    }

    /// Takes all values of the caller, unless somebody else has one of them.
    fn acquire(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let values_asked = if context.is_mutated(Mutant::FirstValueDecides) { 1 } else { usize::MAX };
        let in_the_way =
            self.of_set(context).take(values_asked).filter_map(|fields| fields.in_the_way_of(holder, context)).max();
        if let Some(left) = in_the_way.filter(|_| !context.is_mutated(Mutant::AcquireIgnoresHolder)) {
            // A call that does not wait is told no time.
            let remaining = if context.may_queue { Timer::ticks(left) } else { Timer::OFF };
            return Outcome::of(self, Writes::NONE, LockReply::Busy { remaining });
        }
        let is_live = |fields: &ValueFields| fields.hold().is_some_and(|hold| hold.by.holder == holder);
        let is_reentry = self.of_set(context).all(is_live);
        let mut taken = self;
        for fields in taken.of_set_mut(context) {
            fields.current = Some(holder);
            let own = fields.own_mut(holder);
            own.deadline = own.deadline.max(Deadline::of(context));
            // What an earlier hold of the caller has left behind counts on.
            let counts = own.count == 0 || !context.is_mutated(Mutant::ReentryWithoutCount);
            own.count += u8::from(counts);
        }
        let lease = context.lease();
        let is_extended =
            self.is_absent() || self.remaining.left().is_some_and(|left| left > 0 && left < context.lease_ticks);
        let writes = Writes::NONE.content(KeyFamily::Lock);
        let reply = if is_reentry { LockReply::Reentered } else { LockReply::Acquired };
        if is_extended {
            return Outcome::of(Self { remaining: lease, ..taken }, writes.ttl(KeyFamily::Lock), reply);
        }
        Outcome::of(taken, writes, reply)
    }

    /// Extends the deadlines of the caller: up to the first value that another one holds.
    fn renew(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if context.is_mutated(Mutant::RenewalRecreatesLock) && self.is_absent() {
            return Outcome { reply: LockReply::Renewed, ..self.acquire(context, holder) };
        }
        let mut renewed = self;
        let mut is_missed = self.is_absent();
        for fields in renewed.of_set_mut(context) {
            if fields.current != Some(holder) {
                is_missed = true;
                break;
            }
            let own = fields.own_mut(holder);
            own.deadline = own.deadline.max(Deadline::of(context));
        }
        let written = if renewed == self { Writes::NONE } else { Writes::NONE.content(KeyFamily::Lock) };
        if is_missed {
            return Outcome::of(renewed, written, LockReply::RenewalMissed);
        }
        if self.remaining.left().is_none_or(|left| left < context.lease_ticks) {
            let extended = Self { remaining: context.lease(), ..renewed };
            return Outcome::of(extended, written.ttl(KeyFamily::Lock), LockReply::Renewed);
        }
        Outcome::of(renewed, written, LockReply::Renewed)
    }

    /// Whether the caller holds all its values, or those from the second one on: by its own deadlines, and not by the fields that name
    /// holders.
    fn ask_if_held(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        let unseen = match context.held_query {
            HeldQuery::LaterValues => 1,
            HeldQuery::EveryValue => 0,
        };
        let is_live = |own: OwnFields| own.count > 0 && own.deadline.left(context.clock_ahead_ticks).is_some();
        let has_all = self.of_set(context).skip(unseen).all(|fields| is_live(fields.own_of(holder)));
        let reply = if has_all && !self.is_absent() { LockReply::SaysHeld } else { LockReply::SaysNotHeld };
        Outcome::of(self, Writes::NONE, reply)
    }

    /// Gives back one hold of each value whose deadline of the caller is not over: also of one that somebody else has by now.
    fn release(self, context: LockContext, holder: Holder) -> Outcome<Self> {
        if self.is_absent() {
            return Outcome::of(self, Writes::NONE, LockReply::NotHeld).publishing(Publish::Unlock);
        }
        let mut rest = self;
        let (mut is_failed, mut is_over) = (false, true);
        for fields in rest.of_set_mut(context) {
            let by = match fields.current {
                Some(current) if context.is_mutated(Mutant::ReleaseWithoutHolderCheck) => current,
                _ => holder,
            };
            let own = fields.own_mut(by);
            if own.count == 0 || own.deadline.left(context.clock_ahead_ticks).is_none() {
                (is_failed, is_over) = (true, false);
                continue;
            }
            own.count -= 1;
            if own.count == 0 || context.is_mutated(Mutant::ReleaseDropsAllHolds) {
                *own = OwnFields::default();
                fields.current = None;
            } else {
                own.deadline = own.deadline.max(Deadline::of(context));
                is_over = false;
            }
        }
        let writes = if rest == self { Writes::NONE } else { Writes::NONE.content(KeyFamily::Lock) };
        let rest = if rest.is_absent() { Self::default() } else { rest };
        let writes = if rest.is_absent() { writes.ttl(KeyFamily::Lock) } else { writes };
        if is_failed {
            return Outcome::of(rest, writes, LockReply::NotHeld);
        }
        if is_over {
            return Outcome::of(rest, writes, LockReply::Released).publishing(Publish::Unlock);
        }
        let is_extended = rest.remaining.left().is_none_or(|left| left < context.lease_ticks);
        let rest = if is_extended { Self { remaining: context.lease(), ..rest } } else { rest };
        let writes = if is_extended { writes.ttl(KeyFamily::Lock) } else { writes };
        // It is told that values are free also where none is.
        Outcome::of(rest, writes, LockReply::StillHeld).publishing(Publish::Unlock)
    }
}

/// The name of a value in the hash, for readers. Redisson stores a hash code of it.
fn value_name(number: u8) -> String {
    format!("value{number}")
}

impl Hash for ValueMulti {
    // In words, for the reason that `world/hash` gives.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { values, remaining } = *self;
        for ValueFields { current, own } in values {
            hasher.write_u32(u32::from_le_bytes(own.map(|own| own.count)));
            hasher.write_u32(u32::from_le_bytes(own.map(|own| own.deadline.byte())));
            hasher.write_u32(u32::from_le_bytes([Holder::byte(current), remaining.byte(), 0, 0]));
        }
    }
}
