//! What a replay has found out about the current history: how much was compared, where the two sides first disagree, and,
//! if they are asked for, the answers in words.

use super::compare::Difference;
use super::history_step::StepPlace;

/// The findings of one history.
#[derive(Default)]
pub struct Findings {
    /// Per step, what was asked and answered; empty unless answers are kept.
    pub answers: Vec<Vec<String>>,
    /// How many things were compared.
    pub compared: usize,
    /// The difference in the earliest step.
    pub difference: Option<Difference>,
    /// Why the rest of the history cannot be followed, if it cannot.
    pub left: Option<&'static str>,
}

impl Findings {
    /// Compares what the model says with what Redis says, and keeps the earliest difference: the answers to a stretch of
    /// steps are read node by node, and so not in the order of the steps.
    pub fn compare(&mut self, at: StepPlace, what: impl FnOnce() -> String, model: &str, redis: &str) {
        self.compared += 1;
        let is_earlier = self.difference.as_ref().is_none_or(|known| at.step < known.step);
        if model != redis && is_earlier {
            let (model, redis) = (model.to_owned(), redis.to_owned());
            let (step, action, what) = (at.step, at.action, what());
            self.difference = Some(Difference { step, action, what, model, redis, known: None, scripts: None });
        }
    }

    /// The rest of the history cannot be followed, for this reason.
    pub const fn leave(&mut self, why: &'static str) {
        if self.left.is_none() {
            self.left = Some(why);
        }
    }

    /// Whether no further step is to be played.
    pub const fn is_over(&self) -> bool {
        self.difference.is_some() || self.left.is_some()
    }

    /// Keeps an answer of the current step, if answers are kept.
    pub fn note(&mut self, words: impl FnOnce() -> String) {
        if let Some(answers) = self.answers.last_mut() {
            answers.push(words());
        }
    }

    /// Keeps an answer of this step, if answers are kept.
    pub fn note_at(&mut self, at: StepPlace, words: impl FnOnce() -> String) {
        if let Some(answers) = at.step.checked_sub(1).and_then(|index| self.answers.get_mut(index)) {
            answers.push(words());
        }
    }
}
