//! What versions before 4.7 do otherwise with the two sides of a lock ends a history (docs/facts/family.md#read-write).

use lockstep_model::config::{Profile, ReadRelease};
use lockstep_model::{Happening, Reply};

use super::clients::RedissonClients;
use super::sides::WRITER;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;

impl RedissonClients {
    /// What the step does to what the clients of older versions renew.
    pub(super) fn follow_old_entry(&mut self, client: u8, step: HistoryStep<'_>) {
        if let Some(profile) = self.profile_of_sides(client) {
            self.old_entries[usize::from(client)].follow(step, client, profile);
        }
    }

    /// Before time passes: whether some client renews otherwise than the model.
    pub(super) fn leave_old_entries(&self, step: HistoryStep<'_>, testbed: &mut Testbed) {
        for (client, state) in (0u8..).zip(&step.before.clients) {
            let Some(profile) = self.profile_of_sides(client) else { continue };
            // With a rule that is not its own the difference shows itself.
            let own = self.config.of_client(client).protocol.read_release;
            if profile == Profile::Redisson343 && own == ReadRelease::EndsWriteRenewal {
                continue;
            }
            if self.old_entries[usize::from(client)].is_as_modelled(state, profile) {
                continue;
            }
            match profile {
                Profile::Redisson343 => {
                    testbed
                        .findings
                        .leave("3.43 renews both sides of a client by one entry, and here each has its own");
                }
                Profile::Redisson352 | Profile::Redisson43 => {
                    testbed
                        .findings
                        .leave("before 4.7 a reader that has entered twice and left stays in the renewal table, and here it does not");
                }
                _ => {}
            }
        }
    }

    /// Whether a renewal does something else in this version: that of a writer up to 3.43.
    pub(super) fn leave_renewal_of_side(&self, client: u8, table: usize, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let is_of_343 = self.profile_of_sides(client) == Some(Profile::Redisson343);
        if is_of_343 && table == usize::from(WRITER) && step.step.answer == Reply::RenewalMissed {
            testbed.findings.leave("3.43 renews as a reader what it does not hold as a writer, and here it does not");
        }
    }

    /// Whether 3.43 says of a release that it has released, where it has found the lock free.
    pub(super) fn leave_release_of_free_lock(&self, client: u8, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let was_free = step.step.answer == Reply::NotHeld && step.has(Happening::Published);
        if self.profile_of_sides(client) == Some(Profile::Redisson343) && was_free {
            testbed
                .findings
                .leave("a release of 3.43 that finds the lock free has released it, and here it has failed");
        }
    }

    /// The version of a client, where its lock has two sides.
    fn profile_of_sides(&self, client: u8) -> Option<Profile> {
        self.config.shares().then(|| self.config.of_client(client).protocol.profile)
    }
}
