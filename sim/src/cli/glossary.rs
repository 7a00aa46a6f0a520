//! The words of the glossary, as `lockstep explain` prints them: read from the page itself, so that there is one text.

/// The page.
const PAGE: &str = include_str!("../../../docs/glossary.md");

/// One row of the page.
pub(super) struct GlossaryTerm {
    /// The words of the first column, as they are written there.
    pub(super) names: Vec<&'static str>,
    /// What they mean.
    pub(super) means: String,
    /// What they are called in Redisson or in the literature; empty: nothing else.
    pub(super) elsewhere: String,
}

/// Every row of every table.
pub(super) fn terms() -> impl Iterator<Item = GlossaryTerm> {
    PAGE.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [names, means, elsewhere] = *cells.as_slice() else { return None };
        let is_content = names != "term" && !names.starts_with("--");
        is_content.then(|| GlossaryTerm {
            names: names.split(", ").collect(),
            means: plain(means),
            elsewhere: plain(elsewhere),
        })
    })
}

/// The row of a word, which may be typed with hyphens or underscores: `fencing-token`.
pub(super) fn term(word: &str) -> Option<GlossaryTerm> {
    let alike = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
    terms().find(|term| term.names.iter().any(|name| alike(name) == alike(word)))
}

/// Markdown as plain text: without emphasis, and of a link only its text.
pub(super) fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    // The text of a link begins at the last bracket before its end: others may stand for themselves, as those of a table's name.
    while let Some((link, (_, after))) =
        rest.split_once("](").and_then(|(link, after)| Some((link, after.split_once(')')?)))
        && let Some((before, shown)) = link.rsplit_once('[')
    {
        text += before;
        text += shown;
        rest = after;
    }
    (text + rest).replace('*', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_page_is_a_term() {
        let rows = PAGE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term ")).count();
        assert!(rows > 50, "{rows}");
        assert_eq!(terms().count(), rows);
        for GlossaryTerm { names, means, elsewhere } in terms() {
            assert!(names.iter().all(|name| !name.is_empty()) && !means.is_empty(), "{names:?}");
            assert!(!means.contains("](") && !means.contains('*') && !elsewhere.contains("]("), "{names:?}: {means}");
        }
    }

    #[test]
    fn a_word_is_found_however_it_is_typed() {
        for word in ["fencing token", "fencing-token", "Fencing_Token"] {
            assert!(term(word).is_some_and(|term| term.means.starts_with("a number that grows")), "{word}");
        }
        assert!(term("partition").is_some() && term("heal").is_some(), "two words of one row");
        assert!(term("no such word").is_none());
    }
}
