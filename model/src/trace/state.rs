//! A state as readers see it: clients with their threads, nodes, and what each of them knows and stores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contents::{Contents, is_zero};
use super::request::RequestState;
use crate::client::state::Phase;
use crate::config::faults::Faults;
use crate::config::sections::Config;
use crate::notes::Breach;

/// The world at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Every client of the scenario.
    pub clients: Vec<ClientState>,
    /// Every node of the scenario.
    pub nodes: Vec<NodeState>,
    /// The node that the failover has made the master, where the roles do not show it: more than one node takes itself for the
    /// master, or only another one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_master: Option<String>,
    /// The same of several groups: of each in which it is not evident.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acting_masters: Vec<String>,
    /// Ticks until the failover under way must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover_left: Option<u8>,
    /// The same of several groups: of each, by its acting or last master.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failovers_left: BTreeMap<String, u8>,
    /// The rank of the newest fencing token the resource accepted; `None` where no resource is modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_newest: Option<u8>,
    /// The largest fencing token that the resource has accepted, where it checks those that are stored in Redis.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resource_token: u8,
    /// What may still go wrong.
    pub faults_left: Faults,
    /// Rules that the step into this state broke.
    pub breaches: Vec<Breach>,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientState {
    /// `A`, `B`, …
    pub name: String,
    /// Whether it runs.
    pub mode: ClientMode,
    /// The node it believes to be the master.
    pub master: String,
    /// How often it may still ask for the lock; `None`: without limit.
    pub acquires_left: Option<u8>,
    /// Its threads.
    pub threads: Vec<ThreadState>,
    /// Holds the watchdog renews, per thread.
    pub renewal_counts: Vec<u8>,
    /// The thread it renews for, from 0; `None`: there is nothing to renew.
    pub renewal_first: Option<u8>,
    /// Ticks until the watchdog fires.
    pub renewal_due_in: Option<u8>,
    /// The same of its other timers, where they multiply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_renewals_due_in: Vec<u8>,
    /// Whether the lock object that its threads share remembers a lease that a call has named.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub remembers_lease: bool,
    /// With which value it renews, per thread: the number of the acquire, 0 for none; recorded where acquires are told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renewal_values: Vec<u8>,
    /// Its subscription to the unlock channel; `None`: no thread waits for a message.
    pub subscription: Option<SubscriptionState>,
    /// Permits: messages that have arrived and have not woken a thread yet.
    pub permits: u8,
    /// Unlock messages under way to it.
    pub messages: u8,
    /// Ticks until it may ask again after a failover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_in: Option<u8>,
    /// How many replicas its master had when it counted them for `WAIT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas_known: Option<u8>,
    /// Its requests in flight, by slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestState>,
    /// Threads, from 0, whose grant is not in the renewal table yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unregistered: Vec<u8>,
    /// Ticks that the oldest unlock message has been under way; counted only where the scenario bounds the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_age: Option<u8>,
    /// Its call on several masters, and what an earlier one has left under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallState>,
}

/// A call on several masters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one for each fact of a call that a reader is told")]
pub struct CallState {
    /// The masters that were asked in this round; while it releases: those that are still to be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Those that have granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
    /// Those to which an ask is under way on which the client has given up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// Those to which such an ask of an earlier round is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_of_earlier: Vec<String>,
    /// The one whose reply is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unheard: Option<String>,
    /// Whether that is a grant.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unheard_is_grant: bool,
    /// Whether it says that somebody else has the lock there, so that a call that waits begins to wait there.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unheard_is_busy: bool,
    /// Whether the client waits until it has the lock or its wait limit is over. Of a lock in rounds: whether another one may follow.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub goes_on: bool,
    /// The one for whose lock it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_at: Option<String>,
    /// Ticks until the wait limit of the whole call, or until its round is over; not recorded where that is longer than any run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<u8>,
    /// Whether its round is a later one, from which on its lease is another one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub in_later_round: bool,
    /// The nodes that the client takes for the masters of their groups, and that were not at the beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved_to: Vec<String>,
    /// What it renews on each master, where each stores a lock of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watchdogs: Vec<WatchdogState>,
}

/// What a client renews on one of several masters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WatchdogState {
    /// The master.
    pub node: String,
    /// Holds that it renews there.
    pub holds: u8,
    /// Ticks until its timer fires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_in: Option<u8>,
}

/// Whether a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientMode {
    /// It runs.
    Running,
    /// It does not run, and its timers become overdue.
    Paused,
    /// It has crashed and never comes back.
    Crashed,
    /// It has not started yet; its master means nothing.
    NotStarted,
}

impl ClientMode {
    /// Whether it runs, or will run again.
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

/// A client's subscription to the unlock channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SubscriptionState {
    /// On this node.
    Node(String),
    /// The node it was on is dead or closed the connection.
    Lost,
    /// The node it was on has ended it, because the slot of its channel has moved, and its client does not subscribe anew.
    Ended,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one for each fact of a thread that a reader is told")]
pub struct ThreadState {
    /// `A`, or `A:1` where clients have two threads.
    pub name: String,
    /// Where it is in `lock()` or `unlock()`.
    pub phase: Phase,
    /// How many holds it believes it has.
    pub holds: u8,
    /// The rank of its fencing token; 0: none.
    pub token: u8,
    /// The fencing token that it has from Redis, where the resource checks those; 0: none, or the -1 of a grant that was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stored_token: u8,
    /// The rank of the fencing token of its write that is under way to the resource.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_under_way: u8,
    /// The token from Redis that this write carries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stored_token_under_way: u8,
    /// Ticks until its wait limit.
    pub wait_left: Option<u8>,
    /// The same by a clock that never jumps; recorded where the client's clock may jump.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_left: Option<u8>,
    /// Whether the round of the call is a later one in which its part of a lock is asked for, or was granted.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub in_later_round: bool,
    /// Whether it has its part of the lock, and its client is still taking the others, or gives them back.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub in_part: bool,
    /// The call that it is in, or by which it holds, has swallowed an interrupt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub has_swallowed: bool,
    /// For how many ticks it would sleep anew if it were interrupted; recorded where calls swallow interrupts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleeps_anew: Option<u8>,
    /// Ticks until its timer wakes it.
    pub wake_in: Option<u8>,
    /// Whether its timer may wake it before that: it waits for a key that may be gone at this very instant.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub may_wake_now: bool,
    /// Ticks until it must have released.
    pub hold_left: Option<u8>,
    /// Ticks until its grant is over by its own clock; recorded where callers look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_left: Option<u8>,
    /// Whether it has found that its grant is over, and has stopped.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub has_stopped: bool,
    /// Which of its acquires it asks for or holds by; recorded where acquires are told apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub value: u8,
    /// Replicas that have acknowledged the grant that it waits to have confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged_by: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one for each fact of a node that a reader is told")]
pub struct NodeState {
    /// `n1`, `n2`, …
    pub name: String,
    /// What it is now.
    pub role: NodeRole,
    /// What it stores; of a dead node nothing is known.
    pub stored: Contents,
    /// The effects it has not applied yet, oldest first: what it stores after each of them.
    pub under_way: Vec<Contents>,
    /// What it finds if it comes back; `None`: what it stores, or it never comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<Contents>,
    /// The master that was replaced and that it was not told to leave yet; `None`: it belongs to the acting master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// Whether it is cut off from the other nodes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// Whether it refuses every write: its last save failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refuses_writes: bool,
    /// Of a master whose slot is being moved to another one: how far that has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_move: Option<SlotMove>,
    /// Whether it stands still.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_paused: bool,
    /// Whether it lets every write wait: it was told to hand over.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hands_over: bool,
    /// Whether the acting master hands over to it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_heir: bool,
    /// Whether a replica takes itself for a master when it restarts: it has handed over, and its configuration file does not say
    /// so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_master_on_file: bool,
    /// Whether a master has enough replicas by its last count, where it has not counted since it stood still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_count: Option<bool>,
    /// Nodes to which it believes its link is open although nothing passes; recorded where acquires wait for replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half_open_to: Vec<String>,
    /// Ticks since anything was heard from it, as far as a rule counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub silent_ticks: u8,
    /// Ticks since it died, or since it was told to end or to hand over, as far as a rule counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub down_ticks: u8,
    /// Ticks by which its clock is ahead; below 0: behind.
    #[serde(default, skip_serializing_if = "is_level")]
    pub ahead: i8,
}

/// How far the move of a slot to another master has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlotMove {
    /// What the old master stores of it is still there.
    Begun,
    /// Its keys are at the other master: there is what this node is said to store.
    KeysMoved,
}

/// What a node is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeRole {
    /// It accepts writes.
    Master,
    /// It follows the acting master, or the one that [`NodeState::follows`] names.
    Replica,
    /// It runs, but does not follow the acting master yet, nor does it reach another.
    Unsynced,
    /// It was told to end: it serves nobody, and waits until its replicas have everything.
    Stopping,
    /// It is dead.
    Down,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_level(ahead: &i8) -> bool {
    *ahead == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl State {
    /// The master that the failovers of a node's group are decided on; `None` while there is none.
    pub fn acting_master_beside(&self, config: &Config, node: u8) -> Option<&NodeState> {
        if config.cluster.groups == 1 {
            return self.acting_master();
        }
        let size = usize::from(config.nodes());
        let first = usize::from(config.place_of(node).0) * size;
        let group = &self.nodes[first..first + size];
        let named = group.iter().find(|node| self.acting_masters.contains(&node.name));
        match named {
            Some(node) => Some(node).filter(|node| node.is_master()),
            None => group.iter().find(|node| node.is_master()),
        }
    }

    /// The same of the only group. A named one that is dead acts no more, and no other node takes its place before it is promoted.
    pub fn acting_master(&self) -> Option<&NodeState> {
        let mut masters = self.nodes.iter().filter(|node| node.is_master());
        masters.find(|node| self.acting_master.as_ref().is_none_or(|acting| *acting == node.name))
    }

    /// The threads that believe they hold the lock.
    pub fn believers(&self) -> impl Iterator<Item = &ThreadState> {
        self.clients.iter().flat_map(|client| &client.threads).filter(|thread| thread.believes())
    }
}

impl ThreadState {
    /// Whether it believes it holds the lock. A thread that has called release does not rely on that hold any more, nor does one that
    /// has stopped.
    pub fn believes(&self) -> bool {
        let is_giving_back = matches!(self.phase, Phase::Releasing | Phase::GivingBack);
        self.holds > u8::from(is_giving_back) && !self.has_stopped && !self.in_part
    }

    /// Whether it has called `lock()` and that has not returned.
    pub const fn is_in_lock(&self) -> bool {
        match self.phase {
            Phase::Refused
            | Phase::Subscribed
            | Phase::Waiting
            | Phase::Asking
            | Phase::AskingAgain
            | Phase::Confirming
            | Phase::Undoing
            | Phase::SettingTtl
            | Phase::NextPart => true,
            // A holder extends its lease.
            Phase::AskingMasters | Phase::HearingMaster => self.holds == 0,
            Phase::Idle
            | Phase::Dead
            | Phase::Releasing
            | Phase::GivingBack
            | Phase::ReleasingMasters
            | Phase::Doubting => false,
        }
    }

    /// Whether it can never act again.
    pub fn is_dead(&self) -> bool {
        self.phase == Phase::Dead
    }
}

impl SubscriptionState {
    /// The node it is on; `None` once it is lost.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Node(node) => Some(node),
            Self::Lost | Self::Ended => None,
        }
    }
}

impl NodeState {
    /// Whether it accepts writes.
    pub fn is_master(&self) -> bool {
        self.role == NodeRole::Master
    }

    /// Whether it is dead.
    pub fn is_down(&self) -> bool {
        self.role == NodeRole::Down
    }
}

impl NodeRole {
    /// The word for it, in traces and in every other text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Replica => "replica",
            Self::Unsynced => "unsynced",
            Self::Stopping => "stopping",
            Self::Down => "down",
        }
    }
}
