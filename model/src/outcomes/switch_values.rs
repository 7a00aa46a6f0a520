//! The values of switches, and by which answer of which action a run shows each.

use super::conditions::has_timer;
use crate::action::ActionKind;
use crate::config::sections::{Config, PromoteRule, ReplicasLeave};
use crate::config::switches::{FailedRenewal, HeldQuery, MissedRenewal, RenewalTimer, WaitAfter, WaitRule};
use crate::reply::ReplyKind;

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
pub const SWITCH_VALUES: [SwitchValue; 25] = [
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
        switch: "held_query",
        value: "later-values",
        shown_by: (ActionKind::AskIfHeld, ReplyKind::SaysHeld),
        is_set: |config| config.protocol.held_query == HeldQuery::LaterValues,
    },
    SwitchValue {
        switch: "held_query",
        value: "every-value",
        shown_by: (ActionKind::AskIfHeld, ReplyKind::SaysNotHeld),
        is_set: |config| config.protocol.held_query == HeldQuery::EveryValue,
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
        switch: "failed_renewal",
        value: "release",
        // The renewal's, and an acquire's as well: no answer tells them apart.
        shown_by: (ActionKind::Abandon, ReplyKind::Unknown),
        is_set: |config| config.protocol.failed_renewal == FailedRenewal::Release,
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
