//! The guarded resource: what it accepts, and from whom.
//!
//! Fencing tokens are numbers of grants. Only their order matters, so a world holds ranks: the tokens that anybody
//! remembers, renumbered from 1 whenever one is forgotten. That keeps the states finite however often the lock is taken.
//! The number is the model's own for now: these kinds of lock store none in Redis.

use crate::call;
use crate::config::Config;
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::wire::Wire;
use crate::world::{Breach, Holder, Phase, World};

pub(crate) fn work<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    let resource = config.resource?;
    let thread = world.thread(holder);
    let newest = world.resource.newest;
    let can_work = world.client(holder.client()).is_running() && thread.phase == Phase::Idle && thread.believes();
    // A second effect of the same holder changes nothing that anybody could see.
    if !can_work || thread.token == newest {
        return None;
    }
    if thread.token > newest {
        if newest > 0 {
            seen.note(Happening::AnotherHoldersEffect);
        }
        world.resource.newest = thread.token;
        return Some(Reply::Accepted);
    }
    seen.note(Happening::StaleEffect);
    if resource.fenced && !config.is_mutated(Mutant::FenceIgnored) {
        return Some(Reply::Rejected);
    }
    world.breaches.note(Breach::EffectOutOfOrder);
    Some(Reply::Accepted)
}

/// Numbers a new grant; 0: nobody looks.
pub(crate) fn issue_token<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
) -> u8 {
    if config.resource.is_none() {
        return 0;
    }
    let newest = remembered(world).max().unwrap_or(0);
    if newest > 0 {
        seen.note(Happening::LaterToken);
    }
    let token = if config.is_mutated(Mutant::TokenReused) { newest.max(1) } else { newest + 1 };
    if token <= newest {
        world.breaches.note(Breach::TokenNotGreater);
    }
    token
}

/// Renumbers the remembered tokens from 1, order kept.
pub(crate) fn forget_unused_ranks<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>) {
    // Bit t: token t is remembered. At most 8 threads, their requests and the resource remember one: ranks stay below 32.
    let used: u32 = remembered(world).fold(0, |used, token| used | 1 << token);
    let rank = |token: u8| -> u8 {
        let older = used & ((1 << token) - 1) & !1;
        if token == 0 { 0 } else { 1 + u8::try_from(older.count_ones()).unwrap_or(u8::MAX) }
    };
    world.resource.newest = rank(world.resource.newest);
    for client in &mut world.clients {
        for thread in &mut client.threads {
            thread.token = rank(thread.token);
        }
    }
    if R::Wire::IS_SPLIT {
        call::renumber_tokens(world, rank);
    }
}

fn remembered<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>) -> impl Iterator<Item = u8> {
    let tokens = world.clients.iter().flat_map(|client| &client.threads).map(|thread| thread.token);
    let under_way = (0..C).flat_map(|client| world.wires.0[client].requests().iter()).map(|(_, request)| request.token);
    tokens.chain(under_way).chain([world.resource.newest])
}
