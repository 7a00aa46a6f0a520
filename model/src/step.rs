//! The one transition function.
//!
//! [`step`] answers `None` when the action cannot happen in this world: the guard stands where the effect stands, in the
//! room of the rule. A busy lock is a reply, not a refusal.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::config::Config;
use crate::locks::Record;
use crate::world::{Breach, Breaches, Holder, World};
use crate::{
    call, client, clocks, disk, expiry, failover, interrupt, partition, replication, resource, wait_for, wakeup,
    watchdog,
};

/// What one action leads to.
#[derive(Clone, Copy, Debug)]
pub struct Step<R: Record, const C: usize, const N: usize> {
    /// The world after it.
    pub world: World<R, C, N>,
    /// What the party that acted observes.
    pub reply: Reply,
    /// What else happened.
    pub happenings: Happenings,
}

/// What the party that acted observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// Nothing to observe.
    Done,
    /// The lock is the caller's now.
    Acquired,
    /// Somebody has it, and it lives so long if nobody does anything; `None`: it has no TTL.
    Busy {
        /// Until the key runs out.
        remaining_ticks: Option<u8>,
    },
    /// The lock is free.
    Released,
    /// One hold less, but not the last.
    StillHeld,
    /// The caller does not hold it; nothing was changed.
    NotHeld,
    /// The lease is whole again.
    Renewed,
    /// The lock is not the caller's any more; nothing was changed.
    RenewalMissed,
    /// There was nothing to renew; the timer stops.
    NothingToRenew,
    /// The master this client knows does not answer.
    Unreachable,
    /// There was a lock, and it is gone.
    ForceReleased,
    /// There was no lock to delete.
    NothingToRelease,
    /// Enough replicas have the grant.
    Acknowledged {
        /// How many.
        replicas: u8,
    },
    /// Too few replicas have the grant.
    TooFewReplicas {
        /// How many.
        replicas: u8,
    },
    /// The resource took the effect.
    Accepted,
    /// The resource refused the effect: it has seen a newer token.
    Rejected,
    /// The master refused to write: it has heard of too few replicas lately.
    NotEnoughReplicas,
    /// The node refused to write: it is a replica by now.
    ReadOnly,
    /// No answer came in time: it may have happened or not.
    Unknown,
    /// The thread was interrupted, and knows no more than that.
    Interrupted,
}

/// What happened in a step beside its reply: for pictures, for coverage, for the antecedents of properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Happenings(u32);

/// One thing that happened in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum Happening {
    /// A thread got the lock from free.
    Granted = 1 << 0,
    /// A thread entered once more.
    Reentered = 1 << 1,
    /// A thread was refused.
    Refused = 1 << 2,
    /// A master wrote: its replicas will hear of it as one effect.
    Wrote = 1 << 3,
    /// An unlock message was published.
    Published = 1 << 4,
    /// A waiter lay down to sleep.
    FellAsleep = 1 << 5,
    /// A waiter went away because its limit was over.
    LimitReached = 1 << 6,
    /// The lease was made whole.
    LeaseRenewed = 1 << 7,
    /// A renewal found somebody else, or nobody.
    RenewalWasMissed = 1 << 8,
    /// A key of the acting master ran out.
    Expired = 1 << 9,
    /// Somebody who is not the stored holder tried to release, renew or extend.
    ForeignAttempt = 1 << 10,
    /// A failover forgot effects.
    EffectsLost = 1 << 11,
    /// The acting master lost a grant that was neither released nor expired.
    GrantLost = 1 << 12,
    /// A grant got a token while an older one is remembered.
    LaterToken = 1 << 13,
    /// The resource accepted an effect of another grant than before.
    AnotherHoldersEffect = 1 << 14,
    /// The resource saw an effect with an older token than one it has seen.
    StaleEffect = 1 << 15,
    /// A message found nobody to wake.
    MessageUnheard = 1 << 16,
    /// A subscription died with its node.
    SubscriptionLost = 1 << 17,
    /// A believer was told that its lock is gone.
    HolderTold = 1 << 18,
    /// A node refused to write: it is a replica, or has heard of too few of them.
    WriteRefused = 1 << 19,
    /// A release was sent again, and its receipt says what was answered.
    ReceiptFound = 1 << 20,
    /// A request was executed that its caller had given up.
    ExecutedLate = 1 << 21,
    /// A caller was told that the outcome is unknown.
    OutcomeUnknown = 1 << 22,
    /// Two nodes take themselves for the master.
    TwoMasters = 1 << 23,
    /// A grant was stored when the acting master dropped its key, or was lost and could be replaced or come back.
    GrantAtRisk = 1 << 24,
}

impl Happening {
    /// Every one, in the order of their bits.
    pub const ALL: [Self; 25] = [
        Self::Granted,
        Self::Reentered,
        Self::Refused,
        Self::Wrote,
        Self::Published,
        Self::FellAsleep,
        Self::LimitReached,
        Self::LeaseRenewed,
        Self::RenewalWasMissed,
        Self::Expired,
        Self::ForeignAttempt,
        Self::EffectsLost,
        Self::GrantLost,
        Self::LaterToken,
        Self::AnotherHoldersEffect,
        Self::StaleEffect,
        Self::MessageUnheard,
        Self::SubscriptionLost,
        Self::HolderTold,
        Self::WriteRefused,
        Self::ReceiptFound,
        Self::ExecutedLate,
        Self::OutcomeUnknown,
        Self::TwoMasters,
        Self::GrantAtRisk,
    ];
}

impl Happenings {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// Notes one.
    pub const fn note(&mut self, happening: Happening) {
        self.0 |= happening as u32;
    }

    /// Whether it is noted.
    pub const fn has(self, happening: Happening) -> bool {
        self.0 & happening as u32 != 0
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits, one per [`Happening`]: for counters that are shared between threads.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The happenings whose bits are set.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Those that are noted, in the order of [`Happening::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Happening> {
        Happening::ALL.into_iter().filter(move |happening| self.has(*happening))
    }
}

/// The world after the action, or `None` where it cannot happen.
pub fn step<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    action: Action,
) -> Option<Step<R, C, N>> {
    let mut after = Step { world: *world, reply: Reply::Done, happenings: Happenings::NONE };
    step_into(config, world, action, &mut after).then_some(after)
}

/// [`step`] for who has room for the world after it, and takes many: false where the action cannot happen, and then what
/// is in the room means nothing.
pub fn step_into<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    action: Action,
    after: &mut Step<R, C, N>,
) -> bool {
    let Step { world: next, happenings: seen, reply } = after;
    *next = *world;
    next.breaches = Breaches::NONE;
    *seen = Happenings::NONE;
    let Some(answer) = happen(config, next, action, seen) else { return false };
    *reply = answer;
    failover::note_end(next);
    note_vanished_grant(world, next, action, seen);
    note_tests(config, world, next, action, seen);
    if config.resource.is_some() {
        resource::forget_unused_ranks(next);
    }
    true
}

/// The rule of the action, done to the world; `None` where it cannot happen, and then the world means nothing.
fn happen<R: Record, const C: usize, const N: usize>(
    config: &Config,
    next: &mut World<R, C, N>,
    action: Action,
    seen: &mut Happenings,
) -> Option<Reply> {
    match action {
        // Clients.
        Action::Acquire { client, thread } => client::acquire(config, next, seen, Holder::new(client, thread)),
        Action::Subscribe { client, thread } => wakeup::subscribe(next, Holder::new(client, thread)),
        Action::SecondAsk { client, thread } => client::second_ask(config, next, seen, Holder::new(client, thread)),
        Action::WakeByMessage { client, thread } => {
            client::wake_by_message(config, next, seen, Holder::new(client, thread))
        }
        Action::WakeByTimer { client, thread } => {
            client::wake_by_timer(config, next, seen, Holder::new(client, thread))
        }
        Action::GiveUp { client, thread } => client::give_up(config, next, seen, Holder::new(client, thread)),
        Action::Confirm { client, thread } => wait_for::confirm(config, next, Holder::new(client, thread)),
        Action::Undo { client, thread } => wait_for::undo(config, next, seen, Holder::new(client, thread)),
        Action::Work { client, thread } => resource::work(config, next, seen, Holder::new(client, thread)),
        Action::Release { client, thread } => client::release(config, next, seen, Holder::new(client, thread)),
        Action::Discover { client } => failover::discover(config, next, seen, client),
        Action::Resubscribe { client } => wakeup::resubscribe(next, client),
        Action::Resume { client } => client::resume(next, client),

        // Wire.
        Action::Deliver { client } => wakeup::deliver(config, next, seen, client),
        Action::Execute { client, slot } => call::execute(config, next, seen, client, slot),
        Action::Register { client, thread } => call::register(config, next, Holder::new(client, thread)),
        Action::Unregister { client, thread } => call::unregister(config, next, Holder::new(client, thread)),
        Action::Answer { client, slot } => call::answer(config, next, seen, client, slot),
        Action::Resend { client, slot } => call::resend(config, next, client, slot),
        Action::Abandon { client, slot } => call::abandon(config, next, seen, client, slot),

        // Watchdog.
        Action::Renew { client } => watchdog::renew(config, next, seen, client),

        // Redis.
        Action::Replicate { node } => replication::replicate(config, next, node),
        Action::Promote { node } => failover::promote(config, next, seen, node),
        Action::Resync { node } => failover::resync(config, next, node),
        Action::Demote { node } => failover::demote(config, next, seen, node),
        Action::Fsync { node } => disk::fsync(config, next, node),
        Action::Heal { node } => partition::heal(config, next, node),

        // Faults.
        Action::CrashClient { client } => client::crash(next, client),
        Action::CrashThread { client, thread } => client::crash_thread(next, Holder::new(client, thread)),
        Action::PauseClient { client } => client::pause(next, client),
        Action::CrashNode { node } => failover::crash(config, next, seen, node),
        Action::LoseMessage { client } => wakeup::lose_message(next, client),
        Action::LoseRequest { client, slot } => call::lose_request(next, client, slot),
        Action::LoseReply { client, slot } => call::lose_reply(next, client, slot),
        Action::Interrupt { client, thread } => interrupt::interrupt(config, next, seen, Holder::new(client, thread)),
        Action::ForeignRelease { client, thread } => {
            client::foreign_release(config, next, seen, Holder::new(client, thread))
        }
        Action::ForceRelease { client } => client::force_release(config, next, seen, client),
        Action::RestartNode { node } => disk::restart(config, next, node),
        Action::CutLink { node } => partition::cut(config, next, seen, node),
        Action::VanishKey { node } => expiry::vanish(config, next, seen, node),
        Action::ClockJump { node } => clocks::jump(config, next, seen, node),
        Action::HandOver { node } => failover::hand_over(config, next, seen, node),
        Action::ClientClockJump { client } => clocks::jump_of_client(config, next, client),

        // Time.
        Action::Tick => expiry::tick(config, next, seen),
    }
}

/// The actions that can happen here, in the order of [`Action::all`].
pub fn enabled<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    actions: &[Action],
) -> Vec<(Action, Step<R, C, N>)> {
    actions.iter().filter_map(|&action| Some((action, step(config, world, action)?))).collect()
}

/// Notes what puts the properties about nodes to the test: see [`Property::antecedent`](crate::Property::antecedent).
fn note_tests<R: Record, const C: usize, const N: usize>(
    config: &Config,
    before: &World<R, C, N>,
    after: &World<R, C, N>,
    action: Action,
    seen: &mut Happenings,
) {
    if !config.can_fail_over() && !config.can_restart() && config.faults.vanish_key == 0 {
        return;
    }
    if after.group.nodes.iter().filter(|node| node.is_master()).count() > 1 {
        seen.note(Happening::TwoMasters);
    }
    let is_risky = match action {
        Action::CrashNode { node } | Action::CutLink { node } | Action::VanishKey { node } => {
            node == before.group.master
        }
        Action::HandOver { .. } => true,
        _ => false,
    };
    if is_risky && before.acting_master().is_some_and(|master| master.record.holder().is_some()) {
        seen.note(Happening::GrantAtRisk);
    }
}

/// A grant may leave the acting master by the holder's release, by a force release and by expiry. Anything else is a
/// loss. Looked at from outside the rules, so that no rule can forget to say so.
fn note_vanished_grant<R: Record, const C: usize, const N: usize>(
    before: &World<R, C, N>,
    after: &mut World<R, C, N>,
    action: Action,
    seen: &mut Happenings,
) {
    let Some(holder) = before.node(before.group.master).record.holder() else { return };
    let is_gone = after.acting_master().is_some_and(|master| master.record.holder() != Some(holder));
    let is_rightful = match action {
        Action::Release { client, thread }
        | Action::Undo { client, thread }
        | Action::ForeignRelease { client, thread } => Holder::new(client, thread) == holder,
        Action::ForceRelease { .. } | Action::Tick | Action::ClockJump { .. } => true,
        Action::Execute { client, slot } => before
            .requests(client)
            .get(slot)
            .is_some_and(|request| request.verb.releases() && Holder::new(client, request.thread) == holder),
        _ => false,
    };
    if is_gone && !is_rightful {
        after.breaches.note(Breach::GrantVanished);
        seen.note(Happening::GrantLost);
    }
}
