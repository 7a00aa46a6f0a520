//! What a client of Redisson does once a reply has come, and nobody waits for: it deletes receipts, and ends subscriptions.

use lockstep_model::config::AnsweredReceipt;
use lockstep_model::trace::client_name;
use lockstep_model::{Happening, Reply};
use redis::Value;

use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::wire_words::{RECEIPTS, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::value_text::value_text;

/// The key that Redisson 3.52 deletes instead of the receipt of a lock: it is named after the client
/// (docs/facts/redisson.md#a-receipt-that-stays).
fn never_written(lock: &str, client: u8) -> String {
    format!("{RECEIPTS}{{{lock}}}:{}", client_name(client))
}

const NOTHING: &str = "nothing";
/// How it deletes a key.
const DELETES: &str = "DEL";
/// What `PTTL` says of a key that is not there.
const ABSENT: &str = "-2";

impl RedissonClients {
    /// Lets pass what belongs to a step that is over: the client drops the receipt of a release that was answered, and ends a
    /// subscription that no thread of its needs any more.
    pub(super) fn clear_up(&mut self, client: u8, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let unsubscribe = self.commands.unsubscribe;
        loop {
            let deletes = self.config.of_client(client).protocol.answered_receipt == AnsweredReceipt::Delete;
            let locks = (0..self.config.clients.names).map(|name| self.translator.lock_name(name));
            let is_never_written = |key: &str, lock: &str| {
                let rest = key.strip_prefix(&never_written(lock, client));
                // Of several masters each has a client of its own.
                rest.is_some_and(|rest| rest.is_empty() || self.config.asks_master_locks() && rest.starts_with('.'))
            };
            let is_of_receipt = |key: &String| {
                if deletes {
                    self.receipts[asked].contains(key)
                } else {
                    locks.clone().any(|lock| is_never_written(key, lock))
                }
            };
            let is_of_step = |held: &HeldCommand| match words_of(held).as_slice() {
                [name, key] => name == DELETES && is_of_receipt(key) || name == unsubscribe,
                _ => false,
            };
            let Some(held) = self.applications.held(asked).into_iter().find(is_of_step) else { return Ok(()) };
            if !self.is_first(asked, &held) {
                // Behind a renewal that was due at this instant, and that the release has ended here.
                testbed
                    .findings
                    .leave("Redisson sends two requests over its one connection in another order than the history");
                return Ok(());
            }
            let words = words_of(&held);
            let server = self.node_of(self.applications.server_of(asked, held.connection));
            if testbed.servers.is_paused(server) || words[0] == DELETES && !testbed.servers.executes_writes(server) {
                testbed.findings.leave(
                    "Redisson ends a subscription, or deletes a receipt, at a server that stands still or hands over",
                );
                return Ok(());
            }
            if words[0] == unsubscribe {
                // What was published before arrives before it ends.
                while self.applications.messages(asked) > 0 {
                    self.applications.pass_message(asked)?;
                }
                self.unsubscribed.insert(client);
            } else {
                self.receipts[asked].retain(|receipt| *receipt != words[1]);
            }
            // A deletion belongs to the release that was answered last. The end of a subscription is sent once, whatever is answered.
            let reply = match testbed.last_answered().filter(|_| words[0] == DELETES) {
                Some(place) => self.pass_and_follow(client, &held, (place, None), testbed)?,
                None => self.applications.pass_request(asked, held.connection)?,
            };
            testbed.findings.note(|| format!("{}: {}", client_name(client), words.join(" ")));
            if words[0] == DELETES && matches!(reply, Value::ServerError(_)) {
                testbed.findings.leave("a server refuses to delete a receipt, and Redisson sends that again");
                return Ok(());
            }
        }
    }

    /// A client that lets its receipts stay does not ask to delete one.
    pub(super) fn expect_kept_receipts(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let asked = usize::from(client);
        let deletes = |held: &HeldCommand| match words_of(held).as_slice() {
            [name, key] => name == DELETES && self.receipts[asked].contains(key),
            _ => false,
        };
        if self.config.of_client(client).protocol.answered_receipt == AnsweredReceipt::Keep {
            let is_asked = self.applications.held(asked).iter().any(deletes);
            let found = if is_asked { format!("{DELETES} a receipt") } else { NOTHING.to_owned() };
            let what = || format!("what {} asks for once its release is answered", client_name(client));
            testbed.findings.compare(step.place(), what, NOTHING, &found);
        }
    }

    /// Takes away the receipts that the client leaves behind, where request and reply are one step: nobody reads them there, so
    /// the model does not have them. Each must be there, with what the release was answered and its whole TTL.
    pub(super) fn take_kept_receipts(
        &mut self,
        client: u8,
        node: usize,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let own = self.config.of_client(client);
        if own.protocol.answered_receipt == AnsweredReceipt::Delete || own.is_split() {
            return Ok(());
        }
        self.expect_kept_receipts(client, step, testbed);
        let expected = match step.step.answer {
            Reply::Released => "1",
            Reply::StillHeld => "0",
            // Of a free lock with readers.
            Reply::NotHeld if self.config.shares() && step.has(Happening::Published) => "1",
            _ => NOTHING,
        };
        for receipt in std::mem::take(&mut self.receipts[usize::from(client)]) {
            let mut ask = |verb: &'static str| testbed.servers.ask(node, redis::cmd(verb).arg(&receipt), verb);
            let (value, ttl_ms, _) = (ask("GET")?, ask("PTTL")?, ask("DEL")?);
            let lives = |value: &str, ttl_ms: &str| format!("{value} for {ttl_ms} ms");
            let found = match (value_text(&value), value_text(&ttl_ms)) {
                (Some(value), Some(ttl_ms)) if ttl_ms != ABSENT => lives(&value, &ttl_ms),
                _ => NOTHING.to_owned(),
            };
            let whole = self.translator.receipt_ttl_ms(client).to_string();
            let what = || format!("the receipt that {} leaves", client_name(client));
            let expected = if expected == NOTHING { expected.to_owned() } else { lives(expected, &whole) };
            testbed.findings.compare(step.place(), what, &expected, &found);
        }
        Ok(())
    }
}
