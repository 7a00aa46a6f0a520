//! Values that are valid alone but contradict each other.

use lockstep_model::config::{Fsync, NetworkMode, PromoteRule, WaitRule};
use lockstep_model::locks::{Facts, Support};

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;

/// A shorter tick could end before the fsync that runs every second.
const MIN_TICK_MS_EVERYSEC: u32 = 2000;

/// Records every contradicting pair. Parts that are wrong in themselves are skipped.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(time) = parts.time
        // For a renewal that is due exactly when the lease ends, the key still exists, so equal values are allowed.
        && time.renew_every.is_some_and(|period| period > time.lease)
    {
        Contradiction::of(&sections.time, "renew_every", "the lease would run out before its first renewal")
            .with(sections.time.span_of("lease"), "the lease")
            .note("renew at a third of the lease, or leave `renew_every` out: then there is no watchdog");
    }
    if let (Some(time), Some(clients)) = (parts.time, parts.clients)
        && clients.hold_for_ever
        && time.hold_at_most.is_some()
    {
        Contradiction::of(&sections.clients, "hold_for_ever", "a holder can't both release in time and hold for ever")
            .with(sections.time.span_of("hold_at_most"), "the latest release")
            .note("leave one of the two out");
    }
    if let (Some(kind), Some(clients)) = (parts.lock, parts.clients)
        && let Support::No { why } = kind.facts().reentry
        && clients.max_holds > 1
    {
        let name = kind.name();
        Contradiction::of(&sections.clients, "max_holds", &format!("a {name} lock cannot be re-entered"))
            .with(lock.clone(), format!("{name}: {why}"))
            .note(&format!("use max_holds = 1, or {}", kinds_with(|facts| facts.reentry.is_there())));
    }
    if let (Some(kind), Some(faults)) = (parts.lock, parts.faults)
        && let Support::No { why } = kind.facts().force
        && faults.force_release > 0
    {
        let name = kind.name();
        Contradiction::of(&sections.faults, "force_release", &format!("a {name} lock has no forced release"))
            .with(lock.clone(), format!("{name}: {why}"))
            .note(&format!("use force_release = 0, or {}", kinds_with(|facts| facts.force.is_there())));
    }
    if let Some(faults) = parts.faults
        && faults.lose_message > 0
    {
        let lost =
            Contradiction::of(&sections.faults, "lose_message", "no unlock message can be lost: nobody subscribes");
        if let Some(kind) = parts.lock.filter(|kind| !kind.facts().publishes()) {
            lost.with(lock, format!("waiters of a {} lock poll", kind.name()))
                .note(&format!("use lose_message = 0, or {}", kinds_with(Facts::publishes)));
        } else if parts.time.is_some_and(|time| time.wait_limit == Some(0)) {
            lost.with(sections.time.span_of("wait_limit"), "a refused client does not wait")
                .note("use lose_message = 0, or a longer wait_limit");
        }
    }
    if let Some(cluster) = parts.cluster
        && cluster.replicas == 0
    {
        for (key, reason) in [
            ("lag", "there is no replica that could lag"),
            ("ttls", "there is no replica that a TTL could travel to"),
            ("promote", "there is no replica that could be promoted"),
            ("failover_within", "there is no replica that could take over"),
            ("min_replicas", "there is no replica that a master could hear of"),
            ("wait_for", "there is no replica that could acknowledge a grant"),
            ("lock_delay", "there is no replica that could become a new master"),
        ] {
            Contradiction::of(&sections.cluster, key, reason)
                .with(sections.cluster.span_of("replicas"), "none")
                .note(&format!("leave `{key}` out, or say how many: replicas = 1"));
        }
    }
    if parts.time.is_some_and(|time| time.renew_every.is_none()) {
        for key in ["renewal_timer", "missed_renewal", "failed_renewal"] {
            Contradiction::of(&sections.protocol, key, "nothing is renewed: there is no watchdog")
                .note(&format!("leave `{key}` out, or say when it renews: renew_every = 1"));
        }
    }
    note_nodes(parts, sections);
    note_waits(parts, sections);
    note_clocks(parts, sections);
}

/// What nodes have on disk, how they are connected, and when they restart or hand over.
fn note_nodes(parts: &Parts, sections: &Sections<'_>) {
    let (Some(cluster), Some(faults)) = (parts.cluster, parts.faults) else { return };
    if faults.restart_node > 0 && faults.crash_node == 0 {
        Contradiction::of(&sections.faults, "restart_node", "no node dies that could come back")
            .with(sections.faults.span_of("crash_node"), "none")
            .note("say how many die: crash_node = 1");
    }
    if faults.restart_node > faults.crash_node && faults.crash_node > 0 {
        Contradiction::of(&sections.faults, "restart_node", "more nodes would come back than die")
            .with(sections.faults.span_of("crash_node"), "all that die")
            .note("use a smaller restart_node, or a larger crash_node");
    }
    if faults.restart_node == 0 {
        for key in ["fsync", "restart_after"] {
            Contradiction::of(&sections.cluster, key, "no node comes back")
                .with(sections.faults.span_of("restart_node"), "none")
                .note(&format!("leave `{key}` out, or say how many come back: restart_node = 1 in [faults]"));
        }
    }
    if faults.cut_link > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "cut_link", "there is no other node that one could be cut off from")
            .with(sections.cluster.span_of("replicas"), "none")
            .note("use cut_link = 0, or say how many replicas there are: replicas = 1 in [cluster]");
    }
    if faults.hand_over > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "hand_over", "there is no replica that could take over")
            .with(sections.cluster.span_of("replicas"), "none")
            .note("use hand_over = 0, or say how many replicas there are: replicas = 1 in [cluster]");
    }
    if cluster.promote == PromoteRule::Coordinated && cluster.replicas > 0 && faults.hand_over == 0 {
        Contradiction::of(&sections.cluster, "promote", "only a hand-over can wait for its replica, and there is none")
            .with(sections.faults.span(), "nobody hands over")
            .note("use another rule, or say how often: hand_over = 1 in [faults]");
    }
    let can_fail_over = faults.crash_node > 0 || faults.cut_link > 0 || faults.hand_over > 0;
    if cluster.lock_delay > 0 && cluster.replicas > 0 && !can_fail_over {
        Contradiction::of(&sections.cluster, "lock_delay", "there is no failover after which to wait")
            .with(sections.faults.span(), "no node dies or is cut off")
            .note("leave it out, or say what happens to a node: crash_node = 1 in [faults]");
    }
    if cluster.min_replicas > cluster.replicas && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "min_replicas", "a master would wait for more replicas than there are")
            .with(sections.cluster.span_of("replicas"), "all there are")
            .note("use a smaller min_replicas, or more replicas");
    }
    if cluster.min_replicas == 0 {
        Contradiction::of(
            &sections.cluster,
            "min_replicas_max_lag_ticks",
            "no master looks at the lag of its replicas",
        )
        .with(sections.cluster.span_of("min_replicas"), "none is needed")
        .note("leave it out, or say how many replicas a master needs: min_replicas = 1");
    }
    let Some(time) = parts.time else { return };
    if cluster.fsync == Fsync::EverySecond && time.tick_ms < MIN_TICK_MS_EVERYSEC {
        // Redis waits one more second for an fsync that is still running (`flushAppendOnlyFile`).
        Contradiction::of(&sections.cluster, "fsync", "a disk that is written to every second may be two seconds late")
            .with(sections.time.span_of("tick_ms"), "shorter than that")
            .note("use a tick of 2000 ms or more: within a tick, every order of writes and fsyncs is tried");
    }
    let max_lag_ms = u64::from(cluster.min_replicas_max_lag_ticks) * u64::from(time.tick_ms);
    if !max_lag_ms.is_multiple_of(1000) {
        Contradiction::of(
            &sections.cluster,
            "min_replicas",
            "a master counts the lag of its replicas in whole seconds",
        )
        .with(sections.time.span_of("tick_ms"), "not so many ticks")
        .note("use ticks of whole seconds");
    }
}

/// The number of replicas that a grant waits for.
fn note_waits(parts: &Parts, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster else { return };
    if cluster.wait_for == 0 {
        Contradiction::of(&sections.protocol, "wait_rule", "no acquire waits for replicas")
            .with(sections.cluster.span_of("wait_for"), "none")
            .note("leave it out, or say how many it waits for: wait_for = 1 in [cluster]");
        return;
    }
    if cluster.wait_for > cluster.replicas && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "wait_for", "an acquire would wait for more replicas than there are")
            .with(sections.cluster.span_of("replicas"), "all there are")
            .note("use a smaller wait_for, or more replicas");
    } else if cluster.wait_for > 1 && parts.protocol.is_some_and(|protocol| protocol.wait_rule == WaitRule::Any) {
        Contradiction::of(
            &sections.cluster,
            "wait_for",
            "by the rule `any` one acknowledgement is enough, whatever is asked for",
        )
        .with(sections.protocol.span_of("wait_rule"), "at least one")
        .note("use wait_for = 1, or wait_rule = \"all\" in [protocol]");
    }
}

/// How far clocks jump, and what depends on those clocks.
fn note_clocks(parts: &Parts, sections: &Sections<'_>) {
    let (Some(time), Some(faults)) = (parts.time, parts.faults) else { return };
    let jumps = [("clock_jump", faults.clock_jump), ("client_clock_jump", faults.client_clock_jump)];
    for (key, _) in jumps.into_iter().filter(|(_, budget)| *budget > 0 && time.jump == 0) {
        Contradiction::of(&sections.faults, key, "a jump of 0 is none")
            .with(sections.time.span_of("jump"), "not at all")
            .note("say how far: jump = 4 in [time], or jump = -4 for back");
    }
    if faults.clock_jump == 0 && faults.client_clock_jump == 0 {
        Contradiction::of(&sections.time, "jump", "no clock jumps")
            .with(sections.faults.span_of("clock_jump"), "none")
            .note("leave it out, or say how many jump: clock_jump = 1 in [faults]");
    }
    if faults.client_clock_jump > 0 && time.wait_limit.is_none_or(|limit| limit == 0) {
        Contradiction::of(
            &sections.faults,
            "client_clock_jump",
            "clients look at their wall clock for a wait limit only",
        )
        .with(sections.time.span_of("wait_limit"), "nobody waits with a limit")
        .note("use client_clock_jump = 0, or say how long clients wait: wait_limit = 4 in [time]");
    }
    let Some(cluster) = parts.cluster else { return };
    if faults.clock_jump > 0 && cluster.wait_for > 0 {
        let reason = "a grant that is over by its replica's clock before it comes there is not modelled with WAIT";
        Contradiction::not_yet(&sections.faults, "clock_jump", reason)
            .with(sections.cluster.span_of("wait_for"), "its caller waits for that replica")
            .note("leave one of the two out");
    }
    if faults.clock_jump > 0 && cluster.min_replicas > 0 {
        let reason = "what a jump does to a master that counts its replicas is not modelled";
        Contradiction::not_yet(&sections.faults, "clock_jump", reason)
            .with(sections.cluster.span_of("min_replicas"), "it counts them by its clock")
            .note("leave one of the two out");
    }
    if faults.clock_jump > 0 && time.jump < 0 && cluster.fsync == Fsync::EverySecond {
        Contradiction::not_yet(
            &sections.faults,
            "clock_jump",
            "what a clock that goes back does to the second is not modelled",
        )
        .with(sections.cluster.span_of("fsync"), "the disk is written to by that clock")
        .note("use a jump ahead, or another fsync");
    }
    let is_split = parts.network.is_some_and(|network| network.mode == NetworkMode::Split);
    if is_split && parts.protocol.is_some_and(|protocol| protocol.receipts) {
        let keys = [("clock_jump", faults.clock_jump), ("vanish_key", faults.vanish_key)];
        for (key, _) in keys.into_iter().filter(|(_, budget)| *budget > 0) {
            Contradiction::not_yet(
                &sections.faults,
                key,
                "what it does to the receipts beside the lock is not modelled",
            )
            .with(sections.network.span_of("mode"), "receipts matter where requests are sent again")
            .note("use receipts = false in [protocol], or mode = \"atomic\" in [network]");
        }
    }
}
