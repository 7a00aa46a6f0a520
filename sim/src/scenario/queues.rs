//! A lock with a queue: how long its waiters stand in it, and what is not modelled beside one yet.

use lockstep_model::config::{NetworkMode, Profile, SubscribeTo};
use lockstep_model::limits::MAX_DEADLINE_TICKS;
use lockstep_model::locks::Support;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::{Entry, Section};

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let (Some(kind), Some(time)) = (parts.lock, parts.time) else { return };
    let lock = top.span_of("lock");
    if let Support::No { why } = kind.facts().queue {
        let name = kind.name();
        for place in sections.places(parts) {
            let reason = format!("the waiters of a {name} lock do not queue");
            Contradiction::of(place.protocol, "interrupted_waiter", &reason)
                .with(lock.clone(), format!("{name}: {why}"))
                .note(&format!("remove `interrupted_waiter`, or use {}", kinds_with(|facts| facts.queue.is_there())));
        }
        Contradiction::of(&sections.time, "queue_wait", &format!("the waiters of a {name} lock do not queue"))
            .with(lock, format!("{name}: {why}"))
            .note(&format!("remove `queue_wait`, or use {}", kinds_with(|facts| facts.queue.is_there())));
        return;
    }
    if time.queue_wait.is_none() && parts.somebody(|own| own.wait_limit.is_none()) {
        let example = "`queue_wait = 5`, the number of ticks, or `queue_wait = \"50s\"`, for which somebody queues who waits \
                       without a limit of its own (Redisson: fairLockWaitTimeout)";
        sections.time.require("queue_wait", Entry::<u8>::Absent, example);
    }
    note_interrupted_waiters(parts, sections);
    note_long_queues(parts, sections);
    note_not_yet(parts, sections, lock.as_ref());
}

/// What a waiter does that is interrupted.
fn note_interrupted_waiters(parts: &Parts, sections: &Sections<'_>) {
    for place in sections.places(parts) {
        if parts.faults.is_some_and(|faults| faults.interrupt == 0) {
            Contradiction::of(
                place.protocol,
                "interrupted_waiter",
                "no thread is interrupted, so `interrupted_waiter` has no effect",
            )
            .with(sections.faults.span_of("interrupt"), "no thread is interrupted")
            .note("remove `interrupted_waiter`, or let a thread be interrupted: interrupt = 1 in [faults]");
        } else if place.nobody(|own| own.wait_limit != Some(0)) {
            Contradiction::of(place.protocol, "interrupted_waiter", "nobody waits: `interrupted_waiter` has no effect")
                .with(place.time.span_of("wait_limit"), "a refused caller does not wait")
                .note("remove `interrupted_waiter`, or use a longer wait_limit in [time]");
        }
    }
}

/// Deadlines add up, each to that of the one before.
fn note_long_queues(parts: &Parts, sections: &Sections<'_>) {
    let (Some(settings), Some(time)) = (&parts.settings, parts.time) else { return };
    let longest = |of: fn(&lockstep_model::config::ClientSettings) -> u8| settings.iter().map(of).max().unwrap_or(0);
    let wait = longest(|own| own.wait_limit.unwrap_or(0)).max(time.queue_wait.unwrap_or(0));
    let clock_ahead = longest(|own| own.clock_ahead);
    let all = u32::from(longest(|own| own.lease))
        + u32::from(clock_ahead)
        + u32::from(wait) * u32::try_from(settings.len()).unwrap_or(u32::MAX);
    if all > u32::from(MAX_DEADLINE_TICKS) {
        let (section, key) = if sections.time.span_of("queue_wait").is_some() {
            (&sections.time, "queue_wait")
        } else {
            (&sections.time, "wait_limit")
        };
        let clock = if clock_ahead > 0 { ", and what a clock is ahead" } else { "" };
        let reason = format!(
            "the last one in the queue may have its deadline {all} ticks away: a lease, and the wait of everybody{clock}"
        );
        Contradiction::not_yet(section, key, &reason)
            .note(&format!(
                "at most {MAX_DEADLINE_TICKS} ticks of {} s are possible: choose a shorter `queue_wait` or `wait_limit`, fewer clients, or a \
                 longer tick, for example lease = \"60s\" with renew_every = \"20s\" (a tick is the longest time that all \
                 others are a multiple of)",
                f64::from(time.tick_ms) / 1000.0
            ));
    }
}

fn note_not_yet(parts: &Parts, sections: &Sections<'_>, lock: Option<&core::ops::Range<usize>>) {
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        Contradiction::not_yet(section, key, &format!("{what} together with a queue is not modelled yet"))
            .with(lock.cloned(), "this kind of lock has a queue")
            .note(help);
    };
    if parts.clients.is_some_and(|clients| clients.threads > 1) {
        beside(
            &sections.clients,
            "threads",
            "a client of several threads",
            "use threads = 1, and more clients instead",
        );
    }
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if parts.somebody(|own| own.protocol.subscribe_to == SubscribeTo::Replica) {
        beside(&sections.protocol, "subscribe_to", "a subscription on a replica", "use subscribe_to = \"master\"");
    }
    if parts.somebody(|own| own.protocol.profile == Profile::Redisson315) {
        beside(
            &sections.protocol,
            "profile",
            "Redisson of 2021, which answers whoever queues already in another way,",
            "use a newer profile; receipts = false if that is what is meant",
        );
    }
    let Some(faults) = parts.faults else { return };
    if faults.persist_key > 0 {
        beside(&sections.faults, "persist_key", "a lock that loses its TTL", "use persist_key = 0");
    }
    if faults.force_release > 0 && parts.somebody(|own| own.clock_ahead > 0) {
        let help = "use force_release = 0, or remove `clock_ahead`";
        beside(&sections.faults, "force_release", "a forced release by a client whose clock may be ahead,", help);
    }
    if faults.client_clock_jump > 0 {
        beside(
            &sections.faults,
            "client_clock_jump",
            "a client's clock that jumps",
            "use client_clock_jump = 0, and clock_ahead in the table of a client whose clock is wrong",
        );
    }
}
