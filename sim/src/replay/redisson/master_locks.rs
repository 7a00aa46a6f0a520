//! A lock on several masters (`RedissonRedLock`, `RedissonMultiLock`): each application has a client of Redisson for each master, and gives their locks to one
//! object. One call asks the masters, sets its lease on them or releases on all, and sends its requests by itself, in the order in which
//! the object has its locks.
//!
//! The model has every order, and an application may give the locks in any: each call here has an object of its own, with the locks in the
//! order in which the history asks the masters. What the library orders by itself is the order in which they have granted: in that it sets
//! the lease, and gives back what it was granted. A history that does so otherwise is left.

use lockstep_model::client::Phase;
use lockstep_model::config::{FailedPart, NeededMasters};
use lockstep_model::trace::{ClientState, ThreadState, client_name, node_name};
use lockstep_model::{Action, Reply};

use super::calls;
use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::master_calls::MastersStep;
use super::master_order::{OutOfOrder, out_of_order};
use super::told::compare_words;
use super::wire_words::{
    in_our_shape, is_renewal, is_script, receipt_of, request_words, script_words, shown, words_of,
};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::node_names::name_of_node;
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{ClientPart, ScriptRequest, ScriptVerb};

const NOTHING: &str = "nothing";

/// A request of one of the clients of Redisson of an application, by the name that all of them have in a history: in Redis each has a
/// name of its own, `A.2:1`.
fn by_one_name(held: &HeldCommand, client: u8) -> HeldCommand {
    let name = client_name(client).to_string();
    let renamed = |word: &Vec<u8>| {
        let text = String::from_utf8_lossy(word);
        let rest = text.strip_prefix(&format!("{name}.")).and_then(|rest| rest.split_once(':'));
        let rest = rest.filter(|(master, _)| master.parse::<u8>().is_ok());
        rest.map_or_else(|| word.clone(), |(_, thread)| format!("{name}:{thread}").into_bytes())
    };
    HeldCommand { words: held.words.iter().map(renamed).collect(), ..held.clone() }
}

impl RedissonClients {
    /// What a client does in this step about a lock on several masters.
    pub(super) fn act_on_masters(
        &mut self,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<MastersStep, ReplayError> {
        if !self.config.asks_master_locks() {
            return Ok(MastersStep::Other);
        }
        match step.step.action {
            Action::Acquire { client, .. } => {
                let call = calls::acquire(&self.config.of_client(client), false, self.interruption);
                self.begin_on_masters(client, &call, (false, step), testbed)?;
            }
            Action::Release { client, .. } => self.begin_on_masters(client, "unlock", (true, step), testbed)?,
            Action::LoseAsk { .. } => {
                testbed.findings.leave("what is not reached fails at a time of Redisson's own");
            }
            Action::HearMaster { client, .. } => self.hear_master(client, step, testbed)?,
            Action::ExtendAt { .. } if step.step.answer == Reply::NothingToRenew => {}
            Action::AskMaster { client, node }
            | Action::SlowReply { client, node }
            | Action::ExtendAt { client, node }
            | Action::SetTtlAt { client, node }
            | Action::ReleaseAt { client, node } => {
                if self.is_in_its_order(client, step, testbed) {
                    self.ask_on_master(client, node, step, testbed)?;
                }
                return Ok(MastersStep::Done { executed_by: Some(node.into()) });
            }
            Action::SecondAsk { client, thread }
            | Action::WakeByMessage { client, thread }
            | Action::WakeByTimer { client, thread } => {
                let Some(node) = waited_for(client, step) else { return Ok(MastersStep::Other) };
                let is_woken = matches!(step.step.action, Action::WakeByMessage { .. });
                if !is_woken || !self.leave_woken_twice((client, thread), step, testbed) {
                    self.ask_on_master(client, node, step, testbed)?;
                }
                return Ok(MastersStep::Done { executed_by: Some(node.into()) });
            }
            Action::GiveUp { client, .. } => self.give_up_on_master(client, step, testbed)?,
            _ => return Ok(MastersStep::Other),
        }
        Ok(MastersStep::Done { executed_by: None })
    }

    /// An application begins a call, by an object that has its locks in the order in which this call asks them.
    fn begin_on_masters(
        &mut self,
        client: u8,
        call: &str,
        (is_unlock, step): (bool, HistoryStep<'_>),
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let (verb, times) =
            call.split_once(' ').map_or((call, String::new()), |(verb, times)| (verb, format!(" {times}")));
        let at = usize::from(client);
        self.master_calls.unlocks[at] = is_unlock;
        let order = self.master_calls.begin(at, step.step.number);
        testbed.findings.note(|| format!("{}:1 calls {call} on the masters {order}", client_name(client)));
        let needs_all = self.config.of_client(client).protocol.needed_masters == NeededMasters::All;
        let class = if needs_all { "every" } else { "most" };
        let object = format!("{class}:{order}:{}/{}", self.translator.lock_name(0), step.step.number);
        self.applications.begin_call(at, 0, &format!("{verb} {object}{times}"), false)
    }

    /// Whether Redisson takes this step in the order of the history. Where it does not, the history is left.
    fn is_in_its_order(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> bool {
        let at = usize::from(client);
        match out_of_order(&self.master_calls.order[at], &step.before.clients[at], step.step.action) {
            None => return true,
            Some(OutOfOrder::Asks) => {
                testbed.findings.leave("a later round of Redisson asks the masters in the order of the first one");
            }
            Some(OutOfOrder::TurnsToGranted) => {
                testbed.findings.leave("Redisson turns to the masters in the order in which they have granted");
            }
        }
        false
    }

    /// What the step asks of a master is sent there, and passes with its reply, or with a reply that is late.
    fn ask_on_master(
        &mut self,
        client: u8,
        node: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let at = usize::from(client);
        let ClientPart::Asks(verb) = ClientPart::of_step(&self.config, step.step) else { return Ok(()) };
        let round = testbed.rounds.asked_in(&self.config, step.step.action);
        let is_release = matches!(verb, ScriptVerb::Release { .. });
        let is_later = step.before.clients[at].call.as_ref().is_some_and(|call| call.in_later_round);
        // A release brings the lease by which its lock was granted last, which matters only if it leaves a hold. The model remembers it for
        // its call alone.
        let brings_later = if is_release { self.master_calls.has_lease_of_later(at, node) } else { is_later };
        let Some(request) = self.translator.request_at_master(step.step, verb, round, brings_later) else {
            testbed.findings.leave("what is not reached fails at a time of Redisson's own");
            return Ok(());
        };
        let Some(held) = self.find_on_master(client, node, (verb, &request), step, testbed)? else { return Ok(()) };
        self.receipts[at].extend(receipt_of(&held));
        self.reach_limit(client, step)?;
        let is_late = matches!(step.step.action, Action::SlowReply { .. });
        let reply = if is_late {
            self.master_calls.late[at] = Some(held.connection);
            self.applications.execute_request(at, held.connection)?
        } else {
            self.applications.pass_request(at, held.connection)?
        };
        let words = self.translator.answer_words(step);
        let expected = Expected::Reply { at: step.place(), words, request };
        testbed.compare_answer(node.into(), &expected, &in_our_shape(verb, reply, self.renews_by_one()))?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        self.clear_up(client, testbed)?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        self.take_kept_receipts(client, node.into(), step, testbed)?;
        if matches!(verb, ScriptVerb::Acquire { .. }) && step.step.answer == Reply::Acquired {
            self.master_calls.remember_lease(at, node, is_later);
        }
        if !matches!(verb, ScriptVerb::Renew { .. }) {
            self.compare_call_on_masters(client, step, testbed);
        }
        Ok(())
    }

    /// A late reply reaches its client.
    fn hear_master(&mut self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let at = usize::from(client);
        let Some(connection) = self.master_calls.late[at].take() else { return Err(ReplayError::NothingHeld) };
        self.reach_limit(client, step)?;
        self.applications.pass_reply(at, connection)?;
        self.compare_call_on_masters(client, step, testbed);
        Ok(())
    }

    /// The request that the step sends to a master, as Redisson has sent it; `None`: it has not, which is a difference.
    fn find_on_master(
        &mut self,
        client: u8,
        node: u8,
        (verb, request): (ScriptVerb, &ScriptRequest),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<HeldCommand>, ReplayError> {
        let at = usize::from(client);
        let is_of_watchdog = matches!(verb, ScriptVerb::Renew { .. });
        let (wanted, commands, drawn) =
            (self.without_drawn_lease(request_words(request)), self.commands, self.drawn_lease());
        let servers = self.applications.servers_of_connections(at);
        let is_wanted = |held: &HeldCommand| {
            let words = script_words(&words_of(&by_one_name(held, client)), commands);
            servers.get(held.connection) == Some(&node.into())
                && is_renewal(held) == is_of_watchdog
                && words.map(|words| drawn.masked(words)).as_ref() == Some(&wanted)
        };
        let found = self.applications.await_request(at, is_wanted)?;
        let is_sent = found.is_some();
        if let Some(held) = found.filter(|held| self.is_first(at, held)) {
            testbed.findings.compared += 1;
            let renamed = by_one_name(&held, client);
            if renamed != held {
                self.applications.replace(at, &renamed);
            }
            return Ok(Some(renamed));
        }
        let waits = [Phase::Refused, Phase::Subscribed, Phase::Waiting];
        let waiter = step.before.clients[at].threads.first().filter(|thread| waits.contains(&thread.phase));
        let asks_there = |held: &HeldCommand| {
            let is_there = self.applications.server_of(at, held.connection) == usize::from(node);
            is_there && is_script(&words_of(held)) && !is_renewal(held)
        };
        let is_at_limit = waiter.is_some_and(|thread| thread.wait_left == Some(0)) && !is_of_watchdog;
        if is_at_limit && !self.unsent(at).iter().any(asks_there) {
            testbed.findings.leave("at the very instant of its wait limit a thread asks here, and Redisson's gives up");
            return Ok(None);
        }
        let is_behind_another = |held: &HeldCommand| {
            self.applications.server_of(at, held.connection) == usize::from(node) && is_renewal(held) != is_of_watchdog
        };
        let is_renewed_now = is_of_watchdog || has_due_watchdog(&step.before.clients[at], node);
        if is_sent && is_renewed_now && self.unsent(at).iter().any(is_behind_another) {
            testbed
                .findings
                .leave("Redisson sends two requests over its one connection in another order than the history");
            return Ok(None);
        }
        if is_of_watchdog && self.applications.has_late_timers(at) {
            testbed.findings.leave("the timers of Redisson are late by half a tick after so many renewals");
            return Ok(None);
        }
        let sent: Vec<_> = self
            .unsent(at)
            .iter()
            .map(|held| {
                let server = self.applications.server_of(at, held.connection);
                format!("{}: {}", name_of_node(server), shown(&by_one_name(held, client), commands))
            })
            .collect();
        let sent = if sent.is_empty() { NOTHING.to_owned() } else { sent.join("\n") };
        let what = || format!("request of {}", client_name(client));
        testbed.findings.compare(step.place(), what, &format!("{}: {wanted}", name_of_node(node.into())), &sent);
        Ok(None)
    }

    /// A call is answered at the very instant at which its wait is over, and looks at the clock then: that of its JVM is somewhat behind.
    fn reach_limit(&mut self, client: u8, step: HistoryStep<'_>) -> Result<(), ReplayError> {
        let at = usize::from(client);
        let before = &step.before.clients[at];
        let is_call_over = before.call.as_ref().is_some_and(|call| call.left == Some(0));
        // Of a late reply also the share of its master.
        let hears = matches!(step.step.action, Action::HearMaster { .. });
        let is_share_over = hears && before.threads[0].wait_left == Some(0);
        if is_call_over || is_share_over { self.applications.pass_what_is_due(at) } else { Ok(()) }
    }

    /// The share of a waiter is over: it turns to the next master, gives back what it was granted, or its call ends.
    fn give_up_on_master(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let at = usize::from(client);
        let waited = waited_for(client, step);
        let unsubscribe = self.commands.unsubscribe;
        let after = &step.step.state.clients[at].threads[0];
        if told_on_masters(&step.before.clients[at].threads[0], after, false) == calls::INSIDE {
            self.applications.await_request(at, |held| {
                let words = words_of(held);
                words[0] == unsubscribe || is_script(&words) && !is_renewal(held)
            })?;
        } else {
            self.applications.await_end(at, 0)?;
        }
        let held = self.unsent(at);
        let has_left = held.iter().any(|held| words_of(held)[0] == unsubscribe);
        let asks_there = |held: &HeldCommand| {
            let is_there = waited.map(usize::from) == Some(self.applications.server_of(at, held.connection));
            is_there && !is_renewal(held) && receipt_of(held).is_none()
        };
        if !has_left && held.iter().any(asks_there) {
            testbed
                .findings
                .leave("at the very instant of its wait limit a thread gives up here, and Redisson's goes on");
            return Ok(());
        }
        self.clear_up(client, testbed)?;
        self.compare_call_on_masters(client, step, testbed);
        Ok(())
    }

    /// Compares what the application has been told by now of its call.
    fn compare_call_on_masters(&mut self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let at = usize::from(client);
        let (before, after) = (&step.before.clients[at].threads[0], &step.step.state.clients[at].threads[0]);
        let is_unlock = self.master_calls.unlocks[at];
        let protocol = self.config.of_client(client).protocol;
        // `RedissonRedLock` hides every error of a release.
        let stops = protocol.needed_masters == NeededMasters::All && protocol.failed_part == FailedPart::Stops;
        let has_ended = is_unlock && after.phase != Phase::ReleasingMasters;
        let error = match step.step.answer {
            Reply::NotHeld => Some(calls::NOT_ITS_OWN),
            answer => self.told_of_refusal(client, answer),
        };
        let model = error.filter(|_| stops && has_ended);
        let model = model.unwrap_or_else(|| told_on_masters(before, after, is_unlock));
        let told = self.told((client, 0), testbed);
        compare_words((client, 0), (model, &told), step.place(), testbed);
    }
}

/// Whether the model, too, renews on this master before time passes: what a client sends it then, and its renewal, have one connection.
fn has_due_watchdog(client: &ClientState, node: u8) -> bool {
    let watchdogs = client.call.iter().flat_map(|call| &call.watchdogs);
    watchdogs.filter(|watchdog| watchdog.node == node_name(node)).any(|watchdog| watchdog.due_in == Some(0))
}

/// The node for whose lock a client waits before this step, from 0.
fn waited_for(client: u8, step: HistoryStep<'_>) -> Option<u8> {
    let name = step.before.clients[usize::from(client)].call.as_ref()?.waits_at.as_ref()?;
    (0u8..).zip(&step.before.nodes).find(|(_, node)| node.name == *name).map(|(number, _)| number)
}

/// What the model says that an application is told of its call by this step.
fn told_on_masters(before: &ThreadState, after: &ThreadState, is_unlock: bool) -> &'static str {
    match (before.phase, after.phase) {
        (
            _,
            Phase::AskingMasters
            | Phase::HearingMaster
            | Phase::SettingTtl
            | Phase::ReleasingMasters
            | Phase::Undoing
            | Phase::Refused
            | Phase::Subscribed
            | Phase::Waiting,
        ) => calls::INSIDE,
        // An error is hidden, or said before.
        (Phase::ReleasingMasters, _) if is_unlock => calls::RELEASED,
        _ if after.holds > before.holds => calls::GRANTED,
        (Phase::SettingTtl, _) => calls::JOINED_IN_VAIN,
        _ => calls::REFUSED,
    }
}
