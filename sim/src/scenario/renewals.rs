//! Contradictions in how clients renew.

use lockstep_model::config::{ClientSettings, FailedRenewal, NetworkMode, RenewalTimer};
use lockstep_model::limits::MAX_RENEWAL_PERIOD;

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};
use super::places::SettingsPlace;

/// A release that follows a renewal which has failed.
fn note_release(parts: &Parts, place: &SettingsPlace<'_, '_>, sections: &Sections<'_>) {
    let frees = |own: &ClientSettings| own.protocol.failed_renewal == FailedRenewal::Release;
    if place.protocol.span_of("failed_renewal").is_none() || !place.said.as_ref().is_some_and(frees) {
        return;
    }
    if let Some(kind) = parts.lock
        && !kind.facts().value.is_there()
    {
        let reason = "a client that frees its lock when a renewal has failed is modelled for the plain lock only";
        Contradiction::not_yet(place.protocol, "failed_renewal", reason)
            .note("use failed_renewal = \"retry\", or lock = \"plain\"");
    }
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Atomic) {
        let reason = "in an atomic network that release is refused as the renewal was, and changes nothing";
        Contradiction::of(place.protocol, "failed_renewal", reason)
            .with(sections.network.span_of("mode"), "request and answer are one step")
            .note("use failed_renewal = \"retry\", or mode = \"split\" in [network]");
    }
}

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
        note_release(parts, &place, sections);
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
    if parts.nobody(multiply) {
        Contradiction::of(&sections.bounds, "renewal_timers", "no client has more than one renewal timer")
            .note("remove `renewal_timers`, or use renewal_timer = \"multiplying\" in [protocol]");
    }
}
