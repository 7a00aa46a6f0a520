//! Plays a history on real servers and compares after every step.
//!
//! A step is asked of Redis as the clients would ask it. What needs no answer before the next step may be sent goes out
//! together: a whole stretch in which the clock stands still and no link, role or subscription changes is one round
//! trip to each node (design §7: pipelined). Every step of it is compared all the same.

mod in_flight;
mod nodes;
mod waits;
mod watch;

use std::collections::VecDeque;

use lockstep_model::Happening;
use lockstep_model::action::Party;
use lockstep_model::config::{Cluster, Ttls};
use lockstep_model::trace::{State, SubscriptionState, Trace, TraceStep, client_name, node_name};
use lockstep_model::{Action, Config, LockKind};
use lockstep_redis::Scripts;
use redis::{Cmd, Connection, ConnectionLike, Pipeline, Value};

use super::compare::{self, DUMP, Difference};
use super::node::look_at_every_key;
use super::sentinel::{Addresses, Failover};
use super::subscriber::Subscriber;
use super::translate::{Interpreter, Request};
use super::{Error, Gate, Node, Server, Settings};
use in_flight::InFlight;
use waits::Waits;
use watch::Watch;

/// When every history begins, on every node's clock: 2024-01-01, any moment would do.
const START_MS: i64 = 1_704_067_200_000;

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Flavour and version: `redis 7.0.15`.
    pub server: String,
    /// Steps played.
    pub steps: usize,
    /// Things compared: replies, the contents and roles of nodes, messages.
    pub compared: usize,
    /// Per step, what was asked of real Redis and what it answered; empty unless asked for.
    pub answers: Vec<Vec<String>>,
    /// The first place where model and Redis say different things.
    pub difference: Option<Difference>,
    /// What real sentinels did, if they were asked for.
    pub failovers: Vec<Failover>,
}

/// The servers of one scenario, and everything that its clients have to do with them.
pub struct Player {
    config: Config,
    interpreter: Interpreter,
    dump_sha1: String,
    server: Server,
    /// Who decides on failovers, if not the history. Before the members: who watches goes first.
    watch: Option<Watch>,
    /// After the sentinels: who knows them goes first.
    addresses: Option<Addresses>,
    members: Vec<Member>,
    /// The acting master, or the last one.
    master: usize,
    /// What a master that is cut off still takes for the links to its replicas.
    phantoms: Vec<Phantom>,
    listeners: Vec<Listener>,
    /// Whether anything befell a node since the servers were started: such a group is started anew.
    is_worn: bool,
    /// Whether the servers are as they were started.
    is_fresh: bool,
    told: Told,
    in_flight: InFlight,
    waits: Waits,
}

/// One node, our connection to it, and what we have to tell it.
struct Member {
    node: Node,
    connection: Connection,
    /// Between its master and it, while it follows one.
    gate: Option<Gate>,
    pending: Vec<(Cmd, Expected)>,
    role: Role,
}

/// A gate that says nothing more, and the master behind it.
struct Phantom {
    master: usize,
    gate: Gate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Master,
    Replica,
    Dead,
}

/// What a client's process has to do with messages.
#[derive(Default)]
struct Listener {
    subscriber: Option<Subscriber>,
    /// Read, but not delivered yet.
    inbox: VecDeque<String>,
    /// Steps that published to it since the subscriber was last read.
    awaited: Vec<Place>,
}

/// What the model says will be answered.
enum Expected {
    Reply {
        at: Place,
        words: String,
        request: Request,
    },
    Keys {
        at: Place,
        words: String,
    },
    Role {
        at: Place,
        words: &'static str,
    },
    /// The offset up to which the step wrote.
    Offset,
    /// Nothing that could differ.
    Anything,
}

#[derive(Clone, Copy)]
struct Place {
    step: usize,
    action: Action,
}

/// What has been learnt in the current history.
#[derive(Default)]
struct Told {
    answers: Vec<Vec<String>>,
    compared: usize,
    difference: Option<Difference>,
    /// The last step whose request was answered.
    last: Option<Place>,
}

impl Player {
    /// Starts the scenario's servers, whose clients use these scripts.
    ///
    /// # Errors
    /// Whatever keeps a server from running under our clock and our gates.
    pub fn start(server: &Server, config: &Config, scripts: Scripts) -> Result<Self, Error> {
        Self::start_watched(server, config, scripts, None)
    }

    fn start_watched(server: &Server, config: &Config, scripts: Scripts, watch: Option<Watch>) -> Result<Self, Error> {
        let interpreter = Interpreter::new(config, scripts).ok_or(Error::LeaseTooLong)?;
        refuse_other_ttls(server, config)?;
        nodes::refuse_deaf_scripts(server, config)?;
        nodes::refuse_second_replica(server, config)?;
        let mut player = Self {
            config: *config,
            interpreter,
            dump_sha1: redis::Script::new(DUMP).get_hash().to_owned(),
            server: server.clone(),
            watch,
            addresses: None,
            members: Vec::new(),
            master: 0,
            phantoms: Vec::new(),
            listeners: Vec::new(),
            is_worn: true,
            is_fresh: false,
            told: Told::default(),
            in_flight: InFlight::default(),
            waits: Waits::new(),
        };
        player.reset()?;
        Ok(player)
    }

    /// Flavour and version of the servers.
    pub fn server(&self) -> String {
        self.server.to_string()
    }

    /// Plays a trace from its first state and compares until its end or the first difference.
    ///
    /// # Errors
    /// What keeps the servers from being asked. A difference is a result.
    pub fn replay(&mut self, trace: &Trace, keeps_answers: bool) -> Result<Played, Error> {
        self.reset()?;
        self.is_fresh = false;
        self.told = Told::default();
        self.begin_watch(trace)?;
        let played = self.play_all(trace, keeps_answers);
        let (played, failovers) = self.end_watch(played)?;
        let told = std::mem::take(&mut self.told);
        let difference = told.difference.map(|found| Difference { known: self.known(&found, trace), ..found });
        Ok(Played {
            server: self.server(),
            steps: difference.as_ref().map_or(played, |difference| difference.step),
            compared: told.compared,
            answers: told.answers,
            difference,
            failovers,
        })
    }

    /// What the model is known not to do as this server does, where that may be the difference.
    fn known(&self, difference: &Difference, trace: &Trace) -> Option<&'static str> {
        let before = trace.state_after(difference.step.checked_sub(1)?);
        let asked = &before.clients.get(client_of(difference.action)?)?.master;
        let is_replica = before.nodes.iter().any(|node| node.name == *asked && !node.is_master());
        let is_seen = is_replica && difference.what == "reply" && self.server.shows_scripts_what_has_expired();
        is_seen.then_some(
            "before Redis 7.0 a script on a replica still sees a key that has expired, until the master deletes it; the \
             model hides it. Use Redis 7.0 or newer for worlds in which clients ask a master that was demoted",
        )
    }

    /// Plays steps until the first difference; answers how many.
    fn play_all(&mut self, trace: &Trace, keeps_answers: bool) -> Result<usize, Error> {
        let mut played = 0;
        for step in &trace.steps {
            if keeps_answers {
                self.told.answers.push(Vec::new());
            }
            self.play(step, trace.state_after(step.number - 1))?;
            played = step.number;
            if self.told.difference.is_some() {
                break;
            }
        }
        self.flush()?;
        Ok(played)
    }

    /// Servers as at the start of every history.
    fn reset(&mut self) -> Result<(), Error> {
        self.listeners = (0..self.config.clients.count).map(|_| Listener::default()).collect();
        self.in_flight = InFlight::default();
        self.waits.clear();
        if self.is_worn {
            return self.start_nodes();
        }
        if self.is_fresh {
            return Ok(());
        }
        for member in &mut self.members {
            member.pending.clear();
        }
        let flushed = self.members[0].connection.req_command(&redis::cmd("FLUSHALL"));
        flushed.map_err(Error::redis("FLUSHALL"))?;
        let offset = self.members[0].node.offset()?;
        for gate in self.members.iter().filter_map(|member| member.gate.as_ref()) {
            gate.mark(offset);
            gate.release_all()?;
        }
        self.note_disks()
    }

    fn start_nodes(&mut self) -> Result<(), Error> {
        self.members.clear();
        self.phantoms.clear();
        let settings = Settings { fsync: nodes::fsync_setting(&self.config) };
        for index in 0..self.config.nodes() {
            let node = Node::start_with(&self.server, START_MS, settings)?;
            let connection = self.connect(&node)?;
            let role = if index == 0 { Role::Master } else { Role::Replica };
            self.members.push(Member { node, connection, gate: None, pending: Vec::new(), role });
        }
        self.master = 0;
        self.open_addresses()?;
        for replica in 1..self.members.len() {
            self.follow_master(replica)?;
        }
        for member in &self.members {
            nodes::require_replicas(&self.config, &member.node)?;
        }
        self.note_disks()?;
        self.is_worn = false;
        self.is_fresh = true;
        Ok(())
    }

    /// A connection to a node that knows the scripts.
    fn connect(&self, node: &Node) -> Result<Connection, Error> {
        let mut connection = node.connect()?;
        for script in self.interpreter.scripts().iter() {
            connection.req_command(&script.load()).map_err(Error::redis("SCRIPT LOAD"))?;
        }
        let load = redis::cmd("SCRIPT").arg("LOAD").arg(DUMP).to_owned();
        connection.req_command(&load).map_err(Error::redis("SCRIPT LOAD"))?;
        Ok(connection)
    }

    fn follow_master(&mut self, replica: usize) -> Result<(), Error> {
        self.leave_master(replica, self.master)?;
        let master = &self.members[self.master].node;
        let gate = Gate::open(master.socket())?;
        self.lead(replica, &gate)?;
        // After a partial resync the gate holds what the replica has missed: the model's resync ends with all of it.
        gate.mark(master.offset()?);
        gate.release_all()?;
        self.members[replica].gate = Some(gate);
        self.members[replica].role = Role::Replica;
        self.note_disk(replica)
    }

    fn play(&mut self, step: &TraceStep, before: &State) -> Result<(), Error> {
        let at = Place { step: step.number, action: step.action };
        match step.action {
            Action::Tick => {
                self.flush()?;
                // A dead node's clock goes on as well.
                for member in &self.members {
                    member.node.advance_clock(i64::from(self.config.time.tick_ms))?;
                }
                self.acknowledge()?;
                self.drop_expired()?;
            }
            Action::Replicate { node } => {
                self.flush()?;
                let gate = self.members[usize::from(node)].gate.as_ref();
                let effect = gate.ok_or(Error::NothingHeld)?.release_one()?;
                self.told.note(|| format!("{} applies {effect}", node_name(node)));
            }
            Action::CrashNode { node } => self.crash(usize::from(node))?,
            Action::HandOver { node } => {
                self.hand_over(usize::from(node), step.number)?;
                self.drop_expired()?;
            }
            Action::Promote { node } => {
                self.flush()?;
                self.promote(usize::from(node), step.number)?;
                self.drop_expired()?;
            }
            Action::Resync { node } => {
                self.flush()?;
                self.resync(usize::from(node))?;
                self.told.note(|| format!("REPLICAOF {}", node_name(node)));
            }
            Action::Demote { node } => self.demote(usize::from(node))?,
            Action::Fsync { node } => self.fsync(usize::from(node))?,
            Action::RestartNode { node } => {
                self.restart(usize::from(node), step, before)?;
                self.drop_expired()?;
            }
            Action::CutLink { node } => self.cut(usize::from(node))?,
            Action::Heal { node } => self.heal(usize::from(node))?,
            Action::VanishKey { node } => self.vanish(usize::from(node))?,
            Action::ClockJump { node } => self.jump(usize::from(node))?,
            Action::Discover { client } => self.discover(at, client, &step.state)?,
            // Where request and answer are steps of their own, `WAIT` goes with its request.
            Action::Confirm { client, thread } if !self.config.is_split() => {
                self.confirm((client, thread), step, before)?;
            }
            Action::Deliver { client } | Action::LoseMessage { client } => {
                self.flush()?;
                self.deliver(at, client);
            }
            _ => {}
        }
        self.follow_subscriptions(step, before)?;
        if let Some(request) = self.interpreter.request(step.number, step.action, before, step.answer) {
            self.ask(step, before, request)?;
        }
        if self.config.is_split() {
            self.play_in_flight(step, before)?;
        }
        self.count_replicas(step, before)?;
        self.expect_keys(at, &step.state);
        Ok(())
    }

    /// Sends a request to the master that the client knows.
    fn ask(&mut self, step: &TraceStep, before: &State, request: Request) -> Result<(), Error> {
        let at = Place { step: step.number, action: step.action };
        let client = client_of(step.action);
        let known = client.and_then(|client| before.clients.get(client)).map(|client| client.master.as_str());
        let node = self.index_of(known.unwrap_or_default());

        let words = self.interpreter.reply_words(step.answer);
        let caller = waits::caller(&self.config, step.action);
        if let Some(caller) = caller {
            self.acquire_alone(caller, node, (at, words, request))?;
        } else {
            let pending = &mut self.members[node].pending;
            let afterwards = request.afterwards.clone();
            pending.push((request.call.evalsha(), Expected::Reply { at, words, request }));
            pending.extend(afterwards.map(|command| (command, Expected::Anything)));
        }
        if step.happenings.contains(&Happening::Published) {
            let name = node_name_of(node);
            for (listener, client) in self.listeners.iter_mut().zip(&before.clients) {
                if client.subscription.as_ref().and_then(SubscriptionState::node) == Some(&name) {
                    listener.awaited.push(at);
                }
            }
        }
        let has_replicas = self.members.iter().any(|member| member.gate.is_some());
        if node == self.master && has_replicas && step.happenings.contains(&Happening::Wrote) {
            if caller.is_some() {
                // It has been answered already.
                return self.mark_now();
            }
            if self.config.cluster.ttls == Ttls::Relative {
                self.members[node].pending.push((look_at_every_key(), Expected::Anything));
            }
            let info = redis::cmd("INFO").arg("replication").to_owned();
            self.members[node].pending.push((info, Expected::Offset));
            if self.config.cluster.lag.is_zero() {
                self.flush()?;
                self.release_all()?;
            }
        }
        Ok(())
    }

    /// What every live node should store after the step.
    fn expect_keys(&mut self, at: Place, state: &State) {
        for (member, node) in self.members.iter_mut().zip(&state.nodes) {
            if member.role == Role::Dead {
                continue;
            }
            let words = self.interpreter.stored_words(&node.stored);
            member.pending.push((dump_command(&self.dump_sha1), Expected::Keys { at, words }));
        }
    }

    /// Subscribes and unsubscribes as the clients do.
    fn follow_subscriptions(&mut self, step: &TraceStep, before: &State) -> Result<(), Error> {
        for index in 0..self.listeners.len() {
            let (was, is) = (&before.clients[index].subscription, &step.state.clients[index].subscription);
            if was == is {
                continue;
            }
            // What was published before must come to the old subscription, what is published later to the new one.
            // A release that ends a wait does both in one step: nobody publishes to itself.
            self.flush()?;
            match is {
                None => self.listeners[index] = Listener::default(),
                // The connection died with its node; what had been read is still to be delivered.
                Some(SubscriptionState::Lost) => self.listeners[index].subscriber = None,
                Some(SubscriptionState::Node(node)) => {
                    let node = self.index_of(node);
                    let channel = self.interpreter.channel();
                    self.told.note(|| format!("{}: SUBSCRIBE {channel}", node_name_of(node)));
                    self.listeners[index].subscriber = Some(Subscriber::start(&self.members[node].node, &channel)?);
                }
            }
        }
        Ok(())
    }

    /// A message reaches its process, or is dropped on the way to it: either way it must have come.
    fn deliver(&mut self, at: Place, client: u8) {
        let message = self.listeners[usize::from(client)].inbox.pop_front();
        let redis = message.clone().unwrap_or_else(|| "nothing".to_owned());
        let what = || format!("messages to {}", client_name(client));
        self.told.compare(at, what, lockstep_redis::locks::reentrant::UNLOCK_MESSAGE, &redis);
        self.told.note(|| format!("message {redis}"));
    }

    /// Sends what is pending, reads the answers, compares them.
    fn flush(&mut self) -> Result<(), Error> {
        let mut has_asked = false;
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            let Some(at) = member.pending.iter().rev().find_map(|(_, expected)| expected.place()) else { continue };
            let words = if member.role == Role::Master { "master" } else { "replica" };
            member.pending.push((redis::cmd("ROLE"), Expected::Role { at, words }));

            let pending = std::mem::take(&mut member.pending);
            let mut pipeline = Pipeline::with_capacity(pending.len());
            for (command, _) in &pending {
                pipeline.add_command(command.clone());
            }
            let packed = pipeline.get_packed_pipeline();
            let answers = member.connection.req_packed_commands(&packed, 0, pending.len());
            let answers = answers.map_err(Error::redis("a stretch of steps"))?;
            for ((_, expected), answer) in pending.iter().zip(&answers) {
                has_asked |= matches!(expected, Expected::Reply { .. });
                if matches!(expected, Expected::Offset) {
                    let offset = compare::replication_offset(answer)?;
                    for gate in self.members.iter().filter_map(|member| member.gate.as_ref()) {
                        gate.mark(offset);
                    }
                }
                self.told.hear(index, self.config.lock, expected, answer)?;
            }
        }
        if has_asked { self.read_messages() } else { Ok(()) }
    }

    /// Reads what has been published, and compares it with what should have been.
    fn read_messages(&mut self) -> Result<(), Error> {
        for (client, listener) in (0u8..).zip(&mut self.listeners) {
            let Some(subscriber) = &mut listener.subscriber else {
                listener.awaited.clear();
                continue;
            };
            let came = subscriber.drain()?;
            let awaited = std::mem::take(&mut listener.awaited);
            if came.len() != awaited.len() {
                // The first that is missing; or one too many, somewhere up to the last step that was sent.
                let at = awaited.get(came.len()).copied().or(self.told.last);
                if let Some(at) = at {
                    let what = || format!("messages to {}", client_name(client));
                    let published = |count: usize| format!("{count} published");
                    self.told.compare(at, what, &published(awaited.len()), &published(came.len()));
                }
            }
            self.told.compared += awaited.len();
            listener.inbox.extend(came);
        }
        Ok(())
    }

    fn index_of(&self, node: &str) -> usize {
        (0..self.members.len()).find(|&index| node_name_of(index) == node).unwrap_or(self.master)
    }
}

impl Member {
    /// The gate to its master, while anything passes it.
    fn link(&self) -> Option<&Gate> {
        self.gate.as_ref().filter(|gate| !gate.is_silent())
    }
}

impl Expected {
    const fn place(&self) -> Option<Place> {
        match self {
            Self::Reply { at, .. } | Self::Keys { at, .. } | Self::Role { at, .. } => Some(*at),
            Self::Offset | Self::Anything => None,
        }
    }
}

impl Told {
    /// Holds one answer beside what the model says.
    fn hear(&mut self, node: usize, lock: LockKind, expected: &Expected, answer: &Value) -> Result<(), Error> {
        let name = || node_name_of(node);
        match expected {
            Expected::Reply { at, words, request } => {
                self.last = Some(*at);
                // An answer that no script of that verb can give differs from every reply of the model.
                let heard = request.answer_words(answer, lock).unwrap_or_else(|error| error.to_string());
                let asked = || request.asked_words();
                let answered = || compare::text(answer).unwrap_or_else(|| format!("{answer:?}"));
                self.note_at(*at, || format!("{}: {} → {}", name(), asked(), answered()));
                self.compare(*at, || "reply".to_owned(), words, &heard);
            }
            Expected::Keys { at, words } => {
                let heard = compare::dump_words(answer)?;
                self.note_at(*at, || format!("{} stores {}", name(), or_nothing(&heard)));
                self.compare(*at, || format!("keys on {}", name()), or_nothing(words), or_nothing(&heard));
            }
            Expected::Role { at, words } => {
                let heard = compare::role_words(answer)?;
                self.compare(*at, || format!("role of {}", name()), words, &heard);
            }
            Expected::Offset | Expected::Anything => {}
        }
        Ok(())
    }

    /// Compares, and keeps the earliest difference: nodes answer one after the other, each a stretch of steps.
    fn compare(&mut self, at: Place, what: impl FnOnce() -> String, model: &str, redis: &str) {
        self.compared += 1;
        let is_earlier = self.difference.as_ref().is_none_or(|known| at.step < known.step);
        if model != redis && is_earlier {
            let (model, redis) = (model.to_owned(), redis.to_owned());
            self.difference =
                Some(Difference { step: at.step, action: at.action, what: what(), model, redis, known: None });
        }
    }

    fn note(&mut self, words: impl FnOnce() -> String) {
        if let Some(answers) = self.answers.last_mut() {
            answers.push(words());
        }
    }

    fn note_at(&mut self, at: Place, words: impl FnOnce() -> String) {
        if let Some(answers) = at.step.checked_sub(1).and_then(|index| self.answers.get_mut(index)) {
            answers.push(words());
        }
    }
}

/// The world as this server makes it: TTLs travel to its replicas in the way of its version.
pub fn suited(config: &Config, server: &Server) -> Config {
    Config { cluster: Cluster { ttls: server.ttls(), ..config.cluster }, ..*config }
}

/// A difference between versions that is known is no discovery.
fn refuse_other_ttls(server: &Server, config: &Config) -> Result<(), Error> {
    if config.cluster.replicas == 0 || config.cluster.ttls == server.ttls() {
        return Ok(());
    }
    let server = server.to_string();
    Err(match config.cluster.ttls {
        Ttls::Absolute => {
            Error::OtherTtls { server, sends: "relative", says: "absolute", other: "of Redis 7.0 or newer" }
        }
        Ttls::Relative => Error::OtherTtls { server, sends: "absolute", says: "relative", other: "older than 7.0" },
    })
}

fn dump_command(sha1: &str) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(sha1).arg(0);
    command
}

fn or_nothing(words: &str) -> &str {
    if words.is_empty() { "nothing" } else { words }
}

fn node_name_of(index: usize) -> String {
    node_name(u8::try_from(index).unwrap_or(u8::MAX))
}

/// Whose request it is.
fn client_of(action: Action) -> Option<usize> {
    match action.party() {
        Party::Thread(holder) => Some(usize::from(holder.client())),
        Party::Client(client) => Some(usize::from(client)),
        Party::Node(_) | Party::World => None,
    }
}
