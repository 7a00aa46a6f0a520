//! `WAIT`: a grant is believed once replicas have it.
//!
//! The master has stored the grant, and its caller asks how many replicas have acknowledged it (`WAIT k t`). On time-out
//! that is answered with the smaller number, and the write stays (facts/redis.md, "Replication"): so where too few have
//! it the caller gives the grant back by a release, which can fail as any request can. Then the lock stays as it is
//! until its lease ends.
//!
//! The time-out is shorter than a tick (Redisson's is a second): the answer may come at any moment, and does before time
//! moves. Where request and answer are one step, an acquire, its `WAIT` and what is given back are three.
//!
//! Source: facts/redisson.md, "Replica check" and "Keys, channels, numbers" (the replica count that is remembered).

use crate::config::{Config, WaitRule};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::partition::connected;
use crate::step::{Happening, Happenings, Reply};
use crate::world::{Client, Holder, Mode, Phase, Role, Thread, World};
use crate::{client, wakeup};

/// A thread was granted the lock. Whether it asks first how many replicas know; if not, it may believe.
pub(crate) fn begins<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    token: u8,
) -> bool {
    if config.cluster.wait_for == 0 {
        return false;
    }
    if config.protocol.wait_rule == WaitRule::Any && known(world, holder.client()) == 0 {
        return false;
    }
    wakeup::leave(world, holder);
    let thread = world.thread_mut(holder);
    thread.phase = Phase::Confirming;
    thread.token = thread.token.max(token);
    // The grant was written last. Renewals of a hold that was there before may follow it, on another connection.
    let master = world.client(holder.client()).master;
    if master == world.group.master && !world.node(master).is_cut() {
        for link in world.group.nodes.iter_mut().map(|node| &mut node.link) {
            if let Some(last) = link.len.checked_sub(1) {
                link.effects[usize::from(last)].set_awaited(true);
            }
        }
    }
    for node in 0..u8::try_from(N).unwrap_or(u8::MAX) {
        acknowledge(config, world, node);
    }
    true
}

/// How many replicas the client takes its master to have: what it read last, or reads now.
fn known<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, client: u8) -> u8 {
    let read = || connected(world, world.client(client).master).count();
    let known = world.client(client).replicas.known().unwrap_or_else(|| u8::try_from(read()).unwrap_or(u8::MAX));
    world.client_mut(client).replicas.note_known(known);
    known
}

/// A replica has caught up with an effect, or with everything: whose grant is not under way to it any more is
/// acknowledged.
pub(crate) fn acknowledge<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) {
    if config.cluster.wait_for == 0 || world.node(node).role != Role::Replica || world.node(world.group.master).is_cut()
    {
        return;
    }
    let link = world.node(node).link;
    let master = world.group.master;
    for (client, state) in (0u8..).zip(&mut world.clients).filter(|(_, client)| client.master == master) {
        for (thread, _) in (0u8..).zip(state.threads).filter(|(_, thread)| thread.phase == Phase::Confirming) {
            let holder = Some(Holder::new(client, thread));
            let is_under_way =
                link.effects[..usize::from(link.len)].iter().any(|it| it.is_awaited() && it.record.holder() == holder);
            if !is_under_way {
                state.replicas.note(thread, node);
            }
        }
    }
}

/// `WAIT` answers.
pub(crate) fn confirm<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    if !world.client(holder.client()).is_running() || world.thread(holder).phase != Phase::Confirming {
        return None;
    }
    let replicas = acknowledged(world, holder);
    let is_enough = is_enough(config, replicas);
    let master = world.client(holder.client()).master;
    if config.protocol.wait_rule == WaitRule::Any && world.client(holder.client()).replicas.known() != Some(replicas) {
        // It reads the number anew. Once that is 0 it does not ask any more.
        let now = u8::try_from(connected(world, master).count()).unwrap_or(u8::MAX);
        world.client_mut(holder.client()).replicas.note_known(now);
    }
    forget(world, holder);
    if !is_enough {
        world.thread_mut(holder).phase = Phase::Undoing;
        return Some(Reply::TooFewReplicas { replicas });
    }
    let token = world.thread(holder).token;
    client::believe(config, world, holder, token);
    Some(Reply::Acknowledged { replicas })
}

/// Too few have it: the grant is given back.
pub(crate) fn undo<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    holder: Holder,
) -> Option<Reply> {
    if !world.client(holder.client()).is_running() || world.thread(holder).phase != Phase::Undoing {
        return None;
    }
    let reply = match world.reachable(holder.client()) {
        Some(node) => client::execute_release(config, world, seen, (node, 0), holder)?,
        None => Reply::Unreachable,
    };
    leave(world, holder);
    Some(reply)
}

/// Time passes. Whose client stands still has had its answer by now, and hears it when it goes on.
pub(crate) fn time_out<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>) {
    if config.cluster.wait_for == 0 {
        return;
    }
    for holder in confirming(world.clients, |_, client| client.mode == Mode::Paused) {
        if !is_enough(config, acknowledged(world, holder)) {
            forget(world, holder);
            world.thread_mut(holder).phase = Phase::Undoing;
        }
    }
}

/// The connections of some clients are gone: `WAIT` has no answer. Its caller does not know whether it holds, nor that
/// there is anything to give back, and gets an exception.
pub(crate) fn lose<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    is_meant: impl Fn(u8, &Client) -> bool,
) {
    if config.cluster.wait_for == 0 {
        return;
    }
    for holder in confirming(world.clients, is_meant) {
        seen.note(Happening::OutcomeUnknown);
        forget(world, holder);
        leave(world, holder);
    }
}

/// The acquire has failed. Who held before holds as before.
fn leave<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
    let thread = world.thread_mut(holder);
    *thread = if thread.believes() { Thread { phase: Phase::Idle, ..*thread } } else { Thread::IDLE };
}

/// The threads whose `WAIT` is not answered yet, of some clients.
fn confirming<const C: usize>(
    clients: [Client; C],
    is_meant: impl Fn(u8, &Client) -> bool,
) -> impl Iterator<Item = Holder> {
    (0u8..).zip(clients).filter(move |(index, client)| is_meant(*index, client)).flat_map(|(index, client)| {
        let threads = (0u8..).zip(client.threads).filter(|(_, thread)| thread.phase == Phase::Confirming);
        threads.map(move |(thread, _)| Holder::new(index, thread))
    })
}

/// How many replicas have acknowledged the grant and are still there.
fn acknowledged<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>, holder: Holder) -> u8 {
    let client = world.client(holder.client());
    let have = connected(world, client.master).filter(|&node| client.replicas.has(holder.thread(), node)).count();
    u8::try_from(have).unwrap_or(u8::MAX)
}

fn is_enough(config: &Config, replicas: u8) -> bool {
    let needed = match config.protocol.wait_rule {
        WaitRule::Any => 1,
        WaitRule::All => config.cluster.wait_for,
    };
    replicas >= needed || config.is_mutated(Mutant::WaitIgnored)
}

/// Nobody waits any more for replicas to have this thread's grant.
pub(crate) fn forget<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
    world.client_mut(holder.client()).replicas.forget(holder.thread());
    for effect in world.group.nodes.iter_mut().flat_map(|node| &mut node.link.effects) {
        if effect.record.holder() == Some(holder) {
            effect.set_awaited(false);
        }
    }
}
