//! The museum: one line of Rust for each file below `museum/`, sorted by name.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Writes the list that `src/museum/exhibit.rs` includes.
pub fn embed() {
    println!("cargo:rerun-if-changed=../museum");
    println!("cargo:rerun-if-changed=build/museum.rs");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder")).join("../museum");
    let files = fs::read_dir(&root).expect("the museum is beside this crate").map(|entry| {
        let path = entry.expect("a folder can be read").path();
        path.canonicalize().expect("what a folder lists is there")
    });
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    let mut list = String::from("[\n");
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name in UTF-8");
        let file = file.to_str().expect("the tree stands under a name in UTF-8");
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("a string takes all");
    }
    list.push_str("]\n");
    let folder = env::var("OUT_DIR").expect("cargo names a folder for a build script");
    fs::write(Path::new(&folder).join("museum.rs"), list).expect("the build's own folder can be written");
}
