//! The keys about `WAIT`: how many replicas a grant waits for, what is sufficient, and behind which calls clients wait.

use lockstep_model::config::{NetworkMode, WaitAfter, WaitRule};

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};

/// Records every contradicting pair that involves one of these keys.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster else { return };
    if cluster.wait_for == 0 {
        for place in sections.places(parts) {
            Contradiction::of(place.protocol, "wait_rule", "no acquire waits for replicas")
                .with(sections.cluster.span_of("wait_for"), "an acquire waits for 0 replicas")
                .note("remove `wait_rule`, or let an acquire wait: wait_for = 1 in [cluster]");
            Contradiction::of(place.protocol, "wait_after", "no call waits for replicas")
                .with(sections.cluster.span_of("wait_for"), "a call waits for 0 replicas")
                .note("remove `wait_after`, or let calls wait: wait_for = 1 in [cluster]");
        }
        return;
    }
    note_every_call(parts, sections);
    note_renewals(parts, sections);
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

/// `WAIT` behind renewals.
fn note_renewals(parts: &Parts, sections: &Sections<'_>) {
    let Some(cluster) = parts.cluster else { return };
    for place in sections.places(parts) {
        if place.nobody(|own| own.protocol.wait_after == WaitAfter::GrantsAndRenewals) {
            continue;
        }
        if place.nobody(|own| own.renew_every.is_some()) {
            Contradiction::of(place.protocol, "wait_after", "nothing is renewed: there is no watchdog")
                .note("use wait_after = \"grants\", or add a watchdog: renew_every in [time]");
        }
        if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
            Contradiction::not_yet(place.protocol, "wait_after", "a WAIT behind renewals on a split network")
                .with(sections.network.span_of("mode"), "requests are steps of their own")
                .note("use wait_after = \"grants\" or \"every-call\", or mode = \"atomic\" in [network]");
        }
        // Which of several replicas acknowledge it in time would be a step for each set of them.
        if cluster.replicas > 1 {
            Contradiction::not_yet(place.protocol, "wait_after", "a WAIT behind renewals for more than one replica")
                .with(sections.cluster.span_of("replicas"), "this is the number of replicas")
                .note("use wait_after = \"grants\", or replicas = 1 in [cluster]");
        }
    }
}

/// `WAIT` behind every call: whose `WAIT` an acknowledgement is for is told by the grants under way, and a release leaves none.
fn note_every_call(parts: &Parts, sections: &Sections<'_>) {
    let Some(clients) = parts.clients else { return };
    // On an atomic network the key means nothing (`calls`).
    let is_atomic = parts.network.is_some_and(|network| network.mode == NetworkMode::Atomic);
    if is_atomic || clients.count == 1 && clients.threads == 1 {
        return;
    }
    for place in sections.places(parts) {
        if place.nobody(|own| own.protocol.wait_after == WaitAfter::EveryCall) {
            continue;
        }
        let reason = "a WAIT behind the calls of more than one thread";
        Contradiction::not_yet(place.protocol, "wait_after", reason)
            .with(
                sections.clients.span_of("count").or(sections.clients.span_of("threads")),
                "there is more than one thread",
            )
            .note("use wait_after = \"grants\", or count = 1 and threads = 1 in [clients]");
    }
}
