//! Where the model and real Redisson differ on purpose: data, with the reason. A history that cannot be followed to its end
//! ends with a sentence of one of them.

use serde::Deserialize;

/// The file beside this one; its head says what each key means.
const FILE: &str = include_str!("departures.toml");

/// One difference on purpose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Departure {
    /// Its name: `timers-that-multiply`.
    pub id: String,
    /// The difference in one line.
    pub title: String,
    /// What the model does.
    pub model: String,
    /// What Redisson does, as runs have shown.
    pub redisson: String,
    /// Why the model does not do the same.
    pub reason: String,
    /// Which verdicts may be other ones, and in which direction.
    pub consequence: String,
    /// A key and its value with which the model does the same.
    #[serde(default)]
    pub followed_by: Option<String>,
    /// A text fit for an issue of Redisson; `None`: it keeps its promises.
    #[serde(default)]
    pub report: Option<String>,
    /// Where it stands in the facts: a page from the root, with a heading.
    pub facts: Vec<String>,
    /// The sentences with which a replay ends before the end of its history because of it.
    #[serde(default)]
    pub ends: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DepartureFile {
    departure: Vec<Departure>,
}

impl Departure {
    /// Every one, in the order of the file.
    pub fn all() -> Vec<Self> {
        let DepartureFile { departure } =
            toml::from_str(FILE).unwrap_or_else(|error| panic!("departures.toml is wrong:\n{error}"));
        departure
    }

    /// The one with this id.
    pub fn named(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.id == id)
    }

    /// The one because of which a history was not followed to its end.
    pub fn behind(end: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.ends.iter().any(|sentence| sentence == end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_departure_has_the_name_or_a_sentence_of_another_one() {
        let all = Departure::all();
        let ids: BTreeSet<_> = all.iter().map(|one| &one.id).collect();
        assert_eq!(ids.len(), all.len());
        let ends: Vec<_> = all.iter().flat_map(|one| &one.ends).collect();
        assert_eq!(ends.iter().collect::<BTreeSet<_>>().len(), ends.len());
    }
}
