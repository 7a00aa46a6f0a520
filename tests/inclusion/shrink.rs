//! A record that has no explanation, made small: what is left of it is needed for that.

use std::fmt::Write as _;

use crate::record::{Event, Record};
use crate::search::{Explanation, search};

/// The smallest part of a record that has no explanation, as a text: it ends where the model is left behind, and of what was
/// seen until then only what is needed is left.
pub fn shrunk(record: &Record) -> String {
    let Explanation::Unexplained { tick, .. } = search(record, None) else {
        return "it has an explanation".to_owned();
    };
    let tick_us = record.parties.iter().flatten().map(|event| event.to_us).max().unwrap_or(0);
    let end_us = ((tick + 1) * 20_000).min(tick_us);
    let mut least = record.until(end_us);
    if !is_unexplained(&least) {
        least = record.clone();
    }
    for place in least.observations().into_iter().rev() {
        let weaker = least.without_knowing(place);
        if is_unexplained(&weaker) {
            least = weaker;
        }
    }
    told(&least)
}

fn is_unexplained(record: &Record) -> bool {
    matches!(search(record, None), Explanation::Unexplained { .. })
}

fn told(record: &Record) -> String {
    let Explanation::Unexplained { tick, progress, world } = search(record, None) else { return String::new() };
    let mut text =
        format!("{}\nno world of the model is left in tick {tick}; what it cannot explain:\n", record.scenario);
    let mut events: Vec<(usize, usize, &Event)> = Vec::new();
    for (party, of_party) in record.parties.iter().enumerate() {
        events.extend(of_party.iter().enumerate().map(|(place, event)| (party, place, event)));
    }
    events.sort_by_key(|(_, _, event)| event.from_us);
    for (party, place, event) in events {
        let mark = if progress.get(party) == Some(&place) { "→" } else { " " };
        let Event { from_us, to_us, what } = event;
        let _ = writeln!(text, "{mark} party {party}: {from_us:>8} to {to_us:>8} µs: {what:?}");
    }
    let _ = writeln!(text, "the world that came furthest: {world}");
    text
}
