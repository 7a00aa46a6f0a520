//! The guarded resource: what it accepts, and from whom.
//!
//! Fencing tokens are numbers of grants. Only their order matters, so a world holds ranks: the tokens that anybody
//! remembers, renumbered from 1 whenever one is forgotten. That keeps the states finite however often the lock is acquired.
//! The counter is an ideal one, which no fault touches: these kinds of lock keep none in Redis.

use super::context::Context;
use super::layout::Layout;
use super::state::World;
use crate::client::requests::InFlight;
use crate::client::state::Phase;
use crate::locks::holder::Holder;
use crate::mutants::Mutant;
use crate::notes::{Breach, Happening};
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// A holder writes to the resource.
    pub(crate) fn work(&mut self, holder: Holder) -> Option<Reply> {
        let resource = self.config.resource?;
        let thread = self.world.thread(holder);
        let newest = self.world.resource.newest;
        let can_work =
            self.world.client(holder.client()).is_running() && thread.phase == Phase::Idle && thread.believes();
        // A second effect of the same holder changes nothing that anybody could see.
        if !can_work || thread.token == newest {
            return None;
        }
        if thread.token > newest {
            if newest > 0 {
                self.notes.happened(Happening::AnotherHoldersEffect);
            }
            self.world.resource.newest = thread.token;
            return Some(Reply::Accepted);
        }
        self.notes.happened(Happening::StaleEffect);
        if resource.is_fenced() && !self.config.is_mutated(Mutant::FenceIgnored) {
            return Some(Reply::Rejected);
        }
        self.notes.broke(Breach::EffectOutOfOrder);
        Some(Reply::Accepted)
    }

    /// Numbers a new grant; 0: tokens are not counted.
    pub(super) fn issue_token(&mut self) -> u8 {
        if self.config.resource.is_none() {
            return 0;
        }
        let newest = remembered(self.world).max().unwrap_or(0);
        if newest > 0 {
            self.notes.happened(Happening::LaterToken);
        }
        let token = if self.config.is_mutated(Mutant::TokenReused) { newest.max(1) } else { newest + 1 };
        if token <= newest {
            self.notes.broke(Breach::TokenNotGreater);
        }
        token
    }
}

/// Renumbers the remembered tokens from 1, order kept.
pub(crate) fn forget_unused_ranks<Y: Layout>(world: &mut World<Y>) {
    // Bit t: token t is remembered. At most 8 threads, their requests and the resource remember one: ranks stay below 32.
    let used: u32 = remembered(world).fold(0, |used, token| used | 1 << token);
    let rank = |token: u8| -> u8 {
        let older = used & ((1 << token) - 1) & !1;
        if token == 0 { 0 } else { 1 + u8::try_from(older.count_ones()).unwrap_or(u8::MAX) }
    };
    world.resource.newest = rank(world.resource.newest);
    for client in world.clients.as_mut() {
        for thread in &mut client.threads {
            thread.token = rank(thread.token);
        }
    }
    for requests in world.in_flight.as_mut().iter_mut().filter_map(InFlight::requests_mut) {
        for request in requests.slots.iter_mut().flatten() {
            request.token = rank(request.token);
        }
    }
}

fn remembered<Y: Layout>(world: &World<Y>) -> impl Iterator<Item = u8> {
    let tokens = world.clients.as_ref().iter().flat_map(|client| &client.threads).map(|thread| thread.token);
    let in_flight = world.in_flight.as_ref().iter().flat_map(|requests| requests.requests().iter());
    tokens.chain(in_flight.map(|(_, request)| request.token)).chain([world.resource.newest])
}
