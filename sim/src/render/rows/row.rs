//! The lines of a picture.

use lockstep_model::trace::TraceStep;

use super::super::paint::Tone;
use super::lane::Lane;

/// One line of the picture.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of its first step.
    pub first: usize,
    /// The number of its last step.
    pub last: usize,
    /// Whether it begins these steps: then their number is shown here.
    pub opens: bool,
    /// Whether it ends these steps: then their state is reached here.
    pub closes: bool,
    /// Ticks since the start.
    pub at_tick: u32,
    /// The text that some lanes show.
    pub(crate) cells: Vec<(Lane, String, Tone)>,
    /// What is sent, if anything.
    pub arrow: Option<Arrow>,
    /// What happens, in a sentence.
    pub what: String,
}

/// Something sent from one lane to another.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The sender.
    pub from: Lane,
    /// The receiver.
    pub to: Lane,
    /// What is sent, in a word or two.
    pub says: String,
    /// Whether it is an answer.
    pub is_answer: bool,
    /// Whether it arrives.
    pub arrives: bool,
}

impl Arrow {
    /// Whether it is an effect from node to node: the pictures draw it from the step that sent it.
    pub fn is_effect(&self) -> bool {
        matches!((self.from, self.to), (Lane::Node(_), Lane::Node(_)))
    }
}

impl Row {
    /// Its arrow does not arrive.
    pub(super) fn lost(mut self) -> Self {
        if let Some(arrow) = &mut self.arrow {
            arrow.arrives = false;
        }
        self
    }

    pub(super) fn of(step: &TraceStep, what: String) -> Self {
        Self {
            first: step.number,
            last: step.number,
            opens: true,
            closes: true,
            at_tick: step.at_tick,
            cells: Vec::new(),
            arrow: None,
            what,
        }
    }

    pub(super) fn showing(mut self, lane: Lane, text: impl Into<String>, tone: Tone) -> Self {
        self.cells.push((lane, text.into(), tone));
        self
    }

    pub(super) fn sending(mut self, from: Lane, to: Lane, says: impl Into<String>) -> Self {
        self.arrow = Some(Arrow { from, to, says: says.into(), is_answer: false, arrives: true });
        self
    }

    pub(super) fn answering(mut self, from: Lane, to: Lane, says: impl Into<String>) -> Self {
        self.arrow = Some(Arrow { from, to, says: says.into(), is_answer: true, arrives: true });
        self
    }
}
