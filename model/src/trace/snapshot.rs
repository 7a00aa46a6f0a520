//! A world of the model, put into the words of a trace.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::names::holder_name;
use super::request::{RequestStage, RequestState};
use super::state::{
    CallState, ClientMode, ClientState, NodeRole, NodeState, SlotMove, State, SubscriptionState, ThreadState,
    WatchdogState,
};
use crate::client::masters::ONLY_THREAD;
use crate::client::renewal_table::RenewalTable;
use crate::client::requests::{BroughtLease, Request, Slot, Stage};
use crate::client::state::Mode;
use crate::config::sections::Config;
use crate::limits::FAR_TICKS;
use crate::locks::holder::Holder;
use crate::locks::master_calls::MasterSet;
use crate::locks::tokens::TokenStore as _;
use crate::locks::values::ValueStore as _;
use crate::names::{client_name, node_name};
use crate::notes::Breach;
use crate::redis::disk;
use crate::redis::group::{Group, Role};
use crate::redis::layout::StoredIn;
use crate::time::Timer;
use crate::world::layout::Layout;
use crate::world::state::World;

impl State {
    /// The world as readers see it.
    pub fn of<Y: Layout>(config: &Config, world: &World<Y>) -> Self {
        // Of each group in which the acting master is not evident.
        let acting =
            (0u8..).zip(world.groups.as_ref()).take(config.cluster.groups.into()).filter_map(|(number, group)| {
                let masters = group.nodes.as_ref().iter().filter(|node| node.is_master()).count();
                // Beside a dead acting master an old one, cut off, may be the only node that takes itself for the master.
                let is_evident = masters == 0 || masters == 1 && group.acting_master().is_some();
                (!is_evident).then(|| node_name(number * config.nodes() + group.master()))
            });
        let mut acting_masters: Vec<_> = acting.collect();
        Self {
            clients: (0..config.clients.count).filter_map(|client| client_state(config, world, client)).collect(),
            nodes: (0..config.all_nodes()).filter_map(|node| node_state(config, world, node)).collect(),
            acting_master: if config.cluster.groups == 1 { acting_masters.pop() } else { None },
            acting_masters,
            failover_left: if config.cluster.groups == 1 { world.group().failover_left.left() } else { None },
            failovers_left: if config.cluster.groups == 1 { BTreeMap::new() } else { failovers_left(config, world) },
            resource_newest: config.resource.map(|_| world.resource.newest),
            resource_token: world.tokens.accepted(),
            faults_left: world.faults.within(config.faults),
            breaches: world.breaches.iter().filter(|breach| is_possible(*breach, config)).collect(),
        }
    }
}

/// Ticks until the failover of each of several groups must be over, by its acting or last master.
fn failovers_left<Y: Layout>(config: &Config, world: &World<Y>) -> BTreeMap<String, u8> {
    let groups = (0u8..).zip(world.groups.as_ref()).take(config.cluster.groups.into());
    let of = |(number, group): (u8, &Group<Y>)| {
        Some((node_name(number * config.nodes() + group.master()), group.failover_left.left()?))
    };
    groups.filter_map(of).collect()
}

/// Whether a scenario like this one can have a breach, of two that share a bit.
const fn is_possible(breach: Breach, config: &Config) -> bool {
    match breach {
        Breach::TokenNotGreater | Breach::EffectOutOfOrder => config.resource.is_some(),
        Breach::RefusedAndGranted => config.resource.is_none(),
        Breach::Overtaken => config.resource.is_none() && config.lock.facts().queue.is_there(),
        Breach::PartLeft => config.resource.is_none() && config.has_parts(),
        Breach::ReaderRefused => config.resource.is_none() && config.shares(),
        Breach::ValueShared => config.resource.is_none() && config.names_values(),
        Breach::GrantInvalid | Breach::KeyLeft => config.asks_masters(),
        Breach::GrantUnacknowledged | Breach::GrantVanished => !config.asks_masters(),
        _ => true,
    }
}

/// `None` if the scenario has no such client.
fn client_state<Y: Layout>(config: &Config, world: &World<Y>, index: u8) -> Option<ClientState> {
    let client = world.client(index);
    let requests = world.requests(index);
    let mode = match client.mode {
        Mode::Absent => return None,
        Mode::Running => ClientMode::Running,
        Mode::Paused => ClientMode::Paused,
        Mode::Crashed => ClientMode::Crashed,
        Mode::NotStarted => ClientMode::NotStarted,
    };
    // Of several masters it waits for one at a time.
    let group = world.waited_for(index).map_or(0, |(group, _)| group);
    let uses_entry = config.lock.facts().publishes() && client.uses_wakeup_entry();
    let subscription = match world.groups.as_ref()[usize::from(group)].connection(index).subscription() {
        Some(node) if node < config.nodes() => Some(SubscriptionState::Node(node_name(group * config.nodes() + node))),
        Some(_) => Some(SubscriptionState::Ended),
        None if uses_entry => Some(SubscriptionState::Lost),
        None => None,
    };
    Some(ClientState {
        name: client_name(index).to_string(),
        mode,
        master: node_name(client.master()),
        acquires_left: client.acquires_left.left(),
        threads: (0..config.clients.threads)
            .map(|thread| thread_state(config, world, Holder::new(index, thread)))
            .collect(),
        renewal_counts: client.renewal.counts()[..usize::from(config.clients.threads)].to_vec(),
        renewal_first: Some(client.renewal.first()).filter(|_| !client.renewal.is_empty()),
        renewal_due_in: client.renewal.due_in().left(),
        remembers_lease: client.renewal.remembers_lease(),
        later_renewals_due_in: client.renewal.later_due_in().filter_map(Timer::left).collect(),
        renewal_values: if config.has_values() && !client.renewal.is_empty() {
            (0..config.clients.threads).map(|thread| world.values(index).renewed(thread)).collect()
        } else {
            Vec::new()
        },
        subscription,
        permits: client.wakeup.permits,
        messages: client.wakeup.messages(),
        asks_in: client.asks_in.left(),
        replicas_known: client.views[0].known_replicas(),
        requests: requests.iter().map(|(slot, request)| request_state(config, index, slot, request)).collect(),
        unregistered: (0..config.clients.threads)
            .flat_map(|thread| (0..requests.owed[usize::from(thread)]).map(move |_| thread))
            .collect(),
        message_age: Some(requests.message_age()).filter(|age| *age > 0),
        call: config
            .asks_masters()
            .then(|| call_state(config, world, index))
            .filter(|call| *call != CallState::default()),
    })
}

/// What a client remembers of its call on several masters.
fn call_state<Y: Layout>(config: &Config, world: &World<Y>, client: u8) -> CallState {
    let call = world.call(client);
    let known = |group: u8| node_name(group * config.nodes() + call.master_in(group));
    let names = |set: MasterSet| set.iter().map(known).collect();
    CallState {
        asked: names(call.asked),
        granted: names(call.granted),
        late: names(call.late),
        late_of_earlier: names(call.late_of_earlier),
        unheard: call.unheard.iter().next().map(known),
        unheard_is_grant: call.unheard_is_grant,
        unheard_is_busy: call.unheard_is_busy,
        goes_on: call.goes_on,
        waits_at: call.waits_at.iter().next().map(known),
        left: call.left.left().filter(|left| *left != FAR_TICKS),
        in_later_round: call.is_later,
        moved_to: names(call.moved),
        watchdogs: (0..config.cluster.groups)
            .filter_map(|group| {
                let table = world.watchdog(client, group);
                let state = WatchdogState {
                    node: known(group),
                    holds: table.count(ONLY_THREAD),
                    due_in: table.due_in().left(),
                };
                (table != RenewalTable::EMPTY).then_some(state)
            })
            .collect(),
    }
}

fn thread_state<Y: Layout>(config: &Config, world: &World<Y>, holder: Holder) -> ThreadState {
    let state = world.thread(holder);
    let swallows_interrupts = config.of_client(holder.client()).swallows_interrupts();
    let has_parts = config.has_parts();
    let client = world.client(holder.client());
    let connection = world.group().connection(holder.client());
    let is_acknowledged_by = |node: &u8| connection.is_acknowledged_by(holder.thread(), *node);
    ThreadState {
        name: holder_name(config, holder),
        phase: state.phase,
        holds: state.holds(),
        token: state.token,
        stored_token: world.tokens.held(holder),
        write_under_way: state.write(),
        stored_token_under_way: world.tokens.under_way(holder),
        // One that is longer than any run is none.
        wait_left: state.wait_left.left().filter(|left| *left != FAR_TICKS),
        limit_left: state.limit_left.left().filter(|_| !swallows_interrupts && !has_parts),
        in_later_round: has_parts && state.is_in_later_round(),
        in_part: has_parts && state.believes() && client.is_in_call(),
        has_swallowed: (swallows_interrupts || has_parts) && state.has_swallowed(),
        sleeps_anew: state.sleeps_anew().filter(|_| swallows_interrupts),
        wake_in: state.wake_in.left(),
        may_wake_now: state.wake_in.may_fire() && !state.wake_in.is_due(),
        hold_left: state.hold_left.left(),
        valid_left: state.valid_left.left(),
        has_stopped: state.has_stopped(),
        value: world.requester(holder).value,
        acknowledged_by: (0..config.nodes()).filter(is_acknowledged_by).map(node_name).collect(),
    }
}

fn request_state(config: &Config, client: u8, slot: Slot, request: &Request) -> RequestState {
    let (stage, answer) = match request.stage {
        Stage::Sent => (RequestStage::Sent, None),
        Stage::Confirming(reply) => (RequestStage::Confirming, Some(reply)),
        Stage::Executed(reply) => (RequestStage::Executed, Some(reply)),
        Stage::Lost => (RequestStage::Lost, None),
    };
    RequestState {
        slot,
        verb: request.verb,
        holder: holder_name(config, Holder::new(client, request.thread)),
        node: node_name(request.node),
        stage,
        answer,
        receipt: Some(request.id).filter(|id| *id > 0),
        value: Some(request.value).filter(|_| config.has_values()),
        token: request.token,
        age: request.age,
        retries_left: request.retries_left,
        answer_left: request.answer_left.left(),
        heard: request.is_heard,
        must_undo: request.must_undo,
        stale: request.is_stale,
        names_lease: request.lease == BroughtLease::Named,
        remembers_lease: request.lease == BroughtLease::Remembered,
        asks_for: Some(request.wait.asks_for()).filter(|replicas| *replicas > 0),
        acknowledged_by: request.wait.acknowledged(),
        repeats_left: request.wait.repeats_left(),
        has_failed: request.wait.has_failed(),
    }
}

/// `None` if the scenario has no such node.
fn node_state<Y: Layout>(config: &Config, world: &World<Y>, number: u8) -> Option<NodeState> {
    let (group, index) = config.place_of(number);
    let group = &world.groups.as_ref()[usize::from(group)];
    let first = number - index;
    let node = group.node(index);
    let role = match node.role {
        Role::Absent => return None,
        Role::Master | Role::Refusing | Role::HandingOver | Role::MovingSlot | Role::KeysMoved => NodeRole::Master,
        Role::Replica | Role::OldReplica => NodeRole::Replica,
        Role::Unsynced | Role::OldUnsynced => NodeRole::Unsynced,
        Role::Stopping => NodeRole::Stopping,
        Role::Down | Role::DownReplica | Role::DownOldReplica => NodeRole::Down,
    };
    let contents = |stored: &StoredIn<Y>| Contents::of(config, number, stored);
    Some(NodeState {
        name: node_name(number),
        role,
        stored: if node.is_up() { contents(&node.stored) } else { Contents::default() },
        under_way: node.queue.effects().iter().map(|effect| contents(&effect.stored)).collect(),
        on_disk: disk::on_disk(config, node).map(|stored| contents(&stored)),
        follows: if node.is_old_replica() {
            group.old_master_of(index).map(|other| node_name(first + other))
        } else {
            None
        },
        is_cut: node.is_cut(),
        refuses_writes: node.refuses_writes(),
        slot_move: match node.role {
            Role::MovingSlot => Some(SlotMove::Begun),
            Role::KeysMoved => Some(SlotMove::KeysMoved),
            _ => None,
        },
        is_paused: node.is_paused(),
        hands_over: node.hands_over(),
        is_heir: node.links.is_of_heir(index),
        is_master_on_file: group.masters.is_on_file(index),
        last_count: node.pace.last_count().filter(|_| node.is_master() && config.cluster.min_replicas > 0),
        half_open_to: (0..config.nodes())
            .filter(|&other| other != index && node.links.is_half_open_to(other))
            .map(|other| node_name(first + other))
            .collect(),
        silent_ticks: node.silent_ticks,
        down_ticks: node.down_ticks,
        ahead: node.ahead,
    })
}
