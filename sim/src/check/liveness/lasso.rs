//! Fair cycles: whether one exists, the shortest way to it, and one turn of it.
//!
//! A fair run that stays among some states for ever ends in one of their strongly connected components. The run can be
//! fair to everything there exactly when the component has, for each weakly fair action, an edge that takes it or a
//! state in which it cannot happen, and an edge that takes time's tick: a run that visits every state and takes every
//! edge infinitely often is fair to all. So whole components are judged, by their edges and states, and no set of
//! states is tried twice.
//!
//! A strongly fair action that can happen in the component, but is taken by none of its edges, must be kept from
//! happening: the states in which it can happen are removed, and the rest falls into components that are judged again.
//! No fair run is lost by this: it cannot visit such states infinitely often.
//!
//! Every state may stutter, taking no action. That is fair where nothing fair can happen: a standstill.

use std::collections::{HashMap, VecDeque};

use super::actions::{ActionSet, Fairness};
use super::graph::{Graph, Marks, Move};
use super::rounds::Rounds;

/// A run that repeats a loop for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// From the first state to the loop; no shorter way leads to a fair loop.
    pub stem: Vec<Move>,
    /// One turn of the loop. Empty: at the end of the stem nothing fair can happen.
    pub turn: Vec<Move>,
}

impl Graph {
    /// Searches for a fair run on which, from some state on, a condition never holds again: a counterexample to "it
    /// holds infinitely often". States in which it does not hold must have a mark.
    pub fn always_eventually(&self, is_so: impl Fn(Marks) -> bool) -> Option<Lasso> {
        self.leads_to(|_| true, is_so)
    }

    /// Searches for a fair run that reaches a state in which one condition holds and afterwards never a state in which
    /// the other holds: a counterexample to "the one leads to the other". States in which the other does not hold must
    /// have a mark.
    pub fn leads_to(&self, cause: impl Fn(Marks) -> bool, effect: impl Fn(Marks) -> bool) -> Option<Lasso> {
        let is_owed = |state: u32| !effect(self.marks(state));
        let rounds = Rounds::of(self, is_owed);
        let is_end = |state: u32| rounds.round(state) != 0 || self.is_standstill(state);
        let owes = |state: u32| is_owed(state) && cause(self.marks(state));
        let (stem, end) = self.stem(owes, is_owed, is_end)?;
        let turn = if self.is_standstill(end) { Vec::new() } else { self.turn(&rounds, end) };
        Some(Lasso { stem, turn })
    }

    /// Whether nothing fair can happen in the state.
    pub(super) fn is_standstill(&self, state: u32) -> bool {
        self.moves(state).all(|edge| !self.fairness.all().has(edge.action))
    }

    /// A shortest path to a state where the obligation arises, and on through states where it is unfulfilled to an end
    /// state.
    fn stem(
        &self,
        owes: impl Fn(u32) -> bool,
        is_owed: impl Fn(u32) -> bool,
        is_end: impl Fn(u32) -> bool,
    ) -> Option<(Vec<Move>, u32)> {
        // How each state was reached with the obligation unfulfilled; `None` for a state where the obligation arises.
        let mut reached: HashMap<u32, Option<(u32, u16)>> = HashMap::new();
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

    /// One fair turn from the state back to itself, inside its round.
    fn turn(&self, rounds: &Rounds, start: u32) -> Vec<Move> {
        let inside = Inside { graph: self, rounds, number: rounds.round(start) };
        inside.shortest_turn(start).unwrap_or_else(|| inside.short_turn(start))
    }
}

/// The obligations left at some point of a turn, and the strongly fair actions taken: these cannot become obligations
/// again.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Debt {
    owed: ActionSet,
    taken: ActionSet,
}

/// A state, with a bit for each obligation left there, and for each action taken.
type Place = (u32, u64);

/// One round, in which a turn is searched.
struct Inside<'a> {
    graph: &'a Graph,
    rounds: &'a Rounds,
    number: u32,
}

impl Inside<'_> {
    fn moves(&self, state: u32) -> impl Iterator<Item = Move> {
        self.graph.moves(state).filter(|edge| self.rounds.round(edge.to) == self.number)
    }

    /// The obligations where the turn starts. A weakly fair action that is disabled there is already fulfilled.
    fn debt_at(&self, start: u32) -> Debt {
        let Fairness { time, strong, .. } = self.graph.fairness;
        let can_wait = self.graph.fairness.only_weak().or(strong);
        Debt { owed: can_wait.and(self.graph.enabled(start)).or(time), taken: ActionSet::NONE }
    }

    /// The obligations after an edge. Removed are the action that it takes, and weakly fair actions that are disabled
    /// after it; added are strongly fair actions that are enabled after it, unless the turn has already taken them.
    fn after(&self, debt: Debt, edge: Move) -> Debt {
        let fairness = self.graph.fairness;
        let done: ActionSet = [edge.action].into_iter().collect();
        let enabled = self.graph.enabled(edge.to);
        let taken = debt.taken.or(done.and(fairness.strong));
        let can_wait = fairness.only_weak().without(enabled);
        let comes_up = fairness.strong.and(enabled).without(taken);
        Debt { owed: debt.owed.without(done).without(can_wait).or(comes_up), taken }
    }

    /// The strongly fair actions that can happen in the round; each is taken by one of its edges.
    fn strong(&self) -> ActionSet {
        let strong = self.graph.fairness.strong;
        if strong.is_empty() {
            return strong;
        }
        let inside = (0..self.graph.states()).filter_map(|state| u32::try_from(state).ok());
        let inside = inside.filter(|&state| self.rounds.round(state) == self.number);
        inside.fold(ActionSet::NONE, |all, state| all.or(self.graph.enabled(state))).and(strong)
    }

    /// The shortest turn, by visiting every state with every set of missing actions; `None`: too many of them.
    fn shortest_turn(&self, start: u32) -> Option<Vec<Move>> {
        let first = self.debt_at(start);
        // Few actions can be obligations: one bit each, and one more for each strongly fair one, which may be taken
        // early.
        let strong: Vec<u16> = self.strong().iter().collect();
        let owed: Vec<u16> = first.owed.or(self.strong()).iter().collect();
        if owed.len() + strong.len() > u64::BITS as usize {
            return None;
        }
        let bits = |actions: &[u16], set: ActionSet| -> u64 {
            actions.iter().enumerate().filter(|(_, action)| set.has(**action)).map(|(bit, _)| 1 << bit).sum()
        };
        let set = |actions: &[u16], bits: u64| -> ActionSet {
            actions.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 != 0).map(|(_, action)| *action).collect()
        };
        let pack = |debt: Debt| match owed.len() {
            64 => bits(&owed, debt.owed),
            shift => bits(&owed, debt.owed) | bits(&strong, debt.taken) << shift,
        };
        let unpack = |packed: u64| Debt {
            owed: set(&owed, packed),
            taken: if owed.len() < 64 { set(&strong, packed >> owed.len()) } else { ActionSet::NONE },
        };
        let first: Place = (start, pack(first));
        let mut reached: HashMap<Place, Option<(Place, u16)>> = HashMap::from([(first, None)]);
        let mut queue = VecDeque::from([first]);
        while let Some(at) = queue.pop_front() {
            let debt = unpack(at.1);
            for edge in self.moves(at.0) {
                let left = self.after(debt, edge);
                let next = (edge.to, pack(left));
                let is_round = edge.to == start && left.owed.is_empty();
                // Without an obligation at the start, the start itself is already in `reached`: the turn must still
                // take an edge.
                if !is_round && reached.contains_key(&next) {
                    continue;
                }
                if is_round {
                    let mut turn = vec![edge];
                    let mut back = at;
                    while let Some((before, action)) = reached[&back] {
                        turn.push(Move { action, to: back.0 });
                        back = before;
                    }
                    turn.reverse();
                    return Some(turn);
                }
                reached.insert(next, Some((at, edge.action)));
                if reached.len() > self.graph.turn_effort {
                    return None;
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// A short turn: it always continues to the nearest edge or state that fulfils an obligation, and finally returns
    /// to the start. Every strongly fair action is taken, whether the turn would have enabled it or not.
    fn short_turn(&self, start: u32) -> Vec<Move> {
        let mut turn: Vec<Move> = Vec::new();
        let mut at = start;
        let first = self.debt_at(start);
        let mut debt = Debt { owed: first.owed.or(self.strong()), ..first };
        while !debt.owed.is_empty() {
            let way = self.way(at, |edge| self.after(debt, edge).owed != debt.owed);
            for &edge in &way {
                debt = self.after(debt, edge);
                at = edge.to;
            }
            turn.extend(way);
        }
        if at != start || turn.is_empty() {
            turn.extend(self.way(at, |edge| edge.to == start));
        }
        turn
    }

    /// A shortest path whose last edge is wanted. It exists: within a round every state can be reached from every
    /// other.
    fn way(&self, from: u32, is_wanted: impl Fn(Move) -> bool) -> Vec<Move> {
        let mut reached: HashMap<u32, (u32, u16)> = HashMap::new();
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
        unreachable!("a round is strongly connected, and has what a fair run needs")
    }
}
