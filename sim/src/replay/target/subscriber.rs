//! One client's subscription: a connection of its own.

use std::collections::VecDeque;

use redis::Value;

use crate::replay::error::ReplayError;
use crate::replay::servers::{ServerConnection, ServerNode};
use crate::replay::value_text::value_text;

/// A connection that is subscribed to one channel.
pub struct Subscriber {
    connection: ServerConnection,
    channel: String,
    /// Messages that have arrived and were not taken.
    unread: VecDeque<String>,
}

impl Subscriber {
    /// Subscribes, and waits until the node has confirmed it.
    ///
    /// # Errors
    /// `Redis`, also if the node does not answer in time.
    pub fn start(node: &ServerNode, channel: &str) -> Result<Self, ReplayError> {
        let mut subscriber = Self { connection: node.connect()?, channel: channel.to_owned(), unread: VecDeque::new() };
        subscriber.send(redis::cmd("SUBSCRIBE").arg(channel))?;
        subscriber.read_until("subscribe")?;
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
                [kind, channel, payload] if kind == "message" && *channel == self.channel => {
                    self.unread.push_back(payload.clone());
                }
                [kind, ..] if kind == awaited => return Ok(()),
                _ => return Err(unexpected()),
            }
        }
    }
}
