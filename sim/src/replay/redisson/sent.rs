//! What clients of Redisson have sent: the request that a step asks for, renewals that the model does not have, and nothing at all
//! before time passes.

use lockstep_model::Action;
use lockstep_model::client::Phase;
use lockstep_model::config::Profile;
use lockstep_model::trace::{ClientState, NodeState, SubscriptionState, ThreadState, client_name};

use super::asking::Asking;
use super::calls;
use super::chains::RenewalChains;
use super::clients::RedissonClients;
use super::deployment::Deployment;
use super::gate::HeldCommand;
use super::overtaking::is_aside;
use super::refusals::asks_once;
use super::script_clock::ScriptClock;
use super::told::sends_acquires_again;
use super::wire_words::{is_prelude, is_renewal, is_script, receipt_of, request_words, script_words, shown, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptRequest, ScriptVerb};

const NOTHING: &str = "nothing";

impl RedissonClients {
    /// The request that the step sends, as Redisson has sent it; `None`: it has not, which is a difference or the end of what
    /// can be followed.
    pub(super) fn find(
        &mut self,
        (client, thread): Asking,
        verb: ScriptVerb,
        request: &ScriptRequest,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<HeldCommand>, ReplayError> {
        let asked = usize::from(client);
        let is_of_watchdog = matches!(verb, ScriptVerb::Renew { .. });
        let wanted_words = self.without_drawn_lease(request_words(request));
        let clock = self.script_clock(client, is_of_watchdog, step);
        // A client that may wait for replicas sends one request after the other.
        let is_in_turn = self.config.cluster.replicas > 0 || self.deployment != Deployment::AsScenario;
        let must_pass_renewals = is_in_turn && !is_of_watchdog;
        if must_pass_renewals && (!self.pass_extra_renewals(client, step, testbed)? || testbed.findings.is_over()) {
            return Ok(None);
        }
        let found = loop {
            let (in_flight, commands, drawn) = (&self.in_flight, self.commands, self.drawn_lease());
            let is_wanted = |held: &HeldCommand| {
                let words = script_words(&words_of(&with_clock(held, clock)), commands);
                is_renewal(held) == is_of_watchdog
                    && words.map(|words| drawn.masked(words)).as_ref() == Some(&wanted_words)
                    && !in_flight.is_sent(asked, held)
            };
            let found = self.applications.await_request(asked, |held| is_wanted(held) || is_prelude(held))?;
            let Some(prelude) = found.as_ref().filter(|held| is_prelude(held)) else { break found };
            if !self.is_first(asked, prelude) {
                // Behind a renewal that the model does not have.
                if is_of_watchdog || !self.pass_extra_renewals(client, step, testbed)? {
                    return Ok(None);
                }
                if !self.is_first(asked, prelude) {
                    if self.config.is_split() {
                        testbed.findings.leave("Redisson sends a request over the connection of one that was given up");
                        return Ok(None);
                    }
                    break None;
                }
            }
            let prelude = prelude.clone();
            self.pass_prelude(client, &prelude, testbed)?;
            if testbed.findings.is_over() {
                return Ok(None);
            }
        };
        if !is_of_watchdog && !self.pass_extra_renewals(client, step, testbed)? {
            return Ok(None);
        }
        // With one connection what was sent first has to pass first.
        let is_next = |held: &HeldCommand| self.config.is_split() || self.is_first(asked, held);
        let is_sent = found.is_some();
        if let Some(held) = found.filter(is_next) {
            testbed.findings.compared += 1;
            let set = with_clock(&held, clock);
            if set != held {
                self.applications.replace(asked, &set);
            }
            self.refused_probes.remove(&client);
            return Ok(Some(set));
        }
        let limit = thread.and_then(|thread| step.before.clients[asked].threads.get(usize::from(thread))?.wait_left);
        let is_busy = !self.unsent(asked).is_empty();
        if limit == Some(0) {
            testbed.findings.leave("at the very instant of its wait limit a thread asks here, and Redisson's gives up");
        } else if is_busy && (has_more_to_ask(&step.before.clients[asked], thread) || self.is_confirming(client))
            || is_sent && is_of_watchdog && self.sends_about_next_part(client, step)
        {
            testbed
                .findings
                .leave("Redisson sends two requests over its one connection in another order than the history");
        } else {
            let what = || format!("request of {}", client_name(client));
            let held = self.held_words(asked);
            let asks = self.unsent(asked).iter().any(|held| is_script(&words_of(held)));
            let told = thread.filter(|_| !asks).map(|thread| self.told((client, thread), testbed));
            let told = told.filter(|told| told != calls::INSIDE);
            if self.refused_probes.contains(&client) && !asks && told.as_deref() == Some(calls::WAIT_FAILED) {
                testbed.findings.leave(
                    "a server that is a replica answers what Redisson asks about WAITAOF with an error, and the call throws",
                );
                return Ok(None);
            }
            if !asks && self.is_cut_off((client, told.as_deref()), step, testbed) {
                testbed.findings.leave("Redisson asks over a connection that has ended, and its call fails");
                return Ok(None);
            }
            if is_of_watchdog && held == NOTHING && self.applications.has_late_timers(asked) {
                testbed.findings.leave("the timers of Redisson are late by half a tick after so many renewals");
                return Ok(None);
            }
            if self.has_built_its_request(client, step) {
                testbed.findings.leave(
                    "Redisson has built a waiter's request before its lock object learnt or forgot a lease, and here it asks afterwards",
                );
                return Ok(None);
            }
            let sent = told.map_or_else(|| held.clone(), |told| format!("{held}; its call: {told}"));
            testbed.findings.compare(step.place(), what, &wanted_words, &sent);
        }
        Ok(None)
    }

    /// Whether a client is inside a call about several parts, and has sent its request about the next one when the last one was answered,
    /// before anything else.
    fn sends_about_next_part(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let asked = usize::from(client);
        let goes_on = |thread: &ThreadState| {
            matches!(thread.phase, Phase::NextPart | Phase::GivingBack | Phase::SettingTtl | Phase::Undoing)
        };
        let first = self.unsent(asked).into_iter().find(|held| self.is_first(asked, held));
        let is_of_call = first.is_some_and(|held| is_script(&words_of(&held)) && !is_renewal(&held));
        is_of_call && step.before.clients[asked].threads.iter().any(goes_on)
    }

    /// The wall clock that scripts bring, of locks whose scripts do. A renewal may have been built by a timer of the tick before, which
    /// fired late, and waits at the gate since.
    pub(super) fn script_clock(&self, client: u8, is_of_watchdog: bool, step: HistoryStep<'_>) -> Option<ScriptClock> {
        let tick_ms = u64::from(self.config.time.tick_ms);
        let within_ms = if is_of_watchdog { tick_ms + tick_ms / 2 } else { tick_ms / 2 };
        let ahead_ms = u64::from(self.config.clock_ahead_of(client)) * tick_ms;
        let clock = ScriptClock { now_ms: self.translator.now_ms(step.step) + ahead_ms, within_ms };
        (self.config.lock.facts().queue.is_there() || self.config.names_values()).then_some(clock)
    }

    /// A thread that is subscribed has a reason to ask again, and so has a waiter for which a message comes or time passes: Redisson
    /// builds its request then.
    pub(super) fn note_reasons_to_ask(&mut self, client: u8, step: HistoryStep<'_>) {
        let at = usize::from(client);
        let (before, after) = (&step.before.clients[at], &step.step.state.clients[at]);
        for (thread, remembered) in (0u8..).zip(&mut self.remembered[at]) {
            let is_waiting = before.threads.get(usize::from(thread)).is_some_and(|one| one.phase == Phase::Waiting);
            let has_reason = match step.step.action {
                Action::Subscribe { client: of, thread: subscribed } => (of, subscribed) == (client, thread),
                Action::Deliver { client: of } => of == client && is_waiting,
                Action::Tick => is_waiting,
                _ => false,
            };
            if has_reason {
                *remembered = after.remembers_lease;
            }
        }
    }

    /// Whether a waiter asks again after its lock object has learnt or forgotten a lease, and Redisson has built its request before.
    fn has_built_its_request(&self, client: u8, step: HistoryStep<'_>) -> bool {
        let (Action::SecondAsk { thread, .. }
        | Action::WakeByMessage { thread, .. }
        | Action::WakeByTimer { thread, .. }) = step.step.action
        else {
            return false;
        };
        let remembers = step.before.clients[usize::from(client)].remembers_lease;
        let remembered = self.remembered[usize::from(client)].get(usize::from(thread));
        remembered.is_some_and(|remembered| *remembered != remembers)
    }

    /// Whether a client has asked over a connection that has ended, which versions before 4.3 do
    /// (docs/facts/redisson.md#a-server-that-is-back). `told`: what its caller is told, if a thread asks.
    fn is_cut_off(&self, (client, told): (u8, Option<&str>), step: HistoryStep<'_>, testbed: &Testbed) -> bool {
        let asked = usize::from(client);
        let server = testbed.servers.index_of(&step.before.clients[asked].master);
        let profile = self.config.of_client(client).protocol.profile;
        let does_so = matches!(profile, Profile::Redisson315 | Profile::Redisson343 | Profile::Redisson352);
        // An attempt that went there unseen is missing when the call should send again.
        let is_out_of_attempts = matches!(step.step.action, Action::Resend { .. });
        let has_failed = match told {
            Some(told) => told == calls::NO_SERVER || is_out_of_attempts && told == calls::TIMED_OUT,
            None => !self.applications.has_connection_for_requests(asked, server),
        };
        does_so && has_failed && self.applications.has_lost_connection(asked, server)
    }

    /// Whether a grant of this client waits for replicas, on its one connection.
    fn is_confirming(&self, client: u8) -> bool {
        self.open_waits.iter().any(|wait| wait.client == client && wait.confirming.is_some())
    }

    /// Whether nothing is before it on its connection.
    pub(super) fn is_first(&self, client: usize, held: &HeldCommand) -> bool {
        self.applications.first_held(client, held.connection).as_ref() == Some(held)
    }

    /// What a client has sent, and the history has not come to.
    pub(super) fn unsent(&self, client: usize) -> Vec<HeldCommand> {
        let held = self.applications.held(client).into_iter();
        let is_of_history =
            |held: &HeldCommand| self.in_flight.is_sent(client, held) || self.in_flight.is_wait_behind(client, held);
        held.filter(|held| !is_of_history(held) && !is_aside(held)).collect()
    }

    /// Before time passes, no client that runs has anything to send.
    pub(super) fn expect_silence(&mut self, step: HistoryStep<'_>, testbed: &mut Testbed) -> Result<(), ReplayError> {
        for (client, state) in (0u8..).zip(&step.before.clients) {
            let asked = usize::from(client);
            if !self.applications.runs(asked) {
                continue;
            }
            let own = self.config.of_client(client);
            if self.chains[asked].iter().any(RenewalChains::are_of_model) {
                self.applications.pass_half_a_tick(asked)?;
            } else if own.tokens_come_with_grants()
                || asks_once(&own)
                || self.chains[asked].iter().any(RenewalChains::has_extra_due)
            {
                // A caller that is told a token asks again by a timer, also one that was told that the key has no time left. And what is
                // sent once must not be found at the next tick: its time-out would be over by then. A renewal of one more timer, each of
                // which is later than the one before it, must not wait there with the clock of this instant.
                self.applications.pass_late_timers(asked)?;
            } else {
                self.applications.pass_what_is_due(asked)?;
            }
            self.pass_asides(client, testbed)?;
            if !self.pass_extra_renewals(client, step, testbed)? {
                return Ok(());
            }
            let held = self.held_words(asked);
            if held != NOTHING && is_refused_by_no_master(state, step) {
                testbed.findings.leave(
                    "Redisson subscribes on the master that it knows, and here it does not while that stands still or is a replica",
                );
                return Ok(());
            }
            if held != NOTHING && self.asks_unreached.contains(&client) {
                testbed.findings.leave("a waiter of Redisson asks while no server answers, and its call fails");
                return Ok(());
            }
            let is_subscription = |held: &HeldCommand| words_of(held)[0] == self.commands.subscribe;
            let is_lost = matches!(state.subscription, Some(SubscriptionState::Lost));
            if held != NOTHING && is_lost && self.unsent(asked).iter().all(is_subscription) {
                testbed.findings.leave("Redisson subscribes on the new master at once, and here it does later");
                return Ok(());
            }
            if held != NOTHING
                && self.lost_subscriptions.contains(&client)
                && self.unsent(asked).iter().all(is_subscription)
            {
                testbed.findings.leave("Redisson connects for messages to a master that is back at times of its own");
                return Ok(());
            }
            if held == NOTHING && !is_lost {
                self.lost_subscriptions.remove(&client);
            }
            let goes_on = |thread: &ThreadState| {
                matches!(thread.phase, Phase::NextPart | Phase::AskingMasters) && thread.may_wake_now
            };
            if held != NOTHING && state.threads.iter().any(goes_on) {
                testbed.findings.leave("Redisson begins anew at once after an error, and here time passes");
                return Ok(());
            }
            if held != NOTHING && state.threads.iter().any(|thread| thread.may_wake_now) {
                testbed
                    .findings
                    .leave("Redisson asks again at once while the key has no time left, and here time passes");
                return Ok(());
            }
            let is_of_interrupted =
                self.interrupted_acquires.contains(&client) && sends_acquires_again(&self.config.of_client(client));
            let is_acquire =
                |held: &HeldCommand| is_script(&words_of(held)) && !is_renewal(held) && receipt_of(held).is_none();
            if is_of_interrupted && self.unsent(asked).iter().any(is_acquire) {
                testbed.findings.leave("Redisson of 2021 sends an acquire again that is not answered in time");
                return Ok(());
            }
            testbed.findings.compare(step.place(), || format!("request of {}", client_name(client)), NOTHING, &held);
        }
        Ok(())
    }

    /// Everything that a client has sent and no server has received, in words.
    pub(super) fn held_words(&self, client: usize) -> String {
        let held: Vec<_> = self.unsent(client).iter().map(|held| shown(held, self.commands)).collect();
        if held.is_empty() { NOTHING.to_owned() } else { held.join("\n") }
    }
}

/// Whether the client may ask for something else at this instant as well as for this thread, or, if it is none, for its
/// watchdog: with one connection the second request waits for the reply to the first.
fn has_more_to_ask(client: &ClientState, asking: Option<u8>) -> bool {
    let may_ask = |thread: &ThreadState| match thread.phase {
        Phase::Subscribed | Phase::Undoing => true,
        // Its process may be subscribed already for another one.
        Phase::Refused => client.threads.len() > 1,
        Phase::Waiting => client.permits > 0 || thread.wake_in == Some(0) || thread.may_wake_now,
        _ => false,
    };
    let others = (0u8..).zip(&client.threads).filter(|(number, _)| Some(*number) != asking);
    // Of two timers that are due either may fire first.
    let is_renewal_due = match asking {
        Some(_) => client.renewal_due_in == Some(0),
        None => client.later_renewals_due_in.first() == Some(&0),
    };
    is_renewal_due || others.map(|(_, thread)| thread).any(may_ask)
}

/// Whether a thread was refused by a node that stands still by now, or is no master any more: in the model it subscribes once that
/// goes on, or its client knows the new one (docs/facts/redisson.md#known-differences-between-the-model-and-redisson).
fn is_refused_by_no_master(client: &ClientState, step: HistoryStep<'_>) -> bool {
    let is_refused = client.threads.iter().any(|thread| thread.phase == Phase::Refused);
    is_refused && !is_known_master_there(client, step)
}

/// Whether the node that a client takes for the master is one, and does not stand still.
fn is_known_master_there(client: &ClientState, step: HistoryStep<'_>) -> bool {
    let answers = |node: &NodeState| node.name == client.master && node.is_master() && !node.is_paused;
    step.before.nodes.iter().any(answers)
}

/// A request that brings the time of the history, if it brings one.
pub(super) fn with_clock(held: &HeldCommand, clock: Option<ScriptClock>) -> HeldCommand {
    let words = clock.map_or_else(|| held.words.clone(), |clock| clock.set(&held.words));
    HeldCommand { words, ..held.clone() }
}
