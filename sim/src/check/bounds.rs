//! What a verdict is worth where the model had too little room for some step: nothing is known of what lies behind it.

use lockstep_model::config::Config;
use lockstep_model::notes::Capacity;
use lockstep_model::properties::PropertyKind;
use lockstep_model::{Property, Verdict};

use super::coverage::Coverage;

/// What the model has too little room for.
pub(super) struct Exceeded {
    /// What, and how a scenario gets more room or needs less.
    why: String,
    /// Whether the file itself sets each of these bounds: only those can be claimed to be accepted.
    is_accepted: bool,
}

/// What the model has too little room for; `None`: nothing.
pub(super) fn exceeded(config: &Config, coverage: &Coverage) -> Option<Exceeded> {
    let touched: Vec<String> = coverage
        .touched()
        .map(|(capacity, kind)| {
            let (room, noun, advice) = (config.room_for(capacity), capacity.noun(), capacity.advice());
            let more = more_room(capacity, room).map_or_else(String::new, |more| {
                format!("set {} = {more} in [bounds] (at most {}), or ", capacity.key(), capacity.most())
            });
            format!(
                "the model's room for {noun} is {room}, but in some state the action {} needs more: {more}{advice}",
                kind.name()
            )
        })
        .collect();
    let is_accepted = coverage.touched().all(|(capacity, _)| config.bounds.of(capacity).is_some());
    (!touched.is_empty()).then(|| Exceeded { why: touched.join("; "), is_accepted })
}

/// The next larger room that is worth a try: half as much again. `None`: there can be no more.
pub(crate) fn more_room(capacity: Capacity, room: u8) -> Option<u8> {
    (room < capacity.most()).then(|| (room + room.div_ceil(2)).min(capacity.most()))
}

/// The verdict on a property that no trace breaks, where `found` is what was seen within the bounds.
pub(super) fn weighed(
    property: Property,
    declared: Option<Verdict>,
    found: (Verdict, Option<String>),
    exceeded: Option<&Exceeded>,
) -> (Verdict, Option<String>) {
    let Some(Exceeded { why: exceeded, is_accepted }) = exceeded else { return found };
    let why = Some(exceeded.clone());
    let accepts_bounds = *is_accepted && declared == Some(Verdict::HoldsWithinBounds);
    match found.0 {
        // What was reached is reached.
        Verdict::Holds if property.kind() == PropertyKind::Reachable => found,
        Verdict::Holds if accepts_bounds => (Verdict::HoldsWithinBounds, why),
        Verdict::Vacuous if accepts_bounds => {
            (Verdict::Inconclusive, Some(format!("within the bounds it was never put to the test; {exceeded}")))
        }
        Verdict::Holds | Verdict::Vacuous => (Verdict::Inconclusive, why),
        Verdict::HoldsWithinBounds | Verdict::Violated | Verdict::Inconclusive => found,
    }
}
