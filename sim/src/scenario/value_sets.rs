//! A lock over several values: which ones each client names, and what is not modelled beside one yet.

use lockstep_model::config::{ClientSettings, LockObjects, Profile, SubscribeTo};
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(kind) = parts.lock else { return };
    let lock = top.span_of("lock");
    if let Support::No { why } = kind.facts().value_sets {
        let other = kinds_with(|facts| facts.value_sets.is_there());
        for table in sections.client.iter().flatten() {
            Contradiction::of(table, "values", "a client of this kind of lock locks its name as a whole")
                .with(lock.clone(), format!("{}: {why}", kind.name()))
                .note(&format!("remove `values`, or use {other}"));
        }
        return;
    }
    note_not_yet(parts, top, sections);
}

fn note_not_yet(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} together with a lock over several values is not modelled yet");
        Contradiction::not_yet(section, key, &reason)
            .with(top.span_of("lock").filter(|_| key != "lock"), "this kind of lock has several values")
            .note(help);
    };
    if parts.clients.is_some_and(|clients| clients.threads > 1) {
        let help = "use threads = 1, and more clients instead";
        beside(&sections.clients, "threads", "a client of several threads", help);
    }
    if parts.clients.is_some_and(|clients| clients.lock_objects == LockObjects::Shared) {
        beside(&sections.clients, "lock_objects", "a shared lock object", "use lock_objects = \"per-call\"");
    }
    if parts.cluster.is_some_and(|cluster| cluster.wait_for > 0) {
        beside(&sections.cluster, "wait_for", "a client that waits for replicas", "use wait_for = 0");
    }
    if parts.resource.optional().or(None).is_some_and(|resource| resource.is_some())
        && let Some(span) = sections.resource.span()
    {
        let problem = super::error::Problem::at(
            super::code::Code::NotModelled,
            span,
            "a [resource] together with a lock over several values is not modelled yet",
        );
        sections
            .resource
            .note::<()>(problem.help("remove the table [resource]: each value would guard one of its own"));
    }
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        beside(&sections.time, "named_lease", "a lease of the first thread", "remove `named_lease`");
    }
    for place in sections.places(parts) {
        let is_said = |is_so: fn(&ClientSettings) -> bool| place.said.is_some_and(|said| is_so(&said));
        if is_said(|own| own.reentry_lease.is_some()) {
            beside(place.time, "reentry_lease", "a lease of nested calls", "remove `reentry_lease`");
        }
        if is_said(|own| !own.protocol.receipts) {
            beside(place.protocol, "receipts", "releases without receipts", "use receipts = true");
        }
        if is_said(|own| own.protocol.subscribe_to == SubscribeTo::Replica) {
            let help = "use subscribe_to = \"master\"";
            beside(place.protocol, "subscribe_to", "a subscription on a replica", help);
        }
        if is_said(|own| matches!(own.protocol.profile, Profile::Redisson315 | Profile::Redisson343)) {
            let help = "use a newer profile: 3.15 has no such lock, and 3.43 renews it in another way";
            beside(place.protocol, "profile", "Redisson before 3.52", help);
        }
    }
    let Some(faults) = parts.faults else { return };
    if faults.interrupt > 0 {
        beside(&sections.faults, "interrupt", "an interrupted caller", "use interrupt = 0");
    }
}
