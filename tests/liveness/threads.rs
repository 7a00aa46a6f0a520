//! With any number of threads, the graph is the same as with a single thread that visits states and successors in
//! order.

use std::collections::HashMap;
use std::time::Instant;

use lockstep_model::Property;
use lockstep_sim::check::liveness::{
    ActionSet, Fairness, Graph, LivenessQuestion, Marks, Space, Whom, longest_wait, look,
};
use lockstep_sim::check::memory::MemoryLimit;
use lockstep_sim::check::{Limits, Stopped};
use lockstep_sim::scenario::builtin;
use lockstep_tests::drawn::from_environment;

const ASKED: LivenessQuestion<'_> =
    LivenessQuestion { properties: &Property::LIVENESS, whom: Whom::OneClient, normal_forms: true };

/// A world with many states whose successors are computed by arithmetic; some actions lead to two states.
struct Tangle {
    states: u64,
}

impl Tangle {
    fn successors(&self, state: u64) -> Vec<(u16, u64)> {
        let further = |by: u64| (state * 7 + by * state % 11 + by) % self.states;
        let all = [(0, further(1)), (0, further(2)), (1, (state + 1) % self.states), (2, further(5)), (3, state)];
        all.into_iter().take(usize::try_from(1 + state % 5).unwrap()).collect()
    }
}

impl Space for Tangle {
    type State = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn identity(&self, state: &u64) -> u64 {
        (state + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn marks(&self, state: &u64) -> Marks {
        state % 3
    }

    fn each_successor(&self, state: &u64, mut found: impl FnMut(u16, u64)) {
        for (action, next) in self.successors(*state) {
            found(action, next);
        }
    }

    fn nth_successor(&self, state: &u64, action: u16, nth: usize) -> u64 {
        let (taken, next) = self.successors(*state)[nth];
        assert_eq!(taken, action);
        next
    }

    fn fairness(&self) -> Fairness {
        Fairness { weak: ActionSet::ALL, ..Fairness::default() }
    }

    fn stops(&self, _: usize, _: usize, _: usize) -> Option<Stopped> {
        None
    }
}

/// The content of a graph, state by state: its marks, and its edges if it has a mark.
type Told = Vec<(Marks, Vec<(u16, u32)>)>;

fn told(graph: &Graph) -> Told {
    let states = 0..u32::try_from(graph.states()).unwrap();
    let edges = |state| graph.moves(state).map(|edge| (edge.action, edge.to)).collect();
    states.map(|state| (graph.marks(state), edges(state))).collect()
}

/// The same, built with a queue and a map.
fn expected(tangle: &Tangle) -> Told {
    let (mut order, mut numbers) = (vec![0], HashMap::from([(0, 0)]));
    let mut told = Told::new();
    while let Some(&state) = order.get(told.len()) {
        let mut edges = Vec::new();
        for (action, next) in tangle.successors(state) {
            let number = *numbers.entry(next).or_insert_with(|| {
                order.push(next);
                u32::try_from(order.len() - 1).unwrap()
            });
            edges.push((action, number));
        }
        let marks = tangle.marks(&state);
        told.push((marks, if marks == 0 { Vec::new() } else { edges }));
    }
    told
}

#[test]
fn states_have_the_numbers_that_one_queue_would_give_them() {
    for states in [1, 2, 700, 50_000, 300_000] {
        let tangle = Tangle { states };
        let expected = expected(&tangle);
        assert!(expected.len() as u64 * 2 > states, "most of them are reached");
        for threads in [1, 2, 3, 4] {
            let graph = Graph::of(&tangle, threads).expect("nothing stops it");
            // Not assert_eq: printing a page of numbers would not help.
            assert!(told(&graph) == expected, "{states} states on {threads} threads");
        }
    }
}

/// Scenarios with at most so many states are looked at on each number of threads. `LOCKSTEP_COMPARED_STATES` asks for larger ones;
/// `make soak` for all.
const COMPARED_STATES: u64 = 3_000;
const ALWAYS_COMPARED: &str = "third-client-is-woken";

#[test]
fn any_number_of_threads_finds_the_same_to_the_last_step_of_every_lasso() {
    let most = from_environment("LOCKSTEP_COMPARED_STATES", COMPARED_STATES);
    let mut compared = 0;
    for scenario in builtin() {
        let (stop, progress) = Default::default();
        let max_states = Some(most).filter(|_| scenario.name != ALWAYS_COMPARED);
        let limits = Limits { max_states, ..Limits::none(&stop, &progress) };
        let found = |threads| {
            let found = look(&scenario.config, ASKED, threads, &limits, Instant::now(), false)?;
            Ok((found.states, found.generated, found.found))
        };
        let one = match found(1) {
            Err(Stopped::MaxStates(_)) => continue,
            one => one.expect("nothing else stops it"),
        };
        for threads in [2, 3, 4] {
            assert_eq!(found(threads).as_ref(), Ok(&one), "{} on {threads} threads", scenario.name);
        }
        compared += 1;
    }
    assert!(compared > 100, "{compared} scenarios are small enough");
}

/// The graph also stores edges, so it is larger than the search's table: its own memory is counted as well.
#[test]
fn a_limit_of_memory_stops_the_graph() {
    let scenario = crate::scenario("third-client-is-woken");
    let (stop, progress) = Default::default();
    let max_bytes = Some(4 << 20);
    let limits = Limits { max_bytes, ..Limits::none(&stop, &progress) };
    let found = look(&scenario.config, ASKED, 1, &limits, Instant::now(), false);
    assert_eq!(found.err(), Some(Stopped::MaxMemory(4 << 20)));
}

#[test]
fn a_limit_on_the_memory_of_the_process_stops_the_graph() {
    let scenario = crate::scenario("third-client-is-woken");
    let (stop, progress) = Default::default();
    let resident = Some(MemoryLimit::given(1));
    let limits = Limits { resident, ..Limits::none(&stop, &progress) };
    let found = look(&scenario.config, ASKED, 1, &limits, Instant::now(), false);
    assert!(matches!(found.err(), Some(Stopped::Resident { .. })));
    let waits = longest_wait(&scenario.config, &limits);
    assert!(matches!(waits, Err(Stopped::Resident { .. })), "{waits:?}");
}
