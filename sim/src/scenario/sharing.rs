//! A lock with readers and a writer: what belongs to it, and what is not modelled beside one yet.

use core::ops::Range;

use lockstep_model::config::{
    ClientRole, ClientSettings, Discovery, LockObjects, MAX_TICKS, NetworkMode, RenewalTimer, SubscribeTo, Ttls,
};
use lockstep_model::limits::{MAX_READ_HOLDS, MAX_RENEWAL_PERIOD, MAX_SHARED_MESSAGES};
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Ticks that the TTL of a lock may have: each entry of a writer adds its lease.
const MOST_TTL: u32 = 4 * MAX_TICKS as u32;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let (Some(kind), Some(clients)) = (parts.lock, parts.clients) else { return };
    let lock = top.span_of("lock");
    if let Support::No { why } = kind.facts().sharing {
        let label = format!("{}: {why}", kind.name());
        let note = |key: &str| format!("remove `{key}`, or use {}", kinds_with(|facts| facts.sharing.is_there()));
        for table in sections.client.iter().flatten() {
            Contradiction::of(table, "role", "clients of this kind of lock have no role")
                .with(lock.clone(), label.clone())
                .note(&note("role"));
        }
        for place in sections.places(parts) {
            for key in ["read_release", "read_renewal", "downgrade"] {
                Contradiction::of(place.protocol, key, "this kind of lock has no readers")
                    .with(lock.clone(), label.clone())
                    .note(&note(key));
            }
        }
        return;
    }
    if clients.threads != 2 {
        let reason = "a client of such a lock has two threads: thread 1 writes and thread 2 reads. Together they are one thread of \
                      an application, which does both";
        let section = if sections.clients.span_of("threads").is_some() { &sections.clients } else { top };
        let key = if sections.clients.span_of("threads").is_some() { "threads" } else { "lock" };
        Contradiction::of(section, key, reason).note("use threads = 2 in [clients]");
    }
    for place in sections.places(parts) {
        if place.nobody(|own: &ClientSettings| own.renew_every.is_some()) {
            for key in ["read_release", "read_renewal"] {
                Contradiction::of(place.protocol, key, "nothing is renewed: there is no watchdog")
                    .note(&format!("remove `{key}`, or add a watchdog: renew_every = 1 in [time]"));
            }
        }
    }
    note_roles(parts, sections);
    note_holds(parts, sections);
    note_not_yet(parts, sections, lock.as_ref());
}

/// What has an effect only where somebody writes, or does both.
fn note_roles(parts: &Parts, sections: &Sections<'_>) {
    let (Some(settings), Some(faults)) = (&parts.settings, parts.faults) else { return };
    let nobody = |role: fn(ClientRole) -> bool| !settings.iter().any(|own| role(own.role));
    if nobody(|role| role != ClientRole::Reader) && faults.force_release > 0 {
        let reason = "a forced release is that of the write lock, and nobody writes: it frees nothing";
        Contradiction::of(&sections.faults, "force_release", reason)
            .note("use force_release = 0, or let a client write: role = \"both\" or \"writer\" in a [[client]] table");
    }
    if nobody(|role| role == ClientRole::Both) {
        for place in sections.places(parts) {
            Contradiction::of(
                place.protocol,
                "read_release",
                "no client has both locks, so none reads inside its write lock",
            )
            .note("remove `read_release`, or let a client do both: role = \"both\" in its [[client]] table");
        }
    }
}

/// Each hold of a reader has a TTL of its own, and those of a writer add up. Whoever could not release leaves its holds behind.
fn note_holds(parts: &Parts, sections: &Sections<'_>) {
    let (Some(clients), Some(faults), Some(settings)) = (parts.clients, parts.faults, &parts.settings) else { return };
    let holds = faults.most_holds(clients.max_holds);
    let some = |of: fn(ClientRole) -> bool| settings.iter().any(|own| of(own.role));
    if holds > u32::from(MAX_READ_HOLDS) && some(|role| role != ClientRole::Writer) {
        let reason = format!("one reader could have {holds} holds on a node, counting those that it could not release");
        Contradiction::not_yet(&sections.clients, "max_holds", &reason)
            .note(&format!("at most {MAX_READ_HOLDS} are possible: lower `max_holds`"));
        let keys = [
            "pause_node",
            "crash_node",
            "kill_node",
            "shutdown_node",
            "restart_node",
            "cut_link",
            "break_link",
            "refuse_writes",
            "hand_over",
            "interrupt",
        ];
        if sections.clients.span_of("max_holds").is_none()
            && let Some(key) = keys.into_iter().find(|key| sections.faults.span_of(key).is_some())
        {
            Contradiction::not_yet(&sections.faults, key, &reason)
                .note(&format!("at most {MAX_READ_HOLDS} are possible: lower this budget, or that of another fault"));
        }
    }
    let longest = settings.iter().map(|own| u32::from(own.lease)).max().unwrap_or(0);
    if longest * holds > MOST_TTL && some(|role| role != ClientRole::Reader) {
        let reason = format!("a writer that enters again adds its lease: {} ticks in all", longest * holds);
        Contradiction::not_yet(&sections.time, "lease", &reason)
            .note(&format!("at most {MOST_TTL} ticks are possible: use a shorter lease, or a smaller max_holds"));
    }
}

fn note_not_yet(parts: &Parts, sections: &Sections<'_>, lock: Option<&Range<usize>>) {
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        Contradiction::not_yet(
            section,
            key,
            &format!("{what} together with a lock that has readers is not modelled yet"),
        )
        .with(lock.cloned(), "this kind of lock has readers")
        .note(help);
    };
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if let Some(span) = sections.resource.span() {
        let reason = "a [resource] together with a lock that has readers is not modelled yet";
        Contradiction::not_yet(&sections.clients, "threads", reason)
            .with(Some(span), "this is the resource")
            .note("remove [resource]");
    }
    if parts.somebody(|own| own.protocol.subscribe_to == SubscribeTo::Replica) {
        beside(&sections.protocol, "subscribe_to", "a subscription on a replica", "use subscribe_to = \"master\"");
    }
    if parts.somebody(|own| !own.protocol.receipts) {
        let key = if sections.protocol.span_of("receipts").is_some() { "receipts" } else { "profile" };
        beside(&sections.protocol, key, "releases without receipts", "use receipts = true, or a newer profile");
    }
    let multiplies = |own: &ClientSettings| own.protocol.renewal_timer == RenewalTimer::Multiplying;
    if parts.somebody(multiplies) {
        beside(&sections.protocol, "renewal_timer", "timers that multiply", "use renewal_timer = \"shared\"");
    }
    let is_long = |own: &ClientSettings| own.renew_every.is_some_and(|period| period > MAX_RENEWAL_PERIOD);
    if parts.somebody(is_long) {
        let what = format!("a period of more than {MAX_RENEWAL_PERIOD} ticks");
        beside(&sections.time, "renew_every", &what, "use a longer tick_ms");
    }
    if let Some(clients) = parts.clients {
        if clients.lock_objects == LockObjects::Shared {
            beside(&sections.clients, "lock_objects", "a shared lock object", "remove `lock_objects`");
        }
        if clients.hold_for_ever {
            beside(&sections.clients, "hold_for_ever", "a holder that keeps it for ever", "remove `hold_for_ever`");
        }
    }
    if let Some(time) = parts.time {
        if time.named_lease.is_some() {
            beside(&sections.time, "named_lease", "a lease of the first thread", "remove `named_lease`");
        }
        if parts.somebody(|own| own.reentry_lease.is_some()) {
            beside(&sections.time, "reentry_lease", "a lease of nested calls", "remove `reentry_lease`");
        }
    }
    if parts.bounds.is_some_and(|bounds| bounds.messages.is_some_and(|most| most > MAX_SHARED_MESSAGES)) {
        let help = format!("at most {MAX_SHARED_MESSAGES} are possible");
        beside(&sections.bounds, "messages", "more messages", &help);
    }
    if let Some(cluster) = parts.cluster {
        if cluster.wait_for > 0 {
            beside(&sections.cluster, "wait_for", "a client that waits for replicas", "use wait_for = 0");
        }
        // Each time it goes to and fro it may leave a hold behind, without bound.
        if cluster.discovery == Discovery::AnyMaster {
            beside(
                &sections.cluster,
                "discovery",
                "a client that goes back to an old master",
                "use discovery = \"new-master\"",
            );
        }
        if cluster.replicas > 0 && cluster.ttls == Ttls::Relative {
            beside(
                &sections.cluster,
                "ttls",
                "TTLs that count from their arrival",
                "use ttls = \"absolute\": Redis 7.0 and newer",
            );
        }
    }
    let Some(faults) = parts.faults else { return };
    for (key, budget) in [("crash_thread", faults.crash_thread), ("persist_key", faults.persist_key)] {
        if budget > 0 {
            beside(&sections.faults, key, &format!("`{key}`"), &format!("use {key} = 0"));
        }
    }
}
