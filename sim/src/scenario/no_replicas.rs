//! What needs a replica, where there is none.

use super::contradiction::Contradiction;
use super::parts::{Parts, Sections};
use super::several_masters;

/// Records each such key.
pub(super) fn note(parts: &Parts, sections: &Sections<'_>) {
    if parts.cluster.is_none_or(|cluster| cluster.replicas > 0) {
        return;
    }
    let are_several = parts.lock.is_some_and(|kind| kind.facts().masters.are_several());
    for (key, reason) in [
        ("lag", "there is no replica that could lag"),
        ("ttls", "there is no replica that a TTL could travel to"),
        ("promote", "there is no replica that could be promoted"),
        ("replicas_leave", "there is no replica that could leave its master"),
        ("cut_together", "there is no replica that could be cut off together with its master"),
        ("failover_within", "there is no replica that could take over"),
        ("hand_over_timeout", "there is no replica that could take over"),
        ("min_replicas", "there is no replica that a master could hear of"),
        ("wait_for", "there is no replica that could acknowledge a grant"),
        ("lock_delay", "there is no replica that could become a new master"),
        ("discovery", "there is no replica that could become a new master"),
    ] {
        Contradiction::of(&sections.cluster, key, reason)
            .with(sections.cluster.span_of("replicas"), "there are no replicas")
            .note(&if are_several && several_masters::OF_ONE_MASTER.contains(&key) {
                format!("remove `{key}`: it is not modelled with a lock on several masters")
            } else {
                format!("remove `{key}`, or add a replica: replicas = 1 in [cluster]")
            });
    }
    Contradiction::of(
        &sections.bounds,
        "effects_under_way",
        "there is no replica that an effect could be under way to",
    )
    .with(sections.cluster.span_of("replicas"), "there are no replicas")
    .note("remove `effects_under_way`, or add a replica: replicas = 1 in [cluster]");
}
