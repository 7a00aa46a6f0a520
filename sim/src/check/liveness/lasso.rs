//! Fair cycles: whether there is one, the shortest way to it, and one turn of it.
//!
//! A fair run that stays among some states for ever ends in one strongly connected component of them. It can be fair to
//! everything there just when, for each weakly fair action, the component has an edge that takes it or a state in which
//! it cannot happen, and an edge that takes time's tick: whoever goes everywhere and takes every edge again and again is
//! fair to all. So whole components are judged, by their edges and states, and no set of states is ever tried twice.
//!
//! Every state may stutter, taking nothing. That is fair where nothing fair can happen: a standstill.

use std::collections::{HashMap, VecDeque};

use super::actions::ActionSet;
use super::components::Components;
use super::graph::{Graph, Marks, Move};

/// A run that goes round for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// From the first state to the loop; no shorter way leads to a fair loop.
    pub stem: Vec<Move>,
    /// Once round. Empty: at the end of the stem nothing fair can happen any more.
    pub turn: Vec<Move>,
}

impl Graph {
    /// Looks for a fair run on which, from some state on, it is never so again: a counterexample to "again and again it
    /// is so". States where it is not so must have a mark.
    pub fn always_eventually(&self, is_so: impl Fn(Marks) -> bool) -> Option<Lasso> {
        self.leads_to(|_| true, is_so)
    }

    /// Looks for a fair run that comes to a state where one thing is so and never to one where the other is: a
    /// counterexample to "the one leads to the other". States where the other is not so must have a mark.
    pub fn leads_to(&self, cause: impl Fn(Marks) -> bool, effect: impl Fn(Marks) -> bool) -> Option<Lasso> {
        let is_owed = |state: u32| !effect(self.marks(state));
        // By number: whether a fair run can go round in the component. A standstill needs no component.
        let mut is_fair = vec![false];
        let components = Components::of(self, is_owed, |components, number, members| {
            is_fair.push(self.can_go_round(components, number, members));
        });
        let is_end = |state: u32| is_fair[components.component(state) as usize] || self.is_standstill(state);
        let owes = |state: u32| is_owed(state) && cause(self.marks(state));
        let (stem, end) = self.stem(owes, is_owed, is_end)?;
        let turn = if self.is_standstill(end) { Vec::new() } else { self.turn(&components, end) };
        Some(Lasso { stem, turn })
    }

    /// Whether nothing fair can happen in the state.
    fn is_standstill(&self, state: u32) -> bool {
        self.moves(state).all(|edge| !self.fairness.all().has(edge.action))
    }

    /// Whether the component has all that a fair run needs, in edges that stay in it.
    fn can_go_round(&self, components: &Components, number: u32, members: &[u32]) -> bool {
        let mut taken = ActionSet::NONE;
        let mut enabled_everywhere = ActionSet::ALL;
        let mut has_edge = false;
        for &state in members {
            let mut enabled = ActionSet::NONE;
            for edge in self.moves(state) {
                enabled.insert(edge.action);
                if components.component(edge.to) == number {
                    taken.insert(edge.action);
                    has_edge = true;
                }
            }
            enabled_everywhere = enabled_everywhere.and(enabled);
        }
        let never_had = self.fairness.weak.and(enabled_everywhere).or(self.fairness.time).without(taken);
        has_edge && never_had.is_empty()
    }

    /// A shortest way that comes to a state that owes, and from there through states where it is still owed to an end.
    fn stem(
        &self,
        owes: impl Fn(u32) -> bool,
        is_owed: impl Fn(u32) -> bool,
        is_end: impl Fn(u32) -> bool,
    ) -> Option<(Vec<Move>, u32)> {
        // How each state was reached by somebody to whom it was owed; the first such state by nobody.
        let mut reached: HashMap<u32, Option<(u32, u8)>> = HashMap::new();
        let mut frontier: Vec<u32> = Vec::new();
        let mut depth = 0;
        loop {
            let layer = self.layer(depth);
            if layer.is_none() && frontier.is_empty() {
                return None;
            }
            for state in layer.into_iter().flatten().filter(|&state| owes(state)) {
                if let std::collections::hash_map::Entry::Vacant(unreached) = reached.entry(state) {
                    unreached.insert(None);
                    frontier.push(state);
                }
            }
            if let Some(&end) = frontier.iter().find(|&&state| is_end(state)) {
                let mut since = Vec::new();
                let mut at = end;
                while let Some((parent, action)) = reached[&at] {
                    since.push(Move { action, to: at });
                    at = parent;
                }
                let mut stem = self.path(at);
                stem.extend(since.into_iter().rev());
                return Some((stem, end));
            }
            let mut next = Vec::new();
            for state in frontier {
                for edge in self.moves(state).filter(|edge| is_owed(edge.to)) {
                    if let std::collections::hash_map::Entry::Vacant(unreached) = reached.entry(edge.to) {
                        unreached.insert(Some((state, edge.action)));
                        next.push(edge.to);
                    }
                }
            }
            frontier = next;
            depth += 1;
        }
    }

    /// Once round from the state and back, fairly, inside its component.
    fn turn(&self, components: &Components, start: u32) -> Vec<Move> {
        let inside = Inside { graph: self, components, number: components.component(start) };
        // What cannot happen here is dealt with by being here.
        let owed = self.fairness.weak.and(self.enabled(start)).or(self.fairness.time);
        inside.shortest_turn(start, owed).unwrap_or_else(|| inside.short_turn(start, owed))
    }
}

/// A state, and a bit for each action that is still owed there.
type Place = (u32, u64);

/// One component, to go round in.
struct Inside<'a> {
    graph: &'a Graph,
    components: &'a Components,
    number: u32,
}

impl Inside<'_> {
    fn moves(&self, state: u32) -> impl Iterator<Item = Move> {
        self.graph.moves(state).filter(|edge| self.components.component(edge.to) == self.number)
    }

    /// What is still owed after an edge: not what it takes, nor what cannot happen where it leads.
    fn left(&self, owed: ActionSet, edge: Move) -> ActionSet {
        let done: ActionSet = [edge.action].into_iter().collect();
        let can_wait = self.graph.fairness.weak.without(self.graph.enabled(edge.to));
        owed.without(done).without(can_wait)
    }

    /// The shortest turn, by looking at every state with everything that may be missing there; `None`: too many.
    fn shortest_turn(&self, start: u32, owed: ActionSet) -> Option<Vec<Move>> {
        // The actions owed at the start are few: a bit each.
        let owed: Vec<u8> = owed.iter().collect();
        let set = |bits: u64| owed.iter().enumerate().filter(move |(bit, _)| bits >> bit & 1 != 0);
        let pack = |set: ActionSet| -> u64 {
            owed.iter().enumerate().filter(|(_, action)| set.has(**action)).map(|(bit, _)| 1 << bit).sum()
        };
        let first: Place = (start, 1u64.checked_shl(u32::try_from(owed.len()).ok()?)? - 1);
        let mut reached: HashMap<Place, Option<(Place, u8)>> = HashMap::from([(first, None)]);
        let mut queue = VecDeque::from([first]);
        while let Some(at) = queue.pop_front() {
            let missing: ActionSet = set(at.1).map(|(_, action)| *action).collect();
            for edge in self.moves(at.0) {
                let next = (edge.to, pack(self.left(missing, edge)));
                if reached.contains_key(&next) {
                    continue;
                }
                reached.insert(next, Some((at, edge.action)));
                if next == (start, 0) {
                    let mut turn = Vec::new();
                    let mut back = next;
                    while let Some((before, action)) = reached[&back] {
                        turn.push(Move { action, to: back.0 });
                        back = before;
                    }
                    turn.reverse();
                    return Some(turn);
                }
                if reached.len() > self.graph.turn_effort {
                    return None;
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// A short turn: always on to the nearest place that something owed is had at, and home at last.
    fn short_turn(&self, start: u32, mut owed: ActionSet) -> Vec<Move> {
        let mut turn: Vec<Move> = Vec::new();
        let mut at = start;
        while !owed.is_empty() {
            let way = self.way(at, |edge| self.left(owed, edge) != owed);
            for &edge in &way {
                owed = self.left(owed, edge);
                at = edge.to;
            }
            turn.extend(way);
        }
        if at != start || turn.is_empty() {
            turn.extend(self.way(at, |edge| edge.to == start));
        }
        turn
    }

    /// A shortest way whose last edge is wanted. There is one: everything in a component is reached from everywhere.
    fn way(&self, from: u32, is_wanted: impl Fn(Move) -> bool) -> Vec<Move> {
        let mut reached: HashMap<u32, (u32, u8)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in self.moves(at) {
                if is_wanted(edge) {
                    let mut way = vec![edge];
                    let mut back = at;
                    while back != from {
                        let (before, action) = reached[&back];
                        way.push(Move { action, to: back });
                        back = before;
                    }
                    way.reverse();
                    return way;
                }
                if edge.to != from
                    && let std::collections::hash_map::Entry::Vacant(unreached) = reached.entry(edge.to)
                {
                    unreached.insert((at, edge.action));
                    queue.push_back(edge.to);
                }
            }
        }
        unreachable!("a component is strongly connected, and has what a fair run needs")
    }
}
