//! The complete graph of what can happen, packed: states by number, in the order in which a breadth-first search meets
//! them; edges state by state.
//!
//! It knows nothing of locks. Whoever has states and actions makes one ([`Space`]): the model does, and so do tests
//! that draw a graph by hand.

use super::actions::{ActionSet, Fairness};
use super::building::Building;

/// What a property says of a state: a bit each, by whatever meaning the space gives them.
pub type Marks = u32;

/// States and actions to make a graph of.
pub trait Space: Sync {
    /// A state.
    type State: Copy + Send + Sync;

    /// Where everything starts.
    fn initial(&self) -> Self::State;

    /// What tells states apart: never 0.
    fn identity(&self, state: &Self::State) -> u64;

    /// What the properties say of it. The edges of a state without a mark are not kept: it is only passed through.
    fn marks(&self, state: &Self::State) -> Marks;

    /// Everything that can happen there: the number of each action, and the state after it.
    fn each_successor(&self, state: &Self::State, found: impl FnMut(u16, Self::State));

    /// The nth of these, whose action this is, once more.
    fn nth_successor(&self, state: &Self::State, action: u16, nth: usize) -> Self::State;

    /// Which actions are fair.
    fn fairness(&self) -> Fairness;

    /// Why the search must stop now, after so many states in so many bytes. It is asked now and then.
    fn stops(&self, states: usize, bytes: usize) -> Option<super::Stopped>;
}

/// How a state was reached first.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) parent: u32,
    pub(super) action: u16,
}

/// One edge of a run: what happens, and the state it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// What happens.
    pub action: u16,
    /// The state after it.
    pub to: u32,
}

/// Everything that can happen.
pub struct Graph {
    pub(super) origins: Vec<Origin>,
    pub(super) marks: Vec<Marks>,
    /// The first state of each layer of the search.
    pub(super) layers: Vec<u32>,
    /// Where the edges of each state start; one more for the end.
    pub(super) starts: Vec<usize>,
    pub(super) targets: Vec<u32>,
    pub(super) actions: Vec<u16>,
    pub(super) generated: u64,
    /// Which actions are fair.
    pub fairness: Fairness,
    /// How many states, each with what is still missing there, are looked at for the shortest turn of a loop. Beyond, a
    /// short one has to do.
    pub turn_effort: usize,
}

impl Graph {
    /// Looks at every state, on so many threads: what it finds, and in which order, does not depend on them.
    ///
    /// # Errors
    /// Why it could not.
    pub fn of<S: Space>(space: &S, threads: usize) -> Result<Self, super::Stopped> {
        Building::new(space, threads).whole()
    }

    /// The first state alone.
    pub(super) fn starting(marks: Marks, fairness: Fairness) -> Self {
        Self {
            origins: vec![Origin { parent: 0, action: 0 }],
            marks: vec![marks],
            layers: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            actions: Vec::new(),
            generated: 1,
            fairness,
            turn_effort: 1 << 20,
        }
    }

    /// The memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_state = size_of::<Origin>() + size_of::<Marks>() + size_of::<usize>();
        let of_edge = size_of::<u32>() + size_of::<u16>();
        self.origins.len() * of_state + self.targets.len() * of_edge
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.origins.len()
    }

    /// How many edges there are, those that were not kept included, and one that leads to the first state.
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// What the properties say of a state.
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

    /// How many things can happen in a state.
    pub(super) fn degree(&self, state: u32) -> usize {
        self.starts[state as usize + 1] - self.starts[state as usize]
    }

    /// One of the things that can happen in a state.
    pub(super) fn nth_move(&self, state: u32, nth: usize) -> Move {
        let at = self.starts[state as usize] + nth;
        Move { action: self.actions[at], to: self.targets[at] }
    }

    /// The actions that can happen in a state.
    pub fn enabled(&self, state: u32) -> ActionSet {
        self.moves(state).map(|edge| edge.action).collect()
    }

    /// The states of a layer: all that are so many steps from the first.
    pub(super) fn layer(&self, depth: usize) -> Option<core::ops::Range<u32>> {
        let end = u32::try_from(self.states()).unwrap_or(u32::MAX);
        Some(*self.layers.get(depth)?..self.layers.get(depth + 1).copied().unwrap_or(end))
    }

    /// A shortest way from the first state.
    pub(super) fn path(&self, state: u32) -> Vec<Move> {
        let mut path = Vec::new();
        let mut at = state;
        while at != 0 {
            let Origin { parent, action } = self.origins[at as usize];
            path.push(Move { action, to: at });
            at = parent;
        }
        path.reverse();
        path
    }
}
