//! A table of the file, read key by key. Problems are recorded, and reading continues.

use core::cell::{Cell, RefCell};
use core::fmt::Display;
use core::ops::{Range, RangeInclusive};

use lockstep_model::config::{MAX_SET_VALUES, NodeSet, ValueSet};
use lockstep_model::trace::node_name;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::code::Code;
use super::error::Problem;
use super::keys::{self, KEYS, TABLES, TOP, header};
use super::spelling::{kind_of, meant, one_of, removed, short, word_of_flag};
use super::ticks::{self, Tick};
use crate::plain_text::first_hidden;

/// The result of reading one key.
#[derive(Clone, Debug)]
pub(super) enum Entry<T> {
    /// The key is left out.
    Absent,
    /// The key has a problem, which is recorded; its value must not be used.
    Refused,
    /// The value is valid.
    Given {
        /// The value.
        value: T,
        /// The place of the value.
        span: Range<usize>,
    },
}

impl<T: Copy> Entry<T> {
    /// The value, or the default if the key is left out; `None`: the value is wrong.
    pub(super) fn or(&self, default: T) -> Option<T> {
        match self {
            Self::Absent => Some(default),
            Self::Refused => None,
            Self::Given { value, .. } => Some(*value),
        }
    }

    /// The same, for a key whose absence has its own meaning.
    pub(super) fn optional(&self) -> Entry<Option<T>> {
        match self {
            Self::Absent => Entry::Absent,
            Self::Refused => Entry::Refused,
            Self::Given { value, span } => Entry::Given { value: Some(*value), span: span.clone() },
        }
    }

    /// The value and its place.
    pub(super) fn given(&self) -> Option<(T, Range<usize>)> {
        match self {
            Self::Absent | Self::Refused => None,
            Self::Given { value, span } => Some((*value, span.clone())),
        }
    }
}

/// The words that a key accepts, each with its meaning.
pub(super) type Words<'w, T> = &'w [(&'static str, T)];

/// A key and its value.
pub(super) type Line<'a> = (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>);

/// A table of the file.
pub(super) struct Section<'a> {
    name: &'static str,
    table: Option<&'a DeTable<'a>>,
    /// Where a missing key is reported: the header, or the end of the file.
    header: Range<usize>,
    /// The table itself is wrong, so its keys are not checked.
    is_refused: bool,
    /// Misspelt keys: they are not also reported as missing.
    meant: Vec<&'static str>,
    notes: &'a Problems,
}

/// The problems recorded so far, in any table.
#[derive(Default)]
pub(super) struct Problems {
    found: RefCell<Vec<Problem>>,
    /// Keys in the wrong table: they are not also reported as missing in the right one.
    misplaced: RefCell<Vec<&'static str>>,
    /// The length of a tick; it is read before any time.
    tick: Cell<Option<Tick>>,
}

impl Problems {
    /// Records a problem.
    pub(super) fn add(&self, problem: Problem) {
        self.found.borrow_mut().push(problem);
    }

    /// Whether no problem is recorded so far.
    pub(super) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The recorded problems.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.found.into_inner()
    }
}

impl<'a> Section<'a> {
    /// The file itself.
    pub(super) fn top(root: &'a DeTable<'a>, notes: &'a Problems) -> Self {
        let mut top = Self { name: TOP, table: Some(root), header: 0..0, is_refused: false, meant: Vec::new(), notes };
        top.note_unknown_keys();
        top
    }

    /// One of its tables.
    pub(super) fn table(&self, name: &'static str, end: usize) -> Self {
        let mut section = Self {
            name,
            table: None,
            header: end..end,
            is_refused: self.is_refused || self.meant.contains(&name),
            meant: Vec::new(),
            notes: self.notes,
        };
        if let Some((key, value)) = self.find(name) {
            section.header = key.span();
            if let DeValue::Table(table) = value.get_ref() {
                section.table = Some(table);
                section.note_unknown_keys();
            } else {
                section.is_refused = true;
                self.note_type::<()>(name, value, &format!("a table: [{name}] on a line of its own"));
            }
        }
        section
    }

    /// All tables of that name: `[[client]]`. `None`: what stands there is something else.
    pub(super) fn tables(&self, name: &'static str) -> Option<Vec<Self>> {
        let Some((_, value)) = self.find(name) else {
            return if self.meant.contains(&name) { None } else { Some(Vec::new()) };
        };
        let all = match value.get_ref() {
            DeValue::Array(all) => all.iter().map(|one| Some((one.span(), one.get_ref().as_table()?))).collect(),
            _ => None,
        };
        let Some(all): Option<Vec<_>> = all else {
            self.note_type::<()>(name, value, &format!("tables: [[{name}]] on a line of its own, once for each"));
            return None;
        };
        let tables = all.into_iter().map(|(header, table)| {
            let notes = self.notes;
            let mut one = Self { name, table: Some(table), header, is_refused: false, meant: Vec::new(), notes };
            one.note_unknown_keys();
            one
        });
        Some(tables.collect())
    }

    /// The place of its header, if the file has it.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        self.table.map(|_| self.header.clone())
    }

    /// Sets the length of a tick, for the times in every table.
    pub(super) fn set_tick(&self, tick: Tick) {
        self.notes.tick.set(Some(tick));
    }

    /// The place of a key's value, for a problem of two values.
    pub(super) fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.value(key).map(Spanned::span)
    }

    /// Its keys and values, for a table whose keys are not a fixed list.
    pub(super) fn entries(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        self.table.into_iter().flatten()
    }

    /// A whole number.
    pub(super) fn number<T: TryFrom<i64> + PartialOrd + Display + Copy>(
        &self,
        key: &'static str,
        bounds: RangeInclusive<T>,
    ) -> Entry<T> {
        self.number_of(key, &bounds, &format!("a whole number from {} to {}", bounds.start(), bounds.end()))
    }

    /// A time: a whole number of ticks, or a text with a unit that is one.
    pub(super) fn ticks<T: TryFrom<i64> + PartialOrd + Display + Copy>(
        &self,
        key: &'static str,
        bounds: RangeInclusive<T>,
    ) -> Entry<T> {
        let expected = format!("a whole number of ticks from {} to {}", bounds.start(), bounds.end());
        let ms = self.value(key).and_then(|value| Some((value, ticks::in_ms(value.get_ref())?)));
        let (Some((value, ms)), Some(tick)) = (ms, self.notes.tick.get()) else {
            return self.number_of(key, &bounds, &expected);
        };
        // One problem of the whole file, and not one more for each of its times.
        if tick.is_refused && ticks::is_possible(ms) {
            return Entry::Refused;
        }
        let (ticks, rest) = (ms / i64::from(tick.ms), ms % i64::from(tick.ms));
        let number = T::try_from(ticks).ok().filter(|number| rest == 0 && bounds.contains(number));
        if let Some(number) = number {
            return Entry::Given { value: number, span: value.span() };
        }
        let problem = Problem::at(Code::OutOfBounds, value.span(), format!("`{key}` must be {expected}"));
        let label = match rest {
            _ if !ticks::is_possible(ms) => "this time is too long".to_owned(),
            0 => format!("this is {ticks}"),
            _ => "this is not a whole number of ticks".to_owned(),
        };
        self.note(self.with_advice(problem.label(label), key, value))
    }

    fn number_of<T: TryFrom<i64> + PartialOrd + Display + Copy>(
        &self,
        key: &'static str,
        bounds: &RangeInclusive<T>,
        expected: &str,
    ) -> Entry<T> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        let Some(number) = whole(value) else { return self.note_type(key, value, expected) };
        let fits = |number: &i64| T::try_from(*number).ok().filter(|number| bounds.contains(number));
        if let Some(number) = number.as_ref().ok().and_then(fits) {
            return Entry::Given { value: number, span: value.span() };
        }
        let is_small =
            number.is_ok_and(|number| number < 1 || T::try_from(number).is_ok_and(|number| number < *bounds.start()));
        let size = if is_small { "small" } else { "large" };
        let problem = Problem::at(Code::OutOfBounds, value.span(), format!("`{key}` must be {expected}"));
        self.note(self.with_advice(problem.label(format!("this number is too {size}")), key, value))
    }

    /// A time, or "none".
    pub(super) fn ticks_or_none(&self, key: &'static str, bounds: RangeInclusive<u8>) -> Entry<Option<u8>> {
        match self.value(key) {
            Some(value) if value.get_ref().as_str() == Some("none") => Entry::Given { value: None, span: value.span() },
            _ => self.ticks(key, bounds).optional(),
        }
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &'static str) -> Entry<bool> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        match value.get_ref().as_bool() {
            Some(flag) => Entry::Given { value: flag, span: value.span() },
            None => self.note_type(key, value, "true or false"),
        }
    }

    /// One of a few words. `what` names what the words stand for: "lock kind".
    pub(super) fn word<T: Copy>(&self, key: &'static str, what: &str, words: Words<'_, T>) -> Entry<T> {
        self.word_or_near(key, what, words, |_| None)
    }

    /// The same, where `near` knows better than the letters of a wrong word which one is meant.
    pub(super) fn word_or_near<T: Copy>(
        &self,
        key: &'static str,
        what: &str,
        words: Words<'_, T>,
        near: impl Fn(&str) -> Option<&'static str>,
    ) -> Entry<T> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let expected = one_of(&known);
        let Some(word) = value.get_ref().as_str() else {
            let problem = type_problem(key, value, &expected);
            let flag = value.get_ref().as_bool().and_then(|flag| word_of_flag(key, flag));
            return self.note(match flag {
                Some(word) => problem.help(format!("write {key} = \"{word}\"")),
                None => problem,
            });
        };
        if let Some((_, meaning)) = words.iter().find(|(known, _)| *known == word) {
            return Entry::Given { value: *meaning, span: value.span() };
        }
        let label = near(word)
            .or_else(|| meant(word, &known))
            .map_or_else(|| "this word is unknown".to_owned(), |near| format!("did you mean \"{near}\"?"));
        let problem = Problem::at(Code::UnknownWord, value.span(), format!("there is no {what} `{}`", short(word)));
        self.note(problem.label(label).help(format!("`{key}` must be {expected}")))
    }

    /// A bound on a delay: a number of ticks, or "any".
    pub(super) fn ticks_or_any(&self, key: &'static str, most: u8) -> Entry<Option<u8>> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        match value.get_ref() {
            DeValue::String(word) if word == "any" => Entry::Given { value: None, span: value.span() },
            DeValue::Integer(_) => self.ticks(key, 0..=most).optional(),
            time if ticks::in_ms(time).is_some() => self.ticks(key, 0..=most).optional(),
            _ => self.note_type(key, value, &format!("a whole number of ticks from 0 to {most}, or \"any\"")),
        }
    }

    /// Free text.
    pub(super) fn text(&self, key: &'static str, most: usize) -> Entry<&'a str> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        let Some(text) = value.get_ref().as_str() else { return self.note_type(key, value, "text in quotes") };
        let problem = if text.trim().is_empty() {
            "is empty".into()
        } else if text.chars().count() > most {
            format!("has {} characters", text.chars().count())
        } else if let Some(hidden) = first_hidden(text, &['\n', '\r', '\t']) {
            format!("has {hidden}")
        } else {
            return Entry::Given { value: text, span: value.span() };
        };
        let problem = Problem::at(Code::OutOfBounds, value.span(), format!("`{key}` {problem}"));
        self.note(problem.label(format!("write 1 to {most} characters of plain text")))
    }

    /// Some nodes, by their names: `["n2", "n3"]`. `most`: how many there can be.
    pub(super) fn nodes(&self, key: &'static str, most: u8) -> Entry<NodeSet> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        let number = |name: &str| (0..most).find(|node| node_name(*node) == name);
        let Some(names) = value.get_ref().as_array() else {
            return self.note_type(key, value, "a list of nodes, for example [\"n2\"]");
        };
        let mut all = Vec::new();
        for name in names {
            let Some(node) = name.get_ref().as_str().and_then(number) else {
                let last = node_name(most - 1);
                let title = format!("`{key}` names nodes, \"n1\" to \"{last}\"");
                let said = name
                    .get_ref()
                    .as_str()
                    .map_or("this is no name".to_owned(), |said| format!("no node is called {said}"));
                let problem = Problem::at(Code::WrongType, name.span(), title).label(said);
                return self.note(problem.help(format!("write them as in [\"{last}\"]")));
            };
            if all.contains(&node) {
                let title = format!("{} is in `{key}` twice", node_name(node));
                return self.note(Problem::at(Code::WrongType, name.span(), title).label("leave one of them out"));
            }
            all.push(node);
        }
        Entry::Given { value: all.into_iter().collect(), span: value.span() }
    }

    /// Some values of a lock over several, by their numbers: `[1, 2]`.
    pub(super) fn values(&self, key: &'static str) -> Entry<ValueSet> {
        let Some(value) = self.value(key) else { return self.absent(key) };
        let Some(numbers) = value.get_ref().as_array() else {
            return self.note_type(key, value, "a list of values, for example [1, 2]");
        };
        let number = |one: &Spanned<DeValue<'_>>| one.get_ref().as_integer()?.to_string().parse::<u8>().ok();
        let numbers: Option<Vec<_>> = numbers.iter().map(number).collect();
        let Some(set) = numbers.as_deref().and_then(ValueSet::of) else {
            let title = format!("`{key}` names values, each once: 1 to {MAX_SET_VALUES}");
            let problem = Problem::at(Code::WrongType, value.span(), title).label("these are not some of them");
            return self.note(problem.help("write them as in [1] or [1, 2]"));
        };
        Entry::Given { value: set, span: value.span() }
    }

    /// Reports a key that is missing and has no default.
    pub(super) fn require<T>(&self, key: &'static str, entry: Entry<T>, example: &str) -> Entry<T> {
        if !matches!(entry, Entry::Absent) {
            return entry;
        }
        let title = format!("`{key}` is missing, and it has no default");
        let problem = Problem::at(Code::MissingKey, self.header.clone(), title)
            .label(format!("`{key}` must stand {}", place(self.name)));
        let header =
            if self.table.is_some() { String::new() } else { format!("the table {} with ", header(self.name)) };
        self.note(problem.help(format!("add {header}{example}")))
    }

    /// Records a problem. The value is then not used.
    pub(super) fn note<T>(&self, problem: Problem) -> Entry<T> {
        self.notes.add(problem);
        Entry::Refused
    }

    fn find(&self, key: &str) -> Option<Line<'a>> {
        self.table?.get_key_value(key)
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.find(key).map(|(_, value)| value)
    }

    fn absent<T>(&self, key: &'static str) -> Entry<T> {
        let is_elsewhere = self.is_refused || self.meant.contains(&key) || self.notes.misplaced.borrow().contains(&key);
        if is_elsewhere { Entry::Refused } else { Entry::Absent }
    }

    fn note_type<T>(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Entry<T> {
        self.note(self.with_advice(type_problem(key, value, expected), key, value))
    }

    /// Adds what to write instead, where the value is a time in another unit than ticks.
    fn with_advice(&self, problem: Problem, key: &str, value: &Spanned<DeValue<'_>>) -> Problem {
        let is_time = KEYS.iter().any(|known| known.stands_in(self.name) && known.name == key && known.is_in_ticks());
        let advice = self.notes.tick.get().filter(|_| is_time);
        match advice.map(|tick| ticks::advice(key, value.get_ref(), tick)) {
            Some(advice) => problem.help(advice),
            None => problem,
        }
    }

    /// A header such as `[clusters]`: the tables are suggested, and no keys.
    fn note_unknown_table(&mut self, word: &str, span: Range<usize>) {
        let tables: Vec<_> = TABLES.iter().map(|(name, _)| *name).filter(|name| *name != TOP).collect();
        let problem = Problem::at(Code::UnknownKey, span, format!("there is no table [{}]", short(word)));
        let problem = match meant(word, &tables) {
            Some(near) => {
                self.meant.push(near);
                problem.label(format!("did you mean {}?", header(near)))
            }
            None => problem.label("this table is unknown"),
        };
        let all: Vec<_> = tables.iter().map(|name| header(name)).collect();
        self.note::<()>(problem.help(format!("the tables are {}", all.join(", "))));
    }

    fn note_unknown_keys(&mut self) {
        let known = keys::known(self.name);
        if known.is_empty() {
            return;
        }
        for (key, value) in self.entries().filter(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
            let word = key.get_ref();
            let is_header = self.name == TOP && matches!(value.get_ref(), DeValue::Table(_));
            if is_header && removed(word).is_none() && home_of(word).is_none() {
                self.note_unknown_table(word, key.span());
                continue;
            }
            let here = place(self.name);
            let title = format!("there is no key `{}` {here}", short(word));
            let mut problem = Problem::at(Code::UnknownKey, key.span(), title);
            if let Some(instead) = removed(word) {
                problem = problem.label(instead);
            } else if let Some((home, key)) = home_of(word) {
                self.notes.misplaced.borrow_mut().push(key);
                problem = problem.label(format!("`{word}` belongs {}", place(home)));
            } else if let Some(near) = meant(word, &known) {
                self.meant.push(near);
                problem = problem.label(format!("did you mean `{near}`?"));
            } else if let Some((home, near)) = meant(word, &every_key()).and_then(home_of) {
                self.notes.misplaced.borrow_mut().push(near);
                problem = problem.label(format!("did you mean `{near}`? it belongs {}", place(home)));
            } else {
                problem = problem.label("this key is unknown");
            }
            self.note::<()>(problem.help(format!("the keys {here} are {}", known.join(", "))));
        }
    }
}

/// Where the keys of a table stand.
fn place(table: &str) -> String {
    if table == TOP { "before the first table".into() } else { format!("in {}", header(table)) }
}

fn every_key() -> Vec<&'static str> {
    KEYS.iter().map(|key| key.name).collect()
}

/// The table that contains such a key.
fn home_of(word: &str) -> Option<(&'static str, &'static str)> {
    let keys = KEYS.iter().map(|key| (key.table, key.name));
    let tables = TABLES.iter().map(|(name, _)| (TOP, *name));
    keys.chain(tables).find(|(_, name)| *name == word)
}

/// `None`: not a whole number. `Err`: a whole number that is too large to represent.
fn whole(value: &Spanned<DeValue<'_>>) -> Option<Result<i64, core::num::ParseIntError>> {
    value.get_ref().as_integer().map(|number| i64::from_str_radix(number.as_str(), number.radix()))
}

fn type_problem(key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Problem {
    let problem = Problem::at(Code::WrongType, value.span(), format!("`{key}` must be {expected}"));
    problem.label(format!("this is {}", kind_of(value.get_ref())))
}
