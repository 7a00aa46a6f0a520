//! The problems of a scenario, each shown at its place in the text.

use core::fmt;
use core::ops::Range;
use std::collections::BTreeSet;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use textwrap::{Options, WordSplitter};

use super::code::Code;
use crate::plain_text::{all_visible, shown};

/// How many problems are shown; further ones are only counted.
pub const MAX_PROBLEMS: usize = 20;
/// Width of a report in columns, where nothing is known of the reader's terminal.
const WIDTH: usize = 100;
/// Columns before the text of a help line: ` --> ` and `help: `.
const HELP_MARGIN: usize = 14;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    code: Code,
    title: String,
    mark: Option<Mark>,
    also: Vec<Mark>,
    help: Vec<String>,
}

/// A place in the text, with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    span: Range<usize>,
    label: String,
}

impl Problem {
    /// A problem with the file as a whole.
    pub(super) fn of_file(code: Code, title: impl Into<String>) -> Self {
        Self { code, title: title.into(), mark: None, also: Vec::new(), help: Vec::new() }
    }

    /// A problem at one place.
    pub(super) fn at(code: Code, span: Range<usize>, title: impl Into<String>) -> Self {
        Self { mark: Some(Mark { span, label: String::new() }), ..Self::of_file(code, title) }
    }

    /// Sets the text beside the marker.
    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(mark) = &mut self.mark {
            mark.label = label.into();
        }
        self
    }

    /// Adds another place that is related to the problem.
    pub(super) fn also(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.also.push(Mark { span, label: label.into() });
        self
    }

    /// Adds advice on what to do.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Its stable name.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The problem, in one line.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The place, in bytes of the file; `None`: the file as a whole.
    pub fn span(&self) -> Option<Range<usize>> {
        self.mark.as_ref().map(|mark| mark.span.clone())
    }

    /// Adjusts every mark to lie inside the text and between characters, whatever the parser reported.
    fn fit(&mut self, text: &str) {
        for mark in self.mark.iter_mut().chain(&mut self.also) {
            let start = floor(text, mark.span.start);
            mark.span = start..floor(text, mark.span.end).max(start);
        }
    }
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// All problems with the requested scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    sources: Vec<Source>,
    /// Problems beyond [`MAX_PROBLEMS`].
    more: usize,
}

/// A file, and its problems.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    /// As the user typed it.
    path: String,
    text: String,
    problems: Vec<Problem>,
}

impl ScenarioError {
    /// Problems inside a text.
    pub(super) fn in_text(path: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        for problem in &mut problems {
            problem.fit(text);
        }
        problems.sort_by_key(|problem| problem.span().map_or((0, 0), |span| (span.start, span.end)));
        let more = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        Self { sources: vec![Source { path: shown(path, &[]), text: all_visible(text), problems }], more }
    }

    /// Problems with a file, folder or name as a whole.
    pub(super) fn of_file(path: &str, problem: Problem) -> Self {
        Self::in_text(path, "", vec![problem])
    }

    /// Joins the problems of both.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.more += other.more;
        for mut source in other.sources {
            let room = MAX_PROBLEMS.saturating_sub(self.problems().count());
            self.more += source.problems.len().saturating_sub(room);
            source.problems.truncate(room);
            if !source.problems.is_empty() {
                self.sources.push(source);
            }
        }
        self
    }

    /// The problems, grouped by file and in the order of each file; at most [`MAX_PROBLEMS`].
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.sources.iter().flat_map(|source| &source.problems)
    }

    /// Whether the only problem is that the scenario's rules are not modelled yet.
    pub fn is_not_modelled(&self) -> bool {
        self.problems().all(|problem| problem.code() == Code::NotModelled)
    }

    /// The first problem, in one line.
    pub fn first(&self) -> String {
        self.problems().map(Problem::title).next().unwrap_or_default().to_owned()
    }

    /// The report for people: each problem at its place, with a marker, what was expected and what to do.
    pub fn report(&self, color: bool) -> String {
        self.report_in(color, WIDTH)
    }

    /// The same in so many columns: help is wrapped and long lines of the file are cut.
    pub fn report_in(&self, color: bool, columns: usize) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(columns);
        let mut pictures: Vec<String> = Vec::new();
        for source in &self.sources {
            pictures.extend(source.problems.iter().map(|problem| picture(source, problem, &renderer, columns)));
        }
        if self.more > 0 {
            pictures.push(format!("{} more problems are not shown", self.more));
        }
        let codes: BTreeSet<Code> = self.problems().map(Problem::code).collect();
        let mut codes = codes.into_iter().map(Code::id);
        let (first, others) = (codes.next().unwrap_or_default(), codes.collect::<Vec<_>>().join(", "));
        let others = if others.is_empty() { others } else { format!(" (or {others})") };
        pictures.push(format!("next  lockstep explain {first}{others}"));
        pictures.join("\n\n")
    }
}

fn picture(source: &Source, problem: &Problem, renderer: &Renderer, columns: usize) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(&problem.title).id(problem.code.id()));
    match &problem.mark {
        Some(mark) => {
            let label = (!mark.label.is_empty()).then_some(mark.label.as_str());
            let also =
                problem.also.iter().map(|also| AnnotationKind::Context.span(also.span.clone()).label(&also.label));
            group = group.element(
                Snippet::source(&source.text)
                    .path(&source.path)
                    .annotation(AnnotationKind::Primary.span(mark.span.clone()).label(label))
                    .annotations(also),
            );
        }
        None => group = group.element(Origin::path(&source.path)),
    }
    for help in &problem.help {
        let lines = textwrap::wrap(
            help,
            Options::new(columns.saturating_sub(HELP_MARGIN).max(HELP_MARGIN))
                .break_words(false)
                .word_splitter(WordSplitter::NoHyphenation),
        );
        group = group.element(Level::HELP.message(lines.join("\n")));
    }
    renderer.render(&[group])
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report(false))
    }
}

impl core::error::Error for ScenarioError {}
