//! One state in words: what each client believes, what each node stores, what is under way, which faults are left.
//!
//! Two states that differ have different texts: a reader who compares two of them need not guess.

use std::fmt::Write as _;

use lockstep_model::client::Phase;
use lockstep_model::config::{Config, Faults};
use lockstep_model::redis::{Node, Role};
use lockstep_model::trace::{
    ClientMode, ClientState, Hold, NodeRole, NodeState, SlotMove, State, SubscriptionState, ThreadState, holder_name,
};
use lockstep_model::{Holder, Layout, Property, World};

use super::holds::{lock, overwritten, queue, receipts, stored};
use super::requests::requests;
use super::units::{count, list, time};
use super::world::faults_allowed;

/// The label of a broken property.
const BROKEN: &str = "BROKEN";

/// Columns of the names.
const NAMES: usize = 10;

/// The state, one paragraph for each party, and the properties that it breaks.
pub fn page<Y: Layout>(config: &Config, world: &World<Y>) -> String {
    let broken = Property::SAFETY.into_iter().filter(|property| property.applies(config).is_ok());
    let broken = broken.filter(|property| !property.holds(world));
    let mut page = Page(parties(config, world));
    for property in broken {
        page.say(BROKEN, &format!("{property}: {}", property.sentence()));
    }
    page.0
}

/// The state, one paragraph for each party.
pub fn parties<Y: Layout>(config: &Config, world: &World<Y>) -> String {
    let state = State::of(config, world);
    let mut page = Page::default();
    for (index, client) in (0u8..).zip(&state.clients) {
        if let ([thread], 1) = (client.threads.as_slice(), config.clients.threads) {
            page.say(&client.name, &believes(config, client, thread));
            page.go_on(&process(config, index, client));
            for line in requests(config, client) {
                page.go_on(&line);
            }
        } else {
            page.say(&client.name, &process(config, index, client));
            for thread in &client.threads {
                page.say(&thread.name, &believes(config, client, thread));
            }
            for line in requests(config, client) {
                page.go_on(&line);
            }
        }
    }
    for (index, node) in (0u8..).zip(&state.nodes) {
        let strings = overwritten(config, &node.stored).map_or_else(String::new, |keys| format!("; {keys}"));
        let keys = strings + &queue(&node.stored) + &receipts(config, &node.stored);
        page.say(&node.name, &(stores(config, world, index, node) + &keys));
        for (effect, seen) in node.under_way.iter().zip(node_of(config, world, index).queue.effects()) {
            let receipts = queue(effect) + &receipts(config, effect);
            let age = match seen.age() {
                0 => String::new(),
                age => format!(", for {}", time(config, age.into())),
            };
            page.go_on(&format!("under way to it{age}: {}{receipts}", lock(config, effect)));
        }
    }
    let stored = config.has_stored_tokens();
    let token_words = |token: u8| if stored && token == 0 { "-1".to_owned() } else { token.to_string() };
    if let Some(newest) = state.resource_newest {
        let seen = if stored { state.resource_token } else { newest };
        let seen = if newest == 0 {
            "has accepted nothing yet".to_owned()
        } else {
            format!("has seen token {}", token_words(seen))
        };
        page.say("resource", &seen);
        let threads = state.clients.iter().flat_map(|client| &client.threads);
        for sender in threads.filter(|thread| thread.write_under_way > 0) {
            let token = if stored { sender.stored_token_under_way } else { sender.write_under_way };
            page.go_on(&format!("under way to it: {}'s write, with token {}", sender.name, token_words(token)));
        }
    }
    if let Some(acting) = &state.acting_master {
        let says = match state.acting_master() {
            Some(_) => format!("the other nodes follow {acting}"),
            None => format!("{acting}, which is down; no other node has been promoted in its place"),
        };
        page.say("master", &says);
    }
    for acting in &state.acting_masters {
        let runs = state.nodes.iter().any(|node| node.name == *acting && node.is_master());
        let says = if runs {
            format!("{acting} is the acting master of its group")
        } else {
            format!("{acting}, which is down; no other node of its group has been promoted in its place")
        };
        page.say("master", &says);
    }
    if let Some(left) = state.failover_left {
        page.say("failover", &within(config, "must be over", left));
    }
    for (master, left) in &state.failovers_left {
        page.say("failover", &format!("of the group of {master}: {}", within(config, "must be over", *left)));
    }
    if config.faults != Faults::default() {
        let left = faults_allowed(state.faults_left);
        page.say("faults", &if left.is_empty() { "none left".to_owned() } else { format!("left: {}", list(&left)) });
    }
    page.0
}

/// Names on the left, sentences on the right.
#[derive(Default)]
struct Page(String);

impl Page {
    fn say(&mut self, name: &str, says: &str) {
        let _ = writeln!(self.0, "{name:<NAMES$}{says}");
    }

    fn go_on(&mut self, says: &str) {
        self.say("", says);
    }
}

/// What a thread believes, and where it is in `lock()`.
fn believes(config: &Config, client: &ClientState, thread: &ThreadState) -> String {
    match client.mode {
        ClientMode::Crashed => return "crashed".to_owned(),
        ClientMode::NotStarted => return "not started yet".to_owned(),
        ClientMode::Running | ClientMode::Paused if thread.is_dead() => return "dead".to_owned(),
        ClientMode::Running | ClientMode::Paused => {}
    }
    let belief = match thread.holds {
        0 => None,
        _ if thread.has_stopped => Some("has stopped: its lease is over by its own clock".to_owned()),
        1 if !thread.believes() => Some("held it".to_owned()),
        1 => Some("believes it holds".to_owned()),
        holds => Some(format!("believes it holds {holds} times")),
    };
    // A believer can be refused: its lock has expired, and another client has it.
    let waits = match thread.phase {
        Phase::Refused => Some("refused, not subscribed yet".to_owned()),
        Phase::Subscribed => Some("subscribed, about to ask again".to_owned()),
        Phase::Waiting => Some(match thread.wake_in {
            Some(left) if thread.may_wake_now => within(config, "sleeps; its timer fires now, or", left),
            Some(left) => within(config, "sleeps; its timer fires", left),
            None => "sleeps, without a timer".to_owned(),
        }),
        Phase::Asking => Some("has asked and waits for the answer".to_owned()),
        Phase::AskingAgain => Some("subscribed, has asked again and waits for the answer".to_owned()),
        Phase::Confirming => Some("is granted and waits to learn how many replicas have the grant".to_owned()),
        Phase::SettingTtl => Some("is granted, and sets the TTL of the lock".to_owned()),
        Phase::Undoing if config.asks_master_locks() => Some("gives back what it was granted".to_owned()),
        Phase::Undoing => Some("releases its grant: too few replicas have it".to_owned()),
        Phase::NextPart => Some("is the next part to be asked for".to_owned()),
        Phase::GivingBack => Some("is the next part to be given back".to_owned()),
        Phase::Releasing => Some("has called release and waits for the answer".to_owned()),
        Phase::AskingMasters if thread.holds > 0 && config.extends_in_rounds() => {
            Some("extends its lease on the masters".to_owned())
        }
        Phase::HearingMaster if thread.holds > 0 && config.extends_in_rounds() => {
            Some("extends its lease, and waits for the reply of a master".to_owned())
        }
        Phase::AskingMasters => Some("asks the masters".to_owned()),
        Phase::HearingMaster => Some("has asked a master and waits for the reply".to_owned()),
        Phase::Doubting => {
            Some("its call has ended without the lock, and it is about to ask whether it holds".to_owned())
        }
        Phase::ReleasingMasters => Some("releases on the masters".to_owned()),
        Phase::Idle | Phase::Dead => None,
    };
    let mut says = match (belief, waits) {
        (None, None) => "idle".to_owned(),
        (Some(so), None) | (None, Some(so)) => so,
        (Some(belief), Some(waits)) => format!("{belief}; {waits}"),
    };
    if thread.value > 0 {
        let _ = write!(says, ", by its acquire {}", thread.value);
    }
    if config.has_stored_tokens() {
        if thread.stored_token > 0 {
            let _ = write!(says, ", with token {}", thread.stored_token);
        }
    } else if thread.token > 0 {
        let _ = write!(says, ", with token {}", thread.token);
    }
    if !thread.acknowledged_by.is_empty() {
        let _ = write!(says, "; {} acknowledged the grant", list(&thread.acknowledged_by));
    }
    if let Some(left) = thread.valid_left.filter(|_| thread.believes()) {
        let _ = write!(says, "; {}", within(config, "its lease is over by its own clock", left));
    }
    if let Some(left) = thread.hold_left.filter(|_| !thread.has_stopped) {
        let _ = write!(says, "; {}", within(config, "must have released", left));
    }
    if let Some(left) = thread.wait_left {
        let _ = write!(says, "; {}", within(config, "its wait limit is over", left));
        if let Some(limit) = thread.limit_left.filter(|&limit| limit != left) {
            let _ = write!(says, " by its clock, {} in real time", within(config, "and", limit));
        }
    }
    says
}

/// What a client remembers of its call on several masters.
fn asks(config: &Config, index: u8, client: &ClientState) -> String {
    let Some(call) = &client.call else { return "asks no master".to_owned() };
    let releases = [Phase::ReleasingMasters, Phase::Undoing];
    let is_releasing = client.threads.iter().any(|thread| releases.contains(&thread.phase));
    let sets_lease = client.threads.iter().any(|thread| thread.phase == Phase::SettingTtl);
    let asked = match (is_releasing, sets_lease) {
        (true, _) => "is still to release on",
        (false, true) => "is still to set its lease on",
        (false, false) => "has asked",
    };
    let sets = [
        (asked, &call.asked),
        ("was granted by", &call.granted),
        ("has given up on an ask that is under way to", &call.late),
        ("and in an earlier round on one to", &call.late_of_earlier),
    ];
    let said = sets.into_iter().filter(|(_, masters)| !masters.is_empty());
    let mut says: Vec<_> = said.map(|(what, masters)| format!("{what} {}", list(masters))).collect();
    if let Some(unheard) = &call.unheard {
        let reply = if call.unheard_is_grant { "grant" } else { "refusal" };
        says.push(format!("the reply of {unheard}, a {reply}, is under way to it"));
    }
    if let Some(master) = &call.waits_at {
        says.push(format!("waits for the lock of {master}"));
    }
    if let Some(left) = call.left {
        let what = if config.of_client(index).takes_in_rounds() { "its round is over" } else { "its call gives up" };
        says.push(within(config, what, left));
    }
    if call.in_later_round {
        says.push("its lease is that of a later round".to_owned());
    }
    for watchdog in &call.watchdogs {
        let holds = count(watchdog.holds.into(), "hold");
        says.push(match watchdog.due_in {
            Some(left) => {
                format!("renews {holds} on {}, {}", watchdog.node, within(config, "where its timer fires", left))
            }
            None => format!("renews {holds} on {}", watchdog.node),
        });
    }
    // Of a lock on each master one follows if there is time left.
    if call.goes_on && is_releasing && config.extends_in_rounds() {
        says.push("another round follows".to_owned());
    }
    if says.is_empty() { "asks no master".to_owned() } else { says.join("; ") }
}

/// What the threads of a process share.
fn process(config: &Config, index: u8, client: &ClientState) -> String {
    match client.mode {
        ClientMode::Crashed => return "never comes back".to_owned(),
        ClientMode::NotStarted => return "starts at any time, or never".to_owned(),
        ClientMode::Running | ClientMode::Paused => {}
    }
    let mut says = if client.mode == ClientMode::Paused { "PAUSED; ".to_owned() } else { String::new() };
    if config.asks_masters() {
        says += &asks(config, index, client);
    } else {
        let _ = write!(says, "takes {} for the master", client.master);
    }
    if let Some(known) = client.replicas_known {
        let _ = write!(says, ", with {} when it counted them", count(known.into(), "replica"));
    }
    match client.acquires_left {
        None => {}
        Some(0) => says += "; may not ask again",
        Some(left) => {
            let _ = write!(says, "; may ask {} more", count(left.into(), "time"));
        }
    }
    if let Some(left) = client.asks_in {
        let _ = write!(says, "; does not ask for {}", time(config, left.into()));
    }
    let renewed = (0u8..).zip(&client.renewal_counts).filter(|(_, holds)| **holds > 0).map(|(thread, holds)| {
        let name = holder_name(config, Holder::new(index, thread));
        let is_first = client.renewal_first == Some(thread) && config.clients.threads > 1;
        let first = match config.clients.names {
            _ if !is_first => "",
            1 => ", first",
            _ => ", next",
        };
        format!("{name} ({}{first})", count((*holds).into(), "hold"))
    });
    let renewed: Vec<_> = renewed.collect();
    if !renewed.is_empty() {
        let _ = write!(says, "; renews {}", list(&renewed));
    }
    if let Some(left) = client.renewal_due_in {
        let _ = write!(says, "; {}", within(config, "its watchdog fires", left));
    }
    for left in &client.later_renewals_due_in {
        let _ = write!(says, "; {}", within(config, "another timer of its watchdog fires", *left));
    }
    match &client.subscription {
        None => {}
        Some(SubscriptionState::Lost) => says += "; its subscription is lost",
        Some(SubscriptionState::Ended) => says += "; its subscription has ended, and it does not know that",
        Some(SubscriptionState::Node(node)) => {
            let _ = write!(says, "; subscribed on {node}");
        }
    }
    for (number, thing) in [(client.permits, "wake-up"), (client.messages, "message")] {
        if number > 0 {
            let what = if thing == "message" { "under way to it" } else { "not taken" };
            let _ = write!(says, "; {} {what}", count(number.into(), thing));
        }
    }
    says
}

/// A node, by the number that it has among those of all groups.
fn node_of<'a, Y: Layout>(config: &Config, world: &'a World<Y>, index: u8) -> &'a Node<Y> {
    let (group, number) = config.place_of(index);
    world.groups.as_ref()[usize::from(group)].node(number)
}

fn stores<Y: Layout>(config: &Config, world: &World<Y>, index: u8, state: &NodeState) -> String {
    let (group, number) = config.place_of(index);
    let group = &world.groups.as_ref()[usize::from(group)];
    let node = node_of(config, world, index);
    let known = &state.stored;
    let mut says = match (state.role, node.stored.holders().next()) {
        (NodeRole::Down, None) if group.master() == number => "dead; it was the master".to_owned(),
        (NodeRole::Down, None) => "dead".to_owned(),
        // It still matters: what the next master does not have of it is what the failover loses.
        (NodeRole::Down, Some(hold)) => {
            let ttl_ms = hold.remaining.left().map(|ticks| u64::from(ticks) * u64::from(config.time.tick_ms));
            let holder = holder_name(config, hold.by.holder);
            let last_stored = Hold { holder, value: hold.by.value, count: hold.count, ttl_ms };
            format!("dead; it was the master and stored {}", stored(config, &last_stored))
        }
        (role @ (NodeRole::Replica | NodeRole::Unsynced), _) if state.follows.is_some() => {
            let old = state.follows.as_deref().unwrap_or_default();
            let how = if role == NodeRole::Replica { "follows" } else { "is to follow, and does not reach," };
            format!("still {how} {old}, stores {}", lock(config, known))
        }
        (NodeRole::Stopping, hold) => {
            let waited = time(config, node.down_ticks.into());
            let stored = hold.map_or_else(
                || "no lock".to_owned(),
                |hold| {
                    let left = hold
                        .remaining
                        .left()
                        .map_or_else(String::new, |left| format!(", {} left", time(config, left.into())));
                    format!("a lock of {}{left}", holder_name(config, hold.by.holder))
                },
            );
            format!("told to end: has waited {waited} for its replicas, serves nobody, stores {stored}")
        }
        (NodeRole::Unsynced, _) => format!("follows no master yet, stores {}", lock(config, known)),
        (role @ (NodeRole::Master | NodeRole::Replica), _) => {
            format!("{}, stores {}", role.name(), lock(config, known))
        }
    };
    if let Some(disk) = state.on_disk.as_ref() {
        let _ = write!(says, "; on its disk: {}", lock(config, disk));
    }
    if node.disk_age.is_rewriting() {
        says += "; its AOF is still that of before its last full copy";
    }
    let behind = node.disk_age.ticks();
    if behind > 0 {
        let _ = write!(says, "; its disk has lacked a write for {}", time(config, behind.into()));
    }
    match node.role {
        Role::DownReplica => says += "; it will follow a master if it restarts",
        Role::DownOldReplica => says += "; it will follow the old master if it restarts, as its file says",
        _ => {}
    }
    if state.is_master_on_file {
        says += "; its configuration file still says that it is a master";
    }
    if node.is_cut() {
        says += "; cut off from the other nodes";
    }
    if state.refuses_writes {
        says += "; refuses every write";
    }
    match state.slot_move {
        Some(SlotMove::Begun) => says += "; its slot is being moved",
        Some(SlotMove::KeysMoved) => says += "; its slot is being moved, and has its keys at the other master",
        None => {}
    }
    if node.is_paused() {
        says += "; stands still";
    } else if node.is_uncounted() {
        says += "; has not counted its replicas since it stood still";
    }
    if let Some(has_enough) = state.last_count {
        says += if has_enough { "; enough replicas by its last count" } else { "; too few replicas by its last count" };
    }
    if !state.half_open_to.is_empty() {
        let _ = write!(says, "; believes its link to {} is open", list(&state.half_open_to));
    }
    if node.ahead != 0 {
        let by = time(config, node.ahead.unsigned_abs().into());
        let _ = write!(says, "; its clock is {by} {}", if node.ahead < 0 { "behind" } else { "ahead" });
    }
    if node.is_dead() && node.down_ticks > 0 {
        let _ = write!(says, "; for {}", time(config, node.down_ticks.into()));
    }
    if state.silent_ticks > 0 {
        let _ = write!(says, "; not heard from for {}", time(config, state.silent_ticks.into()));
    }
    if node.links.missed() > 0 {
        let _ = write!(says, "; {} never reached it", count(node.links.missed().into(), "effect"));
    }
    says
}

/// `its timer fires in 10 s`, `its timer fires now`.
fn within(config: &Config, what: &str, left: u8) -> String {
    match left {
        0 => format!("{what} now"),
        left => format!("{what} in {}", time(config, left.into())),
    }
}
