//! The watchdog renews: one lock; several that have names of their own, in batches; or each side of a read-write lock.

use super::context::Context;
use super::layout::Layout;
use super::network::Asked;
use crate::client::named_renewals::Round;
use crate::client::requests::{Slot, Verb};
use crate::client::sync_wait::verdict_on;
use crate::client::watchdog::Firing;
use crate::config::switches::WaitAfter;
use crate::locks::contract::{Lock as _, Requester};
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore as _;
use crate::notes::{Breach, Happening};
use crate::redis::server::BatchAnswer;
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// The watchdog's timer fires. `is_applied`: replicas that are late apply what it writes before its `WAIT` is over.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(crate) fn renew(&mut self, client: u8, is_applied: bool) -> Option<Reply> {
        if Y::Lock::HAS_SEVERAL_MASTERS {
            return self.begin_extension(client);
        }
        if Y::Lock::NAMES > 1 || Y::Lock::FACTS.sharing.is_there() {
            return self.renew_threads_apart(client, is_applied);
        }
        let (thread, is_too_soon) = match self.process(client, |process| process.fire_renewal())? {
            Firing::Nothing => return Some(Reply::NothingToRenew).filter(|_| !is_applied),
            Firing::Renews { thread, is_too_soon } => (thread, is_too_soon),
        };
        if self.world.reachable(client).is_none() {
            self.process(client, |process| process.renewal_failed());
            return Some(Reply::Unreachable).filter(|_| !is_applied);
        }
        if is_too_soon {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        let value = self.world.values(client).renewed(thread);
        let requester = Requester { holder: Holder::new(client, thread), value };
        match self.ask(requester, Slot::Renewal, Verb::Renew)? {
            Asked::Sent => Some(Reply::Done),
            Asked::Answered { reply, .. } => {
                let is_acknowledged = self.is_renewal_acknowledged(client, reply, is_applied)?;
                self.process(client, |process| {
                    if is_acknowledged {
                        if reply == Reply::Renewed {
                            process.extend_validity(thread);
                        }
                        process.hear_renewal(thread, reply, false);
                    } else {
                        process.renewal_failed();
                    }
                });
                Some(reply)
            }
        }
    }

    /// A master has answered a renewal. Whether its client takes that for a success: enough replicas have acknowledged the renewal, or
    /// the client asks none of them. After an error there is no `WAIT`. `None`: there is no late replica that could apply it in time.
    fn is_renewal_acknowledged(&mut self, client: u8, reply: Reply, is_applied: bool) -> Option<bool> {
        let own = self.config.of_client(client);
        let is_answer = matches!(reply, Reply::Renewed | Reply::RenewedInPart { .. } | Reply::RenewalMissed);
        let waits = own.protocol.wait_after == WaitAfter::GrantsAndRenewals && is_answer;
        if !waits || self.replicas_to_wait_for(client) == 0 {
            return Some(true).filter(|_| !is_applied);
        }
        let master = self.world.client(client).master();
        if is_applied && !self.apply_all_of(master) {
            return None;
        }
        let replicas = self.server().acknowledging_all(master);
        let told = verdict_on(&own, replicas);
        self.process(client, |process| process.note_wait(master, told));
        let is_acknowledged = matches!(told, Reply::Acknowledged { .. });
        if !is_acknowledged {
            self.notes.happened(Happening::RenewalUnacknowledged);
        }
        Some(is_acknowledged)
    }

    /// The replicas of this master that run apply all that is under way to them. Whether there was anything.
    fn apply_all_of(&mut self, master: u8) -> bool {
        let followers: Vec<u8> = self.world.group().connected_replicas(master).collect();
        let mut has_applied = false;
        for node in followers {
            while self.replicate(node).is_some() {
                has_applied = true;
            }
        }
        has_applied
    }

    /// The watchdog's timer fires, where each thread of a client has a lock of its own, or a side of one. Their network is atomic: the scenario reader
    /// refuses another one.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    fn renew_threads_apart(&mut self, client: u8, is_applied: bool) -> Option<Reply> {
        let (batch, is_too_soon) = match self.process(client, |process| process.fire_round())? {
            Round::Nothing | Round::Over => return Some(Reply::NothingToRenew).filter(|_| !is_applied),
            Round::Renews { batch, is_too_soon } => (batch, is_too_soon),
        };
        let Some(node) = self.world.reachable(client) else {
            self.process(client, |process| process.round_failed(batch));
            return Some(Reply::Unreachable).filter(|_| !is_applied);
        };
        if is_too_soon {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        self.count_replicas(client);
        let BatchAnswer { reply, missed } = self.server().renew_batch(node, client, batch)?;
        let is_acknowledged = self.is_renewal_acknowledged(client, reply, is_applied)?;
        self.process(client, |process| {
            if is_acknowledged {
                process.hear_round(batch, reply, missed);
            } else {
                process.round_failed(batch);
            }
        });
        Some(reply)
    }
}
