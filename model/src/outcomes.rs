//! Which outcomes the rules have: what each action can be answered, what else can happen, and which switch that shows.
//!
//! An outcome that no run reaches is a rule that nobody has seen at work. So each that can be observed has a name here, with
//! the scenarios in which it is possible at all; engines count them ([`ReplyKind`], [`Happening`]), and a test compares the
//! counts with this table in both directions. The table may allow too much for a single scenario (the search finds out
//! what else it takes), never too little.

use crate::action::ActionKind;
use crate::config::calls::InterruptedAcquire;
use crate::config::profiles::{
    FailedRenewal, MissedRenewal, NoTtlAnswer, PartialRelease, ReleaseRule, RenewalTimer, WaitAfter, WaitRule,
};
use crate::config::sections::{Config, PromoteRule, ReplicasLeave, Resource};
use crate::notes::Happening;
use crate::reply::ReplyKind;

/// An answer that an action can get, and in which scenarios.
type Answer = (ReplyKind, fn(&Config) -> bool);

/// What a node answers that does not write.
const REFUSALS: [Answer; 3] = [
    (ReplyKind::NotEnoughReplicas, counts_replicas),
    (ReplyKind::SaveFailed, refuses_writes),
    (ReplyKind::ReadOnly, can_be_demoted),
];

impl ActionKind {
    /// Whether a scenario like this one can have a state in which the action gets this answer.
    pub fn can_be_answered(self, reply: ReplyKind, config: &Config) -> bool {
        config.some_client(|own| self.can_be_answered_to(reply, own))
    }

    /// The same of one client, whose scenario this is.
    fn can_be_answered_to(self, reply: ReplyKind, config: &Config) -> bool {
        let can = |&(other, is_possible): &Answer| other == reply && is_possible(config);
        let answers = if config.is_split() { self.sent_answers() } else { self.answers() };
        let is_refusal = REFUSALS.iter().any(can);
        let is_heard = || {
            let executed = Self::Execute.sent_answers();
            self == Self::Answer && reply != ReplyKind::Acquired && (executed.iter().any(can) || is_refusal)
        };
        let is_answered = answers.iter().any(can) || is_refusal && self.asks_a_node(config);
        self.is_allowed(config) && (is_answered || is_heard())
    }

    /// Whether a node is asked to write in this step, and may refuse: where request and answer are steps of their own, only by an
    /// execution, and a forced release. What refuses a foreign release depends on more.
    const fn reaches_a_node(self, is_split: bool) -> bool {
        match self {
            Self::ForceRelease => true,
            Self::Execute => is_split,
            Self::Acquire
            | Self::SecondAsk
            | Self::WakeByMessage
            | Self::WakeByTimer
            | Self::SetTtl
            | Self::Undo
            | Self::Release
            | Self::Renew => !is_split,
            _ => false,
        }
    }

    /// Whether the same is so in a scenario like this one: whoever leaves a queue asks a node to write.
    fn asks_a_node(self, config: &Config) -> bool {
        self.reaches_a_node(config.is_split())
            || self == Self::GiveUp && config.queues()
            || self == Self::Interrupt && config.leaves_queue_interrupted()
    }

    /// Every answer where request and answer are steps of their own: the caller is told nothing yet.
    fn sent_answers(self) -> &'static [Answer] {
        match self {
            Self::Acquire | Self::Release | Self::ForeignRelease => &[(ReplyKind::Done, always)],
            Self::SecondAsk | Self::WakeByMessage | Self::WakeByTimer => &[(ReplyKind::Done, is_contended)],
            Self::Renew => &[
                (ReplyKind::Done, always),
                (ReplyKind::NothingToRenew, |config| config.protocol.renewal_timer != RenewalTimer::PerLock),
                (ReplyKind::Unreachable, |config| config.faults.deaths_of_nodes() > 0),
            ],
            // A node executes an acquire, a release or a renewal.
            Self::Execute => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, is_contended),
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, can_hold_twice),
                (ReplyKind::NotHeld, always),
                (ReplyKind::Renewed, |config| config.time.renew_every.is_some()),
                (ReplyKind::RenewalMissed, |config| config.time.renew_every.is_some()),
                (ReplyKind::TtlSet, Config::sets_ttl_apart),
                (ReplyKind::NoTtlSet, |config| config.sets_ttl_apart() && can_lose_grant(config)),
            ],
            // Besides the answers to every other execution: of a grant it depends on `WAIT`.
            Self::Answer => &[
                (ReplyKind::Acquired, |config| {
                    // A client that knows of no replica asks for none, and nobody asks for a grant whose caller was interrupted.
                    let is_heard = config.calls.interrupted_acquire != InterruptedAcquire::Keep;
                    config.cluster.wait_for == 0 || config.protocol.wait_rule == WaitRule::Any || is_heard
                }),
                (ReplyKind::Acknowledged, |config| config.cluster.wait_for > 0),
                (ReplyKind::TooFewReplicas, Config::can_lack_replicas),
            ],
            // Once enough replicas have it the node answers without this action, which is the time-out.
            Self::Confirm => &[
                (ReplyKind::Acknowledged, |config| match config.protocol.wait_rule {
                    WaitRule::Any => config.cluster.replicas > 1,
                    WaitRule::All => false,
                    WaitRule::Ignored => config.can_time_out_waiting(),
                }),
                (ReplyKind::TooFewReplicas, Config::can_lack_replicas),
            ],
            _ => self.answers(),
        }
    }

    /// Every answer to it.
    #[expect(clippy::too_many_lines, reason = "one arm for each action that is answered differently")]
    fn answers(self) -> &'static [Answer] {
        match self {
            Self::Acquire => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, is_contended),
                (ReplyKind::WrongType, overwrites_keys),
            ],
            // Only a thread that was refused gets this far.
            Self::SecondAsk | Self::WakeByMessage | Self::WakeByTimer => {
                &[(ReplyKind::Acquired, is_contended), (ReplyKind::Busy, is_contended)]
            }
            Self::Subscribe | Self::Deliver | Self::LoseMessage | Self::Resubscribe => {
                &[(ReplyKind::Done, is_contended)]
            }
            Self::GiveUp => &[
                (ReplyKind::Done, |config| is_contended(config) && !config.queues()),
                (ReplyKind::LeftQueue, |config| is_contended(config) && config.queues()),
                (ReplyKind::Unreachable, |config| config.can_be_unreachable() && config.queues()),
            ],
            Self::Confirm => {
                &[(ReplyKind::Acknowledged, always), (ReplyKind::TooFewReplicas, Config::can_lack_replicas)]
            }
            Self::ReadToken => &[(ReplyKind::TokenRead, always)],
            // Where the resource is far, `Done`: sent.
            Self::Work => &[
                (ReplyKind::Accepted, always),
                (ReplyKind::Rejected, can_be_fenced_off),
                (ReplyKind::Done, |config| config.resource.is_some_and(Resource::is_far)),
            ],
            Self::Arrive => &[(ReplyKind::Accepted, always), (ReplyKind::Rejected, can_be_fenced_off)],
            Self::SetTtl => &[
                (ReplyKind::TtlSet, always),
                (ReplyKind::NoTtlSet, can_lose_grant),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            Self::Undo | Self::Release => &[
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, |config| can_reenter(config) || config.shares()),
                (ReplyKind::NotHeld, can_lose_grant),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
                (ReplyKind::WrongType, overwrites_keys),
            ],
            // A stored holder that does not believe is one whose release a failover lost, or a node refused.
            Self::ForeignRelease => &[
                (ReplyKind::NotHeld, always),
                (ReplyKind::Released, |config| can_keep_released(config) || has_queue(config)),
                (ReplyKind::StillHeld, |config| can_keep_released(config) && can_reenter(config)),
                (ReplyKind::NotEnoughReplicas, |config| {
                    counts_replicas(config) && (can_keep_released(config) || has_queue(config))
                }),
                (ReplyKind::SaveFailed, refuses_writes),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::WrongType, overwrites_keys),
            ],
            Self::ForceRelease => &[(ReplyKind::ForceReleased, always), (ReplyKind::NothingToRelease, always)],
            Self::RenewAcknowledged => &[
                (ReplyKind::Renewed, always),
                (ReplyKind::RenewalMissed, can_lose_grant),
                (ReplyKind::RenewedInPart, |config| can_lose_grant(config) && renews_several(config)),
            ],
            Self::Renew => &[
                (ReplyKind::Renewed, always),
                (ReplyKind::RenewalMissed, can_lose_grant),
                (ReplyKind::RenewedInPart, |config| can_lose_grant(config) && renews_several(config)),
                (ReplyKind::RenewalFailed, Config::has_failing_renewals),
                (ReplyKind::WrongType, overwrites_keys),
                (ReplyKind::NothingToRenew, |config| config.protocol.renewal_timer != RenewalTimer::PerLock),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            // Steps of a split network.
            Self::Execute | Self::Answer => &[],
            Self::Abandon => &[
                (ReplyKind::Unknown, always),
                (ReplyKind::ToldRefused, |config| is_contended(config) && config.refuses_unanswered_asks()),
            ],
            Self::Interrupt => &[
                (ReplyKind::Interrupted, |config| {
                    config.some_client(|own| !own.leaves_queue_interrupted() || own.swallows_interrupts())
                }),
                (ReplyKind::LeftQueue, |config| is_contended(config) && config.leaves_queue_interrupted()),
                (ReplyKind::Unreachable, |config| config.can_be_unreachable() && config.leaves_queue_interrupted()),
            ],
            Self::Discover
            | Self::GoBack
            | Self::Register
            | Self::Unregister
            | Self::Resend
            | Self::LoseRequest
            | Self::LoseReply
            | Self::Resume
            | Self::Replicate
            | Self::Promote
            | Self::Resync
            | Self::LeaveMaster
            | Self::CrashClient
            | Self::CrashThread
            | Self::PauseClient
            | Self::StartClient
            | Self::CrashNode
            | Self::KillNode
            | Self::ShutdownNode
            | Self::FinishShutdown
            | Self::FinishHandOver
            | Self::GiveUpHandOver
            | Self::Snapshot
            | Self::Demote
            | Self::Fsync
            | Self::Heal
            | Self::Recount
            | Self::NoticeDeath
            | Self::AcceptWrites
            | Self::RefuseWrites
            | Self::Expire
            | Self::ExpireReceipts
            | Self::ResumeNode
            | Self::CountReplicas
            | Self::RestartNode
            | Self::CutLink
            | Self::PauseNode
            | Self::VanishKey
            | Self::BreakLink
            | Self::PersistKey
            | Self::VanishReceipts
            | Self::VanishToken
            | Self::OverwriteKey
            | Self::ClockJump
            | Self::ClientClockJump
            | Self::HandOver
            | Self::Tick => &[(ReplyKind::Done, always)],
        }
    }
}

impl Happening {
    /// Whether it can happen in a scenario like this one.
    pub fn is_possible(self, config: &Config) -> bool {
        config.some_client(|own| self.is_possible_to(own))
    }

    /// The same of one client, whose scenario this is.
    fn is_possible_to(self, config: &Config) -> bool {
        let faults = &config.faults;
        let has_watchdog = config.time.renew_every.is_some();
        let sleeps = is_contended(config) && config.waits();
        match self {
            Self::Granted | Self::Wrote => true,
            Self::Reentered => can_hold_twice(config),
            Self::Refused => is_contended(config),
            Self::Published => config.lock.facts().publishes(),
            Self::FellAsleep => sleeps,
            Self::WaiterInterrupted => sleeps && faults.interrupt > 0,
            Self::LimitReached => sleeps && config.waits_with_limit(),
            Self::LeaseRenewed => has_watchdog,
            Self::RenewalWasMissed => has_watchdog && can_lose_grant(config),
            Self::RenewalUnacknowledged => {
                has_watchdog && config.protocol.wait_after == WaitAfter::GrantsAndRenewals && config.can_lack_replicas()
            }
            Self::Expired => can_lose_grant(config) || faults.crash_client > 0,
            Self::ForeignAttempt => faults.foreign_release > 0 || can_lose_grant(config),
            Self::EffectsLost => {
                let is_late = faults.cut_link > 0 || faults.pause_node > 0 || !config.cluster.lag.is_zero();
                config.can_restart() || config.can_fail_over() && is_late
            }
            // A replica that does not follow the new master yet lags behind it, however prompt the others are: also a master that has
            // handed over, or has refused to write and was replaced, and follows nobody yet.
            Self::GrantLost => {
                let begun = u32::from(faults.deaths_of_nodes()) + u32::from(faults.refuse_writes);
                let leaves_others = begun + u32::from(faults.hand_over) > 1;
                let is_passed_over =
                    leaves_others && (config.cluster.replicas > 1 || faults.hand_over > 0 || faults.refuse_writes > 0);
                // By a clock that is ahead of the master's, a lease may be over when it arrives.
                let is_away = faults.cut_link > 0 || faults.pause_node > 0 || faults.break_link > 0;
                let is_late = !config.cluster.lag.is_zero() || is_away || faults.clock_jump > 0;
                let is_taken = faults.vanish_key > 0 || faults.overwrite_key > 0;
                // By a client whose clock is ahead, or by the release of the one before it.
                let is_taken_over = config.names_values() && has_rivals(config);
                let is_ended = is_taken
                    || is_taken_over
                    || releases_any(config)
                    || config.has_bare_extend()
                    || config.can_restart();
                is_ended || config.can_fail_over() && (is_late || is_passed_over)
            }
            Self::LaterToken | Self::AnotherHoldersEffect => config.resource.is_some(),
            Self::StaleEffect => can_be_stale(config),
            Self::MessageUnheard => sleeps && ActionKind::Deliver.is_allowed(config),
            Self::SubscriptionLost => {
                sleeps && config.lock.facts().publishes() && (faults.deaths_of_nodes() > 0 || config.can_fail_over())
            }
            Self::ReceiptFound => config.leaves_receipts() && ActionKind::Resend.is_allowed(config),
            Self::ExecutedLate => config.can_miss_answers() || faults.interrupt > 0,
            Self::OutcomeUnknown => {
                let loses_wait =
                    config.cluster.wait_for > 0 && (faults.deaths_of_nodes() > 0 || config.can_fail_over());
                config.can_miss_answers() || faults.interrupt > 0 || loses_wait
            }
            Self::AcquireFailed => config.is_split() && (config.can_refuse_writes() || config.can_abandon()),
            Self::WriteRefused => counts_replicas(config) || refuses_writes(config) || can_be_demoted(config),
            Self::TwoMasters => config.can_demote(),
            Self::ValidityOver => config.looks_at_clock(),
            Self::ReadersShared => config.shares() && config.clients.count > 1,
            Self::QueueServed => sleeps && config.queues(),
            Self::DeadHeadRemoved => sleeps && config.queues() && has_rivals(config),
            Self::GrantAtRisk => can_forget(config) || faults.vanish_key > 0 || faults.overwrite_key > 0,
            Self::HolderTold => {
                has_watchdog && can_lose_grant(config) && config.protocol.missed_renewal == MissedRenewal::TellHolder
            }
        }
    }
}

/// One value of a switch, and what shows that a run reached a point where it matters: which way the rule goes there is
/// fixed by the scenario.
#[derive(Clone, Copy, Debug)]
pub struct SwitchValue {
    /// The key of the scenario.
    pub switch: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The answer that is given after the rule has read the switch.
    pub shown_by: (ActionKind, ReplyKind),
    /// Whether the switch has this value, in the scenario as one client sees it.
    pub is_set: fn(&Config) -> bool,
}

/// Every value of every switch that a rule reads where somebody gets an answer. The others are read where time passes or
/// messages wait (`lag`, `ttls`, `delay`, `failover_within`): they bound when something happens, not what.
pub const SWITCH_VALUES: [SwitchValue; 22] = [
    SwitchValue {
        switch: "replicas_leave",
        value: "one-by-one",
        // The one that is told leaves the old master.
        shown_by: (ActionKind::LeaveMaster, ReplyKind::Done),
        is_set: |config| config.cluster.replicas_leave == ReplicasLeave::OneByOne,
    },
    SwitchValue {
        switch: "promote",
        value: "coordinated",
        shown_by: (ActionKind::FinishHandOver, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Coordinated,
    },
    SwitchValue {
        switch: "promote",
        value: "forced",
        shown_by: (ActionKind::FinishHandOver, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Forced,
    },
    SwitchValue {
        switch: "wait_rule",
        value: "any",
        shown_by: (ActionKind::Confirm, ReplyKind::Acknowledged),
        is_set: |config| config.protocol.wait_rule == WaitRule::Any,
    },
    SwitchValue {
        switch: "wait_rule",
        value: "all",
        shown_by: (ActionKind::Confirm, ReplyKind::Acknowledged),
        is_set: |config| config.protocol.wait_rule == WaitRule::All,
    },
    SwitchValue {
        switch: "wait_rule",
        value: "ignored",
        shown_by: (ActionKind::Confirm, ReplyKind::Acknowledged),
        is_set: |config| config.protocol.wait_rule == WaitRule::Ignored,
    },
    SwitchValue {
        switch: "wait_after",
        value: "grants-and-renewals",
        shown_by: (ActionKind::Renew, ReplyKind::Renewed),
        is_set: |config| config.protocol.wait_after == WaitAfter::GrantsAndRenewals,
    },
    SwitchValue {
        switch: "wait_after",
        value: "every-call",
        // The number is told with what was executed, and a release is made again that too few replicas have.
        shown_by: (ActionKind::Answer, ReplyKind::StillHeld),
        is_set: |config| config.protocol.wait_after == WaitAfter::EveryCall,
    },
    SwitchValue {
        switch: "refused_call",
        value: "retry",
        shown_by: (ActionKind::Answer, ReplyKind::ReadOnly),
        is_set: Config::retries_refused_calls,
    },
    SwitchValue {
        switch: "unanswered_ask",
        value: "refuse",
        shown_by: (ActionKind::Abandon, ReplyKind::ToldRefused),
        is_set: Config::refuses_unanswered_asks,
    },
    SwitchValue {
        switch: "renewal_timer",
        value: "per-lock",
        // The last hold is released, and the timer ends with it.
        shown_by: (ActionKind::Release, ReplyKind::Released),
        is_set: |config| has_timer(config, RenewalTimer::PerLock),
    },
    SwitchValue {
        switch: "renewal_timer",
        value: "shared",
        shown_by: (ActionKind::Renew, ReplyKind::NothingToRenew),
        is_set: |config| has_timer(config, RenewalTimer::Shared),
    },
    SwitchValue {
        switch: "renewal_timer",
        value: "multiplying",
        shown_by: (ActionKind::Renew, ReplyKind::NothingToRenew),
        is_set: |config| has_timer(config, RenewalTimer::Multiplying),
    },
    SwitchValue {
        switch: "missed_renewal",
        value: "lower-first",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::LowerFirst,
    },
    SwitchValue {
        switch: "missed_renewal",
        value: "stop-timer",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::StopTimer,
    },
    SwitchValue {
        switch: "missed_renewal",
        value: "forget",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::Forget,
    },
    SwitchValue {
        switch: "missed_renewal",
        value: "tell-holder",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::TellHolder,
    },
    SwitchValue {
        switch: "failed_renewal",
        value: "retry",
        shown_by: (ActionKind::Renew, ReplyKind::Unreachable),
        is_set: |config| config.protocol.failed_renewal == FailedRenewal::Retry,
    },
    SwitchValue {
        switch: "failed_renewal",
        value: "forget",
        shown_by: (ActionKind::Renew, ReplyKind::Unreachable),
        is_set: |config| config.protocol.failed_renewal == FailedRenewal::Forget,
    },
    SwitchValue {
        switch: "promote",
        value: "any",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Any,
    },
    SwitchValue {
        switch: "promote",
        value: "most-data",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::MostData,
    },
    SwitchValue {
        switch: "promote",
        value: "priority",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Priority,
    },
];

impl SwitchValue {
    /// Whether every client has it. Where clients are unlike, an answer does not say whose switch was read.
    pub fn is_set_for_all(&self, config: &Config) -> bool {
        config.clients_are_alike() && (self.is_set)(config)
    }

    /// Whether a scenario like this one can reach it.
    pub fn is_possible(&self, config: &Config) -> bool {
        let (action, reply) = self.shown_by;
        config.some_client(|own| (self.is_set)(own) && action.can_be_answered(reply, own))
    }
}

/// Whether a master may find that too few replicas report to it.
const fn counts_replicas(config: &Config) -> bool {
    config.cluster.min_replicas > 0
}

/// Whether a key may be of a wrong type.
const fn overwrites_keys(config: &Config) -> bool {
    config.faults.overwrite_key > 0
}

/// Whether one renewal can carry several locks.
const fn renews_several(config: &Config) -> bool {
    let is_together = !matches!(config.protocol.renewal_timer, RenewalTimer::PerLock);
    config.clients.names > 1 && is_together && config.protocol.renewal_batch > 1
}

/// Whether a master may refuse every write.
const fn refuses_writes(config: &Config) -> bool {
    config.faults.refuse_writes > 0
}

/// Whether a node that a client takes for the master may have been demoted.
const fn can_be_demoted(config: &Config) -> bool {
    config.can_be_demoted()
}

/// Whether what a master wrote may be lost: by a failover, or by its own death.
const fn can_forget(config: &Config) -> bool {
    config.can_fail_over() || config.can_restart()
}

/// Whether a node may store a hold that its thread has given back: a failover lost the release, or the node refused it
/// (also because the link of a replica broke, which is no failover) or stood still. A release that does not compare gives back
/// whatever is stored. Of a lock over several values a hold is counted upon one that had ended, and other clocks end it earlier.
const fn can_keep_released(config: &Config) -> bool {
    let lacks_replicas = counts_replicas(config) && config.faults.break_link > 0;
    let is_late = refuses_writes(config) || lacks_replicas || config.faults.pause_node > 0;
    can_forget(config) || is_late || releases_any(config) || config.has_bare_extend() || config.names_values()
}

/// Whether a release frees the lock of whoever holds it.
const fn releases_any(config: &Config) -> bool {
    matches!(config.protocol.release, ReleaseRule::Delete)
}

/// Whether a thread can be stored as holding twice: by re-entry, or by an acquire that was resent.
fn can_hold_twice(config: &Config) -> bool {
    config.lock.facts().reentry.is_there() && (config.is_split() || can_reenter(config))
}

const fn always(_: &Config) -> bool {
    true
}

fn has_timer(config: &Config, timer: RenewalTimer) -> bool {
    config.time.renew_every.is_some() && config.protocol.renewal_timer == timer
}

/// Whether there is another thread that could hold.
const fn has_rivals(config: &Config) -> bool {
    config.clients.count > 1 || config.clients.threads > 1
}

/// Whether a thread can be refused: because of another holder or, where there is no re-entry, of itself.
fn is_contended(config: &Config) -> bool {
    has_rivals(config) || !config.lock.facts().reentry.is_there()
}

/// Whether those who wait stand in a queue: then a release of a lock that is gone is told to have released it.
const fn has_queue(config: &Config) -> bool {
    config.lock.facts().queue.is_there()
}

/// Whether an effect can be stale: from an earlier holder, or from one that entered a hold that a failover had kept for it
/// and got no token by that, or from an earlier grant of the same thread that was overtaken on its way.
fn can_be_stale(config: &Config) -> bool {
    config.resource.is_some_and(|resource| resource.is_far() || has_rivals(config) || can_keep_released(config))
}

/// Whether the resource can refuse an effect.
fn can_be_fenced_off(config: &Config) -> bool {
    can_be_stale(config) && config.resource.is_some_and(Resource::is_fenced)
}

/// Whether a thread can enter a hold that is stored for it: by re-entry, or because a release was lost or refused.
fn can_reenter(config: &Config) -> bool {
    config.lock.facts().reentry.is_there() && (config.clients.max_holds > 1 || can_keep_released(config))
}

/// Whether a believer's grant can be gone: its lease ended, a failover lost it, somebody deleted it, a clock jumped. With a
/// watchdog that runs beside its holder no lease ends, unless it renews at the very instant at which the lease is due; it may
/// serve a dead thread first, or one whose nested holds are gone, and nobody after a forced release.
const fn can_lose_grant(config: &Config) -> bool {
    let faults = &config.faults;
    let is_in_time = matches!(config.time.renew_every, Some(every) if every < config.time.lease);
    let is_alone = faults.pause_client > 0 || faults.crash_thread > 0 || faults.pause_node > 0;
    // A nested hold that its release has not taken out of the table is renewed when the lock is gone.
    let keeps_nested =
        matches!(config.protocol.partial_release, PartialRelease::Ignore) && config.clients.max_holds > 1;
    let names_lease = config.time.reentry_lease.is_some() || config.time.named_lease.is_some();
    // A renewal that too few replicas have ends its round, or is the last one.
    let is_all_forgotten = matches!(config.protocol.failed_renewal, FailedRenewal::Forget);
    let ends_renewals = matches!(config.protocol.wait_after, WaitAfter::GrantsAndRenewals)
        && (config.clients.names > 1 || is_all_forgotten);
    // The release of a reader cuts the lease of a writer that is the same thread, and may end its renewal.
    let is_unattended = !is_in_time || names_lease || is_alone || keeps_nested || ends_renewals || config.shares();
    let is_deleted = faults.force_release > 0 || faults.vanish_key > 0 || faults.overwrite_key > 0;
    // A refusal that its caller takes for a grant is none from the beginning.
    let is_none = config.faults.persist_key > 0
        && config.tokens_come_with_grants()
        && matches!(config.protocol.no_ttl_answer, NoTtlAnswer::Grant);
    let is_taken = is_deleted || faults.clock_jump > 0 || is_none;
    // Where requests can be late, a late release can end the next grant.
    is_unattended || config.is_split() || can_keep_released(config) || is_taken
}
