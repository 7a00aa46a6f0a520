//! Our own scripts, sent as Redisson's clients would send them: the target `scripts`.

use std::collections::BTreeMap;

use lockstep_model::Happening;
use lockstep_model::config::{Channels, WaitRule};
use lockstep_model::trace::{NodeRole, NodeState, Trace};
use lockstep_model::{Action, Config, Reply};
use redis::Cmd;

use super::contract::Target;
use super::in_flight::RequestsInFlight;
use super::messages::ClientMessages;
use super::subscriber::ChannelKind;
use super::wait_connection::{WAIT_WITHIN_MS, WaitConnection};
use crate::replay::compare;
use crate::replay::error::ReplayError;
use crate::replay::history_step::{HistoryStep, client_of};
use crate::replay::node_names::name_of_node;
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{ClientPart, ScriptRequest, Translator, acknowledged};

/// What is compared behind a renewal.
pub const BEHIND_RENEWAL: &str = "reply to the WAIT behind the renewal";

/// A thread of a client: client and thread, from 0.
type Caller = (u8, u8);

/// Clients that send our scripts.
pub struct ScriptClients {
    config: Config,
    translator: Translator,
    messages: ClientMessages,
    in_flight: RequestsInFlight,
    /// The connections of callers that were granted the lock and may wait for replicas.
    waiting: BTreeMap<Caller, WaitConnection>,
    /// The connection over which a renewal was sent in this step, and its client, which waits for replicas.
    renewing: Option<(u8, WaitConnection)>,
    /// The node that executed a request last.
    executed_by: usize,
    /// Whether each release that has left a receipt is sent once more.
    sends_again: bool,
}

impl ScriptClients {
    /// The clients of a scenario.
    pub fn new(config: &Config, translator: Translator) -> Self {
        Self {
            config: *config,
            messages: ClientMessages::new(
                (0..config.clients.count).map(|client| translator.unlock_channels(client)).collect(),
                match config.cluster.channels {
                    Channels::Global => ChannelKind::Global,
                    Channels::Sharded => ChannelKind::Sharded,
                },
            ),
            translator,
            in_flight: RequestsInFlight::default(),
            waiting: BTreeMap::new(),
            renewing: None,
            executed_by: 0,
            sends_again: false,
        }
    }

    /// The same, where each release that has left a receipt is sent once more ([`TargetProgram::ScriptsSentAgain`]).
    ///
    /// [`TargetProgram::ScriptsSentAgain`]: crate::replay::TargetProgram::ScriptsSentAgain
    #[must_use]
    pub fn sending_again(self) -> Self {
        Self { sends_again: true, ..self }
    }
}

impl Target for ScriptClients {
    fn setup(&self) -> Vec<Cmd> {
        self.translator.scripts().iter().map(lockstep_redis::Script::load).collect()
    }

    fn end(&mut self) -> Result<(), ReplayError> {
        self.messages.clear();
        self.in_flight = RequestsInFlight::default();
        self.waiting.clear();
        self.renewing = None;
        Ok(())
    }

    fn begin(&mut self, _trace: &Trace, _testbed: &mut Testbed) -> Result<(), ReplayError> {
        Ok(())
    }

    fn act(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<Option<usize>, ReplayError> {
        self.messages.follow(step, testbed)?;
        if let Action::Replicate { node } = step.step.action
            && step.has(Happening::Published)
        {
            // The replica has applied the effect, and published the message that is a part of it.
            self.messages.expect_published(step, usize::from(node), None);
            self.messages.read(testbed)?;
        }
        match ClientPart::of_step(&self.config, step.step) {
            ClientPart::Asks(verb) => {
                let request = if self.config.asks_masters() {
                    let round = testbed.rounds.asked_in(&self.config, step.step.action);
                    self.translator.request_of_round(step, verb, round)
                } else {
                    self.translator.request(step, verb)
                };
                request.map(|request| self.ask(step, request, testbed)).transpose()
            }
            ClientPart::Confirms { client, thread } => {
                // Where request and answer are steps of their own, `WAIT` was sent with its request.
                if !self.config.is_split() {
                    self.confirm((client, thread), step, testbed)?;
                }
                Ok(None)
            }
            ClientPart::TakesMessage { client } => {
                self.messages.settle(testbed)?;
                self.messages.deliver(step, client, testbed);
                Ok(None)
            }
            ClientPart::Executes(key) => {
                self.messages.settle(testbed)?;
                let node = self.in_flight.execute(key, step, &self.translator, testbed)?;
                self.executed_by = node;
                if step.has(Happening::Published) {
                    let message = self.translator.message_of(step.step.action);
                    self.messages.expect_published(step, node, message);
                    self.messages.read(testbed)?;
                }
                Ok(Some(node))
            }
            ClientPart::Answers(key) => {
                self.messages.settle(testbed)?;
                self.in_flight.answer(key, step, &self.translator, testbed)
            }
            ClientPart::Resends(_) | ClientPart::GivesUp(_) | ClientPart::Nothing => Ok(None),
        }
    }

    fn observe(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        self.hear_replicas(step, testbed)?;
        if self.config.is_split() {
            if self.in_flight.has_open_wait() {
                self.messages.settle(testbed)?;
            }
            self.in_flight.observe(step, &self.translator, testbed)?;
        }
        self.end_renewal(step, testbed)?;
        self.count_replicas(step, testbed)
    }

    fn settle(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        self.messages.settle(testbed)
    }
}

impl ScriptClients {
    /// Sends a request to the master that the client knows. Returns that node.
    fn ask(
        &mut self,
        step: HistoryStep<'_>,
        request: ScriptRequest,
        testbed: &mut Testbed,
    ) -> Result<usize, ReplayError> {
        let client = client_of(step.step.action).and_then(|client| step.before.clients.get(client));
        // Of several masters the one that the action names, or the one for whose lock the client waits.
        let waits_at = client.and_then(|client| client.call.as_ref()?.waits_at.as_deref());
        let known = || testbed.servers.index_of(waits_at.or(client.map(|client| client.master.as_str())).unwrap_or(""));
        let node = step.step.action.asked_master().map_or_else(known, usize::from);
        self.executed_by = node;
        let words = self.translator.answer_words(step);
        if let Some(caller) = caller_that_waits(&self.config, step.step.action) {
            let connection = self.ask_to_wait(node, (step, words, request), testbed)?;
            self.waiting.insert(caller, connection);
        } else if let Some(client) = step.renewal_that_waits(&self.config) {
            self.renewing = Some((client, self.ask_to_wait(node, (step, words, request), testbed)?));
        } else {
            let (call, follow_up) = (request.call.evalsha(), request.follow_up.clone());
            let has_receipt = matches!(step.step.answer, Reply::Released | Reply::StillHeld) && follow_up.is_some();
            if self.sends_again && has_receipt {
                let (words, request) = (words.clone(), request.clone());
                testbed.queue(node, call.clone(), Expected::Reply { at: step.place(), words, request });
            }
            testbed.queue(node, call, Expected::Reply { at: step.place(), words, request });
            if let Some(command) = follow_up {
                testbed.queue(node, command, Expected::Anything);
            }
        }
        if step.has(Happening::Published) {
            let message = self.translator.message_of(step.step.action);
            self.messages.expect_published(step, node, message);
        }
        Ok(node)
    }

    /// Sends a request on a connection of its own, on which its client may wait for replicas.
    fn ask_to_wait(
        &mut self,
        node: usize,
        (step, words, request): (HistoryStep<'_>, String, ScriptRequest),
        testbed: &mut Testbed,
    ) -> Result<WaitConnection, ReplayError> {
        self.messages.settle(testbed)?;
        let mut connection = WaitConnection::open(&testbed.servers, node)?;
        let answer = connection.ask(&request.call.evalsha())?;
        testbed.compare_answer(node, &Expected::Reply { at: step.place(), words, request }, &answer)?;
        Ok(connection)
    }

    /// Where replicas have everything at once, a release is published on each of its master's in the same step.
    fn hear_replicas(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let is_sent = self.config.cluster.lag.is_zero() && self.config.subscribes_to_replica();
        let is_published = step.has(Happening::Published) && step.has(Happening::Wrote);
        if !is_sent || !is_published {
            return Ok(());
        }
        self.messages.settle(testbed)?;
        let state = &step.step.state;
        let acting = state.acting_master().map(|master| &master.name);
        let executed_by = name_of_node(self.executed_by);
        // One that stood still publishes it later.
        let has_all = |node: &NodeState| node.under_way.is_empty() && !node.is_paused;
        let follows = |node: &NodeState| {
            has_all(node) && node.role == NodeRole::Replica && node.follows.as_ref().or(acting) == Some(&executed_by)
        };
        for (number, node) in state.nodes.iter().enumerate().filter(|(_, node)| follows(node)) {
            self.messages.expect_published_on(step, &node.name, None);
            testbed.findings.note(|| format!("{} publishes it", name_of_node(number)));
        }
        self.messages.read(testbed)
    }

    /// A thread's `WAIT` is answered.
    fn confirm(&mut self, caller: Caller, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        self.messages.settle(testbed)?;
        let connection = self.waiting.remove(&caller).ok_or(ReplayError::NothingInFlight)?;
        let words = self.translator.reply_words(step.step.answer);
        self.end_wait((caller.0, connection), ("reply", &words), step, testbed)
    }

    /// The `WAIT` behind a renewal is answered in the same step, once the replicas that are not late have what it wrote.
    fn end_renewal(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let Some((client, connection)) = self.renewing.take() else { return Ok(()) };
        self.messages.settle(testbed)?;
        let have = step.replicas_with_all_of(&step.before.clients[usize::from(client)].master);
        let words = acknowledged(i64::try_from(have).unwrap_or(i64::MAX));
        self.end_wait((client, connection), (BEHIND_RENEWAL, &words), step, testbed)
    }

    /// `WAIT` for as many replicas as the scenario's rule says.
    fn end_wait(
        &self,
        (client, connection): (u8, WaitConnection),
        (what, words): (&str, &str),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let known = step.before.clients.get(usize::from(client)).and_then(|client| client.replicas_known);
        let asked = match self.config.of_client(client).protocol.wait_rule {
            WaitRule::All | WaitRule::Ignored => self.config.cluster.wait_for,
            WaitRule::Any => known.unwrap_or(1),
        };
        let node = connection.node;
        let replicas = connection.wait_for(asked, &mut testbed.servers)?;
        testbed.findings.note(|| format!("{}: WAIT {asked} {WAIT_WITHIN_MS} → {replicas}", name_of_node(node)));
        testbed.findings.compare(step.place(), || what.to_owned(), words, &acknowledged(replicas));
        Ok(())
    }

    /// Where a client has counted its master's replicas, `INFO` must give the same number.
    fn count_replicas(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (before, after) in step.before.clients.iter().zip(&step.step.state.clients) {
            let counted = after.replicas_known.filter(|_| after.replicas_known != before.replicas_known);
            let Some(known) = counted else { continue };
            let node = testbed.servers.index_of(&after.master);
            if testbed.servers.is_paused(node) {
                continue;
            }
            self.messages.settle(testbed)?;
            let info = testbed.servers.ask(node, redis::cmd("INFO").arg("replication"), "INFO replication")?;
            let connected = compare::connected_replicas(&info)?;
            let what = || format!("replicas of {}", after.master);
            testbed.findings.compare(step.place(), what, &known.to_string(), &connected.to_string());
        }
        Ok(())
    }
}

/// The thread that acquires in this step, if it may have to wait for replicas afterwards.
fn caller_that_waits(config: &Config, action: Action) -> Option<Caller> {
    if let Action::Acquire { client, thread }
    | Action::SecondAsk { client, thread }
    | Action::WakeByMessage { client, thread }
    | Action::WakeByTimer { client, thread } = action
    {
        (config.cluster.wait_for > 0).then_some((client, thread))
    } else {
        None
    }
}
