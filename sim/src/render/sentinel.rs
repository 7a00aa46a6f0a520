//! What real sentinels did in a replay: for people, and for programs.

use std::fmt::Write as _;

use lockstep_model::Config;
use lockstep_model::config::Bound;
use serde_json::{Value, json};

use super::units::time;
use crate::replay::Played;
use crate::replay::sentinel::{DOWN_AFTER, QUORUM, SENTINELS};

/// The end of the line that names the server.
pub(super) fn watched(replayed: &Played) -> String {
    if replayed.failovers.is_empty() { String::new() } else { format!(" under {SENTINELS} sentinels") }
}

/// What the sentinels did, for people.
pub(super) fn section(replayed: &Played, config: &Config) -> String {
    let mut section = String::new();
    for failover in &replayed.failovers {
        let _ = writeln!(section, "events of Sentinel since the crash of {}", failover.died);
        for said in failover.events.iter().filter(|said| said.is_about_a_failover()) {
            let after = said.after.as_millis();
            let _ = writeln!(section, "  {after:>6} ms  {}  {:<18}  {}", said.by, said.what, said.about);
        }
        let (took, bound) = (failover.took.as_millis(), bound(config));
        let _ = writeln!(
            section,
            "  {took:>6} ms  {} is master, and every sentinel names it; the model allows {bound}\n",
            failover.promoted
        );
    }
    section
}

/// The same, for programs. The times are of a real clock: they differ between runs.
pub(super) fn json_of(replayed: &Played, config: &Config) -> Value {
    let failovers = replayed.failovers.iter().map(|failover| {
        let said = failover
            .events
            .iter()
            .map(|said| json!({ "after_ms": ms(said.after), "by": said.by, "what": said.what, "about": said.about }));
        json!({
            "step": failover.step,
            "died": failover.died,
            "promoted": failover.promoted,
            "took_ms": ms(failover.took),
            "model_allows_ms": match config.cluster.failover_within {
                Bound::Ticks(ticks) => Some(u64::from(ticks) * u64::from(config.time.tick_ms)),
                Bound::Any => None,
            },
            "said": said.collect::<Vec<_>>(),
        })
    });
    json!({
        "sentinels": SENTINELS,
        "quorum": QUORUM,
        "down_after_ms": ms(DOWN_AFTER),
        "failovers": failovers.collect::<Vec<_>>(),
    })
}

fn bound(config: &Config) -> String {
    match config.cluster.failover_within {
        Bound::Ticks(ticks) => time(config, ticks.into()),
        Bound::Any => "any time".to_owned(),
    }
}

fn ms(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
