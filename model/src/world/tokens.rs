//! Fencing tokens that the lock itself stores in Redis: who has which, and in which form they are remembered.
//!
//! The counter is a key like any other (`locks/fenced`): replicated, lost and evicted. A client is told a token with its grant
//! or reads the counter later, and sends it with its writes; the resource compares it with the largest that it has accepted.
//! Which of two grants was first is kept beside it (`resource`): the tokens may say otherwise, and that is what the properties
//! are about.

use super::context::Context;
use super::layout::Layout;
use super::state::World;
use crate::client::state::Phase;
use crate::config::sections::{AcceptedTokens, Config, Resource};
use crate::limits::{MAX_CLIENTS, MAX_THREADS, MAX_TOKENS};
use crate::locks::contract::{Lock as _, StoredToken};
use crate::locks::holder::Holder;
use crate::locks::tokens::TokenStore as _;
use crate::notes::{Breach, Happening, Notes};
use crate::redis::group::Node;
use crate::reply::Reply;

impl<Y: Layout> Context<'_, Y> {
    /// A node has issued a token with a grant.
    pub(super) fn note_issued(&mut self, holder: Holder, StoredToken(token): StoredToken) {
        if self.config.has_stored_tokens() && self.config.of_client(holder.client()).tokens_come_with_grants() {
            self.world.tokens.set_pending(holder, token);
        }
    }

    /// A holder asks the master that it knows for the counter, whoever has raised it meanwhile.
    pub(crate) fn read_token(&mut self, holder: Holder) -> Option<Reply> {
        let client = holder.client();
        let thread = self.world.thread(holder);
        let can_read = self.world.client(client).is_running() && thread.phase == Phase::Idle && thread.believes();
        if !can_read || !self.config.of_client(client).reads_tokens() || self.world.tokens.held(holder) > 0 {
            return None;
        }
        let node = self.world.reachable(client)?;
        let number = self.world.node(node).stored.lock.token_counter();
        self.world.tokens.set_held(holder, number);
        Some(Reply::TokenRead { number })
    }

    /// Whether a thread has a token that it can send with a write.
    pub(super) fn has_token(&self, holder: Holder) -> bool {
        !self.config.of_client(holder.client()).reads_tokens() || self.world.tokens.held(holder) > 0
    }

    /// Whether the resource refuses this token.
    pub(super) fn is_refused(&self, resource: Resource, token: u8) -> bool {
        let newest = self.world.tokens.accepted();
        match resource.accepts {
            AcceptedTokens::EqualOrNewer => token < newest,
            // It has seen none yet.
            AcceptedTokens::Newer => token <= newest && self.world.resource.newest > 0,
        }
    }
}

/// Notes which tokens callers were told in this step: with a grant that they believe now, or by reading the counter. One that was
/// issued with a grant whose caller was told an exception is nobody's.
pub(crate) fn note_told<Y: Layout>(config: &Config, before: &World<Y>, next: &mut World<Y>, notes: &mut Notes) {
    for client in 0..config.clients.count {
        let comes_with_grants = config.of_client(client).tokens_come_with_grants();
        for thread in 0..config.clients.threads {
            let holder = Holder::new(client, thread);
            let is_told = if comes_with_grants {
                next.thread(holder).holds() > before.thread(holder).holds()
            } else {
                next.tokens.held(holder) > 0 && before.tokens.held(holder) == 0
            };
            if comes_with_grants {
                // A grant that is none has no token: -1, whatever the thread had before.
                if is_told {
                    next.tokens.set_held(holder, next.tokens.pending(holder));
                }
                if next.thread(holder).phase != Phase::Confirming {
                    next.tokens.set_pending(holder, 0);
                }
            }
            let token = next.tokens.held(holder);
            let newest = next.tokens.told();
            if !is_told {
                continue;
            }
            if newest > 0 {
                notes.happened(Happening::LaterToken);
                if token <= newest {
                    notes.broke(Breach::TokenNotGreater);
                }
            }
            next.tokens.set_told(newest.max(token));
        }
    }
}

/// A thread that does not hold needs no token, and a write that is not under way has none.
pub(crate) fn forget_unused<Y: Layout>(world: &mut World<Y>) {
    for client in 0..MAX_CLIENTS.min(u8::try_from(world.clients.as_ref().len()).unwrap_or(MAX_CLIENTS)) {
        for thread in 0..MAX_THREADS {
            let holder = Holder::new(client, thread);
            let state = *world.thread(holder);
            if matches!(state.phase, Phase::Idle | Phase::Dead) && !state.has_hold() {
                world.tokens.set_held(holder, 0);
            }
            if state.write() == 0 {
                world.tokens.set_under_way(holder, 0);
            }
        }
    }
}

impl<Y: Layout> World<Y> {
    /// The same without the numbers of tokens, where only their order can ever make a difference: by it a run
    /// may come back to where it was although the counter has grown meanwhile.
    #[must_use]
    pub fn up_to_token_numbers(&self, config: &Config) -> Self {
        let mut world = *self;
        if Y::Tokens::IS_THERE && config.leaves_out_token_numbers() {
            leave_out(&mut world);
        }
        world
    }
}

/// Leaves out of the tokens everything but their order: where the counter is never set back the next one is always the largest.
/// Which of them are equal stays: a node finds by that whether its disk has what it stores.
pub(super) fn leave_out<Y: Layout>(world: &mut World<Y>) {
    const { assert!(MAX_TOKENS < 64, "a bit for each token") };
    let used = core::cell::Cell::new(0_u64);
    let note = |token: u8| {
        used.set(used.get() | 1 << token);
        token
    };
    let _ = world.tokens.changed(note);
    change_counters(world, note);
    let used = used.get() & !1;
    let rank = |token: u8| -> u8 {
        let older = used & ((1 << token) - 1);
        if token == 0 { 0 } else { 1 + u8::try_from(older.count_ones()).unwrap_or(u8::MAX) }
    };
    world.tokens = world.tokens.changed(rank);
    change_counters(world, rank);
}

/// Every counter in a node's memory, on its disk and on the way to it.
fn change_counters<Y: Layout>(world: &mut World<Y>, change: impl Fn(u8) -> u8) {
    let changed = |lock: Y::Lock| lock.with_token_counter(change(lock.token_counter()));
    for Node { stored, disk, queue, .. } in world.group_mut().nodes.as_mut() {
        stored.lock = changed(stored.lock);
        disk.lock = changed(disk.lock);
        for effect in queue.effects_mut() {
            effect.stored.lock = changed(effect.stored.lock);
        }
    }
}
