//! What the signs of a picture mean; only those that stand in it.

use lockstep_model::trace::{State, ThreadState, Trace};

use super::super::rows::{Lane, Row};
use super::super::signs::{BELIEVES, PAUSED, WAITS};
use super::flight::{Flight, FlightEnd, Kind};
use super::life::{Life, life};
use super::svg_writer::{Point, SvgWriter};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Believes,
    Waits,
    Stores,
    Paused,
    Sent,
    Answer,
    Effect,
    Message,
    Cross,
    Clash,
}

impl Sign {
    const ALL: [Self; 10] = [
        Self::Believes,
        Self::Waits,
        Self::Stores,
        Self::Paused,
        Self::Sent,
        Self::Answer,
        Self::Effect,
        Self::Message,
        Self::Cross,
        Self::Clash,
    ];

    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::Believes => BELIEVES,
            Self::Waits => WAITS,
            Self::Stores => "stores the lock of the client of that colour",
            Self::Paused => PAUSED,
            Self::Sent => "request",
            Self::Answer => "answer",
            Self::Effect => "effect, to a replica",
            Self::Message => "unlock message",
            Self::Cross => "crash, or lost on its way",
            Self::Clash => "more than one believes it holds",
        }
    }

    /// Draws it left of where its words begin.
    pub(super) fn draw(self, writer: &mut SvgWriter, at: Point) {
        let (left, right) = (at, Point { x: at.x + 30.0, y: at.y });
        let middle = Point { x: at.x + 15.0, y: at.y };
        let bar = |writer: &mut SvgWriter, x: f64, half: f64, class: &str| {
            let (from, to) = (Point { x: x - half, y: at.y - 8.0 }, Point { x: x + half, y: at.y + 8.0 });
            writer.rect(from, to, half.min(4.0), class);
        };
        match self {
            Self::Believes => {
                bar(writer, at.x + 7.0, 6.0, "f0");
                bar(writer, at.x + 23.0, 6.0, "f1");
            }
            Self::Waits => {
                bar(writer, at.x + 7.0, 4.5, "waits s0");
                bar(writer, at.x + 23.0, 4.5, "waits s1");
            }
            Self::Stores => {
                bar(writer, at.x + 7.0, 4.5, "stored f0");
                bar(writer, at.x + 23.0, 4.5, "stored f1");
            }
            Self::Paused => writer.line(left, right, "asleep"),
            Self::Sent => writer.arrow(left, right, "sent"),
            Self::Answer => writer.arrow(left, right, "answer"),
            Self::Effect => writer.arrow(left, right, "effect"),
            Self::Message => writer.arrow(left, right, "message"),
            Self::Cross => writer.cross(middle),
            Self::Clash => {
                writer.rect(Point { x: left.x, y: at.y - 8.0 }, Point { x: right.x, y: at.y + 8.0 }, 4.0, "clash");
            }
        }
    }
}

/// The signs that stand in the picture.
pub(super) fn signs(trace: &Trace, rows: &[&Row], flights: &[Flight]) -> Vec<Sign> {
    let states: Vec<&State> = (0..=trace.steps.len()).map(|steps| trace.state_after(steps)).collect();
    let lanes = Lane::all(&trace.config);
    let lives = |wanted: Life| lanes.iter().any(|lane| states.iter().any(|state| life(state, *lane) == wanted));
    let threads = || states.iter().flat_map(|state| &state.clients).flat_map(|client| &client.threads);
    let mut arrows = rows.iter().filter_map(|row| row.arrow.as_ref()).filter(|arrow| !arrow.is_effect());
    let stands = |sign: &Sign| match sign {
        Sign::Believes => states.iter().any(|state| state.believers().next().is_some()),
        Sign::Waits => threads().any(ThreadState::is_in_lock),
        Sign::Stores => states.iter().flat_map(|state| &state.nodes).any(|node| node.stored.is_held()),
        Sign::Paused => lives(Life::Paused),
        Sign::Sent => arrows.clone().any(|arrow| !arrow.is_answer),
        Sign::Answer => arrows.clone().any(|arrow| arrow.is_answer),
        Sign::Effect => flights.iter().any(|flight| flight.kind == Kind::Effect),
        Sign::Message => flights.iter().any(|flight| flight.kind == Kind::Message),
        Sign::Cross => {
            lives(Life::IsOver)
                || flights.iter().any(|flight| matches!(flight.end, FlightEnd::Lost(_)))
                || arrows.any(|arrow| !arrow.arrives)
        }
        Sign::Clash => states.iter().any(|state| state.believers().count() > 1),
    };
    let mut stands = stands;
    Sign::ALL.into_iter().filter(|sign| stands(sign)).collect()
}
