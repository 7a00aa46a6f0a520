//! `WAIT`: a grant is believed once replicas have it.
//!
//! The master has stored the grant, and its caller asks how many replicas have acknowledged it (`WAIT k t`). On time-out
//! that is answered with the smaller number, and the write stays (facts/redis.md, "Replication"): so where too few have
//! it the caller gives the grant back by a release, which can fail as any request can. Then the lock stays as it is
//! until its lease ends.
//!
//! The time-out is shorter than a tick (Redisson's is a second): the answer may come at any moment, and does before time
//! moves. Where request and answer are one step, an acquire, its `WAIT` and what is given back are three. Where they are
//! steps of their own, `WAIT` goes with the acquire in one batch (Redisson: `RedissonBaseLock.evalWriteSynced`): whoever
//! loses the answer to one loses both, the renewal table hears of the grant after both, and what is given back is a
//! request like any other. The node answers as soon as as many have it as were asked for; a `Confirm` is its time-out.
//!
//! Redisson asks after a release as well, and asks of itself again when too few have a grant; here a release does not
//! wait, and whoever was refused so may ask again.
//!
//! Source: facts/redisson.md, "Replica check" and "Keys, channels, numbers" (the replica count that is remembered).

use crate::config::{Config, MAX_THREADS, WaitRule};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::partition::connected;
use crate::step::{Happening, Happenings, Reply};
use crate::wire::{Request, Slot, Stage, Verb, Wire as _};
use crate::world::{Client, Holder, Mode, Phase, Role, Thread, World};
use crate::{call, client, wakeup};

/// A thread was granted the lock. Whether it asks first how many replicas know; if not, it may believe.
pub(crate) fn begins<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    token: u8,
) -> bool {
    if asks_for(config, world, holder.client()) == 0 {
        return false;
    }
    wakeup::leave(world, holder);
    let thread = world.thread_mut(holder);
    thread.phase = Phase::Confirming;
    thread.token = thread.token.max(token);
    let master = world.client(holder.client()).master;
    await_replicas(config, world, master);
    true
}

/// How many replicas an acquire of this client asks for now; 0: it sends no `WAIT`.
pub(crate) fn asks_for<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    client: u8,
) -> u8 {
    match config.protocol.wait_rule {
        _ if config.cluster.wait_for == 0 => 0,
        WaitRule::Any => known(world, client),
        WaitRule::All => config.cluster.wait_for,
    }
}

/// A master has stored a grant, and is asked who has it.
pub(crate) fn await_replicas<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    master: u8,
) {
    // The grant was written last. Renewals of a hold that was there before may follow it, on another connection.
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
    for client in 0..u8::try_from(C).unwrap_or(u8::MAX) {
        for holder in (0..MAX_THREADS).map(|thread| Holder::new(client, thread)) {
            let is_under_way = || {
                let mut effects = link.effects[..usize::from(link.len)].iter();
                effects.any(|effect| effect.is_awaited() && effect.record.holder() == Some(holder))
            };
            if asked(world, holder) == Some(master) && !is_under_way() {
                world.client_mut(client).replicas.note(holder.thread(), node);
                end_early(config, world, holder);
            }
        }
    }
}

/// The node that is asked who has this thread's grant.
fn asked<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>, holder: Holder) -> Option<u8> {
    let client = holder.client();
    if R::Wire::IS_SPLIT {
        let call = world.requests(client).get(Slot::of_thread(holder.thread()))?;
        return (call.stage == Stage::Confirming).then_some(call.node);
    }
    (world.thread(holder).phase == Phase::Confirming).then_some(world.client(client).master)
}

/// `WAIT` answers.
pub(crate) fn confirm<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    let node = asked(world, holder)?;
    let reply = count(config, world, (holder, node));
    if R::Wire::IS_SPLIT {
        return reply_to_call(world, holder, reply);
    }
    hear(config, world, holder, reply)
}

/// As many have it as were asked for: the node does not wait any longer. Where the network is not split that makes no
/// difference, since nobody sees when the answer was given.
fn end_early<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>, holder: Holder) {
    if let Some(&call) = world.requests(holder.client()).get(Slot::of_thread(holder.thread()))
        && acknowledged(world, holder, call.node) >= call.asks_for
    {
        let reply = count(config, world, (holder, call.node));
        reply_to_call(world, holder, reply);
    }
}

fn reply_to_call<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    holder: Holder,
    reply: Reply,
) -> Option<Reply> {
    forget(world, holder);
    let call = world.slot_mut(holder.client(), Slot::of_thread(holder.thread()))?.as_mut()?;
    *call = Request { stage: Stage::Executed(reply), age: 0, asks_for: 0, ..*call };
    Some(reply)
}

/// What the node answers to `WAIT` now, and what that means by the client's rule.
fn count<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    (holder, node): (Holder, u8),
) -> Reply {
    let replicas = acknowledged(world, holder, node);
    if is_enough(config, replicas) { Reply::Acknowledged { replicas } } else { Reply::TooFewReplicas { replicas } }
}

/// What a client hears that waits for the answer and does nothing else meanwhile.
fn hear<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    reply: Reply,
) -> Option<Reply> {
    if !world.client(holder.client()).is_running() {
        return None;
    }
    let (Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas }) = reply else { return None };
    let master = world.client(holder.client()).master;
    if config.protocol.wait_rule == WaitRule::Any && world.client(holder.client()).replicas.known() != Some(replicas) {
        // It reads the number anew. Once that is 0 it does not ask any more.
        let now = u8::try_from(connected(world, master).count()).unwrap_or(u8::MAX);
        world.client_mut(holder.client()).replicas.note_known(now);
    }
    forget(world, holder);
    if matches!(reply, Reply::TooFewReplicas { .. }) {
        world.thread_mut(holder).phase = Phase::Undoing;
    } else {
        let token = world.thread(holder).token;
        client::believe(config, world, holder, token);
    }
    Some(reply)
}

/// The same of a client whose call it was: another number than it knew it does not keep, and counts again when it asks
/// the next time.
pub(crate) fn note_answer<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    (node, reply): (u8, Reply),
) {
    let (Reply::Acknowledged { replicas } | Reply::TooFewReplicas { replicas }) = reply else { return };
    let client = world.client_mut(holder.client());
    let is_another = client.master == node && client.replicas.known() != Some(replicas);
    if config.protocol.wait_rule == WaitRule::Any && is_another {
        client.replicas.forget_known();
    }
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

/// The same, sent. Who reaches no master can't give it back.
pub(crate) fn send_undo<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<()> {
    let is_alive = world.thread(holder).phase != Phase::Dead;
    if is_alive {
        wakeup::leave(world, holder);
        leave(world, holder);
    }
    if world.reachable(holder.client()).is_none() {
        return Some(());
    }
    // Its process sends it, whatever has become of the thread.
    call::send(config, world, holder, Slot::of_thread(holder.thread()), Verb::Undo)?;
    if is_alive {
        world.thread_mut(holder).phase = Phase::Undoing;
    }
    Some(())
}

/// Time passes. Whose client stands still has had its answer by now, and hears it when it goes on.
pub(crate) fn time_out<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>) {
    if config.cluster.wait_for == 0 {
        return;
    }
    for holder in confirming(world.clients, |_, client| client.mode == Mode::Paused) {
        let master = world.client(holder.client()).master;
        if !is_enough(config, acknowledged(world, holder, master)) {
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

/// The same of calls to one node.
pub(crate) fn lose_calls<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    node: u8,
) {
    if config.cluster.wait_for == 0 || !R::Wire::IS_SPLIT {
        return;
    }
    for client in 0..u8::try_from(C).unwrap_or(u8::MAX) {
        for holder in (0..MAX_THREADS).map(|thread| Holder::new(client, thread)) {
            if asked(world, holder) == Some(node) {
                forget(world, holder);
                if let Some(Some(call)) = world.slot_mut(client, Slot::of_thread(holder.thread())) {
                    *call = Request { stage: Stage::Lost, age: 0, asks_for: 0, ..*call };
                }
            }
        }
    }
}

/// The acquire has failed. Who held before holds as before.
pub(crate) fn leave<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, holder: Holder) {
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
fn acknowledged<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>, holder: Holder, master: u8) -> u8 {
    let client = world.client(holder.client());
    let have = connected(world, master).filter(|&node| client.replicas.has(holder.thread(), node)).count();
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
