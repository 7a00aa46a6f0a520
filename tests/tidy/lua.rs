//! Every script documents its inputs, its replies and where its counterpart in the model is.

use std::collections::BTreeSet;

use crate::rust::Name;
use crate::{File, assert_none, house};

/// The comment lines at the top, and the code without comments and strings.
struct LuaScript {
    header: Vec<String>,
    code: String,
}

fn read(file: &File) -> LuaScript {
    let header =
        file.text.lines().take_while(|line| line.starts_with("-- ")).map(|line| line[3..].to_owned()).collect();
    LuaScript { header, code: file.text.lines().map(code_of).collect::<Vec<_>>().join("\n") }
}

/// One line without its strings and its comment. Long brackets are not supported, because no script here uses them.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['\'', '"', '-']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("--") {
            return code;
        }
        let quote = rest.chars().next().filter(|&first| first != '-');
        let end = quote.map(|quote| rest[1..].find(quote).map_or(rest.len(), |end| end + 2));
        // Leave a space for the string, so that the words around it stay separate.
        code.push(if quote.is_some() { ' ' } else { '-' });
        rest = &rest[end.unwrap_or(1)..];
    }
    code + rest
}

/// Every identifier, in source order.
pub fn names(file: &File) -> Vec<Name> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let code = read(file).code;
    let words = |(line, text): (usize, &str)| {
        let names = text
            .split(move |letter| !is_part(letter))
            .filter(|word| word.starts_with(|first: char| !first.is_ascii_digit()));
        names.map(|name| Name { name: name.into(), line: line + 1 }).collect::<Vec<_>>()
    };
    code.lines().enumerate().flat_map(words).collect()
}

/// The subscripts of `KEYS` and `ARGV` in a text: `KEYS[1]`, `ARGV[i + 1]`.
fn subscripts(text: &str) -> BTreeSet<String> {
    let after = |array: &'static str| {
        text.split(array)
            .skip(1)
            .filter_map(move |rest| Some(format!("{array}{}]", rest.strip_prefix('[')?.split_once(']')?.0)))
    };
    after("KEYS").chain(after("ARGV")).collect()
}

fn complaints(file: &File) -> Vec<String> {
    let LuaScript { header, code } = read(file);
    let kind = file.path.split('/').rev().nth(1).unwrap_or_default();
    let twin = format!("Same rule: model/src/locks/{kind}.rs, ");
    let says = |beginning: &str| header.iter().any(|line| line.starts_with(beginning));
    let mut missing = Vec::new();
    if !header.first().is_some_and(|first| first.ends_with('.') && !first.starts_with("KEYS")) {
        missing.push("a first line that says what it does".to_owned());
    }
    if !says("Replies ") {
        missing.push("a line \"Replies …\"".to_owned());
    }
    if !says(&twin) {
        missing.push(format!("a line \"{twin}…\""));
    }
    if !header.iter().any(|line| line.contains("Compare: ")) {
        missing.push("a word on what to compare it with: \"Compare: …\"".to_owned());
    }
    let described = subscripts(&header.join("\n"));
    if described.is_empty() {
        missing.push("its KEYS and ARGV".to_owned());
    }
    missing.extend(subscripts(&code).difference(&described).map(|used| format!("what {used} is, which it uses")));
    missing.into_iter().map(|what| format!("{}: the header lacks {what}", file.path)).collect()
}

#[test]
fn every_script_has_its_header() {
    // The harness's own script, which no client sends, has no counterpart in the model.
    let is_protocol = |file: &File| file.extension() == "lua" && file.path.starts_with("impl/scripts/");
    let scripts: Vec<_> = house().into_iter().filter(is_protocol).collect();
    assert!(!scripts.is_empty(), "there are scripts");
    assert_none(&scripts.iter().flat_map(complaints).collect::<Vec<_>>());
}

const GOOD: &str = "\
-- Does something.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[i + 1] holder
-- Replies 1.
-- Same rule: model/src/locks/plain.rs, acquire.   Compare: something.
local lock, lease_ms = KEYS[1], ARGV[1] -- and ARGV[7] in a comment
return redis.call('set', 'ARGV[8]', lock, ARGV[i + 1])
";

#[test]
fn a_header_with_a_gap_is_noticed() {
    let of = |text: &str| complaints(&File::invented("impl/scripts/plain/acquire.lua", text));
    assert_none(&of(GOOD));
    for gap in [
        "-- Does something.\n",
        "ARGV[1] lease, ms",
        "KEYS[1] lock",
        "-- Replies 1.\n",
        "Compare: something.",
        "locks/plain.rs",
    ] {
        assert_eq!(of(&GOOD.replacen(gap, "", 1)).len(), 1, "without {gap:?}");
    }
    assert_eq!(complaints(&File::invented("impl/scripts/fair/acquire.lua", GOOD)).len(), 1, "the twin of another kind");
    assert_eq!(of("return 1\n").len(), 5);
}

#[test]
fn names_are_neither_in_strings_nor_in_comments() {
    let file = File::invented("a.lua", "local lock = KEYS[1] - 1 -- owner's\nredis.call('owner', \"mutex\", holder)");
    let names: Vec<_> = names(&file).into_iter().map(|Name { name, line }| (name, line)).collect();
    let expected = [("local", 1), ("lock", 1), ("KEYS", 1), ("redis", 2), ("call", 2), ("holder", 2)];
    assert_eq!(names, expected.map(|(name, line)| (name.to_owned(), line)));
}
