//! Side by side: every lock kind is told in five places, under one name, or in none.

use std::collections::BTreeSet;

use crate::{assert_none, house};

/// The five places of a kind.
fn places(kind: &str) -> [String; 5] {
    [
        format!("model/src/locks/{kind}.rs"),
        format!("impl/src/locks/{kind}.rs"),
        format!("impl/scripts/{kind}/"),
        format!("sim/scenarios/{kind}/"),
        format!("tests/conformance/{kind}.rs"),
    ]
}

/// The kinds there are or will be. In `tests/conformance` also stands what is true of all kinds, so
/// there only these names count; in the other four places every name is a kind.
const KINDS: [&str; 8] = ["plain", "reentrant", "fair", "read_write", "fenced", "spin", "multi", "red"];

/// The kind that a path is about, if it is about one.
fn kind_of(path: &str) -> Option<&str> {
    let in_folder = |folder: &str| path.strip_prefix(folder)?.split_once('/').map(|(kind, _)| kind);
    let as_file = |folder: &str| path.strip_prefix(folder)?.strip_suffix(".rs").filter(|kind| !kind.contains('/'));
    in_folder("impl/scripts/")
        .or_else(|| in_folder("sim/scenarios/"))
        .or_else(|| as_file("model/src/locks/").filter(|&name| name != "mod"))
        .or_else(|| as_file("impl/src/locks/").filter(|&name| name != "mod"))
        .or_else(|| as_file("tests/conformance/").filter(|name| KINDS.contains(name)))
}

fn complaints(paths: &[&str]) -> Vec<String> {
    let kinds: BTreeSet<_> = paths.iter().filter_map(|path| kind_of(path)).collect();
    let exists =
        |place: &String| paths.iter().any(|path| path == place || place.ends_with('/') && path.starts_with(place));
    kinds
        .into_iter()
        .flat_map(|kind| {
            places(kind)
                .into_iter()
                .filter(|place| !exists(place))
                .map(move |place| format!("{kind}: {place} is missing"))
        })
        .collect()
}

#[test]
fn every_kind_is_told_in_all_five_places() {
    let house = house();
    let paths: Vec<_> = house.iter().map(|file| file.path.as_str()).collect();
    assert_none(&complaints(&paths));
}

#[test]
fn a_kind_with_a_missing_place_is_noticed() {
    let whole = [
        "model/src/locks/plain.rs",
        "impl/src/locks/plain.rs",
        "impl/scripts/plain/acquire.lua",
        "sim/scenarios/plain/quiet.toml",
        "tests/conformance/plain.rs",
        "impl/src/locks/mod.rs",
        "tests/conformance/main.rs",
        "tests/conformance/scripts.rs",
    ];
    assert_none(&complaints(&whole));
    for missing in 0..5 {
        let rest: Vec<_> =
            whole.iter().enumerate().filter(|&(index, _)| index != missing).map(|(_, path)| *path).collect();
        let [complaint] = &complaints(&rest)[..] else { panic!("without {}: one complaint", whole[missing]) };
        assert!(complaint.starts_with("plain: "), "{complaint}");
    }
}

/// Snake case everywhere: the scenario word is `read-write`, the folder is not.
#[test]
fn two_spellings_of_one_kind_are_noticed() {
    assert_eq!(complaints(&["model/src/locks/read_write.rs", "sim/scenarios/read-write/quiet.toml"]).len(), 8);
}
