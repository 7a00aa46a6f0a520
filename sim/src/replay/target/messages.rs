//! The subscriptions of all clients, and the unlock messages that arrive on them.

use std::collections::VecDeque;

use lockstep_model::Party;
use lockstep_model::config::MAX_CLIENTS;
use lockstep_model::trace::{ClientState, NodeState, SubscriptionState, ThreadState, client_name};

use super::subscriber::{ChannelKind, Subscriber};
use crate::replay::error::ReplayError;
use crate::replay::history_step::{HistoryStep, StepPlace};
use crate::replay::node_names::name_of_node;
use crate::replay::testbed::Testbed;
use crate::replay::translate::UnlockChannel;

/// The subscriptions of all clients.
pub struct ClientMessages {
    clients: Vec<ClientSubscription>,
    /// Whether each waiter has a channel of its own, and the one that is next hears of a release.
    have_own_channels: bool,
    channel_kind: ChannelKind,
}

/// What one client's process has to do with messages.
#[derive(Default)]
struct ClientSubscription {
    /// Where it listens, or would listen; `None`: the kind publishes nothing.
    channel: Option<UnlockChannel>,
    /// Where it can listen: of a lock of several parts one channel for each part, of which it listens on that for which it waits.
    channels: Vec<UnlockChannel>,
    /// The connection, and the node it leads to.
    subscriber: Option<(usize, Subscriber)>,
    /// Messages that have been read from the connection but not been delivered yet.
    inbox: VecDeque<String>,
    /// Steps that published to the client since its connection was last read.
    published: Vec<StepPlace>,
    /// What those messages are that have not been delivered yet, the oldest first.
    expected: VecDeque<&'static str>,
}

impl ClientSubscription {
    /// The connection ends, and what came over it is gone.
    fn end(&mut self) {
        *self = Self { channel: self.channel.take(), channels: core::mem::take(&mut self.channels), ..Self::default() };
    }
}

impl ClientSubscription {
    /// It listens for the part of the lock that it waits for, if it has several.
    fn turn_to_part_of(&mut self, client: &ClientState) {
        let waits = |thread: &ThreadState| thread.phase.uses_wakeup_entry();
        if let Some(channel) = client.threads.iter().position(waits).and_then(|part| self.channels.get(part)) {
            self.channel = Some(channel.clone());
        }
    }

    /// Whether it listens where the release of this part is published; of a lock with one part everybody does.
    fn listens_for(&self, part: usize) -> bool {
        self.channels.len() < 2 || self.channels.get(part) == self.channel.as_ref()
    }
}

/// The client, from 0, that is the first in the queue of this node.
fn next_client(node: &NodeState) -> Option<usize> {
    let client = node.stored.queue().first()?.split(':').next()?;
    (0..MAX_CLIENTS).position(|number| client_name(number).to_string() == client)
}

impl ClientMessages {
    /// Of clients that listen there, none of which is subscribed.
    pub fn new(channels: Vec<Vec<UnlockChannel>>, channel_kind: ChannelKind) -> Self {
        let have_own_channels = channels.windows(2).any(|two| two[0] != two[1]);
        let of_client = |channels: Vec<UnlockChannel>| ClientSubscription {
            channel: channels.first().cloned(),
            channels,
            ..Default::default()
        };
        let clients = channels.into_iter().map(of_client).collect();
        Self { clients, have_own_channels, channel_kind }
    }

    /// Ends every subscription.
    pub fn clear(&mut self) {
        self.clients.iter_mut().for_each(ClientSubscription::end);
    }

    /// Sends what is queued; if requests were among it, reads what they published.
    ///
    /// # Errors
    /// As [`Testbed::send_queued`].
    pub fn settle(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        if testbed.send_queued()? { self.read(testbed) } else { Ok(()) }
    }

    /// Subscribes and unsubscribes as the clients do in this step.
    ///
    /// # Errors
    /// `Redis`; `TimedOut`.
    pub fn follow(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for index in 0..self.clients.len() {
            let before = &step.before.clients[index].subscription;
            let after = &step.step.state.clients[index].subscription;
            if before == after {
                continue;
            }
            // Messages published before now must arrive on the old subscription, later ones on the new one. A release that
            // ends a wait does both in one step, but no client publishes to itself.
            self.settle(testbed)?;
            match after {
                None => self.clients[index].end(),
                // The connection died with its node; what had been read is still to be delivered.
                Some(SubscriptionState::Lost) => self.clients[index].subscriber = None,
                Some(SubscriptionState::Ended) => {
                    if let Some((_, mut subscriber)) = self.clients[index].subscriber.take() {
                        subscriber.wait_until_ended()?;
                        testbed.findings.note(|| "the subscription is ended (sunsubscribe)".to_owned());
                    }
                }
                Some(SubscriptionState::Node(node)) => {
                    self.clients[index].turn_to_part_of(&step.step.state.clients[index]);
                    let channel = self.clients[index]
                        .channel
                        .as_ref()
                        .ok_or_else(|| ReplayError::link("this kind has no channel"))?;
                    let node = testbed.servers.index_of(node);
                    let command = self.channel_kind.command().to_uppercase();
                    testbed.findings.note(|| format!("{}: {command} {}", name_of_node(node), channel.name));
                    let subscriber = Subscriber::start(testbed.servers.node(node), &channel.name, self.channel_kind)?;
                    self.clients[index].subscriber = Some((node, subscriber));
                }
            }
        }
        Ok(())
    }

    /// Expects a message for every client that is subscribed on this node.
    /// `message`: what is published; `None`: the message of the channel.
    pub fn expect_published(&mut self, step: HistoryStep<'_>, node: usize, message: Option<&'static str>) {
        self.expect_published_on(step, &name_of_node(node), message);
    }

    /// The same of a node by its name.
    pub fn expect_published_on(&mut self, step: HistoryStep<'_>, name: &str, message: Option<&'static str>) {
        let next = step.step.state.nodes.iter().find(|node| node.name == name).and_then(next_client);
        let is_meant = |number: usize| !self.have_own_channels || next == Some(number);
        let released = match step.step.action.party() {
            Party::Thread(holder) => usize::from(holder.thread()),
            Party::Client(_) | Party::Node(_) | Party::World => 0,
        };
        let subscribed = self.clients.iter_mut().zip(&step.before.clients).enumerate();
        for (_, (subscription, client)) in subscribed.filter(|(number, _)| is_meant(*number)) {
            if !subscription.listens_for(released) {
                continue;
            }
            if client.subscription.as_ref().and_then(SubscriptionState::node) == Some(name) {
                subscription.published.push(step.place());
                let message = message.or(subscription.channel.as_ref().map(|channel| channel.message));
                subscription.expected.extend(message);
            }
        }
    }

    /// A message reaches its process, or is lost on the way: in both cases it must have arrived at the client.
    pub fn deliver(&mut self, step: HistoryStep<'_>, client: u8, testbed: &mut Testbed) {
        let message = self.clients[usize::from(client)].inbox.pop_front();
        let redis = message.unwrap_or_else(|| "nothing".to_owned());
        let expected = self.clients[usize::from(client)].expected.pop_front().unwrap_or("nothing");
        let what = || format!("messages to {}", client_name(client));
        testbed.findings.compare(step.place(), what, expected, &redis);
        testbed.findings.note(|| format!("message {redis}"));
    }

    /// Reads what has been published, and compares its number with what should have been.
    ///
    /// # Errors
    /// `Redis`; `Unexpected`.
    pub fn read(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (client, subscription) in (0u8..).zip(&mut self.clients) {
            let published = std::mem::take(&mut subscription.published);
            let Some((node, subscriber)) = &mut subscription.subscriber else { continue };
            // Everything was read before it stood still, and it publishes nothing meanwhile.
            if testbed.servers.is_paused(*node) {
                continue;
            }
            let is_late = testbed.servers.has_other_master();
            let arrived = if is_late { subscriber.drain_at_least(published.len()) } else { subscriber.drain() }?;
            if arrived.len() != published.len() {
                // The first message that is missing; or one too many, from some step up to the last one that was answered.
                let at = published.get(arrived.len()).copied().or(testbed.last_answered());
                if let Some(at) = at {
                    let what = || format!("messages to {}", client_name(client));
                    let count = |messages: usize| format!("{messages} published");
                    testbed.findings.compare(at, what, &count(published.len()), &count(arrived.len()));
                }
            }
            testbed.findings.compared += published.len();
            subscription.inbox.extend(arrived);
        }
        Ok(())
    }
}
