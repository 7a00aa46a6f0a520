//! The built-in scenarios: one line of Rust per file below `scenarios/`, sorted by kind and name.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes the list that `src/scenario/builtin.rs` includes.
pub fn embed() {
    println!("cargo:rerun-if-changed=scenarios");
    println!("cargo:rerun-if-changed=build/scenarios.rs");
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut list = String::from("[\n");
    for kind in sorted(&root).into_iter().filter(|kind| is_enabled(kind)) {
        for file in sorted(&kind) {
            if file.extension().is_some_and(|ending| ending == "toml") {
                let (kind, name) = (last_word(&kind), last_word(&file));
                let file = file.to_str().expect("the tree stands under a name in UTF-8");
                writeln!(list, "    BuiltIn {{ kind: {kind:?}, name: {name:?}, text: include_str!({file:?}) }},")
                    .expect("a string takes all");
            }
        }
    }
    list.push_str("]\n");
    let generated = Path::new(&variable("OUT_DIR")).join("scenarios.rs");
    fs::write(&generated, list).expect("the build's own folder can be written");
}

/// Whether the kind is enabled: a kind that needs a feature of this crate names it in a file beside its scenarios.
fn is_enabled(kind: &Path) -> bool {
    let Ok(feature) = fs::read_to_string(kind.join("feature")) else { return true };
    env::var_os(format!("CARGO_FEATURE_{}", feature.trim().to_uppercase())).is_some()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths
}

fn last_word(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).expect("names of scenarios are UTF-8").to_owned()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
