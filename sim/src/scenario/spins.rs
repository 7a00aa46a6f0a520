//! A lock whose waiters spin: what a refused call leaves behind, and what is not modelled beside one yet.

use lockstep_model::config::{ClientSettings, LockObjects, NetworkMode, Profile};
use lockstep_model::locks::Facts;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    const KEY: &str = "refused_lease";
    let (Some(kind), Some(clients)) = (parts.lock, parts.clients) else { return };
    let lock = top.span_of("lock");
    let facts = kind.facts();
    for place in sections.places(parts) {
        if !facts.asks_by_object_lease() {
            let kinds = kinds_with(Facts::asks_by_object_lease);
            Contradiction::of(place.protocol, KEY, "a call that is refused leaves its lock object as it is")
                .with(lock.clone(), format!("{}: an object remembers the lease of a grant", kind.name()))
                .note(&format!("remove `{KEY}`, or use {kinds}"));
        } else if clients.lock_objects == LockObjects::PerCall {
            Contradiction::of(place.protocol, KEY, "each call has a lock object of its own")
                .note(&format!("remove `{KEY}`, or use lock_objects = \"shared\" in [clients]"));
        }
    }
    if !facts.spins() {
        return;
    }
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        Contradiction::not_yet(section, key, &format!("{what} together with a lock that spins is not modelled yet"))
            .with(lock.clone(), "the clients of this kind of lock spin")
            .note(help);
    };
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    let is_limited = |own: &ClientSettings| own.wait_limit.is_some_and(|limit| limit > 0);
    if parts.somebody(|own| own.protocol.profile == Profile::Redisson315 && is_limited(own)) {
        for place in sections.places(parts) {
            beside(
                place.protocol,
                "profile",
                "a wait limit of Redisson of 2021, whose last ask may be granted and told as a refusal,",
                "use a newer profile, or no wait_limit",
            );
        }
    }
}
