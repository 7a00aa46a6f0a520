//! The complete graph of what can happen, packed: states by number, in the order in which a breadth-first search meets
//! them; edges state by state.
//!
//! It knows nothing of locks. Whoever has states and actions makes one ([`Space`]): the model does, and so do tests
//! that draw a graph by hand.

use super::actions::{ActionSet, Fairness};

/// What a property says of a state: a bit each, by whatever meaning the space gives them.
pub type Marks = u32;

/// States and actions to make a graph of.
pub trait Space {
    /// A state.
    type State: Copy;

    /// Where everything starts.
    fn initial(&self) -> Self::State;

    /// What tells states apart: never 0.
    fn identity(&self, state: &Self::State) -> u64;

    /// What the properties say of it. The edges of a state without a mark are not kept: it is only passed through.
    fn marks(&self, state: &Self::State) -> Marks;

    /// Everything that can happen there: the number of each action, and the state after it.
    fn each_successor(&self, state: &Self::State, found: impl FnMut(u8, Self::State));

    /// Which actions are fair.
    fn fairness(&self) -> Fairness;

    /// Why the search must stop now, after so many states. It is asked now and then.
    fn stops(&self, states: usize) -> Option<super::Stopped>;
}

/// How a state was reached first.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    action: u8,
}

/// One edge of a run: what happens, and the state it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// What happens.
    pub action: u8,
    /// The state after it.
    pub to: u32,
}

/// Everything that can happen.
pub struct Graph {
    origins: Vec<Origin>,
    marks: Vec<Marks>,
    /// The first state of each layer of the search.
    layers: Vec<u32>,
    /// Where the edges of each state start; one more for the end.
    starts: Vec<usize>,
    targets: Vec<u32>,
    actions: Vec<u8>,
    generated: u64,
    /// Which actions are fair.
    pub fairness: Fairness,
    /// How many states, each with what is still missing there, are looked at for the shortest turn of a loop. Beyond, a
    /// short one has to do.
    pub turn_effort: usize,
}

impl Graph {
    /// Looks at every state.
    ///
    /// # Errors
    /// Why it could not.
    pub fn of<S: Space>(space: &S) -> Result<Self, super::Stopped> {
        let initial = space.initial();
        let mut graph = Self {
            origins: vec![Origin { parent: 0, action: 0 }],
            marks: vec![space.marks(&initial)],
            layers: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            actions: Vec::new(),
            generated: 1,
            fairness: space.fairness(),
            turn_effort: 1 << 20,
        };
        let mut numbers = Numbers::default();
        numbers.number(space.identity(&initial), 0);
        let mut layer = vec![initial];
        let mut next_layer = Vec::new();
        let mut parent = 0;
        while !layer.is_empty() {
            graph.layers.push(parent);
            for state in &layer {
                if parent.is_multiple_of(1024)
                    && let Some(stopped) = space.stops(graph.origins.len())
                {
                    return Err(stopped);
                }
                let is_kept = graph.marks[parent as usize] != 0;
                let mut is_full = false;
                space.each_successor(state, |action, next| {
                    graph.generated += 1;
                    let Ok(new) = u32::try_from(graph.origins.len()) else {
                        is_full = true;
                        return;
                    };
                    let to = numbers.number(space.identity(&next), new);
                    if to == new {
                        graph.origins.push(Origin { parent, action });
                        graph.marks.push(space.marks(&next));
                        next_layer.push(next);
                    }
                    if is_kept {
                        graph.targets.push(to);
                        graph.actions.push(action);
                    }
                });
                if is_full {
                    return Err(super::Stopped::TableFull);
                }
                graph.starts.push(graph.targets.len());
                parent += 1;
            }
            std::mem::swap(&mut layer, &mut next_layer);
            next_layer.clear();
        }
        Ok(graph)
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

/// The number of each state that was met: open addressing, at most ¾ full.
struct Numbers {
    slots: Vec<(u64, u32)>,
    len: usize,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1 << 10], len: 0 }
    }
}

impl Numbers {
    /// The number the state has, or this one, if it was not met before.
    fn number(&mut self, identity: u64, new: u32) -> u32 {
        if self.len * 4 >= self.slots.len() * 3 {
            let mut slots = vec![(0, 0); self.slots.len() * 2];
            for &(identity, number) in self.slots.iter().filter(|(identity, _)| *identity != 0) {
                *slot(&mut slots, identity) = (identity, number);
            }
            self.slots = slots;
        }
        let slot = slot(&mut self.slots, identity);
        if slot.0 == 0 {
            *slot = (identity, new);
            self.len += 1;
        }
        slot.1
    }
}

/// Where the state stands, or would. There is always an empty slot.
fn slot(slots: &mut [(u64, u32)], identity: u64) -> &mut (u64, u32) {
    let mask = slots.len() - 1;
    #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
    let mut at = identity as usize & mask;
    while slots[at].0 != 0 && slots[at].0 != identity {
        at = (at + 1) & mask;
    }
    &mut slots[at]
}
