//! Graphs given by hand or at random: states are numbers, 0 is the initial state.

use lockstep_sim::check::Stopped;
use lockstep_sim::check::liveness::{ActionSet, Fairness, Graph, Lasso, Lasting, Marks, Space};

/// Everything that can happen in such a world.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Source state, action, target state.
    pub edges: Vec<(u32, u16, u32)>,
    pub weak: Vec<u16>,
    pub time: Vec<u16>,
    pub strong: Vec<u16>,
    /// The states where an obligation begins.
    pub cause: Vec<u32>,
    /// The states where it is met.
    pub effect: Vec<u32>,
    /// Whether to search for the shortest turn; otherwise any short one is accepted.
    pub patient: bool,
}

const CAUSE: Marks = 1;
const OWED: Marks = 2;

impl Space for Drawn {
    type State = u32;

    fn initial(&self) -> u32 {
        0
    }

    fn identity(&self, state: &u32) -> u64 {
        // Spread over all bits, so that states fall into many shards.
        (u64::from(*state) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn marks(&self, state: &u32) -> Marks {
        let cause = if self.cause.contains(state) { CAUSE } else { 0 };
        let owed = if self.effect.contains(state) { 0 } else { OWED };
        cause | owed
    }

    fn each_successor(&self, state: &u32, mut found: impl FnMut(u16, u32)) {
        for &(_, action, to) in self.edges.iter().filter(|(from, _, _)| from == state) {
            found(action, to);
        }
    }

    fn nth_successor(&self, state: &u32, action: u16, nth: usize) -> u32 {
        let edge = self.edges.iter().filter(|(from, _, _)| from == state).nth(nth);
        let &(_, taken, to) = edge.expect("it was there before");
        assert_eq!(taken, action);
        to
    }

    fn fairness(&self) -> Fairness {
        let set = |actions: &[u16]| actions.iter().copied().collect::<ActionSet>();
        Fairness { weak: set(&self.weak), time: set(&self.time), strong: set(&self.strong) }
    }

    fn stops(&self, _: usize, _: usize, _: usize) -> Option<Stopped> {
        None
    }
}

/// A lasso in the numbers of the drawn graph: each action with the state after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub stem: Vec<(u16, u32)>,
    pub turn: Vec<(u16, u32)>,
}

impl Drawn {
    /// A run on which, from some state on, the effect never occurs again.
    pub fn always_eventually(&self) -> Option<Path> {
        let graph = self.graph();
        graph.always_eventually(|marks| marks & OWED == 0).map(|lasso| self.path(&lasso))
    }

    /// A run on which an obligation begins and is never met.
    pub fn leads_to(&self) -> Option<Path> {
        let graph = self.graph();
        graph.leads_to(|marks| marks & CAUSE != 0, |marks| marks & OWED == 0).map(|lasso| self.path(&lasso))
    }

    /// The maximum count of this action on one run through states with an open obligation.
    pub fn most(&self, counted: u16) -> Option<Lasting> {
        let graph = self.graph();
        graph.most(|state| graph.marks(state) & OWED != 0, |action| action == counted)
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::of(self, 1).unwrap_or_else(|stopped| panic!("{stopped:?}"));
        if !self.patient {
            graph.turn_effort = 0;
        }
        graph
    }

    /// The graph numbers states in the order in which it visits them.
    fn path(&self, lasso: &Lasso) -> Path {
        let mut order = vec![0];
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            for &(_, _, to) in self.edges.iter().filter(|(from, _, _)| *from == state) {
                if !order.contains(&to) {
                    order.push(to);
                }
            }
            at += 1;
        }
        let moves = |moves: &[lockstep_sim::check::liveness::Move]| {
            moves.iter().map(|edge| (edge.action, order[edge.to as usize])).collect()
        };
        Path { stem: moves(&lasso.stem), turn: moves(&lasso.turn) }
    }
}
