//! Requests that are not answered in time on a split network: they are lost, sent again, or given up.

use lockstep_model::Reply;
use lockstep_model::client::Slot;
use lockstep_model::config::Resend;
use lockstep_model::trace::{RequestState, client_name};

use super::calls::{REFUSED, TIMED_OUT};
use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::overtaking::{QUESTION, is_aside, set_aside};
use super::requests::GatedStage;
use super::split::verb_of;
use super::wire_words::is_renewal;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{RequestKey, request_state};

impl RedissonClients {
    /// A request is lost, or its reply: its connection breaks, and nothing else can be lost with it. Redisson opens another one,
    /// and waits for the reply for as long as it would have.
    pub(super) fn lose(&mut self, key: RequestKey, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let client = usize::from(key.0);
        let lost = self.in_flight.get_mut(key).ok_or(ReplayError::NothingInFlight)?.clone();
        let mut held = self.applications.held(client).into_iter();
        // The `WAIT` behind it is of the same batch.
        let is_more = |other: &HeldCommand| *other != lost.held && !self.in_flight.is_wait_behind(client, other);
        let carries_more = held.any(|other| other.connection == lost.held.connection && is_more(&other));
        if carries_more || self.in_flight.shares_connection(&lost) {
            testbed.findings.leave("another request of Redisson would be lost with the connection of this one");
            return Ok(());
        }
        testbed.findings.note(|| format!("connection {} of {} breaks", lost.held.connection, client_name(key.0)));
        self.applications.break_connection(client, lost.held.connection)?;
        if let Some(request) = self.in_flight.get_mut(key) {
            request.stage = GatedStage::Lost;
        }
        Ok(())
    }

    /// No reply came in time: the time of the client moves on until it has sent the request again. The attempt before may still be
    /// executed, and its reply finds nobody.
    pub(super) fn resend(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let (client, slot) = key;
        let state = request_state(&step.step.state, key).ok_or(ReplayError::NothingInFlight)?;
        let request = self.translator.call_of(state, client, &step.step.state);
        let asking = (client, slot.thread());
        let is_twin = |other: &RequestState| {
            let is_like = (other.verb, &other.holder) == (state.verb, &state.holder);
            other.slot != slot && is_like && other.answer_left == Some(0)
        };
        if step.before.clients[usize::from(client)].requests.iter().any(is_twin) {
            testbed.findings.leave("two equal requests are sent again at once, and nobody can tell which is which");
            return Ok(());
        }
        if self.overtaken.contains(&client) {
            self.occupy_connection(client, step, testbed)?;
        }
        let Some(held) = self.find(asking, verb_of(state.verb, key), &request, step, testbed)? else { return Ok(()) };
        self.drop_given_up(step, testbed)?;
        self.note_sent(key, held, request, testbed);
        Ok(())
    }

    /// No reply came in time: the time of the client moves on until it finds that.
    pub(super) fn abandon(
        &mut self,
        key: RequestKey,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let (client, slot) = key;
        if slot == Slot::Renewal && self.config.of_client(client).calls.resend == Resend::None {
            testbed.findings.leave("Redisson sends a renewal again that is not answered in time");
            return Ok(());
        }
        match slot.thread() {
            Some(thread) => {
                self.applications.await_end(usize::from(client), usize::from(thread))?;
                self.clear_up(client, testbed)?;
                let is_refused = step.step.answer == Reply::ToldRefused;
                let told = if is_refused { REFUSED } else { TIMED_OUT };
                self.compare_call((client, thread), told, (!is_refused, step), testbed);
            }
            // Its caller was interrupted.
            None if slot.is_late() => {
                let resends = self.config.of_client(client).calls.retry_attempts;
                self.applications.pass_late_attempts(usize::from(client), resends)?;
            }
            None => self.applications.pass_what_is_due(usize::from(client))?,
        }
        self.leave_early_renewal(client, step, testbed);
        self.drop_given_up(step, testbed)?;
        self.occupy_connection(client, step, testbed)
    }

    /// A request of this client was given up in this step. Where it may still be executed, another thread asks over its connection.
    fn occupy_connection(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        if !set_aside(step.before, &step.step.state, client) {
            return Ok(());
        }
        testbed.findings.note(|| format!("another thread of {} asks for its hold count", client_name(client)));
        let thread = usize::from(self.config.clients.threads) + 1;
        let question = format!("{QUESTION} {}/{thread}.0", self.translator.lock_name(0));
        self.applications.begin_call(usize::from(client), thread, &question, false)
    }

    /// Lets pass what is no part of the history, where nothing is under way before it and its server does not stand still.
    pub(super) fn pass_asides(&mut self, client: u8, testbed: &Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        loop {
            let mut asides = self.applications.held(asked).into_iter().filter(is_aside);
            let is_answered = |held: &HeldCommand| {
                let server = self.applications.server_of(asked, held.connection);
                !testbed.servers.is_paused(server)
            };
            let next = asides.find(|held| self.is_first(asked, held) && is_answered(held));
            let Some(next) = next else { return Ok(()) };
            self.applications.pass_request(asked, next.connection)?;
        }
    }

    /// The last hold ends at the very instant at which the watchdog would renew. Redisson has renewed already where its clocks moved
    /// on, because a request was to be sent again.
    pub(super) fn leave_early_renewal(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let counts = &step.step.state.clients[usize::from(client)].renewal_counts;
        let is_empty = counts.iter().all(|count| *count == 0);
        if is_empty && self.unsent(usize::from(client)).iter().any(is_renewal) {
            testbed.findings.leave("at the very instant of a renewal its hold ends here, and Redisson's has renewed");
        }
    }

    /// Whether a request whose time is over at this instant is given up by Redisson already, and nothing that its caller is told
    /// shows it.
    pub(super) fn has_timed_out(&self, (client, slot): RequestKey) -> bool {
        let may_be_sent_again = self.config.of_client(client).calls.resend == Resend::All || slot == Slot::Renewal;
        let is_ahead = self.applications.is_ahead(usize::from(client));
        self.overtaken.contains(&client) || may_be_sent_again && is_ahead
    }
}
