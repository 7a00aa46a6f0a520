//! The `WAIT` behind a request on a split network: Redisson sends it in one batch with the script, and its caller hears of both
//! together.

use lockstep_model::client::{Slot, Verb};
use lockstep_model::config::{Profile, Resend};
use lockstep_model::trace::{RequestStage, RequestState, client_name};
use lockstep_model::{Action, Reply};

use super::clients::RedissonClients;
use super::replicas::leave_at_new_count;
use super::requests::{GatedRequest, GatedWait};
use super::wire_words::replicas_asked_for;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::target::{end_wait, is_blocked_in_wait};
use crate::replay::testbed::Testbed;
use crate::replay::translate::{RequestKey, acknowledged, count_of, request_state};

const NO_WAIT: &str = "nothing";

impl RedissonClients {
    /// A script was executed, and its reply is held. If a `WAIT` is behind it, the server receives that too where the model counts
    /// replicas; otherwise once the client hears of the script.
    pub(super) fn begin_batch_wait(
        &mut self,
        key: RequestKey,
        sent: &GatedRequest,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let client = usize::from(key.0);
        let first = self.applications.first_held(client, sent.held.connection);
        let asked = first.as_ref().and_then(replicas_asked_for);
        let before = request_state(step.before, key);
        let after = request_state(&step.step.state, key);
        let is_counted =
            after.is_some_and(|state| state.stage == RequestStage::Confirming || count_of(state).is_some());
        let of_model = before.and_then(|state| state.asks_for).filter(|_| is_counted);
        let words =
            |replicas: Option<u8>| replicas.map_or_else(|| NO_WAIT.to_owned(), |number| format!("WAIT {number}"));
        // Whoever waits alone is answered in its turn, so there the model has every `WAIT` of a call that Redisson has, or its
        // scenario has another value of wait_after than Redisson.
        let is_alone = self.config.clients.count == 1 && self.config.clients.threads == 1;
        let is_of_call = before.is_some_and(|state| state.verb != Verb::Renew) && !key.1.is_late();
        let is_error = matches!(step.step.answer, Reply::NotEnoughReplicas | Reply::ReadOnly | Reply::SaveFailed);
        let checks = self.config.cluster.wait_for > 0;
        if of_model.is_some() || checks && is_alone && is_of_call && !is_error {
            if self.forgotten.contains(&key.0) && of_model != asked {
                leave_at_new_count(testbed);
                return Ok(());
            }
            let what = || format!("behind the request of {}", client_name(key.0));
            testbed.findings.compare(step.place(), what, &words(of_model), &words(asked));
        }
        let wait = match (asked, of_model) {
            (None, _) => GatedWait::None,
            (Some(replicas), None) => GatedWait::Extra { replicas, is_behind_error: is_error },
            (Some(replicas), Some(_)) => {
                testbed.findings.note(|| format!("{}: WAIT {replicas}", client_name(key.0)));
                self.applications.begin_request(client, sent.held.connection)?;
                GatedWait::Sent
            }
        };
        if let Some(request) = self.in_flight.get_mut(key) {
            request.wait = wait;
        }
        Ok(())
    }

    /// Servers have answered the `WAIT`s that the model's nodes answer in this step.
    pub(super) fn observe_batch_waits(
        &mut self,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        for key in self.in_flight.waiting() {
            let Some((state, reply)) =
                request_state(&step.step.state, key).and_then(|state| Some((state, count_of(state)?)))
            else {
                continue;
            };
            let is_time_over = matches!(step.step.action, Action::Confirm { .. });
            let told = self.batch_wait_answer(key, state, is_time_over, testbed)?;
            testbed.findings.note(|| format!("{}: WAIT → {told}", state.node));
            let words = self.translator.reply_words(reply);
            testbed.findings.compare(step.place(), || "reply to WAIT".to_owned(), &words, &told);
        }
        Ok(())
    }

    fn batch_wait_answer(
        &mut self,
        key: RequestKey,
        state: &RequestState,
        is_time_over: bool,
        testbed: &mut Testbed,
    ) -> Result<String, ReplayError> {
        let request = self.in_flight.get_mut(key).ok_or(ReplayError::NothingInFlight)?;
        request.wait = GatedWait::Answered;
        let (client, connection) = (usize::from(key.0), request.held.connection);
        let node = testbed.servers.index_of(&state.node);
        let id = self.applications.id_of(client, connection)?;
        testbed.servers.wait_acknowledged(node)?;
        if is_time_over {
            end_wait(&mut testbed.servers, node, id)?;
        } else if is_blocked_in_wait(&mut testbed.servers, node, id)? {
            return Ok("it still waits".to_owned());
        }
        let reply = self.applications.hold_reply(client, connection)?;
        redis::from_redis_value(reply).map(acknowledged).map_err(|error| ReplayError::link(error.to_string()))
    }

    /// A client hears of a script: the `WAIT` behind it that the model does not have is answered first. Where no replica has what
    /// this one wrote, Redisson would go on in another way.
    pub(super) fn end_extra_wait(&mut self, key: RequestKey, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let Some(request) = self.in_flight.get_mut(key) else { return Ok(()) };
        let GatedWait::Extra { replicas: asked, is_behind_error } = request.wait else { return Ok(()) };
        request.wait = GatedWait::Answered;
        let connection = request.held.connection;
        let replicas = self.answer_extra_wait(key.0, connection, testbed)?;
        // Later versions go by the error of the script, and send it again.
        let throws = !is_behind_error || self.config.of_client(key.0).protocol.profile == Profile::Redisson343;
        if replicas.is_none() && throws && !testbed.findings.is_over() {
            testbed
                .findings
                .leave("a server that has become a replica answers a WAIT with an error, and the call throws");
        }
        if replicas.is_some_and(|number| number != i64::from(asked)) {
            self.forgotten.insert(key.0);
        }
        if replicas == Some(0) && self.config.cluster.wait_for > 0 {
            testbed.findings.leave("Redisson waits after every request, and here no replica has what this one wrote");
        }
        Ok(())
    }

    /// The server answers a `WAIT` that the model does not have, and the answer is held. Returns it; `None`: it is an error, or the
    /// history cannot be followed.
    pub(super) fn answer_extra_wait(
        &mut self,
        client: u8,
        connection: usize,
        testbed: &mut Testbed,
    ) -> Result<Option<i64>, ReplayError> {
        let asked = usize::from(client);
        let server = self.applications.server_of(asked, connection);
        if testbed.servers.is_paused(server) {
            testbed.findings.leave("the server that Redisson waits on behind its script stands still");
            return Ok(None);
        }
        self.applications.begin_request(asked, connection)?;
        testbed.servers.wait_acknowledged(server)?;
        let id = self.applications.id_of(asked, connection)?;
        end_wait(&mut testbed.servers, server, id)?;
        let reply = self.applications.hold_reply(asked, connection)?;
        // A server that has become a replica answers with an error, which its script has had already.
        let replicas: Option<i64> = redis::from_redis_value(reply).ok();
        let told = replicas.map_or_else(|| "an error".to_owned(), |number| number.to_string());
        testbed.findings.note(|| format!("{}: WAIT, which the model does not have → {told}", client_name(client)));
        Ok(replicas)
    }

    /// The server answers a `WAIT` whose caller waits for it no longer: nothing else over its connection is executed before that.
    pub(super) fn answer_given_up_wait(
        &mut self,
        client: u8,
        connection: usize,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let server = self.applications.server_of(asked, connection);
        if testbed.servers.is_paused(server) {
            testbed.findings.leave("the server that Redisson waits on behind its script stands still");
            return Ok(());
        }
        let id = self.applications.id_of(asked, connection)?;
        end_wait(&mut testbed.servers, server, id)?;
        self.applications.hold_reply(asked, connection).map(|_| ())
    }

    /// Whether an answer makes the client send its request again, by the model.
    pub(super) fn is_made_again((client, slot): RequestKey, step: HistoryStep<'_>) -> bool {
        request_state(&step.step.state, (client, slot)).is_some_and(|state| state.stage == RequestStage::Lost)
    }

    /// Whether a client makes a call again whose grant it had to give back, where the model's caller is told.
    pub(super) fn repeats_acquires(&self, client: u8, slot: Slot) -> bool {
        let calls = self.config.of_client(client).calls;
        slot.thread().is_some() && calls.resend == Resend::All && calls.retry_attempts > 0
    }
}
