//! What can happen at a glance: most actions cannot, and [`step`](crate::step()) copies the world before its rule looks.
//!
//! Most is said by the posture of a thread or a client, which a table is asked for; the rest is looked at one by one.
//! The glance may be wrong in one direction only: what it rules out, `step` refuses (a test holds it to that). The rules
//! stand with their effects; this is nothing but speed.

use crate::action::{Action, ActionKind, Party};
use crate::config::{Clients, Config};
use crate::expiry;
use crate::locks::Record;
use crate::wire::{Slot, Stage};
use crate::world::{Asks, Holder, Mode, Phase, Role, Subscription, World};

/// The actions of a scenario, sorted by what a world must look like for them.
#[derive(Clone, Debug)]
pub struct Glance {
    config: Config,
    actions: Vec<Action>,
    /// For each thread of each client, in turn, and each posture: what that posture does not rule out.
    by_thread: Vec<[Numbers; ThreadPosture::COUNT]>,
    /// For each client, the same.
    by_client: Vec<[Numbers; ClientPosture::COUNT]>,
    /// What is no client's.
    others: Numbers,
    /// What needs a second look: a posture does not say enough.
    unsettled: Numbers,
}

/// Actions by their numbers. At most 256: an action's number is a byte.
type Numbers = [u64; 4];

/// What is looked at of a thread.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a posture is a number, a bit each")]
struct ThreadPosture {
    phase: Phase,
    believes: bool,
    /// It may ask once more, and enter if it gets the lock.
    may_enter: bool,
    /// Its wait limit is over.
    is_at_limit: bool,
    /// A message has brought a permit.
    has_permit: bool,
    /// Its timer has woken it.
    is_woken: bool,
}

/// What is looked at of a client.
#[derive(Clone, Copy)]
struct ClientPosture {
    has_messages: bool,
    /// Its renewal timer is due.
    is_due: bool,
    /// Its subscription died with its node.
    is_unsubscribed: bool,
}

impl ThreadPosture {
    const COUNT: usize = Phase::ALL.len() << 5;

    fn all() -> impl Iterator<Item = Self> {
        Phase::ALL.into_iter().flat_map(|phase| {
            (0..1 << 5).map(move |bits| Self {
                phase,
                believes: bits & 1 != 0,
                may_enter: bits & 2 != 0,
                is_at_limit: bits & 4 != 0,
                has_permit: bits & 8 != 0,
                is_woken: bits & 16 != 0,
            })
        })
    }

    const fn number(self) -> usize {
        let Self { phase, believes, may_enter, is_at_limit, has_permit, is_woken } = self;
        (phase as usize) << 5
            | believes as usize
            | (may_enter as usize) << 1
            | (is_at_limit as usize) << 2
            | (has_permit as usize) << 3
            | (is_woken as usize) << 4
    }

    /// Whether a thread in this posture may do such a thing, or have it happen to it; `None`: that is not for its posture
    /// to say.
    const fn allows(self, kind: ActionKind) -> Option<bool> {
        let Self { phase, believes, may_enter, is_at_limit, has_permit, is_woken } = self;
        Some(match kind {
            ActionKind::Acquire => matches!(phase, Phase::Idle) && may_enter,
            ActionKind::Work | ActionKind::Release => matches!(phase, Phase::Idle) && believes,
            ActionKind::Subscribe => matches!(phase, Phase::Refused),
            ActionKind::SecondAsk => matches!(phase, Phase::Subscribed) && !is_at_limit,
            ActionKind::WakeByMessage => matches!(phase, Phase::Waiting) && has_permit && !is_at_limit,
            ActionKind::WakeByTimer => matches!(phase, Phase::Waiting) && is_woken && !has_permit && !is_at_limit,
            // Where the network is split, its call waits for the replicas.
            ActionKind::Confirm => {
                matches!(phase, Phase::Confirming | Phase::Asking | Phase::AskingAgain | Phase::Dead)
            }
            ActionKind::Undo => matches!(phase, Phase::Undoing),
            ActionKind::GiveUp => matches!(phase, Phase::Refused | Phase::Subscribed | Phase::Waiting) && is_at_limit,
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
            ActionKind::Renew => is_due,
            ActionKind::Resubscribe => is_unsubscribed,
            _ => return None,
        })
    }
}

impl Glance {
    /// Every action the scenario allows.
    pub fn new(config: &Config) -> Self {
        let Clients { count, threads, .. } = config.clients;
        let mut glance = Self {
            config: *config,
            actions: Action::all(config),
            by_thread: vec![[[0; 4]; ThreadPosture::COUNT]; usize::from(count * threads)],
            by_client: vec![[[0; 4]; ClientPosture::COUNT]; usize::from(count)],
            others: [0; 4],
            unsettled: [0; 4],
        };
        for (number, action) in glance.actions.iter().enumerate() {
            let mut is_settled = true;
            let mut settle = |allows: Option<bool>| {
                is_settled &= allows.is_some();
                allows.unwrap_or(true)
            };
            match action.party() {
                Party::Thread(holder) => {
                    let by_posture = &mut glance.by_thread[usize::from(holder.client() * threads + holder.thread())];
                    for posture in ThreadPosture::all().filter(|posture| settle(posture.allows(action.kind()))) {
                        insert(&mut by_posture[posture.number()], number);
                    }
                }
                Party::Client(client) => {
                    let by_posture = &mut glance.by_client[usize::from(client)];
                    for posture in ClientPosture::all().filter(|posture| settle(posture.allows(action.kind()))) {
                        insert(&mut by_posture[posture.number()], number);
                    }
                }
                Party::Node(_) | Party::World => {
                    is_settled = false;
                    insert(&mut glance.others, number);
                }
            }
            if !is_settled {
                insert(&mut glance.unsettled, number);
            }
        }
        glance
    }

    /// The actions, each at its number, in the order of [`Action::all`].
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Shows every action that the glance does not rule out, with its number, in order.
    #[inline]
    pub fn each_possible<R: Record, const C: usize, const N: usize>(
        &self,
        world: &World<R, C, N>,
        mut show: impl FnMut(u8, Action),
    ) {
        let mut possible = self.others;
        let threads = self.by_thread.len() / self.by_client.len().max(1);
        for ((client, by_posture), by_thread) in
            world.clients.iter().zip(&self.by_client).zip(self.by_thread.chunks_exact(threads.max(1)))
        {
            let posture = ClientPosture {
                has_messages: client.wakeup.messages > 0,
                is_due: client.renewal.due_in.is_due(),
                is_unsubscribed: client.wakeup.subscription == Subscription::Lost,
            };
            add(&mut possible, &by_posture[posture.number()]);
            for (thread, by_posture) in client.threads.iter().zip(by_thread) {
                let posture = ThreadPosture {
                    phase: thread.phase,
                    believes: thread.believes(),
                    may_enter: thread.holds < self.config.clients.max_holds && client.acquires_left != Asks::NONE,
                    is_at_limit: thread.wait_left.is_due(),
                    has_permit: client.wakeup.permits > 0,
                    is_woken: thread.wake_in.is_due(),
                };
                add(&mut possible, &by_posture[posture.number()]);
            }
        }
        for ((first, mut word), unsettled) in [0u8, 64, 128, 192].into_iter().zip(possible).zip(self.unsettled) {
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
                let number = first + bit as u8;
                let action = self.actions[usize::from(number)];
                if unsettled >> bit & 1 == 0 || !is_ruled_out(&self.config, world, action) {
                    show(number, action);
                }
            }
        }
    }
}

/// Whether a second look shows that an action cannot happen here: for those that no posture settles.
#[inline]
fn is_ruled_out<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    action: Action,
) -> bool {
    let believes = |client, thread| world.thread(Holder::new(client, thread)).believes();
    let has_sent = |client, slot| world.requests(client).get(slot).is_some_and(|sent| sent.stage == Stage::Sent);
    let is_executed = |client, slot| {
        world.requests(client).get(slot).is_some_and(|request| matches!(request.stage, Stage::Executed(_)))
    };
    let is_overdue =
        |client, slot| world.requests(client).get(slot).is_some_and(|request| request.answer_left.is_due());
    match action {
        Action::ForeignRelease { client, thread } => world.faults.foreign_release == 0 || believes(client, thread),
        Action::CrashThread { client, thread } => {
            let is_calling = || world.thread(Holder::new(client, thread)).is_calling();
            world.faults.crash_thread == 0 || !(believes(client, thread) || is_calling())
        }
        Action::Execute { client, slot } => !has_sent(client, slot),
        Action::Answer { client, slot } => !is_executed(client, slot),
        Action::Register { client, thread } => {
            !is_executed(client, Slot::of_thread(thread)) && !world.requests(client).owed[usize::from(thread)]
        }
        Action::Unregister { client, thread } => !is_executed(client, Slot::of_thread(thread)),
        Action::Resend { client, slot } | Action::Abandon { client, slot } => !is_overdue(client, slot),
        Action::LoseRequest { client, slot } => world.faults.lose_request == 0 || !has_sent(client, slot),
        Action::LoseReply { client, slot } => world.faults.lose_reply == 0 || !is_executed(client, slot),
        Action::Interrupt { client, thread } => {
            let thread = world.thread(Holder::new(client, thread));
            world.faults.interrupt == 0 || !(thread.is_waiting() || thread.is_calling())
        }
        Action::Discover { client } => world.client(client).master == world.group.master,
        Action::Resume { client } => world.client(client).mode != Mode::Paused,
        Action::LoseMessage { client } => world.faults.lose_message == 0 || world.client(client).wakeup.messages == 0,
        Action::Replicate { node } => world.node(node).link.len == 0,
        Action::Resync { node } => world.node(node).role != Role::Unsynced,
        Action::CrashClient { .. } => world.faults.crash_client == 0,
        Action::PauseClient { .. } => world.faults.pause_client == 0,
        Action::CrashNode { .. } => world.faults.crash_node == 0,
        Action::ForceRelease { .. } => world.faults.force_release == 0,
        Action::Demote { node } => node == world.group.master || !world.node(node).is_master(),
        Action::Fsync { node } => !world.node(node).is_up() || world.node(node).disk == world.node(node).record,
        Action::Heal { node } => !world.node(node).is_cut(),
        Action::RestartNode { node } => world.faults.restart_node == 0 || !world.node(node).is_dead(),
        Action::CutLink { node } => world.faults.cut_link == 0 || world.node(node).is_cut(),
        Action::VanishKey { node } => world.faults.vanish_key == 0 || !world.node(node).is_master(),
        Action::ClockJump { .. } => world.faults.clock_jump == 0,
        Action::ClientClockJump { .. } => world.faults.client_clock_jump == 0,
        Action::HandOver { node } => world.faults.hand_over == 0 || world.node(node).role != Role::Replica,
        Action::Tick => expiry::must_wait(config, world),
        Action::Acquire { .. }
        | Action::Subscribe { .. }
        | Action::SecondAsk { .. }
        | Action::WakeByMessage { .. }
        | Action::WakeByTimer { .. }
        | Action::GiveUp { .. }
        | Action::Confirm { .. }
        | Action::Undo { .. }
        | Action::Work { .. }
        | Action::Release { .. }
        | Action::Resubscribe { .. }
        | Action::Deliver { .. }
        | Action::Renew { .. }
        | Action::Promote { .. } => false,
    }
}

fn insert(numbers: &mut Numbers, number: usize) {
    numbers[number / 64] |= 1 << (number % 64);
}

#[inline]
fn add(all: &mut Numbers, others: &Numbers) {
    for (all, others) in all.iter_mut().zip(others) {
        *all |= others;
    }
}
