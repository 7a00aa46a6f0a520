//! The state of a client: a process with its threads, what it believes, and what it knows of the servers.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::renewal_table::RenewalTable;
use crate::limits::{
    MAX_HOLDS, MAX_MESSAGES, MAX_REPLICAS, MAX_RETRIES, MAX_SHARED_MESSAGES, MAX_THREADS, MAX_TICKS,
    MAX_TOKEN_UNDER_WAY,
};
use crate::time::Timer;

/// A client is a process: its threads are the holders, the rest is shared by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed: eight bytes are then one word to read.
#[repr(C)]
pub struct Client {
    /// Whether it runs.
    pub mode: Mode,
    /// What it knows of its group. Where there are several, each is one master, and there is nothing to know.
    pub views: [GroupView; 1],
    /// How many acquires it may still start.
    pub acquires_left: AcquiresLeft,
    /// Until it asks again after a failover; off: at once.
    pub asks_in: Timer,
    /// What its watchdog renews.
    pub renewal: RenewalTable,
    /// Its threads.
    pub threads: [Thread; MAX_THREADS as usize],
    /// What its waiters share.
    pub wakeup: WakeupEntry,
}

/// What a client knows of one group, in one byte: which node is the master, and how many replicas that had.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupView(u8);

impl GroupView {
    const BITS: u8 = 2;
    const NODE: u8 = (1 << Self::BITS) - 1;
    const UNREAD: u8 = Self::NODE << Self::BITS;

    /// That node is the master; its replicas were not counted yet.
    pub const fn of(master: u8) -> Self {
        const { assert!(MAX_REPLICAS < Self::NODE, "a node, and a number of replicas or none") };
        Self(Self::UNREAD | master)
    }

    /// The node that it takes for the master.
    pub const fn master(self) -> u8 {
        self.0 & Self::NODE
    }

    /// How many replicas its master had when it counted them for `WAIT`; `None`: it has not.
    pub const fn known_replicas(self) -> Option<u8> {
        let count = self.0 >> Self::BITS;
        if count == Self::NODE { None } else { Some(count) }
    }

    /// It has counted them, or must count anew.
    pub(crate) const fn set_known_replicas(&mut self, count: Option<u8>) {
        let count = match count {
            Some(count) => count,
            None => Self::NODE,
        };
        self.0 = self.master() | count << Self::BITS;
    }

    /// The same with every node renamed.
    pub(crate) fn renamed(self, rename: impl Fn(u8) -> u8) -> Self {
        Self(self.0 & !Self::NODE | rename(self.master()))
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for GroupView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{} with {:?} replicas", self.master() + 1, self.known_replicas())
    }
}

/// How many acquires a client may still start, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AcquiresLeft(u8);

impl AcquiresLeft {
    /// Without bound.
    pub const ANY: Self = Self(u8::MAX);
    /// None.
    pub const NONE: Self = Self(0);

    /// This many; `None`: without bound. A bounded number is far below the largest byte.
    pub const fn optional(times: Option<u8>) -> Self {
        match times {
            Some(times) => Self(times),
            None => Self::ANY,
        }
    }

    /// How many are left; `None`: without bound.
    pub const fn left(self) -> Option<u8> {
        if self.0 == Self::ANY.0 { None } else { Some(self.0) }
    }

    /// One less; `None`: none was left.
    pub(super) const fn one_less(self) -> Option<Self> {
        match self.left() {
            None => Some(self),
            Some(0) => None,
            Some(left) => Some(Self(left - 1)),
        }
    }

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}

/// Whether a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mode {
    /// The scenario has no such client.
    Absent,
    /// It runs.
    Running,
    /// It has stopped running for a while; its timers become overdue.
    Paused,
    /// It is dead, for good.
    Crashed,
    /// It has not started yet.
    NotStarted,
}

/// One thread: where it is in `lock()`, and what it believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed: its bytes are then one word to read.
#[repr(C)]
pub struct Thread {
    /// Where it is.
    pub phase: Phase,
    /// How often it believes it holds, and which of its writes is under way.
    pub counts: ThreadCounts,
    /// The rank of its grant among all that are remembered, 1 the oldest; 0: none, or tokens are not counted.
    pub token: u8,
    /// Until its wait limit, by its client's wall clock.
    pub wait_left: Timer,
    /// The same by a clock that never jumps; kept only where the client's may. Elsewhere what a call that swallows interrupts
    /// remembers of them stands here ([`Thread::has_swallowed`]): no scenario has both.
    pub limit_left: Timer,
    /// Until its own timer wakes it.
    pub wake_in: Timer,
    /// Until it releases at the latest.
    pub hold_left: Timer,
    /// Until its grant is over by its caller's own clock, of a caller that looks at it; overdue: it has looked, and stopped. Of one that
    /// asks several masters: until the grants that it asks for are.
    pub valid_left: Timer,
}

/// How often a thread believes it holds, and the token of its write that is under way to the resource, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadCounts(u8);

impl ThreadCounts {
    const HOLDS: u8 = MAX_TOKEN_UNDER_WAY;
    const BITS: u8 = 4;

    /// No hold, and no write under way.
    pub const NONE: Self = Self(0);

    /// As a byte, for hashing.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}

/// Where a thread is in `lock()` (docs/facts/redisson.md#lock-and-trylock).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Phase {
    /// Not in `lock()`; it may hold.
    Idle,
    /// Refused once, not subscribed yet.
    Refused,
    /// Subscribed, about to ask the second time.
    Subscribed,
    /// Asleep until a message or its timer wakes it.
    Waiting,
    /// Dead, while its process may live.
    Dead,
    /// Its first request for the lock is in flight.
    Asking,
    /// Subscribed, and another request for the lock is in flight.
    AskingAgain,
    /// Its release is in flight.
    Releasing,
    /// It was granted the lock, and waits to hear how many replicas have the grant.
    Confirming,
    /// Too few of them have it: it is about to give the grant back.
    Undoing,
    /// It was granted the lock, and is about to set its TTL, or its request for that is in flight.
    SettingTtl,
    /// Of a lock that has parts: it is the next one to be asked for.
    NextPart,
    /// Of a lock that has parts: it is the next one to be given back.
    GivingBack,
    /// Of a lock on several masters: it asks them, one after the other.
    AskingMasters,
    /// Of a lock on several masters: the reply of one of them is under way.
    HearingMaster,
    /// Of a lock on several masters: it releases on each of them.
    ReleasingMasters,
    /// Its call has ended without the lock, and it is about to ask whether it holds all the same.
    Doubting,
}

/// What the waiters of a process share: one entry per lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WakeupEntry {
    /// Wake-ups that no thread has taken yet.
    pub permits: u8,
    /// Unlock messages on their way to this process, and above their number a bit for each, the oldest lowest, that is for all who
    /// sleep.
    messages: u8,
}

impl Phase {
    /// Every one, in order.
    pub const ALL: [Self; 17] = [
        Self::Idle,
        Self::Refused,
        Self::Subscribed,
        Self::Waiting,
        Self::Dead,
        Self::Asking,
        Self::AskingAgain,
        Self::Releasing,
        Self::Confirming,
        Self::Undoing,
        Self::SettingTtl,
        Self::NextPart,
        Self::GivingBack,
        Self::AskingMasters,
        Self::HearingMaster,
        Self::ReleasingMasters,
        Self::Doubting,
    ];

    /// Whether a thread here uses its process's wake-up entry, and with it the subscription.
    pub const fn uses_wakeup_entry(self) -> bool {
        matches!(self, Self::Subscribed | Self::Waiting | Self::AskingAgain)
    }
}

impl Thread {
    /// Outside `lock()`, believing nothing.
    pub const IDLE: Self = Self {
        phase: Phase::Idle,
        counts: ThreadCounts::NONE,
        token: 0,
        wait_left: Timer::OFF,
        limit_left: Timer::OFF,
        wake_in: Timer::OFF,
        hold_left: Timer::OFF,
        valid_left: Timer::OFF,
    };
    /// Dead.
    pub const DEAD: Self = Self { phase: Phase::Dead, ..Self::IDLE };

    /// The same thread outside `lock()`, believing nothing. What it has sent to the resource is still under way.
    #[must_use]
    pub const fn settled(self) -> Self {
        Self { counts: ThreadCounts(self.counts.0 & !ThreadCounts::HOLDS), ..Self::IDLE }
    }

    /// Above every time: an interrupt was swallowed in the call that it is in, or by which it holds.
    pub(super) const SWALLOWED: u8 = 1 << 6;
    /// Beside it: the sleep of a waiter would not begin anew.
    const NO_SLEEP: u8 = Self::SWALLOWED - 1;

    /// Whether the call that it is in, or by which it holds, has swallowed an interrupt, and nobody is told.
    pub const fn has_swallowed(&self) -> bool {
        // A limit is shorter, and there is none in worlds in which calls swallow interrupts.
        matches!(self.limit_left.left(), Some(left) if left >= Self::SWALLOWED)
    }

    /// For how many ticks a waiter sleeps anew if it is interrupted now; `None`: it has been already in this sleep, or is awake.
    pub const fn sleeps_anew(&self) -> Option<u8> {
        match self.limit_left.left() {
            Some(left) if left % Self::SWALLOWED != Self::NO_SLEEP => Some(left % Self::SWALLOWED),
            _ => None,
        }
    }

    /// It falls asleep for so many ticks, in a call that swallows the first interrupt.
    pub(crate) const fn note_sleep(&mut self, ticks: u8) {
        const { assert!(MAX_TICKS < Self::NO_SLEEP, "a sleep and a bit share a byte") };
        self.limit_left = Timer::ticks(if self.has_swallowed() { Self::SWALLOWED | ticks } else { ticks });
    }

    /// It swallows an interrupt.
    pub(crate) const fn swallow(&mut self) {
        self.limit_left = Timer::ticks(Self::SWALLOWED | Self::NO_SLEEP);
    }

    /// The same thread, dead.
    #[must_use]
    pub const fn killed(self) -> Self {
        Self { phase: Phase::Dead, ..self.settled() }
    }

    /// How often it believes it holds; 0: it does not believe.
    pub const fn holds(&self) -> u8 {
        self.counts.0 & ThreadCounts::HOLDS
    }

    /// It believes so often from now on.
    pub(crate) const fn set_holds(&mut self, holds: u8) {
        const { assert!(MAX_HOLDS + MAX_RETRIES <= ThreadCounts::HOLDS, "also where each try of an acquire counts") };
        debug_assert!(holds <= ThreadCounts::HOLDS, "more holds than a thread can have");
        self.counts = ThreadCounts(self.counts.0 & !ThreadCounts::HOLDS | holds);
    }

    /// The token of its write that is under way to the resource; 0: none is. It outlives the hold, the thread and its process.
    pub const fn write(&self) -> u8 {
        self.counts.0 >> ThreadCounts::BITS
    }

    /// This write is under way from now on.
    pub(crate) const fn set_write(&mut self, token: u8) {
        debug_assert!(token <= MAX_TOKEN_UNDER_WAY, "more tokens than a write has bits for");
        self.counts = ThreadCounts(self.holds() | token << ThreadCounts::BITS);
    }

    /// Whether it has a hold that it has not called release for, as far as it knows.
    pub const fn has_hold(&self) -> bool {
        self.holds() > matches!(self.phase, Phase::Releasing | Phase::GivingBack) as u8
    }

    /// Whether it believes it holds. A thread that has called release does not count on that hold any more, nor does one that has
    /// stopped because its grant is over by its own clock.
    pub const fn believes(&self) -> bool {
        self.has_hold() && !self.has_stopped()
    }

    /// Whether it is somewhere in `lock()`, and not granted yet.
    pub const fn is_waiting(&self) -> bool {
        matches!(
            self.phase,
            Phase::Refused | Phase::Subscribed | Phase::Waiting | Phase::Asking | Phase::AskingAgain | Phase::NextPart
        )
    }

    /// Whether it was granted the lock and does not believe it yet.
    pub const fn is_confirming(&self) -> bool {
        matches!(self.phase, Phase::Confirming | Phase::Undoing | Phase::SettingTtl)
    }

    /// Whether its request is in flight, or about to be sent.
    pub const fn is_calling(&self) -> bool {
        matches!(self.phase, Phase::Asking | Phase::AskingAgain | Phase::Releasing | Phase::SettingTtl)
    }
}

impl WakeupEntry {
    /// Nobody waits.
    pub const NONE: Self = Self { permits: 0, messages: 0 };

    const COUNT_BITS: u8 = 4;
    const COUNT: u8 = (1 << Self::COUNT_BITS) - 1;

    /// How many unlock messages are on their way to this process.
    pub const fn messages(self) -> u8 {
        const { assert!(MAX_MESSAGES <= Self::COUNT, "a number of messages has four bits") };
        self.messages & Self::COUNT
    }

    /// One more has set out. `for_all`: it wakes those who sleep when it arrives, and leaves nothing for others.
    pub(super) const fn add_message(&mut self, for_all: bool) {
        let count = self.messages();
        debug_assert!(!for_all || count < MAX_SHARED_MESSAGES, "the scenario reader refuses more beside them");
        let bit = if for_all { 1 << (Self::COUNT_BITS + count) } else { 0 };
        self.messages = (self.messages | bit) + 1;
    }

    /// One more takes the place of the newest: what that leaves is left.
    pub(super) const fn replace_newest(&mut self, for_all: bool) {
        if let Some(newest) = self.messages().checked_sub(1)
            && !for_all
            && newest < MAX_SHARED_MESSAGES
        {
            self.messages &= !(1 << (Self::COUNT_BITS + newest));
        }
    }

    /// The oldest is on its way no more: whether it was for all. `None`: there is none.
    pub(super) const fn take_message(&mut self) -> Option<bool> {
        let Some(left) = self.messages().checked_sub(1) else { return None };
        let for_all = self.messages >> Self::COUNT_BITS;
        self.messages = left | for_all >> 1 << Self::COUNT_BITS;
        Some(for_all & 1 != 0)
    }

    /// As bytes, for hashing.
    pub(crate) const fn bytes(self) -> [u8; 2] {
        [self.permits, self.messages]
    }
}

impl Client {
    /// A slot the scenario does not use.
    pub const ABSENT: Self = Self {
        mode: Mode::Absent,
        views: [GroupView::of(0)],
        acquires_left: AcquiresLeft::ANY,
        threads: [Thread::DEAD; MAX_THREADS as usize],
        renewal: RenewalTable::EMPTY,
        wakeup: WakeupEntry::NONE,
        asks_in: Timer::OFF,
    };

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.mode == Mode::Running
    }

    /// Whether it runs, or will run again.
    pub const fn is_alive(&self) -> bool {
        matches!(self.mode, Mode::Running | Mode::Paused)
    }

    /// The node that it takes for the master of its lock's group.
    pub const fn master(&self) -> u8 {
        self.views[0].master()
    }

    /// Whether another one of its threads is inside a call.
    pub(crate) fn is_calling_beside(&self, thread: u8) -> bool {
        let others = (0..).zip(&self.threads).filter(|(number, _)| *number != thread);
        others.into_iter().any(|(_, other)| !matches!(other.phase, Phase::Idle | Phase::Dead))
    }

    /// Whether any of its threads uses the wake-up entry: its process then wants to be subscribed, if the lock's kind
    /// publishes.
    pub fn uses_wakeup_entry(&self) -> bool {
        self.threads.iter().any(|thread| thread.phase.uses_wakeup_entry())
    }
}
