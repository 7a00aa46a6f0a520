//! Scenarios that no author wrote: the texts of small worlds, generated at random.
//!
//! They are generated as texts and not as configs, so that the reader decides which keys fit together, and so that a
//! finding can be saved as a file. Features that the reader still rejects as not modelled are generated as well: they
//! are tested from the day on which the reader accepts them.

mod for_redisson;
mod rows;
mod said;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::iter;
use std::sync::OnceLock;

use lockstep_model::LockKind;
use lockstep_sim::scenario::{CLIENT, KEYS, Scenario, ScenarioError, ScenarioKey, TABLES, header};
use proptest::option::{Probability, weighted};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng, TestRunner};

pub use for_redisson::any_text_for_redisson;
use rows::{DrawnKey, OWN_ROWS, ROWS};
use said::Said;

/// In this many of a thousand scenarios the requirements of keys are ignored, so that keys may not fit together.
const CARELESS: u16 = 60;
/// The percentage of scenarios in which client A has a table of its own.
const UNLIKE: u16 = 15;
/// The factor by which faults are more frequent in a world where more goes wrong.
const WILD: u16 = 3;

/// The text of a small world; the reader accepts most of them.
pub fn any_scenario_text() -> impl Strategy<Value = String> {
    let is_careless = weighted(Probability::new(f64::from(CARELESS) / 1000.0), Just(()));
    let own = weighted(Probability::new(f64::from(UNLIKE) / 100.0), values(OWN_ROWS, 1));
    (prop_oneof![3 => values(ROWS, 1), 1 => values(ROWS, WILD)], own, is_careless)
        .prop_map(|(values, own, careless)| text(ROWS, &values, &own.unwrap_or_default(), careless.is_some()))
}

/// The same, parsed; rejected texts are filtered out.
pub fn any_scenario() -> impl Strategy<Value = Scenario> {
    any_scenario_text().prop_filter_map("the reader refuses it", |text| read(&text).ok())
}

/// Parses the text, under a name that says where it comes from.
///
/// # Errors
/// Fails if the text contains keys that do not fit together.
pub fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse("drawn", text)
}

/// As many texts as asked for, the same for the same seed.
///
/// # Panics
/// A text cannot be drawn: a bug of the rows.
pub fn texts(seed: u64, count: u32) -> Vec<String> {
    drawn(any_scenario_text(), seed).take(count as usize).collect()
}

/// Texts without end, the same for the same seed.
///
/// # Panics
/// A text cannot be drawn: a bug of the rows.
pub fn drawn(any_text: impl Strategy<Value = String>, seed: u64) -> impl Iterator<Item = String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    iter::repeat_with(move || any_text.new_tree(&mut runner).expect("nothing is rejected").current())
}

/// For properties of worlds at random: the same worlds for the same seed, which `LOCKSTEP_DRAW_SEED` gives; and so many,
/// unless `LOCKSTEP_DRAW_SCENARIOS` asks for others.
pub fn worlds_at_random(cases: u32) -> Config {
    let seed = RngSeed::Fixed(from_environment("LOCKSTEP_DRAW_SEED", 0));
    Config { cases: from_environment("LOCKSTEP_DRAW_SCENARIOS", cases), rng_seed: seed, ..Config::default() }
}

/// The number that an environment variable gives: how many scenarios are drawn, with which seed.
///
/// # Panics
/// The variable is not a number.
pub fn from_environment<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Prints the whole text if the test fails while it is in use, so that it can be put into a file and run.
pub struct ShownIfItFails<'a>(pub &'a str);

impl Drop for ShownIfItFails<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in this scenario:\n\n{}", self.0);
        }
    }
}

/// A value for each row, or none. They shrink to none, which gives the world with the fewest faults.
fn values<'a>(rows: impl IntoIterator<Item = &'a DrawnKey>, wildness: u16) -> Vec<BoxedStrategy<Option<&'static str>>> {
    let drawn = |row: &DrawnKey| {
        let is_fault = table_of(row.key) == "faults";
        let often = if is_fault { (row.often * wildness).min(80) } else { row.often };
        let value = select(if row.values.is_empty() { lock_words().to_vec() } else { row.values.to_vec() });
        match often {
            100 => value.prop_map(Some).boxed(),
            _ => weighted(Probability::new(f64::from(often) / 100.0), value).boxed(),
        }
    };
    rows.into_iter().map(drawn).collect()
}

/// Every lock kind as written in a scenario; kinds whose waiters sleep are three times as frequent, for they have more
/// rules.
fn lock_words() -> &'static [&'static str] {
    static WORDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let word = |kind: &LockKind| -> &'static str { format!("\"{}\"", kind.name()).leak() };
        let often = |kind: &LockKind| if kind.facts().publishes() { 3 } else { 1 };
        LockKind::ALL.iter().flat_map(|kind| iter::repeat_n(word(kind), often(kind))).collect()
    })
}

fn text<'a>(
    rows: impl IntoIterator<Item = &'a DrawnKey>,
    values: &[Option<&'static str>],
    own: &[Option<&'static str>],
    is_careless: bool,
) -> String {
    let mut said = Said::default();
    for (row, value) in rows.into_iter().zip(values) {
        if let Some(value) = value
            && !said.has(row.key)
            && (is_careless || (row.goes_with)(&said) && !(said.has("lock") && said.leaves_out(row.key)))
        {
            said.0.insert(row.key, value);
        }
    }
    let own = OWN_ROWS.iter().zip(own).filter(|(row, _)| is_careless || (row.goes_with)(&said));
    let mut told = BTreeSet::new();
    let own = own.filter_map(|(row, value)| {
        let value = (*value)?;
        told.insert(row.key).then(|| format!("{} = {value}\n", row.key))
    });
    let own: String = own.collect();
    let mut text = String::new();
    for (table, _) in TABLES {
        let keys = KEYS.iter().filter(|key| key.table == table);
        let value = |name: &str| {
            said.0.get(&*format!("{table}.{name}")).or_else(|| said.0.get(name).filter(|_| table_of(name) == table))
        };
        let mut lines: String = keys.filter_map(|key| Some(format!("{} = {}\n", key.name, value(key.name)?))).collect();
        if table == CLIENT {
            lines += &own;
        }
        if !table.is_empty() && !lines.is_empty() {
            let _ = writeln!(text, "{}", header(table));
        }
        text += &lines;
    }
    text
}

/// The table of a row's key: `receipts`, or `bounds.receipts` where an earlier table has one of that name as well.
fn table_of(key: &str) -> &'static str {
    let (table, name) = key.split_once('.').map_or((None, key), |(table, name)| (Some(table), name));
    let is_meant = |known: &&ScenarioKey| known.name == name && table.is_none_or(|table| known.table == table);
    KEYS.iter().find(is_meant).unwrap_or_else(|| panic!("there is no key {key}")).table
}
