//! Rust as its tokens, so that words in comments and strings do not count as names.

use std::str::FromStr;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use crate::{File, assert_none, house};

/// A name in a source file, and its line.
pub struct Name {
    pub name: String,
    pub line: usize,
}

impl From<&Ident> for Name {
    fn from(ident: &Ident) -> Self {
        let name = ident.to_string();
        Self { name: name.trim_start_matches("r#").into(), line: ident.span().start().line }
    }
}

/// Every identifier, in source order, including those inside macros.
pub fn names(file: &File) -> Vec<Name> {
    let mut names = Vec::new();
    each_ident(tokens(file), &mut |ident| names.push(Name::from(ident)));
    names
}

pub fn tokens(file: &File) -> TokenStream {
    TokenStream::from_str(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

fn each_ident(tokens: TokenStream, visit: &mut impl FnMut(&Ident)) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => visit(&ident),
            TokenTree::Group(group) => each_ident(group.stream(), visit),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn complaints(file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    complain(tokens(file), &file.path, &mut complaints);
    complaints
}

/// Finds unfinished code, silenced lints and ignored tests.
fn complain(tokens: TokenStream, path: &str, complaints: &mut Vec<String>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let is_punct = |offset: usize, expected: char| matches!(tokens.get(index + offset), Some(TokenTree::Punct(punct)) if punct.as_char() == expected);
        match token {
            TokenTree::Ident(ident)
                if is_punct(1, '!') && ["todo", "unimplemented"].iter().any(|name| ident == name) =>
            {
                complaints.push(format!("{path}:{}: {ident}! is no code", ident.span().start().line));
            }
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let attribute = if is_punct(1, '!') { tokens.get(index + 2) } else { tokens.get(index + 1) };
                if let Some(TokenTree::Group(group)) = attribute
                    && group.delimiter() == Delimiter::Bracket
                {
                    complain_of_attribute(group.stream(), path, complaints);
                }
            }
            TokenTree::Group(group) => complain(group.stream(), path, complaints),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn complain_of_attribute(attribute: TokenStream, path: &str, complaints: &mut Vec<String>) {
    let mut names = Vec::new();
    each_ident(attribute, &mut |ident| names.push(Name::from(ident)));
    // `cfg_attr` may add any other attribute, under a condition.
    let conditional = names.first().is_some_and(|first| first.name == "cfg_attr");
    let candidates = if conditional { &names[..] } else { &names[..names.len().min(1)] };
    for Name { name, line } in candidates {
        match name.as_str() {
            "ignore" => complaints.push(format!("{path}:{line}: a test that does not run proves nothing")),
            "allow" => complaints.push(format!(
                "{path}:{line}: say #[expect(…, reason = …)], which speaks up when it is no longer needed"
            )),
            _ => {}
        }
    }
}

#[test]
fn nothing_is_left_to_do_silenced_or_skipped() {
    let sources = house().into_iter().filter(|file| file.extension() == "rs");
    assert_none(&sources.flat_map(|file| complaints(&file)).collect::<Vec<_>>());
}

#[test]
fn what_is_left_to_do_silenced_or_skipped_is_noticed() {
    let bad = [
        "fn f() { todo!() }",
        "fn f() { if true { unimplemented!(\"later\") } }",
        "#[test] #[ignore] fn f() {}",
        "#[test] #[ignore = \"slow\"] fn f() {}",
        "#![allow(dead_code)]",
        "#[allow(dead_code)] fn f() {}",
        "mod m { #[cfg_attr(test, allow(dead_code))] fn f() {} }",
    ];
    for text in bad {
        assert_eq!(complaints(&File::invented("bad.rs", text)).len(), 1, "{text}");
    }
    let good = "#[expect(dead_code, reason = \"todo!, #[ignore] and #[allow(x)] are only words here\")] fn ignore() { allow(1) } // todo!()";
    assert_none(&complaints(&File::invented("good.rs", good)));
}
