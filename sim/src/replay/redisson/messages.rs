//! Unlock messages: a client subscribes, and each message waits at its gate until the history says that it arrives or is lost.

use std::time::Instant;

use lockstep_model::client::Phase;
use lockstep_model::limits::MESSAGES;
use lockstep_model::trace::{SubscriptionState, ThreadState, client_name};
use lockstep_model::{Action, Happening, Reply};

use super::applications::ServerReach;
use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::wire_words::{is_prelude, is_renewal, is_script, payload_of, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::node_names::name_of_node;
use crate::replay::servers::ANSWER_WAIT;
use crate::replay::testbed::Testbed;

impl RedissonClients {
    /// The client subscribes, unless it is subscribed already for another thread.
    pub(super) fn subscribe(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let channels = self.translator.unlock_channels(client);
        let waits = |thread: &ThreadState| thread.phase.uses_wakeup_entry();
        let part = step.step.state.clients[asked].threads.iter().position(waits).filter(|_| channels.len() > 1);
        let Some(channel) = channels.into_iter().nth(part.unwrap_or(0)) else { return Ok(()) };
        let wanted = [self.commands.subscribe.to_owned(), channel.name];
        if matches!(step.before.clients[asked].subscription, Some(SubscriptionState::Node(_))) {
            let mut threads = step.before.clients[asked].threads.iter();
            let subscribes = self.applications.held(asked).iter().any(|held| words_of(held) == wanted);
            if subscribes && threads.any(|thread| thread.wait_left == Some(0)) {
                testbed.findings.leave(
                    "at the very instant of its wait limit another thread waits on here, and Redisson's has given up and ended their subscription",
                );
            }
            return Ok(());
        }
        let found = self.applications.await_request(asked, |held| words_of(held) == wanted)?;
        let what = || format!("request of {}", client_name(client));
        let Some(held) = found else {
            let asks = |held: &HeldCommand| is_script(&words_of(held)) || is_prelude(held);
            let has_asked = self.unsent(asked).iter().any(asks);
            if step.before.clients[asked].threads.len() > 1 && has_asked {
                testbed.findings.leave(
                    "a thread is subscribed as soon as another one of its process is in Redisson, and here after that one has gone",
                );
                return Ok(());
            }
            testbed.findings.compare(step.place(), what, &wanted.join(" "), &self.held_words(asked));
            return Ok(());
        };
        testbed.findings.note(|| format!("{}: {}", client_name(client), wanted.join(" ")));
        let place = match &step.step.state.clients[asked].subscription {
            Some(SubscriptionState::Node(node)) => node.clone(),
            _ => "no node".to_owned(),
        };
        let server = self.node_of(self.applications.server_of(asked, held.connection));
        let what = || format!("the node on which {} subscribes", client_name(client));
        testbed.findings.compare(step.place(), what, &place, &name_of_node(server));
        if self.reaches[server] != ServerReach::Reached {
            self.asks_unreached.insert(client);
        }
        let answer = self.applications.pass_request(asked, held.connection)?;
        if Self::is_sent_away(&answer) {
            testbed.findings.leave(
                "Redisson subscribes where the slot of the lock was before it has moved, is sent away, and its call fails",
            );
            return Ok(());
        }
        self.unsubscribed.remove(&client);
        self.lost_subscriptions.remove(&client);
        Ok(())
    }

    /// A waiter that is subscribed, or woken by a message or its timer, asks again at once in Redisson. Where its server executed nothing then its call has failed, and a
    /// history in which it asks later cannot be followed.
    pub(super) fn leave_earlier_ask(&mut self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let server = testbed.servers.index_of(&step.before.clients[usize::from(client)].master);
        let has_asked = self.asks_unreached.remove(&client) && self.reaches[server] == ServerReach::Reached;
        if has_asked {
            testbed.findings.leave("a waiter of Redisson asks while no server answers, and its call fails");
        }
        has_asked
    }

    /// A thread whose wait limit is over gives up. At the same instant Redisson's may go on: it has subscribed, or asked again.
    pub(super) fn goes_on_at_its_limit(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let asked = usize::from(client);
        let is_subscribed = matches!(step.before.clients[asked].subscription, Some(SubscriptionState::Node(_)));
        let unsent = self.unsent(asked);
        let goes_on = unsent.iter().any(|held| {
            let words = words_of(held);
            if words[0] == self.commands.subscribe {
                !is_subscribed
            } else {
                is_script(&words) && !is_renewal(held) || is_prelude(held)
            }
        });
        if goes_on {
            testbed
                .findings
                .leave("at the very instant of its wait limit a thread gives up here, and Redisson's goes on");
        }
        goes_on
    }

    /// An unlock message reaches the client, or is lost on the way.
    pub(super) fn take_message(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let is_lost = matches!(step.step.action, Action::LoseMessage { .. });
        let is_moving = self.unsent(asked).iter().any(|held| words_of(held)[0] == self.commands.subscribe);
        if (is_moving || self.applications.has_closed_behind_message(asked)) && !is_lost {
            testbed.findings.leave("a message of the old master comes when its client subscribes on the new one");
            return Ok(());
        }
        let expected = self.messages[asked].pop_front().unwrap_or("nothing");
        let for_all =
            self.translator.unlock_channel(client).map(|channel| channel.message).filter(|_| self.config.shares());
        if !is_lost && Some(expected) == for_all && step.before.clients[asked].permits > 0 {
            testbed
                .findings
                .leave("a message for all who sleep comes when a waiter was woken, and here wakes it once more");
            return Ok(());
        }
        if !is_lost {
            self.note_spare_permit(client, step);
            self.note_fired_timers(client, step);
        }
        let message = match (self.applications.messages(asked), is_lost) {
            (0, _) => None,
            (_, true) => Some(self.applications.drop_message(asked)?),
            (_, false) => Some(self.applications.pass_message(asked)?),
        };
        let master = testbed.servers.index_of(&step.before.clients[asked].master);
        if !is_lost && self.reaches[master] != ServerReach::Reached {
            self.asks_unreached.insert(client);
        }
        let payload = message.as_ref().and_then(payload_of).unwrap_or_else(|| "nothing".to_owned());
        let what = || format!("messages to {}", client_name(client));
        testbed.findings.compare(step.place(), what, expected, &payload);
        testbed.findings.note(|| format!("message {payload}"));
        Ok(())
    }

    /// What was published in a step is under way to the clients that are subscribed; one that is not any more hears nothing.
    pub(super) fn follow_messages(&mut self, client: u8, step: HistoryStep<'_>) {
        let at = usize::from(client);
        let under_way = usize::from(step.step.state.clients[at].messages);
        let message = self.translator.message_of(step.step.action);
        let message = message.or_else(|| Some(self.translator.unlock_channel(client)?.message));
        self.messages[at].resize(under_way, message.unwrap_or("nothing"));
    }

    /// A message comes for a client. A waiter whose timer is due at this instant has asked in Redisson already.
    fn note_fired_timers(&mut self, client: u8, step: HistoryStep<'_>) {
        let asked = usize::from(client);
        if !self.unsent(asked).iter().any(|held| is_script(&words_of(held)) && !is_renewal(held)) {
            return;
        }
        let threads = &step.before.clients[asked].threads;
        let is_due = |one: &ThreadState| one.phase == Phase::Waiting && (one.wake_in == Some(0) || one.may_wake_now);
        let due = (0u8..).zip(threads).filter(|(_, one)| is_due(one));
        self.woken_twice.extend(due.map(|(thread, _)| (client, thread)));
    }

    /// A message wakes a waiter whose timer had fired before. If it has to wait again, or another thread waits, Redisson's goes by that
    /// message and asks once more.
    pub(super) fn leave_woken_twice(&mut self, key: (u8, u8), step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let is_over = self.config.clients.threads == 1 && step.step.answer == Reply::Acquired;
        let asks_again = self.woken_twice.remove(&key) && !is_over;
        if asks_again {
            testbed.findings.leave(
                "at the very instant at which its timer fires a waiter is woken by a message here, and in Redisson by both",
            );
        }
        asks_again
    }

    /// What was published must be at the gates of those who are subscribed, and nothing else.
    pub(super) fn await_messages(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (client, state) in (0u8..).zip(&step.step.state.clients) {
            let is_due = state.threads.iter().any(|thread| thread.wait_left == Some(0));
            let is_subscribed = matches!(state.subscription, Some(SubscriptionState::Node(_)));
            if self.unsubscribed.contains(&client) && is_subscribed && is_due {
                testbed.findings.leave(
                    "at the very instant of its wait limit another thread waits on here, and Redisson's has given up and ended their subscription",
                );
                return Ok(());
            }
        }
        // A client subscribes at one master, and another one publishes at the other: a message of which nobody hears must not arrive where
        // somebody subscribes next.
        if step.has(Happening::Published) {
            testbed.servers.settle_messages()?;
        }
        let begin = Instant::now();
        loop {
            self.applications.take_arrived()?;
            let is_other = |(_, expected, arrived): &(u8, usize, usize)| arrived != expected;
            let Some((client, expected, arrived)) = self.compared_messages(step).into_iter().find(is_other) else {
                break;
            };
            if arrived > expected && expected >= usize::from(self.config.bounds.messages.unwrap_or(MESSAGES)) {
                testbed
                    .findings
                    .leave("more messages are under way than the scenario has room for: raise messages in [bounds]");
                return Ok(());
            }
            // One that is missing may be on its way; none disappears.
            if arrived > expected || begin.elapsed() > ANSWER_WAIT {
                let what = || format!("messages to {}", client_name(client));
                let count = |messages: usize| format!("{messages} under way");
                testbed.findings.compare(step.place(), what, &count(expected), &count(arrived));
                break;
            }
            std::thread::yield_now();
        }
        testbed.findings.compared += usize::from(step.has(Happening::Published));
        Ok(())
    }

    /// The messages of a step, of a lock on several masters: those of each are for whoever waits there.
    pub(super) fn observe_messages(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for client in 0..self.config.clients.count {
            self.follow_messages(client, step);
        }
        self.await_messages(step, testbed)
    }

    /// Per client that runs and is subscribed: the messages that are under way to it by the model, and by its gate.
    fn compared_messages(&self, step: HistoryStep<'_>) -> Vec<(u8, usize, usize)> {
        let state = &step.step.state;
        let subscribed = (0u8..).zip(&state.clients).filter(|(client, state)| {
            self.applications.runs(usize::from(*client))
                && matches!(state.subscription, Some(SubscriptionState::Node(_)))
        });
        let counted = subscribed
            .map(|(client, state)| (client, usize::from(state.messages), self.applications.messages(client.into())));
        counted.collect()
    }
}
