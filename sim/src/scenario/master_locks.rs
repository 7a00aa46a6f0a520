//! Redisson's lock on several masters, each of which stores a lock of its own: what has no effect there, and what is not modelled beside one
//! yet.

use core::ops::Range;

use lockstep_model::config::{
    ClientSettings, MissedRenewal, NeededMasters, PartialRelease, Profile, RenewalTimer, StopsAt,
};

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};
use super::section::Section;

/// The profiles whose calls were read from runs of that version, and are single tries here.
const PROFILES: [Profile; 4] = [Profile::Redisson47, Profile::Redisson43, Profile::Redisson352, Profile::Redisson343];

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    note_useless(parts, sections, lock);
    note_calls(parts, top, sections, lock);
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

/// Which calls there are: single tries, of the versions of Redisson whose runs are known.
fn note_calls(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let waits = |own: &ClientSettings| own.wait_limit != Some(0);
    if parts.somebody(waits) {
        let words = ("a call that waits", "use wait_limit = 0 in [time]: tryLock(), which asks each master once");
        let places = sections.places(parts).into_iter();
        let said: Vec<_> = places
            .filter(|place| place.time.span_of("wait_limit").is_some() && place.said.as_ref().is_some_and(waits))
            .collect();
        for place in &said {
            beside(place.time, "wait_limit", lock, words);
        }
        if said.is_empty() {
            beside(top, "lock", lock, words);
        }
    }
    for place in sections.places(parts) {
        if place.said.is_some_and(|said: ClientSettings| !PROFILES.contains(&said.protocol.profile)) {
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
