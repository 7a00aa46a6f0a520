//! Where a replay on real Redisson ends before its history does, it says so with a sentence of a departure: what is not
//! followed is listed, with the reason, and nothing is listed that no code says.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_sim::replay::redisson::Departure;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::rust::tokens;
use crate::{File, assert_none, house};

/// The sentences with which code ends a replay, and where it does.
fn sentences(file: &File) -> Vec<(Option<String>, String)> {
    let all = flat(tokens(file));
    let constants: BTreeMap<String, String> = (0..all.len()).filter_map(|at| constant(&all[at..])).collect();
    let mut found = Vec::new();
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Ident(name) = token else { continue };
        let Some(TokenTree::Group(arguments)) = all.get(at + 1) else { continue };
        let is_called =
            matches!(at.checked_sub(1).map(|before| &all[before]), Some(TokenTree::Punct(dot)) if dot.as_char() == '.');
        if name != "leave" || arguments.delimiter() != Delimiter::Parenthesis || !is_called {
            continue;
        }
        let place = format!("{}:{}", file.path, name.span().start().line);
        let said = match arguments.stream().into_iter().next() {
            // The method of another type: it takes a thread, or nothing.
            None => continue,
            Some(TokenTree::Literal(literal)) => {
                syn::parse_str::<syn::LitStr>(&literal.to_string()).ok().map(|text| text.value())
            }
            Some(TokenTree::Ident(constant)) if constant == "thread" => continue,
            Some(TokenTree::Ident(name)) => constants.get(&name.to_string()).cloned(),
            Some(_) => None,
        };
        found.push((said, place));
    }
    found
}

/// `const NAME: &str = "…"`, at the beginning of these tokens.
fn constant(tokens: &[TokenTree]) -> Option<(String, String)> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = tokens else { return None };
    let value = rest.iter().take(6).find_map(|token| match token {
        TokenTree::Literal(literal) => syn::parse_str::<syn::LitStr>(&literal.to_string()).ok(),
        _ => None,
    })?;
    (keyword == "const").then(|| (name.to_string(), value.value()))
}

/// Every token, those inside of groups behind the group.
fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        let inner = if let TokenTree::Group(group) = &token { flat(group.stream()) } else { Vec::new() };
        all.push(token);
        all.extend(inner);
    }
    all
}

fn complaints(files: &[File], listed: &BTreeSet<String>) -> Vec<String> {
    let replay = files.iter().filter(|file| file.path.starts_with("sim/src/replay/") && file.extension() == "rs");
    let said: Vec<_> = replay.flat_map(sentences).collect();
    let unclear = said.iter().filter(|(sentence, _)| sentence.is_none());
    let mut complaints: Vec<_> =
        unclear.map(|(_, place)| format!("{place}: a replay ends without a sentence")).collect();
    let said: BTreeMap<_, _> = said.into_iter().filter_map(|(sentence, place)| Some((sentence?, place))).collect();
    let unlisted = said.iter().filter(|(sentence, _)| !listed.contains(*sentence));
    complaints.extend(unlisted.map(|(sentence, place)| format!("{place}: in no departure: {sentence}")));
    let unsaid = listed.iter().filter(|sentence| !said.contains_key(*sentence));
    complaints.extend(unsaid.map(|sentence| format!("no replay ends with: {sentence}")));
    complaints
}

#[test]
fn a_replay_that_ends_early_names_a_departure() {
    let listed = Departure::all().into_iter().flat_map(|one| one.ends).collect();
    assert_none(&complaints(&house(), &listed));
}

#[test]
fn an_end_that_is_not_listed_and_one_that_is_not_said_are_noticed() {
    let listed = BTreeSet::from(["it is late".to_owned()]);
    let complains = |code: &str| complaints(&[File::invented("sim/src/replay/x.rs", code)], &listed).len();
    assert_eq!(complains("fn f() { a.leave(\"it is late\"); }"), 0);
    assert_eq!(complains("const LATE: &str = \"it is late\"; fn f() { a.b.leave(LATE); }"), 0);
    assert_eq!(complains("fn f() { a.leave(\"it is early\"); }"), 2);
    assert_eq!(complains("fn f() { a.leave(&format!(\"it is {late}\")); }"), 2);
    assert_eq!(complains("fn f() {}"), 1);
}
