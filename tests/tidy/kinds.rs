//! A lock kind is named only in its own seven places and, once per crate, where it is registered; no other code names a
//! kind.

use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

use crate::side_by_side::{kinds, places};
use crate::{File, assert_none, house};

/// The files that register the kinds, one per crate, and the module files that declare them.
const REGISTRATIONS: [&str; 5] = [
    "model/src/locks/kind.rs",
    "model/src/locks/mod.rs",
    "impl/src/locks/mod.rs",
    "sim/src/replay/translate/mod.rs",
    "tests/conformance/main.rs",
];

/// Tests of the scenario reader's messages about words in a file.
const WORDS_OF_FILES: &str = "sim/src/scenario/tests";

/// Where a word that is the name of a kind means something else: fairness of paths is not that of locks, and a resource is fenced by
/// whichever tokens.
const OTHER_MEANINGS: [(&str, &str); 4] = [
    ("fair", "sim/src/cli/explain.rs"),
    ("fair", "sim/src/render/text.rs"),
    ("fenced", "sim/src/render/svg.rs"),
    ("fenced", "sim/src/scenario/spelling.rs"),
];

/// `read_write` as an enum variant: `ReadWrite`.
fn variant(kind: &str) -> String {
    let capitalized = |word: &str| word[..1].to_uppercase() + &word[1..];
    kind.split('_').map(capitalized).collect()
}

/// `read_write` as written in scenarios: `read-write`.
fn word(kind: &str) -> String {
    kind.replace('_', "-")
}

fn complaints(file: &File, kinds: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    let tokens = TokenStream::from_str(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
    for kind in kinds {
        let is_its_own = places(kind).contains(&file.path);
        if is_its_own || REGISTRATIONS.contains(&file.path.as_str()) || file.path.starts_with(WORDS_OF_FILES) {
            continue;
        }
        if OTHER_MEANINGS.contains(&(*kind, file.path.as_str())) {
            continue;
        }
        let mut note =
            |line: usize, what: &str| complaints.push(format!("{}:{line}: names a kind of lock: {what}", file.path));
        each_mention(tokens.clone(), kind, &mut note);
    }
    complaints
}

/// Reports every variant of the kind enum, every path into the kind's module, and every literal equal to the kind's
/// name.
fn each_mention(tokens: TokenStream, kind: &str, note: &mut impl FnMut(usize, &str)) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is_ident =
        |index: usize, expected: &str| matches!(tokens.get(index), Some(TokenTree::Ident(ident)) if ident == expected);
    let is_path = |index: usize| {
        let is_colon =
            |index: usize| matches!(tokens.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        is_colon(index) && is_colon(index + 1)
    };
    for (index, token) in tokens.iter().enumerate() {
        let line = token.span().start().line;
        match token {
            TokenTree::Group(group) => each_mention(group.stream(), kind, note),
            TokenTree::Literal(literal) if literal.to_string() == format!("\"{}\"", word(kind)) => {
                note(line, &literal.to_string());
            }
            TokenTree::Ident(ident)
                if ident == "LockKind" && is_path(index + 1) && is_ident(index + 3, &variant(kind)) =>
            {
                note(line, &format!("LockKind::{}", variant(kind)));
            }
            TokenTree::Ident(ident) if ident == "locks" && is_path(index + 1) && is_ident(index + 3, kind) => {
                note(line, &format!("locks::{kind}"));
            }
            _ => {}
        }
    }
}

#[test]
fn no_file_but_its_own_names_a_kind_of_lock() {
    let house = house();
    let paths: Vec<_> = house.iter().map(|file| file.path.as_str()).collect();
    let kinds: Vec<_> = kinds(&paths).into_iter().collect();
    assert!(kinds.contains(&"reentrant"), "{kinds:?}");
    let sources = house.iter().filter(|file| file.extension() == "rs" && !file.path.starts_with("tests/tidy/"));
    assert_none(&sources.flat_map(|file| complaints(file, &kinds)).collect::<Vec<_>>());
}

#[test]
fn a_file_that_names_a_kind_is_noticed() {
    let count = |path: &str, text: &str| complaints(&File::invented(path, text), &["read_write"]).len();
    for text in [
        "fn f(kind: LockKind) -> bool { kind == LockKind::ReadWrite }",
        "use lockstep_model::locks::read_write::ReadWrite;",
        "const KIND: &str = \"read-write\";",
    ] {
        assert_eq!(count("sim/src/render/text.rs", text), 1, "{text}");
        assert_eq!(count("model/src/locks/read_write.rs", text), 0, "{text}");
        assert_eq!(count("model/src/locks/kind.rs", text), 0, "{text}");
    }
    assert_eq!(count("sim/src/render/text.rs", "// LockKind::ReadWrite is a \"read-write\" lock\nfn f() {}"), 0);
}
