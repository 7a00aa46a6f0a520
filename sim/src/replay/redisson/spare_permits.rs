//! A caller that is told a token waits without a thread: a message runs the callback that it has left, and adds a permit to the
//! semaphore of its lock all the same (docs/facts/family.md#callers-of-a-token-wait-without-a-thread). The permit is spare: the next one that is refused takes it
//! instead of going to sleep, and asks once more. The model has one permit for each message, and so one request less.

use lockstep_model::Reply;
use lockstep_model::client::Phase;
use lockstep_model::trace::client_name;

use super::clients::RedissonClients;
use super::gate::HeldCommand;
use super::wire_words::{is_renewal, is_script, words_of};
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::{ScriptRequest, ScriptVerb};

/// Where a thread keeps the semaphore of its lock in use.
const INSIDE: [Phase; 3] = [Phase::Subscribed, Phase::Waiting, Phase::AskingAgain];

impl RedissonClients {
    /// A message is about to reach a client. A callback is there for each thread that waits and was not woken before.
    pub(super) fn note_spare_permit(&mut self, client: u8, step: HistoryStep<'_>) {
        let asked = usize::from(client);
        if !self.config.of_client(client).tokens_come_with_grants() {
            return;
        }
        let unsent = self.unsent(asked);
        let asks = |thread: usize| {
            let holder = format!("{}:{}", client_name(client), thread + 1);
            let is_its = |held: &HeldCommand| words_of(held).last().is_some_and(|last| *last == holder);
            unsent.iter().any(|held| is_its(held) && is_script(&words_of(held)) && !is_renewal(held))
        };
        let threads = &step.before.clients[asked].threads;
        let mut waiting = threads.iter().enumerate().filter(|(_, thread)| thread.phase == Phase::Waiting);
        if waiting.any(|(thread, _)| !asks(thread)) {
            self.spare_permits[asked] += 1;
        }
    }

    /// With the last of its callers the semaphore of a client goes, and its permits.
    pub(super) fn forget_spare_permits(&mut self, step: HistoryStep<'_>) {
        for (permits, client) in self.spare_permits.iter_mut().zip(&step.step.state.clients) {
            if !client.threads.iter().any(|thread| INSIDE.contains(&thread.phase)) {
                *permits = 0;
            }
        }
    }

    /// A thread was refused, and takes the spare permit: its second request is let pass, and is refused as well.
    pub(super) fn pass_spare_ask(
        &mut self,
        (client, thread): (u8, u8),
        request: &ScriptRequest,
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let asked = usize::from(client);
        let after = &step.step.state.clients[asked];
        let is_refused = matches!(step.step.answer, Reply::Busy { .. });
        let waits = is_refused && after.threads[usize::from(thread)].phase == Phase::Waiting;
        // With a permit of the model it asks once more in the model too.
        if !waits || after.permits > 0 || self.spare_permits[asked] == 0 {
            return Ok(());
        }
        self.end_waits_of(client, testbed)?;
        if testbed.findings.is_over() {
            return Ok(());
        }
        self.spare_permits[asked] -= 1;
        let verb = ScriptVerb::Acquire { client, thread };
        let Some(held) = self.find((client, Some(thread)), verb, request, step, testbed)? else { return Ok(()) };
        let told = ((client, thread), self.told_by_model((client, thread), verb, step));
        self.pass(client, &held, (verb, request.clone()), Some(told), step, testbed)
    }
}
