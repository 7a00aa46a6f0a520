//! Which actions may be possible in a world: most are not, and [`step`](crate::step()) copies the world before its rule
//! runs.
//!
//! Most is decided by the posture of a thread or a client, for which there is a table; the rest is checked one by one. The
//! prefilter may be wrong in one direction only: what it rules out, `step` refuses (a test holds it to that). The rules stand
//! with their effects; this is for speed alone.

use core::marker::PhantomData;

use super::layout::Layout;
use super::state::World;
use super::tick;
use crate::action::{Action, ActionKind, Party};
use crate::client::requests::{Slot, Stage};
use crate::client::state::{AcquiresLeft, Mode, Phase};
use crate::config::sections::{Clients, Config};
use crate::locks::contract::Lock as _;
use crate::locks::holder::Holder;
use crate::locks::receipts::ReceiptStore as _;
use crate::redis::group::Role;
use crate::slots::Slots;

/// The actions of a scenario, sorted by what a world must look like for them.
#[derive(Clone, Debug)]
pub struct Prefilter<Y: Layout> {
    config: Config,
    actions: Vec<Action>,
    /// For each thread of each client, in turn, and each posture: the actions that this posture does not rule out.
    by_thread: Vec<[Y::ActionBits; ThreadPosture::COUNT]>,
    /// The same for each client.
    by_client: Vec<[Y::ActionBits; ClientPosture::COUNT]>,
    /// The actions of no client.
    others: Y::ActionBits,
    /// The actions that need a closer check: a posture does not decide them.
    undecided: Y::ActionBits,
    layout: PhantomData<Y>,
}

/// What the prefilter reads of a thread.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a posture is a number, a bit each")]
struct ThreadPosture {
    phase: Phase,
    has_hold: bool,
    /// It may start another acquire, and hold once more.
    may_enter: bool,
    /// Its wait limit is over.
    is_at_limit: bool,
    /// A message has brought a permit.
    has_permit: bool,
    /// Its timer has woken it.
    is_woken: bool,
}

/// What the prefilter reads of a client.
#[derive(Clone, Copy)]
struct ClientPosture {
    has_messages: bool,
    /// Its renewal timer is due.
    is_due: bool,
    /// Its subscription may have ended with its connection.
    is_unsubscribed: bool,
}

impl ThreadPosture {
    const COUNT: usize = Phase::ALL.len() << 5;

    fn all() -> impl Iterator<Item = Self> {
        Phase::ALL.into_iter().flat_map(|phase| {
            (0..1 << 5).map(move |bits| Self {
                phase,
                has_hold: bits & 1 != 0,
                may_enter: bits & 2 != 0,
                is_at_limit: bits & 4 != 0,
                has_permit: bits & 8 != 0,
                is_woken: bits & 16 != 0,
            })
        })
    }

    const fn number(self) -> usize {
        let Self { phase, has_hold, may_enter, is_at_limit, has_permit, is_woken } = self;
        (phase as usize) << 5
            | has_hold as usize
            | (may_enter as usize) << 1
            | (is_at_limit as usize) << 2
            | (has_permit as usize) << 3
            | (is_woken as usize) << 4
    }

    /// Whether this posture allows such an action; `None`: the posture does not decide it.
    const fn allows(self, kind: ActionKind) -> Option<bool> {
        let Self { phase, has_hold, may_enter, is_at_limit, has_permit, is_woken } = self;
        Some(match kind {
            ActionKind::Acquire => matches!(phase, Phase::Idle) && may_enter,
            ActionKind::ReadToken => matches!(phase, Phase::Idle) && has_hold,
            ActionKind::AskIfHeld => matches!(phase, Phase::Doubting),
            // Code goes on, and may end, while an extension is under way.
            ActionKind::Work | ActionKind::Release => {
                matches!(phase, Phase::Idle | Phase::AskingMasters | Phase::HearingMaster) && has_hold
            }
            ActionKind::NextPart => matches!(phase, Phase::NextPart),
            ActionKind::GiveBack => matches!(phase, Phase::GivingBack),
            ActionKind::Subscribe => matches!(phase, Phase::Refused),
            ActionKind::SecondAsk => matches!(phase, Phase::Subscribed),
            ActionKind::WakeByMessage => matches!(phase, Phase::Waiting) && has_permit,
            ActionKind::WakeByTimer => matches!(phase, Phase::Waiting) && is_woken && !has_permit,
            // In a split network its call waits for the replicas.
            ActionKind::Confirm => !matches!(phase, Phase::Idle | Phase::Refused | Phase::Subscribed | Phase::Waiting),
            ActionKind::SetTtl => matches!(phase, Phase::SettingTtl),
            ActionKind::Undo => matches!(phase, Phase::Undoing),
            ActionKind::GiveUp => {
                let is_waiting = matches!(phase, Phase::Refused | Phase::Subscribed | Phase::Waiting);
                is_waiting && is_at_limit || matches!(phase, Phase::NextPart)
            }
            _ => return None,
        })
    }
}

impl ClientPosture {
    const COUNT: usize = 1 << 3;

    fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(|bits| Self {
            has_messages: bits & 1 != 0,
            is_due: bits & 2 != 0,
            is_unsubscribed: bits & 4 != 0,
        })
    }

    const fn number(self) -> usize {
        self.has_messages as usize | (self.is_due as usize) << 1 | (self.is_unsubscribed as usize) << 2
    }

    /// As [`ThreadPosture::allows`].
    const fn allows(self, kind: ActionKind) -> Option<bool> {
        let Self { has_messages, is_due, is_unsubscribed } = self;
        Some(match kind {
            ActionKind::Deliver => has_messages,
            ActionKind::Renew | ActionKind::RenewAcknowledged => is_due,
            ActionKind::Resubscribe => is_unsubscribed,
            _ => return None,
        })
    }
}

impl<Y: Layout> Prefilter<Y> {
    /// Every action the scenario allows.
    ///
    /// # Panics
    /// The layout has too few bits for them: a bug of the layouts.
    pub fn new(config: &Config) -> Self {
        let Clients { count, threads, .. } = config.clients;
        let none = || Y::ActionBits::from_fn(|_| 0);
        let mut filter = Self {
            config: *config,
            actions: Action::all(config),
            by_thread: vec![[none(); ThreadPosture::COUNT]; usize::from(count * threads)],
            by_client: vec![[none(); ClientPosture::COUNT]; usize::from(count)],
            others: none(),
            undecided: none(),
            layout: PhantomData,
        };
        let bits = Y::ActionBits::LEN * u64::BITS as usize;
        assert!(filter.actions.len() <= bits, "{} actions, and {bits} bits for them", filter.actions.len());
        for (number, action) in filter.actions.iter().enumerate() {
            let mut is_decided = true;
            let mut decide = |allows: Option<bool>| {
                is_decided &= allows.is_some();
                allows.unwrap_or(true)
            };
            match action.party() {
                Party::Thread(holder) => {
                    let by_posture = &mut filter.by_thread[usize::from(holder.client() * threads + holder.thread())];
                    for posture in ThreadPosture::all().filter(|posture| decide(posture.allows(action.kind()))) {
                        insert(&mut by_posture[posture.number()], number);
                    }
                }
                Party::Client(client) => {
                    let by_posture = &mut filter.by_client[usize::from(client)];
                    for posture in ClientPosture::all().filter(|posture| decide(posture.allows(action.kind()))) {
                        insert(&mut by_posture[posture.number()], number);
                    }
                }
                Party::Node(_) | Party::World => {
                    is_decided = false;
                    insert(&mut filter.others, number);
                }
            }
            if !is_decided {
                insert(&mut filter.undecided, number);
            }
        }
        filter
    }

    /// The actions, each at its number, in the order of [`Action::all`].
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Calls `show` with every action that is not ruled out, and its number, in order.
    #[inline]
    pub fn each_possible(&self, world: &World<Y>, mut show: impl FnMut(u16, Action)) {
        let mut possible = self.others;
        let threads = self.by_thread.len() / self.by_client.len().max(1);
        let by_client = self.by_client.iter().zip(self.by_thread.chunks_exact(threads.max(1)));
        for ((index, client), (by_posture, by_thread)) in world.clients().zip(by_client) {
            let posture = ClientPosture {
                has_messages: client.wakeup.messages() > 0,
                is_due: client.renewal.due_in().is_due(),
                // A client of several masters is subscribed at the one for which it waits.
                is_unsubscribed: Y::Lock::HAS_MASTER_LOCKS || world.group().connection(index).subscription().is_none(),
            };
            add(&mut possible, &by_posture[posture.number()]);
            for (thread, by_posture) in client.threads.iter().zip(by_thread) {
                let posture = ThreadPosture {
                    phase: thread.phase,
                    has_hold: thread.has_hold(),
                    may_enter: thread.holds() < self.config.clients.max_holds
                        && client.acquires_left != AcquiresLeft::NONE,
                    is_at_limit: thread.wait_left.is_due(),
                    has_permit: client.wakeup.permits > 0,
                    is_woken: thread.wake_in.may_fire(),
                };
                add(&mut possible, &by_posture[posture.number()]);
            }
        }
        let words = possible.as_ref().iter().zip(self.undecided.as_ref());
        for (first, (&bits, &undecided)) in (0..).step_by(64).zip(words) {
            let mut left = bits;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
                let number: u16 = first + bit as u16;
                let action = self.actions[usize::from(number)];
                if undecided >> bit & 1 == 0 || !is_ruled_out(&self.config, world, action) {
                    show(number, action);
                }
            }
        }
    }
}

/// Whether a closer check shows that an action cannot happen here: for those that no posture decides.
#[inline]
#[expect(clippy::too_many_lines, reason = "one arm for each action")]
fn is_ruled_out<Y: Layout>(config: &Config, world: &World<Y>, action: Action) -> bool {
    if Y::Lock::HAS_SEVERAL_MASTERS
        && let Party::Node(node) = action.party()
        && let (group @ 1.., number) = config.place_of(node)
    {
        let mut in_front = *world;
        in_front.exchange_front(group);
        return is_ruled_out(config, &in_front, action.at_node(number));
    }
    if let Some(fault) = action.kind().fault()
        && world.faults.of(fault) == 0
    {
        return true;
    }
    let has_hold = |client, thread| world.thread(Holder::new(client, thread)).has_hold();
    let has_sent = |client, slot| world.requests(client).get(slot).is_some_and(|sent| sent.stage == Stage::Sent);
    let is_executed = |client, slot| {
        world.requests(client).get(slot).is_some_and(|request| matches!(request.stage, Stage::Executed(_)))
    };
    let is_known = |client, node| {
        let (group, number) = config.place_of(node);
        world.call(client).master_in(group) == number
    };
    let asks = |client, node| {
        let (group, _) = config.place_of(node);
        let phase = world.thread(Holder::new(client, 0)).phase;
        phase == Phase::AskingMasters && !world.call(client).asked.has(group) && is_known(client, node)
    };
    let sets_ttl = |client, node| {
        let group = config.place_of(node).0;
        let phase = world.thread(Holder::new(client, 0)).phase;
        phase == Phase::SettingTtl && world.call(client).asked.has(group) && is_known(client, node)
    };
    let is_overdue =
        |client, slot| world.requests(client).get(slot).is_some_and(|request| request.answer_left.is_due());
    match action {
        Action::ForeignRelease { client, thread } => has_hold(client, thread),
        Action::CrashThread { client, thread } => {
            !has_hold(client, thread) && !world.thread(Holder::new(client, thread)).is_calling()
        }
        Action::Arrive { client, thread } => world.thread(Holder::new(client, thread)).write() == 0,
        Action::Execute { client, slot } | Action::LoseRequest { client, slot } => !has_sent(client, slot),
        Action::Answer { client, slot } | Action::LoseReply { client, slot } => !is_executed(client, slot),
        Action::Register { client, thread } => {
            !is_executed(client, Slot::of_thread(thread)) && world.requests(client).owed[usize::from(thread)] == 0
        }
        Action::Unregister { client, thread } => !is_executed(client, Slot::of_thread(thread)),
        Action::Resend { client, slot } | Action::Abandon { client, slot } => !is_overdue(client, slot),
        Action::Interrupt { client, thread } => {
            let thread = world.thread(Holder::new(client, thread));
            !(thread.is_waiting() || thread.is_calling())
        }
        Action::Discover { client } => world.client(client).master() == world.group().master(),
        Action::AskMaster { client, node } | Action::LateAsk { client, node } => {
            config.extends_in_rounds() && has_hold(client, 0) || !asks(client, node)
        }
        Action::ExtendAt { client, node } if config.asks_master_locks() => {
            !world.watchdog(client, config.place_of(node).0).due_in().is_due() || !is_known(client, node)
        }
        Action::ExtendAt { client, node } => !has_hold(client, 0) || !asks(client, node),
        Action::SetTtlAt { client, node } => !sets_ttl(client, node),
        Action::LoseAsk { client, node } => !asks(client, node) && !sets_ttl(client, node),
        Action::SlowReply { client, node } => !asks(client, node),
        Action::HearMaster { client, node } => {
            !world.call(client).unheard.has(config.place_of(node).0) || !is_known(client, node)
        }
        Action::ReleaseAt { client, node } => {
            let phase = world.thread(Holder::new(client, 0)).phase;
            let is_asked = world.call(client).asked.has(config.place_of(node).0);
            !matches!(phase, Phase::ReleasingMasters | Phase::Undoing) || !is_asked || !is_known(client, node)
        }
        Action::ArriveLate { client, node } => {
            let group = config.place_of(node).0;
            !world.call(client).late.with_all(world.call(client).late_of_earlier).has(group) || !is_known(client, node)
        }
        Action::DiscoverMaster { client, node } => is_known(client, node),
        Action::GoBack { client, node } => {
            node == world.group().master() || node == world.client(client).master() || !world.node(node).is_master()
        }
        Action::StartClient { client, node } => {
            world.client(client).mode != Mode::NotStarted || !world.node(node).is_master()
        }
        Action::Resume { client } => world.client(client).mode != Mode::Paused,
        Action::LoseMessage { client } => world.client(client).wakeup.messages() == 0,
        Action::Replicate { node } => world.node(node).queue.is_empty(),
        Action::Resync { node } => world.node(node).role != Role::Unsynced,
        Action::LeaveMaster { node } => !world.node(node).is_old_replica(),
        Action::Demote { node } => node == world.group().master() || !world.node(node).is_master(),
        Action::Fsync { node } => {
            let node = world.node(node);
            !node.is_working() || (node.disk == node.stored && !node.disk_age.is_rewriting())
        }
        Action::Snapshot { node } => {
            let node = world.node(node);
            !node.is_working() || node.disk == node.stored
        }
        Action::FinishShutdown { node } => !world.node(node).is_stopping(),
        Action::Heal { node } => !world.node(node).is_cut(),
        Action::Expire { node } | Action::ExpirePart { node, .. } => {
            let node = world.node(node);
            !node.is_up() || !node.stored.lock.has_due()
        }
        Action::ExpireReceipts { node } => {
            let node = world.node(node);
            !node.is_up() || !node.stored.receipts.iter().any(|receipt| receipt.remaining.is_due())
        }
        Action::RestartNode { node } | Action::NoticeDeath { node } => !world.node(node).is_dead(),
        Action::CutLink { node } => world.node(node).is_cut(),
        Action::PauseNode { node } => !world.node(node).is_working(),
        Action::ResumeNode { node } => !world.node(node).is_paused(),
        Action::CountReplicas { node } => !world.node(node).is_uncounted(),
        Action::RefuseWrites { node } | Action::MoveSlot { node } => world.node(node).role != Role::Master,
        Action::AcceptWrites { node } => world.node(node).role != Role::Refusing,
        Action::MoveKeys { node } => world.node(node).role != Role::MovingSlot,
        Action::FinishMove { node } => !world.node(node).moves_slot(),
        Action::VanishKey { node }
        | Action::PersistKey { node }
        | Action::VanishReceipts { node }
        | Action::VanishToken { node }
        | Action::OverwriteKey { node, .. }
        | Action::Recount { node } => !world.node(node).is_master(),
        Action::HandOver { node } => !world.node(node).is_candidate(),
        Action::FinishHandOver { node } => !world.node(node).links.is_of_heir(node),
        Action::GiveUpHandOver { node } => !world.node(node).hands_over(),
        Action::BreakLink { node } => world.node(node).role != Role::Replica,
        Action::Tick => tick::must_wait(config, world),
        Action::Acquire { .. }
        | Action::NextPart { .. }
        | Action::GiveBack { .. }
        | Action::Subscribe { .. }
        | Action::SecondAsk { .. }
        | Action::WakeByMessage { .. }
        | Action::WakeByTimer { .. }
        | Action::GiveUp { .. }
        | Action::Confirm { .. }
        | Action::Undo { .. }
        | Action::SetTtl { .. }
        | Action::ReadToken { .. }
        | Action::AskIfHeld { .. }
        | Action::Work { .. }
        | Action::Release { .. }
        | Action::Resubscribe { .. }
        | Action::Deliver { .. }
        | Action::Renew { .. }
        | Action::RenewAcknowledged { .. }
        | Action::Promote { .. }
        | Action::CrashClient { .. }
        | Action::PauseClient { .. }
        | Action::CrashNode { .. }
        | Action::KillNode { .. }
        | Action::ShutdownNode { .. }
        | Action::ForceRelease { .. }
        | Action::ClockJump { .. }
        | Action::ClientClockJump { .. } => false,
    }
}

fn insert(bits: &mut impl Slots<u64>, number: usize) {
    bits.as_mut()[number / 64] |= 1 << (number % 64);
}

#[inline]
fn add<B: Slots<u64>>(all: &mut B, others: &B) {
    for (all, others) in all.as_mut().iter_mut().zip(others.as_ref()) {
        *all |= others;
    }
}
