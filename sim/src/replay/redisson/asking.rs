//! How a client asks: its application begins a call, what that sends is found at the gate, and passes with its reply.

use lockstep_model::Reply;
use lockstep_model::client::Slot;
use lockstep_model::trace::client_name;

use super::calls;
use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::open_wait::ThreadTold;
use super::sides::READER;
use super::wire_words::{RECEIPTS, in_our_shape, receipt_of, shown};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::{Expected, Testbed};
use crate::replay::translate::{RequestKey, ScriptRequest, ScriptVerb, lacks_replicas, request_state};

/// A client, and its thread where one waits for the answer.
pub(super) type Asking = (u8, Option<u8>);

impl RedissonClients {
    /// An application asks for the lock.
    pub(super) fn acquire(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let asked = usize::from(client);
        let before = &step.before.clients[asked].threads[usize::from(thread)];
        // It may start a timer.
        let state = &step.before.clients[asked];
        if self.chains[asked][self.table_of(thread)].is_empty(state) {
            let was_late = self.applications.is_late(asked);
            self.applications.catch_up(asked)?;
            // A timer that was set while the clocks were behind fires before this instant.
            let may_have_fired = was_late || self.applications.has_moved_ahead(asked);
            if self.leave_timer_without_holds((client, thread), step, may_have_fired, testbed) {
                return Ok(None);
            }
        }
        let names_lease = self.config.names_lease(client, thread, before.holds);
        let call = calls::acquire(&self.config.of_client(client), names_lease, self.interruption);
        self.begin_call((client, thread), before.holds + 1, &call, (step, testbed))?;
        if self.flagged.contains(&step.step.number) && self.unsent(asked).is_empty() {
            testbed.findings.leave("the caller has thrown before its request was written: the choice of the JVM");
            return Ok(None);
        }
        self.ask((client, Some(thread)), ScriptVerb::Acquire { client, thread }, step, testbed)
    }

    /// The wait limit of a thread is over.
    pub(super) fn give_up(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        if self.is_in_parts(client, step) {
            // Its call goes on: it gives back what it has, or begins anew.
            self.applications.wait_until_quiet(usize::from(client))?;
            return self.clear_up(client, testbed);
        }
        self.applications.await_end(usize::from(client), usize::from(thread))?;
        self.clear_up(client, testbed)?;
        if !self.goes_on_at_its_limit(client, step, testbed) {
            self.compare_told((client, thread), calls::REFUSED, step.place(), testbed);
        }
        Ok(())
    }

    /// A client stands still from now on.
    pub(super) fn pause(&mut self, client: u8, testbed: &mut Testbed) {
        if !self.applications.held(usize::from(client)).is_empty() || self.in_flight.has_any_of(client) {
            testbed
                .findings
                .leave("a request is under way when its client is paused: its time would be over afterwards");
            return;
        }
        self.applications.set_paused(usize::from(client), true);
    }

    /// A thread begins a call, by the object that all threads share, or else by one of its own for each call that is inside another
    /// one: an object remembers the lease that it was last given (docs/facts/redisson.md#explicit-lease).
    pub(super) fn begin_call(
        &mut self,
        (client, thread): (u8, u8),
        level: u8,
        call: &str,
        (step, testbed): (HistoryStep<'_>, &mut Testbed),
    ) -> Result<(), ReplayError> {
        // The lock's name follows the verb.
        let (verb, times) =
            call.split_once(' ').map_or((call, String::new()), |(verb, times)| (verb, format!(" {times}")));
        let number = if self.config.has_parts() { 1 } else { thread + 1 };
        testbed.findings.note(|| format!("{}:{number} calls {call}", client_name(client)));
        let side = match (self.config.shares(), thread) {
            (false, _) => "",
            (true, READER) => "read:",
            // Also the one that frees it, whoever holds it.
            (true, _) => "write:",
        };
        let back_off = if self.config.lock.facts().spins() {
            format!("{}:", u64::from(self.config.time.poll_every) * u64::from(self.config.time.tick_ms))
        } else {
            String::new()
        };
        let values = if self.config.names_values() {
            let named: Vec<_> =
                self.config.values_of(client).numbers().map(|number| format!("value{number}")).collect();
            format!("{}:", named.join(","))
        } else {
            String::new()
        };
        let lock = self.parts_of(client).unwrap_or_else(|| {
            let lock = self.translator.lock_of(thread);
            format!("{}{back_off}{side}{values}{lock}", self.translator.driver_prefix())
        });
        let object = if self.config.shares_lock_objects() { lock } else { format!("{lock}/{thread}.{level}") };
        self.applications.begin_call(
            usize::from(client),
            usize::from(thread),
            &format!("{verb} {object}{times}"),
            self.flagged.contains(&step.step.number),
        )
    }

    /// What the step asks: it is sent, and where request and reply are one step, it passes with its reply. Returns the node that
    /// executed it.
    pub(super) fn ask(
        &mut self,
        (client, thread): Asking,
        verb: ScriptVerb,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<Option<usize>, ReplayError> {
        let slot = thread.map_or(Slot::Renewal, Slot::of_thread);
        let sent = request_state(&step.step.state, (client, slot)).filter(|_| verb != ScriptVerb::ForceRelease);
        let request = match sent {
            Some(state) => Some(self.translator.call_of(state, client, &step.step.state)),
            None => self.translator.request(step, verb),
        };
        let Some(request) = request else {
            self.hear_of_no_server((client, thread), step, testbed)?;
            return Ok(None);
        };
        let Some(held) = self.find((client, thread), verb, &request, step, testbed)? else { return Ok(None) };
        if sent.is_some() {
            self.note_sent((client, slot), held, request, testbed);
            return Ok(None);
        }
        let asked = usize::from(client);
        if !self.is_first(asked, &held) {
            testbed.findings.leave("Redisson sends a request over the connection of one that was given up");
            return Ok(None);
        }
        let node = testbed.servers.index_of(&step.before.clients[asked].master);
        let told = thread.map(|thread| ((client, thread), self.told_by_model((client, thread), verb, step)));
        self.pass(client, &held, (verb, request.clone()), told, step, testbed)?;
        if let Some(thread) = thread.filter(|_| !testbed.findings.is_over()) {
            self.pass_spare_ask((client, thread), &request, step, testbed)?;
        }
        let is_released = matches!(step.step.answer, Reply::Released | Reply::StillHeld);
        let has_thrown = matches!(verb, ScriptVerb::Release { .. }) && !is_released && !testbed.findings.is_over();
        if let Some(thread) = thread.filter(|_| has_thrown) {
            self.unwind((client, thread), step, testbed)?;
        }
        Ok(Some(node))
    }

    /// A request has been sent, and waits at the gate.
    pub(super) fn note_sent(
        &mut self,
        key: RequestKey,
        held: HeldCommand,
        request: ScriptRequest,
        testbed: &mut Testbed,
    ) {
        let client = client_name(key.0);
        testbed
            .findings
            .note(|| format!("{client} sends, on connection {}: {}", held.connection, shown(&held, self.commands)));
        let receipt = request.call.keys.iter().find(|key| key.starts_with(RECEIPTS)).cloned();
        if let Some((drawn, model)) = receipt_of(&held).zip(receipt) {
            testbed.note_drawn_name(drawn, model);
        }
        self.in_flight.add(key, held, request);
    }

    /// A request passes with its reply, and what follows it. What the caller is `told` is compared once it is told something: a
    /// `WAIT` may come before that.
    pub(super) fn pass(
        &mut self,
        client: u8,
        held: &HeldCommand,
        (verb, request): (ScriptVerb, ScriptRequest),
        told: Option<ThreadTold>,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let node = testbed.servers.index_of(&step.before.clients[asked].master);
        self.receipts[asked].extend(receipt_of(held));
        let is_of_watchdog = matches!(verb, ScriptVerb::Renew { .. });
        let clock = self.script_clock(client, is_of_watchdog, step);
        let answer = self.pass_and_follow(client, held, (step.place(), clock), testbed)?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        let reply = in_our_shape(verb, answer, self.renews_by_one());
        let given = (step.step.answer, lacks_replicas(&reply) && !matches!(verb, ScriptVerb::Undo { .. }));
        let told = told.map(|(asking, told)| (asking, self.told_by_name(client, told, given)));
        let words = self.translator.answer_words(step);
        testbed.compare_answer(node, &Expected::Reply { at: step.place(), words, request }, &reply)?;
        if self.begin_wait((client, held.connection), told.clone(), step, testbed)? || testbed.findings.is_over() {
            // They would reach replicas, in which the model has none.
            return self.take_kept_receipts(client, node, step, testbed);
        }
        self.clear_up(client, testbed)?;
        self.take_kept_receipts(client, node, step, testbed)?;
        if let Some((asking, told)) = told {
            self.compare_call(asking, &told, (false, step), testbed);
        }
        Ok(())
    }
}
