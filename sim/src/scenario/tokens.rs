//! A lock whose grants raise a counter of fencing tokens: what belongs to it, and what is not modelled beside one yet.

use lockstep_model::config::{ClientSettings, LockObjects, NetworkMode, Profile, Resource, TokenRule};
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(kind) = parts.lock else { return };
    let lock = top.span_of("lock");
    let Some(resource) = parts.resource.optional().or(None) else { return };
    let has_stored = resource.is_some_and(Resource::is_fenced_by_stored);
    if let Support::No { why } = kind.facts().tokens {
        let name = kind.name();
        let other = kinds_with(|facts| facts.tokens.is_there());
        let label = format!("{name}: {why}");
        if has_stored {
            Contradiction::of(&sections.resource, "fencing", &format!("a {name} lock stores no fencing tokens"))
                .with(lock.clone(), label.clone())
                .note(&format!("use fencing = \"ideal\", or {other}"));
        }
        for place in sections.places(parts) {
            for key in ["token", "no_ttl_answer"] {
                Contradiction::of(place.protocol, key, &format!("a {name} lock stores no fencing tokens"))
                    .with(lock.clone(), label.clone())
                    .note(&format!("remove `{key}`, or use {other}"));
            }
        }
    }
    if kind.facts().tokens.is_there() {
        note_unread(parts, sections, resource);
        note_not_yet(parts, sections, top);
    } else {
        note_unchecked(parts, sections, resource);
    }
}

/// What has an effect only where a resource checks stored tokens.
fn note_unchecked(parts: &Parts, sections: &Sections<'_>, resource: Option<Resource>) {
    let Some(kind) = parts.lock else { return };
    if resource.is_some_and(Resource::is_fenced_by_stored) {
        return;
    }
    let fencing = sections.resource.span_of("fencing");
    let keys = [(&sections.resource, "accepts"), (&sections.faults, "vanish_token"), (&sections.bounds, "tokens")];
    for (section, key) in keys {
        if key == "vanish_token" && parts.faults.is_none_or(|faults| faults.vanish_token == 0) {
            continue;
        }
        Contradiction::of(section, key, "no resource checks tokens that are stored in Redis")
            .with(fencing.clone(), "this is what the resource checks")
            .note(&match kind.facts().tokens {
                Support::Yes => format!("remove `{key}`, or use fencing = \"stored\" in [resource]"),
                Support::No { .. } => {
                    let other = kinds_with(|facts| facts.tokens.is_there());
                    format!("remove `{key}`, or use {other} and fencing = \"stored\" in [resource]")
                }
            });
    }
}

/// What has no effect although the lock issues tokens.
fn note_unread(parts: &Parts, sections: &Sections<'_>, resource: Option<Resource>) {
    note_unchecked(parts, sections, resource);
    for place in sections.places(parts) {
        if place.nobody(|own: &ClientSettings| own.protocol.token == TokenRule::WithGrant) {
            let reason = "no token comes with a grant, so none can be taken for one";
            Contradiction::of(place.protocol, "no_ttl_answer", reason)
                .with(place.protocol.span_of("token"), "the token is read later")
                .note("remove `no_ttl_answer`, or use token = \"with-grant\"");
        } else if parts.faults.is_some_and(|faults| faults.persist_key == 0) {
            Contradiction::of(place.protocol, "no_ttl_answer", "no lock loses its TTL")
                .note("remove `no_ttl_answer`, or let a lock lose its TTL: persist_key = 1 in [faults]");
        }
    }
}

fn note_not_yet(parts: &Parts, sections: &Sections<'_>, top: &Section<'_>) {
    let lock = top.span_of("lock");
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} together with a lock that issues tokens is not modelled yet");
        Contradiction::not_yet(section, key, &reason)
            .with(lock.clone(), "this kind of lock issues fencing tokens")
            .note(help);
    };
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if parts.somebody(|own| own.protocol.profile == Profile::Redisson315) {
        let help = "use a newer profile: Redisson has such a lock since 3.20";
        beside(&sections.protocol, "profile", "Redisson of 2021", help);
    }
    if parts.somebody(|own| !own.protocol.receipts) {
        beside(&sections.protocol, "receipts", "releases without receipts", "use receipts = true");
    }
    // A grant that too few replicas acknowledge stays, and the next ask of its client counts one hold more.
    let is_endless = |own: &ClientSettings| own.acquires.is_none() && own.protocol.token == TokenRule::WithGrant;
    if parts.cluster.is_some_and(|cluster| cluster.wait_for > 0) && parts.somebody(is_endless) {
        let help = "set acquires in [clients], or use token = \"read-later\" in [protocol]";
        beside(&sections.cluster, "wait_for", "a client that waits for replicas and asks without bound", help);
    }
    // A call that answers a token ignores the lease that it is given (docs/facts/family.md#fenced-lock).
    if !parts.somebody(|own| own.protocol.token == TokenRule::WithGrant) {
        return;
    }
    let help = "use token = \"read-later\" in [protocol]: the calls that answer a token ignore such a lease";
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        beside(&sections.time, "named_lease", "a lease of the first thread", help);
    }
    if parts.somebody(|own| own.reentry_lease.is_some()) {
        beside(&sections.time, "reentry_lease", "a lease of nested calls", help);
    }
    if parts.clients.is_some_and(|clients| clients.lock_objects == LockObjects::Shared) {
        beside(&sections.clients, "lock_objects", "a shared lock object", help);
    }
}
