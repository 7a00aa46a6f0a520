//! The watchdog renews: one lock, or several that have names of their own, in batches.

use super::context::Context;
use super::layout::Layout;
use super::network::Asked;
use crate::client::named_renewals::Round;
use crate::client::requests::{Slot, Verb};
use crate::client::watchdog::Firing;
use crate::locks::contract::{Lock as _, Requester};
use crate::locks::holder::Holder;
use crate::locks::values::ValueStore as _;
use crate::notes::Breach;
use crate::redis::server::BatchAnswer;
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// The watchdog's timer fires.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    pub(crate) fn renew(&mut self, client: u8) -> Option<Reply> {
        if Y::Lock::NAMES > 1 {
            return self.renew_names(client);
        }
        let (thread, is_too_soon) = match self.process(client, |process| process.fire_renewal())? {
            Firing::Nothing => return Some(Reply::NothingToRenew),
            Firing::Renews { thread, is_too_soon } => (thread, is_too_soon),
        };
        if self.world.reachable(client).is_none() {
            self.process(client, |process| process.renewal_failed());
            return Some(Reply::Unreachable);
        }
        if is_too_soon {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        let value = self.world.values(client).renewed(thread);
        let requester = Requester { holder: Holder::new(client, thread), value };
        match self.ask(requester, Slot::Renewal, Verb::Renew)? {
            Asked::Sent => Some(Reply::Done),
            Asked::Answered { reply, .. } => {
                self.process(client, |process| process.hear_renewal(thread, reply, false));
                Some(reply)
            }
        }
    }

    /// The watchdog's timer fires, and several locks have names of their own. Their network is atomic: the scenario reader
    /// refuses another one.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
    fn renew_names(&mut self, client: u8) -> Option<Reply> {
        let (batch, is_too_soon) = match self.process(client, |process| process.fire_round())? {
            Round::Nothing | Round::Over => return Some(Reply::NothingToRenew),
            Round::Renews { batch, is_too_soon } => (batch, is_too_soon),
        };
        let Some(node) = self.world.reachable(client) else {
            self.process(client, |process| process.round_failed(batch));
            return Some(Reply::Unreachable);
        };
        if is_too_soon {
            self.notes.broke(Breach::RenewedTooSoon);
        }
        self.count_replicas(client);
        let BatchAnswer { reply, missed } = self.server().renew_batch(node, client, batch)?;
        self.process(client, |process| process.hear_round(batch, reply, missed));
        Some(reply)
    }
}
