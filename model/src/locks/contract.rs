//! The contract of a kind of lock: what it stores on a node, and what its scripts do to that.
//!
//! A kind is one file with a type that implements [`Lock`]. The file of the same name under `impl/src/locks` tells Redis
//! the same rules. Waiting, renewing and replicating are shared by all kinds and stand elsewhere; what they must know of
//! a kind is data, its [`Facts`].

use core::fmt::Debug;
use core::hash::Hash;

use super::facts::{Facts, StoringMasters};
use super::holder::Holder;
use super::keys::Key;
use super::master_calls::CallStore;
use super::tokens::TokenStore;
use super::value_set::ValueSet;
use super::values::ValueStore;
use crate::config::switches::{HeldQuery, ReadRenewal};
use crate::mutants::{ActiveMutant, Mutant};
use crate::time::Timer;

/// What one node stores under the keys of one lock, and the kind's rules over it.
///
/// A request takes the stored value and gives the new one with its reply, as one script does: Redis runs nothing else
/// meanwhile (docs/facts/redis.md#time-during-a-script: time stands still during one script).
pub trait Lock:
    Copy + Clone + Debug + Default + PartialEq + Eq + Hash + PartialOrd + Ord + Send + Sync + 'static
{
    /// What the shared rules must know of this kind.
    const FACTS: Facts;

    /// How many locks it is, each under a name of its own.
    const NAMES: u8 = 1;

    /// Whether there is a copy of the engines for each size of world. Those of a kind without them run in the largest, more
    /// slowly: each copy makes the program larger.
    const HAS_SMALL_WORLDS: bool = true;

    /// Whether its worlds have several masters ([`Facts::masters`]), and are of one size.
    const HAS_SEVERAL_MASTERS: bool = Self::FACTS.masters.are_several();

    /// Whether each of those stores a lock of its own ([`StoringMasters::Locks`]).
    const HAS_MASTER_LOCKS: bool = matches!(Self::FACTS.masters, StoringMasters::Locks);

    /// Whether its worlds can have several names ([`Facts::names`]).
    const MAY_HAVE_NAMES: bool = Self::FACTS.names.is_there();

    /// Whether they always have: a name for each part ([`Facts::parts`]).
    const HAS_PARTS: bool = Self::FACTS.parts.is_there();

    /// Whether there is a copy of the engines for a split network. The scenario reader refuses one for a kind without them.
    const HAS_SPLIT_WORLDS: bool = true;

    /// What a process remembers of the values of its acquires, if the kind has them ([`Facts::value`]).
    type Values: ValueStore;

    /// What each client remembers of its call, if the lock is taken on several masters ([`Facts::masters`]).
    type Calls: CallStore;

    /// What is remembered outside Redis of the tokens that it issues, if it does ([`Facts::tokens`]).
    type Tokens: TokenStore;

    /// Several locks of this kind ([`Named`](super::named::Named)); the kind itself, where [`Facts::names`] says that there is
    /// no use for them.
    type Several: Lock;

    /// Which of the locks this holder's requests are about: where there are several, thread *t* of every client uses the lock
    /// with the name *t*.
    fn name_of(holder: Holder) -> u8 {
        if Self::NAMES == 1 { 0 } else { holder.thread() }
    }

    /// Executes one request, as one script does.
    fn execute(self, context: LockContext, request: LockRequest) -> Outcome<Self>;

    /// Everybody who holds, each with mode and count. None: the lock is free.
    fn holders(&self) -> impl Iterator<Item = StoredHold>;

    /// Whether an acquire, a renewal or the end of a wait names several keys and one of them does not exist: a master whose slot is being
    /// moved refuses it then (docs/facts/cluster.md#while-a-slot-is-moved).
    fn lacks_key_of(&self, request: LockRequest) -> bool {
        let _ = request;
        false
    }

    /// How many holds of this holder are counted, with those that its client has left behind.
    fn holds_of(&self, holder: Holder) -> u8 {
        self.holders().filter(|hold| hold.by.holder == holder).map(|hold| hold.count).max().unwrap_or(0)
    }

    /// Whether nothing is stored under the lock's own key. Elsewhere than here a key that is there has a holder.
    fn is_absent(&self) -> bool {
        self.holders().next().is_none()
    }

    /// Whether this holder holds by that acquire, all that it asks for: only then may it release and renew.
    fn has_all_of(&self, context: LockContext, requester: Requester) -> bool {
        let _ = context;
        self.holders().any(|hold| hold.by == requester)
    }

    /// Whether two nodes that store these say that different holders have the same, in kinds of which each client names a set of
    /// values ([`Facts::value_sets`]).
    fn contradicts(&self, other: &Self) -> bool {
        let _ = other;
        false
    }

    /// `ticks` pass on this node's clock (negative: the clock goes back), for every TTL and deadline of the kind's own.
    fn pass(self, context: LockContext, ticks: i8) -> (Self, Lapsed);

    /// The same without one of its keys: evicted, or deleted by hand.
    #[must_use]
    fn without(self, slot: KeyFamily) -> Self;

    /// One tick passes on the clocks of the clients, for the deadlines that they reckon by these: no clock of a node changes
    /// them.
    #[must_use]
    fn deadlines_pass(self) -> Self {
        self
    }

    /// Those who queue for it, in their order, if the kind has a queue ([`Facts::queue`]).
    fn queue(&self) -> impl Iterator<Item = QueuedWaiter> {
        core::iter::empty()
    }

    /// The same with the keys of the other one that have no TTL of their own.
    #[must_use]
    fn with_untimed_of(self, other: Self) -> Self {
        let _ = other;
        self
    }

    /// The counter of the tokens that it issues; 0: there is no such key, or the kind has none ([`Facts::tokens`]).
    fn token_counter(&self) -> u8 {
        0
    }

    /// The same with this counter.
    #[must_use]
    fn with_token_counter(self, counter: u8) -> Self {
        let _ = counter;
        self
    }

    /// How this holder holds, if it does.
    fn mode_of(holder: Holder) -> HoldMode {
        let _ = holder;
        HoldMode::Exclusive
    }

    /// Whether these two may hold at once.
    fn go_together(one: Holder, other: Holder) -> bool {
        one == other
    }

    /// Whether one of its keys has no time left.
    fn has_due(&self) -> bool {
        self.holders().any(|hold| hold.remaining.is_due())
    }

    /// The same without every lock's key that has no time left.
    #[must_use]
    fn without_due(self) -> Self {
        self.without(KeyFamily::Lock)
    }

    /// The same without the key of the lock with that name, which has no time left, where there are several; `None`: it has some, there is
    /// no such key, or there is one lock.
    #[must_use]
    fn without_due_under(self, name: u8) -> Option<Self> {
        let _ = name;
        None
    }

    /// The same where another program has stored a string under that name; `None`: there is one already, or none is modelled.
    #[must_use]
    fn overwritten(self, name: u8) -> Option<Self> {
        let _ = name;
        None
    }

    /// The same where the lock's key has no TTL (`PERSIST`): it stays until somebody writes or deletes it.
    #[must_use]
    fn persisted(self) -> Self;

    /// This value in an effect that does not write the TTL of the lock's key, where TTLs travel as the time that is left.
    #[must_use]
    fn without_ttl(self) -> Self;

    /// This value, brought by such an effect, on a replica that stores `own`: a TTL that was not written is the replica's
    /// own.
    #[must_use]
    fn with_ttl_of(self, own: Self) -> Self;

    /// The keys that it occupies on a node, in the order in which readers should see them: for traces, pictures and the
    /// comparison with a server.
    fn keys(&self) -> Vec<Key>;

    /// The same with every holder renamed, for symmetry.
    #[must_use]
    fn renamed(self, rename: impl Fn(Holder) -> Holder) -> Self;

    /// The same with every value's number exchanged. A kind without values ([`Facts::value`]) stores none.
    #[must_use]
    fn renumbered(self, renumber: impl Fn(Requester) -> u8) -> Self {
        let _ = renumber;
        self
    }
}

/// What a script is given besides its keys and its caller.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each a switch of the protocol of its own")]
pub struct LockContext {
    /// The lease that a grant or renewal sets, ticks: that of the client that asks.
    pub lease_ticks: u8,
    /// For how long a refused caller queues, ticks: its deadline is so much later than that of the one before it.
    pub queue_wait_ticks: u8,
    /// Whether a refused caller queues, or is told how long it may have to wait. One that does not wait does not.
    pub may_queue: bool,
    /// Whether a release leaves a receipt, whatever it finds.
    pub leaves_receipts: bool,
    /// Whether a release does not look whose the lock is.
    pub has_bare_release: bool,
    /// Whether an extension of the lease does not look whose the lock is, and stores its own value.
    pub has_bare_extend: bool,
    /// Whether an acquire leaves the TTL to a command of its own.
    pub sets_ttl_apart: bool,
    /// Whether the command that sets the TTL looks whose the lock is by then.
    pub sets_own_ttl: bool,
    /// Whether an acquire takes a lock that has its own value already.
    pub takes_own: bool,
    /// Whether a writer that releases and reads on tells those who wait.
    pub tells_of_downgrade: bool,
    /// Which holds the renewal of a reader renews.
    pub read_renewal: ReadRenewal,
    /// Which values the caller names, in kinds that have several.
    pub values: ValueSet,
    /// At which of them it looks to find out whether it holds.
    pub held_query: HeldQuery,
    /// How far the wall clock of the caller is ahead of one that is right, ticks; read where that decides
    /// ([`Facts::caller_clock`]).
    pub clock_ahead_ticks: u8,
    /// Whether it is stored in which order the readers have entered: only where that matters.
    pub keeps_order: bool,
    /// The rule that is wrong on purpose, if any.
    pub mutant: ActiveMutant,
}

/// For whom a request is made: a holder, and which of its holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    /// Who.
    pub holder: Holder,
    /// The number of the value of its acquire, where that matters ([`Config::has_values`](crate::Config::has_values)); 0
    /// elsewhere, and for a caller that has no hold.
    pub value: u8,
}

/// One request to one lock on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockRequest {
    /// Takes the lock, or enters it once more where the kind allows that.
    Acquire(Requester),
    /// Sets the TTL of the lock that the caller has just taken, whoever has it now.
    SetTtl(Requester),
    /// Extends the lease if the caller still holds.
    Renew(Requester),
    /// Gives back one hold.
    Release(Requester),
    /// Leaves the queue: its caller waits no longer.
    LeaveQueue(Requester),
    /// Asks whether its caller holds.
    AskIfHeld(Requester),
    /// Deletes the lock, whoever holds it.
    Force,
}

/// What one script did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<L> {
    /// What the node stores afterwards.
    pub stored: L,
    /// What was written.
    pub writes: Writes,
    /// What the caller is told.
    pub reply: LockReply,
    /// What was published on the lock's channels.
    pub publish: Option<Publish>,
    /// Whether that was published before the first write command: then a node that refuses to write has published it all the same,
    /// since `PUBLISH` is no write, and what a script has done stays done (docs/facts/redis.md#publish-in-a-script).
    pub publishes_first: bool,
    /// The fencing token that the kind keeps in Redis and issued with this grant.
    pub token: Option<StoredToken>,
}

/// A fencing token that a kind keeps in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredToken(pub u8);

/// What a script replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockReply {
    /// The caller holds it now, for the first time.
    Acquired,
    /// The caller held it already and holds it once more.
    Reentered,
    /// Somebody else has it.
    Busy {
        /// Until the key expires if nobody does anything; off: it has no TTL.
        remaining: Timer,
    },
    /// The lock has its TTL.
    TtlSet,
    /// There was no lock whose TTL could be set.
    NoTtlSet,
    /// The lease is complete again.
    Renewed,
    /// There was nothing of the caller's to renew, or not all that it asks for. A kind whose callers judge by their own clocks may have
    /// removed what is over by that, whoever's it is.
    RenewalMissed,
    /// The script ended with an error. What it had renewed by then stays renewed.
    RenewalFailed,
    /// The lock is free.
    Released,
    /// One hold less, but not the last.
    StillHeld,
    /// The caller does not hold it; nothing was changed.
    NotHeld,
    /// The key is no lock: another program has stored a value of another type under its name. Nothing was changed.
    WrongType,
    /// There was a lock, and it was deleted.
    ForceReleased,
    /// There was no lock to delete.
    NothingToRelease,
    /// The caller is not in the queue any more, if it was.
    LeftQueue,
    /// The caller is told that it holds.
    SaysHeld,
    /// The caller is told that it does not hold.
    SaysNotHeld,
}

/// What is published on the lock's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// The lock is free: one message on the channel that every waiter shares.
    Unlock,
    /// The same, on the channel of the one who is first in the queue.
    UnlockFor(Holder),
    /// A message on the channel that every waiter shares, for all who are asleep when it comes: it leaves nothing for one who falls
    /// asleep later (Redisson's `LockPubSub`: as many permits as the latch has waiters).
    UnlockAll,
}

/// A family of the keys of a lock: what a script writes of it, and what can expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum KeyFamily {
    /// The key that carries the lock's own name.
    Lock,
    /// A release receipt.
    Receipt,
    /// The queue of those who wait, and their deadlines. Neither key has a TTL.
    Queue,
    /// The strings that stand for the holds of readers, each with a TTL of its own.
    Hold,
    /// The counter of the tokens that are issued. It has no TTL.
    Token,
}

/// What a script wrote: for each key whether its content, its TTL or both were written. Where TTLs travel as the time that
/// is left, a replica keeps its own for a key whose TTL was not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Writes {
    is_command: bool,
    contents: u8,
    ttls: u8,
}

impl Writes {
    /// No write command: a read-only node executes it.
    pub const NONE: Self = Self { is_command: false, contents: 0, ttls: 0 };
    /// A write command that changed nothing: a read-only node refuses it, and no effect reaches a replica.
    pub const ATTEMPT: Self = Self { is_command: true, contents: 0, ttls: 0 };

    /// Also the content of that key. A deleted key has neither content nor TTL afterwards: both were written.
    #[must_use]
    pub const fn content(self, slot: KeyFamily) -> Self {
        Self { is_command: true, contents: self.contents | 1 << slot as u8, ..self }
    }

    /// Also the TTL of that key.
    #[must_use]
    pub const fn ttl(self, slot: KeyFamily) -> Self {
        Self { is_command: true, ttls: self.ttls | 1 << slot as u8, ..self }
    }

    /// Also content and TTL of that key.
    #[must_use]
    pub const fn key(self, slot: KeyFamily) -> Self {
        self.content(slot).ttl(slot)
    }

    /// What either of both wrote.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            is_command: self.is_command || other.is_command,
            contents: self.contents | other.contents,
            ttls: self.ttls | other.ttls,
        }
    }

    /// Whether a node that may not write refuses the request.
    pub const fn is_command(self) -> bool {
        self.is_command
    }

    /// Whether anything was written.
    pub const fn any(self) -> bool {
        self.contents | self.ttls != 0
    }

    /// Whether the content of that key was written.
    pub const fn has_content(self, slot: KeyFamily) -> bool {
        self.contents >> slot as u8 & 1 != 0
    }

    /// Whether the TTL of that key was written.
    pub const fn has_ttl(self, slot: KeyFamily) -> bool {
        self.ttls >> slot as u8 & 1 != 0
    }
}

/// Which keys expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapsed(u8);

impl Lapsed {
    /// None.
    pub const NONE: Self = Self(0);

    /// Also that one.
    #[must_use]
    pub const fn and(self, slot: KeyFamily) -> Self {
        Self(self.0 | 1 << slot as u8)
    }

    /// Whether that one did.
    pub const fn has(self, slot: KeyFamily) -> bool {
        self.0 >> slot as u8 & 1 != 0
    }
}

/// One holder, as the lock stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredHold {
    /// Who, and by which of its acquires.
    pub by: Requester,
    /// How.
    pub mode: HoldMode,
    /// How often it entered; at least 1.
    pub count: u8,
    /// How long the hold lives if nobody renews it; off: it has no TTL.
    pub remaining: Timer,
}

/// Somebody who queues for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedWaiter {
    /// Who.
    pub holder: Holder,
    /// Ticks until its deadline by a clock that is right; 0: it is over, and whoever acts next may remove it.
    pub left_ticks: u8,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldMode {
    /// Nobody else holds.
    Exclusive,
    /// Others may hold as well, in this mode.
    Shared,
}

impl LockRequest {
    /// Whose request it is; a forced release is nobody's.
    pub const fn caller(self) -> Option<Holder> {
        match self {
            Self::Acquire(by)
            | Self::SetTtl(by)
            | Self::Renew(by)
            | Self::Release(by)
            | Self::LeaveQueue(by)
            | Self::AskIfHeld(by) => Some(by.holder),
            Self::Force => None,
        }
    }
}

impl Requester {
    /// A holder of a kind, or in a world, in which its acquires are not told apart.
    pub const fn of(holder: Holder) -> Self {
        Self { holder, value: 0 }
    }
}

impl LockContext {
    /// The lease that a grant or renewal sets.
    pub const fn lease(self) -> Timer {
        Timer::ticks(self.lease_ticks)
    }

    /// Whether the rule of this mutant is the one that is wrong.
    pub fn is_mutated(self, mutant: Mutant) -> bool {
        self.mutant.is(mutant)
    }
}

impl<L> Outcome<L> {
    /// An outcome that publishes nothing and issues no token.
    pub const fn of(stored: L, writes: Writes, reply: LockReply) -> Self {
        Self { stored, writes, reply, publish: None, publishes_first: false, token: None }
    }

    /// The same, and a message is published.
    #[must_use]
    pub fn publishing(self, publish: Publish) -> Self {
        Self { publish: Some(publish), ..self }
    }

    /// The same, of what contains what was stored.
    #[must_use]
    pub fn map<M>(self, around: impl FnOnce(L) -> M) -> Outcome<M> {
        let Self { stored, writes, reply, publish, publishes_first, token } = self;
        Outcome { stored: around(stored), writes, reply, publish, publishes_first, token }
    }
}
