//! The one transition function.
//!
//! [`step`] answers `None` when the action cannot happen in this world: the guard stands where the effect stands, in the file
//! of the rule. A busy lock is a reply, not a refusal.

use crate::action::{Action, Party};
use crate::config::faults::Fault;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::locks::tokens::TokenStore as _;
use crate::locks::values::ValueStore as _;
use crate::notes::{Breach, Breaches, Capacities, Happening, Happenings, Notes};
use crate::redis::group::Node;
use crate::reply::Reply;
use crate::world::context::Context;
use crate::world::layout::Layout;
use crate::world::state::World;
use crate::world::{failover_end, parts, queue, resource, tokens, value_sets, values};

/// What one action leads to.
#[derive(Clone, Copy, Debug)]
pub struct Step<Y: Layout> {
    /// The world after it.
    pub world: World<Y>,
    /// What the party that acted observes.
    pub reply: Reply,
    /// What else happened.
    pub happenings: Happenings,
    /// What the model had too little room for. If the action cannot happen, that is why; otherwise the step leaves out a
    /// difference that the world could still show.
    pub touched: Capacities,
}

/// The world after the action, or `None` where it cannot happen.
pub fn step<Y: Layout>(config: &Config, world: &World<Y>, action: Action) -> Option<Step<Y>> {
    attempt(config, world, action).ok()
}

/// The world after the action, or what the model has too little room for; [`Capacities::NONE`]: the action cannot happen in
/// this world.
///
/// # Errors
/// Why there is no world after it.
pub fn attempt<Y: Layout>(config: &Config, world: &World<Y>, action: Action) -> Result<Step<Y>, Capacities> {
    let mut after = Step { world: *world, reply: Reply::Done, happenings: Happenings::NONE, touched: Capacities::NONE };
    if step_into(config, world, action, &mut after) { Ok(after) } else { Err(after.touched) }
}

/// [`step`] into a place that is reused: false where the action cannot happen, and then nothing in the place means anything
/// but what is [`touched`](Step::touched).
pub fn step_into<Y: Layout>(config: &Config, world: &World<Y>, action: Action, after: &mut Step<Y>) -> bool {
    let Step { world: next, happenings, reply, touched } = after;
    *touched = Capacities::NONE;
    *next = *world;
    next.breaches = Breaches::NONE;
    let mut notes = Notes::default();
    if let Some(fault) = action.kind().fault()
        && next.faults.spend(fault).is_none()
    {
        return false;
    }
    let mut context = Context { config, world: next, notes: &mut notes, front: 0 };
    let answer = context.with_group_of(action, execute);
    *touched = notes.touched;
    let Some(answer) = answer else { return false };
    *reply = answer;
    failover_end::note_end(config, next);
    // Of one master. Where there are several, the loss of what one stores is no loss of the lock.
    if !Y::Lock::HAS_SEVERAL_MASTERS {
        note_vanished_grant(world, next, action, &mut notes);
    }
    queue::note_overtaken(config, world, next, &mut notes);
    if Y::Lock::FACTS.parts.is_there() {
        parts::note_left(world, next, &mut notes);
    }
    value_sets::note_shared_values(config, world, next, &mut notes);
    note_tests(config, world, next, action, &mut notes);
    if config.resource.is_some() {
        resource::forget_unused_ranks(next);
    }
    if Y::Values::IS_THERE && config.has_values() {
        values::forget_unused(next);
    }
    if Y::Tokens::IS_THERE && config.has_stored_tokens() {
        tokens::note_told(config, world, next, &mut notes);
        tokens::forget_unused(next);
    }
    next.breaches = notes.breaches;
    *happenings = notes.happenings;
    true
}

/// The rule of the action, applied to the world; `None` where it cannot happen, and then the world means nothing.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a path is not general enough over lifetimes")]
fn execute<Y: Layout>(context: &mut Context<'_, Y>, action: Action) -> Option<Reply> {
    let done = |()| Reply::Done;
    match action {
        // Clients.
        Action::Acquire { client, thread } => context.acquire(Holder::new(client, thread)),
        Action::NextPart { client, thread } => context.next_part(Holder::new(client, thread)),
        Action::GiveBack { client, thread } => context.give_back(Holder::new(client, thread)),
        Action::Subscribe { client, thread } => context.subscribe(Holder::new(client, thread)),
        Action::SecondAsk { client, thread } => context.second_ask(Holder::new(client, thread)),
        Action::WakeByMessage { client, thread } => context.wake_by_message(Holder::new(client, thread)),
        Action::WakeByTimer { client, thread } => context.wake_by_timer(Holder::new(client, thread)),
        Action::GiveUp { client, thread } => context.give_up(Holder::new(client, thread)),
        Action::Confirm { client, thread } => context.confirm(Holder::new(client, thread)),
        Action::Undo { client, thread } => context.undo(Holder::new(client, thread)),
        Action::SetTtl { client, thread } => context.set_ttl(Holder::new(client, thread)),
        Action::ReadToken { client, thread } => context.read_token(Holder::new(client, thread)),
        Action::AskIfHeld { client, thread } => context.ask_if_held(Holder::new(client, thread)),
        Action::Work { client, thread } => context.work(Holder::new(client, thread)),
        Action::Arrive { client, thread } => context.arrive(Holder::new(client, thread)),
        Action::Release { client, thread } => context.release(Holder::new(client, thread)),
        Action::AskMaster { client, node } => context.ask_master(client, node),
        Action::ExtendAt { client, node } => context.extend_at(client, node),
        Action::SetTtlAt { client, node } => context.set_ttl_at(client, node),
        Action::HearMaster { client, node } => context.hear_master(client, node),
        Action::ReleaseAt { client, node } => context.release_at(client, node),
        Action::Discover { client } => context.discover(client),
        Action::DiscoverMaster { client, node } => context.discover_master(client, node),
        Action::GoBack { client, node } => context.go_back(client, node),
        Action::Resubscribe { client } => context.resubscribe(client),
        Action::Resume { client } => context.process(client, |process| process.resume()).map(done),

        // Network.
        Action::Deliver { client } => context.process(client, |process| process.deliver()).map(done),
        Action::Execute { client, slot } => context.execute(client, slot),
        Action::Register { client, thread } => context.register(client, thread),
        Action::Unregister { client, thread } => {
            context.process(client, |process| process.unregister(thread)).map(done)
        }
        Action::Answer { client, slot } => context.answer(client, slot),
        Action::Resend { client, slot } => context.resend(client, slot),
        Action::Abandon { client, slot } => context.abandon(client, slot),

        Action::ArriveLate { client, node } => context.arrive_late(client, node),

        // Watchdog.
        Action::Renew { client } => context.renew(client, false),
        Action::RenewAcknowledged { client } => context.renew(client, true),

        // Redis.
        Action::Replicate { node } => context.replicate(node),
        Action::Promote { node } => context.server().promote(node).map(done),
        Action::Resync { node } => context.resync(node),
        Action::LeaveMaster { node } => context.server().leave_master(node).map(done),
        Action::Demote { node } => context.demote(node),
        Action::Fsync { node } => context.server().fsync(node).map(done),
        Action::Snapshot { node } => context.server().snapshot(node).map(done),
        Action::FinishShutdown { node } => context.finish_shutdown(node),
        Action::FinishHandOver { node } => context.finish_hand_over(node),
        Action::GiveUpHandOver { node } => context.give_up_hand_over(node),
        Action::Heal { node } => context.heal(node),
        Action::Recount { node } => context.server().recount(node).map(done),
        Action::NoticeDeath { node } => context.server().notice_death(node).map(done),
        Action::AcceptWrites { node } => context.accept_writes(node),
        Action::MoveKeys { node } => context.server().move_keys(node).map(done),
        Action::FinishMove { node } => context.finish_move(node),
        Action::Expire { node } => context.expire(node),
        Action::ExpirePart { node, name } => context.expire_part(node, name),
        Action::ExpireReceipts { node } => context.expire_receipts(node),
        Action::ResumeNode { node } => context.resume_node(node),
        Action::CountReplicas { node } => context.count_anew(node),

        // Faults.
        Action::CrashClient { client } => context.crash_client(client),
        Action::CrashThread { client, thread } => {
            context.process(client, |process| process.crash_thread(thread)).map(done)
        }
        Action::PauseClient { client } => context.process(client, |process| process.pause()).map(done),
        Action::StartClient { client, node } => context.start_client(client, node),
        Action::CrashNode { node } => context.crash_node(node),
        Action::LoseMessage { client } => {
            context.process(client, |process| process.take_message()).map(|_| Reply::Done)
        }
        Action::LoseRequest { client, slot } => context.lose_request(client, slot),
        Action::LoseReply { client, slot } => context.lose_reply(client, slot),
        Action::LoseAsk { client, node } => context.lose_ask(client, node),
        Action::SlowReply { client, node } => context.ask_slowly(client, node),
        Action::LateAsk { client, node } => context.ask_late(client, node),
        Action::Interrupt { client, thread } => context.interrupt(Holder::new(client, thread)),
        Action::ForeignRelease { client, thread } => context.release_foreign(Holder::new(client, thread)),
        Action::ForceRelease { client } => context.force_release(client),
        Action::RestartNode { node } => context.restart_node(node),
        Action::KillNode { node } => context.kill_node(node),
        Action::ShutdownNode { node } => context.shut_down_node(node),
        Action::CutLink { node } => context.server().cut(node).map(done),
        Action::RefuseWrites { node } => context.server().refuse_writes(node).map(done),
        Action::BreakLink { node } => context.server().break_link(node).map(done),
        Action::MoveSlot { node } => context.server().move_slot(node).map(done),
        Action::PauseNode { node } => context.server().pause(node).map(done),
        Action::VanishKey { node } => context.server().vanish(node).map(done),
        Action::PersistKey { node } => context.server().persist(node).map(done),
        Action::VanishReceipts { node } => context.server().vanish_receipts(node).map(done),
        Action::VanishToken { node } => context.server().vanish_token(node).map(done),
        Action::OverwriteKey { node, name } => context.server().overwrite(node, name).map(done),
        Action::ClockJump { node } => context.jump_clock(node),
        Action::ClientClockJump { client } => context.process(client, |process| process.jump_wall_clock()).map(done),
        Action::HandOver { node } => context.hand_over(node),

        // Time.
        Action::Tick => context.tick(),
    }
}

/// Notes what puts the properties about nodes to the test: see [`Property::antecedent`](crate::Property::antecedent).
fn note_tests<Y: Layout>(config: &Config, before: &World<Y>, after: &World<Y>, action: Action, notes: &mut Notes) {
    let is_taken = config.faults.vanish_key > 0 || config.faults.overwrite_key > 0;
    if !config.can_fail_over() && !config.can_restart() && !is_taken || Y::Lock::HAS_SEVERAL_MASTERS {
        return;
    }
    if after.group().nodes.as_ref().iter().filter(|node| node.is_master()).count() > 1 {
        notes.happened(Happening::TwoMasters);
    }
    let is_at_master = action.party() == Party::Node(before.group().master());
    let is_risky = action.kind().fault().is_some_and(|fault| match fault {
        Fault::CrashNode
        | Fault::KillNode
        | Fault::ShutdownNode
        | Fault::CutLink
        | Fault::PauseNode
        | Fault::VanishKey
        | Fault::OverwriteKey => is_at_master,
        // It may be replaced, if there is a replica.
        Fault::RefuseWrites => is_at_master && config.can_promote(),
        Fault::HandOver => true,
        Fault::CrashClient
        | Fault::CrashThread
        | Fault::PauseClient
        | Fault::StartClient
        | Fault::LoseMessage
        | Fault::ForeignRelease
        | Fault::ForceRelease
        | Fault::RestartNode
        | Fault::BreakLink
        | Fault::MoveSlot
        | Fault::PersistKey
        | Fault::VanishReceipts
        | Fault::VanishToken
        | Fault::LoseRequest
        | Fault::LoseReply
        | Fault::LoseAsk
        | Fault::SlowReply
        | Fault::LateAsk
        | Fault::Interrupt
        | Fault::ClockJump
        | Fault::ClientClockJump => false,
    });
    // Of several locks one is overwritten.
    let is_held = |master: &Node<Y>| match action {
        Action::OverwriteKey { name, .. } => master.stored.holder_under(name).is_some(),
        _ => !master.stored.is_free(),
    };
    if is_risky && before.acting_master().is_some_and(is_held) {
        notes.happened(Happening::GrantAtRisk);
    }
}

/// A grant may leave the acting master by the holder's release, by a forced release and by expiry. Anything else is a loss.
/// Observed from outside the rules, so that no rule can forget to say so.
#[expect(clippy::too_many_lines, reason = "one arm for each action")]
fn note_vanished_grant<Y: Layout>(before: &World<Y>, after: &World<Y>, action: Action, notes: &mut Notes) {
    let Some(now) = after.acting_master() else { return };
    for hold in before.node(before.group().master()).stored.holders() {
        // What has no time left may be gone at this very instant, whatever happens.
        if now.stored.is_held_as(hold.by) || hold.remaining.is_due() {
            continue;
        }
        let is_rightful = match action {
            Action::Release { client, thread }
            | Action::GiveBack { client, thread }
            | Action::Undo { client, thread }
            | Action::ForeignRelease { client, thread } => Holder::new(client, thread) == hold.by.holder,
            Action::ForceRelease { .. }
            | Action::Expire { .. }
            | Action::ExpirePart { .. }
            | Action::Tick
            | Action::ClockJump { .. } => true,
            Action::Execute { client, slot } => before.requests(client).get(slot).is_some_and(|request| {
                request.verb.releases() && Holder::new(client, request.thread) == hold.by.holder
            }),
            Action::Acquire { .. }
            | Action::NextPart { .. }
            | Action::Subscribe { .. }
            | Action::SecondAsk { .. }
            | Action::WakeByMessage { .. }
            | Action::WakeByTimer { .. }
            | Action::GiveUp { .. }
            | Action::Confirm { .. }
            | Action::SetTtl { .. }
            | Action::ReadToken { .. }
            | Action::AskIfHeld { .. }
            | Action::Work { .. }
            | Action::Arrive { .. }
            | Action::AskMaster { .. }
            | Action::ExtendAt { .. }
            | Action::SetTtlAt { .. }
            | Action::HearMaster { .. }
            | Action::ReleaseAt { .. }
            | Action::ArriveLate { .. }
            | Action::LoseAsk { .. }
            | Action::SlowReply { .. }
            | Action::LateAsk { .. }
            | Action::Discover { .. }
            | Action::DiscoverMaster { .. }
            | Action::GoBack { .. }
            | Action::Resubscribe { .. }
            | Action::Resume { .. }
            | Action::Deliver { .. }
            | Action::Register { .. }
            | Action::Unregister { .. }
            | Action::Answer { .. }
            | Action::Resend { .. }
            | Action::Abandon { .. }
            | Action::Renew { .. }
            | Action::RenewAcknowledged { .. }
            | Action::Replicate { .. }
            | Action::Promote { .. }
            | Action::Resync { .. }
            | Action::LeaveMaster { .. }
            | Action::Demote { .. }
            | Action::Fsync { .. }
            | Action::Snapshot { .. }
            | Action::FinishShutdown { .. }
            | Action::FinishHandOver { .. }
            | Action::GiveUpHandOver { .. }
            | Action::Heal { .. }
            | Action::Recount { .. }
            | Action::NoticeDeath { .. }
            | Action::AcceptWrites { .. }
            | Action::MoveKeys { .. }
            | Action::FinishMove { .. }
            | Action::ExpireReceipts { .. }
            | Action::ResumeNode { .. }
            | Action::CountReplicas { .. }
            | Action::CrashClient { .. }
            | Action::CrashThread { .. }
            | Action::PauseClient { .. }
            | Action::StartClient { .. }
            | Action::CrashNode { .. }
            | Action::LoseMessage { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. }
            | Action::Interrupt { .. }
            | Action::RestartNode { .. }
            | Action::KillNode { .. }
            | Action::ShutdownNode { .. }
            | Action::CutLink { .. }
            | Action::RefuseWrites { .. }
            | Action::PauseNode { .. }
            | Action::VanishKey { .. }
            | Action::BreakLink { .. }
            | Action::MoveSlot { .. }
            | Action::PersistKey { .. }
            | Action::VanishReceipts { .. }
            | Action::VanishToken { .. }
            | Action::OverwriteKey { .. }
            | Action::ClientClockJump { .. }
            | Action::HandOver { .. } => false,
        };
        if !is_rightful {
            notes.broke(Breach::GrantVanished);
            notes.happened(Happening::GrantLost);
        }
    }
}
