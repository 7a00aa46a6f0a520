//! Files that somebody, or a broken disk, has changed: each is read or refused, and what is accepted is searched. Nothing
//! panics, and memory stays small however many there are.
//!
//! `LOCKSTEP_MUTATED_FILES` says how many; `make soak` tries a million.

use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::trace::About;
use lockstep_model::{Action, Property};
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::trace_file;
use crate::check::memory;
use crate::check::{Engine, How, Limits, search};
use crate::plain_text::first_hidden;
use crate::recorder;
use crate::scenario::{Scenario, builtin_files};

/// How many files are tried unless the variable says another number.
const FILES: u32 = 3_000;
/// A world is searched up to this many states.
const MOST_STATES: u64 = 1_000;
/// The memory that a million files may take.
const MOST_BYTES: u64 = 100 << 20;
/// What is written into a file: syntax, numbers at the edges, and what is hard to display.
const PIECES: [&str; 24] = [
    "\"", "[", "]", "{", "}", "=", ":", ",", "\n", "\r", "-", "0", "1", "-1", "60", "61", "255", "256", "1e9", "true",
    "null", "\u{202e}", "\u{0}", "\"any\"",
];

/// A number below this one.
fn below(random: &mut TestRng, most: usize) -> usize {
    use proptest::prelude::Rng as _;
    usize::try_from(random.next_u64() % (most as u64).max(1)).unwrap_or(0)
}

/// The text with a few changes: a piece of it deleted, copied elsewhere or replaced, a digit or a character changed.
fn mutated(text: &str, random: &mut TestRng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=below(random, 3) {
        let at = below(random, letters.len());
        let end = (at + 1 + below(random, 12)).min(letters.len());
        match below(random, 6) {
            0 => drop(letters.drain(at..end)),
            1 => {
                let copied = letters[at..end].to_vec();
                let to = below(random, letters.len());
                letters.splice(to..to, copied);
            }
            2 => drop(letters.splice(at..at, PIECES[below(random, PIECES.len())].chars())),
            3 => drop(letters.splice(at..(at + 1).min(letters.len()), PIECES[below(random, PIECES.len())].chars())),
            4 => letters.truncate(at),
            _ => {
                // Numbers are where a file is wrong and still looks right.
                let digits: Vec<usize> = (0..letters.len()).filter(|&at| letters[at].is_ascii_digit()).collect();
                if let Some(&digit) = digits.get(below(random, digits.len())) {
                    letters[digit] = char::from(b'0' + u8::try_from(below(random, 10)).unwrap_or(0));
                }
            }
        }
    }
    letters.into_iter().collect()
}

fn limits<'a>(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Limits<'a> {
    Limits { max_states: Some(MOST_STATES), ..Limits::none(stop, progress) }
}

/// Reads the scenario, or reports why it is refused; searches an accepted one. Whether it is accepted.
fn tries_scenario(text: &str) -> bool {
    match Scenario::parse("mutated", text) {
        Ok(scenario) => {
            let (stop, progress) = Default::default();
            let properties =
                Property::SAFETY.map(|property| property.applies(&scenario.config).ok().map(|()| property));
            let properties: Vec<_> = properties.into_iter().flatten().collect();
            let how = How::by(Engine::Native);
            let found = search(&scenario.config, &properties, how, &limits(&stop, &progress));
            assert!(found.states > 0, "{text}");
            true
        }
        Err(error) => {
            let report = error.report(false);
            assert!(!report.is_empty() && first_hidden(&report, &['\n']).is_none(), "{report:?}\n{text}");
            false
        }
    }
}

/// The same for a trace, which is judged and not searched.
fn tries_trace(text: &str) -> bool {
    trace_file::parse(text).is_ok()
}

#[test]
fn changed_files_are_read_or_refused() {
    let files = env::var("LOCKSTEP_MUTATED_FILES").ok();
    let files_asked = files.as_ref().map(|text| text.parse::<u32>().expect("LOCKSTEP_MUTATED_FILES is a number"));
    let scenarios = builtin_files();
    let traces: Vec<String> = scenarios
        .iter()
        .step_by(7)
        .map(|file| {
            let Scenario { name, story, config, .. } = file.scenario();
            let all = Action::all(&config);
            let one = all.into_iter().find(|action| {
                recorder::record(&name, &story, &config, About::Covering, &[*action], "lockstep show x").is_ok()
            });
            let trace = recorder::record(&name, &story, &config, About::Covering, one.as_slice(), "lockstep show x");
            serde_json::to_string_pretty(&trace.expect("it can happen")).expect("a trace is JSON")
        })
        .collect();
    assert!(traces.iter().all(|trace| tries_trace(trace)), "unchanged they are accepted");
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut accepted = [0_u32; 2];
    for number in 0..files_asked.unwrap_or(FILES) {
        if number % 2 == 0 {
            let text = scenarios[below(&mut random, scenarios.len())].text;
            accepted[0] += u32::from(tries_scenario(&mutated(text, &mut random)));
        } else {
            let text = &traces[below(&mut random, traces.len())];
            accepted[1] += u32::from(tries_trace(&mutated(text, &mut random)));
        }
    }
    println!("accepted: {} scenarios, {} traces", accepted[0], accepted[1]);
    assert!(accepted[0] > 0 && accepted[1] > 0, "changes that leave a file valid are tried as well: {accepted:?}");
    // Only alone: other tests of this process have memory of their own.
    if files_asked.is_some() {
        let used = memory::resident();
        assert!(used < MOST_BYTES, "{used} bytes");
    }
}
