//! One step with the state before it, and the phrases that steps of several kinds share.

use std::borrow::Cow;

use lockstep_model::Config;
use lockstep_model::action::Party;
use lockstep_model::client::Phase;
use lockstep_model::trace::{
    ClientState, Hold, NodeRole, NodeState, SlotMove, State, SubscriptionState, ThreadState, TraceStep, client_name,
    node_name,
};
use lockstep_model::{Happening, Reply};

use super::super::holds::all_stored;
use super::super::paint::Tone;
use super::super::replies::label;
use super::super::units::{list, time};
use super::lane::Lane;
use super::row::Row;

/// One step, and the state before it.
pub(super) struct Narrator<'a> {
    pub(super) config: &'a Config,
    pub(super) before: &'a State,
    pub(super) step: &'a TraceStep,
}

impl Narrator<'_> {
    /// The scenario as the client sees it that acts in this step, if it is one.
    pub(super) fn own(&self) -> Cow<'_, Config> {
        match self.step.action.party() {
            Party::Thread(holder) => self.config.of_client(holder.client()),
            Party::Client(client) => self.config.of_client(client),
            Party::Node(_) | Party::World => Cow::Borrowed(self.config),
        }
    }

    /// The reply of the step as a label.
    pub(super) fn label(&self) -> String {
        label(self.config, self.step.answer)
    }

    /// The thread whose lane shows what the watchdog does.
    pub(super) fn renewed_thread(&self, client: u8) -> u8 {
        let first = self.before.clients[usize::from(client)].renewal_counts.iter().position(|count| *count > 0);
        first.and_then(|thread| u8::try_from(thread).ok()).unwrap_or(0)
    }

    /// The lease that this step ends, if it does.
    pub(super) fn runs_out(&self) -> String {
        if !self.has(Happening::Expired) {
            return String::new();
        }
        let both = self.before.nodes.iter().zip(&self.step.state.nodes);
        let holder =
            both.into_iter().find_map(|(node, after)| Some(Self::hold_gone_from(node, after)?.holder.as_str()));
        format!(": the lease of {} ends, the lock expires", holder.unwrap_or("the holder"))
    }

    /// Who looks at its own clock in this step, and stops.
    pub(super) fn stopping(&self) -> impl Iterator<Item = (u8, u8, &ThreadState)> {
        let clients = (0..).zip(self.before.clients.iter().zip(&self.step.state.clients));
        clients.flat_map(|(client, (before, after))| {
            let threads = (0..).zip(before.threads.iter().zip(&after.threads));
            threads.filter_map(move |(thread, (before, after))| {
                let is_new = after.has_stopped && !before.has_stopped;
                (is_new && after.phase != Phase::Releasing).then_some((client, thread, after))
            })
        })
    }

    /// The same as a sentence, if anybody does.
    pub(super) fn stops(&self) -> String {
        let names: Vec<_> = self.stopping().map(|(.., thread)| thread.name.as_str()).collect();
        match names.as_slice() {
            [] => String::new(),
            [name] => format!("; by its own clock {name}'s lease is over, and it stops"),
            _ => format!("; by their own clocks the leases of {} are over, and they stop", list(&names)),
        }
    }

    /// A request to a node, and its answer.
    pub(super) fn request(
        &self,
        caller: Lane,
        node: u8,
        verb: &str,
        what: String,
        answer: (String, Tone, String),
    ) -> Vec<Row> {
        if self.step.answer == Reply::Done {
            // It is on its way: its execution and answer are steps of their own.
            return vec![self.one_way(caller, Lane::Node(node), verb, what)];
        }
        let (says, tone, mut answered) = answer;
        if let Lane::Thread { client, .. } = caller {
            answered += &self.taken_for_dead(client, node);
        }
        let shows = self.stored_on(node).unwrap_or_else(|| "empty".to_owned());
        let sent = Row { closes: false, ..self.one_way(caller, Lane::Node(node), verb, what) };
        let answered = Row { opens: false, ..Row::of(self.step, answered) }
            .showing(caller, &says, tone)
            .showing(Lane::Node(node), shows, Tone::Plain)
            .answering(Lane::Node(node), caller, says);
        vec![sent, answered]
    }

    pub(super) fn one_way(&self, from: Lane, to: Lane, says: &str, what: String) -> Row {
        let row = Row::of(self.step, what).sending(from, to, says);
        // The arrow of an effect has no label.
        if matches!(from, Lane::Node(_)) { row } else { row.showing(from, says, Tone::Plain) }
    }

    pub(super) fn alone(&self, lane: Lane, text: impl Into<String>, tone: Tone, what: String) -> Vec<Row> {
        vec![Row::of(self.step, what).showing(lane, text, tone)]
    }

    /// Which replicas have what the master has just written.
    pub(super) fn replicas_know(&self) -> String {
        if !self.has(Happening::Wrote) {
            return String::new();
        }
        let nodes = &self.step.state.nodes;
        // A replica that was not told of the acting master has what the old one writes.
        let has_written = |(now, was): &(&NodeState, &NodeState)| now.is_master() && now.stored != was.stored;
        let changed = nodes.iter().zip(&self.before.nodes).position(|both| has_written(&both));
        // Of several groups it is about the one in which something was written.
        let size = usize::from(self.config.nodes());
        let first = changed.unwrap_or_default() / size * size;
        let beside = u8::try_from(first).unwrap_or_default();
        let acting = self.step.state.acting_master_beside(self.config, beside).map(|master| master.name.as_str());
        let writer = changed.map(|node| nodes[node].name.as_str()).or(acting);
        let nodes = &nodes[first..first + size];
        let has_moved =
            |node: &NodeState| Some(node.name.as_str()) == writer && node.slot_move == Some(SlotMove::KeysMoved);
        if nodes.iter().any(has_moved) {
            return String::new();
        }
        let is_cut = nodes.iter().any(|node| Some(node.name.as_str()) == writer && node.is_cut);
        let follows =
            |node: &&NodeState| node.role == NodeRole::Replica && node.follows.as_deref().or(acting) == writer;
        let replicas: Vec<_> = nodes.iter().filter(follows).collect();
        // Nothing passes from one side of a partition to the other.
        let reached: Vec<_> = replicas.iter().filter(|node| node.is_cut == is_cut).collect();
        let (late, prompt): (Vec<_>, Vec<_>) = reached.iter().partition(|node| !node.under_way.is_empty());
        let names = |nodes: &[&&&NodeState]| list(&nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>());
        let have = |nodes: &[&&&NodeState]| if nodes.len() == 1 { "has" } else { "have" };
        match (replicas.len(), reached.len(), late.len()) {
            (0, _, _) => String::new(),
            (_, 0, _) => "; it reaches no replica".to_owned(),
            (_, _, 0) => format!("; {} {} it at once", names(&prompt), have(&prompt)),
            (_, _, _) => format!("; {} {} not seen it", names(&late), have(&late)),
        }
    }

    /// Who else believes it holds.
    /// Those who believe that they hold the lock that the step is about.
    fn rivals(&self) -> impl Iterator<Item = &ThreadState> {
        let name = self.name().map(usize::from);
        let clients = self.step.state.clients.iter();
        let of_name = clients
            .flat_map(|client| client.threads.iter().enumerate())
            .filter(move |(thread, _)| name.is_none_or(|name| name == *thread));
        let believers: Vec<_> = self.step.state.believers().map(|thread| thread.name.as_str()).collect();
        of_name.map(|(_, thread)| thread).filter(move |thread| believers.contains(&thread.name.as_str()))
    }

    pub(super) fn others_believe(&self, name: &str) -> String {
        let others: Vec<_> = self.rivals().map(|thread| thread.name.as_str()).filter(|other| *other != name).collect();
        match others.as_slice() {
            [] => String::new(),
            [_] => format!("; {} still believes it holds", list(&others)),
            _ => format!("; {} still believe they hold", list(&others)),
        }
    }

    pub(super) fn then_sleeps(&self, name: &str, after: &ThreadState) -> String {
        if self.has(Happening::LimitReached) {
            return format!("; {name}'s wait limit is over, and it gives up");
        }
        if !self.has(Happening::FellAsleep) {
            return if self.own().waits() { String::new() } else { format!("; {name} does not wait") };
        }
        let message = if self.config.lock.facts().publishes() { "until a message arrives" } else { "" };
        let for_ticks = |ticks: u8| time(self.config, ticks.into());
        // At its limit it leaves, whatever its timer says.
        let spins = self.config.lock.facts().spins();
        if let Some(limit) =
            after.wait_left.filter(|_| !spins).filter(|limit| after.wake_in.is_none_or(|wake_in| *limit <= wake_in))
        {
            let left = for_ticks(limit);
            return match message {
                "" => format!("; {name} sleeps, and gives up in {left}"),
                _ => format!("; {name} sleeps {message}, or gives up in {left}"),
            };
        }
        match after.wake_in.map(for_ticks) {
            // It was told that no time is left.
            Some(left) if after.may_wake_now => format!("; {name} asks again at once, or at most {left} later"),
            Some(left) if message.is_empty() => format!("; {name} sleeps for {left}"),
            Some(left) => format!("; {name} sleeps {message}, or for {left}"),
            None => format!("; {name} sleeps {message}"),
        }
    }

    pub(super) fn then_publishes(&self) -> String {
        if !self.has(Happening::Published) {
            return String::new();
        }
        let gets = |(before, after): (&ClientState, &ClientState)| {
            (after.messages > before.messages).then(|| after.name.clone())
        };
        let to: Vec<_> = self.before.clients.iter().zip(&self.step.state.clients).filter_map(gets).collect();
        if to.is_empty() {
            ", and publishes a message that nobody receives".to_owned()
        } else {
            format!(", and publishes a message to {}", list(&to))
        }
    }

    /// What a crashed client leaves in Redis, if anything.
    pub(super) fn left_behind(&self, client: u8) -> String {
        let name = client_name(client);
        let holders = self.step.state.nodes.iter().flat_map(|node| &node.stored.holders);
        let left: Vec<_> = holders.filter(|hold| hold.holder.starts_with(name)).collect();
        let says = if left.iter().any(|hold| hold.ttl_ms.is_none()) {
            "; its lock stays, without a TTL"
        } else if left.is_empty() {
            ""
        } else {
            "; its lock stays until it expires"
        };
        says.to_owned()
    }

    pub(super) fn has(&self, happening: Happening) -> bool {
        self.step.happenings.contains(&happening)
    }

    /// The node that a client's request goes to.
    pub(super) fn asked(&self, client: u8) -> u8 {
        let before = &self.before.clients[usize::from(client)];
        // Of several masters it waits for the lock of one.
        let name = before.call.as_ref().and_then(|call| call.waits_at.as_ref()).unwrap_or(&before.master);
        (0..self.config.all_nodes()).find(|node| node_name(*node) == *name).unwrap_or(0)
    }

    /// The node on which a client is subscribed after the step.
    pub(super) fn subscribed(&self, client: u8) -> u8 {
        let place = self.client_after(client).subscription.as_ref().and_then(SubscriptionState::node);
        (0..self.config.all_nodes())
            .find(|node| Some(node_name(*node).as_str()) == place)
            .unwrap_or_else(|| self.asked(client))
    }

    /// The acting master of the group that a node is in, after the step.
    pub(super) fn acting_master_beside(&self, node: u8) -> Option<u8> {
        let acting = &self.step.state.acting_master_beside(self.config, node)?.name;
        (0..self.config.all_nodes()).find(|node| node_name(*node) == *acting)
    }

    pub(super) fn stored_on(&self, node: u8) -> Option<String> {
        all_stored(self.config, &self.node_after(node).stored)
    }

    pub(super) fn holder_on(&self, node: u8) -> Option<&str> {
        self.hold_on(node).map(|hold| hold.holder.as_str())
    }

    pub(super) fn hold_count_on(&self, node: u8) -> u8 {
        self.hold_on(node).map_or(0, |hold| hold.count)
    }

    /// The number of the lock that the step is about, where there are several and a thread acts.
    fn name(&self) -> Option<u8> {
        match self.step.action.party() {
            Party::Thread(holder) if self.config.clients.names > 1 => Some(holder.thread()),
            _ => None,
        }
    }

    /// The holder that a node stored before the step, and does not store any more; if there is none, its holder.
    pub(super) fn hold_gone_from<'a>(before: &'a NodeState, after: &NodeState) -> Option<&'a Hold> {
        let is_gone = |hold: &&Hold| !after.stored.is_held_by(&hold.holder);
        before.stored.holders.iter().find(is_gone).or_else(|| before.stored.holder())
    }

    /// What a node does that extends the lease: an extension that does not compare takes the lock of whoever holds it.
    pub(super) fn extends(&self, node: u8) -> String {
        let before = self.before.nodes[usize::from(node)].stored.holder_under(self.name());
        match (before, self.hold_on(node)) {
            (Some(before), Some(after)) if before.holder != after.holder => {
                format!("stores {} in the lock of {}, with the whole lease", after.holder, before.holder)
            }
            _ => "restarts the lease".to_owned(),
        }
    }

    /// Whom a request of this client has removed from the lock on this node, by the client's clock: `removes A:1, whose time is over by B's
    /// clock, which is 30 s ahead`.
    pub(super) fn removes_by_clock(&self, client: u8, node: u8) -> Option<String> {
        let after: Vec<_> = self.node_after(node).stored.members().collect();
        let before = self.before.nodes[usize::from(node)].stored.members();
        // Who is granted stands there afterwards, and may have stood there before.
        let removed: Vec<_> = before.filter(|member| !after.contains(member)).collect();
        if removed.is_empty() {
            return None;
        }
        Some(format!("removes {}, whose time is over by {}", list(&removed), self.clock_of(client)))
    }

    /// The clock of the client that asks: `B's clock, which is 30 s ahead`.
    fn clock_of(&self, client: u8) -> String {
        let ahead = match self.config.clock_ahead_of(client) {
            0 => String::new(),
            ticks => format!(", which is {} ahead", time(self.config, ticks.into())),
        };
        format!("{}'s clock{ahead}", self.step.lane)
    }

    /// Whom a request of this client has taken for dead, and out of the queue on this node; empty: nobody. Who leaves or is granted is the
    /// one that asks.
    fn taken_for_dead(&self, client: u8, node: u8) -> String {
        let own = format!("{}:", client_name(client));
        let after = self.node_after(node).stored.queue();
        let before = self.before.nodes[usize::from(node)].stored.queue();
        let removed = before.iter().filter(|waiter| !after.contains(waiter) && !waiter.starts_with(&own));
        let removed: Vec<_> = removed.map(String::as_str).collect();
        if removed.is_empty() || self.step.answer == Reply::Unreachable {
            return String::new();
        }
        format!("; {} is out of the queue, taken for dead by {}", list(&removed), self.clock_of(client))
    }

    pub(super) fn hold_on(&self, node: u8) -> Option<&Hold> {
        self.node_after(node).stored.holder_under(self.name())
    }

    pub(super) fn node_after(&self, node: u8) -> &NodeState {
        &self.step.state.nodes[usize::from(node)]
    }

    pub(super) fn client_after(&self, client: u8) -> &ClientState {
        &self.step.state.clients[usize::from(client)]
    }

    pub(super) fn thread_after(&self, client: u8, thread: u8) -> &ThreadState {
        &self.client_after(client).threads[usize::from(thread)]
    }

    pub(super) fn thread_before(&self, client: u8, thread: u8) -> &ThreadState {
        &self.before.clients[usize::from(client)].threads[usize::from(thread)]
    }
}
