//! Every page and heading cited by a comment or a page exists: a dead citation is worse than none.
//!
//! A citation is a path from the repository root (`docs/facts/` and so on) with the anchor of the heading after `#`;
//! further headings of the same page follow as `, #anchor`. Links in Markdown pages are relative, as usual.

use std::collections::{BTreeMap, BTreeSet};

use crate::{File, assert_none, house, root};

/// The directories whose files are cited by path.
const TOP: [&str; 7] = ["model", "impl", "sim", "tests", "reports", "docs", "tools"];

/// A page, as a path from the root, the cited heading, if any, and the line of the citation.
#[derive(Debug, PartialEq, Eq)]
struct Citation {
    page: String,
    anchor: Option<String>,
    line: usize,
}

/// The anchor that a Markdown viewer gives a heading: lower case, without punctuation, spaces as hyphens.
fn anchor_of(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
    heading.trim().to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The anchors of a page. A repeated heading gets a number.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || !line.starts_with('#') || !heading.starts_with(' ') {
            continue;
        }
        let anchor = anchor_of(heading);
        let before = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
        *before += 1;
    }
    anchors
}

/// A text, with each comment that spans several lines joined into one line.
struct Flattened {
    text: String,
    /// Where each line of the file begins in the text.
    starts: Vec<usize>,
}

impl Flattened {
    fn of(file: &File) -> Self {
        let prefixes: &[&str] = match file.extension() {
            "rs" => &["//!", "///", "//"],
            "lua" => &["--"],
            "toml" => &["#"],
            _ => &[],
        };
        let (mut text, mut starts) = (String::new(), Vec::new());
        for line in file.text.lines() {
            let line = line.trim();
            starts.push(text.len());
            text += prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line).trim();
            text.push(' ');
        }
        Self { text, starts }
    }

    /// The line of the file, from 1, at this place of the text.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

/// The line, from 1, at this place of a text.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The citations that use a path from the root.
fn citations(file: &File) -> Vec<Citation> {
    let mut found = Vec::new();
    let flattened = Flattened::of(file);
    let text = flattened.text.as_str();
    for (at, _) in text.match_indices("docs/") {
        let is_whole = !text[..at].ends_with(|before: char| before.is_alphanumeric() || "/._-".contains(before));
        let path_end = text[at..].find(|letter: char| !(letter.is_alphanumeric() || "/._-".contains(letter)));
        let path = &text[at..path_end.map_or(text.len(), |end| at + end)];
        let Some((stem, _)) = path.split_once(".md").filter(|_| is_whole) else { continue };
        let page = format!("{stem}.md");
        let mut rest = &text[at + page.len()..];
        let mut is_first = true;
        while let Some(anchored) = rest.strip_prefix(if is_first { "#" } else { ", #" }) {
            let line = flattened.line(text.len() - anchored.len());
            let end = anchored.find(|letter: char| !(letter.is_alphanumeric() || "-_".contains(letter)));
            let (anchor, after) = anchored.split_at(end.unwrap_or(anchored.len()));
            found.push(Citation { page: page.clone(), anchor: Some(anchor.into()), line });
            rest = after;
            is_first = false;
        }
        if is_first {
            found.push(Citation { page, anchor: None, line: flattened.line(at) });
        }
    }
    found
}

/// The links of a Markdown page to files within the repository.
fn links(file: &File) -> Vec<Citation> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = file.text.match_indices("](").filter_map(|(at, opening)| {
        let (target, _) = file.text[at + opening.len()..].split_once(')')?;
        Some((target, line_of(&file.text, at)))
    });
    let is_ours = |(target, _): &(&str, usize)| !target.contains("://") && !target.starts_with("mailto:");
    let targets = targets.filter(is_ours).map(|(target, line)| {
        let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let page = if path.is_empty() { file.path.clone() } else { resolved(folder, path) };
        Citation { page, anchor: anchor.map(str::to_owned), line }
    });
    targets.collect()
}

/// The paths that a Markdown page names in code style, such as `model/src/step.rs`, and their lines. Capitals are a
/// placeholder for any name: `model/src/locks/KIND.rs`.
fn named_paths(file: &File) -> Vec<(&str, usize)> {
    let is_path = |span: &str| {
        let is_ours = TOP.iter().any(|folder| span.starts_with(&format!("{folder}/")));
        is_ours
            && span
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "/._-".contains(letter))
    };
    let mut found = Vec::new();
    let mut line = 1;
    for (index, span) in file.text.split('`').enumerate() {
        // Every second piece stands between two backticks.
        if index % 2 == 1 && is_path(span) {
            found.push((span, line));
        }
        line += span.matches('\n').count();
    }
    found
}

/// Turns a relative path into a path from the root.
fn resolved(folder: &str, path: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn complaints(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let pages: BTreeMap<_, _> = files
        .iter()
        .filter(|file| file.extension() == "md")
        .map(|file| (file.path.as_str(), anchors(&file.text)))
        .collect();
    let mut complaints = Vec::new();
    for file in files {
        if file.extension() == "md" {
            let missing = named_paths(file).into_iter().filter(|(path, _)| !exists(path.trim_end_matches('/')));
            complaints.extend(missing.map(|(path, line)| format!("{}:{line}: there is no {path}", file.path)));
        }
        let cited = match file.extension() {
            "md" => links(file),
            "rs" | "lua" | "toml" => citations(file),
            _ => Vec::new(),
        };
        for Citation { page, anchor, line } in cited {
            if !exists(&page) {
                complaints.push(format!("{}:{line}: there is no {page}", file.path));
            } else if let Some(anchor) =
                anchor.filter(|anchor| !pages.get(&*page).is_some_and(|all| all.contains(anchor)))
            {
                complaints.push(format!("{}:{line}: {page} has no heading #{anchor}", file.path));
            }
        }
    }
    complaints
}

#[test]
fn every_cited_page_and_heading_exists() {
    // This file cites missing pages on purpose.
    let files: Vec<_> = house().into_iter().filter(|file| file.path != "tests/tidy/citations.rs").collect();
    assert_none(&complaints(&files, |path| root().join(path).exists()));
}

#[test]
fn a_citation_that_leads_nowhere_is_noticed() {
    let page = File::invented("docs/facts/redis.md", "# Redis\n## The clock\n```\n# no heading\n```\n## The clock\n");
    let cites = |path: &str, text: &str| {
        let files = [File::invented(path, text), File::invented("docs/facts/redis.md", &page.text)];
        complaints(&files, |path| ["docs", "docs/facts/redis.md", "docs/glossary.md"].contains(&path)).len()
    };
    for fine in [
        "// docs/facts/redis.md#the-clock",
        "// (docs/facts/redis.md).",
        "/// docs/facts/redis.md#redis,\n    /// #the-clock-1.",
        "// see otherdocs/facts/none.md and https://example.org/docs/none.html",
    ] {
        assert_eq!(cites("model/src/step.rs", fine), 0, "{fine}");
    }
    for bad in [
        "// docs/facts/valkey.md",
        "// docs/facts/redis.md#no-heading",
        "//! docs/facts/redis.md#redis,\n//! #the-watch",
        "// docs/facts/redis.md#the-clock, #the-clock-2",
    ] {
        assert_eq!(cites("model/src/step.rs", bad), 1, "{bad}");
    }
    assert_eq!(
        cites("docs/glossary.md", "[a](facts/redis.md#the-clock) [b](../docs) [c](https://a.b/c) [d](#d)\n# D"),
        0
    );
    assert_eq!(cites("docs/glossary.md", "`docs/facts/redis.md` `docs/locks/KIND.md` `a/b` `docs`"), 0);
    assert_eq!(cites("docs/glossary.md", "`docs/facts/valkey.md` and ```text\ntests/x.rs\n```"), 1);
    for bad in ["[a](redis.md)", "[a](facts/redis.md#no-heading)", "[a](#nowhere)", "[a](../docs/facts/valkey.md)"] {
        assert_eq!(cites("docs/glossary.md", bad), 1, "{bad}");
    }
}

#[test]
fn a_citation_that_leads_nowhere_is_shown_with_its_line() {
    let cites = |path: &str, text: &str| {
        let files = [File::invented(path, text), File::invented("docs/facts/redis.md", "# Redis\n")];
        complaints(&files, |path| path == "docs/facts/redis.md")
    };
    assert_eq!(
        cites(
            "CONTRIBUTING.md",
            "# Steps\n\n| `model/src/gone.rs` |\n| [a](docs/gone.md) [b](docs/facts/redis.md#gone) |\n"
        ),
        [
            "CONTRIBUTING.md:3: there is no model/src/gone.rs",
            "CONTRIBUTING.md:4: there is no docs/gone.md",
            "CONTRIBUTING.md:4: docs/facts/redis.md has no heading #gone",
        ]
    );
    assert_eq!(
        cites("a.rs", "//! One.\n\n    /// See docs/facts/redis.md#redis,\n    /// #gone.\n// docs/facts/gone.md\n"),
        ["a.rs:4: docs/facts/redis.md has no heading #gone", "a.rs:5: there is no docs/facts/gone.md"]
    );
}
