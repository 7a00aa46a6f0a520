//! The house keeps its own rules.
//!
//! Each rule is a function from what is there to a list of complaints. One test says that the list
//! is empty for this house; its companion feeds the function something bad, because a rule that
//! cannot complain says nothing.

mod acquaintance;
mod citations;
mod cycles;
mod dictionary;
mod files;
mod kinds;
mod lua;
mod rust;
mod side_by_side;

use std::fs;
use std::path::Path;

/// One file of the house that can be read as text.
struct File {
    /// From the root of the house, with `/` between the parts.
    path: String,
    text: String,
}

impl File {
    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }

    /// A file that never was, for a companion test.
    fn invented(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the house")
}

/// Every file of the house, in the order of their paths, without what is built or fetched.
fn house() -> Vec<File> {
    let mut files = Vec::new();
    collect(root(), &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.iter().any(|file| file.path == "tests/tidy/main.rs"), "this very file is part of the house");
    files
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("a folder of the house") {
        let path = entry.expect("an entry of a folder of the house").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_at_the_root = path.parent() == Some(root());
        if is_at_the_root && ["target", ".git", ".tools"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root()).expect("below the root");
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            files.push(File { path: parts.join("/"), text });
        }
    }
}

/// All complaints of one rule, one a line, so that one run shows all there is to do.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
