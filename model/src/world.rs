//! The world at one moment. Three truths are kept apart: what each client believes, what each node stores, and what
//! the guarded resource accepted.
//!
//! Every time is an offset from now, so time never ends and states repeat. A world is a small `Copy` value whose arrays
//! are sized by its class ([`in_class`](crate::in_class)).

mod hash;
mod packed;

use core::fmt;
use core::num::NonZeroU8;

use serde::{Deserialize, Serialize};

use crate::config::{Config, Faults, MAX_CLIENTS, MAX_THREADS};
use crate::locks::Record;
use crate::names::client_name;
pub use packed::{Apart, ReplicaNotes};

/// A time that runs down to 0 and stays there, or is off. At 0 it is due: a key with 0 left is still there, a client's
/// timer with 0 left wants to fire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timer(u8);

impl Timer {
    /// Not running.
    pub const OFF: Self = Self(u8::MAX);
    /// Due now.
    pub const DUE: Self = Self(0);

    /// So many ticks from now. Configured times are at most [`MAX_TICKS`](crate::config::MAX_TICKS), far from off.
    pub const fn ticks(ticks: u8) -> Self {
        Self(ticks)
    }

    /// So many ticks from now, or off.
    pub const fn optional(ticks: Option<u8>) -> Self {
        match ticks {
            Some(ticks) => Self(ticks),
            None => Self::OFF,
        }
    }

    /// The ticks left; `None` when off.
    pub const fn left(self) -> Option<u8> {
        if self.0 == Self::OFF.0 { None } else { Some(self.0) }
    }

    /// As a byte, for who packs.
    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    /// Whether it is due.
    pub const fn is_due(self) -> bool {
        self.0 == 0
    }

    /// So many ticks nearer, or farther away if that is below 0; `None`: it is over by then. One that is off stays off.
    pub(crate) fn nearer(self, ticks: i8) -> Option<Self> {
        match self.left() {
            None => Some(self),
            Some(left) => u8::try_from(i16::from(left) - i16::from(ticks)).ok().map(Self),
        }
    }

    /// One tick later. A due timer stays due: it is overdue, and nothing depends on by how much.
    #[must_use]
    pub const fn later(self) -> Self {
        if self.0 == Self::OFF.0 { self } else { Self(self.0.saturating_sub(1)) }
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::OFF
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.left() {
            Some(left) => write!(f, "{left}"),
            None => f.write_str("off"),
        }
    }
}

/// A client's thread, as the lock stores it. `Option<Holder>` is one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Holder(NonZeroU8);

impl Holder {
    /// That thread of that client.
    pub const fn new(client: u8, thread: u8) -> Self {
        Self(NonZeroU8::MIN.saturating_add(client * MAX_THREADS + thread))
    }

    /// One of them, or nobody, as a byte.
    pub(crate) const fn byte(holder: Option<Self>) -> u8 {
        match holder {
            Some(Self(number)) => number.get(),
            None => 0,
        }
    }

    /// Its client.
    pub const fn client(self) -> u8 {
        (self.0.get() - 1) / MAX_THREADS
    }

    /// Its thread.
    pub const fn thread(self) -> u8 {
        (self.0.get() - 1) % MAX_THREADS
    }
}

/// As Redis stores it: `A:1` for the first thread of the first client.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", client_name(self.client()), self.thread() + 1)
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Holder> for String {
    fn from(holder: Holder) -> Self {
        holder.to_string()
    }
}

impl TryFrom<String> for Holder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut all = (0..MAX_CLIENTS).flat_map(|client| (0..MAX_THREADS).map(move |thread| Self::new(client, thread)));
        let named = all.find(|holder| holder.to_string() == text);
        named.ok_or_else(|| format!("{text:?} is not a holder such as \"A:1\""))
    }
}

/// Everything, at one moment: `C` client slots, `N` node slots, and the record `R` of the lock's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct World<R: Record, const C: usize, const N: usize> {
    /// What each client believes; slots beyond the scenario's count stay [`Mode::Absent`].
    pub clients: [Client; C],
    /// What each client has in flight; nothing where request and answer are one step.
    pub wires: Wires<R::Wire, C>,
    /// What Redis stores.
    pub group: Group<R, N>,
    /// What the resource accepted.
    pub resource: ResourceLog,
    /// What may still go wrong.
    pub faults: Faults,
    /// Rules about a step that the step into this state broke. Not carried on: they mark the state, not its future.
    pub breaches: Breaches,
}

/// What each client has in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wires<W, const C: usize>(pub(crate) [W; C]);

/// A client is a process: its threads are the holders, the rest is shared by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed: eight bytes are then one word to read.
#[repr(C)]
pub struct Client {
    /// Whether it runs.
    pub mode: Mode,
    /// The node it takes for the master.
    pub master: u8,
    /// How often it may still ask; `None`: for ever.
    pub acquires_left: Asks,
    /// Until it asks again after a failover; off: at once.
    pub asks_in: Timer,
    /// What its watchdog renews.
    pub renewal: RenewalTable,
    /// Its threads.
    pub threads: [Thread; MAX_THREADS as usize],
    /// Where its waiters sleep.
    pub wakeup: WakeupEntry,
    /// What it knows of its master's replicas; kept for `WAIT` only.
    pub replicas: ReplicaNotes,
}

/// How often a client may still ask, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Asks(u8);

impl Asks {
    /// For ever.
    pub const ANY: Self = Self(u8::MAX);
    /// No more.
    pub const NONE: Self = Self(0);

    /// So often, or for ever. A bounded number is far below the largest byte.
    pub const fn optional(times: Option<u8>) -> Self {
        match times {
            Some(times) => Self(times),
            None => Self::ANY,
        }
    }

    /// The times left; `None`: for ever.
    pub const fn left(self) -> Option<u8> {
        if self.0 == Self::ANY.0 { None } else { Some(self.0) }
    }

    /// Once less; `None`: it may ask no more.
    pub(crate) const fn once_less(self) -> Option<Self> {
        match self.left() {
            None => Some(self),
            Some(0) => None,
            Some(left) => Some(Self(left - 1)),
        }
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
    /// It stands still; its timers go overdue.
    Paused,
    /// It is dead, for good.
    Crashed,
}

/// One thread: where it is in `lock()`, and what it believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// In the order in which it is hashed: six bytes are then one word to read.
#[repr(C)]
pub struct Thread {
    /// Where it is.
    pub phase: Phase,
    /// How often it believes it holds; 0: it does not believe.
    pub holds: u8,
    /// The rank of its grant among all that are remembered, 1 the oldest; 0: none, or nobody looks.
    pub token: u8,
    /// Until its wait limit, by its client's wall clock.
    pub wait_left: Timer,
    /// The same by a clock that never jumps; kept only where the other may.
    pub limit_left: Timer,
    /// Until it asks again of itself.
    pub wake_in: Timer,
    /// Until it wants to release at the latest.
    pub hold_left: Timer,
}

/// Where a thread is in `lock()` (facts/redisson.md, "Reentrant lock").
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
    /// Asleep until a message or its timer.
    Waiting,
    /// Dead, its process may live.
    Dead,
    /// Its first request for the lock is in flight.
    Asking,
    /// Subscribed, and another request for the lock is in flight.
    AskingAgain,
    /// Its release is in flight.
    Releasing,
    /// The lock is granted to it, and it waits to hear how many replicas know.
    Confirming,
    /// Too few of them know: it is about to give the grant back.
    Undoing,
}

/// What the process's watchdog renews: a count per thread for the one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct RenewalTable {
    /// Raised by each acquire reply, lowered by each release reply.
    pub counts: [u8; MAX_THREADS as usize],
    /// The thread that registered first: the one the watchdog asks for. 0 when the table is empty.
    pub first: u8,
    /// Until the timer fires.
    pub due_in: Timer,
}

/// Where the process's waiters sleep: one entry a lock, shared by its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WakeupEntry {
    /// Where the process is subscribed.
    pub subscription: Subscription,
    /// Wake-ups that no thread has taken yet.
    pub permits: u8,
    /// Unlock messages on their way to this process.
    pub messages: u8,
}

/// Where a process is subscribed, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Subscription {
    /// Nowhere: nobody waits.
    None,
    /// The node it was on is dead: subscriptions live on the node they were made on.
    Lost,
    /// On the first node.
    OnFirst,
    /// On the second.
    OnSecond,
    /// On the third.
    OnThird,
}

impl Subscription {
    /// On that node.
    pub const fn on(node: u8) -> Self {
        const { assert!(crate::config::MAX_REPLICAS == 2, "a variant for each node") };
        match node {
            0 => Self::OnFirst,
            1 => Self::OnSecond,
            _ => Self::OnThird,
        }
    }

    /// The node it is on.
    pub const fn node(self) -> Option<u8> {
        match self {
            Self::None | Self::Lost => None,
            Self::OnFirst => Some(0),
            Self::OnSecond => Some(1),
            Self::OnThird => Some(2),
        }
    }
}

/// One master and its replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group<R, const N: usize> {
    /// The acting master, or the last one if that is down.
    pub master: u8,
    /// Until the failover under way must be over; off: none is, or it may take as long as it likes.
    pub failover_left: Timer,
    /// Every node.
    pub nodes: [Node<R>; N],
}

/// One Redis process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node<R> {
    /// What it is now.
    pub role: Role,
    /// What it stores. Of a dead master: what it stored, until a replica takes its place.
    pub record: R,
    /// What its master has written and it has not applied yet.
    pub link: Link<R>,
    /// What is on its disk; kept for [`Fsync::EverySecond`](crate::config::Fsync) only.
    pub disk: R,
    /// What keeps it apart from the others.
    pub apart: Apart,
    /// Ticks since it was heard of. Of a dead node: since it died. Of a replica: since its master heard of it. Of a
    /// master that was passed over: since it lacks replicas. Counted as far as a rule asks for it.
    pub unheard: u8,
    /// Ticks by which its clock is ahead of the clocks that never jumped; below 0: behind.
    pub ahead: i8,
}

/// What a node is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// The scenario has no such node.
    Absent,
    /// It accepts writes.
    Master,
    /// It follows the master.
    Replica,
    /// It runs, but does not follow the new master yet.
    Unsynced,
    /// It is dead.
    Down,
    /// It is dead, and will follow a master should it come back. Told apart only where a node may come back.
    DownReplica,
}

/// Effects under way to one replica, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link<R> {
    /// How many.
    pub len: u8,
    /// The record each of them leaves, and how long it has been under way. Empty slots are in their default.
    pub effects: [Effect<R>; crate::config::MAX_EFFECTS_UNDER_WAY as usize],
}

/// One effect: all that one script wrote.
///
/// It holds the whole record that it leaves: effects are applied in order over the same prefix, so that is the same as
/// the writes themselves (Redis sends them as one `MULTI … EXEC`, TTLs as absolute times; facts/redis.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Effect<R> {
    /// What the replica stores once it is applied.
    pub record: R,
    /// Ticks since it was written; counted only where the scenario bounds the lag. Its highest bit: a caller waits for it.
    age: u8,
}

/// What the guarded resource has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceLog {
    /// The newest token it accepted; 0: none yet.
    pub newest: u8,
}

/// Rules about a step that a step broke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Breaches(u8);

/// One rule about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Breach {
    /// A grant vanished from the acting master without release or expiry.
    GrantVanished = 1 << 0,
    /// The resource accepted an effect after one of a later holder.
    EffectOutOfOrder = 1 << 1,
    /// A new grant has no greater token.
    TokenNotGreater = 1 << 2,
    /// Somebody who does not hold changed the lock.
    ForeignChange = 1 << 3,
    /// Time went past a running client's wait limit.
    WaitLimitOverrun = 1 << 4,
    /// A running, connected believer with a watchdog lost its lease to expiry.
    LeaseLost = 1 << 5,
}

impl Breach {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::GrantVanished,
        Self::EffectOutOfOrder,
        Self::TokenNotGreater,
        Self::ForeignChange,
        Self::WaitLimitOverrun,
        Self::LeaseLost,
    ];
}

impl Breaches {
    /// None.
    pub const NONE: Self = Self(0);

    /// Notes one.
    pub const fn note(&mut self, breach: Breach) {
        self.0 |= breach as u8;
    }

    /// Whether it is noted.
    pub const fn has(self, breach: Breach) -> bool {
        self.0 & breach as u8 != 0
    }
}

impl Phase {
    /// Every one, in order.
    pub const ALL: [Self; 10] = [
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
    ];
}

impl Thread {
    /// Outside `lock()`, believing nothing.
    pub const IDLE: Self = Self {
        phase: Phase::Idle,
        holds: 0,
        token: 0,
        wait_left: Timer::OFF,
        limit_left: Timer::OFF,
        wake_in: Timer::OFF,
        hold_left: Timer::OFF,
    };
    /// Dead.
    pub const DEAD: Self = Self { phase: Phase::Dead, ..Self::IDLE };

    /// Whether it believes it holds. Who has called release counts on that hold no more.
    pub const fn believes(&self) -> bool {
        self.holds > matches!(self.phase, Phase::Releasing) as u8
    }

    /// Whether it is somewhere in `lock()`, and not granted yet.
    pub const fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Refused | Phase::Subscribed | Phase::Waiting | Phase::Asking | Phase::AskingAgain)
    }

    /// Whether it was granted the lock and does not believe it yet.
    pub const fn is_confirming(&self) -> bool {
        matches!(self.phase, Phase::Confirming | Phase::Undoing)
    }

    /// Whether its request is in flight.
    pub const fn is_calling(&self) -> bool {
        matches!(self.phase, Phase::Asking | Phase::AskingAgain | Phase::Releasing)
    }
}

impl RenewalTable {
    /// Nothing to renew.
    pub const EMPTY: Self = Self { counts: [0; MAX_THREADS as usize], first: 0, due_in: Timer::OFF };

    /// Whether there is nothing to renew.
    pub fn is_empty(&self) -> bool {
        self.counts == Self::EMPTY.counts
    }
}

impl WakeupEntry {
    /// Nobody waits.
    pub const NONE: Self = Self { subscription: Subscription::None, permits: 0, messages: 0 };
}

impl Client {
    /// A slot the scenario does not use.
    pub const ABSENT: Self = Self {
        mode: Mode::Absent,
        master: 0,
        acquires_left: Asks::ANY,
        threads: [Thread::DEAD; MAX_THREADS as usize],
        renewal: RenewalTable::EMPTY,
        wakeup: WakeupEntry::NONE,
        replicas: ReplicaNotes::NONE,
        asks_in: Timer::OFF,
    };

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.mode == Mode::Running
    }
}

impl<R: Record> Node<R> {
    /// Whether it is cut off from the other nodes, and from who decides on a failover. Clients reach it all the same.
    pub const fn is_cut(&self) -> bool {
        self.apart.is_cut()
    }

    /// Effects it had missed when its master died; kept for [`PromoteRule::MostData`](crate::config::PromoteRule) only.
    pub const fn missed(&self) -> u8 {
        self.apart.missed()
    }

    /// Whether this master takes its link to that node for open, though nothing passes it; kept where acquires wait for
    /// replicas and links are cut.
    pub const fn is_half_open_to(&self, node: u8) -> bool {
        self.apart.is_half_open_to(node)
    }

    /// Whether it accepts writes.
    pub fn is_master(&self) -> bool {
        self.role == Role::Master
    }

    /// Whether its process runs.
    pub fn is_up(&self) -> bool {
        matches!(self.role, Role::Master | Role::Replica | Role::Unsynced)
    }

    /// Whether its process is dead.
    pub fn is_dead(&self) -> bool {
        matches!(self.role, Role::Down | Role::DownReplica)
    }
}

impl<R: Record> Link<R> {
    /// Nothing under way.
    pub fn empty() -> Self {
        Self { len: 0, effects: [Effect::default(); crate::config::MAX_EFFECTS_UNDER_WAY as usize] }
    }
}

impl<R: Record, const C: usize, const N: usize> World<R, C, N> {
    /// The first moment: every client idle, the first node master, nothing stored.
    pub fn initial(config: &Config) -> Self {
        let mut thread_slots = [Thread::DEAD; MAX_THREADS as usize];
        thread_slots[..usize::from(config.clients.threads)].fill(Thread::IDLE);
        let client = Client {
            mode: Mode::Running,
            acquires_left: Asks::optional(config.clients.acquires),
            threads: thread_slots,
            ..Client::ABSENT
        };
        let absent = Node {
            role: Role::Absent,
            record: R::default(),
            link: Link::empty(),
            disk: R::default(),
            apart: Apart::NOT,
            unheard: 0,
            ahead: 0,
        };

        let mut clients = [Client::ABSENT; C];
        clients[..usize::from(config.clients.count)].fill(client);
        let mut nodes = [absent; N];
        nodes[..usize::from(config.nodes())].fill(Node { role: Role::Replica, ..absent });
        nodes[0].role = Role::Master;

        Self {
            clients,
            wires: Wires([R::Wire::default(); C]),
            group: Group { master: 0, failover_left: Timer::OFF, nodes },
            resource: ResourceLog::default(),
            faults: config.faults,
            breaches: Breaches::NONE,
        }
    }

    /// A client.
    pub fn client(&self, client: u8) -> &Client {
        &self.clients[usize::from(client)]
    }

    /// A client.
    pub fn client_mut(&mut self, client: u8) -> &mut Client {
        &mut self.clients[usize::from(client)]
    }

    /// A thread.
    pub fn thread(&self, holder: Holder) -> &Thread {
        &self.client(holder.client()).threads[usize::from(holder.thread())]
    }

    /// A thread.
    pub fn thread_mut(&mut self, holder: Holder) -> &mut Thread {
        &mut self.client_mut(holder.client()).threads[usize::from(holder.thread())]
    }

    /// A node.
    pub fn node(&self, node: u8) -> &Node<R> {
        &self.group.nodes[usize::from(node)]
    }

    /// A node.
    pub fn node_mut(&mut self, node: u8) -> &mut Node<R> {
        &mut self.group.nodes[usize::from(node)]
    }

    /// The acting master; `None` while there is none.
    pub fn acting_master(&self) -> Option<&Node<R>> {
        Some(self.node(self.group.master)).filter(|node| node.is_master())
    }

    /// The node that this client's requests reach; `None` while the master it knows is dead.
    pub fn reachable_master(&self, client: u8) -> Option<u8> {
        let known = self.client(client).master;
        self.node(known).is_master().then_some(known)
    }

    /// The node that this client's requests reach, even if it is a replica by now and will refuse to write.
    pub fn reachable(&self, client: u8) -> Option<u8> {
        let known = self.client(client).master;
        self.node(known).is_up().then_some(known)
    }

    /// Every thread of every client that has not crashed, with its client.
    pub fn threads(&self) -> impl Iterator<Item = (Holder, &Client, &Thread)> {
        (0u8..).zip(&self.clients).filter(|(_, client)| matches!(client.mode, Mode::Running | Mode::Paused)).flat_map(
            |(index, client)| {
                (0u8..).zip(&client.threads).map(move |(thread, state)| (Holder::new(index, thread), client, state))
            },
        )
    }

    /// The threads that believe they hold. A paused one believes; a dead one does not.
    pub fn believers(&self) -> impl Iterator<Item = (Holder, &Client, &Thread)> {
        self.threads().filter(|(_, _, thread)| thread.believes())
    }
}
