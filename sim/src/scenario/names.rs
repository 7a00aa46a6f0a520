//! Contradictions of several lock names, and what is not modelled beside them yet.

use lockstep_model::config::{Bound, ClientSettings, Clients, LockObjects, NetworkMode, RenewalTimer, Ttls};
use lockstep_model::limits::{MAX_RENEWAL_PERIOD, MAX_WAITING_CLIENTS};
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(clients) = parts.clients else { return };
    // The names are those of the parts (`several_parts`).
    if parts.lock.is_some_and(|kind| kind.facts().parts.is_there()) {
        return note_batches(parts, sections);
    }
    note_batches(parts, sections);
    if clients.names == 1 {
        let reason = "a key of a wrong type, where there is one lock name";
        Contradiction::not_yet(&sections.faults, "overwrite_key", reason)
            .with(sections.clients.span_of("names"), "there is one lock name")
            .note("use overwrite_key = 0, or two lock names: names = 2 and threads = 2 in [clients]");
        return;
    }
    if let Some(kind) = parts.lock
        && let Support::No { why } = kind.facts().names
    {
        let name = kind.name();
        Contradiction::of(&sections.clients, "names", &format!("no renewal carries several {name} locks"))
            .with(top.span_of("lock"), format!("{name}: {why}"))
            .note(&format!("use names = 1, or {}", kinds_with(|facts| facts.names.is_there())));
    }
    if clients.threads != clients.names {
        Contradiction::of(&sections.clients, "names", "each thread of a client uses a lock name of its own")
            .with(sections.clients.span_of("threads"), format!("there are {} threads", clients.threads))
            .note("use as many threads as names: threads = 2");
    }
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        Contradiction::not_yet(&sections.clients, "names", "several lock names on a split network")
            .with(sections.network.span_of("mode"), "requests are steps of their own")
            .note("use names = 1, or mode = \"atomic\" in [network]");
    }
    if parts.settings.as_ref().is_some_and(|all| all.iter().any(|own| own.wait_limit != Some(0))) {
        Contradiction::not_yet(&sections.clients, "names", "several lock names, where a refused client waits")
            .with(sections.time.span_of("wait_limit"), "this is how long it waits")
            .note("use names = 1, or wait_limit = 0 in [time]");
    }
    note_replicas(parts, &clients, sections);
    if clients.lock_objects == LockObjects::Shared {
        Contradiction::not_yet(
            &sections.clients,
            "lock_objects",
            "lock objects that threads share, where each thread has a lock of its own",
        )
        .with(sections.clients.span_of("names"), "there are several locks")
        .note("remove `lock_objects`, or use names = 1");
    }
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        Contradiction::not_yet(&sections.time, "named_lease", "a lease of the first thread beside several lock names")
            .with(sections.clients.span_of("names"), "there are several locks")
            .note("remove `named_lease`, or use names = 1 in [clients]");
    }
    if let Some(span) = sections.resource.span() {
        Contradiction::not_yet(&sections.clients, "names", "several lock names, and the resource that they guard")
            .with(Some(span), "this is the resource of one lock")
            .note("use names = 1, or remove [resource]");
    }
    if let Some(faults) = parts.faults {
        let budgets = [
            ("force_release", faults.force_release),
            ("vanish_key", faults.vanish_key),
            ("persist_key", faults.persist_key),
            ("clock_jump", faults.clock_jump),
        ];
        let reason = "a fault that does not say which of several locks it is about";
        note_faults(&budgets, reason, "names = 1 in [clients]", sections);
    }
}

/// Several lock names beside replicas: which threads wait for an effect stands where otherwise its age does, and no node is replaced.
fn note_replicas(parts: &Parts, clients: &Clients, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster.filter(|cluster| cluster.replicas > 0) else { return };
    if !matches!(cluster.lag, Bound::Any | Bound::Ticks(0)) {
        Contradiction::not_yet(&sections.cluster, "lag", "a bounded lag beside several lock names")
            .with(sections.clients.span_of("names"), "there are several locks")
            .note("use lag = \"any\" or lag = 0, or names = 1 in [clients]");
    }
    if cluster.ttls == Ttls::Relative {
        Contradiction::not_yet(
            &sections.cluster,
            "ttls",
            "TTLs that count from their arrival beside several lock names",
        )
        .with(sections.clients.span_of("names"), "there are several locks")
        .note("use ttls = \"absolute\", or names = 1 in [clients]");
    }
    if clients.count > MAX_WAITING_CLIENTS {
        let reason =
            format!("several lock names on a master with replicas, and more than {MAX_WAITING_CLIENTS} clients");
        Contradiction::not_yet(&sections.clients, "count", &reason)
            .with(sections.cluster.span_of("replicas"), "there are replicas")
            .note(&format!("use count = {MAX_WAITING_CLIENTS} or fewer, or replicas = 0 in [cluster]"));
    }
    let Some(faults) = parts.faults else { return };
    let budgets = [
        ("crash_node", faults.crash_node),
        ("kill_node", faults.kill_node),
        ("shutdown_node", faults.shutdown_node),
        ("restart_node", faults.restart_node),
        ("pause_node", faults.pause_node),
        ("cut_link", faults.cut_link),
        ("break_link", faults.break_link),
        ("refuse_writes", faults.refuse_writes),
        ("hand_over", faults.hand_over),
    ];
    let reason = "a fault of a node or a link beside several lock names and replicas";
    note_faults(&budgets, reason, "replicas = 0 in [cluster], or names = 1 in [clients]", sections);
}

/// Each of these faults that the scenario has is not modelled beside several lock names. `otherwise`: what to change, if not the
/// fault.
fn note_faults(budgets: &[(&str, u8)], reason: &str, otherwise: &str, sections: &Sections<'_>) {
    for (key, _) in budgets.iter().filter(|(_, budget)| *budget > 0) {
        Contradiction::not_yet(&sections.faults, key, &format!("`{key}`, {reason}"))
            .with(sections.clients.span_of("names"), "there are several locks")
            .note(&format!("use {key} = 0, or {otherwise}"));
    }
}

/// How many locks one renewal carries.
fn note_batches(parts: &Parts, sections: &Sections<'_>) {
    let Some(clients) = parts.clients else { return };
    let key = "renewal_batch";
    for place in sections.places(parts) {
        if place.nobody(|own| own.renew_every.is_some()) {
            Contradiction::of(place.protocol, key, "nothing is renewed: there is no watchdog")
                .note("remove `renewal_batch`, or add a watchdog: renew_every = 1 in [time]");
            continue;
        }
        if clients.names == 1 {
            Contradiction::of(place.protocol, key, "each client has one lock, so a renewal carries no more")
                .with(sections.clients.span_of("names"), "there is one lock name")
                .note("remove `renewal_batch`, or use two lock names: names = 2 and threads = 2 in [clients]");
            continue;
        }
        let has = |timer| move |own: &ClientSettings| own.protocol.renewal_timer == timer;
        let timer = place.protocol.span_of("renewal_timer").or(place.protocol.span_of("profile"));
        if place.said.as_ref().is_some_and(has(RenewalTimer::PerLock)) {
            Contradiction::of(place.protocol, key, "each lock has a timer and a renewal of its own")
                .with(timer.clone(), "one timer per lock")
                .note("remove `renewal_batch`, or use renewal_timer = \"shared\"");
        }
        let has_rounds = place.said.as_ref().is_some_and(|own| own.protocol.renewal_batch < clients.names);
        if place.said.as_ref().is_some_and(has(RenewalTimer::Multiplying)) && has_rounds {
            let reason = "several timers, each of which sends one renewal after the other";
            Contradiction::not_yet(place.protocol, key, reason)
                .with(timer.clone(), "timers multiply")
                .note("use a larger renewal_batch, or renewal_timer = \"shared\"");
        }
        let is_long = |own: &ClientSettings| own.renew_every.is_some_and(|period| period > MAX_RENEWAL_PERIOD);
        if place.said.as_ref().is_some_and(|own| has(RenewalTimer::PerLock)(own) && is_long(own)) {
            let reason =
                format!("with a timer per lock, several locks have a period of at most {MAX_RENEWAL_PERIOD} ticks");
            Contradiction::not_yet(&sections.clients, "names", &reason)
                .with(
                    place.time.span_of("renew_every").or(sections.time.span_of("renew_every")),
                    "this period is longer",
                )
                .note("use names = 1, renewal_timer = \"shared\", or a longer tick_ms");
        }
    }
}
