//! The guarded resource: what it accepts, and from whom.
//!
//! Fencing tokens are numbers of grants. Only their order matters, so a world holds ranks: the tokens that anybody
//! remembers, renumbered from 1 whenever one is forgotten. That keeps the states finite however often the lock is acquired.
//! The counter is an ideal one, which no fault touches. Where a kind keeps one in Redis and the resource checks that
//! (`fencing = "stored"`), the ranks say which grant was first, and the tokens stand in `tokens`.
//!
//! Where the resource is far (`delay = "any"`), a write is sent in one step and arrives in another, whatever has become of its
//! sender (Kleppmann 2016, How to do distributed locking: the delayed packet). It may be lost, so it never has to arrive.

use super::context::Context;
use super::layout::Layout;
use super::state::World;
use crate::client::requests::InFlight;
use crate::client::state::Phase;
use crate::config::sections::Resource;
use crate::limits::MAX_TOKEN_UNDER_WAY;
use crate::locks::holder::Holder;
use crate::locks::tokens::TokenStore as _;
use crate::mutants::Mutant;
use crate::notes::{Breach, Capacity, Happening};
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// A holder writes to the resource.
    pub(crate) fn work(&mut self, holder: Holder) -> Option<Reply> {
        let resource = self.config.resource?;
        let thread = self.world.thread(holder);
        let newest = self.world.resource.newest;
        // Beside an extension by most masters code goes on; in every other call its thread waits.
        let is_free = thread.phase == Phase::Idle || self.config.extends_in_rounds();
        let can_work = self.world.client(holder.client()).is_running() && is_free && thread.believes();
        // A second effect of the same holder changes nothing that anybody could see, unless it has a larger token by now.
        let is_seen = thread.token == newest && self.world.tokens.held(holder) <= self.world.tokens.accepted();
        if !can_work || is_seen || !self.has_token(holder) {
            return None;
        }
        let (token, under_way) = (thread.token, thread.write());
        let stored = self.world.tokens.held(holder);
        if !resource.is_far() || (under_way > 0 && under_way != token) {
            // Far away, it overtakes what the thread sent under an earlier grant, on another connection. One write under way
            // for each thread hides nothing: to break the order, of two writes of one thread only one has to be late.
            return Some(self.accept(resource, token, stored));
        }
        if under_way == token {
            return None;
        }
        if token > MAX_TOKEN_UNDER_WAY {
            // The reader of scenarios refuses such worlds; one that was made by other means is not explored further.
            self.notes.exceeded(Capacity::LateRequests);
            return None;
        }
        self.world.thread_mut(holder).set_write(token);
        self.world.tokens.set_under_way(holder, stored);
        Some(Reply::Done)
    }

    /// A write arrives that a thread has sent, whether the thread still holds, runs or lives.
    pub(crate) fn arrive(&mut self, holder: Holder) -> Option<Reply> {
        let resource = self.config.resource?;
        let token = self.world.thread(holder).write();
        if token == 0 {
            return None;
        }
        self.world.thread_mut(holder).set_write(0);
        let stored = self.world.tokens.under_way(holder);
        Some(self.accept(resource, token, stored))
    }

    /// A write with this token is at the resource. `token`: the rank of its grant; `stored`: the token that came from Redis, where
    /// the resource checks that.
    fn accept(&mut self, resource: Resource, token: u8, stored: u8) -> Reply {
        let newest = self.world.resource.newest;
        let is_late = token < newest;
        if self.config.has_stored_tokens() {
            if is_late {
                self.notes.happened(Happening::StaleEffect);
            }
            if self.is_refused(resource, stored) && !self.config.is_mutated(Mutant::FenceIgnored) {
                return Reply::Rejected;
            }
            self.world.tokens.set_accepted(self.world.tokens.accepted().max(stored));
            if is_late {
                self.notes.broke(Breach::EffectOutOfOrder);
                return Reply::Accepted;
            }
        }
        if !is_late {
            if newest > 0 && token > newest {
                self.notes.happened(Happening::AnotherHoldersEffect);
            }
            self.world.resource.newest = token;
            return Reply::Accepted;
        }
        self.notes.happened(Happening::StaleEffect);
        if resource.is_fenced() && !self.config.is_mutated(Mutant::FenceIgnored) {
            return Reply::Rejected;
        }
        self.notes.broke(Breach::EffectOutOfOrder);
        Reply::Accepted
    }

    /// Numbers a new grant; 0: tokens are not counted.
    pub(super) fn issue_token(&mut self) -> u8 {
        if self.config.resource.is_none() {
            return 0;
        }
        let newest = remembered(self.world).max().unwrap_or(0);
        // Where they are stored in Redis, this is the order of the grants, and no token.
        if self.config.has_stored_tokens() {
            return newest + 1;
        }
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
    // Bit t: token t is remembered. At most 8 threads, their writes and requests (7 of each client) and the resource remember
    // one: ranks stay below 64.
    let used: u64 = remembered(world).fold(0, |used, token| used | 1 << token);
    let rank = |token: u8| -> u8 {
        let older = used & ((1 << token) - 1) & !1;
        if token == 0 { 0 } else { 1 + u8::try_from(older.count_ones()).unwrap_or(u8::MAX) }
    };
    world.resource.newest = rank(world.resource.newest);
    for client in world.clients.as_mut() {
        for thread in &mut client.threads {
            thread.token = rank(thread.token);
            thread.set_write(rank(thread.write()));
        }
    }
    for requests in world.in_flight.as_mut().iter_mut().filter_map(InFlight::requests_mut) {
        for request in requests.slots.iter_mut().flatten() {
            request.token = rank(request.token);
        }
    }
}

fn remembered<Y: Layout>(world: &World<Y>) -> impl Iterator<Item = u8> {
    let threads = world.clients.as_ref().iter().flat_map(|client| &client.threads);
    let tokens = threads.flat_map(|thread| [thread.token, thread.write()]);
    let in_flight = world.in_flight.as_ref().iter().flat_map(|requests| requests.requests().iter());
    tokens.chain(in_flight.map(|(_, request)| request.token)).chain([world.resource.newest])
}
