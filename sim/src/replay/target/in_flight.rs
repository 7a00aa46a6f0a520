//! The requests of clients on a split network: sending, execution and answer are steps of their own, and each request has
//! connections of its own ([`HeldRequest`]).

use lockstep_model::Reply;
use lockstep_model::client::Slot;
use lockstep_model::trace::{RequestStage, State, client_name};
use redis::Value;

use super::held_request::HeldRequest;
use super::wait_connection::{end_wait, is_blocked_in_wait, wait_command};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{ClientPart, RequestKey, Translator, acknowledged, count_of, request_state};

/// The requests in flight of all clients.
#[derive(Default)]
pub struct RequestsInFlight {
    requests: Vec<(RequestKey, HeldRequest)>,
}

impl RequestsInFlight {
    /// Whether a node has a `WAIT` that it has not answered.
    pub fn has_open_wait(&self) -> bool {
        self.requests.iter().any(|(_, request)| request.waits())
    }

    /// The node receives what the client wrote, and its answer is held. Returns that node.
    ///
    /// # Errors
    /// `NothingInFlight`; as [`HeldRequest::execute`].
    pub fn execute(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        translator: &Translator,
        testbed: &mut Testbed,
    ) -> Result<usize, ReplayError> {
        let state = request_state(step.before, key).ok_or(ReplayError::NothingInFlight)?;
        let node = testbed.servers.index_of(&state.node);
        let found = self.requests.iter_mut().find(|(at, _)| *at == key);
        let (_, request) = found.ok_or(ReplayError::NothingInFlight)?;
        let server = testbed.servers.node(node);
        let after = &step.step.state;
        let value = if waits_after(after, key) || is_counted(after, key) {
            request.execute_and_wait(server)?
        } else {
            request.execute(server)?
        };
        let words = translator.reply_words(step.step.answer);
        let expected = Expected::Reply { at: step.place(), words, request: request.request.clone() };
        testbed.compare_answer(node, &expected, &value)?;
        Ok(node)
    }

    /// The client receives the answer that was held. If it then sends the command that follows an answer, returns the node
    /// that executed this.
    ///
    /// # Errors
    /// `NothingInFlight`; as [`HeldRequest::answers`]; `Redis`.
    pub fn answer(
        &mut self,
        (client, slot): RequestKey,
        step: HistoryStep<'_>,
        translator: &Translator,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let mut request = self.take((client, slot)).ok_or(ReplayError::NothingInFlight)?;
        let values = request.answers()?;
        let words = translator.reply_words(step.step.answer);
        let meaning = match (values.as_slice(), step.step.answer) {
            ([_, Value::Int(replicas)], Reply::Acknowledged { .. } | Reply::TooFewReplicas { .. }) => {
                acknowledged(*replicas)
            }
            ([value, ..], _) => testbed.meaning_of(&request.request, value, &words),
            ([], _) => return Err(ReplayError::NothingInFlight),
        };
        testbed.findings.note(|| format!("{} reads: {meaning}", client_name(client)));
        testbed.findings.compare(step.place(), || "answer".to_owned(), &words, &meaning);

        let has_failed = matches!(step.step.answer, Reply::TooFewReplicas { .. })
            || request_state(step.before, (client, slot)).is_some_and(|state| state.has_failed);
        let Some(command) = request.request.follow_up.filter(|_| !has_failed) else { return Ok(None) };
        let node = testbed.servers.index_of(&step.before.clients[usize::from(client)].master);
        if !testbed.servers.is_master(node) || !testbed.servers.executes_writes(node) {
            return Ok(None);
        }
        testbed.servers.ask(node, &command, "DEL of a receipt")?;
        Ok(Some(node))
    }

    /// Reads the answers to `WAIT` that nodes give in this step, sends what the step sends, and drops what is lost, answered
    /// or given up.
    ///
    /// # Errors
    /// As [`HeldRequest::end_wait`] and [`HeldRequest::send`]; `TimedOut`.
    pub fn observe(
        &mut self,
        step: HistoryStep<'_>,
        translator: &Translator,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        self.observe_waits(step, translator, testbed)?;
        for client in (0u8..).take(step.step.state.clients.len()) {
            self.keep_given_up(client, step);
            for slot in Slot::ALL {
                self.follow((client, slot), step, translator, testbed)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, key: RequestKey) -> Option<HeldRequest> {
        let index = self.requests.iter().position(|(at, _)| *at == key)?;
        Some(self.requests.swap_remove(index).1)
    }

    /// Reads what nodes answer to a `WAIT` in the step in which the model's nodes answer it.
    fn observe_waits(
        &mut self,
        step: HistoryStep<'_>,
        translator: &Translator,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let is_time_over = matches!(ClientPart::of(step.step.action), ClientPart::Confirms { .. });
        let after = &step.step.state;
        for (key, request) in self.requests.iter_mut().filter(|(_, request)| request.waits()) {
            let answered = request_state(after, *key).and_then(|state| Some((state, count_of(state)?)));
            if let Some((state, reply)) = answered {
                let redis = wait_answer(request, &state.node, is_time_over, testbed)?;
                testbed.findings.note(|| format!("{}: WAIT → {redis}", state.node));
                let words = translator.reply_words(reply);
                testbed.findings.compare(step.place(), || "reply to WAIT".to_owned(), &words, &redis);
            } else if !waits_after(after, *key) {
                request.drop_wait();
            }
        }
        Ok(())
    }

    /// A request that its caller gives up moves to another slot, from which it may still be executed.
    fn keep_given_up(&mut self, client: u8, step: HistoryStep<'_>) {
        let is_new = |slot: &Slot| {
            let key = (client, *slot);
            is_moved(step, key) && request_state(step.before, key).is_none()
        };
        let Some(late) = Slot::LATE.into_iter().find(is_new) else { return };
        let given_up = ClientPart::of(step.step.action).given_up().filter(|(of, _)| *of == client);
        if let Some(mut request) = given_up.and_then(|key| self.take(key)) {
            request.drop_wait();
            self.requests.push(((client, late), request));
        }
    }

    fn follow(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        translator: &Translator,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let after = &step.step.state;
        match request_state(after, key) {
            Some(state) if state.stage == RequestStage::Sent && is_sent_now(step, key) => {
                self.take(key);
                let client = key.0;
                let may_pause =
                    step.before.faults_left.pause_node > 0 || step.before.nodes.iter().any(|node| node.is_paused);
                let call = translator.call_of(state, client, after);
                let request =
                    HeldRequest::send(call, state.asks_for.map(|replicas| wait_command(replicas, may_pause)).as_ref())?;
                let then = state.asks_for.map_or_else(String::new, |replicas| format!(", WAIT {replicas}"));
                let call = request.request.call_words();
                testbed.findings.note(|| format!("{} writes {call}{then}", client_name(client)));
                self.requests.push((key, request));
            }
            Some(state) if state.stage != RequestStage::Lost => {}
            Some(_) | None => drop(self.take(key)),
        }
        Ok(())
    }
}

/// What the node answers to the request's `WAIT`; in the step of its timeout, after it was made to.
fn wait_answer(
    request: &mut HeldRequest,
    node: &str,
    is_time_over: bool,
    testbed: &mut Testbed,
) -> Result<String, ReplayError> {
    let servers = &mut testbed.servers;
    let node = servers.index_of(node);
    servers.wait_acknowledged(node)?;
    if is_time_over {
        end_wait(servers, node, request.connection_id)?;
    } else if is_blocked_in_wait(servers, node, request.connection_id)? {
        request.drop_wait();
        return Ok("it still waits".to_owned());
    }
    let value = request.end_wait()?;
    redis::from_redis_value(value).map(acknowledged).map_err(|error| ReplayError::link(error.to_string()))
}

/// Whether the lock is granted and the node has not answered the `WAIT` yet.
fn waits_after(state: &State, key: RequestKey) -> bool {
    request_state(state, key).is_some_and(|request| request.stage == RequestStage::Confirming)
}

/// Whether the node has answered the `WAIT`.
fn is_counted(state: &State, key: RequestKey) -> bool {
    request_state(state, key).and_then(count_of).is_some()
}

/// Whether this step sends the request: there was none before, or the step sends another one.
fn is_sent_now(step: HistoryStep<'_>, key: RequestKey) -> bool {
    let is_again = ClientPart::of(step.step.action).renewed() == Some(key);
    is_again || !is_moved(step, key) && request_state(step.before, key).is_none()
}

/// Whether a request in the slot of a late one is what its caller gives up in this step. Where that is a renewal, a release may be sent beside it
/// for whose answer nobody waits either.
fn is_moved(step: HistoryStep<'_>, key: RequestKey) -> bool {
    let given_up = ClientPart::of(step.step.action).given_up().filter(|(client, _)| *client == key.0);
    let verb = given_up.and_then(|given_up| request_state(step.before, given_up)).map(|request| request.verb);
    key.1.is_late() && verb.is_some() && verb == request_state(&step.step.state, key).map(|request| request.verb)
}
