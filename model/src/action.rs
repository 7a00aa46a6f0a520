//! The verbs: one variant is one line of a trace and one thing that can happen.

use serde::{Deserialize, Serialize};

use crate::config::{Config, LockKind, Resend};
use crate::wire::Slot;
use crate::world::Holder;

/// Something that happens. `client`, `thread` and `node` count from 0.
#[expect(missing_docs, reason = "the fields are the parties, named alike everywhere")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    // Clients.
    /// A thread asks for the lock, or to enter it once more.
    Acquire { client: u8, thread: u8 },
    /// A refused thread subscribes to the unlock channel.
    Subscribe { client: u8, thread: u8 },
    /// Subscribed, it asks again: the lock may have been freed before the subscription was there.
    SecondAsk { client: u8, thread: u8 },
    /// A waiter takes a permit that a message brought, and asks.
    WakeByMessage { client: u8, thread: u8 },
    /// A waiter's timer fires (the TTL it was answered is over), and it asks.
    WakeByTimer { client: u8, thread: u8 },
    /// A waiter's limit is over: it goes away empty-handed.
    GiveUp { client: u8, thread: u8 },
    /// `WAIT` answers how many replicas have the grant, and its caller believes or not.
    Confirm { client: u8, thread: u8 },
    /// A grant that too few replicas have is given back.
    Undo { client: u8, thread: u8 },
    /// A holder works on the resource.
    Work { client: u8, thread: u8 },
    /// A holder gives back one hold.
    Release { client: u8, thread: u8 },
    /// A client learns which node is the master now.
    Discover { client: u8 },
    /// A client whose subscription died with its node subscribes on the new master.
    Resubscribe { client: u8 },
    /// A paused client goes on.
    Resume { client: u8 },

    // Wire.
    /// An unlock message reaches a client's process.
    Deliver { client: u8 },
    /// A node executes a request.
    Execute { client: u8, slot: Slot },
    /// A grant reaches the process: the hold gets into its renewal table.
    Register { client: u8, thread: u8 },
    /// The answer to a release reaches the process: the hold leaves its renewal table.
    Unregister { client: u8, thread: u8 },
    /// Whoever asked sees the reply.
    Answer { client: u8, slot: Slot },
    /// No answer came in time: the same is asked again.
    Resend { client: u8, slot: Slot },
    /// No answer came in time: the caller is told that the outcome is unknown.
    Abandon { client: u8, slot: Slot },

    // Watchdog.
    /// A client's renewal timer fires.
    Renew { client: u8 },

    // Redis.
    /// A replica applies the next effect.
    Replicate { node: u8 },
    /// A replica becomes master.
    Promote { node: u8 },
    /// A replica begins to follow the new master and takes its data.
    Resync { node: u8 },
    /// An old master is made a replica of the new one, and takes its data.
    Demote { node: u8 },
    /// What a node has written reaches its disk.
    Fsync { node: u8 },
    /// A node that was cut off reaches the others again.
    Heal { node: u8 },

    // Faults.
    /// A client dies.
    CrashClient { client: u8 },
    /// A thread that holds dies, its process lives.
    CrashThread { client: u8, thread: u8 },
    /// A client stops running for a while.
    PauseClient { client: u8 },
    /// A node dies.
    CrashNode { node: u8 },
    /// An unlock message is lost.
    LoseMessage { client: u8 },
    /// A request never reaches its node.
    LoseRequest { client: u8, slot: Slot },
    /// A reply never reaches its client.
    LoseReply { client: u8, slot: Slot },
    /// A thread is interrupted in `lock()` or `unlock()`.
    Interrupt { client: u8, thread: u8 },
    /// A thread that does not believe it holds calls release.
    ForeignRelease { client: u8, thread: u8 },
    /// A client deletes the lock, whoever holds it.
    ForceRelease { client: u8 },
    /// A node that died comes back.
    RestartNode { node: u8 },
    /// A node is cut off from the other nodes, and from who decides on a failover.
    CutLink { node: u8 },
    /// A master drops the key without a word.
    VanishKey { node: u8 },
    /// The clock of a node jumps.
    ClockJump { node: u8 },
    /// The wall clock of a client jumps.
    ClientClockJump { client: u8 },
    /// A replica becomes the master while the master runs.
    HandOver { node: u8 },

    // Time.
    /// One tick passes, on every clock.
    Tick,
}

/// An action without its parties: what coverage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[expect(missing_docs, reason = "each is the action of the same name")]
pub enum ActionKind {
    Acquire,
    Subscribe,
    SecondAsk,
    WakeByMessage,
    WakeByTimer,
    GiveUp,
    Confirm,
    Undo,
    Work,
    Release,
    Discover,
    Resubscribe,
    Resume,
    Deliver,
    Execute,
    Register,
    Unregister,
    Answer,
    Resend,
    Abandon,
    Renew,
    Replicate,
    Promote,
    Resync,
    Demote,
    Fsync,
    Heal,
    CrashClient,
    CrashThread,
    PauseClient,
    CrashNode,
    LoseMessage,
    LoseRequest,
    LoseReply,
    Interrupt,
    ForeignRelease,
    ForceRelease,
    RestartNode,
    CutLink,
    VanishKey,
    ClockJump,
    ClientClockJump,
    HandOver,
    Tick,
}

impl ActionKind {
    /// Every kind, in the order of [`Action`].
    pub const ALL: [Self; 44] = [
        Self::Acquire,
        Self::Subscribe,
        Self::SecondAsk,
        Self::WakeByMessage,
        Self::WakeByTimer,
        Self::GiveUp,
        Self::Confirm,
        Self::Undo,
        Self::Work,
        Self::Release,
        Self::Discover,
        Self::Resubscribe,
        Self::Resume,
        Self::Deliver,
        Self::Execute,
        Self::Register,
        Self::Unregister,
        Self::Answer,
        Self::Resend,
        Self::Abandon,
        Self::Renew,
        Self::Replicate,
        Self::Promote,
        Self::Resync,
        Self::Demote,
        Self::Fsync,
        Self::Heal,
        Self::CrashClient,
        Self::CrashThread,
        Self::PauseClient,
        Self::CrashNode,
        Self::LoseMessage,
        Self::LoseRequest,
        Self::LoseReply,
        Self::Interrupt,
        Self::ForeignRelease,
        Self::ForceRelease,
        Self::RestartNode,
        Self::CutLink,
        Self::VanishKey,
        Self::ClockJump,
        Self::ClientClockJump,
        Self::HandOver,
        Self::Tick,
    ];

    /// The word for it in traces and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Subscribe => "subscribe",
            Self::SecondAsk => "second_ask",
            Self::WakeByMessage => "wake_by_message",
            Self::WakeByTimer => "wake_by_timer",
            Self::GiveUp => "give_up",
            Self::Confirm => "confirm",
            Self::Undo => "undo",
            Self::Work => "work",
            Self::Release => "release",
            Self::Discover => "discover",
            Self::Resubscribe => "resubscribe",
            Self::Resume => "resume",
            Self::Deliver => "deliver",
            Self::Execute => "execute",
            Self::Register => "register",
            Self::Unregister => "unregister",
            Self::Answer => "answer",
            Self::Resend => "resend",
            Self::Abandon => "abandon",
            Self::Renew => "renew",
            Self::Replicate => "replicate",
            Self::Promote => "promote",
            Self::Resync => "resync",
            Self::Demote => "demote",
            Self::Fsync => "fsync",
            Self::Heal => "heal",
            Self::CrashClient => "crash_client",
            Self::CrashThread => "crash_thread",
            Self::PauseClient => "pause_client",
            Self::CrashNode => "crash_node",
            Self::LoseMessage => "lose_message",
            Self::LoseRequest => "lose_request",
            Self::LoseReply => "lose_reply",
            Self::Interrupt => "interrupt",
            Self::ForeignRelease => "foreign_release",
            Self::ForceRelease => "force_release",
            Self::RestartNode => "restart_node",
            Self::CutLink => "cut_link",
            Self::VanishKey => "vanish_key",
            Self::ClockJump => "clock_jump",
            Self::ClientClockJump => "client_clock_jump",
            Self::HandOver => "hand_over",
            Self::Tick => "tick",
        }
    }

    /// Whether it is a fault: something that need never happen.
    pub const fn is_fault(self) -> bool {
        match self {
            Self::CrashClient
            | Self::CrashThread
            | Self::PauseClient
            | Self::CrashNode
            | Self::LoseMessage
            | Self::LoseRequest
            | Self::LoseReply
            | Self::Interrupt
            | Self::ForeignRelease
            | Self::ForceRelease
            | Self::RestartNode
            | Self::CutLink
            | Self::VanishKey
            | Self::ClockJump
            | Self::ClientClockJump
            | Self::HandOver => true,
            Self::Acquire
            | Self::Subscribe
            | Self::SecondAsk
            | Self::WakeByMessage
            | Self::WakeByTimer
            | Self::GiveUp
            | Self::Confirm
            | Self::Undo
            | Self::Work
            | Self::Release
            | Self::Discover
            | Self::Resubscribe
            | Self::Resume
            | Self::Deliver
            | Self::Execute
            | Self::Register
            | Self::Unregister
            | Self::Answer
            | Self::Resend
            | Self::Abandon
            | Self::Renew
            | Self::Replicate
            | Self::Promote
            | Self::Resync
            | Self::Demote
            | Self::Fsync
            | Self::Heal
            | Self::Tick => false,
        }
    }

    /// Whether it must happen where nothing prevents it. Faults need not; nor need a client ask, nor, where the scenario
    /// says so, release. All others are weakly fair: none is possible for ever and never taken. [`Tick`](Self::Tick) is
    /// more: time passes, whatever else happens, for nobody can do endlessly much at one moment.
    pub const fn is_fair(self, config: &Config) -> bool {
        match self {
            Self::Acquire => false,
            Self::Release => !config.clients.hold_for_ever,
            _ => !self.is_fault(),
        }
    }

    /// Whether it must happen even where it is only possible again and again: in a scenario that says so, whatever is
    /// [fair](Self::is_fair). Of time more is asked already.
    pub fn is_strongly_fair(self, config: &Config) -> bool {
        config.strong_fairness && self != Self::Tick && self.is_fair(config)
    }

    /// Whether the scenario speaks of it at all. One that it allows and that never happens makes a verdict vacuous.
    pub fn is_allowed(self, config: &Config) -> bool {
        let faults = &config.faults;
        let sleeps = config.waits() && config.lock.publishes();
        match self {
            Self::Acquire | Self::Release | Self::Tick => true,
            Self::Subscribe | Self::SecondAsk | Self::WakeByMessage | Self::Deliver => sleeps,
            Self::WakeByTimer => config.waits(),
            Self::GiveUp => config.time.wait_limit.is_some_and(|limit| limit > 0),
            Self::Confirm => config.cluster.wait_for > 0,
            Self::Undo => config.can_lack_replicas() && !config.is_split(),
            Self::Execute | Self::Answer => config.is_split(),
            Self::Register | Self::Unregister => config.is_split() && config.time.renew_every.is_some(),
            Self::Resend => config.can_miss_answers() && config.calls.resend != Resend::None,
            Self::Abandon => config.can_abandon(),
            Self::Work => config.resource.is_some(),
            Self::Renew => config.time.renew_every.is_some(),
            Self::Replicate => config.cluster.replicas > 0 && !config.cluster.lag.is_zero(),
            Self::Promote => config.can_promote(),
            Self::Discover => config.can_fail_over(),
            // Who was not chosen follows who was; and whoever comes back follows the master.
            Self::Resync => {
                let is_left_over = config.cluster.replicas > 1;
                config.can_fail_over() && (is_left_over || config.can_restart() || faults.cut_link > 0)
            }
            Self::Resubscribe => (config.can_fail_over() || config.can_restart()) && sleeps,
            Self::Demote => config.can_demote(),
            Self::Fsync => config.has_late_disk(),
            Self::CutLink | Self::Heal => faults.cut_link > 0,
            Self::RestartNode => config.can_restart(),
            Self::VanishKey => faults.vanish_key > 0,
            Self::ClockJump => faults.clock_jump > 0,
            Self::ClientClockJump => faults.client_clock_jump > 0,
            Self::HandOver => config.cluster.replicas > 0 && faults.hand_over > 0,
            Self::CrashClient => faults.crash_client > 0,
            Self::CrashThread => faults.crash_thread > 0,
            Self::PauseClient | Self::Resume => faults.pause_client > 0,
            Self::CrashNode => faults.crash_node > 0,
            Self::LoseMessage => faults.lose_message > 0 && sleeps,
            Self::LoseRequest => faults.lose_request > 0 && config.is_split(),
            Self::LoseReply => faults.lose_reply > 0 && config.is_split(),
            Self::Interrupt => faults.interrupt > 0 && (config.is_split() || config.waits()),
            Self::ForeignRelease => faults.foreign_release > 0,
            Self::ForceRelease => faults.force_release > 0 && config.lock == LockKind::Reentrant,
        }
    }
}

impl Action {
    /// Every action the scenario allows, in the one order that makes traces the same everywhere: what clients, Redis and
    /// faults do first, time last.
    pub fn all(config: &Config) -> Vec<Self> {
        let mut actions = Vec::new();
        for kind in ActionKind::ALL.into_iter().filter(|kind| kind.is_allowed(config)) {
            kind.instances(config, &mut actions);
        }
        actions
    }

    /// Which verb it is.
    pub const fn kind(self) -> ActionKind {
        match self {
            Self::Acquire { .. } => ActionKind::Acquire,
            Self::Subscribe { .. } => ActionKind::Subscribe,
            Self::SecondAsk { .. } => ActionKind::SecondAsk,
            Self::WakeByMessage { .. } => ActionKind::WakeByMessage,
            Self::WakeByTimer { .. } => ActionKind::WakeByTimer,
            Self::GiveUp { .. } => ActionKind::GiveUp,
            Self::Confirm { .. } => ActionKind::Confirm,
            Self::Undo { .. } => ActionKind::Undo,
            Self::Work { .. } => ActionKind::Work,
            Self::Release { .. } => ActionKind::Release,
            Self::Discover { .. } => ActionKind::Discover,
            Self::Resubscribe { .. } => ActionKind::Resubscribe,
            Self::Resume { .. } => ActionKind::Resume,
            Self::Deliver { .. } => ActionKind::Deliver,
            Self::Execute { .. } => ActionKind::Execute,
            Self::Register { .. } => ActionKind::Register,
            Self::Unregister { .. } => ActionKind::Unregister,
            Self::Answer { .. } => ActionKind::Answer,
            Self::Resend { .. } => ActionKind::Resend,
            Self::Abandon { .. } => ActionKind::Abandon,
            Self::Renew { .. } => ActionKind::Renew,
            Self::Replicate { .. } => ActionKind::Replicate,
            Self::Promote { .. } => ActionKind::Promote,
            Self::Resync { .. } => ActionKind::Resync,
            Self::Demote { .. } => ActionKind::Demote,
            Self::Fsync { .. } => ActionKind::Fsync,
            Self::Heal { .. } => ActionKind::Heal,
            Self::CrashClient { .. } => ActionKind::CrashClient,
            Self::CrashThread { .. } => ActionKind::CrashThread,
            Self::PauseClient { .. } => ActionKind::PauseClient,
            Self::CrashNode { .. } => ActionKind::CrashNode,
            Self::LoseMessage { .. } => ActionKind::LoseMessage,
            Self::LoseRequest { .. } => ActionKind::LoseRequest,
            Self::LoseReply { .. } => ActionKind::LoseReply,
            Self::Interrupt { .. } => ActionKind::Interrupt,
            Self::ForeignRelease { .. } => ActionKind::ForeignRelease,
            Self::ForceRelease { .. } => ActionKind::ForceRelease,
            Self::RestartNode { .. } => ActionKind::RestartNode,
            Self::CutLink { .. } => ActionKind::CutLink,
            Self::VanishKey { .. } => ActionKind::VanishKey,
            Self::ClockJump { .. } => ActionKind::ClockJump,
            Self::ClientClockJump { .. } => ActionKind::ClientClockJump,
            Self::HandOver { .. } => ActionKind::HandOver,
            Self::Tick => ActionKind::Tick,
        }
    }

    /// Of what becomes of one request: which of the client's.
    pub const fn slot(self) -> Option<Slot> {
        match self {
            Self::Execute { slot, .. }
            | Self::Answer { slot, .. }
            | Self::Resend { slot, .. }
            | Self::Abandon { slot, .. }
            | Self::LoseRequest { slot, .. }
            | Self::LoseReply { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// Who does it, or whom it befalls.
    pub const fn party(self) -> Party {
        match self {
            Self::Acquire { client, thread }
            | Self::Subscribe { client, thread }
            | Self::SecondAsk { client, thread }
            | Self::WakeByMessage { client, thread }
            | Self::WakeByTimer { client, thread }
            | Self::GiveUp { client, thread }
            | Self::Confirm { client, thread }
            | Self::Undo { client, thread }
            | Self::Work { client, thread }
            | Self::Release { client, thread }
            | Self::CrashThread { client, thread }
            | Self::ForeignRelease { client, thread }
            | Self::Register { client, thread }
            | Self::Unregister { client, thread }
            | Self::Interrupt { client, thread } => Party::Thread(Holder::new(client, thread)),
            Self::Execute { client, slot }
            | Self::Answer { client, slot }
            | Self::Resend { client, slot }
            | Self::Abandon { client, slot }
            | Self::LoseRequest { client, slot }
            | Self::LoseReply { client, slot } => match slot.thread() {
                Some(thread) => Party::Thread(Holder::new(client, thread)),
                None => Party::Client(client),
            },
            Self::Discover { client }
            | Self::Resubscribe { client }
            | Self::Resume { client }
            | Self::Deliver { client }
            | Self::Renew { client }
            | Self::CrashClient { client }
            | Self::PauseClient { client }
            | Self::LoseMessage { client }
            | Self::ForceRelease { client }
            | Self::ClientClockJump { client } => Party::Client(client),
            Self::Replicate { node }
            | Self::Promote { node }
            | Self::Resync { node }
            | Self::Demote { node }
            | Self::HandOver { node }
            | Self::Fsync { node }
            | Self::Heal { node }
            | Self::CrashNode { node }
            | Self::RestartNode { node }
            | Self::CutLink { node }
            | Self::VanishKey { node }
            | Self::ClockJump { node } => Party::Node(node),
            Self::Tick => Party::World,
        }
    }
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// One thread of a client.
    Thread(Holder),
    /// A client's process.
    Client(u8),
    /// A node.
    Node(u8),
    /// Nobody: time.
    World,
}

impl ActionKind {
    fn instances(self, config: &Config, actions: &mut Vec<Action>) {
        let threads = || {
            (0..config.clients.count).flat_map(|client| (0..config.clients.threads).map(move |thread| (client, thread)))
        };
        let clients = || 0..config.clients.count;
        let is_there = |slot: &Slot| match slot {
            Slot::Call1 | Slot::Late => true,
            Slot::Call2 => config.clients.threads > 1,
            Slot::Renewal => config.time.renew_every.is_some(),
        };
        let slots = |meant: fn(Slot) -> bool| {
            let of_client = move || Slot::ALL.into_iter().filter(is_there).filter(move |slot| meant(*slot));
            clients().flat_map(move |client| of_client().map(move |slot| (client, slot)))
        };
        let is_awaited = |slot| slot != Slot::Late;
        let nodes = || 0..config.nodes();
        match self {
            Self::Acquire => actions.extend(threads().map(|(client, thread)| Action::Acquire { client, thread })),
            Self::Subscribe => actions.extend(threads().map(|(client, thread)| Action::Subscribe { client, thread })),
            Self::SecondAsk => actions.extend(threads().map(|(client, thread)| Action::SecondAsk { client, thread })),
            Self::WakeByMessage => {
                actions.extend(threads().map(|(client, thread)| Action::WakeByMessage { client, thread }));
            }
            Self::WakeByTimer => {
                actions.extend(threads().map(|(client, thread)| Action::WakeByTimer { client, thread }));
            }
            Self::GiveUp => actions.extend(threads().map(|(client, thread)| Action::GiveUp { client, thread })),
            Self::Confirm => actions.extend(threads().map(|(client, thread)| Action::Confirm { client, thread })),
            Self::Undo => actions.extend(threads().map(|(client, thread)| Action::Undo { client, thread })),
            Self::Work => actions.extend(threads().map(|(client, thread)| Action::Work { client, thread })),
            Self::Release => actions.extend(threads().map(|(client, thread)| Action::Release { client, thread })),
            Self::CrashThread => {
                actions.extend(threads().map(|(client, thread)| Action::CrashThread { client, thread }));
            }
            Self::ForeignRelease => {
                actions.extend(threads().map(|(client, thread)| Action::ForeignRelease { client, thread }));
            }
            Self::Register => actions.extend(threads().map(|(client, thread)| Action::Register { client, thread })),
            Self::Unregister => actions.extend(threads().map(|(client, thread)| Action::Unregister { client, thread })),
            Self::Interrupt => actions.extend(threads().map(|(client, thread)| Action::Interrupt { client, thread })),
            Self::Execute => actions.extend(slots(|_| true).map(|(client, slot)| Action::Execute { client, slot })),
            Self::Answer => actions.extend(slots(|_| true).map(|(client, slot)| Action::Answer { client, slot })),
            Self::Resend => actions.extend(slots(is_awaited).map(|(client, slot)| Action::Resend { client, slot })),
            Self::Abandon => actions.extend(slots(is_awaited).map(|(client, slot)| Action::Abandon { client, slot })),
            Self::LoseRequest => {
                actions.extend(slots(|_| true).map(|(client, slot)| Action::LoseRequest { client, slot }));
            }
            Self::LoseReply => actions.extend(slots(|_| true).map(|(client, slot)| Action::LoseReply { client, slot })),
            Self::Discover => actions.extend(clients().map(|client| Action::Discover { client })),
            Self::Resubscribe => actions.extend(clients().map(|client| Action::Resubscribe { client })),
            Self::Resume => actions.extend(clients().map(|client| Action::Resume { client })),
            Self::Deliver => actions.extend(clients().map(|client| Action::Deliver { client })),
            Self::Renew => actions.extend(clients().map(|client| Action::Renew { client })),
            Self::CrashClient => actions.extend(clients().map(|client| Action::CrashClient { client })),
            Self::PauseClient => actions.extend(clients().map(|client| Action::PauseClient { client })),
            Self::LoseMessage => actions.extend(clients().map(|client| Action::LoseMessage { client })),
            Self::ForceRelease => actions.extend(clients().map(|client| Action::ForceRelease { client })),
            Self::Replicate => actions.extend(nodes().map(|node| Action::Replicate { node })),
            Self::Promote => actions.extend(nodes().map(|node| Action::Promote { node })),
            Self::Resync => actions.extend(nodes().map(|node| Action::Resync { node })),
            Self::CrashNode => actions.extend(nodes().map(|node| Action::CrashNode { node })),
            Self::Demote => actions.extend(nodes().map(|node| Action::Demote { node })),
            Self::HandOver => actions.extend(nodes().map(|node| Action::HandOver { node })),
            Self::Fsync => actions.extend(nodes().map(|node| Action::Fsync { node })),
            Self::Heal => actions.extend(nodes().map(|node| Action::Heal { node })),
            Self::RestartNode => actions.extend(nodes().map(|node| Action::RestartNode { node })),
            Self::CutLink => actions.extend(nodes().map(|node| Action::CutLink { node })),
            Self::VanishKey => actions.extend(nodes().map(|node| Action::VanishKey { node })),
            Self::ClockJump => actions.extend(nodes().map(|node| Action::ClockJump { node })),
            Self::ClientClockJump => actions.extend(clients().map(|client| Action::ClientClockJump { client })),
            Self::Tick => actions.push(Action::Tick),
        }
    }
}
