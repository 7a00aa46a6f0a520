//! Real Redisson as the clients of a history: the target `redisson`.
//!
//! A step lets one request pass at the gate of its client, or one message, or makes the application do something. So what
//! the history says of the order is what happens; and whatever Redisson sends that the history does not say, or does not send
//! although it does, is a difference. While time passes, nothing may be held: the model's clients do at once what they can.

use std::time::Instant;

use lockstep_model::client::Phase;
use lockstep_model::trace::{ClientState, SubscriptionState, ThreadState, client_name};
use lockstep_model::{Action, Config, Happening, Reply};
use redis::{Cmd, Value};

use super::applications::Applications;
use super::calls::{self, told_by};
use super::chains::RenewalChains;
use super::gate::HeldCommand;
use super::jvm::RedissonProgram;
use super::refusals::refuse_world;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::servers::ANSWER_WAIT;
use crate::replay::target::Target;
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{ScriptRequest, ScriptVerb, Translator};
use crate::replay::value_text::value_text;

/// The name of the lock.
const LOCK: &str = "lock";
/// What the names of release receipts have in common.
const RECEIPTS: &str = "redisson_unlock_latch:";

/// Clients of Redisson.
pub struct RedissonClients {
    config: Config,
    translator: Translator,
    applications: Applications,
    /// The receipt of each client's last release.
    receipts: Vec<Option<String>>,
    /// The timers of each client's watchdog.
    chains: Vec<RenewalChains>,
}

impl RedissonClients {
    /// The clients of a scenario. `start_ms`: their wall clocks when they are started.
    ///
    /// # Errors
    /// `NotForRedisson`.
    pub fn new(
        config: &Config,
        translator: Translator,
        program: RedissonProgram,
        start_ms: i64,
    ) -> Result<Self, ReplayError> {
        refuse_world(config, &program)?;
        let are_apart = config.faults.pause_client > 0 || config.faults.client_clock_jump > 0;
        let applications = Applications::new(program, are_apart, config.time.tick_ms, start_ms);
        Ok(Self { config: *config, translator, applications, receipts: Vec::new(), chains: Vec::new() })
    }

    /// Its watchdog's lease; without a watchdog every call names its own.
    fn watchdog_ms(&self, client: u8) -> i64 {
        let time = self.config.of_client(client).time;
        i64::from(time.lease) * i64::from(time.tick_ms)
    }
}

impl Target for RedissonClients {
    fn setup(&self) -> Vec<Cmd> {
        Vec::new()
    }

    fn end(&mut self) -> Result<(), ReplayError> {
        self.applications.close()
    }

    fn begin(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let clients: Vec<_> = (0..self.config.clients.count)
            .map(|client| (client_name(client).to_string(), self.watchdog_ms(client)))
            .collect();
        self.receipts = vec![None; clients.len()];
        self.chains = vec![RenewalChains::default(); clients.len()];
        let threads = usize::from(self.config.clients.threads);
        self.applications.connect(&clients, threads, testbed.servers.node(testbed.servers.master()).socket())
    }

    fn prepare(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        if step.step.action == Action::Tick {
            testbed.send_queued()?;
            self.expect_silence(step, testbed)?;
        }
        Ok(())
    }

    fn act(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<Option<usize>, ReplayError> {
        testbed.send_queued()?;
        if testbed.findings.difference.is_some() {
            return Ok(None);
        }
        match step.step.action {
            Action::Tick => {
                for (client, state) in (0u8..).zip(&step.before.clients) {
                    let period = self.config.of_client(client).time.renew_every.unwrap_or_default();
                    self.chains[usize::from(client)].pass_tick(state, period);
                }
                self.applications.pass_tick()?;
                Ok(None)
            }
            Action::Acquire { client, thread } => {
                let before = &step.before.clients[usize::from(client)].threads[usize::from(thread)];
                // It may start a timer.
                if step.before.clients[usize::from(client)].renewal_counts.iter().all(|count| *count == 0) {
                    self.applications.catch_up(usize::from(client))?;
                }
                let call = calls::acquire(&self.config.of_client(client), before.holds > 0);
                self.begin_call((client, thread), before.holds + 1, &call, testbed)?;
                self.ask((client, Some(thread)), ScriptVerb::Acquire { client, thread }, step, testbed)
            }
            Action::SecondAsk { client, thread }
            | Action::WakeByMessage { client, thread }
            | Action::WakeByTimer { client, thread } => {
                self.ask((client, Some(thread)), ScriptVerb::Acquire { client, thread }, step, testbed)
            }
            Action::Release { client, thread } | Action::ForeignRelease { client, thread } => {
                let before = &step.before.clients[usize::from(client)].threads[usize::from(thread)];
                self.begin_call((client, thread), before.holds, "unlock", testbed)?;
                self.ask((client, Some(thread)), ScriptVerb::Release { client, thread }, step, testbed)
            }
            Action::ForceRelease { client } => {
                let thread = self.config.clients.threads;
                self.begin_call((client, thread), 0, "force-unlock", testbed)?;
                self.ask((client, Some(thread)), ScriptVerb::ForceRelease, step, testbed)
            }
            Action::Renew { client } => {
                self.chains[usize::from(client)].fired(step.step.answer != Reply::NothingToRenew);
                self.ask((client, None), ScriptVerb::Renew { client }, step, testbed)
            }
            Action::Subscribe { client, .. } => {
                self.subscribe(client, step, testbed)?;
                Ok(None)
            }
            Action::Deliver { client } | Action::LoseMessage { client } => {
                self.take_message(client, step, testbed)?;
                Ok(None)
            }
            Action::GiveUp { client, thread } => {
                self.applications.await_end(usize::from(client), usize::from(thread))?;
                self.clear_up(client, testbed)?;
                self.compare_told((client, thread), calls::REFUSED, step, testbed);
                Ok(None)
            }
            Action::Interrupt { client, thread } => {
                self.applications.interrupt(usize::from(client), usize::from(thread))?;
                self.clear_up(client, testbed)?;
                self.compare_told((client, thread), calls::INTERRUPTED, step, testbed);
                Ok(None)
            }
            Action::CrashClient { client } => {
                self.applications.kill(usize::from(client));
                Ok(None)
            }
            Action::PauseClient { client } => {
                // Its time for the answer would be over when it goes on.
                if !self.applications.held(usize::from(client)).is_empty() {
                    testbed.findings.leave("Redisson has sent its next request before the pause, and here it has not");
                    return Ok(None);
                }
                self.applications.set_paused(usize::from(client), true);
                Ok(None)
            }
            Action::Resume { client } => {
                let resumed = &step.step.state.clients[usize::from(client)];
                let is_overdue = resumed.renewal_due_in == Some(0)
                    || resumed.threads.iter().any(|thread| thread.wake_in == Some(0) || thread.wait_left == Some(0));
                self.applications.set_paused(usize::from(client), false);
                if !is_overdue {
                    self.applications.catch_up(usize::from(client))?;
                }
                Ok(None)
            }
            Action::ClientClockJump { client } => {
                let ms = i64::from(self.config.time.jump) * i64::from(self.config.time.tick_ms);
                self.applications.jump_wall_clock(usize::from(client), ms);
                Ok(None)
            }
            // Inside an application, at the resource, or on the servers alone. What this target cannot follow was refused.
            _ => Ok(None),
        }
    }

    fn observe(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (client, (before, after)) in (0u8..).zip(step.before.clients.iter().zip(&step.step.state.clients)) {
            let period = self.config.of_client(client).time.renew_every.unwrap_or_default();
            self.chains[usize::from(client)].follow(before, after, period);
        }
        if step.has(Happening::Published) && !testbed.findings.is_over() {
            self.await_messages(step, testbed)?;
        }
        Ok(())
    }

    fn settle(&mut self, testbed: &mut Testbed) -> Result<(), ReplayError> {
        testbed.send_queued().map(|_| ())
    }
}

/// A client, and its thread where one waits for the answer.
type Asking = (u8, Option<u8>);

impl RedissonClients {
    /// A thread begins a call. Every call that is inside another one has a lock object of its own, as in the model: an object
    /// remembers the lease that it was last given (docs/facts/redisson.md#explicit-lease).
    fn begin_call(
        &mut self,
        (client, thread): (u8, u8),
        level: u8,
        call: &str,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        // The lock's name follows the verb.
        let (verb, times) =
            call.split_once(' ').map_or((call, String::new()), |(verb, times)| (verb, format!(" {times}")));
        testbed.findings.note(|| format!("{}:{} calls {call}", client_name(client), thread + 1));
        self.applications.begin_call(
            usize::from(client),
            usize::from(thread),
            &format!("{verb} {LOCK}/{thread}.{level}{times}"),
        )
    }

    /// Lets renewals pass that the model does not have, as Redisson has more timers: where they change nothing, because the
    /// lease is whole. Where one changes something the history can be followed no further. Returns whether it can.
    fn pass_extra_renewals(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<bool, ReplayError> {
        let asked = usize::from(client);
        let state = &step.before.clients[asked];
        let time = self.config.of_client(client).time;
        let lease_ms = u64::from(time.lease) * u64::from(time.tick_ms);
        let node = testbed.servers.index_of(&state.master);
        let hold = step.before.nodes.get(node).and_then(|node| node.stored.holder());
        let changes_nothing = hold.is_some_and(|hold| {
            state.threads.iter().any(|thread| thread.name == hold.holder) && hold.ttl_ms == Some(lease_ms)
        });
        loop {
            let is_first =
                |held: &HeldCommand| self.applications.first_held(asked, held.connection).as_ref() == Some(held);
            let mut requests = self.applications.held(asked).into_iter();
            let Some(extra) = requests.find(|held| is_renewal(held) && is_first(held)) else { return Ok(true) };
            if !self.chains[asked].has_extra_due() {
                return Ok(true);
            }
            if !changes_nothing {
                testbed.findings.leave("Redisson renews by one more timer: they multiply, and the model has one");
                return Ok(false);
            }
            self.applications.pass_request(asked, extra.connection)?;
            testbed.findings.note(|| format!("{} renews by one more timer: {}", client_name(client), shown(&extra)));
        }
    }

    /// The request that the step says passes, and its reply. Returns the node that executed it.
    fn ask(
        &mut self,
        (client, thread): Asking,
        verb: ScriptVerb,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let Some(request) = self.translator.request(step, verb) else { return Ok(None) };
        let asked = usize::from(client);
        let node = testbed.servers.index_of(&step.before.clients[asked].master);
        let wanted_words = request_words(&request);
        let is_wanted = |held: &HeldCommand| {
            is_renewal(held) == matches!(verb, ScriptVerb::Renew { .. })
                && script_words(&words_of(held)).as_ref() == Some(&wanted_words)
        };
        let found = self.applications.await_request(asked, is_wanted)?;
        if !matches!(verb, ScriptVerb::Renew { .. }) && !self.pass_extra_renewals(client, step, testbed)? {
            return Ok(None);
        }
        let is_first = |held: &HeldCommand| self.applications.first_held(asked, held.connection).as_ref() == Some(held);
        let Some(held) = found.filter(is_first) else {
            let limit =
                thread.and_then(|thread| step.before.clients[asked].threads.get(usize::from(thread))?.wait_left);
            if limit == Some(0) {
                testbed
                    .findings
                    .leave("at the very instant of its wait limit a thread asks here, and Redisson's gives up");
                return Ok(None);
            }
            let is_busy = !self.applications.held(asked).is_empty();
            if is_busy && has_more_to_ask(&step.before.clients[asked], thread) {
                testbed
                    .findings
                    .leave("Redisson sends two requests over its one connection in another order than the history");
                return Ok(None);
            }
            let what = || format!("request of {}", client_name(client));
            testbed.findings.compare(step.place(), what, &request_words(&request), &self.held_words(asked));
            return Ok(None);
        };
        testbed.findings.compared += 1;
        if let Some(receipt) = words_of(&held).into_iter().find(|word| word.starts_with(RECEIPTS)) {
            self.receipts[asked] = Some(receipt);
        }
        let reply = self.applications.pass_request(asked, held.connection)?;
        // Until 3.44 a renewal is a script for one lock, which replies with a number.
        let reply = match (verb, reply) {
            (ScriptVerb::Renew { .. }, Value::Int(number)) => Value::Array(vec![Value::Int(number)]),
            (_, reply) => reply,
        };
        let words = self.translator.reply_words(step.step.answer);
        testbed.compare_answer(node, &Expected::Reply { at: step.place(), words, request }, &reply)?;
        self.clear_up(client, testbed)?;
        if let Some(thread) = thread {
            let told = Self::told_by_model(client, thread, verb, step);
            self.compare_told((client, thread), told, step, testbed);
        }
        Ok(Some(node))
    }

    /// What the model says the application is told by this step.
    fn told_by_model(client: u8, thread: u8, verb: ScriptVerb, step: HistoryStep<'_>) -> &'static str {
        let of = |clients: &[ClientState]| clients[usize::from(client)].threads.get(usize::from(thread)).cloned();
        let threads: Option<(ThreadState, ThreadState)> = of(&step.before.clients).zip(of(&step.step.state.clients));
        match (verb, step.step.answer) {
            (ScriptVerb::Acquire { .. }, _) => {
                threads.map_or(calls::INSIDE, |(before, after)| calls::told_of_acquire(&before, &after))
            }
            (ScriptVerb::ForceRelease, Reply::ForceReleased) => "it has freed the lock",
            (ScriptVerb::ForceRelease, _) => "there was nothing to free",
            (_, Reply::Released | Reply::StillHeld) => calls::RELEASED,
            (_, Reply::SaveFailed) => "RedisException",
            _ => calls::NOT_ITS_OWN,
        }
    }

    fn compare_told(&mut self, (client, thread): (u8, u8), model: &str, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let ended = self.applications.end_of(usize::from(client), usize::from(thread));
        let told =
            ended.map_or_else(|| "it is in no call".to_owned(), |(verb, ended)| told_by(&verb, ended.as_deref()));
        let name = || format!("{}:{}", client_name(client), thread + 1);
        testbed.findings.note(|| format!("{}: {told}", name()));
        testbed.findings.compare(step.place(), || format!("what {} is told", name()), model, &told);
    }

    /// Lets pass what belongs to a step that is over: the client drops the receipt of a release that was answered, and ends a
    /// subscription that no thread of its needs any more.
    fn clear_up(&mut self, client: u8, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        loop {
            let is_of_step = |held: &HeldCommand| match words_of(held).as_slice() {
                [name, key] => name == "DEL" && self.receipts[asked].as_ref() == Some(key) || name == "UNSUBSCRIBE",
                _ => false,
            };
            let Some(held) = self.applications.held(asked).into_iter().find(is_of_step) else { return Ok(()) };
            let words = words_of(&held);
            if words[0] == "UNSUBSCRIBE" {
                // What was published before arrives before it ends.
                while self.applications.messages(asked) > 0 {
                    self.applications.pass_message(asked)?;
                }
            } else {
                self.receipts[asked] = None;
            }
            self.applications.pass_request(asked, held.connection)?;
            testbed.findings.note(|| format!("{}: {}", client_name(client), words.join(" ")));
        }
    }

    /// The client subscribes, unless it is subscribed already for another thread.
    fn subscribe(&mut self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        if matches!(step.before.clients[asked].subscription, Some(SubscriptionState::Node(_))) {
            return Ok(());
        }
        let Some(channel) = self.translator.unlock_channel() else { return Ok(()) };
        let wanted = ["SUBSCRIBE".to_owned(), channel.name];
        let found = self.applications.await_request(asked, |held| words_of(held) == wanted)?;
        let what = || format!("request of {}", client_name(client));
        let Some(held) = found else {
            testbed.findings.compare(step.place(), what, &wanted.join(" "), &self.held_words(asked));
            return Ok(());
        };
        testbed.findings.compared += 1;
        testbed.findings.note(|| format!("{}: {}", client_name(client), wanted.join(" ")));
        self.applications.pass_request(asked, held.connection)?;
        Ok(())
    }

    /// An unlock message reaches the client, or is lost on the way.
    fn take_message(&mut self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let is_lost = matches!(step.step.action, Action::LoseMessage { .. });
        let message = match (self.applications.messages(asked), is_lost) {
            (0, _) => None,
            (_, true) => Some(self.applications.drop_message(asked)?),
            (_, false) => Some(self.applications.pass_message(asked)?),
        };
        let payload = message.as_ref().and_then(payload_of).unwrap_or_else(|| "nothing".to_owned());
        let expected = self.translator.unlock_channel().map_or("nothing", |channel| channel.message);
        let what = || format!("messages to {}", client_name(client));
        testbed.findings.compare(step.place(), what, expected, &payload);
        testbed.findings.note(|| format!("message {payload}"));
        Ok(())
    }

    /// What was published must be at the gates of those who are subscribed.
    fn await_messages(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let begin = Instant::now();
        loop {
            self.applications.take_arrived()?;
            let missing = self.compared_messages(step).into_iter().find(|(_, expected, arrived)| arrived < expected);
            let Some((client, expected, arrived)) = missing else { break };
            if begin.elapsed() > ANSWER_WAIT {
                let what = || format!("messages to {}", client_name(client));
                testbed.findings.compare(step.place(), what, &expected.to_string(), &arrived.to_string());
                break;
            }
            std::thread::yield_now();
        }
        testbed.findings.compared += 1;
        Ok(())
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

    /// Before time passes, no client that runs has anything to send.
    fn expect_silence(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (client, state) in (0u8..).zip(&step.before.clients) {
            let asked = usize::from(client);
            if !self.applications.runs(asked) {
                continue;
            }
            self.applications.pass_what_is_due(asked)?;
            if !self.pass_extra_renewals(client, step, testbed)? {
                return Ok(());
            }
            let held = self.held_words(asked);
            if held != NOTHING && state.threads.iter().any(|thread| thread.may_wake_now) {
                testbed
                    .findings
                    .leave("Redisson asks again at once while the key has no time left, and here time passes");
                return Ok(());
            }
            testbed.findings.compare(step.place(), || format!("request of {}", client_name(client)), NOTHING, &held);
        }
        Ok(())
    }

    /// Everything that a client has sent and no server has received, in words.
    fn held_words(&self, client: usize) -> String {
        let held: Vec<_> = self.applications.held(client).iter().map(shown).collect();
        if held.is_empty() { NOTHING.to_owned() } else { held.join("\n") }
    }
}

/// Whether the client may ask for something else at this instant as well as for this thread, or, if it is none, for its
/// watchdog: with one connection the second request waits for the reply to the first.
fn has_more_to_ask(client: &ClientState, asking: Option<u8>) -> bool {
    let may_ask = |thread: &ThreadState| match thread.phase {
        Phase::Subscribed => true,
        Phase::Waiting => client.permits > 0 || thread.wake_in == Some(0) || thread.may_wake_now,
        _ => false,
    };
    let others = (0u8..).zip(&client.threads).filter(|(number, _)| Some(*number) != asking);
    let is_renewal_due = asking.is_some() && client.renewal_due_in == Some(0);
    is_renewal_due || others.map(|(_, thread)| thread).any(may_ask)
}

const NOTHING: &str = "nothing";
const PUBLISH: &str = "PUBLISH";

fn words_of(held: &HeldCommand) -> Vec<String> {
    held.words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether a script renews: it has the keys and arguments of an acquire, and raises no count.
fn is_renewal(held: &HeldCommand) -> bool {
    match words_of(held).as_slice() {
        [name, text, ..] => name == "EVAL" && text.contains("pexpire") && !text.contains("hincrby"),
        _ => false,
    }
}

/// `lock channel | 30000 A:1`: the keys and arguments of our scripts. Of receipts only the kind is shown: their ids are drawn.
fn request_words(request: &ScriptRequest) -> String {
    let args: Vec<_> = request.call.args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
    call_words(&request.call.keys, &args)
}

/// The same of a script that Redisson sends; `None`: it is no script.
fn script_words(words: &[String]) -> Option<String> {
    let [name, _, number, rest @ ..] = words else { return None };
    if name != "EVAL" && name != "EVALSHA" {
        return None;
    }
    let (keys, args) = rest.split_at_checked(number.parse().ok()?)?;
    // How it publishes is an argument of its scripts, and a part of ours (docs/facts/redisson.md#publish-command).
    let args: Vec<_> = args.iter().filter(|arg| *arg != PUBLISH).cloned().collect();
    Some(call_words(keys, &args))
}

fn call_words(keys: &[String], args: &[String]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| masked(key)).collect();
    format!("{} | {}", keys.join(" "), args.join(" "))
}

fn masked(key: &str) -> String {
    match key.rsplit_once(':') {
        Some((kind, _)) if key.starts_with(RECEIPTS) => format!("{kind}:ID"),
        _ => key.to_owned(),
    }
}

/// What a client sent, without the text of scripts.
fn shown(held: &HeldCommand) -> String {
    let words = words_of(held);
    script_words(&words).unwrap_or_else(|| words.join(" "))
}

fn payload_of(message: &Value) -> Option<String> {
    let Value::Array(parts) = message else { return None };
    parts.last().and_then(value_text)
}
