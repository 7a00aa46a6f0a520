//! `--sentinel`: which histories real sentinels can take part in, and how it is told what they did.

use std::fmt::Write as _;

use lockstep_model::Config;
use lockstep_model::config::Bound;
use serde_json::{Value, json};

use super::{Ended, History, Screen, server_failed};
use crate::render::words;
use crate::replay::Played;
use crate::replay::sentinel::{DOWN_AFTER, QUORUM, SENTINELS, refuse_trace};

/// Leaves out, and says so, what gives Sentinel nothing to do. To be left with nothing is an error.
pub(super) fn suited(histories: Vec<History>, screen: &Screen) -> Ended<Vec<History>> {
    let (mut suited, mut left_out) = (Vec::new(), Vec::new());
    for history in histories {
        match refuse_trace(&history.trace) {
            Ok(()) => suited.push(history),
            Err(error) => left_out.push((history, error)),
        }
    }
    if let (true, Some((_, error))) = (suited.is_empty(), left_out.first()) {
        return Err(server_failed(error, screen));
    }
    for (History { trace, .. }, error) in left_out.iter().filter(|_| !screen.is_quiet) {
        Screen::report(&format!("left out: {}, {}: {error}", trace.scenario, words::about(&trace.about)));
    }
    Ok(suited)
}

/// What ends the line that says on which server it was.
pub(super) fn watched(replayed: &Played) -> String {
    if replayed.failovers.is_empty() { String::new() } else { format!(" under {SENTINELS} sentinels") }
}

/// What the sentinels did, for people.
pub(super) fn section(replayed: &Played, config: &Config) -> String {
    let mut section = String::new();
    for failover in &replayed.failovers {
        let _ = writeln!(section, "what Sentinel did, from the death of {} on", failover.died);
        for event in failover.events.iter().filter(|event| event.is_about_a_failover()) {
            let after = event.after.as_millis();
            let _ = writeln!(section, "  {after:>6} ms  {}  {:<18}  {}", event.by, event.what, event.about);
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

/// The same, for programs. Of a real clock: no two runs are the same.
pub(super) fn json_of(replayed: &Played, config: &Config) -> Value {
    let failovers = replayed.failovers.iter().map(|failover| {
        let events = failover.events.iter().map(
            |event| json!({ "after_ms": ms(event.after), "by": event.by, "what": event.what, "about": event.about }),
        );
        json!({
            "step": failover.step,
            "died": failover.died,
            "promoted": failover.promoted,
            "took_ms": ms(failover.took),
            "model_allows_ms": match config.cluster.failover_within {
                Bound::Ticks(ticks) => Some(u64::from(ticks) * u64::from(config.time.tick_ms)),
                Bound::Any => None,
            },
            "said": events.collect::<Vec<_>>(),
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
        Bound::Ticks(ticks) => words::time(config, ticks.into()),
        Bound::Any => "any time".to_owned(),
    }
}

fn ms(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
