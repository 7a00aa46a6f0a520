//! What each action can be answered, in an atomic network and in a split one.

use super::conditions::{
    always, asks_one_master, can_be_demoted, can_be_fenced_off, can_enter_master_lock_again, can_find_no_key,
    can_hold_twice, can_keep_released, can_lose_grant, can_lose_master_lock, can_meet_a_key, can_reenter,
    can_renew_in_vain, counts_replicas, extends_in_rounds, has_queue, is_contended, leaves_queue_while_moving,
    overwrites_keys, refuses_writes, renews_several,
};
use crate::action::ActionKind;
use crate::config::calls::InterruptedAcquire;
use crate::config::sections::{Config, Resource};
use crate::config::switches::{RenewalTimer, WaitRule};
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
            | Self::NextPart
            | Self::GiveBack
            | Self::Undo
            | Self::Release
            | Self::Renew => !is_split,
            _ => false,
        }
    }

    /// Whether the same is so in a scenario like this one: whoever leaves a queue asks a node to write.
    fn asks_a_node(self, config: &Config) -> bool {
        let is_reached = self.reaches_a_node(config.is_split());
        // Who asks several masters asks each in a step of its own.
        let asks_later =
            config.asks_masters() && matches!(self, Self::Acquire | Self::WakeByTimer | Self::Release | Self::Renew);
        is_reached && !asks_later
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
            Self::Acquire | Self::NextPart => &[
                (ReplyKind::Acquired, asks_one_master),
                (ReplyKind::Busy, |config| is_contended(config) && asks_one_master(config)),
                (ReplyKind::WrongType, overwrites_keys),
                (ReplyKind::TryAgain, Config::refuses_acquires_while_moving),
                // A round begins, and nobody is asked yet.
                (ReplyKind::Done, Config::asks_masters),
            ],
            // Only a thread that was refused gets this far.
            Self::SecondAsk | Self::WakeByMessage | Self::WakeByTimer => &[
                (ReplyKind::Acquired, |config| is_contended(config) && !config.extends_in_rounds()),
                (ReplyKind::Busy, |config| is_contended(config) && !config.extends_in_rounds()),
                (ReplyKind::TryAgain, |config| is_contended(config) && config.refuses_acquires_while_moving()),
                // Another round begins, and nobody is asked yet.
                (ReplyKind::Done, Config::extends_in_rounds),
                // One of several masters, which has failed then. One master is asked again when it answers.
                (ReplyKind::SaveFailed, |config| config.asks_master_locks() && refuses_writes(config)),
                (ReplyKind::Unreachable, |config| config.asks_master_locks() && config.can_be_unreachable()),
            ],
            Self::AskMaster | Self::ArriveLate => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, can_meet_a_key),
                (ReplyKind::SaveFailed, refuses_writes),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            Self::SlowReply => &[
                (ReplyKind::Acquired, always),
                (ReplyKind::Busy, can_meet_a_key),
                (ReplyKind::Renewed, extends_in_rounds),
                (ReplyKind::RenewalMissed, |config| extends_in_rounds(config) && can_find_no_key(config)),
                (ReplyKind::SaveFailed, refuses_writes),
            ],
            Self::LoseAsk => &[(ReplyKind::Unreachable, always)],
            Self::LateAsk => &[(ReplyKind::Unknown, always)],
            Self::ExtendAt => &[
                (ReplyKind::Renewed, always),
                (ReplyKind::RenewalMissed, can_renew_in_vain),
                // An extension in a round is of a holder, by its one timer.
                (ReplyKind::NothingToRenew, |config| {
                    config.asks_master_locks() && config.protocol.renewal_timer != RenewalTimer::PerLock
                }),
                (ReplyKind::SaveFailed, refuses_writes),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            Self::SetTtlAt => &[
                (ReplyKind::TtlSet, always),
                (ReplyKind::NoTtlSet, can_lose_master_lock),
                (ReplyKind::SaveFailed, refuses_writes),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            // Also where it was granted nothing.
            Self::ReleaseAt => &[
                (ReplyKind::Released, always),
                (ReplyKind::StillHeld, can_enter_master_lock_again),
                (ReplyKind::NotHeld, can_find_no_key),
                (ReplyKind::SaveFailed, refuses_writes),
                (ReplyKind::ReadOnly, can_be_demoted),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
            Self::Subscribe => &[
                (ReplyKind::Done, is_contended),
                (ReplyKind::Unreachable, |config| config.asks_master_locks() && config.can_be_unreachable()),
            ],
            Self::Deliver | Self::LoseMessage | Self::Resubscribe => &[(ReplyKind::Done, is_contended)],
            Self::GiveUp => &[
                (ReplyKind::Done, |config| is_contended(config) && !config.queues()),
                (ReplyKind::LeftQueue, |config| is_contended(config) && config.queues()),
                (ReplyKind::Unreachable, |config| config.can_be_unreachable() && config.queues()),
                (ReplyKind::TryAgain, leaves_queue_while_moving),
            ],
            Self::Confirm => {
                &[(ReplyKind::Acknowledged, always), (ReplyKind::TooFewReplicas, Config::can_lack_replicas)]
            }
            Self::ReadToken => &[(ReplyKind::TokenRead, always)],
            Self::AskIfHeld => &[
                (ReplyKind::SaysHeld, always),
                (ReplyKind::SaysNotHeld, always),
                (ReplyKind::Unreachable, Config::can_be_unreachable),
            ],
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
            Self::Release | Self::GiveBack => &[
                (ReplyKind::Released, asks_one_master),
                // A release of several masters begins, and none is asked yet.
                (ReplyKind::Done, Config::asks_masters),
                // A part that a call has left behind is entered once more by the next one.
                (ReplyKind::StillHeld, |config| {
                    let leaves_parts = config.has_parts() && (can_keep_released(config) || can_lose_grant(config));
                    can_reenter(config) || config.shares() || leaves_parts
                }),
                (ReplyKind::NotHeld, |config| can_lose_grant(config) && asks_one_master(config)),
                (ReplyKind::Unreachable, |config| config.can_be_unreachable() && asks_one_master(config)),
                (ReplyKind::TryAgain, Config::refuses_releases_while_moving),
                (ReplyKind::WrongType, overwrites_keys),
            ],
            Self::Undo => &[
                (ReplyKind::Released, always),
                // A part that a call has left behind is entered once more by the next one.
                (ReplyKind::StillHeld, |config| {
                    let leaves_parts = config.has_parts() && (can_keep_released(config) || can_lose_grant(config));
                    can_reenter(config) || config.shares() || leaves_parts
                }),
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
                (ReplyKind::TryAgain, Config::refuses_releases_while_moving),
                (ReplyKind::WrongType, overwrites_keys),
            ],
            Self::ForceRelease => &[
                (ReplyKind::ForceReleased, always),
                (ReplyKind::NothingToRelease, always),
                (ReplyKind::TryAgain, |config| config.faults.move_slot > 0 && config.lock.facts().publishes()),
            ],
            Self::RenewAcknowledged => &[
                (ReplyKind::Renewed, always),
                (ReplyKind::RenewalMissed, can_lose_grant),
                (ReplyKind::RenewedInPart, |config| can_lose_grant(config) && renews_several(config)),
            ],
            Self::Renew => &[
                (ReplyKind::Renewed, asks_one_master),
                // An extension begins, and no master is asked yet.
                (ReplyKind::Done, Config::asks_masters),
                (ReplyKind::RenewalMissed, |config| can_lose_grant(config) && asks_one_master(config)),
                (ReplyKind::RenewedInPart, |config| can_lose_grant(config) && renews_several(config)),
                (ReplyKind::RenewalFailed, Config::has_failing_renewals),
                (ReplyKind::TryAgain, Config::refuses_renewals_while_moving),
                (ReplyKind::WrongType, overwrites_keys),
                (ReplyKind::NothingToRenew, |config| {
                    config.protocol.renewal_timer != RenewalTimer::PerLock && asks_one_master(config)
                }),
                (ReplyKind::Unreachable, |config| config.can_be_unreachable() && asks_one_master(config)),
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
                (ReplyKind::TryAgain, |config| leaves_queue_while_moving(config) && config.leaves_queue_interrupted()),
            ],
            Self::HearMaster
            | Self::Discover
            | Self::DiscoverMaster
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
            | Self::MoveSlot
            | Self::MoveKeys
            | Self::FinishMove
            | Self::RefuseWrites
            | Self::Expire
            | Self::ExpirePart
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
