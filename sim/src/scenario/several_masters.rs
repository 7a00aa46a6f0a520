//! A lock on several independent masters: what belongs to it, and what is not modelled beside one yet.

use core::ops::Range;

use lockstep_model::config::{
    ClientSettings, Discovery, ElapsedTime, InterruptedWait, LockObjects, MAX_CLIENTS_OF_MASTERS,
    MAX_REPLICAS_OF_MASTERS, NetworkMode, Profile, StopsAt,
};
use lockstep_model::locks::{Facts, StoringMasters};

use super::code::Code;
use super::contradiction::{Contradiction, kinds_with};
use super::error::Problem;
use super::master_locks;
use super::parts::{Parts, Sections};
use super::section::{Entry, Section};

/// The faults of a client that asks several masters.
const FAULTS: [&str; 3] = ["lose_ask", "slow_reply", "late_ask"];

/// What replicas bring with them, where one master stores the lock only.
pub(super) const OF_ONE_MASTER: [&str; 4] = ["wait_for", "min_replicas", "lock_delay", "discovery"];

/// What the watchdog of one master's lock does after an answer, and when its timers start.
const RENEWAL_SWITCHES: [&str; 4] = ["renewal_timer", "missed_renewal", "failed_renewal", "partial_release"];

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(kind) = parts.lock else { return };
    let lock = top.span_of("lock");
    match kind.facts().masters {
        StoringMasters::One => {
            note_elsewhere(parts, sections, lock.as_ref(), &format!("{}: one master stores it", kind.name()));
            note_needed(parts, sections, lock.as_ref(), "one master stores this kind of lock");
            return;
        }
        StoringMasters::Rounds => {
            note_needed(parts, sections, lock.as_ref(), "the algorithm as it was published needs most of the masters");
            note_rounds(parts, top, sections, lock.as_ref());
            note_extension(parts, sections);
            note_drift(parts, sections);
        }
        StoringMasters::Locks => master_locks::note(parts, sections, lock.as_ref()),
    }
    note_masters(parts, sections, lock.as_ref());
    note_not_yet(parts, sections, lock.as_ref());
}

/// What has an effect only where several masters are asked.
fn note_elsewhere(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>, label: &str) {
    let of_one_key = |own: &ClientSettings| own.protocol.profile.is_of_one_key();
    let library = parts.settings.iter().flatten().find(|own| of_one_key(own)).map(|own| own.protocol.profile.name());
    let refuse = |section: &Section<'_>, key: &str| {
        let has_parts = parts.lock.is_some_and(|kind| kind.facts().parts.is_there());
        let other = if has_parts {
            // A multi lock of clients of several masters.
            kinds_with(|facts| facts.masters == StoringMasters::Locks) + " with needed_masters = \"all\""
        } else if let Some(library) = library {
            let by_rounds = kinds_with(|facts| facts.masters == StoringMasters::Rounds);
            format!("{by_rounds} with profile = \"lockstep\": {library} is modelled on one master only")
        } else {
            kinds_with(|facts| facts.masters.are_several())
        };
        Contradiction::of(section, key, "one master stores this kind of lock")
            .with(lock.cloned(), label.to_owned())
            .note(&format!("remove `{key}`, or use {other}"));
    };
    if parts.cluster.is_some_and(|cluster| cluster.groups > 1) {
        refuse(&sections.cluster, "groups");
    }
    // A validity that is shorter than the lease by a drift is told on one master too, by some libraries.
    if parts.somebody(|own| own.protocol.profile.tells_validity()) {
        Contradiction::not_yet(&sections.time, "drift", "a drift on one master is not modelled yet")
            .with(lock.cloned(), label.to_owned())
            .note("remove `drift`: a holder with stops_at = \"validity\" then stops at the end of its lease, a little later than the library does");
    } else {
        refuse(&sections.time, "drift");
    }
    for place in sections.places(parts) {
        refuse(place.protocol, "elapsed_time");
    }
    let Some(faults) = parts.faults else { return };
    for (key, budget) in FAULTS.into_iter().zip([faults.lose_ask, faults.slow_reply, faults.late_ask]) {
        if budget > 0 {
            refuse(&sections.faults, key);
        }
    }
}

/// How many masters a call needs is said where each of them stores a lock of its own.
fn note_needed(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>, reason: &str) {
    let other = kinds_with(|facts| facts.masters == StoringMasters::Locks);
    for place in sections.places(parts) {
        Contradiction::of(place.protocol, "needed_masters", reason)
            .with(lock.cloned(), "this is the kind of lock")
            .note(&format!("remove `needed_masters`, or use {other}"));
    }
}

/// What such a lock needs.
fn note_masters(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    if sections.cluster.span_of("groups").is_none() {
        let example = "`groups = 3`, the number of independent masters on which the lock is taken";
        sections.cluster.require("groups", Entry::<u8>::Absent, example);
    } else if parts.cluster.is_some_and(|cluster| cluster.groups == 1) {
        let is_counted = parts.lock.is_some_and(|kind| kind.facts().reentry.is_there());
        // One key with a value that is unique per acquire, or with the holder's holds.
        let is_alike = |facts: &Facts| {
            facts.masters == StoringMasters::One
                && facts.reentry.is_there() == is_counted
                && facts.value.is_there() != is_counted
        };
        let other = kinds_with(is_alike);
        Contradiction::of(&sections.cluster, "groups", "of one master there is no majority")
            .with(lock.cloned(), "this kind of lock is taken on several masters")
            .note(&format!("use groups = 3, or {other}, which is what such a lock is on one master"));
    }
}

/// What the published algorithm needs.
fn note_rounds(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    for place in sections.places(parts) {
        let profile = place.said.map(|said: ClientSettings| said.protocol.profile);
        // That another library's form of it is not modelled, the profile's own refusal says.
        if profile.is_some_and(|profile| profile != Profile::Lockstep && !profile.is_of_one_key()) {
            let library = kinds_with(|facts| facts.masters == StoringMasters::Locks);
            let help = format!(
                "use profile = \"lockstep\" in [protocol], or {library}, which is Redisson's lock on several masters"
            );
            let reason = "this kind of lock is the algorithm as it was published, and no library's form of it";
            if place.protocol.span_of("profile").is_some() {
                Contradiction::of(place.protocol, "profile", reason)
                    .with(lock.cloned(), "this kind of lock asks in rounds")
                    .note(&help);
            } else {
                Contradiction::of(top, "lock", &format!("{reason}: the usual profile is Redisson's")).note(&help);
            }
        }
    }
    for place in sections.places(parts).into_iter().filter(|place| !place.nobody(|own| own.renew_every.is_some())) {
        for key in RENEWAL_SWITCHES {
            Contradiction::of(place.protocol, key, "what one master answers to an extension changes nothing")
                .with(lock.cloned(), "an extension counts if most of the masters have extended")
                .note(&format!("remove `{key}`"));
        }
    }
    if let (Some(time), Some(drift)) = (parts.time, sections.time.span_of("drift"))
        && parts.somebody(|own| own.lease <= time.drift)
    {
        let reason = "the drift takes all of the lease: no grant is ever valid";
        sections.time.note::<()>(
            Problem::at(Code::Impossible, drift, reason).help("use a drift that is shorter than every lease"),
        );
    }
}

/// A holder that stops before it would extend.
fn note_extension(parts: &Parts, sections: &Sections<'_>) {
    let stops = parts.clients.is_some_and(|clients| clients.stops_at == StopsAt::Validity);
    let Some(time) = parts.time.filter(|_| stops) else { return };
    let is_late = |own: &ClientSettings| own.renew_every.is_some_and(|period| period + time.drift >= own.lease);
    for place in sections.places(parts).into_iter().filter(|place| place.said.as_ref().is_some_and(is_late)) {
        let is_said = |key: &&str| place.time.span_of(key).is_some();
        let Some(key) = ["renew_every", "lease"].into_iter().find(is_said) else { continue };
        Contradiction::of(place.time, key, "nothing is ever extended: by then the holder has stopped")
            .with(
                sections.clients.span_of("stops_at"),
                "it stops when its grant is over: after the lease without the drift",
            )
            .note("extend sooner, at a third of the lease, or remove `renew_every`");
    }
}

/// A drift that nobody allows for.
fn note_drift(parts: &Parts, sections: &Sections<'_>) {
    let stops = parts.clients.is_some_and(|clients| clients.stops_at == StopsAt::Validity);
    if !stops && parts.nobody(|own| own.protocol.elapsed_time == ElapsedTime::Checked) {
        Contradiction::of(&sections.time, "drift", "no client looks at a clock, so none allows for a drift")
            .with(sections.protocol.span_of("elapsed_time"), "the time that it takes to ask is ignored")
            .note("remove `drift`, or use elapsed_time = \"checked\" in [protocol], or stops_at = \"validity\" in [clients]");
    }
}

fn note_not_yet(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} together with a lock on several masters is not modelled yet");
        Contradiction::not_yet(section, key, &reason)
            .with(lock.cloned().filter(|_| key != "lock"), "this kind of lock is taken on several masters")
            .note(help);
    };
    for place in sections.places(parts) {
        if place.said.is_some_and(|said| said.reentry_lease.is_some()) {
            beside(place.time, "reentry_lease", "a lease of nested calls", "remove `reentry_lease`");
        }
    }
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        let help = "use mode = \"atomic\", and lose_ask, slow_reply and late_ask in [faults] for what a network does to one ask";
        beside(&sections.network, "mode", "a split network", help);
    }
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        beside(&sections.time, "named_lease", "a lease of the first thread", "remove `named_lease`");
    }
    if let Some(clients) = parts.clients {
        if clients.count > MAX_CLIENTS_OF_MASTERS {
            beside(&sections.clients, "count", "a fourth client", "use count = 3");
        }
        if clients.threads > 1 {
            beside(
                &sections.clients,
                "threads",
                "a client of several threads",
                "use threads = 1, and more clients instead",
            );
        }
        if clients.lock_objects == LockObjects::Shared {
            beside(&sections.clients, "lock_objects", "a shared lock object", "remove `lock_objects`");
        }
        if clients.interrupted_wait == InterruptedWait::Swallow {
            beside(&sections.clients, "interrupted_wait", "an interrupt", "remove `interrupted_wait`");
        }
    }
    note_replicas(parts, sections, lock);
    let Some(faults) = parts.faults else { return };
    for (key, budget, what) in [
        ("crash_thread", faults.crash_thread, "a thread that dies while its process lives"),
        ("start_client", faults.start_client, "a client that starts late"),
        ("foreign_release", faults.foreign_release, "a release of a client that does not hold"),
        ("interrupt", faults.interrupt, "an interrupted caller"),
        ("client_clock_jump", faults.client_clock_jump, "a client's clock that jumps"),
        ("persist_key", faults.persist_key, "a key that loses its TTL"),
        ("cut_link", faults.cut_link, "a node that is cut off"),
    ] {
        if budget > 0 {
            beside(&sections.faults, key, what, &format!("use {key} = 0"));
        }
    }
}

/// What is not modelled yet where the masters have replicas.
fn note_replicas(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let Some(cluster) = parts.cluster.filter(|cluster| cluster.replicas > 0) else { return };
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} where several masters have replicas is not modelled yet");
        Contradiction::not_yet(section, key, &reason)
            .with(lock.cloned(), "this kind of lock is taken on several masters")
            .with(sections.cluster.span_of("replicas").filter(|_| key != "replicas"), "each of them has replicas")
            .note(help);
    };
    if cluster.replicas > MAX_REPLICAS_OF_MASTERS {
        beside(&sections.cluster, "replicas", "a second replica", "use replicas = 1");
    }
    for (key, is_there) in [
        ("wait_for", cluster.wait_for > 0),
        ("min_replicas", cluster.min_replicas > 0),
        ("lock_delay", cluster.lock_delay > 0),
    ] {
        if is_there {
            beside(&sections.cluster, key, &format!("`{key}`"), &format!("remove `{key}`"));
        }
    }
    if cluster.promote.is_by_the_master() {
        let help = "use promote = \"any\" or \"most-data\"";
        beside(&sections.cluster, "promote", "a master that hands over by itself", help);
    }
    if cluster.discovery == Discovery::AnyMaster {
        beside(&sections.cluster, "discovery", "a client that goes back to an old master", "remove `discovery`");
    }
    let Some(faults) = parts.faults else { return };
    for (key, budget, what) in [
        ("slow_reply", faults.slow_reply, "a late reply"),
        ("late_ask", faults.late_ask, "a late ask"),
        ("pause_node", faults.pause_node, "a node that stands still"),
    ] {
        if budget > 0 {
            beside(&sections.faults, key, what, &format!("use {key} = 0, or replicas = 0"));
        }
    }
}
