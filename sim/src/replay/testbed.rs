//! What a history is played on: the servers, the commands that wait to be sent to them, and what was found so far.
//!
//! A command whose answer is not needed before the next step may be queued: a stretch of steps in which the clock stands
//! still and no link, role or subscription changes is one round trip to each node. Every step of it is compared all the
//! same.

use lockstep_model::trace::State;
use redis::{Cmd, Value};

use super::compare::{self, READ_ALL_KEYS};
use super::error::ReplayError;
use super::findings::Findings;
use super::history_step::StepPlace;
use super::node_names::name_of_node;
use super::rounds::CallRounds;
use super::servers::{ServerGroups, scan_every_key};
use super::translate::ScriptRequest;
use super::value_text::value_text;

/// Servers, queue and findings.
pub struct Testbed {
    /// The servers of the scenario.
    pub servers: ServerGroups,
    /// What was found in the current history.
    pub findings: Findings,
    /// By which values the clients have taken a lock on several masters.
    pub rounds: CallRounds,
    /// Per node, what is to be sent to it.
    queued: Vec<Vec<(Cmd, Expected)>>,
    /// Names of keys that a client draws, each with the model's name for it.
    drawn_names: Vec<(String, String)>,
    /// Names of keys that a client stores and the model does not have.
    hidden_names: Vec<String>,
    /// The last step whose request was answered.
    last_answered: Option<StepPlace>,
    read_all_keys: Cmd,
}

/// What a queued command's answer is compared with.
pub enum Expected {
    /// The model's reply to a request.
    Reply {
        /// The step of the request.
        at: StepPlace,
        /// The reply, in words.
        words: String,
        /// The request, which knows how to read the answer.
        request: ScriptRequest,
    },
    /// The keys that the node should store.
    Keys {
        /// After this step.
        at: StepPlace,
        /// The keys, in words.
        words: String,
        /// The wall clock of the clients then.
        now_ms: i64,
    },
    /// The role that the node should report.
    Role {
        /// After this step.
        at: StepPlace,
        /// The role, in words.
        words: &'static str,
    },
    /// Nothing: it is the offset up to which the step wrote.
    Offset,
    /// Nothing.
    Anything,
}

impl Expected {
    const fn place(&self) -> Option<StepPlace> {
        match self {
            Self::Reply { at, .. } | Self::Keys { at, .. } | Self::Role { at, .. } => Some(*at),
            Self::Offset | Self::Anything => None,
        }
    }
}

impl Testbed {
    /// The command that every server must be sent before a history is played on it.
    pub fn setup_command() -> Cmd {
        redis::cmd("SCRIPT").arg("LOAD").arg(READ_ALL_KEYS).to_owned()
    }

    /// Servers on which no history was played yet.
    pub fn new(servers: ServerGroups) -> Self {
        let sha1 = redis::Script::new(READ_ALL_KEYS).get_hash().to_owned();
        let queued = (0..servers.len()).map(|_| Vec::new()).collect();
        let read_all_keys = redis::cmd("EVALSHA").arg(sha1).arg(0).to_owned();
        let findings = Findings::default();
        Self {
            servers,
            findings,
            rounds: CallRounds::default(),
            queued,
            drawn_names: Vec::new(),
            hidden_names: Vec::new(),
            last_answered: None,
            read_all_keys,
        }
    }

    /// Brings servers and queue into the state in which every history begins, and forgets what was found.
    ///
    /// # Errors
    /// As [`ServerGroups::reset`].
    pub fn reset(&mut self) -> Result<(), ReplayError> {
        self.queued.iter_mut().for_each(Vec::clear);
        self.findings = Findings::default();
        self.rounds = CallRounds::default();
        self.drawn_names.clear();
        self.hidden_names.clear();
        self.last_answered = None;
        self.servers.reset()
    }

    /// A client has drawn this name for a key, for which the model has another one.
    pub fn note_drawn_name(&mut self, drawn: String, model: String) {
        self.drawn_names.push((drawn, model));
    }

    /// A client stores this key for a moment in which the model has none, and drops it again.
    pub fn hide_key(&mut self, name: String) {
        self.hidden_names.push(name);
    }

    /// The names that these keys of the model have in Redis.
    pub fn names_in_redis(&self, names: Vec<String>) -> Vec<String> {
        let drawn = |name: &String| -> Vec<_> {
            let of_name = self.drawn_names.iter().filter(|(_, model)| model == name);
            of_name.map(|(drawn, _)| drawn.clone()).collect()
        };
        let of = |name: String| Some(drawn(&name)).filter(|drawn| !drawn.is_empty()).unwrap_or_else(|| vec![name]);
        names.into_iter().flat_map(of).collect()
    }

    /// The same, but for each of these the newest of its names: the model gives a number again that is free.
    pub fn newest_names_in_redis(&self, names: Vec<String>) -> Vec<String> {
        let newest = |name: String| {
            let drawn = self.drawn_names.iter().rev().find(|(_, model)| *model == name);
            drawn.map_or(name, |(drawn, _)| drawn.clone())
        };
        names.into_iter().map(newest).collect()
    }

    /// Queues a command for a node.
    pub fn queue(&mut self, node: usize, command: Cmd, expected: Expected) {
        self.queued[node].push((command, expected));
    }

    /// Queues a comparison of everything that every running node stores, and of its role. One that stands still, or
    /// hands over and lets scripts wait, is compared again once it goes on.
    pub fn queue_comparison(
        &mut self,
        (at, now_ms): (StepPlace, i64),
        state: &State,
        stored_words: impl Fn(usize) -> String,
    ) {
        for index in 0..state.nodes.len().min(self.servers.len()) {
            if !self.servers.is_dead(index) && self.servers.executes_writes(index) {
                self.queue(
                    index,
                    self.read_all_keys.clone(),
                    Expected::Keys { at, words: stored_words(index), now_ms },
                );
            }
        }
    }

    /// Makes what was written in this step, beside or by this node, one effect for the replicas. Returns whether that is queued, behind
    /// the write itself; if the write has been answered already, it is done at once. Of other groups nothing is marked: for a script
    /// that changes nothing 6.2.5 sends an empty transaction, which is no effect.
    ///
    /// # Errors
    /// As [`ServerGroups::mark_written`] and [`ServerGroups::release_if_without_lag`].
    pub fn mark_effect(&mut self, node: usize) -> Result<bool, ReplayError> {
        let beside = self.servers.nodes_beside(node);
        let mut masters = self.servers.followed_masters();
        masters.retain(|master| beside.contains(master));
        if masters.iter().all(|master| self.queued[*master].is_empty()) {
            masters.into_iter().try_for_each(|master| self.servers.mark_written(master))?;
            self.servers.release_if_without_lag()?;
            return Ok(false);
        }
        for master in masters {
            if self.queued[master].is_empty() {
                self.servers.mark_written(master)?;
                continue;
            }
            if self.servers.has_relative_ttls() {
                self.queue(master, scan_every_key(), Expected::Anything);
            }
            self.queue(master, redis::cmd("INFO").arg("replication").to_owned(), Expected::Offset);
        }
        Ok(true)
    }

    /// Sends what is queued, reads the answers and compares them. Returns whether requests of clients were among them.
    ///
    /// # Errors
    /// `Redis` if a connection breaks; `Unexpected`.
    pub fn send_queued(&mut self) -> Result<bool, ReplayError> {
        let mut has_asked = false;
        for node in 0..self.queued.len() {
            let last = self.queued[node].iter().rev().find_map(|(_, expected)| expected.place());
            let Some(at) = last else { continue };
            let words = if self.servers.is_master(node) { "master" } else { "replica" };
            self.queue(node, redis::cmd("ROLE"), Expected::Role { at, words });

            let queued = std::mem::take(&mut self.queued[node]);
            let answers = self.answers_of(node, &queued)?;
            for ((_, expected), answer) in queued.iter().zip(&answers) {
                has_asked |= matches!(expected, Expected::Reply { .. });
                if matches!(expected, Expected::Offset) {
                    self.servers.mark(node, compare::replication_offset(answer)?);
                }
                self.compare_answer(node, expected, answer)?;
            }
        }
        Ok(has_asked)
    }

    /// What a node answers to what was queued for it.
    fn answers_of(&mut self, node: usize, queued: &[(Cmd, Expected)]) -> Result<Vec<Value>, ReplayError> {
        if !self.servers.has_keys_elsewhere(node) {
            return self.servers.ask_all(node, queued.iter().map(|(command, _)| command));
        }
        // One command after the other: the first one that makes a key makes it at the other master, and the next one must go there too.
        let answered = queued.iter().map(|(command, expected)| {
            let (answer, is_of_other) = self.servers.ask_and_follow(node, command, "a step")?;
            if let (true, Some(at)) = (is_of_other, expected.place()) {
                let name = name_of_node(node);
                self.findings.note_at(at, || format!("{name} answers ASK: the other master is asked (ASKING)"));
            }
            // The model's one node stores what both masters store.
            let Expected::Keys { .. } = expected else { return Ok(answer) };
            let elsewhere = self.servers.ask_other_master(node, command)?;
            match (answer, elsewhere) {
                (Value::Array(here), Value::Array(there)) => Ok(Value::Array([here, there].concat())),
                (answer, _) => Ok(answer),
            }
        });
        answered.collect()
    }

    /// Compares one answer of a node with what the model says.
    ///
    /// # Errors
    /// `Unexpected` if no server gives such an answer.
    pub fn compare_answer(&mut self, node: usize, expected: &Expected, answer: &Value) -> Result<(), ReplayError> {
        let name = || name_of_node(node);
        match expected {
            Expected::Reply { at, words, request } => {
                self.last_answered = Some(*at);
                let meaning = self.meaning_of(request, answer, words);
                let answered = || value_text(answer).unwrap_or_else(|| format!("{answer:?}"));
                self.findings.note_at(*at, || format!("{}: {} → {}", name(), request.call_words(), answered()));
                self.findings.compare(*at, || "reply".to_owned(), words, &meaning);
            }
            Expected::Keys { at, words, now_ms } => {
                let stored = self.in_names_of_model(compare::stored_words(answer, *now_ms, self.servers.far_ms())?);
                self.findings.note_at(*at, || format!("{} stores {}", name(), or_nothing(&stored)));
                self.findings.compare(*at, || format!("keys on {}", name()), or_nothing(words), or_nothing(&stored));
            }
            Expected::Role { at, words } => {
                let role = compare::role_words(answer)?;
                self.findings.compare(*at, || format!("role of {}", name()), words, &role);
            }
            Expected::Offset | Expected::Anything => {}
        }
        Ok(())
    }

    /// Stored keys, one line each and sorted, by the names that the model has for them.
    fn in_names_of_model(&self, stored: String) -> String {
        if self.drawn_names.is_empty() && self.hidden_names.is_empty() {
            return stored;
        }
        let is_hidden = |line: &&str| self.hidden_names.iter().any(|name| line.starts_with(&format!("{name}: ")));
        let stored = stored.lines().filter(|line| !is_hidden(line)).collect::<Vec<_>>().join("\n");
        let renamed = self.drawn_names.iter().fold(stored, |words, (drawn, model)| words.replace(drawn, model));
        let mut lines: Vec<_> = renamed.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    /// What an answer to a request means, in words. Where the server refuses in other words than the model, and for a reason
    /// that holds as well: in the model's.
    pub fn meaning_of(&self, request: &ScriptRequest, answer: &Value, expected: &str) -> String {
        // An answer that the script cannot give differs from every reply of the model.
        let meaning = request.answer_words(answer).unwrap_or_else(|error| error.to_string());
        let is_alike = ScriptRequest::is_refused_either_way(expected, &meaning);
        if is_alike && self.servers.may_name_missing_replicas_first() { expected.to_owned() } else { meaning }
    }

    /// The last step whose request was answered in this history.
    pub const fn last_answered(&self) -> Option<StepPlace> {
        self.last_answered
    }
}

fn or_nothing(words: &str) -> &str {
    if words.is_empty() { "nothing" } else { words }
}
