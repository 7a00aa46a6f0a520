//! The slot of a lock that is moved to another master: what belongs to it, and what is not modelled beside one yet.

use lockstep_model::config::{Channels, ClientSettings, Faults, NetworkMode, Profile, SubscribeTo};
use lockstep_model::locks::Facts;

use super::contradiction::{Contradiction, kinds_with};
use super::parts::{Parts, Sections};
use super::section::{Entry, Section};

/// Records every contradicting pair.
pub(super) fn note(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>) {
    let (Some(kind), Some(faults)) = (parts.lock, parts.faults) else { return };
    if faults.move_slot == 0 {
        Contradiction::of(&sections.cluster, "channels", "`channels` has an effect only where a slot is moved")
            .with(sections.faults.span_of("move_slot"), "no slot is moved")
            .note("remove `channels`, or let a slot be moved: move_slot = 1 in [faults]");
        return;
    }
    if kind.facts().has_one_slot() {
        note_channels(parts, top, sections, kind.facts());
    }
    note_not_yet(parts, top, sections, (kind.facts(), faults));
}

/// Channels to which nobody is subscribed.
fn note_channels(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, facts: &Facts) {
    let deaf = Contradiction::of(&sections.cluster, "channels", "no client subscribes to a channel");
    if !facts.publishes() {
        deaf.with(top.span_of("lock"), format!("the waiters of a {} lock poll", facts.name))
            .note(&format!("remove `channels`, or use {}", kinds_with(Facts::publishes)));
    } else if parts.nobody(|own| own.wait_limit != Some(0)) {
        deaf.with(sections.time.span_of("wait_limit"), "a refused client does not wait")
            .note("remove `channels`, or use a longer wait_limit");
    } else if sections.cluster.span_of("channels").is_none() && parts.somebody(|own| own.wait_limit != Some(0)) {
        let example = "`channels`, the kind of channel to which unlock messages are published: \"sharded\" (Redisson since 3.43 on Redis 7.0 \
                       or newer) or \"global\" (Redisson 3.15, and each version on an older server)";
        sections.cluster.require("channels", Entry::<u8>::Absent, example);
    } else if parts.cluster.is_some_and(|cluster| cluster.channels == Channels::Sharded) {
        for place in sections.places(parts) {
            let is_of_2021 = |own: ClientSettings| own.protocol.profile == Profile::Redisson315;
            if place.said.is_some_and(is_of_2021) {
                Contradiction::of(&sections.cluster, "channels", "Redisson 3.15 publishes to global channels")
                    .with(place.protocol.span_of("profile"), "the clients are of that version")
                    .note("use channels = \"global\", or a newer profile");
            }
        }
    }
}

fn note_not_yet(parts: &Parts, top: &Section<'_>, sections: &Sections<'_>, (facts, faults): (&Facts, Faults)) {
    let moved = sections.faults.span_of("move_slot");
    let beside = |section: &Section<'_>, key: &str, what: &str, help: &str| {
        let reason = format!("{what} together with a slot that is moved is not modelled yet");
        Contradiction::not_yet(section, key, &reason).with(moved.clone(), "the slot of the lock is moved").note(help);
    };
    if !facts.has_one_slot() {
        let reason = format!(
            "a slot that is moved is not modelled yet for a {} lock: its keys are in several slots, or on several masters",
            facts.name
        );
        Contradiction::not_yet(top, "lock", &reason)
            .with(moved.clone(), "the slot of the lock is moved")
            .note(&format!("use {}", kinds_with(Facts::may_be_moved)));
    }
    if facts.has_one_slot() && !facts.may_be_moved() {
        // docs/facts/cluster.md#while-a-slot-is-moved
        let reason = format!(
            "a slot that is moved is not modelled yet for a {}: a script of it that removes the last member fails at its next command",
            facts.name
        );
        Contradiction::not_yet(top, "lock", &reason)
            .with(moved.clone(), "the slot of the lock is moved")
            .note("use move_slot = 0");
    }
    if parts.network.is_some_and(|network| network.mode == NetworkMode::Split) {
        beside(&sections.network, "mode", "a split network", "use mode = \"atomic\"");
    }
    if parts.clients.is_some_and(|clients| clients.names > 1) {
        beside(&sections.clients, "names", "several locks, each of a slot of its own,", "use names = 1");
    }
    for place in sections.places(parts) {
        let of_replica = |own: ClientSettings| own.protocol.subscribe_to == SubscribeTo::Replica;
        if place.said.is_some_and(of_replica) {
            let help = "use subscribe_to = \"master\"";
            beside(place.protocol, "subscribe_to", "a subscription on a replica", help);
        }
    }
    if let Some(cluster) = parts.cluster {
        if cluster.replicas > 0 && facts.has_one_slot() && !facts.acquires_by_one_key() {
            let what = format!("a replica of a {} lock, whose keys may be at both masters,", facts.name);
            let is_alike = |other: &Facts| other.acquires_by_one_key() && other.publishes() == facts.publishes();
            let help = format!("use replicas = 0, or {}", kinds_with(is_alike));
            beside(&sections.cluster, "replicas", &what, &help);
        } else if cluster.replicas > 1 {
            beside(&sections.cluster, "replicas", "a second replica", "use replicas = 1");
        }
        for (key, is_there) in [("wait_for", cluster.wait_for > 0), ("min_replicas", cluster.min_replicas > 0)] {
            if is_there {
                beside(&sections.cluster, key, &format!("`{key}`"), &format!("remove `{key}`"));
            }
        }
        if cluster.replicas > 0 && cluster.channels == Channels::Sharded {
            let reason = "a failover after a subscription has ended is not modelled yet";
            Contradiction::not_yet(&sections.cluster, "channels", reason)
                .with(sections.cluster.span_of("replicas"), "there is a replica")
                .note("use replicas = 0, or channels = \"global\" (a server before Redis 7.0, or Redisson 3.15)");
        }
    }
    for (key, budget, what) in [
        ("restart_node", faults.restart_node, "a node that restarts"),
        ("kill_node", faults.kill_node, "a process of a node that is killed"),
        ("shutdown_node", faults.shutdown_node, "a node that is told to end"),
        ("cut_link", faults.cut_link, "a node that is cut off"),
        ("pause_node", faults.pause_node, "a node that stands still"),
        ("hand_over", faults.hand_over, "a failover by hand"),
        ("refuse_writes", faults.refuse_writes, "a master that refuses writes"),
        ("break_link", faults.break_link, "a link that breaks"),
        ("clock_jump", faults.clock_jump, "a clock that jumps"),
        ("vanish_key", faults.vanish_key, "a key that vanishes"),
        ("vanish_token", faults.vanish_token, "a counter that vanishes"),
        ("persist_key", faults.persist_key, "a key that loses its TTL"),
    ] {
        if budget > 0 {
            beside(&sections.faults, key, what, &format!("use {key} = 0"));
        }
    }
}
