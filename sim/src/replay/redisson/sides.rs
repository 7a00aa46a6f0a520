//! The two sides of a lock with readers: each client is one thread of an application, which writes as thread 0 of the model and
//! reads as thread 1.
//!
//! The model has the rules of 4.7. What versions before it do otherwise ends a history (docs/facts/family.md#read-write).

use lockstep_model::config::{Profile, ReadRelease};
use lockstep_model::trace::{ClientState, KeySlot, StoredKey};
use lockstep_model::{Action, Happening, Reply};

use super::clients::RedissonClients;
use crate::replay::history_step::HistoryStep;
use crate::replay::testbed::Testbed;

/// What a client is as a writer.
pub const WRITER: u8 = 0;
/// What it is as a reader.
pub const READER: u8 = 1;

/// An entry of a renewal table as older versions keep it: up to 3.43 both sides of a client share one, in 3.52 it is that of the
/// reader. Each acquire adds its thread to a queue, and only the release with which the count is 0 takes one out.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldEntry {
    /// Whose script its timer sends: the side that has made it.
    owner: usize,
    count: u8,
    queue: u8,
}

impl OldEntry {
    /// A step was done by this client.
    fn follow(&mut self, step: HistoryStep<'_>, client: u8, profile: Profile) {
        let of = |clients: &[ClientState]| clients[usize::from(client)].renewal_counts.clone();
        let (before, after) = (of(&step.before.clients), of(&step.step.state.clients));
        let is_shared = profile == Profile::Redisson343;
        match step.step.action {
            Action::Release { client: of, thread } | Action::ForeignRelease { client: of, thread } if of == client => {
                if is_shared || thread == READER {
                    let holds = step.before.clients[usize::from(client)].threads[usize::from(thread)].holds;
                    let releases = if step.step.answer == Reply::NotHeld { holds.max(1) } else { 1 };
                    (0..releases).for_each(|_| self.lower());
                }
            }
            Action::Renew { client: of } if of == client && after != before && is_shared => *self = Self::default(),
            Action::Renew { client: of }
                if of == client && after[usize::from(READER)] < before[usize::from(READER)] =>
            {
                self.lower();
            }
            Action::ForceRelease { client: of } if of == client && is_shared => *self = Self::default(),
            _ => {
                let is_counted = |side: &usize| is_shared || *side == usize::from(READER);
                for side in (0..after.len()).filter(is_counted).filter(|side| after[*side] > before[*side]) {
                    self.owner = if self.queue == 0 { side } else { self.owner };
                    (self.count, self.queue) = (self.count + 1, self.queue + 1);
                }
            }
        }
    }

    fn lower(&mut self) {
        if self.count > 0 {
            self.count -= 1;
            self.queue -= u8::from(self.count == 0);
        }
    }

    /// Whether it renews what the model does.
    fn is_as_modelled(self, client: &ClientState, profile: Profile) -> bool {
        let is_shared = profile == Profile::Redisson343;
        let mut counts =
            (0..).zip(&client.renewal_counts).filter(|(side, _)| is_shared || *side == usize::from(READER));
        counts.all(|(side, count)| (*count > 0) == (self.queue > 0 && self.owner == side))
    }
}

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
            let end = match self.profile_of_sides(client) {
                // With a rule that is not its own the difference shows itself.
                Some(Profile::Redisson343)
                    if self.config.of_client(client).protocol.read_release == ReadRelease::EndsWriteRenewal =>
                {
                    continue;
                }
                Some(Profile::Redisson343) => {
                    "3.43 renews both sides of a client by one entry, and here each has its own"
                }
                Some(Profile::Redisson352 | Profile::Redisson43) => {
                    "before 4.7 a reader that has entered twice and left stays in the renewal table, and here it does not"
                }
                _ => continue,
            };
            let profile = self.config.of_client(client).protocol.profile;
            if !self.old_entries[usize::from(client)].is_as_modelled(state, profile) {
                testbed.findings.leave(end);
            }
        }
    }

    /// Whether a renewal does something else in this version: that of a reader before 4.7, and of a writer up to 3.43.
    pub(super) fn leave_renewal_of_side(&self, client: u8, table: usize, step: HistoryStep<'_>, testbed: &mut Testbed) {
        let Some(profile) = self.profile_of_sides(client) else { return };
        let node = testbed.servers.index_of(&step.before.clients[usize::from(client)].master);
        let Some(stored) = step.before.nodes.get(node).map(|node| &node.stored) else { return };
        if table == usize::from(WRITER) {
            if profile == Profile::Redisson343 && step.step.answer == Reply::RenewalMissed {
                testbed
                    .findings
                    .leave("3.43 renews as a reader what it does not hold as a writer, and here it does not");
            }
            return;
        }
        if profile == Profile::Redisson47 || step.step.answer != Reply::Renewed {
            return;
        }
        if profile == Profile::Redisson352 && stored.holders.iter().any(|hold| hold.count > 1) {
            testbed
                .findings
                .leave("the script by which 3.52 renews a reader fails beside nested holds, and here it does not");
            return;
        }
        let time = self.config.of_client(client).time;
        let lease_ms = u64::from(time.lease) * u64::from(time.tick_ms);
        let is_cut = |key: &StoredKey| match &key.slot {
            KeySlot::Hold { holder, .. } => holder.client() != client && key.ttl_ms != Some(lease_ms),
            _ => false,
        };
        if stored.keys.iter().any(is_cut) {
            testbed
                .findings
                .leave("a reader of a version before 4.7 renews the holds of all readers, and here only its own");
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
