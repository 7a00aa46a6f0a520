//! The actions: one variant is one line of a trace and one thing that can happen. Declared once, in one table.

use serde::{Deserialize, Serialize};

use crate::client::requests::Slot;
use crate::config::faults::Fault;
use crate::config::sections::{Config, Resource};
use crate::locks::holder::Holder;

#[macro_use]
mod declare;

/// Who acts, or to whom it happens.
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

impl Action {
    /// The master that is meant, where a client asks several; `None`: the action is of no such client, or of all its masters.
    pub const fn asked_master(self) -> Option<u8> {
        match self {
            Self::AskMaster { node, .. }
            | Self::ExtendAt { node, .. }
            | Self::SlowReply { node, .. }
            | Self::HearMaster { node, .. }
            | Self::LoseAsk { node, .. }
            | Self::LateAsk { node, .. }
            | Self::ArriveLate { node, .. }
            | Self::SetTtlAt { node, .. }
            | Self::ReleaseAt { node, .. } => Some(node),
            _ => None,
        }
    }
}

// In the one order that makes traces the same everywhere: what clients, Redis and faults do first, time last.
actions! {
    // Clients.
    /// A thread asks for the lock, or to enter it once more.
    Acquire { client, thread } = "acquire", when |_config| true;
    /// A client whose call goes on asks for its next part of the lock.
    NextPart { client, thread } = "next_part", when |config| config.takes_several();
    /// A refused thread subscribes to the unlock channel.
    Subscribe { client, thread } = "subscribe", when |config| sleeps(config);
    /// Subscribed, it asks again: the lock may have been freed before the subscription was there.
    SecondAsk { client, thread } = "second_ask", when |config| sleeps(config);
    /// A waiter takes a permit that a message brought, and asks.
    WakeByMessage { client, thread } = "wake_by_message", when |config| sleeps(config);
    /// A waiter's timer fires (the TTL it was told is over), and it asks.
    WakeByTimer { client, thread } = "wake_by_timer", when |config| config.waits();
    /// A waiter's limit is over: it leaves without the lock. One that spins learns that by an ask, and leaves so without a master.
    GiveUp { client, thread } = "give_up", when |config| config.gives_up_asleep();
    /// `WAIT` answers how many replicas have the grant, and its caller believes or not.
    Confirm { client, thread } = "confirm", when |config| config.cluster.wait_for > 0;
    /// A grant that too few replicas have is given back.
    Undo { client, thread } = "undo", when |config| {
        config.can_lack_replicas() && !config.is_split() && !config.keeps_unacknowledged_grants()
    };
    /// A thread that has taken the lock sets its TTL.
    SetTtl { client, thread } = "set_ttl", when |config| {
        (config.sets_ttl_apart() || config.sets_final_lease()) && !config.is_split()
    };
    /// A holder reads its fencing token from the counter.
    ReadToken { client, thread } = "read_token", when |config| config.reads_tokens();
    /// A thread whose call has ended without the lock asks whether it holds, and goes by the answer.
    AskIfHeld { client, thread } = "ask_if_held", when |config| config.asks_if_held();
    /// A holder writes to the resource.
    Work { client, thread } = "work", when |config| config.resource.is_some();
    /// A write that a thread has sent arrives at the resource, whatever has become of the thread.
    Arrive { client, thread } = "arrive", when |config| config.resource.is_some_and(Resource::is_far);
    /// A holder gives back one hold.
    Release { client, thread } = "release", when |_config| true;
    /// A client gives back its next part of the lock: of an `unlock()`, or of a call that has failed.
    GiveBack { client, thread } = "give_back", when |config| config.takes_several();
    /// A client asks one of several masters, and hears the reply.
    AskMaster { client, node } = "ask_master", when |config| config.asks_masters();
    /// A client hears the late reply of a master.
    HearMaster { client, node } = "hear_master", when |config| config.faults.slow_reply > 0;
    /// A client that has most of several masters sets its lease on one of them, and hears the reply.
    SetTtlAt { client, node } = "set_ttl_at", when |config| config.sets_lease_at_masters();
    /// A holder extends its lease on one of several masters, and hears the reply: in its round, or because its timer for that master fires.
    ExtendAt { client, node } = "extend_at", when |config| config.asks_masters() && config.time.renew_every.is_some();
    /// A client releases on one of several masters.
    ReleaseAt { client, node } = "release_at", when |config| config.asks_masters();
    /// A client learns which node is the master now.
    Discover { client } = "discover", when |config| config.can_fail_over() && !config.asks_masters();
    /// A client learns which node of a group is the master now, where it asks several masters.
    DiscoverMaster { client, node } = "discover_master", when |config| config.can_fail_over() && config.asks_masters();
    /// A client goes back to an old master that says it is one.
    GoBack { client, node } = "go_back", when |config| config.can_go_back();
    /// A client whose subscription ended with its connection subscribes on the new master.
    Resubscribe { client } = "resubscribe",
        when |config| (config.can_fail_over() || config.can_restart()) && sleeps(config);
    /// A paused client runs again.
    Resume { client } = "resume", when |config| config.faults.pause_client > 0;

    // Network.
    /// An unlock message reaches a client's process.
    Deliver { client } = "deliver", when |config| sleeps(config);
    /// A node executes a request.
    Execute { client, slot } = "execute", when |config| config.is_split();
    /// A process hears of a grant, and enters the hold into its renewal table.
    Register { client, thread } = "register", when |config| config.is_split() && config.time.renew_every.is_some();
    /// A process hears the answer to a release, and removes the hold from its renewal table.
    Unregister { client, thread } = "unregister", when |config| config.is_split() && config.time.renew_every.is_some();
    /// The caller sees the reply.
    Answer { client, slot } = "answer", when |config| config.is_split();
    /// No answer came in time: the same is asked again.
    Resend { client, slot } of awaited = "resend",
        when |config| config.can_send_again();
    /// No answer came in time: the caller gets an unknown outcome.
    Abandon { client, slot } of awaited = "abandon", when |config| config.can_abandon();

    /// An ask arrives at a master, on which its client has given up.
    ArriveLate { client, node } = "arrive_late", when |config| config.faults.late_ask > 0;

    // Watchdog.
    /// A client's renewal timer fires.
    Renew { client } = "renew", when |config| config.time.renew_every.is_some() && !config.asks_master_locks();
    /// The same, and replicas that are late apply and acknowledge what it wrote before its `WAIT` is over.
    RenewAcknowledged { client } = "renew_acknowledged", when |config| config.acknowledges_renewals();

    // Redis.
    /// A replica applies the next effect.
    Replicate { node } = "replicate", when |config| {
        // A replica that stands still is late, however prompt the others are.
        config.cluster.replicas > 0 && (!config.cluster.lag.is_zero() || config.faults.pause_node > 0)
    };
    /// A replica becomes master.
    Promote { node } = "promote", when |config| config.can_promote();
    /// A replica begins to follow the new master and takes its data. A replica that was not chosen follows the one that
    /// was, and a node that restarts or was demoted follows the master.
    Resync { node } = "resync", when |config| {
        let is_left_over = config.cluster.replicas > 1;
        let is_left = config.can_fail_over() && (is_left_over || config.can_restart() || config.faults.cut_link > 0);
        is_left || config.can_demote() || config.faults.break_link > 0
    };
    /// A replica that still follows a master that was replaced is told of the new one: it leaves the one, and has not the
    /// other's data yet.
    LeaveMaster { node } = "leave_master", when |config| config.tells_replicas_late();
    /// An old master is made a replica of the new one, whose data it takes later.
    Demote { node } = "demote", when |config| config.can_demote();
    /// What a node has written reaches its disk.
    Fsync { node } = "fsync", when |config| config.has_late_disk() || config.has_slow_rewrites();
    /// A node saves a snapshot of its data.
    Snapshot { node } = "snapshot", when |config| config.has_snapshots();
    /// A master that was told to end has waited for its replicas, and ends.
    FinishShutdown { node } = "finish_shutdown",
        when |config| config.cluster.shutdown_timeout > 0 && config.faults.shutdown_node > 0;
    /// The heir of a master that hands over takes its place: it has everything, or the time-out has come.
    FinishHandOver { node } = "finish_hand_over", when |config| config.hands_over_by_the_master();
    /// A master that hands over gives up, and is the master as before.
    GiveUpHandOver { node } = "give_up_hand_over", when |config| config.hands_over_by_the_master();
    /// A node that was cut off reaches the others again.
    Heal { node } = "heal", when |config| config.faults.cut_link > 0;
    /// A master counts the replicas that have reported to it lately, and drops those that are silent for longer than it allows.
    Recount { node } = "recount", when |config| config.may_recount();
    /// A master that was not told of a replica's death closes its link to it: nothing has come for `repl-timeout`.
    NoticeDeath { node } = "notice_death", when |config| config.notices_deaths_late();
    /// A node that refused writes accepts them again.
    AcceptWrites { node } = "accept_writes", when |config| config.faults.refuse_writes > 0;
    /// The operator who moves the slot of the lock has moved its keys.
    MoveKeys { node } = "move_keys", when |config| config.faults.move_slot > 0 && config.cluster.replicas > 0;
    /// The slot of the lock has moved: from here on this node is its new master.
    FinishMove { node } = "finish_move", when |config| config.faults.move_slot > 0;
    /// The lock's key has no time left on a node, and is gone already.
    Expire { node } = "expire", when |_config| true;
    /// Two parts of a lock have no time left on a master, and one of them is gone already: its lease was set a moment before that of the
    /// other one, or after it.
    ExpirePart { node, name } = "expire_part", when |config| config.has_parts() && config.cluster.replicas == 0;
    /// Receipts have no time left on a node, and are gone already.
    ExpireReceipts { node } = "expire_receipts", when |config| config.leaves_receipts();
    /// A node that stood still goes on.
    ResumeNode { node } = "resume_node", when |config| config.faults.pause_node > 0;
    /// A master that stood still counts its replicas, and reads what they have acknowledged meanwhile.
    CountReplicas { node } = "count_replicas", when |config| config.counts_replicas_late();

    // Faults.
    /// A client dies.
    CrashClient { client } = "crash_client", fault CrashClient, when |_config| true;
    /// A thread that holds dies; its process lives.
    CrashThread { client, thread } = "crash_thread", fault CrashThread, when |_config| true;
    /// A client stops running for a while.
    PauseClient { client } = "pause_client", fault PauseClient, when |_config| true;
    /// A client that was not there at the beginning starts, and takes a node that says it is master for the master.
    StartClient { client, node } = "start_client", fault StartClient, when |_config| true;
    /// A node dies with its machine.
    CrashNode { node } = "crash_node", fault CrashNode, when |_config| true;
    /// An unlock message is lost.
    LoseMessage { client } = "lose_message", fault LoseMessage, when |config| sleeps(config);
    /// A request never reaches its node.
    LoseRequest { client, slot } = "lose_request", fault LoseRequest, when |config| config.is_split();
    /// A reply never reaches its client.
    LoseReply { client, slot } = "lose_reply", fault LoseReply, when |config| config.is_split();
    /// A client does not reach one of several masters that it asks.
    LoseAsk { client, node } = "lose_ask", fault LoseAsk, when |config| config.asks_masters();
    /// A client asks one of several masters, and the reply is late.
    SlowReply { client, node } = "slow_reply", fault SlowReply, when |config| config.asks_masters();
    /// A client gives up on its ask of one of several masters, which is under way to that.
    LateAsk { client, node } = "late_ask", fault LateAsk, when |config| config.asks_masters();
    /// A thread is interrupted in `lock()` or `unlock()`.
    Interrupt { client, thread } = "interrupt", fault Interrupt, when |config| config.is_split() || config.waits();
    /// A thread that does not believe it holds calls release.
    ForeignRelease { client, thread } = "foreign_release", fault ForeignRelease, when |_config| true;
    /// A client deletes the lock, whoever holds it.
    ForceRelease { client } = "force_release", fault ForceRelease, when |config| config.lock.facts().force.is_there();
    /// A dead node restarts.
    RestartNode { node } = "restart_node", fault RestartNode, when |_config| true;
    /// The process of a node is killed. What it wrote to its files stays.
    KillNode { node } = "kill_node", fault KillNode, when |_config| true;
    /// A node is told to end: it saves its data, and waits for its replicas where the scenario says so.
    ShutdownNode { node } = "shutdown_node", fault ShutdownNode, when |_config| true;
    /// A node is cut off from the other nodes, and from the authority that decides on failovers.
    CutLink { node } = "cut_link", fault CutLink, when |_config| true;
    /// A master refuses every write from now on: its last save failed.
    RefuseWrites { node } = "refuse_writes", fault RefuseWrites, when |_config| true;
    /// The link of a replica to its master breaks: what was under way to it comes with a full copy.
    BreakLink { node } = "break_link", fault BreakLink, when |config| config.cluster.replicas > 0;
    /// A node stands still.
    PauseNode { node } = "pause_node", fault PauseNode, when |_config| true;
    /// A master drops the key without a message.
    VanishKey { node } = "vanish_key", fault VanishKey, when |_config| true;
    /// The lock's key on a master loses its TTL: an operator or a script sends `PERSIST`.
    PersistKey { node } = "persist_key", fault PersistKey, when |_config| true;
    /// A master evicts the release receipts, and keeps the lock.
    VanishReceipts { node } = "vanish_receipts", fault VanishReceipts, when |config| config.leaves_receipts();
    /// A master drops the counter of fencing tokens, and keeps the lock.
    VanishToken { node } = "vanish_token", fault VanishToken, when |config| config.has_stored_tokens();
    /// Another program stores a string under the name of a lock (`SET`): the lock is gone, and its key is of a wrong type.
    OverwriteKey { node, name } = "overwrite_key", fault OverwriteKey, when |config| config.clients.names > 1;
    /// The clock of a node jumps.
    ClockJump { node } = "clock_jump", fault ClockJump, when |_config| true;
    /// The wall clock of a client jumps.
    ClientClockJump { client } = "client_clock_jump", fault ClientClockJump, when |_config| true;
    /// An operator begins to move the slot of the lock to another master of its cluster.
    MoveSlot { node } = "move_slot", fault MoveSlot, when |_config| true;
    /// A replica becomes the master while the master runs, or the master begins to hand over to it: with `FAILOVER` the replica
    /// takes over in a step of its own, and until then writes wait.
    HandOver { node } = "hand_over", fault HandOver, when |config| config.cluster.replicas > 0;

    @time
    /// One tick passes, on every clock.
    Tick = "tick";
}

/// Which requests of a client an action can be about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Any.
    Any,
    /// Those that their process still waits for: of abandoned ones only calls whose caller was interrupted.
    Awaited,
}

/// Whether refused clients sleep until a message comes.
fn sleeps(config: &Config) -> bool {
    config.waits() && config.lock.facts().publishes()
}

fn threads(config: &Config) -> impl Iterator<Item = (u8, u8)> {
    let threads = config.clients.threads;
    (0..config.clients.count).flat_map(move |client| (0..threads).map(move |thread| (client, thread)))
}

fn slots(config: &Config, which: Which) -> impl Iterator<Item = (u8, Slot)> {
    (0..config.clients.count).flat_map(move |client| {
        let own = config.of_client(client);
        let (has_second, has_watchdog) = (own.clients.threads > 1, own.time.renew_every.is_some());
        let has_late = which == Which::Any || own.faults.interrupt > 0;
        let late = Slot::late(own.late_requests());
        let is_there = move |slot: &Slot| match slot {
            Slot::Call1 => true,
            Slot::Call2 => has_second,
            Slot::Renewal => has_watchdog,
            Slot::Late | Slot::Late2 | Slot::Late3 | Slot::Late4 => has_late && late.contains(slot),
        };
        Slot::ALL.into_iter().filter(is_there).map(move |slot| (client, slot))
    })
}

impl Action {
    /// Every action that the scenario allows, in the order of the table.
    pub fn all(config: &Config) -> Vec<Self> {
        ActionKind::ALL
            .into_iter()
            .filter(|kind| kind.is_allowed(config))
            .flat_map(|kind| kind.instances(config))
            .filter(|action| action.is_allowed_to_its_party(config))
            .collect()
    }
}

impl Action {
    /// Whether the client that acts, if it is one, can act so by its own settings.
    fn is_allowed_to_its_party(self, config: &Config) -> bool {
        match self.party() {
            Party::Thread(_) | Party::Client(_) if config.client.is_empty() => true,
            Party::Thread(holder) => self.kind().is_allowed_to(&config.of_client(holder.client())),
            Party::Client(client) => self.kind().is_allowed_to(&config.of_client(client)),
            Party::Node(_) | Party::World => true,
        }
    }
}

impl ActionKind {
    /// Whether it is a fault: something that need never happen.
    pub const fn is_fault(self) -> bool {
        self.fault().is_some()
    }

    /// The action that spends the budget of a fault.
    pub fn of_fault(fault: Fault) -> Self {
        let spends = |kind: &Self| kind.fault() == Some(fault);
        Self::ALL.into_iter().find(spends).expect("every fault is spent by one action")
    }

    /// Whether a belief that begins with it may be of no grant: its client asks whether it holds, and does not ask for the lock.
    pub const fn is_question(self) -> bool {
        matches!(self, Self::AskIfHeld)
    }

    /// Whether it decides a tie: a key that has no time left is gone at that instant, before somebody who acts at the same
    /// instant. It is always allowed, and no scenario has to reach it: where leases are renewed no key gets so far.
    pub const fn decides_tie(self) -> bool {
        matches!(self, Self::Expire | Self::ExpirePart | Self::ExpireReceipts)
    }

    /// Whether it is weakly fair: it is not possible for ever without ever being taken. Faults need not happen; nor does a
    /// client have to ask, to go back to an old master or, where the scenario says so, to release, nor a late write to the
    /// resource to arrive, nor a key to be gone before the next tick. [`Tick`](Self::Tick) is more: time passes, whatever else
    /// happens, for nobody can do endlessly much at one moment.
    pub const fn is_fair(self, config: &Config) -> bool {
        match self {
            // Nothing says when the next snapshot is saved.
            Self::Acquire
            | Self::Arrive
            | Self::Expire
            | Self::ExpirePart
            | Self::ExpireReceipts
            | Self::GoBack
            | Self::Snapshot => false,
            Self::Release => !config.clients.hold_for_ever,
            other => !other.is_fault(),
        }
    }

    /// Whether it is strongly fair: it is taken if it is possible again and again. In a scenario that asks for it, that is
    /// every [fair](Self::is_fair) action. Of time more is asked already.
    pub fn is_strongly_fair(self, config: &Config) -> bool {
        config.strong_fairness && self != Self::Tick && self.is_fair(config)
    }
}
