//! Releases inside one another: what the exception of one does to those around it, and what they do to the renewal table.

use lockstep_model::Happening;
use lockstep_model::config::PartialRelease;
use lockstep_model::trace::SubscriptionState;

use super::clients::RedissonClients;
use crate::replay::error::ReplayError;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;
use crate::replay::translate::ScriptVerb;

impl RedissonClients {
    /// The exception of a release that finds no hold, or that a server refuses, unwinds every `unlock()` around it, as `finally` does: each
    /// is called, and is told the same.
    pub(super) fn unwind(
        &mut self,
        (client, thread): (u8, u8),
        step: HistoryStep<'_>,
        testbed: &mut Testbed,
    ) -> Result<(), ReplayError> {
        let before = step.before.clients[usize::from(client)].threads.get(usize::from(thread));
        let verb = ScriptVerb::Release { client, thread };
        for level in (1..before.map_or(0, |one| one.holds)).rev() {
            if self.open_waits.iter().any(|wait| wait.client == client) {
                testbed.findings.leave("the next unlock() of an exception waits for the WAIT of this one");
                return Ok(());
            }
            if step.has(Happening::Published) && Self::is_heard_by_any(step) {
                testbed.findings.leave(
                    "the releases around one that finds the lock free tell its waiters as well, and here only that one does",
                );
                return Ok(());
            }
            self.begin_call((client, thread), level, "unlock", (step, testbed))?;
            let request = self.translator.release_around(step, (client, thread), level);
            let Some(held) = self.find((client, Some(thread)), verb, &request, step, testbed)? else { return Ok(()) };
            let told = Some(((client, thread), self.told_by_model((client, thread), verb, step)));
            self.pass(client, &held, (verb, request), told, step, testbed)?;
        }
        Ok(())
    }

    /// Whether some client is subscribed.
    fn is_heard_by_any(step: HistoryStep<'_>) -> bool {
        step.step.state.clients.iter().any(|client| matches!(client.subscription, Some(SubscriptionState::Node(_))))
    }

    /// Whether a release may do something else to the renewal table than here, where nested holds stay in it: the entries of two
    /// threads may lie between each other, or holds are left of which the table has forgotten
    /// (docs/facts/redisson.md#nested-holds-stay-in-the-table).
    pub(super) fn counts_otherwise(&self, (client, thread): (u8, u8), holds: u8, step: HistoryStep<'_>) -> bool {
        let counts = &step.before.clients[usize::from(client)].renewal_counts;
        let are_mixed =
            counts.len() > 1 && counts.iter().all(|count| *count > 0) && counts.iter().any(|count| *count > 1);
        let has_forgotten = counts.get(usize::from(thread)).is_some_and(|count| (1..holds).contains(count));
        self.config.of_client(client).protocol.partial_release == PartialRelease::Ignore && (are_mixed || has_forgotten)
    }
}
