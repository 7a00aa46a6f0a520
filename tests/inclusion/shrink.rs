//! A record that has no explanation, made small: what is left of it is needed for that.

use std::fmt::Write as _;

use crate::lack::Lack;
use crate::record::{Event, Record};
use crate::search::{Explanation, search};

/// The part of a record that is needed to leave the model, from which something may be taken, without an explanation: it ends
/// where the model is left behind, and each answer and each look that is left in it is needed. `None`: there is an explanation.
pub fn least(record: &Record, without: Option<Lack>) -> Option<Record> {
    let Explanation::Unexplained { end_us, .. } = search(record, without) else { return None };
    let is_unexplained = |record: &Record| matches!(search(record, without), Explanation::Unexplained { .. });
    let cut = Some(record.until(end_us)).filter(&is_unexplained);
    let mut least = cut.unwrap_or_else(|| record.clone());
    // From the last one on, so that the places of those that are still to be tried stay what they are.
    for place in least.observations().into_iter().rev() {
        let weaker = least.without_knowing(place);
        if is_unexplained(&weaker) {
            least = weaker;
        }
    }
    Some(least)
}

/// What the model cannot explain of a record, as a text.
pub fn unexplained(record: &Record) -> String {
    let Some(record) = least(record, None) else { return "it has an explanation".to_owned() };
    let Explanation::Unexplained { end_us, progress, world } = search(&record, None) else { return String::new() };
    let mut text = format!(
        "{}\nReal servers did what follows, and no behaviour of the model agrees with it beyond {end_us} µs. An arrow marks what \
         could not happen in the world that came furthest. Either the model lacks a rule, or the clients of the run record \
         something wrong:\n",
        record.scenario
    );
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
