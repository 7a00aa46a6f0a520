//! Two places of a scenario file that contradict each other.

use lockstep_model::LockKind;
use lockstep_model::locks::Facts;

use super::code::Code;
use super::error::Problem;
use super::section::Section;

/// So many kinds are a list that helps; of more the first one is an example.
const A_FEW: usize = 3;

/// The lock kinds with this fact, as a scenario would write them.
pub(super) fn kinds_with(is_there: impl Fn(&Facts) -> bool) -> String {
    let kinds: Vec<_> = LockKind::ALL.iter().filter(|kind| is_there(kind.facts())).map(|kind| kind.name()).collect();
    match &kinds[..] {
        [] => "another lock kind".to_owned(),
        [first, others @ ..] if others.len() < A_FEW => {
            others.iter().fold(format!("lock = \"{first}\""), |all, kind| format!("{all} or \"{kind}\""))
        }
        [first, ..] => format!("lock = \"{first}\""),
    }
}

/// Two places that contradict each other; no problem is recorded if the first is not in the file.
pub(super) struct Contradiction<'s, 'a> {
    section: &'s Section<'a>,
    problem: Option<Problem>,
}

impl<'s, 'a> Contradiction<'s, 'a> {
    pub(super) fn of(section: &'s Section<'a>, key: &str, reason: &str) -> Self {
        Self::with_code(Code::Impossible, section, key, reason)
    }

    /// Two places that do not contradict each other, but whose combination is not modelled.
    pub(super) fn not_yet(section: &'s Section<'a>, key: &str, reason: &str) -> Self {
        Self::with_code(Code::NotModelled, section, key, reason)
    }

    fn with_code(code: Code, section: &'s Section<'a>, key: &str, reason: &str) -> Self {
        let problem = section.span_of(key).map(|span| Problem::at(code, span, reason));
        Self { section, problem }
    }

    pub(super) fn with(self, span: Option<core::ops::Range<usize>>, label: impl Into<String>) -> Self {
        let Some(span) = span else { return self };
        Self { problem: self.problem.map(|problem| problem.also(span, label)), ..self }
    }

    pub(super) fn note(self, help: &str) {
        if let Some(problem) = self.problem {
            self.section.note::<()>(problem.help(help));
        }
    }
}
