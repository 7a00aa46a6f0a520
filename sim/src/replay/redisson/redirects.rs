//! A request that a master of a cluster answers with `ASK` or `MOVED`: Redisson sends it again, to the master that has been named.
//!
//! The model has one node for the two masters of a slot that is moved: whoever answers, the request is one step. So what the client sends
//! in between is compared here, and its last answer counts (docs/facts/cluster.md#while-a-slot-is-moved).

use lockstep_model::Action;
use lockstep_model::trace::{SubscriptionState, client_name};
use redis::Value;

use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::script_clock::ScriptClock;
use super::sent::with_clock;
use super::wire_words::{shown, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::{HistoryStep, StepPlace};
use crate::replay::servers::ANSWER_WAIT;
use crate::replay::testbed::Testbed;

/// What a client sends before a request that it was told to ask.
const ASKING: &str = "ASKING";

/// A master that has some of the keys names the other one, which names the first one never.
const MOST_REDIRECTS: usize = 1;

/// Where a client is told to send its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Redirect {
    /// This one request, behind `ASKING`.
    Ask,
    /// This one and all later ones. Redisson sends the later ones where it has sent this one first, until it looks at the cluster again.
    Moved,
}

impl Redirect {
    fn of(answer: &Value) -> Option<Self> {
        let Value::ServerError(error) = answer else { return None };
        match error.code() {
            "ASK" => Some(Self::Ask),
            "MOVED" => Some(Self::Moved),
            _ => None,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Ask => "ASK",
            Self::Moved => "MOVED",
        }
    }
}

impl RedissonClients {
    /// A request passes with its reply, and again at the other master if that is named. Returns the last reply. `place`: where it is a
    /// difference that the client does not follow. `clock`: the time of the history, if the request brings a time; what the client sends
    /// again brings it too.
    ///
    /// # Errors
    /// As [`Applications::pass_request`](super::applications::Applications::pass_request).
    pub(super) fn pass_and_follow(
        &mut self,
        client: u8,
        held: &HeldCommand,
        (place, clock): (StepPlace, Option<ScriptClock>),
        testbed: &mut Testbed,
    ) -> Result<Value, ReplayError> {
        let asked = usize::from(client);
        let mut reply = self.applications.pass_request(asked, held.connection)?;
        if self.config.faults.move_slot == 0 {
            return Ok(reply);
        }
        let mut from = self.applications.server_of(asked, held.connection);
        for _ in 0..MOST_REDIRECTS {
            let Some(redirect) = Redirect::of(&reply) else { break };
            let name = client_name(client);
            testbed.findings.note(|| format!("it is answered {}: {name} asks the other master", redirect.word()));
            let is_elsewhere =
                |clients: &Self, sent: &HeldCommand| clients.applications.server_of(asked, sent.connection) != from;
            if redirect == Redirect::Ask {
                let found =
                    self.first_unsent(asked, |clients, sent| is_elsewhere(clients, sent) && words_of(sent) == [ASKING]);
                let Some(asking) = found else {
                    self.compare_redirected(client, ASKING, place, testbed);
                    return Ok(reply);
                };
                self.applications.pass_request(asked, asking.connection)?;
            }
            let is_same = |sent: &HeldCommand| with_clock(sent, clock).words == held.words;
            let found = self.first_unsent(asked, |clients, sent| is_elsewhere(clients, sent) && is_same(sent));
            let Some(again) = found else {
                self.compare_redirected(client, &shown(held, self.commands), place, testbed);
                return Ok(reply);
            };
            testbed.findings.compared += 1;
            if clock.is_some() {
                self.applications.replace(asked, &with_clock(&again, clock));
            }
            reply = self.applications.pass_request(asked, again.connection)?;
            from = self.applications.server_of(asked, again.connection);
        }
        Ok(reply)
    }

    /// What a client has sent first over some connection, and the history has not come to.
    fn first_unsent(&self, asked: usize, is_wanted: impl Fn(&Self, &HeldCommand) -> bool) -> Option<HeldCommand> {
        self.unsent(asked).into_iter().find(|sent| self.is_first(asked, sent) && is_wanted(self, sent))
    }

    /// A client has not sent to the other master what it should.
    fn compare_redirected(&self, client: u8, expected: &str, place: StepPlace, testbed: &mut Testbed) {
        let what = || format!("what {} sends to the other master", client_name(client));
        testbed.findings.compare(place, what, expected, &self.held_words(client.into()));
    }

    /// Whether a client is sent away from where it subscribes: it does not ask the other master, and its call fails after a while.
    pub(super) fn is_sent_away(answer: &Value) -> bool {
        Redirect::of(answer).is_some()
    }

    /// The node of the model that a server is: the two masters of a slot that is moved are one.
    pub(super) fn node_of(&self, server: usize) -> usize {
        if self.config.faults.move_slot > 0 { 0 } else { server }
    }

    /// The slot has moved. Where its channels are of one slot, the old master has ended each subscription to them, and says so.
    ///
    /// # Errors
    /// As [`Applications::pass_ends`](super::applications::Applications::pass_ends).
    pub(super) fn end_subscriptions(
        &mut self,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        if !matches!(step.step.action, Action::FinishMove { .. }) {
            return Ok(());
        }
        // What the old master says without being asked has come when it answers something else.
        testbed.servers.settle_messages()?;
        let is_subscribed = |state: &Option<SubscriptionState>| matches!(state, Some(SubscriptionState::Node(_)));
        for (client, (before, after)) in (0u8..).zip(step.before.clients.iter().zip(&step.step.state.clients)) {
            let asked = usize::from(client);
            if !self.applications.runs(asked) || !is_subscribed(&before.subscription) {
                continue;
            }
            let expected = usize::from(!is_subscribed(&after.subscription));
            let ended = self.applications.pass_ends(asked, expected, ANSWER_WAIT)?;
            let count = |ends: usize| format!("{ends} ended");
            let what = || format!("subscriptions of {}", client_name(client));
            testbed.findings.compare(step.place(), what, &count(expected), &count(ended));
        }
        Ok(())
    }
}
