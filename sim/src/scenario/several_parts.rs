//! A lock of several parts: what belongs to it, and what is not modelled beside one yet.

use core::ops::Range;

use lockstep_model::config::{
    Bound, ClientSettings, LockObjects, MissedRenewal, NetworkMode, Profile, RenewalTimer, SubscribeTo, Ttls,
};
use lockstep_model::locks::{StoringMasters, Support};

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::{Entry, Section};

/// The switches of a lock of several parts.
const SWITCHES: [&str; 4] = ["round_lease", "final_lease", "failed_part", "interrupted_call"];

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(kind) = parts.lock else { return };
    let lock = top.span_of("lock");
    if let Support::No { why } = kind.facts().parts {
        note_elsewhere(parts, sections, lock.as_ref(), &format!("{}: {why}", kind.name()));
        return;
    }
    for key in ["threads", "names"] {
        let reason =
            "each client is one thread of an application, and the lock has two parts, each under a name of its own";
        Contradiction::of(&sections.clients, key, reason)
            .with(lock.clone(), "this kind of lock has parts")
            .note(&format!("remove `{key}`"));
    }
    note_rounds(parts, sections);
    note_switches(parts, sections);
    note_not_yet(parts, top, sections, lock.as_ref());
    note_faults(parts, sections, lock.as_ref());
}

/// What has an effect only where the lock has parts.
fn note_elsewhere(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>, label: &str) {
    let note = |key: &str| format!("remove `{key}`, or use {}", kinds_with(|facts| facts.parts.is_there()));
    for table in sections.client.iter().flatten() {
        Contradiction::of(table, "parts", "this kind of lock has no parts")
            .with(lock.cloned(), label.to_owned())
            .note(&note("parts"));
    }
    Contradiction::of(&sections.clients, "parts", "this kind of lock has no parts")
        .with(lock.cloned(), label.to_owned())
        .note(&note("parts"));
    // A lock on each of several masters is taken in rounds as well, sets its lease in the end, and may stop at a release that fails
    // (`master_locks`).
    let is_on_masters = parts.lock.is_some_and(|kind| kind.facts().masters == StoringMasters::Locks);
    if !is_on_masters {
        Contradiction::of(&sections.time, "round_wait", "this kind of lock is not taken in rounds")
            .with(lock.cloned(), label.to_owned())
            .note(&note("round_wait"));
    }
    for place in sections.places(parts) {
        for key in SWITCHES.into_iter().filter(|key| !is_on_masters || *key == "interrupted_call") {
            Contradiction::of(place.protocol, key, "this kind of lock has no parts")
                .with(lock.cloned(), label.to_owned())
                .note(&note(key));
        }
    }
}

fn takes_several(own: &ClientSettings) -> bool {
    own.parts.count() > 1
}

/// A call without a limit takes its parts in rounds.
fn note_rounds(parts: &Parts, sections: &Sections<'_>) {
    let Some(time) = parts.time else { return };
    let is_endless = |own: &ClientSettings| takes_several(own) && own.wait_limit.is_none();
    if time.round_wait.is_none() && parts.somebody(is_endless) {
        let example = "`round_wait = \"3s\"`, or a number of ticks, after which a call without a limit gives back what it has and \
                       begins anew: 1.5 s for each part in Redisson";
        sections.time.require("round_wait", Entry::<u8>::Absent, example);
    }
    if time.round_wait.is_some() && !parts.somebody(is_endless) {
        Contradiction::of(
            &sections.time,
            "round_wait",
            "no client that takes both parts waits without a limit, so no call has rounds",
        )
        .with(sections.time.span_of("wait_limit"), "this is how long a call waits")
        .note(
            "remove `round_wait`, or let a client that takes both parts wait without a limit: leave `wait_limit` out of [time], or \
             say wait_limit = \"none\" in its [[client]]",
        );
    }
}

/// What has an effect only in some calls.
fn note_switches(parts: &Parts, sections: &Sections<'_>) {
    for place in sections.places(parts) {
        if place.nobody(takes_several) {
            for key in SWITCHES {
                Contradiction::of(place.protocol, key, "it is about clients that take more than one part")
                    .note(&format!("remove `{key}`, or let a client take both: parts = \"in-order\" or \"reversed\""));
            }
        } else if place.nobody(|own| takes_several(own) && own.renew_every.is_none()) {
            for key in ["round_lease", "final_lease"] {
                Contradiction::of(place.protocol, key, "no call names a lease: the watchdog renews")
                    .note(&format!("remove `{key}`, or `renew_every`"));
            }
        } else if place.nobody(|own| takes_several(own) && own.wait_limit.is_none()) {
            Contradiction::of(place.protocol, "round_lease", "no call is without a limit, so none is taken in rounds")
                .note("remove `round_lease`, or `wait_limit`");
        }
    }
}

fn note_not_yet(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        Contradiction::not_yet(
            section,
            key,
            &format!("{what} together with a lock of several parts is not modelled yet"),
        )
        .with(lock.cloned(), "this kind of lock has parts")
        .note(help);
    };
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if let Some(span) = sections.resource.span() {
        let reason = "a [resource] together with a lock of several parts is not modelled yet";
        Contradiction::not_yet(top, "lock", reason).with(Some(span), "this is the resource").note("remove [resource]");
    }
    if parts.somebody(|own| own.protocol.subscribe_to == SubscribeTo::Replica) {
        beside(&sections.protocol, "subscribe_to", "a subscription on a replica", "use subscribe_to = \"master\"");
    }
    if parts.somebody(|own| own.protocol.profile == Profile::Redisson315) {
        beside(&sections.protocol, "profile", "Redisson of 2021", "use a newer profile");
    }
    let tells = |own: &ClientSettings| own.protocol.missed_renewal == MissedRenewal::TellHolder;
    if parts.somebody(tells) {
        if sections.protocol.span_of("missed_renewal").is_some() {
            let what = "a watchdog that tells a holder that its lock is gone";
            beside(&sections.protocol, "missed_renewal", what, "use missed_renewal = \"lower-first\"");
        } else {
            let what = "a profile whose watchdog tells a holder that its lock is gone";
            beside(
                &sections.protocol,
                "profile",
                what,
                "use the profile of a version of Redisson, or say missed_renewal = \"lower-first\"",
            );
        }
    }
    let multiplies = |own: &ClientSettings| own.protocol.renewal_timer == RenewalTimer::Multiplying;
    if parts.somebody(multiplies) {
        beside(&sections.protocol, "renewal_timer", "timers that multiply", "use renewal_timer = \"shared\"");
    }
    if parts.clients.is_some_and(|clients| clients.lock_objects == LockObjects::Shared) {
        beside(&sections.clients, "lock_objects", "a shared lock object", "remove `lock_objects`");
    }
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        beside(&sections.time, "named_lease", "a lease of the first thread", "remove `named_lease`");
    }
    if parts.somebody(|own| own.reentry_lease.is_some()) {
        beside(&sections.time, "reentry_lease", "a lease of nested calls", "remove `reentry_lease`");
    }
    let Some(cluster) = parts.cluster else { return };
    if cluster.wait_for > 0 {
        beside(&sections.cluster, "wait_for", "a client that waits for replicas", "use wait_for = 0");
    }
    if cluster.replicas == 0 {
        return;
    }
    if cluster.ttls == Ttls::Relative {
        beside(
            &sections.cluster,
            "ttls",
            "TTLs that count from their arrival",
            "use ttls = \"absolute\": Redis 7.0 and newer",
        );
    }
    if !matches!(cluster.lag, Bound::Any | Bound::Ticks(0)) {
        beside(&sections.cluster, "lag", "a bounded lag", "use lag = \"any\" or lag = 0");
    }
}

fn note_faults(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let Some(faults) = parts.faults else { return };
    if faults.interrupt == 0 {
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, "interrupted_call", "no thread is interrupted")
                .note("remove `interrupted_call`, or let one be interrupted: interrupt = 1 in [faults]");
        }
    }
    Contradiction::of(
        &sections.clients,
        "interrupted_wait",
        "what an interrupt does to a call is `interrupted_call` here",
    )
    .with(lock.cloned(), "this kind of lock has parts")
    .note("remove `interrupted_wait`");
    let budgets = [
        ("foreign_release", faults.foreign_release),
        ("vanish_key", faults.vanish_key),
        ("persist_key", faults.persist_key),
        ("overwrite_key", faults.overwrite_key),
        ("clock_jump", faults.clock_jump),
        ("client_clock_jump", faults.client_clock_jump),
        ("crash_thread", faults.crash_thread),
    ];
    for (key, _) in budgets.into_iter().filter(|(_, budget)| *budget > 0) {
        let reason = format!("`{key}` together with a lock of several parts is not modelled yet");
        Contradiction::not_yet(&sections.faults, key, &reason)
            .with(lock.cloned(), "this kind of lock has parts")
            .note(&format!("use {key} = 0"));
    }
}
