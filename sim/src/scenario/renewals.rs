//! Contradictions in how clients renew.

use lockstep_model::config::{ClientSettings, FailedRenewal, NetworkMode, Profile, RenewalTimer, Resend, WaitAfter};
use lockstep_model::limits::MAX_RENEWAL_PERIOD;

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    let multiply = |own: &ClientSettings| own.protocol.renewal_timer == RenewalTimer::Multiplying;
    let is_split = parts.network.is_some_and(|network| network.mode == NetworkMode::Split);
    for place in sections.places(parts) {
        if place.nobody(|own| own.renew_every.is_some()) {
            for key in ["renewal_timer", "missed_renewal", "failed_renewal", "partial_release", "extend"] {
                Contradiction::of(place.protocol, key, "nothing is renewed: there is no watchdog")
                    .note(&format!("remove `{key}`, or add a watchdog: renew_every = 1 in [time]"));
            }
        }
        if place.said.as_ref().is_some_and(multiply) && is_split {
            let reason = "renewal timers that multiply on a split network are not modelled yet";
            Contradiction::not_yet(place.protocol, "renewal_timer", reason)
                .with(sections.network.span_of("mode"), "here each timer may have a renewal under way")
                .note("use renewal_timer = \"shared\", or mode = \"atomic\" in [network]");
        }
        let is_long = |own: &ClientSettings| own.renew_every.is_some_and(|period| period > MAX_RENEWAL_PERIOD);
        if place.said.as_ref().is_some_and(|own| multiply(own) && is_long(own)) {
            let reason = format!("renewal timers that multiply have a period of at most {MAX_RENEWAL_PERIOD} ticks");
            let timer = place.protocol.span_of("renewal_timer").or(sections.protocol.span_of("renewal_timer"));
            // One of the two is said there, whatever the common tables say.
            if place.time.span_of("renew_every").is_some() {
                Contradiction::not_yet(place.time, "renew_every", &reason).with(timer, "timers multiply")
            } else {
                let period = sections.time.span_of("renew_every");
                Contradiction::not_yet(place.protocol, "renewal_timer", &reason).with(period, "this period is longer")
            }
            .note("use renewal_timer = \"shared\", or a longer tick_ms");
        }
    }
    note_releases(parts, sections);
    if parts.nobody(multiply) {
        Contradiction::of(&sections.bounds, "renewal_timers", "no client has more than one renewal timer")
            .note("remove `renewal_timers`, or use renewal_timer = \"multiplying\" in [protocol]");
    }
}

/// A release that follows a renewal which has failed, in what each client has in the end, wherever that is said.
fn note_releases(parts: &Parts, sections: &Sections<'_>) {
    let (Some(settings), Some(network)) = (&parts.settings, parts.network) else { return };
    let is_atomic = network.mode == NetworkMode::Atomic;
    for (client, own) in settings.iter().enumerate() {
        let table = sections.client.iter().flatten().nth(client);
        let is_redlock = own.protocol.profile == Profile::Redlock4;
        let releases = own.protocol.failed_renewal == FailedRenewal::Release;
        let is_of_other_kind = parts.lock.is_some_and(|kind| !kind.facts().value.is_there());
        let (keys, reason, help): (&[&str], _, _) = if releases && own.renew_every.is_some() && is_of_other_kind {
            let reason = "a client that frees its lock when a renewal has failed is modelled for the plain lock only";
            (&["failed_renewal"], reason, "use failed_renewal = \"retry\", or lock = \"plain\"")
        } else if releases && own.renew_every.is_some() && is_atomic {
            (
                &["failed_renewal", "profile"],
                "a renewal that fails and the release behind it are two requests, and between them a server may change",
                "use mode = \"split\" in [network], or remove `renew_every`: redlock 4 extends a lock only where its application does",
            )
        } else if (releases || is_redlock) && own.calls.resend != Resend::None {
            (
                &["resend", "failed_renewal", "profile"],
                "a release behind each try that fails, beside requests that are sent again",
                "use resend = \"none\", or another profile: \"redlock-5\" keeps a lock that it cannot extend",
            )
        } else if releases && own.protocol.wait_after == WaitAfter::EveryCall {
            (
                &["wait_after"],
                "a WAIT behind each request of a client that frees its lock when a renewal has failed",
                "use wait_after = \"grants\"",
            )
        } else if is_redlock && !is_atomic && own.wait_limit != Some(0) {
            (
                &["wait_limit", "profile"],
                "the release behind each try of redlock 4 that fails, beside tries that carry the same value",
                "use wait_limit = 0 in [time], mode = \"atomic\" in [network] without `renew_every`, or profile = \"redlock-5\"",
            )
        } else {
            continue;
        };
        let tables = || table.into_iter().chain([&sections.protocol, &sections.time]);
        let said = keys.iter().find_map(|key| Some((tables().find(|table| table.span_of(key).is_some())?, *key)));
        if let Some((section, key)) = said {
            Contradiction::not_yet(section, key, reason).note(help);
            return;
        }
    }
}
