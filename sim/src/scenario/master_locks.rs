//! Redisson's lock on several masters, each of which stores a lock of its own: what has no effect there, and what is not modelled beside one
//! yet.

use core::ops::Range;
use std::collections::BTreeSet;
use std::time::Duration;

use lockstep_model::config::{
    ClientSettings, MissedRenewal, NeededMasters, PartialRelease, Profile, RenewalTimer, StopsAt,
};

use super::code::Code;
use super::contradiction::Contradiction;
use super::error::Problem;
use super::parts::{Parts, Sections};
use super::section::{Entry, Section};

/// The profiles whose calls were read from runs of that version.
const PROFILES: [Profile; 4] = [Profile::Redisson47, Profile::Redisson43, Profile::Redisson352, Profile::Redisson343];

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    note_useless(parts, sections, lock);
    note_calls(parts, sections, lock);
    note_renewals(parts, sections, lock);
}

/// A combination that is not modelled.
fn beside(section: &Section<'_>, key: &str, lock: Option<&Range<usize>>, (what, help): (&str, &str)) {
    let reason = format!("{what} together with Redisson's lock on several masters is not modelled yet");
    Contradiction::not_yet(section, key, &reason)
        .with(lock.cloned().filter(|_| key != "lock"), "this is Redisson's lock on several masters")
        .note(help);
}

/// What has an effect only on the algorithm as it was published, or in some calls.
fn note_useless(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let looks_at_nothing = |section: &Section<'_>, key: &str| {
        Contradiction::of(section, key, "Redisson looks at no elapsed time when it has asked its masters")
            .with(lock.cloned(), "this is Redisson's lock on several masters")
            .note(&format!("remove `{key}`, or use lock = \"red\", the algorithm as it was published"));
    };
    looks_at_nothing(&sections.time, "drift");
    for place in sections.places(parts) {
        looks_at_nothing(place.protocol, "elapsed_time");
        if place.nobody(|own| own.renew_every.is_none()) {
            Contradiction::of(place.protocol, "final_lease", "no call names a lease: the watchdog renews")
                .note("remove `final_lease`, or `renew_every`");
        }
        if place.nobody(|own| own.protocol.needed_masters == NeededMasters::All) {
            let reason = "the release of a lock that needs most of its masters asks every one, and hides every error";
            Contradiction::of(place.protocol, "failed_part", reason)
                .with(lock.cloned(), "this is Redisson's lock on several masters")
                .note("remove `failed_part`, or use needed_masters = \"all\"");
        }
    }
}

/// Whether its refused callers wait.
fn waits(own: &ClientSettings) -> bool {
    own.wait_limit != Some(0)
}

/// How long a call waits that makes rounds, and for how long at each master.
fn note_waits(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let is_endless = |own: &ClientSettings| own.wait_limit.is_none();
    if let Some(time) = parts.time {
        if time.round_wait.is_none() && parts.somebody(is_endless) {
            let usual_ms = 1_500 * u32::from(parts.cluster.map_or(3, |cluster| cluster.groups));
            let example = format!(
                "`round_wait = \"{usual_ms}ms\"`, or a number of ticks, after which a call without a limit gives back what it has and begins \
                 anew: 1.5 s for each master in Redisson. Or use wait_limit: 0 is tryLock(), which asks each master once"
            );
            sections.time.require("round_wait", Entry::<u8>::Absent, &example);
        }
        if time.round_wait.is_some() && !parts.somebody(is_endless) {
            Contradiction::of(&sections.time, "round_wait", "no client waits without a limit, so no call has rounds")
                .with(sections.time.span_of("wait_limit"), "this is how long a call waits")
                .note("remove `round_wait`, or let a client wait without a limit: wait_limit = \"none\"");
        }
    }
    note_shares(parts, sections, lock);
    for place in sections.places(parts) {
        if place.nobody(|own| is_endless(own) && own.renew_every.is_none()) {
            let reason =
                "no call that names a lease is without a limit, so none has later rounds with a lease of their own";
            Contradiction::of(place.protocol, "round_lease", reason).note("remove `round_lease`");
        }
    }
    if !parts.somebody(waits) {
        return;
    }
    if parts.cluster.is_some_and(|cluster| cluster.replicas > 0) {
        beside(
            &sections.cluster,
            "replicas",
            lock,
            ("a call that waits at masters with replicas", "use replicas = 0, or wait_limit = 0"),
        );
    }
    let Some(clients) = parts.clients else { return };
    if clients.max_holds > 1 && parts.somebody(|own| waits(own) && own.renew_every.is_none()) {
        let help = "use max_holds = 1, or renew_every, or wait_limit = 0";
        beside(&sections.clients, "max_holds", lock, ("a nested call that waits and names its lease", help));
    }
}

/// A call waits at each master for its share of the wait, in whole ticks.
fn note_shares(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let (Some(time), Some(cluster), Some(settings)) = (parts.time, parts.cluster, parts.settings.as_deref()) else {
        return;
    };
    let masters = cluster.groups;
    let mut said = BTreeSet::new();
    for (client, own) in settings.iter().enumerate() {
        let (key, wait) = match own.wait_limit {
            None => ("round_wait", time.round_wait),
            limit => ("wait_limit", limit),
        };
        // Where every master is needed a call waits at each for as long as it has.
        let shares = own.protocol.needed_masters == NeededMasters::Most && masters > 1;
        let Some(wait) = wait.filter(|wait| shares && !wait.is_multiple_of(masters)) else { continue };
        let table = sections.client.as_ref().and_then(|tables| tables.get(client));
        let of_table = |key: &str| table.and_then(|table| table.span_of(key));
        let span = of_table(key).or_else(|| sections.time.span_of(key)).or_else(|| of_table("needed_masters"));
        let Some(span) = span.filter(|span| said.insert(span.start)) else { continue };
        let ticks = if wait == 1 { "1 tick has".to_owned() } else { format!("{wait} ticks have") };
        let reason = format!(
            "a call waits at each of {masters} masters for its share, and {ticks} no such share in whole ticks"
        );
        let nearest = (wait / masters + 1) * masters;
        let problem = Problem::at(Code::NotModelled, span, reason);
        let problem = match lock {
            Some(lock) => problem.also(lock.clone(), "this is Redisson's lock on several masters"),
            None => problem,
        };
        let shown = humantime::format_duration(Duration::from_millis(u64::from(nearest) * u64::from(time.tick_ms)));
        let help = format!(
            "use a multiple of {masters} ticks: {key} = \"{shown}\" with tick_ms = {}, or {key} = {nearest} where all times are in ticks",
            time.tick_ms
        );
        sections.time.note::<()>(problem.help(help));
    }
}

/// Which calls there are: of the versions of Redisson whose runs are known.
fn note_calls(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    note_waits(parts, sections, lock);
    for place in sections.places(parts) {
        let profile = place.said.map(|said: ClientSettings| said.protocol.profile);
        // That of a library with one key is refused by itself.
        if profile.is_some_and(|profile| !PROFILES.contains(&profile) && !profile.is_of_one_key()) {
            let help = "use profile = \"redisson-4.7\", \"redisson-4.3\", \"redisson-3.52\" or \"redisson-3.43\"";
            beside(place.protocol, "profile", lock, ("another profile", help));
        }
    }
    let Some(faults) = parts.faults else { return };
    if faults.late_ask > 0 {
        beside(&sections.faults, "late_ask", lock, ("an ask that is given up", "use late_ask = 0"));
    }
    if faults.pause_node > 0 {
        // Redisson releases a part whose ask has timed out, and with it a hold of an outer call.
        beside(&sections.faults, "pause_node", lock, ("a master that stands still", "use pause_node = 0"));
    }
}

/// What a watchdog does, one for each master.
fn note_renewals(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    for place in sections.places(parts).into_iter().filter(|place| !place.nobody(|own| own.renew_every.is_some())) {
        let Some(said) = place.said else { continue };
        if said.protocol.missed_renewal == MissedRenewal::TellHolder {
            let help = "use missed_renewal = \"lower-first\"";
            beside(place.protocol, "missed_renewal", lock, ("a watchdog that tells a holder", help));
        }
        let may_enter_again = parts.clients.is_some_and(|clients| clients.max_holds > 1);
        if said.protocol.partial_release == PartialRelease::Ignore && may_enter_again {
            // Its table counts otherwise, as soon as a release is answered with an error or finds nothing.
            let words = ("a nested call beside a watchdog of 3.43", "use max_holds = 1, or a newer profile");
            beside(&sections.clients, "max_holds", lock, words);
        }
        if said.protocol.renewal_timer == RenewalTimer::Multiplying {
            let help = "use renewal_timer = \"shared\"";
            beside(place.protocol, "renewal_timer", lock, ("timers that multiply", help));
        }
    }
    let stops = parts.clients.is_some_and(|clients| clients.stops_at == StopsAt::Validity);
    if stops && parts.somebody(|own| own.renew_every.is_some()) {
        let words = ("a holder that looks at its clock beside a watchdog", "remove `stops_at`, or `renew_every`");
        beside(&sections.clients, "stops_at", lock, words);
    }
}
