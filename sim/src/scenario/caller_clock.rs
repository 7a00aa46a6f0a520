//! A lock whose scripts are told what time it is where their caller runs: whose clock is wrong, and what is not modelled beside one yet.

use lockstep_model::config::NetworkMode;
use lockstep_model::locks::CallerClock;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let Some(kind) = parts.lock else { return };
    let lock = top.span_of("lock");
    let clock = kind.facts().caller_clock;
    if let CallerClock::Unread { why } = clock {
        let reason = "the scripts of this kind of lock look at the clock of no client";
        for table in sections.client.iter().flatten() {
            Contradiction::of(table, "clock_ahead", reason)
                .with(lock.clone(), format!("{}: {why}", kind.name()))
                .note(&format!("remove `clock_ahead`, or use {}", kinds_with(|facts| facts.caller_clock.is_read())));
        }
        return;
    }
    if parts.settings.is_some() && !parts.somebody(|own| own.clock_ahead == 0) {
        let mut tables = sections.client.iter().flatten();
        if let Some(first) = tables.next() {
            let reason = "every clock is ahead, and no client has one that is right";
            tables
                .fold(Contradiction::of(first, "clock_ahead", reason), |all, table| {
                    all.with(table.span_of("clock_ahead"), "this one is ahead as well")
                })
                .note("remove `clock_ahead` from the table of a client whose clock is right");
        }
    }
    if !clock.ends_holds() {
        return;
    }
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} together with a lock whose scripts are told the time is not modelled yet");
        Contradiction::not_yet(section, key, &reason)
            .with(lock.clone(), "requests of this kind of lock say what time it is where their caller runs")
            .note(help);
    };
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if parts.faults.is_some_and(|faults| faults.client_clock_jump > 0) {
        let help = "use client_clock_jump = 0, and clock_ahead in the table of a client whose clock is wrong";
        beside(&sections.faults, "client_clock_jump", "a client's clock that jumps", help);
    }
    if clock == CallerClock::Grants {
        note_leases(parts, sections, lock.as_ref());
    }
}

/// Where it is stored when a lock was granted, each caller judges that by its own lease.
fn note_leases(parts: &Parts, sections: &Sections<'_>, lock: Option<&core::ops::Range<usize>>) {
    let beside = |section: &Section<'_>, key: &str, help: &str| {
        let reason = "a lease other than that of [time], by which a client would judge the grants of the others, is not modelled yet";
        Contradiction::not_yet(section, key, reason)
            .with(lock.cloned(), "of this kind of lock it is stored when it was granted")
            .note(help);
    };
    if let Some(time) = parts.time
        && parts.somebody(|own| own.lease != time.lease)
    {
        for table in sections.client.iter().flatten() {
            beside(table, "lease", "remove `lease`, and say in [time] the one that all clients have");
        }
    }
    if parts.time.is_some_and(|time| time.named_lease.is_some()) {
        beside(&sections.time, "named_lease", "remove `named_lease`");
    }
}
