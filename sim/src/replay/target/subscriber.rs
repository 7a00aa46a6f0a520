//! One client's subscription: a connection of its own.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use redis::Value;

use crate::replay::error::ReplayError;
use crate::replay::servers::{LINK_WAIT, ServerConnection, ServerNode};
use crate::replay::value_text::value_text;

/// What a channel is subscribed to by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// `SUBSCRIBE`: all nodes of a cluster have it.
    Global,
    /// `SSUBSCRIBE`: it is one of a slot.
    Sharded,
}

impl ChannelKind {
    /// The command, and the first word of its answer.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Global => "subscribe",
            Self::Sharded => "ssubscribe",
        }
    }

    /// The first word of a message.
    const fn message(self) -> &'static str {
        match self {
            Self::Global => "message",
            Self::Sharded => "smessage",
        }
    }
}

/// A connection that is subscribed to one channel.
pub struct Subscriber {
    connection: ServerConnection,
    channel: String,
    kind: ChannelKind,
    /// Messages that have arrived and were not taken.
    unread: VecDeque<String>,
}

impl Subscriber {
    /// Subscribes, and waits until the node has confirmed it.
    ///
    /// # Errors
    /// `Redis`, also if the node does not answer in time.
    pub fn start(node: &ServerNode, channel: &str, kind: ChannelKind) -> Result<Self, ReplayError> {
        let (connection, channel) = (node.connect()?, channel.to_owned());
        let mut subscriber = Self { connection, channel, kind, unread: VecDeque::new() };
        subscriber.send(redis::cmd(kind.command()).arg(subscriber.channel.clone()))?;
        subscriber.read_until(kind.command())?;
        Ok(subscriber)
    }

    /// Everything that the node has published so far. It answers a PING after all messages that it sent before.
    ///
    /// # Errors
    /// `Redis`; `Unexpected`.
    pub fn drain(&mut self) -> Result<VecDeque<String>, ReplayError> {
        self.send(&redis::cmd("PING"))?;
        self.read_until("pong")?;
        Ok(std::mem::take(&mut self.unread))
    }

    /// The same, where a message may come through the cluster a moment after its script is answered: waits until so many are there.
    ///
    /// # Errors
    /// `Redis`; `Unexpected`.
    pub fn drain_at_least(&mut self, expected: usize) -> Result<VecDeque<String>, ReplayError> {
        let begin = Instant::now();
        let mut arrived = self.drain()?;
        while arrived.len() < expected && begin.elapsed() < LINK_WAIT {
            thread::sleep(Duration::from_millis(1));
            arrived.extend(self.drain()?);
        }
        Ok(arrived)
    }

    /// Waits until the node says that it has ended the subscription, because the slot of the channel has moved.
    ///
    /// # Errors
    /// `Redis`, also if it does not in time; `Unexpected`.
    pub fn wait_until_ended(&mut self) -> Result<(), ReplayError> {
        self.read_until("sunsubscribe")
    }

    fn send(&mut self, command: &redis::Cmd) -> Result<(), ReplayError> {
        let packed = command.get_packed_command();
        self.connection.send_packed_command(&packed).map_err(ReplayError::redis("a subscription"))
    }

    fn read_until(&mut self, awaited: &str) -> Result<(), ReplayError> {
        loop {
            let answer = self.connection.recv_response().map_err(ReplayError::redis("a subscription"))?;
            let unexpected = || ReplayError::Unexpected { asked: "a subscription", answer: format!("{answer:?}") };
            // After a failed save a node refuses PING too, in its turn.
            if awaited == "pong" && matches!(&answer, Value::ServerError(error) if error.code() == "MISCONF") {
                return Ok(());
            }
            let Value::Array(parts) = &answer else { return Err(unexpected()) };
            let words: Option<Vec<_>> = parts.iter().map(value_text).collect();
            match words.ok_or_else(unexpected)?.as_slice() {
                [kind, channel, payload] if kind == self.kind.message() && *channel == self.channel => {
                    self.unread.push_back(payload.clone());
                }
                [kind, ..] if kind == awaited => return Ok(()),
                _ => return Err(unexpected()),
            }
        }
    }
}
