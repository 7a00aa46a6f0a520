//! What the application is told by its calls: by the model, and by Redisson.

use lockstep_model::client::Phase;
use lockstep_model::config::{Profile, Resend};
use lockstep_model::trace::{ClientState, State, ThreadState, client_name};
use lockstep_model::{Config, Reply};

use super::calls::{self, REDISSON_EXCEPTION, TIMED_OUT, ToldWords, granted_with, told_by};
use super::clients::RedissonClients;
use crate::replay::history_step::{HistoryStep, StepPlace};
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptVerb, token_of};

/// The token of a grant that is none.
const NO_TOKEN: i64 = -1;

const ANSWERED_AT_ITS_TIME_OUT: &str =
    "at the very instant of its time-out a request is answered here, and in Redisson not";

impl RedissonClients {
    /// What the model says the application is told by this step.
    pub(super) fn told_by_model(
        &self,
        (client, thread): (u8, u8),
        verb: ScriptVerb,
        step: HistoryStep<'_>,
    ) -> ToldWords {
        if let Some(told) = self.told_of_parts(client, verb, step) {
            return told;
        }
        let of = |clients: &[ClientState]| clients[usize::from(client)].threads.get(usize::from(thread)).cloned();
        let threads: Option<(ThreadState, ThreadState)> = of(&step.before.clients).zip(of(&step.step.state.clients));
        let refusal =
            self.told_of_refusal(client, step.step.answer).filter(|_| !matches!(verb, ScriptVerb::Undo { .. }));
        if let Some(refusal) = refusal {
            return refusal.into();
        }
        let told = match (verb, step.step.answer) {
            (ScriptVerb::Acquire { .. }, _) => {
                threads.map_or(calls::INSIDE, |(before, after)| calls::told_of_acquire(&before, &after))
            }
            (ScriptVerb::AskIfHeld { .. }, Reply::SaysHeld) => calls::TOLD_HELD,
            (ScriptVerb::AskIfHeld { .. }, _) => calls::TOLD_NOT_HELD,
            (_, Reply::TokenRead { number }) => return token_of(number.into()).into(),
            (ScriptVerb::LeaveQueue { .. }, _) => calls::REFUSED,
            // Whatever becomes of the undo, the acquire has failed.
            (ScriptVerb::Undo { .. }, _) => REDISSON_EXCEPTION,
            (ScriptVerb::ForceRelease, Reply::ForceReleased) => "it has freed the lock",
            (ScriptVerb::ForceRelease, _) => "there was nothing to free",
            (_, Reply::Released | Reply::StillHeld) => calls::RELEASED,
            _ => calls::NOT_ITS_OWN,
        };
        if told == calls::GRANTED { self.told_of_grant(client, step) } else { told.into() }
    }

    /// What a client is told where its server does not write; `None`: it does.
    pub(super) fn told_of_refusal(&self, client: u8, answer: Reply) -> Option<&'static str> {
        calls::told_of_refusal(answer, self.config.of_client(client).protocol.profile, self.names_errors)
    }

    /// What a caller is told, if this is what it is `told` by the model. Where a server has two reasons to refuse a write and has named
    /// the one that the model does not (`Testbed::meaning_of`), Redisson throws by that name.
    pub(super) fn told_by_name(
        &self,
        client: u8,
        told: ToldWords,
        (answer, lacks_replicas): (Reply, bool),
    ) -> ToldWords {
        let thrown = |answer| self.told_of_refusal(client, answer);
        let is_of_refusal = answer == Reply::SaveFailed && thrown(answer) == Some(&*told);
        thrown(Reply::NotEnoughReplicas).filter(|_| lacks_replicas && is_of_refusal).map_or(told, Into::into)
    }

    /// What a client is told by a grant that it believes: where tokens come with grants, the number that the node has raised its
    /// counter to, or -1 for an answer that it takes for a grant (docs/facts/family.md#a-holder-without-a-ttl-looks-like-a-grant).
    pub(super) fn told_of_grant(&self, client: u8, step: HistoryStep<'_>) -> ToldWords {
        if !self.config.of_client(client).tokens_come_with_grants() {
            return calls::GRANTED.into();
        }
        let master = &step.before.clients[usize::from(client)].master;
        let asked = step.step.state.nodes.iter().find(|node| node.name == *master);
        let issued = asked.and_then(|node| node.stored.token_counter()).filter(|_| step.step.answer == Reply::Acquired);
        granted_with(issued.map_or(NO_TOKEN, i64::from)).into()
    }

    /// What a thread's call has told the application by now.
    pub(super) fn told(&mut self, (client, thread): (u8, u8), testbed: &mut Testbed) -> String {
        let thread = self.caller(client, thread);
        let ended = self.applications.end_of(usize::from(client), usize::from(thread));
        let told =
            ended.map_or_else(|| "it is in no call".to_owned(), |(verb, ended)| told_by(&verb, ended.as_deref()));
        testbed.findings.note(|| format!("{}:{}: {told}", client_name(client), thread + 1));
        told
    }

    pub(super) fn compare_told(
        &mut self,
        (client, thread): (u8, u8),
        model: &str,
        at: StepPlace,
        testbed: &mut Testbed,
    ) {
        let told = self.told((client, thread), testbed);
        compare_words((client, thread), (model, &told), at, testbed);
    }

    /// Compares what a call has told, unless its thread has died by the model. `is_answer_due`: it is the very instant at which
    /// its caller stops waiting.
    pub(super) fn compare_call(
        &mut self,
        (client, thread): (u8, u8),
        model: &str,
        (is_answer_due, step): (bool, HistoryStep<'_>),
        testbed: &mut Testbed,
    ) {
        // None of the threads of the model releases by force.
        let of = |state: &State| state.clients[usize::from(client)].threads.get(usize::from(thread)).cloned();
        if of(&step.step.state).is_some_and(|after| after.phase == Phase::Dead) {
            return;
        }
        let told = self.told((client, thread), testbed);
        let is_at_limit = of(step.before).and_then(|before| before.wait_left) == Some(0);
        if gives_up_at_its_limit(is_at_limit, model, &told, testbed) {
            return;
        }
        let own = self.config.of_client(client);
        let is_sent_again = told == calls::INSIDE
            && (own.calls.resend == Resend::All || sends_acquires_again(&own) && model != TIMED_OUT);
        let has_timed_out = told == TIMED_OUT || own.refuses_unanswered_asks() && told == calls::REFUSED;
        if is_answer_due && model != told && (has_timed_out || is_sent_again) {
            testbed.findings.leave(ANSWERED_AT_ITS_TIME_OUT);
            return;
        }
        if sends_acquires_again(&own) && model == TIMED_OUT && told == calls::INSIDE {
            testbed.findings.leave("Redisson of 2021 sends an acquire again that is not answered in time");
            return;
        }
        compare_words((client, thread), (model, &told), step.place(), testbed);
    }
}

/// Compares what a call has told with what the model says.
pub(super) fn compare_words(
    (client, thread): (u8, u8),
    (model, told): (&str, &str),
    at: StepPlace,
    testbed: &mut Testbed,
) {
    let what = || format!("what {}:{} is told", client_name(client), thread + 1);
    testbed.findings.compare(at, what, model, told);
}

/// Whether a thread that asked at its limit waits on by the model, and in Redisson has given up with its reply: the history is left.
pub(super) fn gives_up_at_its_limit(is_at_limit: bool, model: &str, told: &str, testbed: &mut Testbed) -> bool {
    let gives_up = is_at_limit && told == calls::REFUSED && model == calls::INSIDE;
    if gives_up {
        testbed.findings.leave(
            "at the very instant of its wait limit a thread has its reply and waits here, and Redisson's gives up",
        );
    }
    gives_up
}

/// Whether a client sends an acquire again although its scenario says that it does not (docs/facts/redisson.md#resending).
pub(super) fn sends_acquires_again(own: &Config) -> bool {
    own.protocol.profile == Profile::Redisson315 && own.calls.resend == Resend::None
}
