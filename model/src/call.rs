//! What becomes of a request where the network is split: it is sent, executed, answered, each a step.
//!
//! ```text
//!   send ──▶ Sent ──Execute──▶ Executed ──Register──▶ heard ──Answer──▶ the caller knows
//!             │ LoseRequest       │ LoseReply
//!             ▼                   ▼
//!            Lost ◀───────────────┘        after `answer_within`: Resend, or Abandon (the outcome is unknown)
//! ```
//!
//! Subscriptions, forced releases and the `DEL` of a receipt stay one step each.
//!
//! Source: facts/redisson.md, "Keys, channels, numbers" (command timeout, retryAttempts, resend); Redisson's
//! `RedisExecutor`, `RedissonLock.tryAcquireAsync`, `RedissonBaseLock.unlockAsync0`.

use crate::config::{Config, Registration, RenewalTimer, RequestId, Resend, StaleRenewal};
use crate::locks::Record;
use crate::mutants::Mutant;
use crate::step::{Happening, Happenings, Reply};
use crate::wire::{Request, Requests, Slot, Stage, Verb, Wire};
use crate::world::{Client, Holder, Mode, Phase, Timer, World};
use crate::{client, receipts, wait_for, watchdog};

/// A thread's request sets out. Until it is answered the thread does nothing else.
pub(crate) fn call<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    verb: Verb,
) -> Option<Reply> {
    // What is under way from an interrupted release of this thread may have its registration pending as well.
    send(config, world, holder, Slot::of_thread(holder.thread()), verb)?;
    let thread = world.thread_mut(holder);
    thread.phase = match (verb, thread.phase) {
        (Verb::Release, _) => Phase::Releasing,
        (_, Phase::Idle) => Phase::Asking,
        (_, _) => Phase::AskingAgain,
    };
    thread.wake_in = Timer::OFF;
    Some(Reply::Done)
}

/// The watchdog's request sets out. Its timer stands still until it is answered.
pub(crate) fn send_renewal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    send(config, world, holder, Slot::Renewal, Verb::Renew)?;
    world.client_mut(holder.client()).renewal.due_in = Timer::OFF;
    Some(Reply::Done)
}

pub(crate) fn send<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
    slot: Slot,
    verb: Verb,
) -> Option<()> {
    let node = world.reachable(holder.client())?;
    let id = if verb.releases() && config.leaves_receipts() { free_id(world, holder) } else { 0 };
    let asks_for = if verb == Verb::Acquire { wait_for::asks_for(config, world, holder.client()) } else { 0 };
    let in_slot = world.slot_mut(holder.client(), slot)?;
    if in_slot.is_some() {
        return None;
    }
    *in_slot = Some(Request {
        verb,
        thread: holder.thread(),
        node,
        stage: Stage::Sent,
        id,
        token: 0,
        age: 0,
        retries_left: if is_resent(config, verb) { config.calls.retry_attempts } else { 0 },
        answer_left: Timer::ticks(config.calls.answer_within),
        is_heard: false,
        must_undo: false,
        is_stale: false,
        asks_for,
    });
    Some(())
}

/// The node does what it is asked, or refuses: it may be no master any more.
pub(crate) fn execute<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    let request = *world.requests(client).get(slot).filter(|request| request.stage == Stage::Sent)?;
    let node = request.node;
    if !world.node(node).is_up() {
        return None;
    }
    let holder = Holder::new(client, request.thread);
    let (reply, token) = match request.verb {
        Verb::Acquire => client::execute_acquire(config, world, seen, node, holder)?,
        Verb::Release | Verb::Undo => (client::execute_release(config, world, seen, (node, request.id), holder)?, 0),
        Verb::Renew => (watchdog::execute_renewal(config, world, seen, node, holder)?, 0),
    };
    let must_undo = request.must_undo && reply == Reply::Acquired;
    let is_awaited = world.client(client).mode != Mode::Crashed && (slot != Slot::Late || must_undo);
    if slot == Slot::Late {
        seen.note(Happening::ExecutedLate);
    }
    // Nobody asks how many know of a grant that nobody waits for.
    let waits = request.asks_for > 0 && reply == Reply::Acquired && slot != Slot::Late && is_awaited;
    let (stage, asks_for) = if waits { (Stage::Confirming, request.asks_for) } else { (Stage::Executed(reply), 0) };
    let executed = Request { stage, token, age: 0, must_undo, asks_for, ..request };
    *world.slot_mut(client, slot)? = Some(executed).filter(|_| is_awaited);
    if waits {
        wait_for::await_replicas(config, world, node);
    }
    Some(reply)
}

/// The process hears of a grant, and puts the hold into its renewal table.
pub(crate) fn register<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    config.time.renew_every?;
    let (client, thread) = (holder.client(), usize::from(holder.thread()));
    if !world.client(client).is_running() {
        return None;
    }
    let requests = world.requests_mut(client)?;
    if requests.owed[thread] {
        requests.owed[thread] = false;
    } else {
        let call = requests.slot_mut(Slot::of_thread(holder.thread())).as_mut()?;
        if call.is_heard || !call.is_granted() {
            return None;
        }
        call.is_heard = true;
    }
    if !config.is_mutated(Mutant::HoldNotRegistered) {
        // A timer for each lock starts with the new entry; the shared one goes on with the answer it waits for.
        let is_renewing = config.protocol.renewal_timer == RenewalTimer::Shared
            && world.requests(client).get(Slot::Renewal).is_some();
        watchdog::register(config, world.client_mut(client), holder.thread(), is_renewing);
    }
    Some(Reply::Done)
}

/// The process hears of a release, and takes the hold out of its renewal table, whatever the reply says (Redisson:
/// `cancelExpirationRenewal` before the check).
pub(crate) fn unregister<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) -> Option<Reply> {
    config.time.renew_every?;
    let client = holder.client();
    if !world.client(client).is_running() {
        return None;
    }
    let call = world.slot_mut(client, Slot::of_thread(holder.thread()))?.as_mut()?;
    if call.is_heard || !call.is_answered_release() {
        return None;
    }
    call.is_heard = true;
    watchdog::unregister(config, world.client_mut(client), holder.thread());
    note_stale_renewal(config, world, holder);
    Some(Reply::Done)
}

/// Where all holds of the thread are gone, what is asked for them is of no interest any more.
fn note_stale_renewal<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    holder: Holder,
) {
    let is_gone = world.client(holder.client()).renewal.counts[usize::from(holder.thread())] == 0;
    if config.calls.stale_renewal == StaleRenewal::Ignore
        && is_gone
        && let Some(Some(renewal)) = world.slot_mut(holder.client(), Slot::Renewal)
    {
        renewal.is_stale |= renewal.thread == holder.thread();
    }
}

/// Whoever asked sees the reply.
pub(crate) fn answer<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    let request = *world.requests(client).get(slot)?;
    let Stage::Executed(reply) = request.stage else { return None };
    let has_watchdog = config.time.renew_every.is_some();
    if !world.client(client).is_running() {
        return None;
    }
    let holder = Holder::new(client, request.thread);
    if slot == Slot::Late {
        // Granted all the same: what nobody waits for is given back, if there is a master to give it back to.
        *world.slot_mut(client, slot)? = None;
        if world.reachable(client).is_none() {
            return Some(reply);
        }
        send(config, world, holder, slot, Verb::Release)?;
        let undo = world.slot_mut(client, slot)?.as_mut()?;
        (undo.answer_left, undo.retries_left) = (Timer::OFF, 0);
        return Some(reply);
    }
    if has_watchdog && request.is_granted() && !request.is_heard {
        let requests = world.requests_mut(client)?;
        let owed = &mut requests.owed[usize::from(holder.thread())];
        if config.calls.registration == Registration::BeforeAnswer || *owed {
            return None;
        }
        *owed = true;
    }
    if has_watchdog && request.is_answered_release() && !request.is_heard {
        return None;
    }
    *world.slot_mut(client, slot)? = None;
    let is_alive = world.thread(holder).phase != Phase::Dead;
    wait_for::note_answer(config, world, holder, (request.node, reply));
    match request.verb {
        Verb::Acquire if matches!(reply, Reply::TooFewReplicas { .. }) => wait_for::send_undo(config, world, holder)?,
        Verb::Acquire if is_alive => {
            client::hear_acquire(config, world, seen, holder, (reply, request.token));
            if config.is_mutated(Mutant::AnswerBelievedPerTry) && reply == Reply::Acquired {
                let retries = config.calls.retry_attempts - request.retries_left;
                world.thread_mut(holder).holds += retries;
            }
        }
        Verb::Release | Verb::Undo => {
            if is_alive && request.verb == Verb::Undo {
                wait_for::leave(world, holder);
            } else if is_alive {
                client::hear_release(config, world, holder, reply);
                note_stale_renewal(config, world, holder);
            }
            if config.leaves_receipts() {
                receipts::drop_receipt(config, world, seen, holder, request.id)?;
            }
        }
        Verb::Acquire => {}
        Verb::Renew => watchdog::hear_renewal(config, world, seen, holder, (reply, request.is_stale)),
    }
    Some(reply)
}

/// No answer came in time: the same is asked again, of the master that the client knows now.
pub(crate) fn resend<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    let request = overdue(world, client, slot)?;
    let node = world.reachable(client)?;
    let retries_left = request.retries_left.checked_sub(1)?;
    give_up_try(world, client, request)?;
    let holder = Holder::new(client, request.thread);
    let id = match config.calls.request_id {
        RequestId::PerTry if request.id != 0 => free_id(world, holder),
        RequestId::PerTry | RequestId::PerRelease => request.id,
    };
    let asks_for = if request.verb == Verb::Acquire { wait_for::asks_for(config, world, client) } else { 0 };
    let answer_left = Timer::ticks(config.calls.answer_within);
    *world.slot_mut(client, slot)? = Some(Request {
        node,
        stage: Stage::Sent,
        id,
        token: 0,
        age: 0,
        retries_left,
        answer_left,
        asks_for,
        ..request
    });
    Some(Reply::Done)
}

/// No answer came in time, and nothing is sent again: the caller is told that the outcome is unknown.
pub(crate) fn abandon<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &mut World<R, C, N>,
    seen: &mut Happenings,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    let request = overdue(world, client, slot)?;
    if request.retries_left > 0 {
        return None;
    }
    give_up_try(world, client, request)?;
    *world.slot_mut(client, slot)? = None;
    seen.note(Happening::OutcomeUnknown);
    let holder = Holder::new(client, request.thread);
    match request.verb {
        Verb::Acquire => client::abandon_acquire(world, holder),
        Verb::Undo if world.thread(holder).phase != Phase::Dead => wait_for::leave(world, holder),
        Verb::Undo => {}
        Verb::Release => {
            // Redisson removes the entry on an error too.
            watchdog::unregister(config, world.client_mut(client), holder.thread());
            note_stale_renewal(config, world, holder);
            client::abandon_release(world, holder);
        }
        Verb::Renew => watchdog::abandon_renewal(config, world, client),
    }
    Some(Reply::Unknown)
}

pub(crate) fn lose_request<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    world.faults.lose_request = world.faults.lose_request.checked_sub(1)?;
    lose(world, client, slot, |stage| stage == Stage::Sent)
}

pub(crate) fn lose_reply<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
    slot: Slot,
) -> Option<Reply> {
    world.faults.lose_reply = world.faults.lose_reply.checked_sub(1)?;
    let is_heard = world.requests(client).get(slot)?.is_heard;
    lose(world, client, slot, |stage| matches!(stage, Stage::Executed(_)) && !is_heard)
}

fn lose<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
    slot: Slot,
    is_there: impl Fn(Stage) -> bool,
) -> Option<Reply> {
    let is_awaited = world.client(client).mode != Mode::Crashed && slot != Slot::Late;
    let in_slot = world.slot_mut(client, slot)?;
    let request = in_slot.filter(|request| is_there(request.stage))?;
    *in_slot = Some(Request { stage: Stage::Lost, age: 0, asks_for: 0, ..request }).filter(|_| is_awaited);
    Some(Reply::Done)
}

/// A node is dead: what was on its way to it is lost, and costs no budget.
pub(crate) fn lose_with_node<R: Record, const C: usize, const N: usize>(world: &mut World<R, C, N>, node: u8) {
    if !R::Wire::IS_SPLIT {
        return;
    }
    for client in 0..u8::try_from(C).unwrap_or(u8::MAX) {
        for slot in Slot::ALL {
            let is_meant = |request: &Request| request.node == node;
            if world.requests(client).get(slot).is_some_and(is_meant) {
                lose(world, client, slot, |stage| stage == Stage::Sent);
            }
        }
    }
}

/// One tick for everything in flight.
pub(crate) fn tick<R: Record, const C: usize, const N: usize>(config: &Config, world: &mut World<R, C, N>) {
    if !R::Wire::IS_SPLIT {
        return;
    }
    // Without a bound, or where nothing in flight outlives the moment, no age is looked at.
    let most = config.network.delay.most().unwrap_or(0);
    for (wire, client) in world.wires.0.iter_mut().zip(&world.clients) {
        let Some(requests) = wire.requests_mut() else { return };
        for request in requests.slots.iter_mut().flatten() {
            request.answer_left = request.answer_left.later();
            if request.stage != Stage::Lost {
                request.age = most.min(request.age + 1);
            }
        }
        for age in &mut requests.message_ages[..usize::from(client.wakeup.messages)] {
            *age = most.min(*age + 1);
        }
    }
}

/// Gives every token in flight another rank.
pub(crate) fn renumber_tokens<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    rank: impl Fn(u8) -> u8,
) {
    for requests in world.wires.0.iter_mut().filter_map(Wire::requests_mut) {
        for request in requests.slots.iter_mut().flatten() {
            request.token = rank(request.token);
        }
    }
}

/// Whether time must wait for something in flight.
pub(crate) fn has_due_request<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    client: u8,
) -> bool {
    if !R::Wire::IS_SPLIT {
        return false;
    }
    let process = world.client(client);
    let requests = world.requests(client);
    requests.iter().any(|(slot, request)| match request.stage {
        Stage::Sent if request.is_due(config) && can_execute(config, world, client, request) => true,
        Stage::Confirming => true,
        Stage::Executed(_) if process.is_running() && (request.is_heard || request.is_due(config)) => true,
        _ => is_overdue(world, process, client, slot, request),
    }) || (process.is_running() && requests.owed != Requests::NONE.owed)
}

/// Whether its caller will do something about it before time moves.
fn is_overdue<R: Record, const C: usize, const N: usize>(
    world: &World<R, C, N>,
    process: &Client,
    client: u8,
    slot: Slot,
    request: &Request,
) -> bool {
    let has_room = request.stage != Stage::Sent || world.requests(client).get(Slot::Late).is_none();
    let can_resend = request.retries_left == 0 || world.node(process.master).is_up();
    let is_waited_for = slot != Slot::Late && process.is_running() && !request.is_heard;
    is_waited_for && request.answer_left.is_due() && has_room && can_resend
}

fn can_execute<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    client: u8,
    request: &Request,
) -> bool {
    let node = world.node(request.node);
    let leaves_receipt = request.verb.releases() && config.leaves_receipts();
    let is_holders = node.record.holder() == Some(Holder::new(client, request.thread));
    let has_room = || node.record.receipts().count() < usize::from(crate::config::MAX_RECEIPTS);
    node.is_up() && (!leaves_receipt || !is_holders || has_room())
}

/// The request, if its caller waits for it no longer.
fn overdue<R: Record, const C: usize, const N: usize>(
    world: &World<R, C, N>,
    client: u8,
    slot: Slot,
) -> Option<Request> {
    let request = world.requests(client).get(slot)?;
    let is_waiting = slot != Slot::Late && world.client(client).is_running() && !request.is_heard;
    (is_waiting && request.answer_left.is_due()).then_some(*request)
}

/// Nobody waits for this try any more. If it is still on its way it may be executed late; a reply finds nobody.
pub(crate) fn give_up_try<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    client: u8,
    request: Request,
) -> Option<()> {
    if request.stage == Stage::Confirming {
        wait_for::forget(world, Holder::new(client, request.thread));
    }
    if request.stage != Stage::Sent {
        return Some(());
    }
    let late = world.slot_mut(client, Slot::Late)?;
    if late.is_some() {
        return None;
    }
    *late = Some(Request { answer_left: Timer::OFF, retries_left: 0, asks_for: 0, ..request });
    Some(())
}

/// A thread waits for its call no longer, whatever becomes of that. `must_undo`: a grant is to be released.
pub(crate) fn cancel<R: Record, const C: usize, const N: usize>(
    world: &mut World<R, C, N>,
    holder: Holder,
    must_undo: bool,
) -> Option<()> {
    let client = holder.client();
    let mut call = world.slot_mut(client, Slot::of_thread(holder.thread()))?.take()?;
    if call.stage == Stage::Confirming {
        wait_for::forget(world, holder);
        (call.stage, call.asks_for) = (Stage::Executed(Reply::Acquired), 0);
    }
    let still_matters = call.stage == Stage::Sent || (must_undo && call.has_grant());
    if still_matters {
        let late = world.slot_mut(client, Slot::Late)?;
        if late.is_some() {
            return None;
        }
        *late = Some(Request { answer_left: Timer::OFF, retries_left: 0, must_undo, asks_for: 0, ..call });
    }
    Some(())
}

fn is_resent(config: &Config, verb: Verb) -> bool {
    match (config.calls.resend, verb) {
        (Resend::None, _) | (Resend::Release, Verb::Acquire) => false,
        (Resend::Release, Verb::Release | Verb::Undo | Verb::Renew) | (Resend::All, _) => true,
    }
}

/// The smallest number that no release of this thread and no receipt goes by.
fn free_id<R: Record, const C: usize, const N: usize>(world: &World<R, C, N>, holder: Holder) -> u8 {
    // Bit n: n is used. One call, one given up, and the receipts of a few nodes: far fewer than there are bits.
    let mut used = 1u64;
    let of_thread = |request: &&Request| request.verb.releases() && request.thread == holder.thread();
    for request in world.requests(holder.client()).iter().map(|(_, request)| request).filter(of_thread) {
        used |= 1 << request.id;
    }
    for node in &world.group.nodes {
        let effects = node.link.effects[..usize::from(node.link.len)].iter().map(|effect| effect.record);
        for record in effects.chain([node.record]) {
            for receipt in record.receipts().filter(|receipt| receipt.holder == holder) {
                used |= 1 << receipt.id;
            }
        }
    }
    u8::try_from(used.trailing_ones()).unwrap_or(u8::MAX)
}
