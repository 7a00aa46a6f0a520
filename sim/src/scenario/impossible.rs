//! Values that are valid alone but contradict each other.

use lockstep_model::config::{Fsync, MAX_TICKS, NetworkMode, PromoteRule, WaitRule};
use lockstep_model::locks::{Facts, Support};
use lockstep_model::notes::Capacity;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::Section;
use super::ticks::FSYNC_WITHIN_MS;

/// Records every contradicting pair. Parts that are wrong in themselves are skipped.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(time) = parts.time
        // For a renewal that is due exactly when the lease ends, the key still exists, so equal values are allowed.
        && time.renew_every.is_some_and(|period| period > time.lease)
    {
        Contradiction::of(&sections.time, "renew_every", "the lease would expire before its first renewal")
            .with(sections.time.span_of("lease"), "the lease is shorter than the renewal period")
            .note("renew at a third of the lease, or remove `renew_every`: without it there is no watchdog");
    }
    if let (Some(time), Some(clients)) = (parts.time, parts.clients)
        && clients.hold_for_ever
        && time.hold_at_most.is_some()
    {
        Contradiction::of(&sections.clients, "hold_for_ever", "a holder cannot both release in time and hold for ever")
            .with(sections.time.span_of("hold_at_most"), "this is the time of the latest release")
            .note("remove one of the two keys");
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
    if let Some(kind) = parts.lock
        && let Support::No { why } = kind.facts().value
    {
        let name = kind.name();
        Contradiction::of(&sections.protocol, "value", &format!("a {name} lock stores no value of an acquire"))
            .with(lock.clone(), format!("{name}: {why}"))
            .note(&format!("remove `value`, or use {}", kinds_with(|facts| facts.value.is_there())));
    }
    if let Some(faults) = parts.faults
        && faults.lose_message > 0
    {
        let lost = Contradiction::of(
            &sections.faults,
            "lose_message",
            "no unlock message can be lost, because no client subscribes",
        );
        if let Some(kind) = parts.lock.filter(|kind| !kind.facts().publishes()) {
            lost.with(lock, format!("the waiters of a {} lock poll", kind.name()))
                .note(&format!("use lose_message = 0, or {}", kinds_with(Facts::publishes)));
        } else if parts.nobody(|own| own.wait_limit != Some(0)) {
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
                .with(sections.cluster.span_of("replicas"), "there are no replicas")
                .note(&format!("remove `{key}`, or add a replica: replicas = 1 in [cluster]"));
        }
        Contradiction::of(
            &sections.bounds,
            "effects_under_way",
            "there is no replica that an effect could be under way to",
        )
        .with(sections.cluster.span_of("replicas"), "there are no replicas")
        .note("remove `effects_under_way`, or add a replica: replicas = 1 in [cluster]");
    }
    for place in sections.places(parts).iter().filter(|place| place.nobody(|own| own.renew_every.is_some())) {
        for key in ["renewal_timer", "missed_renewal", "failed_renewal"] {
            Contradiction::of(place.protocol, key, "nothing is renewed: there is no watchdog")
                .note(&format!("remove `{key}`, or add a watchdog: renew_every = 1 in [time]"));
        }
    }
    note_kind(parts, top, sections);
    note_nodes(parts, sections);
    note_waits(parts, sections);
    note_clocks(parts, sections);
}

/// What this kind of lock has no use for, or no room.
fn note_kind(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let lock = top.span_of("lock");
    if let Some(kind) = parts.lock {
        let (name, publishes) = (kind.name(), kind.facts().publishes());
        let (key, reason) = if publishes {
            ("poll_every", format!("the waiters of a {name} lock do not poll: messages and timers wake them"))
        } else {
            ("ask_again_after", format!("the waiters of a {name} lock poll, whatever time the lock has left"))
        };
        Contradiction::of(&sections.time, key, &reason)
            .with(lock.clone(), "this is the kind of lock")
            .note(&format!("remove `{key}`"));
    }
    if let Some(config) = parts.config()
        && config.has_values()
        && config.bounds.effects_under_way.is_some_and(|room| room > Capacity::Effects.usual())
    {
        let usual = Capacity::Effects.usual();
        let reason = format!("where each acquire has a value of its own, at most {usual} effects can be under way");
        Contradiction::not_yet(&sections.bounds, "effects_under_way", &reason)
            .with(lock, "this kind of lock stores values")
            .note(&format!("use effects_under_way = {usual}, or value = \"per-client\" in [protocol]"));
    }
}

/// What nodes have on disk, how they are connected, and when they restart or hand over.
fn note_nodes(parts: &Parts, sections: &Sections<'_>) {
    let (Some(cluster), Some(faults)) = (parts.cluster, parts.faults) else { return };
    if faults.restart_node > 0 && faults.crash_node == 0 {
        Contradiction::of(&sections.faults, "restart_node", "no node crashes, so none can restart")
            .with(sections.faults.span_of("crash_node"), "no node crashes")
            .note("use restart_node = 0, or let a node crash: crash_node = 1");
    }
    if faults.restart_node > faults.crash_node && faults.crash_node > 0 {
        Contradiction::of(&sections.faults, "restart_node", "there would be more restarts than crashes")
            .with(sections.faults.span_of("crash_node"), "this is the number of crashes")
            .note("use a smaller restart_node, or a larger crash_node");
    }
    if faults.restart_node == 0 {
        for key in ["fsync", "fsync_within", "restart_after"] {
            Contradiction::of(&sections.cluster, key, &format!("no node restarts, so `{key}` has no effect"))
                .with(sections.faults.span_of("restart_node"), "no node restarts")
                .note(&format!("remove `{key}`, or let a node restart: restart_node = 1 in [faults]"));
        }
    }
    if faults.cut_link > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "cut_link", "there is no other node that one could be cut off from")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("use cut_link = 0, or add a replica: replicas = 1 in [cluster]");
    }
    if faults.hand_over > 0 && cluster.replicas == 0 {
        Contradiction::of(&sections.faults, "hand_over", "there is no replica that could take over")
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note("use hand_over = 0, or add a replica: replicas = 1 in [cluster]");
    }
    if cluster.promote == PromoteRule::Coordinated && cluster.replicas > 0 && faults.hand_over == 0 {
        Contradiction::of(&sections.cluster, "promote", "only a hand-over can be coordinated, and there is none")
            .with(sections.faults.span(), "there is no hand-over")
            .note("use another promotion rule, or add a hand-over: hand_over = 1 in [faults]");
    }
    let is_lost = faults.crash_node > 0 || faults.cut_link > 0 || faults.pause_node > 0;
    let can_fail_over = is_lost || faults.hand_over > 0;
    if cluster.lock_delay > 0 && cluster.replicas > 0 && !can_fail_over {
        Contradiction::of(&sections.cluster, "lock_delay", "there is no failover after which a client could delay")
            .with(sections.faults.span(), "no node crashes, is cut off, stands still or hands over")
            .note("remove `lock_delay`, or add a fault that leads to a failover: crash_node = 1 in [faults]");
    }
    if cluster.min_replicas > cluster.replicas && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "min_replicas", "a master would wait for more replicas than there are")
            .with(sections.cluster.span_of("replicas"), "this is the number of replicas")
            .note("use a smaller min_replicas, or more replicas");
    }
    if cluster.min_replicas == 0 {
        Contradiction::of(
            &sections.cluster,
            "min_replicas_max_lag",
            "the master does not check the lag of its replicas",
        )
        .with(sections.cluster.span_of("min_replicas"), "the master needs no replica")
        .note("remove `min_replicas_max_lag`, or let the master need replicas: min_replicas = 1");
    }
    let Some(time) = parts.time else { return };
    if cluster.fsync == Fsync::EverySecond && u32::from(MAX_TICKS) < FSYNC_WITHIN_MS.div_ceil(time.tick_ms) {
        Contradiction::of(
            &sections.cluster,
            "fsync",
            "with an fsync every second, the disk may be up to two seconds behind",
        )
        .with(sections.time.span_of("tick_ms"), format!("that is more than {MAX_TICKS} of these ticks"))
        .note("use a tick of 34 ms or more");
    }
    let max_lag_ms = u64::from(cluster.min_replicas_max_lag) * u64::from(time.tick_ms);
    if !max_lag_ms.is_multiple_of(1000) {
        Contradiction::of(
            &sections.cluster,
            "min_replicas",
            "a master measures the lag of its replicas in whole seconds",
        )
        .with(sections.time.span_of("tick_ms"), "min_replicas_max_lag is no whole number of seconds")
        .note("use a tick of whole seconds, such as tick_ms = 1000");
    }
}

/// The number of replicas that a grant waits for.
fn note_waits(parts: &Parts, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster else { return };
    if cluster.wait_for == 0 {
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, "wait_rule", "no acquire waits for replicas")
                .with(sections.cluster.span_of("wait_for"), "an acquire waits for 0 replicas")
                .note("remove `wait_rule`, or let an acquire wait: wait_for = 1 in [cluster]");
        }
        return;
    }
    let nobody_checks = parts.nobody(|own| own.protocol.wait_rule != WaitRule::Ignored);
    let is_unsaid = sections.places(parts).iter().all(|place| place.protocol.span_of("wait_rule").is_none());
    if nobody_checks && is_unsaid && cluster.replicas > 0 {
        // Source: docs/facts/redisson.md#redisson-315-does-not-check.
        Contradiction::of(
            &sections.cluster,
            "wait_for",
            "these clients send WAIT but ignore the answer, so wait_for protects no grant",
        )
        .with(sections.protocol.span_of("profile"), "Redisson 3.15 does not check how many replicas have a grant")
        .note(
            "remove `wait_for`; or model a client that checks: profile = \"redisson-4.7\", or wait_rule = \"all\" in \
             [protocol]; or say that the answer is ignored: wait_rule = \"ignored\"",
        );
    } else if cluster.wait_for > cluster.replicas && cluster.replicas > 0 {
        Contradiction::of(&sections.cluster, "wait_for", "an acquire would wait for more replicas than there are")
            .with(sections.cluster.span_of("replicas"), "this is the number of replicas")
            .note("use a smaller wait_for, or more replicas");
    } else if cluster.wait_for > 1 && parts.nobody(|own| own.protocol.wait_rule != WaitRule::Any) {
        Contradiction::of(
            &sections.cluster,
            "wait_for",
            "with wait_rule = \"any\", one acknowledgement is enough, so wait_for above 1 has no effect",
        )
        .with(sections.protocol.span_of("wait_rule"), "one acknowledgement is enough")
        .note("use wait_for = 1, or wait_rule = \"all\" in [protocol]");
    }
}

/// How far clocks jump, and what depends on those clocks.
fn note_clocks(parts: &Parts, sections: &Sections<'_>) {
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
    if faults.client_clock_jump > 0 && parts.nobody(|own| own.wait_limit.is_some_and(|limit| limit > 0)) {
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
    if faults.clock_jump > 0 && time.jump < 0 && cluster.fsync == Fsync::EverySecond {
        let reason = "`clock_jump` backwards together with an fsync every second is not modelled yet";
        Contradiction::not_yet(&sections.faults, "clock_jump", reason)
            .with(sections.cluster.span_of("fsync"), "the time of the next fsync depends on that clock")
            .note("use a positive jump in [time], or another fsync");
    }
    let is_split = parts.network.is_some_and(|network| network.mode == NetworkMode::Split);
    if is_split && parts.settings.as_ref().is_some_and(|all| all.iter().any(|own| own.protocol.receipts)) {
        let keys = [("clock_jump", faults.clock_jump), ("vanish_key", faults.vanish_key)];
        for (key, _) in keys.into_iter().filter(|(_, budget)| *budget > 0) {
            let reason = format!("`{key}` together with release receipts in a split network is not modelled yet");
            Contradiction::not_yet(&sections.faults, key, &reason)
                .with(sections.network.span_of("mode"), "in a split network a request may be sent again")
                .note("use receipts = false in [protocol], or mode = \"atomic\" in [network]");
        }
    }
}
