//! The repository follows its own rules.
//!
//! Each rule is a function that returns a list of complaints. One test asserts that the list is empty for this
//! repository; a companion test passes bad input to the function, because a rule that can never complain proves
//! nothing.

mod acquaintance;
mod citations;
mod cycles;
mod departures;
mod dictionary;
mod files;
mod kinds;
mod lua;
mod rust;
mod side_by_side;
mod types;

use std::fs;
use std::path::Path;

/// One text file of the repository.
struct File {
    /// The path from the repository root, with `/` as separator.
    path: String,
    text: String,
}

impl File {
    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }

    /// A file that does not exist, for a companion test.
    fn invented(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the house")
}

/// Every file of the repository, sorted by path, without build output and downloads.
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

/// Reports all complaints of one rule, one per line, so that one run shows all there is to fix.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
