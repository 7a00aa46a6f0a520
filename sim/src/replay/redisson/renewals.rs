//! What the watchdogs of Redisson renew: more often than the model's, as their timers multiply (`chains`), and by timers that end
//! earlier (docs/facts/redisson.md#renewal-timers-multiply).

use lockstep_model::client::{Slot, Verb};
use lockstep_model::locks::keys::{DEADLINE_FIELD, HashValue};
use lockstep_model::trace::{ClientState, Contents, Hold, KeySlot, KeyValue, RequestState, StoredKey, client_name};
use lockstep_model::{Action, Reply};

use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::sent::with_clock;
use super::sides::WRITER;
use super::wire_words::{is_of_writer, is_renewal, shown};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptVerb, request_state};

impl RedissonClients {
    /// The model's watchdog renews, or finds nothing to renew.
    pub(super) fn renew(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let renews = step.step.answer != Reply::NothingToRenew;
        let table = self.fired_table(client, step);
        if renews && self.has_ended_timer(client, table)? {
            testbed.findings.leave("the timer of this renewal has ended in Redisson: its last answer left nothing");
            return Ok(None);
        }
        if renews && self.found_no_hold(client, table)? {
            testbed.findings.leave("a timer that is due finds no hold before this one: the choice of the JVM");
            return Ok(None);
        }
        if renews && self.has_release_timed_out(client, step)? {
            testbed.findings.leave(
                "at the very instant of its time-out a release is still awaited here, and Redisson's has failed and ended a renewal",
            );
            return Ok(None);
        }
        self.leave_renewal_of_side(client, table, step, testbed);
        if testbed.findings.is_over() {
            return Ok(None);
        }
        let chains = &mut self.chains[usize::from(client)][table];
        chains.fired(renews);
        if !renews && chains.are_of_model() {
            self.end_timer(client, testbed)?;
        }
        self.ask((client, None), ScriptVerb::Renew { client }, step, testbed)
    }

    /// Whether the model renews, and a release of this client is given up at this instant: in Redisson it has been, and nothing is left
    /// to renew.
    fn has_release_timed_out(&mut self, client: u8, step: HistoryStep<'_>) -> Result<bool, ReplayError> {
        let is_given_up = |state: &RequestState| state.verb == Verb::Release && state.answer_left == Some(0);
        let mut slots = Slot::ALL.into_iter();
        if !slots.any(|slot| request_state(step.before, (client, slot)).is_some_and(is_given_up)) {
            return Ok(false);
        }
        Ok(self.applications.await_request(usize::from(client), is_renewal)?.is_none())
    }

    /// Whether a script of ours renews one lock, and answers a number: other kinds answer a number for each.
    pub(super) const fn renews_by_one(&self) -> bool {
        self.config.shares() || self.config.names_values()
    }

    /// The renewal table of a client that is about this thread.
    pub(super) fn table_of(&self, thread: u8) -> usize {
        if self.config.shares() { thread.into() } else { 0 }
    }

    /// Whether a client sends this to renew what is in this table: a lock with readers renews its writer by another script.
    pub(super) fn renews_table(&self, held: &HeldCommand, table: usize) -> bool {
        is_renewal(held) && (!self.config.shares() || is_of_writer(held) == (self.table_of(WRITER) == table))
    }

    /// The table whose timer fires in a step in which a client renews.
    fn fired_table(&self, client: u8, step: HistoryStep<'_>) -> usize {
        let state = &step.before.clients[usize::from(client)];
        let due = || {
            let tables = self.chains[usize::from(client)].iter().enumerate();
            let due = tables.filter(|(_, chains)| chains.is_model_due(state));
            due.min_by_key(|(_, chains)| chains.model_set_in()).map_or(0, |(table, _)| table)
        };
        state.renewal_first.map_or_else(due, |thread| self.table_of(thread))
    }

    /// What a step, in which no time has passed, has done to the timers of a client.
    pub(super) fn follow_timers(&mut self, client: u8, step: HistoryStep<'_>) {
        let at = usize::from(client);
        let (before, after) = (&step.before.clients[at], &step.step.state.clients[at]);
        let is_renewed = match step.step.action {
            Action::Renew { client: own }
            | Action::RenewAcknowledged { client: own }
            | Action::Answer { client: own, slot: Slot::Renewal } => own == client,
            _ => false,
        };
        let period = self.config.of_client(client).time.renew_every.unwrap_or_default();
        // One that finds nothing has ended, where each table has one.
        if is_renewed && !(self.config.shares() && step.step.answer == Reply::NothingToRenew) {
            let table = self.fired_table(client, step);
            self.chains[at][table].answered(after, period, step.step.number);
        }
        self.chains[at].iter_mut().for_each(|chains| chains.follow((before, after), period, step.step.number));
    }

    /// A timer of a client without holds is due, and may have fired already: then it has ended, and does not renew what the client is
    /// granted now. Returns whether the history is left.
    pub(super) fn leave_timer_without_holds(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        may_have_fired: bool,
        testbed: &mut Testbed,
    ) -> bool {
        let state = &step.before.clients[usize::from(client)];
        let table = self.table_of(thread);
        let chains = &self.chains[usize::from(client)][table];
        if !chains.is_empty(state) || !chains.is_model_due(state) {
            return false;
        }
        if may_have_fired {
            testbed.findings.leave("a timer that is due finds no hold before this one: the choice of the JVM");
        } else {
            self.granted_when_due.insert((client, table));
        }
        may_have_fired
    }

    /// Whether the model renews by a timer that was due when its client had no hold, and that has found none in Redisson: it sends
    /// nothing at this instant.
    fn found_no_hold(&mut self, client: u8, table: usize) -> Result<bool, ReplayError> {
        if !self.granted_when_due.contains(&(client, table)) {
            return Ok(false);
        }
        self.applications.await_request(usize::from(client), is_renewal)?;
        Ok(!self.unsent(client.into()).iter().any(|held| self.renews_table(held, table)))
    }

    /// Whether the model renews by a timer that has ended in Redisson, which sends nothing by then.
    fn has_ended_timer(&mut self, client: u8, table: usize) -> Result<bool, ReplayError> {
        let asked = usize::from(client);
        if !self.chains[asked][table].are_left_over() {
            return Ok(false);
        }
        self.applications.pass_what_is_due(asked)?;
        Ok(!self.unsent(asked).iter().any(is_renewal))
    }

    /// One of several timers finds nothing to renew. It sends nothing, and must have ended before there is something again.
    fn end_timer(&mut self, client: u8, testbed: &mut Testbed) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        if self.unsent(asked).iter().any(is_renewal) {
            testbed
                .findings
                .leave("several timers have fired together, and here one waits for the others: the choice of the JVM");
            return Ok(());
        }
        self.applications.pass_late_timers(asked)
    }

    /// Lets renewals pass that the model does not have, as Redisson has more timers: where they change nothing, because the
    /// lease is whole. Where one changes something the history can be followed no further. Returns whether it can.
    pub(super) fn pass_extra_renewals(
        &mut self,
        client: u8,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<bool, ReplayError> {
        if self.config.asks_master_locks() {
            // Timers that multiply were refused.
            return Ok(true);
        }
        let asked = usize::from(client);
        let state = &step.before.clients[asked];
        let time = self.config.of_client(client).time;
        let lease_ms = u64::from(time.lease) * u64::from(time.tick_ms);
        let node = testbed.servers.index_of(&state.master);
        let stored = step.before.nodes.get(node).map(|node| &node.stored);
        let config = self.config;
        let changes_nothing = |table: usize| {
            stored.is_some_and(|stored| {
                let is_whole = |hold: &Hold| hold.ttl_ms == Some(lease_ms);
                if config.shares() {
                    let own = state.threads.get(table).map(|thread| &thread.name);
                    let is_held = stored.holders.iter().any(|hold| Some(&hold.holder) == own);
                    return is_held && stored.keys.iter().all(|key| key.ttl_ms == Some(lease_ms));
                }
                if config.clients.names > 1 {
                    return all_are_whole(state, stored, is_whole);
                }
                if config.names_values() {
                    let ahead_ms = u64::from(config.clock_ahead_of(client)) * u64::from(time.tick_ms);
                    return values_are_whole(state, stored, lease_ms, ahead_ms);
                }
                let is_own = |hold: &&Hold| state.threads.iter().any(|thread| thread.name == hold.holder);
                stored.holder().filter(is_own).is_some_and(is_whole)
            })
        };
        loop {
            self.pass_preludes(client, testbed)?;
            let is_first =
                |held: &HeldCommand| self.applications.first_held(asked, held.connection).as_ref() == Some(held);
            let tables = 0..self.chains[asked].len();
            let table_of = |held: &HeldCommand| {
                let is_extra =
                    |table: &usize| self.renews_table(held, *table) && self.chains[asked][*table].has_extra_due();
                tables.clone().find(is_extra)
            };
            let mut requests = self.unsent(asked).into_iter().filter(is_first);
            let Some((table, extra)) = requests.find_map(|held| Some((table_of(&held)?, held))) else {
                return Ok(true);
            };
            if !changes_nothing(table) {
                testbed.findings.leave("Redisson renews by one more timer: they multiply, and the model has one");
                return Ok(false);
            }
            let clock = self.script_clock(client, true, step);
            let extra = with_clock(&extra, clock);
            self.applications.replace(asked, &extra);
            self.pass_and_follow(client, &extra, (step.place(), clock), testbed)?;
            testbed
                .findings
                .note(|| format!("{} renews by one more timer: {}", client_name(client), shown(&extra, self.commands)));
            self.begin_wait((client, extra.connection), None, step, testbed)?;
            self.end_waits_of(client, testbed)?;
            if testbed.findings.is_over() {
                return Ok(false);
            }
        }
    }
}

/// Whether a renewal of its values changes nothing: the hash and each deadline of its own has the whole lease, by the client's clock.
fn values_are_whole(client: &ClientState, stored: &Contents, lease_ms: u64, ahead_ms: u64) -> bool {
    let Some(StoredKey { value: KeyValue::Hash(fields), ttl_ms, .. }) =
        stored.keys.iter().find(|key| key.slot == KeySlot::Lock)
    else {
        return false;
    };
    let deadlines = |holder: &str| {
        // Its client has one thread, which is not named in a trace.
        let end = format!(":{holder}:1{DEADLINE_FIELD}");
        fields.iter().filter(move |(name, _)| name.ends_with(&end)).map(|(_, deadline)| deadline)
    };
    let whole = HashValue::Number(lease_ms + ahead_ms);
    let has_all =
        |holder: &str| deadlines(holder).next().is_some() && deadlines(holder).all(|deadline| *deadline == whole);
    let holds = |holder: &str| stored.holders.iter().any(|hold| hold.holder == holder);
    ttl_ms.is_some_and(|ttl_ms| ttl_ms >= lease_ms)
        && client.threads.iter().any(|thread| holds(&thread.name) && has_all(&thread.name))
}

/// Whether a renewal of all locks of a client changes nothing: up to one that is overwritten, which ends the script, each is
/// held by its thread and has its whole lease. Where the model renews none, one that Redisson renews would be news.
fn all_are_whole(client: &ClientState, stored: &Contents, is_whole: impl Fn(&Hold) -> bool) -> bool {
    let renewed = (0u8..).zip(&client.threads).zip(&client.renewal_counts).filter(|(_, count)| **count > 0);
    let mut has_any = false;
    for ((name, thread), _) in renewed {
        has_any = true;
        if stored.is_overwritten(name) {
            return true;
        }
        if !stored.holders.iter().any(|hold| hold.holder == thread.name && is_whole(hold)) {
            return false;
        }
    }
    has_any
}
