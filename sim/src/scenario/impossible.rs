//! Values that are valid alone but contradict each other.

use core::ops::Range;

use lockstep_model::Config;
use lockstep_model::config::{
    AcquireRule, ClientSettings, Cluster, Discovery, Faults, Fsync, MAX_TICKS, MissedRenewal, PromoteRule, Resource,
    Ttls,
};
use lockstep_model::limits::MAX_TOKEN_UNDER_WAY;
use lockstep_model::locks::{Facts, StoringMasters, Support};
use lockstep_model::notes::Capacity;

use super::clocks;
use super::contradiction::{Contradiction, kinds_with};
use super::lock_objects;
use super::parts::{Parts, Sections};
use super::places::SettingsPlace;
use super::section::Section;
use super::ticks::{FSYNC_WITHIN_MS, MIN_REPLICAS_SLACK_MS};
use super::{
    caller_clock, held_query, names, no_replicas, queues, renewals, several_masters, several_parts, sharing, slot_move,
    spins, tokens, value_sets, waits,
};

/// A switch that only some kinds have, why a kind does not, and where its [`Facts`] say so.
type SwitchOfKinds = (&'static str, &'static str, fn(&Facts) -> Support);

const SWITCHES_OF_KINDS: [SwitchOfKinds; 4] = [
    ("value", "stores no value of an acquire", |facts| facts.value),
    ("acquire", "is taken by one command", |facts| facts.two_commands),
    ("release", "has one release", |facts| facts.bare_release),
    ("extend", "has one renewal", |facts| facts.bare_extend),
];

/// Records switches that the lock's kind does not have.
fn note_switches_of_kinds(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let Some(kind) = parts.lock else { return };
    for (key, what, of) in SWITCHES_OF_KINDS {
        let Support::No { why } = of(kind.facts()) else { continue };
        let name = kind.name();
        Contradiction::of(&sections.protocol, key, &format!("a {name} lock {what}"))
            .with(lock.cloned(), format!("{name}: {why}"))
            .note(&format!("remove `{key}`, or use {}", kinds_with(|facts| of(facts).is_there())));
    }
}

/// Records profiles of libraries that have no lock of this kind, or give it other rules than the rest of the clients.
fn note_profiles_of_kinds(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let (Some(kind), Some(settings)) = (parts.lock, &parts.settings) else { return };
    let profiles = settings.iter().map(|own| own.protocol.profile);
    for (table, profile) in sections
        .client
        .iter()
        .flatten()
        .zip(profiles)
        .chain(parts.protocol.map(|common| (&sections.protocol, common.profile)))
    {
        if !profile.is_of_one_key() || kind.facts().value.is_there() {
            continue;
        }
        let (library, facts) = (profile.name(), kind.facts());
        if facts.masters.are_several() {
            // A library that asks several masters does it by the published algorithm.
            let by_rounds = kinds_with(|facts| facts.masters == StoringMasters::Rounds);
            Contradiction::not_yet(table, "profile", &format!("{library} is modelled on one master only"))
                .with(lock.cloned(), "this kind of lock is taken on several masters")
                .note(&format!("for the algorithm as it was published use {by_rounds} with profile = \"lockstep\""));
        } else {
            let kind = kind.name();
            Contradiction::of(table, "profile", &format!("{library} has no lock like the {kind} one"))
                .with(lock.cloned(), format!("the lock of {library} is one key with a value"))
                .note(&format!(
                    "use {}, or the profile of a version of Redisson",
                    kinds_with(|facts| facts.value.is_there())
                ));
        }
    }
    note_threads_of_one_process(parts, sections);
    let Some(common) = parts.protocol else { return };
    for (table, own) in sections.client.iter().flatten().zip(settings) {
        let profile = own.protocol.profile;
        let of_library = profile.protocol();
        if profile.is_of_one_key() && of_library.with_rules_of(common) != of_library {
            let reason = "a client that takes, extends or releases the lock in another way than the others";
            Contradiction::not_yet(table, "profile", &format!("{reason} is not modelled yet"))
                .note("say the profile in [protocol], for all clients");
        }
    }
}

/// Records several threads of a client whose library lets one of them ask at a time: no lock in front of that of Redis is modelled.
fn note_threads_of_one_process(parts: &Parts, sections: &Sections<'_>) {
    let is_local = |own: &ClientSettings| own.protocol.profile.lets_one_thread_ask();
    if parts.clients.is_some_and(|clients| clients.threads > 1) && parts.somebody(is_local) {
        let of_profiles = sections.places(parts).into_iter().find_map(|place| place.protocol.span_of("profile"));
        let reason = "a local lock, which lets one thread of a process ask at a time, is not modelled yet";
        Contradiction::not_yet(&sections.clients, "threads", reason)
            .with(of_profiles, "the library has one in front of each lock of Redis")
            .note("use threads = 1: the threads of one process do not compete for the lock in Redis");
    }
}

/// Records beside what an acquire cannot be two commands.
fn note_two_commands(parts: &Parts, sections: &Sections<'_>) {
    if !parts.somebody(|own| own.protocol.acquire == AcquireRule::SetnxExpire) {
        return;
    }
    let others = [
        ("renew_every", parts.somebody(|own| own.renew_every.is_some())),
        ("wait_for", parts.cluster.is_some_and(|cluster| cluster.wait_for > 0)),
        ("interrupt", parts.faults.is_some_and(|faults| faults.interrupt > 0)),
    ];
    for (other, _) in others.into_iter().filter(|(_, is_there)| *is_there) {
        let reason = format!("acquire = \"setnx-expire\" together with {other} is not modelled yet");
        Contradiction::not_yet(&sections.protocol, "acquire", &reason).note(&format!("remove `acquire`, or {other}"));
    }
}

/// Records every contradicting pair. Parts that are wrong in themselves are skipped.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(time) = parts.time
        // For a renewal that is due exactly when the lease ends, the key still exists, so equal values are allowed.
        && time.renew_every.is_some_and(|period| period > time.lease)
    {
        Contradiction::of(&sections.time, "renew_every", "the lease would expire before its first renewal")
            .with(sections.time.span_of("lease"), "the lease is shorter than the renewal period")
            .note("renew at a third of the lease, or remove `renew_every`: without it there is no watchdog");
    }
    if let (Some(time), Some(clients)) = (parts.time, parts.clients)
        && clients.hold_for_ever
        && time.hold_at_most.is_some()
    {
        Contradiction::of(&sections.clients, "hold_for_ever", "a holder cannot both release in time and hold for ever")
            .with(sections.time.span_of("hold_at_most"), "this is the time of the latest release")
            .note("remove one of the two keys");
    }
    note_holds(parts, sections, lock.as_ref());
    for place in sections.places(parts) {
        note_reentry_lease(parts, place, lock.as_ref());
        note_subscriptions(parts, place, sections, lock.as_ref());
    }
    if let (Some(kind), Some(faults)) = (parts.lock, parts.faults)
        && let Support::No { why } = kind.facts().force
        && faults.force_release > 0
    {
        let name = kind.name();
        Contradiction::of(&sections.faults, "force_release", &format!("a {name} lock has no forced release"))
            .with(lock.clone(), format!("{name}: {why}"))
            .note(&format!("use force_release = 0, or {}", kinds_with(|facts| facts.force.is_there())));
    }
    note_switches_of_kinds(parts, sections, lock.as_ref());
    note_profiles_of_kinds(parts, sections, lock.as_ref());
    note_two_commands(parts, sections);
    if let Some(faults) = parts.faults
        && faults.lose_message > 0
    {
        let lost = Contradiction::of(
            &sections.faults,
            "lose_message",
            "no unlock message can be lost, because no client subscribes",
        );
        if let Some(kind) = parts.lock.filter(|kind| !kind.facts().publishes()) {
            lost.with(lock, format!("the waiters of a {} lock poll", kind.name()))
                .note(&format!("use lose_message = 0, or {}", kinds_with(Facts::publishes)));
        } else if parts.nobody(|own| own.wait_limit != Some(0)) {
            lost.with(sections.time.span_of("wait_limit"), "a refused client does not wait")
                .note("use lose_message = 0, or a longer wait_limit");
        }
    }
    no_replicas::note(parts, sections);
    renewals::note(parts, sections);
    names::note(parts, top, sections);
    queues::note(parts, top, sections);
    sharing::note(parts, top, sections);
    tokens::note(parts, top, sections);
    spins::note(parts, top, sections);
    several_masters::note(parts, top, sections);
    slot_move::note(parts, top, sections);
    several_parts::note(parts, top, sections);
    value_sets::note(parts, top, sections);
    held_query::note(parts, top, sections);
    caller_clock::note(parts, top, sections);
    lock_objects::note(parts, sections);
    lock_objects::note_interrupts(parts, sections);
    lock_objects::note_validity(parts, sections);
    note_kind(parts, top, sections);
    note_nodes(parts, sections);
    waits::note(parts, sections);
    clocks::note(parts, sections);
    note_starts(parts, sections);
    note_late_writes(parts, sections);
}

/// What this kind of lock has no use for, or no room.
fn note_kind(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(kind) = parts.lock {
        let (name, publishes) = (kind.name(), kind.facts().publishes());
        let (key, reason) = if publishes {
            ("poll_every", format!("the waiters of a {name} lock do not poll: messages and timers wake them"))
        } else {
            ("ask_again_after", format!("the waiters of a {name} lock poll, whatever time the lock has left"))
        };
        Contradiction::of(&sections.time, key, &reason)
            .with(lock.clone(), "this is the kind of lock")
            .note(&format!("remove `{key}`"));
    }
    if let Some(config) = parts.config()
        && config.has_values()
        && config.bounds.effects_under_way.is_some_and(|room| room > Capacity::Effects.usual())
    {
        let usual = Capacity::Effects.usual();
        let reason = format!("where each acquire has a value of its own, at most {usual} effects can be under way");
        Contradiction::not_yet(&sections.bounds, "effects_under_way", &reason)
            .with(lock, "this kind of lock stores values")
            .note(&format!("use effects_under_way = {usual}, or value = \"per-client\" in [protocol]"));
    }
}

/// How often a holder may enter.
fn note_holds(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    // A call of several parts that did not give one back is counted in it once more.
    let counts_holds = |facts: &Facts| facts.reentry.is_there() || facts.parts.is_there();
    if let Some(kind) = parts.lock
        && let Support::No { why } = kind.facts().reentry
        && !counts_holds(kind.facts())
    {
        let name = kind.name();
        Contradiction::of(&sections.bounds, "holds", &format!("a node counts no holds of a {name} lock"))
            .with(lock.cloned(), format!("{name}: {why}"))
            .note(&format!("remove `holds`, or use {}", kinds_with(counts_holds)));
    }
    if let (Some(kind), Some(clients)) = (parts.lock, parts.clients)
        && let Support::No { why } = kind.facts().reentry
        && clients.max_holds > 1
    {
        let name = kind.name();
        Contradiction::of(&sections.clients, "max_holds", &format!("a {name} lock cannot be re-entered"))
            .with(lock.cloned(), format!("{name}: {why}"))
            .note(&format!("use max_holds = 1, or {}", kinds_with(|facts| facts.reentry.is_there())));
    }
}

/// A lease that only a re-entry has.
fn note_reentry_lease(parts: &Parts, place: SettingsPlace<'_, '_>, lock: Option<&Range<usize>>) {
    let (Some(kind), Some(clients)) = (parts.lock, parts.clients) else { return };
    let name = kind.name();
    if let Support::No { why } = kind.facts().reentry {
        Contradiction::of(place.time, "reentry_lease", &format!("a {name} lock cannot be re-entered"))
            .with(lock.cloned(), format!("{name}: {why}"))
            .note(&format!("remove `reentry_lease`, or use {}", kinds_with(|facts| facts.reentry.is_there())));
    } else if clients.max_holds == 1 {
        Contradiction::of(place.time, "reentry_lease", "no holder enters again, so no call is inside another one")
            .note("remove `reentry_lease`, or let a holder enter again: max_holds = 2 in [clients]");
    }
    let is_told = |own: &ClientSettings| {
        let is_notified = own.renew_every.is_some() && own.protocol.missed_renewal == MissedRenewal::TellHolder;
        own.reentry_lease.is_some() && is_notified
    };
    if parts.settings.is_some() && !place.nobody(is_told) {
        let reason = "`reentry_lease` together with missed_renewal = \"tell-holder\" is not modelled yet";
        Contradiction::not_yet(place.time, "reentry_lease", reason)
            .with(
                place.protocol.span_of("missed_renewal").or(place.protocol.span_of("profile")),
                "a call inside another one would go on as a first one when its thread is notified",
            )
            .note("remove `reentry_lease`, or use missed_renewal = \"lower-first\" in [protocol]");
    }
}

/// Where clients subscribe.
fn note_subscriptions(
    parts: &Parts,
    place: SettingsPlace<'_, '_>,
    sections: &Sections<'_>,
    lock: Option<&Range<usize>>,
) {
    let useless = |reason: &str| {
        Contradiction::of(place.protocol, "subscribe_to", &format!("`subscribe_to` has no effect: {reason}"))
    };
    if let Some(kind) = parts.lock.filter(|kind| !kind.facts().publishes()) {
        useless("no client subscribes")
            .with(lock.cloned(), format!("the waiters of a {} lock poll", kind.name()))
            .note(&format!("remove `subscribe_to`, or use {}", kinds_with(Facts::publishes)));
    } else if parts.cluster.is_some_and(|cluster| cluster.replicas == 0) {
        useless("there is no replica on which a client could subscribe")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("remove `subscribe_to`, or add a replica: replicas = 1 in [cluster]");
    } else if place.nobody(|own| own.wait_limit != Some(0)) {
        useless("a refused client does not wait")
            .with(place.time.span_of("wait_limit"), "it asks once")
            .note("remove `subscribe_to`, or use a longer wait_limit");
    }
}

/// What nodes have on disk, how they are connected, and when they restart or hand over.
fn note_nodes(parts: &Parts, sections: &Sections<'_>) {
    let (Some(cluster), Some(faults)) = (parts.cluster, parts.faults) else { return };
    if faults.restart_node > 0 && faults.deaths_of_nodes() == 0 {
        Contradiction::of(&sections.faults, "restart_node", "no node crashes, so none can restart")
            .with(sections.faults.span_of("crash_node"), "no node crashes")
            .note("use restart_node = 0, or let a node crash: crash_node = 1");
    }
    if faults.restart_node > faults.deaths_of_nodes() && faults.deaths_of_nodes() > 0 {
        Contradiction::of(&sections.faults, "restart_node", "there would be more restarts than crashes")
            .with(sections.faults.span_of("crash_node"), "this is the number of crashes")
            .note("use a smaller restart_node, or a larger crash_node");
    }
    if faults.restart_node == 0 {
        for key in ["fsync", "fsync_within", "aof_rewrite_within", "no_appendfsync_on_rewrite", "restart_after"] {
            Contradiction::of(&sections.cluster, key, &format!("no node restarts, so `{key}` has no effect"))
                .with(sections.faults.span_of("restart_node"), "no node restarts")
                .note(&format!("remove `{key}`, or let a node restart: restart_node = 1 in [faults]"));
        }
    }
    if faults.cut_link > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "cut_link", "there is no other node that one could be cut off from")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("use cut_link = 0, or add a replica: replicas = 1 in [cluster]");
    }
    if faults.break_link > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "break_link", "there is no replica whose link could break")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("use break_link = 0, or add a replica: replicas = 1 in [cluster]");
    }
    if faults.hand_over > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "hand_over", "there is no replica that could take over")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("use hand_over = 0, or add a replica: replicas = 1 in [cluster]");
    }
    if cluster.promote.is_by_the_master() && cluster.replicas > 0 && faults.hand_over == 0 {
        let reason = if cluster.promote == PromoteRule::Forced {
            "only a hand-over can be forced, and there is none"
        } else {
            "only a hand-over can be coordinated, and there is none"
        };
        Contradiction::of(&sections.cluster, "promote", reason)
            .with(sections.faults.span(), "there is no hand-over")
            .note("use another promotion rule, or add a hand-over: hand_over = 1 in [faults]");
    }
    if faults.hand_over > 0 && cluster.replicas > 0 && !cluster.promote.is_by_the_master() {
        Contradiction::of(
            &sections.cluster,
            "hand_over_timeout",
            "the master does not hand over by itself: no write waits",
        )
        .with(sections.cluster.span_of("promote"), "a replica is promoted while the master runs")
        .note("remove `hand_over_timeout`, or let the master hand over: promote = \"coordinated\"");
    }
    if faults.hand_over == 0 && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "hand_over_timeout", "no master hands over")
            .with(sections.faults.span(), "there is no hand-over")
            .note(
                "remove `hand_over_timeout`, or add a hand-over: hand_over = 1 in [faults], promote = \"coordinated\"",
            );
    }
    note_files(cluster, faults, sections);
    note_followers(parts, sections);
    let is_away = faults.cut_link > 0 || faults.pause_node > 0 || faults.refuse_writes > 0;
    let can_fail_over = faults.deaths_of_nodes() > 0 || is_away || faults.hand_over > 0;
    if cluster.lock_delay > 0 && cluster.replicas > 0 && !can_fail_over {
        Contradiction::of(&sections.cluster, "lock_delay", "there is no failover after which a client could delay")
            .with(sections.faults.span(), "no node crashes, is cut off, stands still, hands over or refuses writes")
            .note("remove `lock_delay`, or add a fault that leads to a failover: crash_node = 1 in [faults]");
    }
    note_counting(parts, sections);
    let Some(time) = parts.time else { return };
    if cluster.fsync == Fsync::EverySecond && u32::from(MAX_TICKS) < FSYNC_WITHIN_MS.div_ceil(time.tick_ms) {
        Contradiction::of(
            &sections.cluster,
            "fsync",
            "with an fsync every second, the disk may be up to two seconds behind",
        )
        .with(sections.time.span_of("tick_ms"), format!("that is more than {MAX_TICKS} of these ticks"))
        .note("use a tick of 34 ms or more");
    }
    let longest_wait_ms = u64::from(cluster.shutdown_timeout) * u64::from(time.tick_ms);
    if !longest_wait_ms.is_multiple_of(1000) {
        Contradiction::of(&sections.cluster, "shutdown_timeout", "a master counts this time in whole seconds")
            .with(sections.time.span_of("tick_ms"), "shutdown_timeout is no whole number of seconds")
            .note("use a tick of whole seconds, such as tick_ms = 1000");
    }
}

/// How a master counts its replicas.
fn note_counting(parts: &Parts, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster else { return };
    if cluster.min_replicas > cluster.replicas && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "min_replicas", "a master would wait for more replicas than there are")
            .with(sections.cluster.span_of("replicas"), "this is the number of replicas")
            .note("use a smaller min_replicas, or more replicas");
    }
    if cluster.min_replicas > 0 && cluster.ttls == Ttls::Relative && cluster.replicas > 0 {
        // A server that replicates the time that is left is older than 7.0 (docs/facts/redis.md#min-replicas-to-write).
        let reason = "before Redis 7.0 a script writes without any replica, which is not modelled";
        Contradiction::not_yet(&sections.cluster, "min_replicas", reason)
            .with(sections.cluster.span_of("ttls"), "servers before Redis 7.0 replicate TTLs like this")
            .note("remove `min_replicas`, which refuses no script there, or use ttls = \"absolute\"");
    }
    if cluster.min_replicas == 0 {
        for key in ["min_replicas_max_lag", "min_replicas_slack"] {
            Contradiction::of(&sections.cluster, key, "the master does not check the lag of its replicas")
                .with(sections.cluster.span_of("min_replicas"), "the master needs no replica")
                .note(&format!("remove `{key}`, or let the master need replicas: min_replicas = 1"));
        }
    }
    let Some(time) = parts.time else { return };
    let usual_slack = MIN_REPLICAS_SLACK_MS.div_ceil(time.tick_ms);
    if cluster.min_replicas > 0
        && u32::from(MAX_TICKS) < usual_slack
        && sections.cluster.span_of("min_replicas_slack").is_none()
    {
        Contradiction::of(
            &sections.cluster,
            "min_replicas",
            "a master may count a silent replica for two seconds too long (min_replicas_slack)",
        )
        .with(sections.time.span_of("tick_ms"), format!("that is more than {MAX_TICKS} of these ticks"))
        .note("use a tick of 34 ms or more");
    }
    let max_lag_ms = u64::from(cluster.min_replicas_max_lag) * u64::from(time.tick_ms);
    if !max_lag_ms.is_multiple_of(1000) {
        Contradiction::of(
            &sections.cluster,
            "min_replicas",
            "a master measures the lag of its replicas in whole seconds",
        )
        .with(sections.time.span_of("tick_ms"), "min_replicas_max_lag is no whole number of seconds")
        .note("use a tick of whole seconds, such as tick_ms = 1000");
    }
}

/// Whether a client that goes from master to master can find its own lock each time, once more than it believes: each
/// acquire is one more hold and a whole lease, unless a lock delay outlasts the lease.
fn reenters_without_end(config: &Config) -> bool {
    config.lock.facts().reentry.is_there()
        && config.some_client(|own| own.clients.acquires.is_none() && own.cluster.lock_delay <= own.time.lease)
}

/// Who starts late, and whom a client can find.
fn note_starts(parts: &Parts, sections: &Sections<'_>) {
    let (Some(clients), Some(cluster), Some(faults)) = (parts.clients, parts.cluster, parts.faults) else { return };
    if faults.start_client >= clients.count {
        Contradiction::of(&sections.faults, "start_client", "no client would be there at the beginning")
            .with(sections.clients.span_of("count"), "this is the number of clients")
            .note("use a smaller start_client, or more clients: at least one is there from the beginning");
    }
    if faults.start_client == 0 {
        Contradiction::of(&sections.cluster, "start_delay", "every client is there from the beginning, so none starts")
            .with(sections.faults.span_of("start_client"), "no client starts")
            .note("remove `start_delay`, or let a client start: start_client = 1 in [faults]");
    }
    // Of a file with another mistake nobody knows.
    let can_demote = parts.config().is_none_or(|config| config.can_demote());
    if cluster.discovery == Discovery::AnyMaster
        && can_demote
        && parts.config().is_some_and(|config| reenters_without_end(&config))
    {
        let reason = "a client could enter its own lock again without end, on one master after the other";
        Contradiction::of(&sections.cluster, "discovery", reason)
            .with(sections.clients.span(), "the acquires of a client are not limited")
            .note("limit them: acquires = 3 in [clients], or let a lock delay outlast the lease: lock_delay");
    }
    if cluster.discovery == Discovery::AnyMaster && cluster.replicas > 0 && !can_demote {
        Contradiction::of(&sections.cluster, "discovery", "no old master ever runs, so no client can go back to one")
            .with(
                sections.faults.span(),
                "no node restarts, is cut off, stands still, refuses writes or hands over while it goes on as a master",
            )
            .note("remove `discovery`, or let an old master run: cut_link = 1 or restart_node = 1 in [faults]");
    }
}

/// Whom the replicas follow that were not promoted.
fn note_followers(parts: &Parts, sections: &Sections<'_>) {
    let (Some(cluster), Some(faults)) = (parts.cluster, parts.faults) else { return };
    let (leave, together) = ("replicas_leave", "cut_together");
    if cluster.replicas == 1 {
        for key in [leave, together] {
            Contradiction::of(&sections.cluster, key, "the only replica is the one that is promoted")
                .with(sections.cluster.span_of("replicas"), "there is one replica")
                .note(&format!("remove `{key}`, or add a replica: replicas = 2"));
        }
    }
    let runs_on = cluster.promote.replaces_running_masters(&faults) || faults.restart_node > 0;
    if cluster.replicas > 1 && !runs_on {
        Contradiction::of(
            &sections.cluster,
            leave,
            "no master that was replaced runs on or restarts, so no replica can follow it then",
        )
        .with(sections.faults.span(), "no node is cut off, stands still, hands over, refuses writes or restarts")
        .note("remove `replicas_leave`, or add such a fault: hand_over = 1 in [faults]");
    }
    if cluster.replicas > 1 && faults.cut_link == 0 {
        Contradiction::of(&sections.cluster, together, "no node is cut off")
            .with(sections.faults.span_of("cut_link"), "no link is cut")
            .note("remove `cut_together`, or cut a link: cut_link = 1 in [faults]");
    }
    if cluster.cut_together.iter().any(|node| node > cluster.replicas) && cluster.replicas > 1 {
        Contradiction::of(&sections.cluster, together, "there is no such node")
            .with(sections.cluster.span_of("replicas"), "this is the number of replicas; n1 is the first master")
            .note("name nodes that there are");
    }
    if faults.restart_node > 0 && !cluster.cut_together.is_empty() {
        Contradiction::not_yet(
            &sections.cluster,
            together,
            "a replica that restarts on its master's side of a partition",
        )
        .with(sections.faults.span_of("restart_node"), "a node restarts")
        .note(&format!("use restart_node = 0, or remove `{together}`"));
    }
    if !cluster.cut_together.is_empty() && cluster.promote == PromoteRule::MostData {
        let reason = "which of two replicas on different sides of a partition has more data";
        Contradiction::not_yet(&sections.cluster, together, reason)
            .with(sections.cluster.span_of("promote"), "the replica with the most data is promoted")
            .note("use another promotion rule, or remove `cut_together`");
    }
}

/// How the files of a node are rewritten, and what it waits for when it is told to end.
fn note_files(cluster: Cluster, faults: Faults, sections: &Sections<'_>) {
    let has_aof = matches!(cluster.fsync, Fsync::EverySecond | Fsync::Always);
    if faults.restart_node > 0 && !has_aof {
        for key in ["aof_rewrite_within", "no_appendfsync_on_rewrite"] {
            Contradiction::of(&sections.cluster, key, "a node without an AOF rewrites none")
                .with(sections.cluster.span_of("fsync"), "this leaves no AOF")
                .note(&format!("remove `{key}`, or use an AOF: fsync = \"everysec\" or \"always\""));
        }
    } else if cluster.no_appendfsync_on_rewrite && cluster.aof_rewrite_within == 0 {
        Contradiction::of(&sections.cluster, "no_appendfsync_on_rewrite", "no rewrite takes any time")
            .with(sections.cluster.span_of("aof_rewrite_within"), "this is how long a rewrite takes")
            .note("remove `no_appendfsync_on_rewrite`, or say how long a rewrite takes: aof_rewrite_within = 1");
    } else if cluster.aof_rewrite_within > 0 && cluster.replicas == 0 && !cluster.no_appendfsync_on_rewrite {
        Contradiction::of(
            &sections.cluster,
            "aof_rewrite_within",
            "a node that copies no data rewrites no AOF after it",
        )
        .with(sections.cluster.span_of("replicas"), "there are no replicas")
        .note("remove `aof_rewrite_within`, or add a replica: replicas = 1 in [cluster]");
    }
    if faults.shutdown_node == 0 {
        Contradiction::of(&sections.cluster, "shutdown_timeout", "no node is told to end")
            .with(sections.faults.span_of("shutdown_node"), "no node is told to end")
            .note("remove `shutdown_timeout`, or let a node end: shutdown_node = 1 in [faults]");
    } else if cluster.shutdown_timeout > 0 && faults.cut_link > 0 {
        let reason = "a master that is told to end and waits for replicas that it does not reach";
        Contradiction::not_yet(&sections.cluster, "shutdown_timeout", reason)
            .with(sections.faults.span_of("cut_link"), "a node is cut off")
            .note("use cut_link = 0, or remove `shutdown_timeout`");
    } else if cluster.shutdown_timeout > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.cluster, "shutdown_timeout", "there is no replica that a master could wait for")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("remove `shutdown_timeout`, or add a replica: replicas = 1 in [cluster]");
    }
}

/// How many fencing tokens are remembered at once, where a write keeps its own on the way.
fn note_late_writes(parts: &Parts, sections: &Sections<'_>) {
    let Some(config) = parts.config() else { return };
    if config.resource.is_some_and(Resource::is_far) && config.most_tokens() > u32::from(MAX_TOKEN_UNDER_WAY) {
        let reason = "a late write together with so many threads and requests is not modelled yet";
        Contradiction::not_yet(&sections.resource, "delay", reason)
            .with(sections.clients.span_of("count"), "each thread and each request in flight may have a fencing token")
            .note("use fewer clients or threads, mode = \"atomic\" in [network], or late_requests = 1 in [bounds]");
    }
}
