//! Side by side: every lock kind has a file in all seven places, under one name, or in none.

use std::collections::BTreeSet;

use crate::{assert_none, house};

/// The seven places of a lock kind.
pub fn places(kind: &str) -> [String; 7] {
    [
        format!("model/src/locks/{kind}.rs"),
        format!("impl/src/locks/{kind}.rs"),
        format!("impl/scripts/{kind}/"),
        format!("sim/src/replay/translate/{kind}.rs"),
        format!("sim/scenarios/{kind}/"),
        format!("tests/conformance/{kind}.rs"),
        format!("docs/locks/{kind}.md"),
    ]
}

/// Kinds that have no script of their own: to Redis there is no such lock, and each of several masters executes those of another kind.
const WITHOUT_SCRIPTS: [&str; 1] = ["redisson_red"];

/// What files of `impl/src/locks` are called that belong to no kind.
const COMMON: [&str; 2] = ["mod", "counted_hold"];

/// The kind that a path belongs to, if any. `model/src/locks`, `translate` and `tests/conformance` also contain files
/// common to several kinds, so a file there counts only if its name is a kind's name elsewhere.
fn kind_of(path: &str) -> Option<&str> {
    let in_folder = |folder: &str| path.strip_prefix(folder)?.split_once('/').map(|(kind, _)| kind);
    let as_file = |folder: &str| path.strip_prefix(folder)?.strip_suffix(".rs").filter(|kind| !kind.contains('/'));
    in_folder("impl/scripts/")
        .or_else(|| in_folder("sim/scenarios/"))
        .or_else(|| as_file("impl/src/locks/").filter(|name| !COMMON.contains(name)))
        .or_else(|| path.strip_prefix("docs/locks/")?.strip_suffix(".md"))
}

/// The kinds that the paths belong to.
pub fn kinds<'a>(paths: &[&'a str]) -> BTreeSet<&'a str> {
    paths.iter().filter_map(|path| kind_of(path)).collect()
}

fn complaints(paths: &[&str]) -> Vec<String> {
    let kinds = kinds(paths);
    let exists =
        |place: &String| paths.iter().any(|path| path == place || place.ends_with('/') && path.starts_with(place));
    kinds
        .into_iter()
        .flat_map(|kind| {
            places(kind)
                .into_iter()
                .filter(|place| !exists(place))
                .filter(move |place| !(WITHOUT_SCRIPTS.contains(&kind) && place.starts_with("impl/scripts/")))
                .map(move |place| format!("{kind}: {place} is missing"))
        })
        .collect()
}

#[test]
fn every_kind_stands_in_all_seven_places() {
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
        "sim/src/replay/translate/plain.rs",
        "sim/scenarios/plain/quiet.toml",
        "tests/conformance/plain.rs",
        "docs/locks/plain.md",
        "model/src/locks/contract.rs",
        "impl/src/locks/mod.rs",
        "impl/src/locks/counted_hold.rs",
        "tests/conformance/main.rs",
        "tests/conformance/scripts.rs",
    ];
    assert_none(&complaints(&whole));
    for missing in 0..7 {
        let rest: Vec<_> =
            whole.iter().enumerate().filter(|&(index, _)| index != missing).map(|(_, path)| *path).collect();
        let [complaint] = &complaints(&rest)[..] else { panic!("without {}: one complaint", whole[missing]) };
        assert!(complaint.starts_with("plain: "), "{complaint}");
    }
}

/// The names must be in snake case everywhere: the scenario word is `read-write`, the folder is not.
#[test]
fn two_spellings_of_one_kind_are_noticed() {
    assert_eq!(complaints(&["impl/src/locks/read_write.rs", "sim/scenarios/read-write/quiet.toml"]).len(), 12);
}
