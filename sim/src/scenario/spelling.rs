//! The words of a scenario file: names from elsewhere that mean a key or value here, misspelt words, and how a message
//! shows them.

use lockstep_model::LockKind;
use toml::de::DeValue;

use crate::plain_text::shown;

/// Keys that were removed in favour of other keys, and which ones to use instead.
const REMOVED: [(&str, &str); 4] = [
    ("min_replicas_max_lag_ticks", "write min_replicas_max_lag instead: a number of ticks, or a time with a unit"),
    ("returns", "use restart_node in [faults] and fsync in [cluster]: a node comes back with what is on its disk"),
    ("fenced", "write fencing = \"ideal\" instead of fenced = true, and fencing = \"none\" instead of fenced = false"),
    ("roles", "describe each client in a table of its own, [[client]], with its role"),
];

/// Names from Redis, Redisson and the literature, in lower case, and the word that a scenario uses. A modelled lock kind
/// brings its own (`Facts::other_names`).
const SYNONYMS: [(&str, &str); 11] = [
    ("leasetime", "lease"),
    ("ttl", "lease"),
    ("waittime", "wait_limit"),
    ("min-replicas-to-write", "min_replicas"),
    ("min-slaves-to-write", "min_replicas"),
    ("min-replicas-max-lag", "min_replicas_max_lag"),
    ("min-slaves-max-lag", "min_replicas_max_lag"),
    ("stop-writes-on-bgsave-error", "refuse_writes"),
    ("appendfsync", "fsync"),
    ("reshard", "move_slot"),
    ("migrate_slot", "move_slot"),
];

/// Keys that take a word where a reader may expect true or false, and the word for it.
const FLAGS: [(&str, bool, &str); 4] =
    [("fencing", true, "ideal"), ("fencing", false, "none"), ("resend", false, "none"), ("fsync", false, "none")];

/// A longer word is not treated as a typing mistake.
const MAX_WORD: usize = 40;

/// What to use instead of a key that was removed.
pub(crate) fn removed(key: &str) -> Option<&'static str> {
    REMOVED.iter().find(|(removed, _)| *removed == key).map(|(_, instead)| *instead)
}

/// The word that a key takes instead of true or false.
pub(super) fn word_of_flag(key: &str, flag: bool) -> Option<&'static str> {
    FLAGS.iter().find(|(name, value, _)| *name == key && *value == flag).map(|(_, _, word)| *word)
}

/// The known word that an unknown one means: by another name, or misspelt.
pub(super) fn meant<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    // `_` is an accident of the file format: Redis writes hyphens, and Redisson neither.
    let alike = [word.clone(), word.replace('_', "-"), word.replace('_', "")];
    let of_kind =
        |kind: &LockKind| kind.facts().other_names.iter().map(|other| (*other, kind.name())).collect::<Vec<_>>();
    let mut synonyms = SYNONYMS.into_iter().chain(LockKind::ALL.iter().flat_map(of_kind));
    let synonym = synonyms.find(|(other, _)| alike.iter().any(|word| word == other)).map(|(_, ours)| ours);
    if let Some(ours) = known.iter().copied().find(|known| Some(*known) == synonym) {
        return Some(ours);
    }
    let near = |known: &&str| strsim::damerau_levenshtein(&word, known);
    let nearest = known.iter().copied().min_by_key(near)?;
    (near(&nearest) <= (nearest.len() / 3).max(1)).then_some(nearest)
}

/// The type of a value, with its article.
pub(super) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text in quotes",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a decimal point",
        DeValue::Boolean(_) => "a truth value (true or false)",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// "`a`, `b` or `c`".
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A word, shortened to fit into a title.
pub(super) fn short(word: &str) -> String {
    match word.char_indices().nth(MAX_WORD) {
        Some((cut, _)) => format!("{}…", shown(&word[..cut], &[])),
        None => shown(word, &[]),
    }
}
