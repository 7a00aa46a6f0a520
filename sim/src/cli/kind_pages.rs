//! What each kind of lock is for, as `lockstep explain` prints it: read from the kind's page, so that there is one text.

use lockstep_model::LockKind;

use super::glossary::plain;
use crate::replay::translate::translation_of;

/// What its page says that a kind is for: the paragraphs.
pub(super) fn purpose(kind: LockKind) -> Vec<String> {
    let page = translation_of(kind).page();
    let section = page.split("\n## ").find_map(|section| section.strip_prefix("What it is for\n"));
    let paragraphs = section.unwrap_or_default().trim().split("\n\n");
    paragraphs.map(|paragraph| plain(&paragraph.replace('\n', " "))).filter(|text| !text.is_empty()).collect()
}

/// The kind that is called so, here or elsewhere.
pub(super) fn kind(word: &str) -> Option<LockKind> {
    let alike = |kind: &LockKind| kind.name() == word.replace('_', "-") || kind.facts().other_names.contains(&word);
    LockKind::ALL.iter().copied().find(alike)
}

#[test]
fn the_page_of_every_kind_says_what_it_is_for() {
    for kind in LockKind::ALL {
        let purpose = purpose(*kind).concat();
        assert!(purpose.len() > 50 && !purpose.contains("]("), "{}: {purpose:?}", kind.name());
        assert_eq!(purpose.matches('[').count(), purpose.matches(']').count(), "{}: {purpose:?}", kind.name());
    }
}
