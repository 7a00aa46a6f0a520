//! Contradictions in how an application calls: which calls name a lease, what lock objects remember of it, and what an interrupt
//! does to a waiter.

use lockstep_model::config::{ClientSettings, InterruptedWait, LockObjects, StopsAt};
use lockstep_model::locks::Facts;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    let (Some(time), Some(clients)) = (parts.time, parts.clients) else { return };
    let (time_table, clients_table) = (&sections.time, &sections.clients);
    let has_no_watchdog = |own: &ClientSettings| own.renew_every.is_none();
    if clients.threads == 1 {
        Contradiction::of(
            time_table,
            "named_lease",
            "the first thread is the only one: every call would name this lease",
        )
        .note("remove `named_lease` and `renew_every`, or use threads = 2 in [clients]");
    }
    if parts.settings.is_some() && !parts.nobody(has_no_watchdog) {
        Contradiction::of(time_table, "named_lease", "without a watchdog every call names its lease")
            .note("remove `named_lease`, or give every client a watchdog: renew_every = 1 in [time]");
        Contradiction::not_yet(
            clients_table,
            "lock_objects",
            "shared lock objects without a watchdog are not modelled yet",
        )
        .note("remove `lock_objects`, or give every client a watchdog: renew_every = 1 in [time]");
    }
    let is_nested = |own: &ClientSettings| own.reentry_lease.is_some();
    if parts.settings.is_some() && !parts.nobody(is_nested) {
        Contradiction::not_yet(
            time_table,
            "named_lease",
            "`named_lease` together with `reentry_lease` is not modelled yet",
        )
        .with(time_table.span_of("reentry_lease"), "a lock object would remember one of two leases")
        .note("remove one of the two keys");
    }
    if clients.lock_objects == LockObjects::Shared && time.named_lease.is_none() && parts.nobody(is_nested) {
        Contradiction::of(clients_table, "lock_objects", "no call names a lease that a lock object could remember")
            .note("remove `lock_objects`, or let the first thread name a lease: named_lease = 1 in [time]");
    }
    if clients.lock_objects == LockObjects::PerCall {
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, "remembered_lease", "each call has a lock object of its own")
                .note("remove `remembered_lease`, or use lock_objects = \"shared\" in [clients]");
        }
    }
}

/// Records the keys beside which a caller that looks at its own clock is not modelled yet.
pub(super) fn note_validity(parts: &Parts, sections: &Sections<'_>) {
    const WHICH_LEASE: &str = "a caller would have to know which of two leases its grant has";
    let (Some(time), Some(clients)) = (parts.time, parts.clients) else { return };
    if clients.stops_at == StopsAt::Never {
        return;
    }
    let others = [
        (&sections.time, "named_lease", time.named_lease.is_some(), WHICH_LEASE),
        (&sections.time, "reentry_lease", parts.somebody(|own| own.reentry_lease.is_some()), WHICH_LEASE),
        (&sections.clients, "hold_for_ever", clients.hold_for_ever, "a caller that stops must release"),
    ];
    for (table, other, _, why) in others.into_iter().filter(|(_, _, is_there, _)| *is_there) {
        let reason = format!("stops_at = \"validity\" together with {other} is not modelled yet");
        Contradiction::not_yet(&sections.clients, "stops_at", &reason)
            .with(table.span_of(other), why)
            .note(&format!("remove `stops_at`, or {other}"));
    }
}

/// Records in what nobody swallows an interrupt.
pub(super) fn note_interrupts(parts: &Parts, sections: &Sections<'_>) {
    let (Some(clients), Some(faults), Some(cluster), Some(lock)) =
        (parts.clients, parts.faults, parts.cluster, parts.lock)
    else {
        return;
    };
    let table = &sections.clients;
    // A lock without a TTL is waited for in another way, and a clock that goes back makes sleeps longer than a lease.
    let others = [
        ("wait_for", cluster.wait_for > 0),
        ("persist_key", faults.persist_key > 0),
        ("clock_jump", faults.clock_jump > 0),
        ("client_clock_jump", faults.client_clock_jump > 0),
    ];
    let of = |reason: &str| Contradiction::of(table, "interrupted_wait", reason);
    if faults.interrupt == 0 {
        of("no thread is interrupted").note("remove `interrupted_wait`, or use interrupt = 1 in [faults]");
    } else if !lock.facts().publishes() {
        let kinds = kinds_with(Facts::publishes);
        of("its waiters poll, and no call of theirs swallows an interrupt")
            .note(&format!("remove `interrupted_wait`, or use {kinds}"));
    } else if parts.nobody(|own| own.wait_limit.is_none()) {
        of("only a call without a wait limit swallows an interrupt")
            .note("remove `interrupted_wait`, or leave out wait_limit in [time]");
    } else if clients.interrupted_wait == InterruptedWait::Swallow
        && let Some((other, _)) = others.into_iter().find(|(_, is_there)| *is_there)
    {
        let reason = format!("interrupted_wait = \"swallow\" together with {other} is not modelled yet");
        Contradiction::not_yet(table, "interrupted_wait", &reason)
            .note(&format!("remove `interrupted_wait`, or {other}"));
    }
}
