//! Which branches the rules have: what each action can be answered, what can happen beside, and which way of a switch
//! that shows.
//!
//! A branch that nothing ever came to is a rule that nobody has looked at. So each that can be told apart from outside
//! has a name here, with the scenarios in which it can be come to at all; engines count ([`ReplyKind`], [`Happening`]),
//! and a test holds the counts to this table in both directions. The table may allow too much for a single scenario
//! (what else it takes is for the search to find out), never too little.

use crate::action::ActionKind;
use crate::config::{
    Config, FailedRenewal, InterruptedAcquire, LockKind, MissedRenewal, PromoteRule, RenewalTimer, WaitRule,
};
use crate::step::{Happening, Reply};

/// A reply without its numbers: what coverage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is the reply of the same name")]
pub enum ReplyKind {
    Done,
    Acquired,
    Busy,
    Released,
    StillHeld,
    NotHeld,
    Renewed,
    RenewalMissed,
    NothingToRenew,
    Unreachable,
    ForceReleased,
    NothingToRelease,
    Acknowledged,
    TooFewReplicas,
    Accepted,
    Rejected,
    NotEnoughReplicas,
    ReadOnly,
    Unknown,
    Interrupted,
}

impl ReplyKind {
    /// Every kind, in the order of [`Reply`].
    pub const ALL: [Self; 20] = [
        Self::Done,
        Self::Acquired,
        Self::Busy,
        Self::Released,
        Self::StillHeld,
        Self::NotHeld,
        Self::Renewed,
        Self::RenewalMissed,
        Self::NothingToRenew,
        Self::Unreachable,
        Self::ForceReleased,
        Self::NothingToRelease,
        Self::Acknowledged,
        Self::TooFewReplicas,
        Self::Accepted,
        Self::Rejected,
        Self::NotEnoughReplicas,
        Self::ReadOnly,
        Self::Unknown,
        Self::Interrupted,
    ];

    /// The word for it in traces and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Acquired => "acquired",
            Self::Busy => "busy",
            Self::Released => "released",
            Self::StillHeld => "still_held",
            Self::NotHeld => "not_held",
            Self::Renewed => "renewed",
            Self::RenewalMissed => "renewal_missed",
            Self::NothingToRenew => "nothing_to_renew",
            Self::Unreachable => "unreachable",
            Self::ForceReleased => "force_released",
            Self::NothingToRelease => "nothing_to_release",
            Self::Acknowledged => "acknowledged",
            Self::TooFewReplicas => "too_few_replicas",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::NotEnoughReplicas => "not_enough_replicas",
            Self::ReadOnly => "read_only",
            Self::Unknown => "unknown",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Reply {
    /// Which reply it is.
    pub const fn kind(self) -> ReplyKind {
        match self {
            Self::Done => ReplyKind::Done,
            Self::Acquired => ReplyKind::Acquired,
            Self::Busy { .. } => ReplyKind::Busy,
            Self::Released => ReplyKind::Released,
            Self::StillHeld => ReplyKind::StillHeld,
            Self::NotHeld => ReplyKind::NotHeld,
            Self::Renewed => ReplyKind::Renewed,
            Self::RenewalMissed => ReplyKind::RenewalMissed,
            Self::NothingToRenew => ReplyKind::NothingToRenew,
            Self::Unreachable => ReplyKind::Unreachable,
            Self::ForceReleased => ReplyKind::ForceReleased,
            Self::NothingToRelease => ReplyKind::NothingToRelease,
            Self::Acknowledged { .. } => ReplyKind::Acknowledged,
            Self::TooFewReplicas { .. } => ReplyKind::TooFewReplicas,
            Self::Accepted => ReplyKind::Accepted,
            Self::Rejected => ReplyKind::Rejected,
            Self::NotEnoughReplicas => ReplyKind::NotEnoughReplicas,
            Self::ReadOnly => ReplyKind::ReadOnly,
            Self::Unknown => ReplyKind::Unknown,
            Self::Interrupted => ReplyKind::Interrupted,
        }
    }
}

/// An answer that an action can get, and in which scenarios.
type Answer = (ReplyKind, fn(&Config) -> bool);

impl ActionKind {
    /// Whether some scenario like this one has a state in which the action is answered so.
    pub fn can_be_answered(self, reply: ReplyKind, config: &Config) -> bool {
        let can = |&(other, is_possible): &Answer| other == reply && is_possible(config);
        let answers = if config.is_split() { self.sent_answers() } else { self.answers() };
        let is_heard = || {
            let executed = Self::Execute.sent_answers();
            self == Self::Answer && reply != ReplyKind::Acquired && executed.iter().any(can)
        };
        self.is_allowed(config) && (answers.iter().any(can) || is_heard())
    }

    /// Every answer that there is for it where request and answer are steps of their own: who asks is told nothing yet.
    fn sent_answers(self) -> &'static [Answer] {
        match self {
            Self::Acquire | Self::Release | Self::ForeignRelease => &[(ReplyKind::Done, always)],
            Self::SecondAsk | Self::WakeByMessage | Self::WakeByTimer => &[(ReplyKind::Done, is_contended)],
            Self::Renew => &[
                (ReplyKind::Done, always),
                (ReplyKind::NothingToRenew, |config| config.protocol.renewal_timer == RenewalTimer::Shared),
                (ReplyKind::Unreachable, |config| config.faults.crash_node > 0),
            ],
            // What is asked of a node: an acquire, a release, a renewal.
            Self::Execute => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, is_contended),
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, can_hold_twice),
                (ReplyKind::NotHeld, always),
                (ReplyKind::Renewed, |config| config.time.renew_every.is_some()),
                (ReplyKind::RenewalMissed, |config| config.time.renew_every.is_some()),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            // Beside what is heard of every other execution: of a grant it depends on `WAIT`.
            Self::Answer => &[
                (ReplyKind::Acquired, |config| {
                    // A client that knows of no replica asks for none, and what is given back at once is not waited for.
                    let gives_back = config.calls.interrupted_acquire == InterruptedAcquire::Release;
                    config.cluster.wait_for == 0 || config.protocol.wait_rule == WaitRule::Any || gives_back
                }),
                (ReplyKind::Acknowledged, |config| config.cluster.wait_for > 0),
                (ReplyKind::TooFewReplicas, Config::can_lack_replicas),
            ],
            // As soon as as many have it as were asked for, the node answers of itself: this is the time-out.
            Self::Confirm => &[
                (ReplyKind::Acknowledged, |config| {
                    config.protocol.wait_rule == WaitRule::Any && config.cluster.replicas > 1
                }),
                (ReplyKind::TooFewReplicas, Config::can_lack_replicas),
            ],
            _ => self.answers(),
        }
    }

    /// Every answer that there is for it.
    fn answers(self) -> &'static [Answer] {
        match self {
            Self::Acquire => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, is_contended),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            // Only who was refused comes so far.
            Self::SecondAsk | Self::WakeByMessage | Self::WakeByTimer => &[
                (ReplyKind::Acquired, is_contended),
                (ReplyKind::Busy, is_contended),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            Self::Subscribe | Self::GiveUp | Self::Deliver | Self::LoseMessage | Self::Resubscribe => {
                &[(ReplyKind::Done, is_contended)]
            }
            Self::Confirm => {
                &[(ReplyKind::Acknowledged, always), (ReplyKind::TooFewReplicas, Config::can_lack_replicas)]
            }
            Self::Undo => &[
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, can_reenter),
                (ReplyKind::NotHeld, can_lose_grant),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::Unreachable, |config| config.faults.crash_node > 0),
            ],
            Self::Work => &[(ReplyKind::Accepted, always), (ReplyKind::Rejected, can_be_fenced_off)],
            Self::Release => &[
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, can_reenter),
                (ReplyKind::NotHeld, can_lose_grant),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            // A stored holder that does not believe is one whose release a failover forgot.
            Self::ForeignRelease => &[
                (ReplyKind::NotHeld, always),
                (ReplyKind::Released, can_forget),
                (ReplyKind::StillHeld, |config| can_forget(config) && can_reenter(config)),
                (ReplyKind::NotEnoughReplicas, |config| counts_replicas(config) && can_forget(config)),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            Self::ForceRelease => &[
                (ReplyKind::ForceReleased, always),
                (ReplyKind::NothingToRelease, always),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            Self::Renew => &[
                (ReplyKind::Renewed, always),
                (ReplyKind::RenewalMissed, can_lose_grant),
                (ReplyKind::NothingToRenew, |config| config.protocol.renewal_timer == RenewalTimer::Shared),
                (ReplyKind::Unreachable, |config| config.faults.crash_node > 0),
                (ReplyKind::NotEnoughReplicas, counts_replicas),
                (ReplyKind::ReadOnly, can_be_demoted),
            ],
            // What is asked of a node where that is a step of its own.
            Self::Execute | Self::Answer => &[],
            Self::Abandon => &[(ReplyKind::Unknown, always)],
            Self::Interrupt => &[(ReplyKind::Interrupted, always)],
            Self::Discover
            | Self::Register
            | Self::Unregister
            | Self::Resend
            | Self::LoseRequest
            | Self::LoseReply
            | Self::Resume
            | Self::Replicate
            | Self::Promote
            | Self::Resync
            | Self::CrashClient
            | Self::CrashThread
            | Self::PauseClient
            | Self::CrashNode
            | Self::Demote
            | Self::Fsync
            | Self::Heal
            | Self::RestartNode
            | Self::CutLink
            | Self::VanishKey
            | Self::ClockJump
            | Self::ClientClockJump
            | Self::HandOver
            | Self::Tick => &[(ReplyKind::Done, always)],
        }
    }
}

impl Happening {
    /// Whether it happens in some scenario like this one.
    pub fn is_possible(self, config: &Config) -> bool {
        let faults = &config.faults;
        let has_watchdog = config.time.renew_every.is_some();
        let sleeps = is_contended(config) && config.waits();
        match self {
            Self::Granted | Self::Wrote => true,
            Self::Reentered => can_hold_twice(config),
            Self::Refused => is_contended(config),
            Self::Published => config.lock.publishes(),
            Self::FellAsleep => sleeps,
            Self::LimitReached => sleeps && ActionKind::GiveUp.is_allowed(config),
            Self::LeaseRenewed => has_watchdog,
            Self::RenewalWasMissed => has_watchdog && can_lose_grant(config),
            Self::Expired => can_lose_grant(config) || faults.crash_client > 0,
            Self::ForeignAttempt => faults.foreign_release > 0 || can_lose_grant(config),
            Self::EffectsLost => {
                config.can_restart() || config.can_fail_over() && (faults.cut_link > 0 || !config.cluster.lag.is_zero())
            }
            // A replica that does not follow the new master yet lags behind it however prompt the others are.
            Self::GrantLost => {
                let leaves_others = faults.crash_node > 1 || (faults.crash_node > 0 && faults.hand_over > 0);
                let is_passed_over = config.cluster.replicas > 1 && leaves_others;
                // By a clock that is ahead of the master's, what is written may be over when it comes.
                let is_late = !config.cluster.lag.is_zero() || faults.cut_link > 0 || faults.clock_jump > 0;
                faults.vanish_key > 0 || config.can_restart() || config.can_fail_over() && (is_late || is_passed_over)
            }
            Self::LaterToken | Self::AnotherHoldersEffect => config.resource.is_some(),
            Self::StaleEffect => can_be_stale(config),
            Self::MessageUnheard => sleeps && ActionKind::Deliver.is_allowed(config),
            Self::SubscriptionLost => {
                sleeps && config.lock.publishes() && (faults.crash_node > 0 || config.can_fail_over())
            }
            Self::ReceiptFound => config.leaves_receipts() && ActionKind::Resend.is_allowed(config),
            Self::ExecutedLate => config.can_miss_answers() || faults.interrupt > 0,
            Self::OutcomeUnknown => {
                let loses_wait = config.cluster.wait_for > 0 && (faults.crash_node > 0 || config.can_fail_over());
                config.can_miss_answers() || faults.interrupt > 0 || loses_wait
            }
            Self::WriteRefused => counts_replicas(config) || can_be_demoted(config),
            Self::TwoMasters => config.can_demote(),
            Self::GrantAtRisk => can_forget(config) || faults.vanish_key > 0,
            Self::HolderTold => {
                has_watchdog && can_lose_grant(config) && config.protocol.missed_renewal == MissedRenewal::TellHolder
            }
        }
    }

    /// The word for it in traces and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Reentered => "reentered",
            Self::Refused => "refused",
            Self::Wrote => "wrote",
            Self::Published => "published",
            Self::FellAsleep => "fell_asleep",
            Self::LimitReached => "limit_reached",
            Self::LeaseRenewed => "lease_renewed",
            Self::RenewalWasMissed => "renewal_was_missed",
            Self::Expired => "expired",
            Self::ForeignAttempt => "foreign_attempt",
            Self::EffectsLost => "effects_lost",
            Self::GrantLost => "grant_lost",
            Self::LaterToken => "later_token",
            Self::AnotherHoldersEffect => "another_holders_effect",
            Self::StaleEffect => "stale_effect",
            Self::MessageUnheard => "message_unheard",
            Self::SubscriptionLost => "subscription_lost",
            Self::HolderTold => "holder_told",
            Self::WriteRefused => "write_refused",
            Self::ReceiptFound => "receipt_found",
            Self::ExecutedLate => "executed_late",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::TwoMasters => "two_masters",
            Self::GrantAtRisk => "grant_at_risk",
        }
    }
}

/// One way that a switch can stand, and what shows that a run came to where it matters: which way the rule goes there is
/// fixed by the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The key of the scenario.
    pub switch: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The answer after which the rule has read the switch.
    pub shown_by: (ActionKind, ReplyKind),
    /// Whether the scenario's switch stands so.
    pub is_set: fn(&Config) -> bool,
}

/// Every way of every switch that a rule reads where somebody gets an answer. The others are read where time passes or
/// messages wait (`lag`, `ttls`, `delay`, `failover_within`): they bound when something happens, not what.
pub const WAYS: [Way; 13] = [
    Way {
        switch: "promote",
        value: "coordinated",
        shown_by: (ActionKind::HandOver, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Coordinated,
    },
    Way {
        switch: "wait_rule",
        value: "any",
        shown_by: (ActionKind::Confirm, ReplyKind::Acknowledged),
        is_set: |config| config.protocol.wait_rule == WaitRule::Any,
    },
    Way {
        switch: "wait_rule",
        value: "all",
        shown_by: (ActionKind::Confirm, ReplyKind::Acknowledged),
        is_set: |config| config.protocol.wait_rule == WaitRule::All,
    },
    Way {
        switch: "renewal_timer",
        value: "per-lock",
        // The last hold is given back, and the timer with it.
        shown_by: (ActionKind::Release, ReplyKind::Released),
        is_set: |config| has_timer(config, RenewalTimer::PerLock),
    },
    Way {
        switch: "renewal_timer",
        value: "shared",
        shown_by: (ActionKind::Renew, ReplyKind::NothingToRenew),
        is_set: |config| has_timer(config, RenewalTimer::Shared),
    },
    Way {
        switch: "missed_renewal",
        value: "lower-first",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::LowerFirst,
    },
    Way {
        switch: "missed_renewal",
        value: "stop-timer",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::StopTimer,
    },
    Way {
        switch: "missed_renewal",
        value: "tell-holder",
        shown_by: (ActionKind::Renew, ReplyKind::RenewalMissed),
        is_set: |config| config.protocol.missed_renewal == MissedRenewal::TellHolder,
    },
    Way {
        switch: "failed_renewal",
        value: "retry",
        shown_by: (ActionKind::Renew, ReplyKind::Unreachable),
        is_set: |config| config.protocol.failed_renewal == FailedRenewal::Retry,
    },
    Way {
        switch: "failed_renewal",
        value: "forget",
        shown_by: (ActionKind::Renew, ReplyKind::Unreachable),
        is_set: |config| config.protocol.failed_renewal == FailedRenewal::Forget,
    },
    Way {
        switch: "promote",
        value: "any",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Any,
    },
    Way {
        switch: "promote",
        value: "most-data",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::MostData,
    },
    Way {
        switch: "promote",
        value: "priority",
        shown_by: (ActionKind::Promote, ReplyKind::Done),
        is_set: |config| config.cluster.promote == PromoteRule::Priority,
    },
];

impl Way {
    /// Whether a scenario like this one can come to it.
    pub fn is_possible(&self, config: &Config) -> bool {
        let (action, reply) = self.shown_by;
        (self.is_set)(config) && action.can_be_answered(reply, config)
    }
}

/// Whether a master may find that too few replicas hear it.
const fn counts_replicas(config: &Config) -> bool {
    config.cluster.min_replicas > 0
}

/// Whether a node that a client takes for the master may be none any more.
const fn can_be_demoted(config: &Config) -> bool {
    config.can_demote() || (config.cluster.replicas > 0 && config.faults.hand_over > 0)
}

/// Whether what a master wrote may be forgotten: by a failover, or by its own death.
const fn can_forget(config: &Config) -> bool {
    config.can_fail_over() || config.can_restart()
}

/// Whether a thread can be stored as holding twice: by re-entry, or by an acquire that was sent again.
fn can_hold_twice(config: &Config) -> bool {
    config.lock == LockKind::Reentrant && (config.is_split() || can_reenter(config))
}

const fn always(_: &Config) -> bool {
    true
}

fn has_timer(config: &Config, timer: RenewalTimer) -> bool {
    config.time.renew_every.is_some() && config.protocol.renewal_timer == timer
}

/// Whether there is anybody else who could hold.
const fn has_rivals(config: &Config) -> bool {
    config.clients.count > 1 || config.clients.threads > 1
}

/// Whether anybody can be refused: by somebody else, or, where there is no re-entry, by a record of one's own.
fn is_contended(config: &Config) -> bool {
    has_rivals(config) || config.lock == LockKind::Plain
}

/// Whether an effect can come late: from who held before somebody else did, or from who entered what a failover had kept
/// for it, and got no token by that.
const fn can_be_stale(config: &Config) -> bool {
    config.resource.is_some() && (has_rivals(config) || can_forget(config))
}

/// Whether the resource can refuse an effect.
fn can_be_fenced_off(config: &Config) -> bool {
    can_be_stale(config) && config.resource.is_some_and(|resource| resource.fenced)
}

/// Whether a thread can come to hold what is stored for it: by re-entry, or because a failover forgot its release.
fn can_reenter(config: &Config) -> bool {
    config.lock == LockKind::Reentrant && (config.clients.max_holds > 1 || can_forget(config))
}

/// Whether a believer's grant can be gone: its lease ended, a failover forgot it, somebody deleted it, a clock jumped. With
/// a watchdog that runs beside its holder no lease ends; it serves a dead thread first, and after a forced release perhaps
/// nobody.
const fn can_lose_grant(config: &Config) -> bool {
    let faults = &config.faults;
    let is_unattended = config.time.renew_every.is_none() || faults.pause_client > 0 || faults.crash_thread > 0;
    let is_taken = faults.force_release > 0 || faults.vanish_key > 0 || faults.clock_jump > 0;
    // Where requests are late, so is a release that takes the next grant.
    is_unattended || config.is_split() || can_forget(config) || is_taken
}
