//! What else can happen in a step, beside the answer.

use super::conditions::{
    can_be_demoted, can_be_stale, can_fail_at_masters, can_find_no_key, can_forget, can_hold_twice, can_lose_grant,
    can_renew_in_vain, can_run_out_of_time, counts_replicas, has_rivals, is_contended, refuses_writes, releases_any,
};
use crate::action::ActionKind;
use crate::config::sections::{Channels, Config};
use crate::config::switches::{MissedRenewal, WaitAfter};
use crate::notes::Happening;

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
            Self::Refused => {
                is_contended(config)
                    || config.asks_masters() && can_fail_at_masters(config)
                    || can_run_out_of_time(config)
            }
            Self::Published => config.lock.facts().publishes(),
            Self::FellAsleep => sleeps,
            Self::WaiterInterrupted => sleeps && faults.interrupt > 0,
            Self::LimitReached => sleeps && config.waits_with_limit() || can_run_out_of_time(config),
            Self::LeaseRenewed => has_watchdog,
            // Of an extension that does not count most masters, or the look at the clock, are the reason.
            Self::RenewalWasMissed if config.asks_master_locks() => has_watchdog && can_renew_in_vain(config),
            Self::RenewalWasMissed => {
                has_watchdog && (can_lose_grant(config) || config.asks_masters() && can_find_no_key(config))
            }
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
                let is_elsewhere = faults.move_slot > 0 && config.can_fail_over();
                let is_taken = faults.vanish_key > 0 || faults.overwrite_key > 0 || is_elsewhere;
                // By a client whose clock is ahead, or by the release of the one before it.
                let is_taken_over = (config.names_values() || config.has_wrong_clocks()) && has_rivals(config);
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
                let is_moved = faults.move_slot > 0 && config.cluster.channels == Channels::Sharded;
                let is_lost = faults.deaths_of_nodes() > 0 || config.can_fail_over() || is_moved;
                sleeps && config.lock.facts().publishes() && is_lost
            }
            Self::ReceiptFound => config.leaves_receipts() && ActionKind::Resend.is_allowed(config),
            Self::ExecutedLate => config.can_miss_answers() || faults.interrupt > 0,
            Self::OutcomeUnknown => {
                let loses_wait =
                    config.cluster.wait_for > 0 && (faults.deaths_of_nodes() > 0 || config.can_fail_over());
                config.can_miss_answers() || faults.interrupt > 0 || loses_wait
            }
            Self::AcquireFailed => config.is_split() && (config.can_refuse_writes() || config.can_abandon()),
            Self::WriteRefused => {
                let is_moving = config.refuses_releases_while_moving() || config.refuses_acquires_while_moving();
                is_moving || counts_replicas(config) || refuses_writes(config) || can_be_demoted(config)
            }
            Self::TwoMasters => config.can_demote(),
            Self::ValidityOver => config.looks_at_clock(),
            Self::ReadersShared => config.shares() && config.clients.count > 1,
            // Where several masters are asked, also one client alone may not get most of them.
            Self::PartsGivenUp if config.asks_masters() => {
                is_contended(config) || can_fail_at_masters(config) || can_run_out_of_time(config)
            }
            Self::PartsGivenUp => config.has_parts() && config.clients.parts.count() > 1 && is_contended(config),
            Self::QueueServed => sleeps && config.queues(),
            Self::DeadHeadRemoved => sleeps && config.queues() && has_rivals(config),
            Self::GrantAtRisk => can_forget(config) || faults.vanish_key > 0 || faults.overwrite_key > 0,
            Self::HolderTold => {
                has_watchdog && can_lose_grant(config) && config.protocol.missed_renewal == MissedRenewal::TellHolder
            }
        }
    }
}
