//! What a scenario must have so that an outcome is possible, where several outcomes depend on the same.

use crate::config::sections::{Config, Resource};
use crate::config::switches::{FailedRenewal, NoTtlAnswer, PartialRelease, ReleaseRule, RenewalTimer, WaitAfter};

pub(super) const fn always(_: &Config) -> bool {
    true
}

pub(super) fn has_timer(config: &Config, timer: RenewalTimer) -> bool {
    config.time.renew_every.is_some() && config.protocol.renewal_timer == timer
}

/// Whether a master may find that too few replicas report to it.
pub(super) const fn counts_replicas(config: &Config) -> bool {
    config.cluster.min_replicas > 0
}

/// Whether a key may be of a wrong type.
pub(super) const fn overwrites_keys(config: &Config) -> bool {
    config.faults.overwrite_key > 0
}

/// Whether one renewal can carry several locks.
pub(super) const fn renews_several(config: &Config) -> bool {
    let is_together = !matches!(config.protocol.renewal_timer, RenewalTimer::PerLock);
    config.clients.names > 1 && is_together && config.protocol.renewal_batch > 1
}

/// Whether a master may refuse every write.
pub(super) const fn refuses_writes(config: &Config) -> bool {
    config.faults.refuse_writes > 0
}

/// Whether a node that a client takes for the master may have been demoted.
pub(super) const fn can_be_demoted(config: &Config) -> bool {
    config.can_be_demoted()
}

/// Whether what a master wrote may be lost: by a failover, or by its own death.
pub(super) const fn can_forget(config: &Config) -> bool {
    config.can_fail_over() || config.can_restart()
}

/// Whether a node may store a hold that its thread has given back: a failover lost the release, or the node refused it
/// (also because the link of a replica broke, which is no failover) or stood still. A release that does not compare gives back
/// whatever is stored. Of a lock over several values a hold is counted upon one that had ended, and a clock that is wrong ends it earlier.
pub(super) fn can_keep_released(config: &Config) -> bool {
    let lacks_replicas = counts_replicas(config) && config.faults.break_link > 0;
    let is_refused = refuses_writes(config) || config.refuses_releases_while_moving();
    let is_late = is_refused || lacks_replicas || config.faults.pause_node > 0;
    can_forget(config)
        || is_late
        || releases_any(config)
        || config.has_bare_extend()
        || config.names_values()
        || config.has_wrong_clocks()
}

/// Whether a waiter may leave a queue that is gone by then while its slot is moved.
pub(super) fn leaves_queue_while_moving(config: &Config) -> bool {
    config.refuses_acquires_while_moving() && config.queues() && is_contended(config)
}

/// Whether a release frees the lock of whoever holds it.
pub(super) const fn releases_any(config: &Config) -> bool {
    matches!(config.protocol.release, ReleaseRule::Delete)
}

/// Whether a thread can be stored as holding twice: by re-entry, or by an acquire that was resent.
pub(super) fn can_hold_twice(config: &Config) -> bool {
    // A part that a release did not get to is taken again by the next call.
    config.has_parts() || config.lock.facts().reentry.is_there() && (config.is_split() || can_reenter(config))
}

/// Whether there is another thread that could hold.
pub(super) const fn has_rivals(config: &Config) -> bool {
    config.clients.count > 1 || config.clients.threads > 1
}

/// Whether a thread can be refused: because of another holder or, where there is no re-entry, of itself.
pub(super) fn is_contended(config: &Config) -> bool {
    has_rivals(config) || !config.lock.facts().reentry.is_there()
}

/// Whether those who wait stand in a queue: then a release of a lock that is gone is told to have released it.
pub(super) const fn has_queue(config: &Config) -> bool {
    config.lock.facts().queue.is_there()
}

/// Whether an effect can be stale: from an earlier holder, or from one that entered a hold that a failover had kept for it
/// and got no token by that, or from an earlier grant of the same thread that was overtaken on its way.
pub(super) fn can_be_stale(config: &Config) -> bool {
    config.resource.is_some_and(|resource| resource.is_far() || has_rivals(config) || can_keep_released(config))
}

/// Whether the resource can refuse an effect.
pub(super) fn can_be_fenced_off(config: &Config) -> bool {
    // A counter that was set back issues tokens again that the resource has seen larger ones than, also to one client alone.
    let is_set_back = config.has_stored_tokens() && config.may_set_counter_back();
    (can_be_stale(config) || is_set_back) && config.resource.is_some_and(Resource::is_fenced)
}

/// Whether a thread can enter a hold that is stored for it: by re-entry, or because a release was lost or refused.
pub(super) fn can_reenter(config: &Config) -> bool {
    // Also a grant that its caller was told is none, because too few replicas have it.
    let keeps_grants = config.keeps_unacknowledged_grants() && config.can_lack_replicas();
    let is_kept = can_keep_released(config) || keeps_grants;
    config.lock.facts().reentry.is_there() && (config.clients.max_holds > 1 || is_kept)
}

/// Whether a believer's grant can be gone: its lease ended, a failover lost it, somebody deleted it, a clock jumped. With a
/// watchdog that runs beside its holder no lease ends, unless it renews at the very instant at which the lease is due; it may
/// serve a dead thread first, or one whose nested holds are gone, and nobody after a forced release.
pub(super) fn can_lose_grant(config: &Config) -> bool {
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
    // An extension may reach fewer masters than all, and late.
    let is_unattended = !is_in_time
        || names_lease
        || is_alone
        || keeps_nested
        || ends_renewals
        || config.shares()
        || config.asks_masters();
    let is_deleted = faults.force_release > 0 || faults.vanish_key > 0 || faults.overwrite_key > 0;
    // A refusal that its caller takes for a grant is none from the beginning.
    let is_none = config.faults.persist_key > 0
        && config.tokens_come_with_grants()
        && matches!(config.protocol.no_ttl_answer, NoTtlAnswer::Grant);
    let is_taken = is_deleted || faults.clock_jump > 0 || is_none;
    // Where requests can be late, a late release can end the next grant.
    is_unattended || config.is_split() || can_keep_released(config) || is_taken
}

/// Whether one master stores the lock.
pub(super) const fn asks_one_master(config: &Config) -> bool {
    !config.asks_masters()
}

/// Whether a holder may find no key of its own on a master: that refused, was not reached, or has lost it.
pub(super) fn can_find_no_key(config: &Config) -> bool {
    let faults = &config.faults;
    can_meet_a_key(config) || can_lose_grant(config) || faults.lose_ask > 0 || faults.slow_reply > 0
}

/// Whether a client may find a key on a master: another one's, or one of its own that an earlier round has left behind.
pub(super) fn can_meet_a_key(config: &Config) -> bool {
    // A lock of its own is entered once more.
    let is_refused_by_own =
        config.faults.late_ask > 0 || config.can_be_unreachable() || config.faults.refuse_writes > 0;
    is_contended(config) || is_refused_by_own && !config.asks_master_locks()
}

/// Whether a holder extends its lease in rounds over several masters.
pub(super) fn extends_in_rounds(config: &Config) -> bool {
    config.extends_in_rounds() && config.time.renew_every.is_some()
}

/// Whether a call on several masters can fail for another reason than another holder.
pub(super) fn can_fail_at_masters(config: &Config) -> bool {
    config.faults.lose_ask > 0 || config.can_be_unreachable() || config.can_refuse_writes()
}

/// Whether the wait of a call at several masters can be over although nobody else has the lock: time passes within the call, or it begins
/// anew after errors.
pub(super) fn can_run_out_of_time(config: &Config) -> bool {
    let faults = &config.faults;
    let is_late = faults.slow_reply > 0 || faults.pause_client > 0 || can_fail_at_masters(config);
    config.asks_master_locks() && config.waits_with_limit() && is_late
}

/// Whether one of several masters may lose a lock that it stores while its client counts on that: time passes within a call, or
/// without a renewal; or a master forgets, drops the key, or has another clock.
pub(super) fn can_lose_master_lock(config: &Config) -> bool {
    let faults = &config.faults;
    let is_late = faults.slow_reply > 0 || faults.pause_client > 0;
    is_late || faults.vanish_key > 0 || faults.clock_jump > 0 || can_forget(config)
}

/// Whether the renewal of a client can find on one of several masters that it has no lock there.
pub(super) fn can_renew_in_vain(config: &Config) -> bool {
    let is_in_time = config.time.renew_every.is_some_and(|every| every < config.time.lease);
    let keeps_nested = config.protocol.partial_release == PartialRelease::Ignore && config.clients.max_holds > 1;
    let is_missed = can_fail_at_masters(config) || !is_in_time || keeps_nested;
    !config.asks_master_locks() || can_lose_master_lock(config) || is_missed
}

/// Whether a client may find on one of several masters that it has entered a lock more than once: it may enter again, or an earlier
/// call has left a hold there: one that ended with an error, or a release that stopped at another master.
pub(super) fn can_enter_master_lock_again(config: &Config) -> bool {
    let is_in_time = config.time.renew_every.is_some_and(|every| every < config.time.lease);
    let can_stop = can_fail_at_masters(config) || can_lose_master_lock(config) || is_contended(config) || !is_in_time;
    let leaves_holds = config.sets_lease_at_masters() && can_fail_at_masters(config)
        || config.stops_releasing_at_masters() && can_stop;
    config.asks_master_locks() && (can_reenter(config) || leaves_holds)
}
