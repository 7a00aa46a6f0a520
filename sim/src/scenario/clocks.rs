//! Contradictions of clocks that jump, and of what depends on them.

use lockstep_model::config::{Fsync, NetworkMode};

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};

/// How far clocks jump, and what depends on those clocks.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    let (Some(time), Some(faults)) = (parts.time, parts.faults) else { return };
    let jumps = [("clock_jump", faults.clock_jump), ("client_clock_jump", faults.client_clock_jump)];
    for (key, _) in jumps.into_iter().filter(|(_, budget)| *budget > 0 && time.jump == 0) {
        Contradiction::of(&sections.faults, key, &format!("`{key}` has no effect, because the clock jumps by 0 ticks"))
            .with(sections.time.span_of("jump"), "the jump is 0 ticks")
            .note("set the length of the jump: jump = 4 in [time], or jump = -4 to jump back");
    }
    if faults.clock_jump == 0 && faults.client_clock_jump == 0 {
        Contradiction::of(&sections.time, "jump", "no clock jumps")
            .with(sections.faults.span_of("clock_jump"), "no clock of a node jumps")
            .note("remove `jump`, or let a clock jump: clock_jump = 1 in [faults]");
    }
    // Of callers of several masters no such jump is modelled, whatever they wait (`several_masters`).
    let is_modelled = parts.lock.is_none_or(|kind| !kind.facts().masters.are_several());
    if is_modelled && faults.client_clock_jump > 0 && parts.nobody(|own| own.wait_limit.is_some_and(|limit| limit > 0))
    {
        Contradiction::of(
            &sections.faults,
            "client_clock_jump",
            "clients use their wall clock for a wait limit only, and there is none",
        )
        .with(sections.time.span_of("wait_limit"), "a refused client does not wait")
        .note("use client_clock_jump = 0, or set a wait limit: wait_limit = 4 in [time]");
    }
    let Some(cluster) = parts.cluster else { return };
    if faults.clock_jump > 0 && cluster.wait_for > 0 {
        // By the replica's clock, a grant may be over before it arrives: would the replica still acknowledge it?
        Contradiction::not_yet(
            &sections.faults,
            "clock_jump",
            "`clock_jump` together with `wait_for` is not modelled yet",
        )
        .with(sections.cluster.span_of("wait_for"), "the caller of an acquire waits for a replica")
        .note("remove one of the two keys");
    }
    if faults.clock_jump > 0 && cluster.min_replicas > 0 {
        Contradiction::not_yet(
            &sections.faults,
            "clock_jump",
            "`clock_jump` together with `min_replicas` is not modelled yet",
        )
        .with(sections.cluster.span_of("min_replicas"), "the master measures the lag of replicas by its clock")
        .note("remove one of the two keys");
    }
    let is_late = cluster.fsync == Fsync::EverySecond || cluster.aof_rewrite_within > 0;
    // A server that stands still deletes nothing, and a key that was over is there again (tests/conformance/drawn.rs found it).
    if faults.clock_jump > 0 && time.jump < 0 && faults.pause_node > 0 {
        let reason = "`clock_jump` backwards together with `pause_node` is not modelled yet";
        Contradiction::not_yet(&sections.faults, "clock_jump", reason)
            .with(sections.faults.span_of("pause_node"), "what expires while a node stands still may be there again")
            .note("use a positive jump in [time], or pause_node = 0");
    }
    if faults.clock_jump > 0 && time.jump < 0 && is_late {
        let reason = "`clock_jump` backwards together with an fsync every second is not modelled yet";
        Contradiction::not_yet(&sections.faults, "clock_jump", reason)
            .with(sections.cluster.span_of("fsync"), "the time of the next fsync depends on that clock")
            .note("use a positive jump in [time], or another fsync");
    }
    let is_split = parts.network.is_some_and(|network| network.mode == NetworkMode::Split);
    let leaves_receipts =
        parts.lock.is_some_and(|kind| kind.facts().receipts.is_there()) && !parts.nobody(|own| own.protocol.receipts);
    if faults.vanish_receipts > 0 && parts.network.is_some() && !(is_split && leaves_receipts) {
        Contradiction::of(&sections.faults, "vanish_receipts", "there is no release receipt that could ever be read")
            .with(sections.network.span_of("mode"), "only in a split network a request may be sent again")
            .note("use vanish_receipts = 0, or mode = \"split\" in [network] and a lock and a profile with receipts");
    }
    if parts.config().is_some_and(|config| config.leaves_receipts()) {
        let keys = [("clock_jump", faults.clock_jump), ("vanish_key", faults.vanish_key)];
        for (key, _) in keys.into_iter().filter(|(_, budget)| *budget > 0) {
            let reason = format!("`{key}` together with release receipts in a split network is not modelled yet");
            Contradiction::not_yet(&sections.faults, key, &reason)
                .with(sections.network.span_of("mode"), "in a split network a request may be sent again")
                .note("use receipts = false in [protocol], or mode = \"atomic\" in [network]");
        }
    }
}
