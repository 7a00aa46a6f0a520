//! A split network: a request is sent, executed and answered in steps of their own.

use lockstep_model::client::{Phase, Slot, Verb};
use lockstep_model::config::{InterruptedWait, Profile, Resend};
use lockstep_model::trace::{RequestStage, RequestState, client_name};
use lockstep_model::{Action, Reply};

use super::calls::{self, REDISSON_EXCEPTION, TIMED_OUT};
use super::clients::RedissonClients;
use super::interruption::Interruption;
use super::requests::{GatedRequest, GatedStage, GatedWait};
use super::wire_words::{in_our_shape, receipt_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::{HistoryStep, client_of};
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{RequestKey, ScriptVerb, lacks_replicas, request_state};

const ANSWERED_AT_ITS_TIME_OUT: &str =
    "at the very instant of its time-out a request is answered here, and in Redisson not";

impl RedissonClients {
    /// Whether what a client does comes in the order in which a JVM does it: a hold is in the renewal table before its application
    /// goes on.
    pub(super) fn is_in_order(step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let owes = |client: usize| !step.before.clients[client].unregistered.is_empty();
        let is_registration = matches!(step.step.action, Action::Register { .. });
        let is_other = client_of(step.step.action).is_some_and(owes) && !is_registration;
        if is_other {
            testbed.findings.leave("which of two callbacks runs first is the choice of the JVM");
        }
        !is_other
    }

    /// A request goes one step further. Returns the node that has executed it in this step.
    pub(super) fn move_request(
        &mut self,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        match step.step.action {
            Action::Execute { client, slot } => return self.execute((client, slot), step, testbed),
            Action::Register { client, thread } | Action::Unregister { client, thread } => {
                let key = (client, Slot::of_thread(thread));
                let is_due = request_state(step.before, key).is_some_and(|state| state.answer_left == Some(0));
                if is_due && self.has_timed_out(key) {
                    testbed.findings.leave(ANSWERED_AT_ITS_TIME_OUT);
                    return Ok(None);
                }
                let may_have_fired = self.applications.has_moved_ahead(usize::from(client));
                if self.leave_timer_without_holds((client, thread), step, may_have_fired, testbed) {
                    return Ok(None);
                }
                self.hear(key, testbed)?;
                self.leave_early_renewal(client, step, testbed);
            }
            Action::Answer { client, slot } => {
                // The grant of an interrupted caller enters the table now.
                let may_have_fired = self.applications.has_moved_ahead(usize::from(client));
                if slot.is_late()
                    && self.leave_timer_without_holds(
                        (client, slot.thread().unwrap_or(0)),
                        step,
                        may_have_fired,
                        testbed,
                    )
                {
                    return Ok(None);
                }
                return self.answer((client, slot), step, testbed);
            }
            Action::Abandon { client, slot } => self.abandon((client, slot), step, testbed)?,
            Action::Resend { client, slot } => self.resend((client, slot), step, testbed)?,
            Action::LoseRequest { client, slot } | Action::LoseReply { client, slot } => {
                self.lose((client, slot), testbed)?;
            }
            _ => {}
        }
        Ok(None)
    }

    /// A node executes a request, and its reply is held. Returns that node.
    fn execute(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let client = usize::from(key.0);
        let state = request_state(step.before, key).ok_or(ReplayError::NothingInFlight)?;
        let node = testbed.servers.index_of(&state.node);
        let sent = self.in_flight.get_mut(key).ok_or(ReplayError::NothingInFlight)?.clone();
        if !self.is_first(client, &sent.held) {
            testbed.findings.leave("Redisson sends a request over the connection of one that was given up");
            return Ok(None);
        }
        let reply = self.applications.execute_request(client, sent.held.connection)?;
        let words = self.translator.reply_words(step.step.answer);
        let verb = verb_of(state.verb, key);
        let expected = Expected::Reply { at: step.place(), words, request: sent.request.clone() };
        let reply = in_our_shape(verb, reply, self.config.shares());
        testbed.compare_answer(node, &expected, &reply)?;
        if let Some(executed) = self.in_flight.get_mut(key) {
            executed.stage = GatedStage::Executed;
            executed.lacks_replicas = lacks_replicas(&reply);
        }
        self.begin_batch_wait(key, &sent, step, testbed)?;
        if request_state(&step.step.state, key).is_none() {
            // Nobody waits for the reply. Redisson counts replies, so it has to come all the same.
            self.drop_request(key, testbed)?;
            self.pass_asides(key.0, testbed)?;
        }
        Ok(Some(node))
    }

    /// The client hears a reply, if it has not heard it yet.
    fn hear(&mut self, key: RequestKey, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let Some(request) = self.in_flight.get_mut(key) else { return Ok(()) };
        if request.stage != GatedStage::Executed {
            return Ok(());
        }
        request.stage = GatedStage::Heard;
        let connection = request.held.connection;
        self.end_extra_wait(key, testbed)?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        self.applications.pass_reply(usize::from(key.0), connection)?;
        let waits = self.in_flight.get_mut(key).is_some_and(|request| request.wait == GatedWait::Answered);
        if waits { self.applications.pass_reply(usize::from(key.0), connection) } else { Ok(()) }
    }

    /// The caller sees the reply, and what comes with that. Returns the node on which a receipt was deleted then.
    fn answer(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let (client, slot) = key;
        let state = request_state(step.before, key).ok_or(ReplayError::NothingInFlight)?;
        let is_due = state.answer_left == Some(0);
        if is_due && self.has_timed_out(key) {
            testbed.findings.leave(ANSWERED_AT_ITS_TIME_OUT);
            return Ok(None);
        }
        self.hear(key, testbed)?;
        if testbed.findings.is_over() {
            return Ok(None);
        }
        let answered = self.in_flight.take(key).ok_or(ReplayError::NothingInFlight)?;
        let receipts = &mut self.receipts[usize::from(client)];
        receipts.extend(receipt_of(&answered.held).filter(|receipt| !receipts.contains(receipt)));
        let kept = receipts.len();
        self.clear_up(client, testbed)?;
        self.expect_kept_receipts(client, step, testbed);
        let has_deleted = self.receipts[usize::from(client)].len() < kept;
        if is_due && slot.is_late() && !has_deleted {
            testbed.findings.leave(ANSWERED_AT_ITS_TIME_OUT);
            return Ok(None);
        }
        let node = has_deleted.then(|| testbed.servers.index_of(&step.before.clients[usize::from(client)].master));
        if state.verb == Verb::Undo && self.config.cluster.replicas > 0 && self.repeats_acquires(client, slot) {
            testbed
                .findings
                .leave("Redisson makes a call again that no replica has acknowledged, and here its caller is told");
            return Ok(node);
        }
        if self.keeps_what_is_unconfirmed(client, step, testbed) {
            return Ok(node);
        }
        // What follows is sent before the caller is told anything.
        self.follow_up(key, step, testbed)?;
        if let Some(thread) = slot.thread() {
            let told = match self.told_by_model((client, thread), verb_of(state.verb, key), step) {
                _ if Self::is_made_again(key, step) => calls::INSIDE.into(),
                _ if state.has_failed => calls::READ_ONLY.into(),
                _ if state.verb == Verb::Release && matches!(step.step.answer, Reply::TooFewReplicas { .. }) => {
                    REDISSON_EXCEPTION.into()
                }
                told => {
                    let given = (step.step.answer, answered.lacks_replicas && state.verb != Verb::Undo);
                    self.told_by_name(client, told, given)
                }
            };
            self.compare_call((client, thread), &told, (is_due, step), testbed);
            if state.verb == Verb::Release && step.step.answer == Reply::NotHeld {
                self.unwind((client, thread), step, testbed)?;
            }
        }
        Ok(node)
    }

    /// A process that gives a grant back sends a release where its acquire was.
    fn follow_up(&mut self, key: RequestKey, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let sent = |state: &&RequestState| state.stage == RequestStage::Sent;
        let Some(state) = request_state(&step.step.state, key).filter(sent) else { return Ok(()) };
        let request = self.translator.call_of(state, key.0, &step.step.state);
        let asking = (key.0, key.1.thread());
        if let Some(held) = self.find(asking, verb_of(state.verb, key), &request, step, testbed)? {
            self.note_sent(key, held, request, testbed);
        }
        Ok(())
    }

    /// A thread is interrupted where it waits, or while its request is under way.
    pub(super) fn interrupt(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let phase = step.before.clients[usize::from(client)].threads[usize::from(thread)].phase;
        let is_calling = matches!(phase, Phase::Asking | Phase::AskingAgain | Phase::Releasing);
        if !is_calling && !self.unsent(usize::from(client)).is_empty() {
            testbed.findings.leave("Redisson has sent its next request before the interrupt, and here it has not");
            return Ok(());
        }
        let is_acquiring = matches!(phase, Phase::Asking | Phase::AskingAgain);
        if self.interruption != Interruption::Thread && !is_acquiring {
            testbed.findings.leave("only a caller whose acquire is under way gives up in this way");
            return Ok(());
        }
        if is_acquiring {
            self.interrupted_acquires.insert(client);
        }
        let asker = format!("{}:{}", client_name(client), thread + 1);
        match self.interruption {
            Interruption::Thread => {
                testbed.findings.note(|| format!("{asker} is interrupted"));
                self.applications.interrupt(usize::from(client), usize::from(thread))?;
            }
            Interruption::Flag => testbed.findings.note(|| format!("{asker} was interrupted before its call")),
            Interruption::Cancel => {
                testbed.findings.note(|| format!("{asker} cancels its future"));
                self.applications.cancel(usize::from(client), usize::from(thread))?;
            }
        }
        self.clear_up(client, testbed)?;
        let told = match self.interruption {
            Interruption::Cancel => calls::CANCELLED,
            _ if is_calling => REDISSON_EXCEPTION,
            _ if self.is_in_parts(client, step) => calls::INSIDE,
            _ if self.goes_on_interrupted(client) => calls::REFUSED,
            _ if step.step.state.clients[usize::from(client)].threads[usize::from(thread)].phase == Phase::Waiting => {
                calls::INSIDE
            }
            _ if self.config.clients.interrupted_wait == InterruptedWait::Swallow => calls::INTERRUPTED_AGAIN,
            _ => calls::INTERRUPTED,
        };
        let is_due = |state: &RequestState| state.answer_left == Some(0);
        let is_due = request_state(step.before, (client, Slot::of_thread(thread))).is_some_and(is_due);
        let redisson = self.told((client, thread), testbed);
        if is_due && matches!(&*redisson, TIMED_OUT | calls::REFUSED) {
            testbed.findings.leave(
                "at the very instant of its time-out a caller is interrupted here, and in Redisson its call has timed out",
            );
            return Ok(());
        }
        // A call that takes an interrupt for a refusal then looks at its time, which may be over here and not quite there.
        let caller = usize::from(self.caller(client, thread));
        let is_over = step.before.clients[usize::from(client)].threads[caller].wait_left == Some(0);
        let may_go_on = is_over && told == calls::REFUSED && &*redisson == calls::INSIDE;
        if may_go_on && self.goes_on_at_its_limit(client, step, testbed) {
            return Ok(());
        }
        testbed.findings.compare(step.place(), || format!("what {asker} is told"), told, &redisson);
        self.drop_given_up(step, testbed)
    }

    /// A request that was given up in this step, and of which nothing can come by the model.
    pub(super) fn drop_given_up(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let Some(given_up) = self.in_flight.give_up(step).filter(|given_up| given_up.stage == GatedStage::Executed)
        else {
            return Ok(());
        };
        let (client, connection) = (usize::from(given_up.key.0), given_up.held.connection);
        // A master that becomes a replica closes the connections on which clients wait for replicas: the reply is gone with it.
        if !self.applications.is_connected(client, connection) {
            return Ok(());
        }
        if self.takes_first_reply(given_up.key.0) && matches!(step.step.action, Action::Resend { .. }) {
            return self.break_with_late_reply(&given_up, testbed);
        }
        match given_up.wait {
            GatedWait::Extra { .. } => {
                self.answer_extra_wait(given_up.key.0, connection, testbed)?;
            }
            GatedWait::Sent => self.answer_given_up_wait(given_up.key.0, connection, testbed)?,
            GatedWait::None | GatedWait::Answered => {}
        }
        if testbed.findings.is_over() {
            return Ok(());
        }
        self.applications.pass_reply(client, connection)?;
        if given_up.wait == GatedWait::None { Ok(()) } else { self.applications.pass_reply(client, connection) }
    }

    /// Whether a client takes the first reply that comes to any attempt of a call for the answer to it
    /// (docs/facts/redisson.md#the-first-reply-to-any-attempt).
    fn takes_first_reply(&self, client: u8) -> bool {
        let own = self.config.of_client(client);
        own.protocol.profile == Profile::Redisson315 && own.calls.resend == Resend::All
    }

    /// A reply that comes too late for its attempt finds nobody in the model. Where it would find the call, it is lost.
    fn break_with_late_reply(&mut self, late: &GatedRequest, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let (client, connection) = (usize::from(late.key.0), late.held.connection);
        let mut held = self.applications.held(client).into_iter();
        let carries_more =
            held.any(|other| other.connection == connection && !self.in_flight.is_wait_behind(client, &other));
        if carries_more || self.in_flight.shares_connection(late) {
            testbed
                .findings
                .leave("Redisson of 2021 takes a reply that comes too late for the answer to a later attempt");
            return Ok(());
        }
        self.applications.break_connection(client, connection)
    }

    fn drop_request(&mut self, key: RequestKey, testbed: &mut Testbed) -> Result<(), ReplayError> {
        if self.applications.runs(usize::from(key.0)) {
            match self.in_flight.get_mut(key).cloned() {
                Some(late) if self.takes_first_reply(key.0) => self.break_with_late_reply(&late, testbed)?,
                _ => self.hear(key, testbed)?,
            }
        }
        self.in_flight.take(key);
        Ok(())
    }
}

pub(super) fn verb_of(verb: Verb, (client, slot): RequestKey) -> ScriptVerb {
    let thread = slot.thread().unwrap_or_default();
    match verb {
        Verb::Acquire => ScriptVerb::Acquire { client, thread },
        Verb::Release => ScriptVerb::Release { client, thread },
        Verb::Renew => ScriptVerb::Renew { client },
        Verb::Undo => ScriptVerb::Undo { client, thread },
        Verb::SetTtl => ScriptVerb::SetTtl { client, thread },
    }
}
