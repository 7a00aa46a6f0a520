//! Runs of worlds whose masters are alike, by fewer states than there are worlds.
//!
//! Every client asks the masters in any order, so worlds that differ by the order of their masters have the same future with the
//! names exchanged: they are one *orbit*. A graph of orbits would do for what names no master, but fairness names masters: each ask of
//! each master must come in the end, and in a graph of orbits nobody can see which master an edge meant. So one master, the first, is
//! told apart from the others, and the graph has a state for each orbit and each place in it that this one may have: a few times as many
//! as orbits, where all orders of five masters would be 120 times as many.
//!
//! A run is fair if it is fair to each master, and any of them may be the one that is told apart. The components of orbits are those of
//! this graph, joined where they have an orbit in common: each part shows the same run, seen from the place of other masters.
//! A fair run can stay in such a component exactly when each of its parts has, for each fair action of the first master or of none, an
//! edge that takes it or a state in which it cannot happen: a run that takes every edge again and again, also with the masters
//! exchanged, is then fair to all; and where one part lacks it, the masters that are seen there are treated unfairly by every run. (E. A. Emerson,
//! A. P. Sistla: "Utilizing symmetry when model-checking under fairness assumptions", TOPLAS 19 (4), 1997, have the same for
//! processes.) It is so of weak fairness and of time; strong fairness is left to the graph that tells all masters apart.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::actions::{ActionSet, Fairness};
use super::components::Components;
use super::graph::{Graph, Marks};
use super::rounds::{Judged, judge};

impl Graph {
    /// Whether a fair run can stay for ever in states with this mark. `of_the_first`: the actions that name the first master or none. Must
    /// not be asked where an action is strongly fair.
    ///
    /// # Panics
    /// The space has no orbits, or an action is strongly fair.
    pub fn can_stay_in_orbits(&self, mark: Marks, of_the_first: ActionSet) -> bool {
        assert!(self.fairness.strong.is_empty(), "of strong fairness nothing is known by orbits");
        let is_in = |state: u32| self.marks(state) & mark != 0;
        let states = 0..u32::try_from(self.states()).unwrap_or(u32::MAX);
        // Here actions of all masters count: it is fair to stand still only where none of them can happen.
        if states.into_iter().any(|state| is_in(state) && self.is_standstill(state)) {
            return true;
        }
        let fairness = Fairness { weak: self.fairness.weak.and(of_the_first), ..self.fairness };
        let mut parts = JoinedParts::default();
        let mut of_orbit = HashMap::new();
        Components::of(self, is_in, |components, number, members| {
            let part = parts.add(matches!(judge(self, fairness, (components, number, members)), Judged::Round));
            for &state in members {
                match of_orbit.entry(self.orbits[state as usize]) {
                    Entry::Vacant(first) => _ = first.insert(part),
                    Entry::Occupied(other) => parts.join(part, *other.get()),
                }
            }
        });
        parts.has_fair_whole()
    }
}

/// Components of the graph, joined into those of the graph of orbits.
#[derive(Default)]
struct JoinedParts {
    /// Whether a run that stays in this part is fair to whom it shows.
    is_fair: Vec<bool>,
    /// A part that belongs to the same whole and was met before, or the part itself.
    before: Vec<usize>,
}

impl JoinedParts {
    fn add(&mut self, is_fair: bool) -> usize {
        self.is_fair.push(is_fair);
        self.before.push(self.before.len());
        self.before.len() - 1
    }

    /// The first part of its whole.
    fn first(&mut self, mut part: usize) -> usize {
        while self.before[part] != part {
            // Paths are halved, so that they stay short.
            self.before[part] = self.before[self.before[part]];
            part = self.before[part];
        }
        part
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.before[one.max(other)] = one.min(other);
    }

    /// Whether all parts of some whole are fair.
    fn has_fair_whole(mut self) -> bool {
        let mut is_fair = self.is_fair.clone();
        for part in 0..is_fair.len() {
            let first = self.first(part);
            is_fair[first] &= is_fair[part];
        }
        (0..is_fair.len()).any(|part| self.before[part] == part && is_fair[part])
    }
}
