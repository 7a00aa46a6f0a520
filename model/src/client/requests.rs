//! What one client has in flight, where request and answer are steps of their own: the values. What happens to them stands
//! in `calls`.
//!
//! There is one request per thread, one of the watchdog, and those that their callers have abandoned and that may still be
//! executed.

use core::fmt::Debug;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::config::sections::Config;
use crate::limits::{LATE_REQUESTS, MAX_MESSAGES, MAX_REPLICAS, MAX_RETRIES, MAX_THREADS, MAX_VALUES};
use crate::locks::receipts::Receipt;
use crate::reply::Reply;
use crate::time::Timer;

/// What one client has in flight: [`Requests`], or `()` where request and answer are one step.
pub trait InFlight:
    Copy + Clone + Debug + Default + PartialEq + Eq + Hash + PartialOrd + Ord + Send + Sync + 'static
{
    /// Whether request and answer are steps of their own.
    const IS_SPLIT: bool;

    /// The requests.
    fn requests(&self) -> &Requests;

    /// The requests, to change them.
    fn requests_mut(&mut self) -> Option<&mut Requests>;
}

impl InFlight for () {
    const IS_SPLIT: bool = false;

    fn requests(&self) -> &Requests {
        const { &Requests::NONE }
    }

    fn requests_mut(&mut self) -> Option<&mut Requests> {
        None
    }
}

impl InFlight for Requests {
    const IS_SPLIT: bool = true;

    fn requests(&self) -> &Requests {
        self
    }

    fn requests_mut(&mut self) -> Option<&mut Requests> {
        Some(self)
    }
}

/// What one client has in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requests {
    /// By [`Slot`].
    pub(crate) slots: [Option<Request>; Slot::ALL.len()],
    /// Per thread: of how many grants it has heard that the renewal table does not have yet ([`Registration::Unordered`]).
    pub owed: [u8; MAX_THREADS as usize],
    /// Ticks that the unlock messages have been under way to the process, oldest first; counted only where the scenario
    /// bounds the delay.
    pub(crate) message_ages: [u8; MAX_MESSAGES as usize],
}

/// Which of a client's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Slot {
    /// The call of the first thread.
    #[serde(rename = "call-1")]
    Call1,
    /// The call of the second thread.
    #[serde(rename = "call-2")]
    Call2,
    /// The watchdog's request.
    Renewal,
    /// A request that its caller has abandoned.
    Late,
    /// Another one.
    #[serde(rename = "late-2")]
    Late2,
    /// A third one.
    #[serde(rename = "late-3")]
    Late3,
    /// A fourth one.
    #[serde(rename = "late-4")]
    Late4,
}

impl Slot {
    /// Every one.
    pub const ALL: [Self; 7] =
        [Self::Call1, Self::Call2, Self::Renewal, Self::Late, Self::Late2, Self::Late3, Self::Late4];
    /// Those of abandoned requests.
    pub const LATE: [Self; LATE_REQUESTS as usize] = [Self::Late, Self::Late2, Self::Late3, Self::Late4];

    /// The word for it in traces and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call1 => "call-1",
            Self::Call2 => "call-2",
            Self::Renewal => "renewal",
            Self::Late => "late",
            Self::Late2 => "late-2",
            Self::Late3 => "late-3",
            Self::Late4 => "late-4",
        }
    }

    /// Those of this many abandoned requests.
    pub(crate) fn late(requests: u8) -> &'static [Self] {
        &Self::LATE[..usize::from(requests).min(Self::LATE.len())]
    }

    /// Whether it is of an abandoned request: nobody waits for its answer.
    pub const fn is_late(self) -> bool {
        matches!(self, Self::Late | Self::Late2 | Self::Late3 | Self::Late4)
    }

    /// The slot of a thread's call.
    pub const fn of_thread(thread: u8) -> Self {
        if thread == 0 { Self::Call1 } else { Self::Call2 }
    }

    /// The thread whose call it is.
    pub const fn thread(self) -> Option<u8> {
        match self {
            Self::Call1 => Some(0),
            Self::Call2 => Some(1),
            Self::Renewal | Self::Late | Self::Late2 | Self::Late3 | Self::Late4 => None,
        }
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// What it asks.
    pub verb: Verb,
    /// For which thread.
    pub thread: u8,
    /// By which of its acquires: the number of the value that it carries, also when it is resent; 0: none.
    pub value: u8,
    /// The node it was sent to.
    pub node: u8,
    /// How far it has come.
    pub stage: Stage,
    /// Of a release: the number of its receipt.
    pub id: u8,
    /// Of a granted acquire: the rank of its fencing token.
    pub token: u8,
    /// Ticks in this stage; counted only where the scenario bounds the delay.
    pub age: u8,
    /// How often it may still be resent.
    pub retries_left: u8,
    /// Until its caller's timeout.
    pub answer_left: Timer,
    /// Whether the reply has reached the process and the renewal table has been changed.
    pub is_heard: bool,
    /// Of an acquire that nobody waits for: once granted, it must be released.
    pub must_undo: bool,
    /// Of a renewal: the holds it was sent for are gone. Noted only where a rule reads it.
    pub is_stale: bool,
    /// Of an acquire or a release: which lease it brings.
    pub lease: BroughtLease,
    /// The `WAIT` behind it, and how often its call is made again.
    pub wait: BatchWait,
}

/// The `WAIT` that a client sends behind a request, in one batch with it, and what becomes of the call after its answers; in one
/// byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchWait(u8);

impl BatchWait {
    /// No `WAIT`, and the call is not made again.
    pub const NONE: Self = Self(0);

    const REPLICA_BITS: u8 = 2;
    const REPLICAS: u8 = (1 << Self::REPLICA_BITS) - 1;
    const ACKNOWLEDGED_AT: u8 = Self::REPLICA_BITS;
    const HAS_FAILED: u8 = 1 << (2 * Self::REPLICA_BITS);
    const REPEATS_AT: u8 = 2 * Self::REPLICA_BITS + 1;

    /// A `WAIT` for so many replicas (0: none), behind a request of a call that is made again so often.
    pub(crate) const fn new(asks_for: u8, repeats: u8) -> Self {
        const { assert!(MAX_REPLICAS < Self::REPLICAS, "a number of replicas and one, in two bits") };
        const { assert!(MAX_RETRIES < 1 << (8 - Self::REPEATS_AT), "a number of repeats in the bits that are left") };
        Self(asks_for | repeats << Self::REPEATS_AT)
    }

    /// How many replicas the `WAIT` asks for; 0: there is none, or it is answered.
    pub const fn asks_for(self) -> u8 {
        self.0 & Self::REPLICAS
    }

    /// Behind anything but a grant: how many replicas have acknowledged everything, once the `WAIT` is answered.
    pub const fn acknowledged(self) -> Option<u8> {
        (self.0 >> Self::ACKNOWLEDGED_AT & Self::REPLICAS).checked_sub(1)
    }

    /// Whether its caller is told of an exception, whatever is answered: an earlier attempt was answered `READONLY`
    /// (docs/facts/redisson.md#readonly-can-leave-an-orphan).
    pub const fn has_failed(self) -> bool {
        self.0 & Self::HAS_FAILED != 0
    }

    /// How often the call is made again if too few replicas acknowledge it.
    pub const fn repeats_left(self) -> u8 {
        self.0 >> Self::REPEATS_AT
    }

    /// Nobody is asked, or nobody any more.
    #[must_use]
    pub(crate) const fn without_question(self) -> Self {
        Self(self.0 & !(Self::REPLICAS | Self::REPLICAS << Self::ACKNOWLEDGED_AT))
    }

    /// A `WAIT` for so many replicas is sent behind the next attempt.
    #[must_use]
    pub(crate) const fn asking(self, replicas: u8) -> Self {
        Self(self.without_question().0 | replicas)
    }

    /// So many replicas have acknowledged everything.
    #[must_use]
    pub(crate) const fn answered_by(self, replicas: u8) -> Self {
        Self(self.without_question().0 | (replicas + 1) << Self::ACKNOWLEDGED_AT)
    }

    /// An attempt was answered `READONLY`.
    #[must_use]
    pub(crate) const fn failed(self) -> Self {
        Self(self.0 | Self::HAS_FAILED)
    }

    /// The call is made once more.
    #[must_use]
    pub(crate) const fn repeated(self) -> Self {
        Self(self.0 - (1 << Self::REPEATS_AT))
    }

    /// As a byte, for hashing.
    const fn byte(self) -> u8 {
        self.0
    }
}

/// Which lease a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum BroughtLease {
    /// The usual one of its client: the watchdog's, if there is one.
    Common,
    /// The one that its call names: nothing renews it.
    Named,
    /// The same, and its call names none: the lock object remembers it.
    Remembered,
}

impl BroughtLease {
    /// Whether it is the one that some calls of the client name.
    pub(crate) const fn is_named(self) -> bool {
        !matches!(self, Self::Common)
    }
}

/// What a request asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Verb {
    /// To acquire the lock.
    Acquire,
    /// To give back one hold.
    Release,
    /// To renew the lease.
    Renew,
    /// To give back a grant that too few replicas have.
    Undo,
    /// To set the TTL of a lock that was just taken.
    SetTtl,
}

impl Verb {
    /// For [`Hash`], in two bits. No world has both an undo and a TTL that is set apart: no acquire by two commands waits for
    /// replicas.
    const fn bits(self) -> u8 {
        match self {
            Self::Acquire => 0,
            Self::Release => 1,
            Self::Renew => 2,
            Self::Undo | Self::SetTtl => 3,
        }
    }

    /// Whether it is a release, whose receipt a node may keep.
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::Undo)
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// On its way to the node.
    Sent,
    /// Executed, with this reply; the node has not said yet how many replicas have acknowledged it.
    Confirming(Reply),
    /// Executed; the reply is on its way back.
    Executed(Reply),
    /// Request or reply is lost; the caller does not know.
    Lost,
}

impl Requests {
    /// Nothing in flight.
    pub const NONE: Self = Self {
        slots: [None; Slot::ALL.len()],
        owed: [0; MAX_THREADS as usize],
        message_ages: [0; MAX_MESSAGES as usize],
    };

    /// The request in that slot.
    pub const fn get(&self, slot: Slot) -> Option<&Request> {
        self.slots[slot as usize].as_ref()
    }

    /// The requests with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Request)> {
        Slot::ALL.into_iter().zip(&self.slots).filter_map(|(slot, request)| Some((slot, request.as_ref()?)))
    }

    /// Whether a call of this thread is in flight, or abandoned and not over yet.
    pub fn is_calling(&self, thread: u8) -> bool {
        self.get(Slot::of_thread(thread)).is_some()
            || Slot::LATE
                .into_iter()
                .filter_map(|slot| self.get(slot))
                .any(|request| request.thread == thread && request.verb != Verb::Renew)
    }

    pub(crate) fn slot_mut(&mut self, slot: Slot) -> &mut Option<Request> {
        &mut self.slots[slot as usize]
    }

    /// The process is dead: what it had sent is still on its way, and no reply will be heard.
    pub(crate) fn outlive_client(&mut self) {
        for slot in &mut self.slots {
            *slot = slot.filter(|request| request.stage == Stage::Sent).map(|request| Request {
                answer_left: Timer::OFF,
                must_undo: false,
                wait: BatchWait::NONE,
                ..request
            });
        }
        self.owed = Self::NONE.owed;
        self.forget_messages();
    }

    /// Every node gets another number.
    pub(crate) fn rename_nodes(&mut self, rename: impl Fn(u8) -> u8) {
        for request in self.slots.iter_mut().flatten() {
            request.node = rename(request.node);
        }
    }

    /// Which node a request was sent to is of no use any more once it is executed or lost: `any` stands for it then.
    pub(crate) fn leave_out_places(&mut self, any: u8) {
        for request in self.slots.iter_mut().flatten().filter(|request| request.has_left_its_node()) {
            request.node = any;
        }
    }

    /// An unlock message has arrived, or is lost. Which one is lost cannot be observed; taking the oldest leaves the others
    /// the most time.
    pub(crate) fn drop_message(&mut self) {
        let [_, later @ ..] = self.message_ages;
        self.message_ages[..later.len()].copy_from_slice(&later);
        self.message_ages[later.len()] = 0;
    }

    /// The newest of so many unlock messages has just set out.
    pub(crate) const fn renew_newest_message(&mut self, messages: u8) {
        self.message_ages[messages as usize - 1] = 0;
    }

    /// The subscription has ended.
    pub(crate) const fn forget_messages(&mut self) {
        self.message_ages = Self::NONE.message_ages;
    }

    /// Ticks that the oldest message has been under way.
    pub(crate) const fn message_age(&self) -> u8 {
        self.message_ages[0]
    }
}

impl Request {
    /// Whether its process waits for the answer: it is a call, a renewal, or a call whose caller was interrupted.
    pub(crate) fn is_awaited(&self, slot: Slot) -> bool {
        !slot.is_late() || self.answer_left != Timer::OFF
    }

    /// Whether nothing will be asked of the node that it was sent to. A client compares the node of an answered `WAIT` with
    /// the master that it knows.
    const fn has_left_its_node(&self) -> bool {
        match self.stage {
            Stage::Sent
            | Stage::Confirming(_)
            | Stage::Executed(Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. }) => false,
            Stage::Executed(_) => self.wait.acknowledged().is_none(),
            Stage::Lost => true,
        }
    }

    /// Whether it is the release that left this receipt, or another attempt of it.
    pub(crate) fn names(&self, receipt: Receipt) -> bool {
        self.verb.releases() && self.thread == receipt.holder.thread() && self.id == receipt.id
    }

    /// Nobody waits for its answer, and it is not resent.
    pub(crate) const fn await_nothing(&mut self) {
        self.answer_left = Timer::OFF;
        self.retries_left = 0;
    }

    /// Whether this reply tells the process that it holds.
    pub(crate) const fn is_granted(&self) -> bool {
        let is_granted = matches!(self.stage, Stage::Executed(Reply::Acquired | Reply::Acknowledged { .. }));
        matches!(self.verb, Verb::Acquire) && is_granted && !self.wait.has_failed()
    }

    /// Whether a node has stored a grant for it, however few replicas have it.
    pub(crate) const fn has_grant(&self) -> bool {
        let is_refused = matches!(self.stage, Stage::Executed(Reply::TooFewReplicas { .. }));
        self.is_granted() || matches!(self.verb, Verb::Acquire) && is_refused
    }

    /// Whether a node counts the replicas that have its grant.
    pub(crate) const fn confirms_grant(&self) -> bool {
        matches!(self.stage, Stage::Confirming(Reply::Acquired))
    }

    pub(crate) const fn is_answered_release(&self) -> bool {
        matches!((self.verb, self.stage), (Verb::Release, Stage::Executed(_)))
    }

    /// Whether the network must let it arrive before time moves.
    pub(crate) fn is_due(&self, config: &Config) -> bool {
        config.network.delay.most().is_some_and(|most| self.age >= most)
    }
}

impl Hash for Requests {
    // In words, for the reason that `world/hash` gives.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        const MORE_MESSAGES: u8 = 1 << 7;
        const { assert!(Slot::ALL.len() < 8, "a bit for each slot, and one") };
        let Self { slots, owed: [first_owed, second_owed], message_ages } = *self;
        let [first, second, third, fourth, fifth, more @ ..] = message_ages;
        let mut flags = if more == [0; _] { 0 } else { MORE_MESSAGES };
        for (slot, request) in (0u8..).zip(&slots) {
            flags |= u8::from(request.is_some()) << slot;
        }
        hasher.write_u64(u64::from_le_bytes([flags, first, second, third, first_owed, second_owed, fourth, fifth]));
        if flags & MORE_MESSAGES != 0 {
            let [sixth, seventh, eighth] = more;
            hasher.write_u32(u32::from_le_bytes([sixth, seventh, eighth, 0]));
        }
        for request in slots.into_iter().flatten() {
            request.hash(hasher);
        }
    }
}

impl Hash for Request {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            verb,
            thread,
            value,
            node,
            stage,
            id,
            token,
            age,
            retries_left,
            answer_left,
            is_heard,
            must_undo,
            is_stale,
            lease,
            wait,
        } = *self;
        const { assert!(MAX_THREADS <= 2 && MAX_REPLICAS < 4, "they share a byte") };
        const { assert!(MAX_RETRIES + 1 < 1 << 3 && MAX_VALUES < 1 << 5, "they share another") };
        // Only a renewal is stale, and none brings another lease: the verb says which of the two is meant.
        let said = u8::from(is_heard) << 1 | u8::from(must_undo) << 2 | u8::from(is_stale || lease.is_named()) << 7;
        let flags = thread | said | verb.bits() << 3 | node << 5;
        let (reached, told) = match stage {
            Stage::Sent => (0, wait.byte()),
            Stage::Lost => (1, wait.byte()),
            Stage::Confirming(_) => (22, wait.byte()),
            Stage::Executed(reply) => reply_bytes(reply),
        };
        let tries = retries_left | value << 3;
        let reached = reached | u8::from(lease == BroughtLease::Remembered) << 7;
        let bytes = [flags, id, token, age, tries, answer_left.byte(), reached, told];
        hasher.write_u64(u64::from_le_bytes(bytes));
        // What few worlds have.
        match stage {
            Stage::Confirming(reply) if reply != Reply::Acquired => {
                let (which, number) = reply_bytes(reply);
                hasher.write_u16(u16::from_le_bytes([which, number]));
            }
            Stage::Executed(_) if wait != BatchWait::NONE => hasher.write_u8(wait.byte()),
            _ => {}
        }
    }
}

/// A reply in two bytes, for [`Hash`]: which one, from 2 on, and its number.
const fn reply_bytes(reply: Reply) -> (u8, u8) {
    match reply {
        Reply::Done => (2, 0),
        Reply::Acquired => (3, 0),
        Reply::Busy { remaining_ticks } => (4, Timer::optional(remaining_ticks).byte()),
        Reply::Released => (5, 0),
        Reply::StillHeld => (6, 0),
        Reply::NotHeld => (7, 0),
        Reply::Renewed => (8, 0),
        Reply::RenewalMissed => (9, 0),
        Reply::NothingToRenew => (10, 0),
        Reply::Unreachable => (11, 0),
        Reply::ForceReleased => (12, 0),
        Reply::NothingToRelease => (13, 0),
        Reply::Accepted => (14, 0),
        Reply::Rejected => (15, 0),
        Reply::Unknown => (16, 0),
        Reply::Interrupted => (17, 0),
        Reply::NotEnoughReplicas => (18, 0),
        Reply::ReadOnly => (19, 0),
        Reply::Acknowledged { replicas } => (20, replicas),
        Reply::TooFewReplicas { replicas } => (21, replicas),
        // 22 is `Stage::Confirming`.
        Reply::SaveFailed => (23, 0),
        Reply::RenewedInPart { missed } => (24, missed),
        Reply::WrongType => (25, 0),
        Reply::ToldRefused => (26, 0),
        Reply::TtlSet => (27, 0),
        Reply::NoTtlSet => (28, 0),
        Reply::LeftQueue => (29, 0),
        Reply::TokenRead { number } => (30, number),
        Reply::RenewalFailed => (31, 0),
        Reply::TryAgain => (32, 0),
        Reply::SaysHeld => (33, 0),
        Reply::SaysNotHeld => (34, 0),
    }
}
