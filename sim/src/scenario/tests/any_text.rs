//! No text and no bytes make the reader panic, and every problem has a valid place.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::files::folder;
use super::*;

/// Reading and reporting do not panic, and every problem has a place in the text.
fn survives(text: &str) {
    let Err(error) = Scenario::parse("example", text) else { return };
    assert!(error.problems().next().is_some(), "an error says something");
    for problem in error.problems() {
        let span = problem.span().unwrap_or_else(|| panic!("no place: {}", problem.title()));
        assert!(text.get(span.clone()).is_some(), "{span:?} is not in the text: {}", problem.title());
    }
    assert!(!error.report(false).is_empty());
    assert!(!error.report(true).is_empty());
}

/// The typical edits of a person typing in a file.
#[derive(Clone, Debug)]
enum Edit {
    Delete(Index),
    Insert(Index, String),
    Replace(Index, String),
}

/// Pieces of TOML, pieces of scenarios, and characters that are hard to display.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "\"", "\"\"\"", "'", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "#", "\n", "\r", "\r\n", "\t", "\u{0}", "\u{feff}",
    "\u{202e}", "é", "日本", "-", "+", "0", "-1", "300", "0x10", "1e9", "nan", "true", "1979-05-27", "\"any\"",
    "\"plain\"", "lease", "[time]", "[expect]", "lag", "\\u001b",
];

fn token() -> impl Strategy<Value = String> {
    prop_oneof![select(TOKENS).prop_map(String::from), ".{0,4}"]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<Index>().prop_map(Edit::Delete),
        (any::<Index>(), token()).prop_map(|(at, token)| Edit::Insert(at, token)),
        (any::<Index>(), token()).prop_map(|(at, token)| Edit::Replace(at, token)),
    ]
}

/// Splits into words, runs of blanks, and every other character alone.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for letter in text.chars() {
        let goes_on = |last: &String| letter.is_alphanumeric() && last.ends_with(char::is_alphanumeric);
        match tokens.last_mut().filter(|last| goes_on(last)) {
            Some(last) => last.push(letter),
            None => tokens.push(letter.into()),
        }
    }
    tokens
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        survives(&text);
    }

    #[test]
    fn any_bytes_in_a_file_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = folder(&[("a.toml", &bytes)]);
        if let Err(error) = Scenario::read(folder.path().join("a.toml")) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn a_scenario_with_typing_mistakes_is_read_or_refused(edits in prop::collection::vec(edit(), 1..6)) {
        let mut tokens = tokens(EVERYTHING);
        for edit in edits {
            match edit {
                Edit::Delete(at) => { let at = at.index(tokens.len()); tokens.remove(at); }
                Edit::Insert(at, token) => { let at = at.index(tokens.len()); tokens.insert(at, token); }
                Edit::Replace(at, token) => { let at = at.index(tokens.len()); tokens[at] = token; }
            }
        }
        survives(&tokens.concat());
    }
}
