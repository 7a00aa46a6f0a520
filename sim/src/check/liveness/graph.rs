//! The complete graph of what can happen, packed: states by number, in the order of a breadth-first search; edges
//! grouped by state.
//!
//! It is independent of locks. Any set of states and actions can be made into a graph ([`Space`]): the model is one,
//! and so are the hand-drawn graphs of tests.

use super::actions::{ActionSet, Fairness};
use crate::check::limits::Stopped;

/// The properties' statements about a state: one bit each, whose meaning the space defines.
pub type Marks = u64;

/// States and actions from which a graph is built.
pub trait Space: Sync {
    /// A state.
    type State: Copy + Send + Sync;

    /// The initial state.
    fn initial(&self) -> Self::State;

    /// The identity of a state, which tells states apart: never 0.
    fn identity(&self, state: &Self::State) -> u64;

    /// The properties' marks on the state.
    fn marks(&self, state: &Self::State) -> Marks;

    /// What the state has in common with all that differ from it by the order of what is alike ([`orbits`](super::orbits)).
    /// `None`: the question is not asked of this space.
    fn orbit(&self, _: &Self::State) -> Option<u64> {
        None
    }

    /// Whether the edges of a state with these marks are kept; others are only passed through.
    fn keeps_edges(&self, marks: Marks) -> bool {
        marks != 0
    }

    /// Everything that can happen in the state: the number of each action, and the state after it.
    fn each_successor(&self, state: &Self::State, found: impl FnMut(u16, Self::State));

    /// Generates the nth successor, which this action leads to, again.
    fn nth_successor(&self, state: &Self::State, action: u16, nth: usize) -> Self::State;

    /// Which actions are fair.
    fn fairness(&self) -> Fairness;

    /// Why the search must stop now, given its number of states and bytes, and how many bytes it may soon take at once.
    /// It is called at intervals.
    fn stops(&self, states: usize, bytes: usize, growth: usize) -> Option<Stopped>;

    /// How many bytes may still be taken: with little room, the intervals are shorter.
    fn room(&self) -> u64 {
        u64::MAX
    }
}

/// How a state was first reached.
#[derive(Clone, Copy)]
pub(super) struct StateOrigin {
    pub(super) parent: u32,
    pub(super) action: u16,
}

/// One edge of a run: the action, and the state after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The number of the action.
    pub action: u16,
    /// The state after it.
    pub to: u32,
}

/// Everything that can happen.
pub struct Graph {
    pub(super) origins: Vec<StateOrigin>,
    pub(super) marks: Vec<Marks>,
    /// The orbit of each state, where the space has them.
    pub(super) orbits: Vec<u64>,
    /// The first state of each layer of the search.
    pub(super) layers: Vec<u32>,
    /// Where the edges of each state start; one more entry for the end.
    pub(super) starts: Vec<usize>,
    pub(super) targets: Vec<u32>,
    pub(super) actions: Vec<u16>,
    pub(super) generated: u64,
    /// Which actions are fair.
    pub fairness: Fairness,
    /// How many states, each combined with what is still missing there, are searched for the shortest turn of a loop.
    /// Beyond this limit, a short one is accepted.
    pub turn_effort: usize,
}

impl Graph {
    /// A graph of the first state alone.
    pub(super) fn starting(marks: Marks, orbit: Option<u64>, fairness: Fairness) -> Self {
        Self {
            origins: vec![StateOrigin { parent: 0, action: 0 }],
            marks: vec![marks],
            orbits: orbit.into_iter().collect(),
            layers: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            actions: Vec::new(),
            generated: 1,
            fairness,
            turn_effort: 1 << 20,
        }
    }

    /// Its memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_state = size_of::<StateOrigin>() + size_of::<Marks>() + size_of::<usize>();
        let of_edge = size_of::<u32>() + size_of::<u16>();
        self.origins.len() * of_state + self.targets.len() * of_edge + self.orbits.len() * size_of::<u64>()
    }

    /// The bytes, beside its own, that the search for components and for a lasso takes at most, as a rule: for each state
    /// either the numbers of its component and its round, or how a stem came there.
    pub(super) fn bytes_of_a_search(&self) -> u64 {
        const OF_STATE: u64 = 40;
        // Of each orbit, which component it was met in, in a table that grows by doubling.
        const OF_ORBIT: u64 = 60;
        self.states() as u64 * OF_STATE + self.orbits.len() as u64 * OF_ORBIT
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.origins.len()
    }

    /// The number of edges, including those that were not kept, and one that leads to the first state.
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// The properties' marks on a state.
    pub fn marks(&self, state: u32) -> Marks {
        self.marks[state as usize]
    }

    /// Whether any state has one of these marks.
    pub fn has_mark(&self, marks: Marks) -> bool {
        self.marks.iter().any(|there| there & marks != 0)
    }

    /// What can happen in a state.
    pub fn moves(&self, state: u32) -> impl Iterator<Item = Move> {
        (0..self.degree(state)).map(move |nth| self.nth_move(state, nth))
    }

    /// The number of edges from a state.
    pub(super) fn degree(&self, state: u32) -> usize {
        self.starts[state as usize + 1] - self.starts[state as usize]
    }

    /// One of the edges from a state.
    pub(super) fn nth_move(&self, state: u32, nth: usize) -> Move {
        let at = self.starts[state as usize] + nth;
        Move { action: self.actions[at], to: self.targets[at] }
    }

    /// The actions that can happen in a state.
    pub fn enabled(&self, state: u32) -> ActionSet {
        self.moves(state).map(|edge| edge.action).collect()
    }

    /// The states of a layer: all that are this many steps from the first.
    pub(super) fn layer(&self, depth: usize) -> Option<core::ops::Range<u32>> {
        let end = u32::try_from(self.states()).unwrap_or(u32::MAX);
        Some(*self.layers.get(depth)?..self.layers.get(depth + 1).copied().unwrap_or(end))
    }

    /// A shortest path from the first state.
    pub(super) fn path(&self, state: u32) -> Vec<Move> {
        let mut path = Vec::new();
        let mut at = state;
        while at != 0 {
            let StateOrigin { parent, action } = self.origins[at as usize];
            path.push(Move { action, to: at });
            at = parent;
        }
        path.reverse();
        path
    }
}
