//! Parses the text as TOML. A file with a syntax error is not read any further, because later problems would be
//! guesses.

use core::ops::Range;
use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::code::Code;
use super::error::{MAX_PROBLEMS, Problem};
use super::keys::KEYS;
use super::section::Problems;
use super::spelling::short;
use super::ticks;

/// The message for a trace that is passed as a scenario.
const JSON: &str = "this looks like JSON; if it is a trace, give it to `lockstep replay` or `lockstep show`";

/// The parsed text, and whether it can be relied on. A duplicate key is recorded, and its first value counts.
pub(super) fn parse<'t>(text: &'t str, notes: &Problems) -> (Spanned<DeTable<'t>>, bool) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let line_ends: Vec<_> = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut lines_with_errors = BTreeSet::new();
    let is_json = text.trim_start().starts_with('{');
    for (count, error) in errors.into_iter().enumerate() {
        let span = error.span().unwrap_or(text.len()..text.len());
        if error.message() == "duplicate key" {
            // The duplicate is not located for problems that are not shown.
            let root = (count < MAX_PROBLEMS).then_some(root.get_ref());
            notes.add(duplicate(text, root, span));
            continue;
        }
        // Later errors on a line mostly follow from its first, and all errors in JSON from its first brace.
        let line = line_ends.partition_point(|end| *end < span.start);
        let is_first = if is_json { lines_with_errors.is_empty() } else { !lines_with_errors.contains(&line) };
        lines_with_errors.insert(line);
        if is_first {
            let problem = not_toml(text, span, error.message());
            notes.add(if is_json { problem.help(JSON) } else { problem });
        }
    }
    if lines_with_errors.is_empty() && root.get_ref().is_empty() && notes.is_empty() {
        let problem = Problem::at(Code::Empty, 0..0, "the file is empty");
        notes.add(problem.label("a scenario needs a story, a lock, [time] and [clients]"));
        return (root, false);
    }
    (root, lines_with_errors.is_empty())
}

fn not_toml(text: &str, span: Range<usize>, message: &str) -> Problem {
    let (title, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let mut problem = Problem::at(Code::Syntax, span.clone(), format!("this is not TOML: {title}"));
    if !expected.is_empty() {
        problem = problem.label(format!("TOML requires {expected} here"));
    }
    if let Some(advice) = time_with_a_unit(text, &span) {
        return problem.label("a time with a unit is written in quotes").help(advice);
    }
    match text.get(span) {
        Some(word) if title.starts_with("string values must be quoted") => {
            problem.label(format!("write \"{}\"", short(word)))
        }
        _ => problem,
    }
}

/// What to write instead, where a key that takes a time has one with a unit: `lease = 30s`.
fn time_with_a_unit(text: &str, span: &Range<usize>) -> Option<String> {
    let before = text.get(..span.start)?;
    let key = before.lines().next_back()?.trim().strip_suffix('=')?.trim_end();
    let is_time = KEYS.iter().any(|known| known.name == key && known.is_in_ticks());
    let time = text.get(span.clone())?.trim();
    (is_time && ticks::ms_of(time).is_some()).then(|| format!("write {key} = \"{time}\""))
}

fn duplicate(text: &str, root: Option<&DeTable<'_>>, span: Range<usize>) -> Problem {
    let key = text.get(span.clone()).unwrap_or_default();
    let problem = Problem::at(Code::Duplicate, span.clone(), format!("`{}` stands twice", short(key)));
    let problem = problem.label("it stands here again").help("remove one of the two");
    match root.and_then(|root| first(root, key, span.start)) {
        Some(first) => problem.also(first, "it stands here first"),
        None => problem,
    }
}

/// The last place before `end` where that key occurs: the other occurrence of a key that belongs to one table only.
fn first(table: &DeTable<'_>, key: &str, end: usize) -> Option<Range<usize>> {
    let here = table.get_key_value(key).map(|(first, _)| first.span());
    let below = table.values().filter_map(|value| match value.get_ref() {
        DeValue::Table(table) => first(table, key, end),
        DeValue::Array(tables) => {
            let tables = tables.iter().filter_map(|table| table.get_ref().as_table());
            tables.filter_map(|table| first(table, key, end)).max_by_key(|span| span.start)
        }
        _ => None,
    });
    below.chain(here).filter(|span| span.end <= end).max_by_key(|span| span.start)
}
