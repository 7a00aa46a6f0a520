//! A page that is made by runs: the committed one is compared with what is made now, or written.

use std::fs;
use std::path::{Path, PathBuf};

pub use lockstep_sim::render::words::thousands;

/// Set by `make reports`: pages are written instead of compared.
const WRITE: &str = "LOCKSTEP_WRITE_REPORTS";

/// A cell of a table of which there is nothing to say.
pub const NOTHING: &str = "–";

/// Whether pages are written, and not compared.
pub fn is_writing() -> bool {
    std::env::var_os(WRITE).is_some_and(|value| !value.is_empty())
}

/// The committed page; empty if there is none yet.
pub fn committed(path: &str) -> String {
    fs::read_to_string(in_house(path)).unwrap_or_default()
}

/// Writes the page, or fails if the committed one differs.
pub fn keep(path: &str, made: &str) {
    if is_writing() {
        write(path, made);
    } else if let Some(stale) = stale(path, &committed(path), made) {
        panic!("{stale}");
    }
}

/// Writes the page, whose figures differ from run to run.
pub fn write(path: &str, made: &str) {
    fs::write(in_house(path), made).expect("the page can be written");
}

/// Columns of a Markdown table: those whose name ends with `#` are numbers.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let names = line(&mut head.iter().map(|name| name.trim_end_matches('#').to_owned()));
    let rule = line(&mut head.iter().map(|name| if name.ends_with('#') { "--:" } else { "---" }.to_owned()));
    let rows = rows.iter().map(|row| line(&mut row.iter().map(|cell| cell.replace('|', "\\|"))));
    names + &rule + &rows.collect::<String>()
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    lockstep_sim::render::words::list(names)
}

fn in_house(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the house").join(path)
}

/// The first difference, and how to fix it.
pub fn stale(path: &str, committed: &str, made: &str) -> Option<String> {
    if committed == made {
        return None;
    }
    let (mut old, mut new) = (committed.lines(), made.lines());
    let mut number = 0;
    let (old, new) = loop {
        number += 1;
        match (old.next(), new.next()) {
            (None, None) => break ("(the ends of lines differ)", ""),
            (old, new) if old == new => {}
            (old, new) => break (old.unwrap_or("(nothing more)"), new.unwrap_or("(nothing more)")),
        }
    };
    Some(format!(
        "{path} is stale, first in line {number}\n  committed  {old}\n  now        {new}\n`make reports` updates it"
    ))
}
