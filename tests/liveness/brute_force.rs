//! A second checker, for graphs so small that every set of edges can be tried as the set that a run takes infinitely
//! often. It uses no components, numbers or marks, and it must agree with the engine.

use std::collections::BTreeSet;

use lockstep_tests::drawn::from_environment;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use crate::drawn::{Drawn, Path};

/// Random graphs on which the two are compared; `LOCKSTEP_GRAPHS` asks for another number.
const GRAPHS: u32 = 6_000;
const MOST_STATES: u32 = 5;
const MOST_EDGES: usize = 10;

fn graphs() -> ProptestConfig {
    ProptestConfig::with_cases(from_environment("LOCKSTEP_GRAPHS", GRAPHS))
}

fn any_world() -> impl Strategy<Value = Drawn> {
    // Actions 0 to 2 may be weakly fair, 3 may be time, 4 is neither; all except time may also be strongly fair.
    let edge = (0..MOST_STATES, 0..5u16, 0..MOST_STATES);
    let edges = prop::collection::btree_set(edge, 3..=MOST_EDGES);
    let cause = prop::collection::vec(0..MOST_STATES, 1..4);
    let effect = prop::collection::vec(0..MOST_STATES, 0..3);
    let strong = prop::collection::btree_set(prop::sample::select(vec![0, 1, 2, 4u16]), 0..=2);
    (edges, 0..=3u16, any::<bool>(), strong, cause, effect, any::<bool>()).prop_map(
        |(edges, weak, has_time, strong, cause, effect, patient)| Drawn {
            edges: edges.into_iter().collect(),
            weak: (0..weak).collect(),
            time: has_time.then_some(3).into_iter().collect(),
            strong: strong.into_iter().collect(),
            cause,
            effect,
            patient,
        },
    )
}

/// Worlds in which standing still is never fair, but loops exist: the strongly fair actions decide the verdict.
fn any_restless_world() -> impl Strategy<Value = Drawn> {
    let restless = (0..4u32, 0..3u16, 0..4u32);
    let strong = (0..4u32, prop::sample::select(vec![2, 4u16]), 0..MOST_STATES);
    let edges = prop::collection::btree_set(restless, 4..=7);
    let more = prop::collection::btree_set(strong, 1..=3);
    (edges, more, any::<bool>()).prop_map(|(edges, more, patient)| Drawn {
        edges: edges.into_iter().chain(more).collect::<BTreeSet<_>>().into_iter().collect(),
        weak: vec![0, 1],
        strong: vec![2, 4],
        cause: vec![0],
        effect: vec![4],
        patient,
        ..Drawn::default()
    })
}

/// Returns the length of the shortest stem of a fair run on which the effect is never given, if there is such a run.
fn tried(world: &Drawn, begins: impl Fn(u32) -> bool) -> Option<usize> {
    let is_owed = |state: u32| !world.effect.contains(&state);
    let anywhere = distances(world, |_| true);
    let while_owed = distances(world, is_owed);
    // The shortest stem to a state such that the effect is not given after the obligation began.
    let stem = |state: u32| {
        let starts = (0..MOST_STATES).filter(|start| begins(*start) && is_owed(*start));
        starts
            .filter_map(|start| Some(anywhere[0][start as usize]? + while_owed[start as usize][state as usize]?))
            .min()
    };
    let mut shortest: Option<usize> = None;
    for guess in 0..1u32 << world.edges.len() {
        let taken: Vec<_> =
            (0..).zip(&world.edges).filter(|(number, _)| guess >> number & 1 != 0).map(|(_, edge)| *edge).collect();
        let states: Vec<u32> =
            (0..MOST_STATES).filter(|state| taken.iter().any(|edge| touches(*edge, *state))).collect();
        if states.iter().all(|state| is_owed(*state))
            && is_one_round(&taken, &states)
            && is_fair(world, &taken, &states)
        {
            shortest = shortest.into_iter().chain(states.iter().filter_map(|state| stem(*state)).min()).min();
        }
    }
    // Runs that end in a standstill count too.
    let idle =
        (0..MOST_STATES).filter(|state| is_owed(*state) && is_fair(world, &[], &[*state])).filter_map(stem).min();
    shortest.into_iter().chain(idle).min()
}

fn touches((from, _, to): (u32, u16, u32), state: u32) -> bool {
    from == state || to == state
}

/// Whether some run takes exactly these edges infinitely often: along them, each of their states reaches all the
/// others.
fn is_one_round(taken: &[(u32, u16, u32)], states: &[u32]) -> bool {
    let among = Drawn { edges: taken.to_vec(), ..Drawn::default() };
    let ways = distances(&among, |_| true);
    !taken.is_empty()
        && states.iter().all(|one| states.iter().all(|other| ways[*one as usize][*other as usize].is_some()))
}

/// Whether a run is fair that takes exactly these edges and visits exactly these states infinitely often.
fn is_fair(world: &Drawn, taken: &[(u32, u16, u32)], states: &[u32]) -> bool {
    let is_taken = |action: u16| taken.iter().any(|(_, other, _)| *other == action);
    let can = |state: u32, action: u16| world.edges.iter().any(|edge| edge.0 == state && edge.1 == action);
    let cannot = |action: u16| states.iter().any(|state| !can(*state, action));
    let time_passes = world.time.iter().all(|tick| is_taken(*tick) || (taken.is_empty() && cannot(*tick)));
    let never_can = |action: u16| states.iter().all(|state| !can(*state, action));
    let is_strongly_fair = world.strong.iter().all(|action| is_taken(*action) || never_can(*action));
    world.weak.iter().all(|action| is_taken(*action) || cannot(*action)) && time_passes && is_strongly_fair
}

/// The number of steps between each two states, using only states inside the set.
fn distances(world: &Drawn, is_in: impl Fn(u32) -> bool) -> Vec<Vec<Option<usize>>> {
    let all = 0..MOST_STATES;
    let near = |from: u32, to: u32| {
        let is_edge = world.edges.iter().any(|edge| (edge.0, edge.2) == (from, to));
        let is_possible = is_in(from) && is_in(to);
        if from == to { Some(0) } else { (is_possible && is_edge).then_some(1) }
    };
    let mut ways: Vec<Vec<_>> = all.clone().map(|from| all.clone().map(|to| near(from, to)).collect()).collect();
    for over in 0..MOST_STATES as usize {
        for from in 0..MOST_STATES as usize {
            for to in 0..MOST_STATES as usize {
                let detour = ways[from][over].zip(ways[over][to]).map(|(one, other)| one + other);
                ways[from][to] = ways[from][to].into_iter().chain(detour).min();
            }
        }
    }
    ways
}

/// The engine's run is a run of the graph, is fair, and its stem is as short as possible.
fn assert_agrees(world: &Drawn, found: Option<&Path>, begins: impl Fn(u32) -> bool) {
    let expected = tried(world, &begins);
    assert_eq!(found.map(|path| path.stem.len()), expected, "{found:?}");
    let Some(path) = found else { return };
    let is_owed = |state: u32| !world.effect.contains(&state);
    let mut at = 0;
    let mut has_begun = begins(0) && is_owed(0);
    for &(action, to) in &path.stem {
        assert!(world.edges.contains(&(at, action, to)), "{path:?}");
        at = to;
        has_begun = is_owed(at) && (has_begun || begins(at));
    }
    assert!(has_begun, "{path:?}");
    let start = at;
    let (mut taken, mut states) = (Vec::new(), vec![start]);
    for &(action, to) in &path.turn {
        assert!(world.edges.contains(&(at, action, to)), "{path:?}");
        taken.push((at, action, to));
        at = to;
        states.push(at);
    }
    assert_eq!(at, start, "{path:?}");
    assert!(states.iter().all(|state| is_owed(*state)), "{path:?}");
    assert!(is_fair(world, &taken, &states), "{path:?}");
}

proptest! {
    #![proptest_config(graphs())]

    #[test]
    fn the_engine_agrees_with_a_checker_that_tries_everything(world in any_world()) {
        assert_agrees(&world, world.always_eventually().as_ref(), |_| true);
        assert_agrees(&world, world.leads_to().as_ref(), |state| world.cause.contains(&state));
    }
}

proptest! {
    #![proptest_config(graphs())]

    #[test]
    fn the_engine_agrees_on_what_is_strongly_fair(world in any_restless_world()) {
        assert_agrees(&world, world.always_eventually().as_ref(), |_| true);
    }
}

/// Random graphs prove nothing if they all give the same result.
#[test]
fn random_graphs_are_of_both_sorts() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut with_turn, mut idle, mut none) = (0, 0, 0);
    for _ in 0..2_000 {
        let world = any_world().new_tree(&mut runner).expect("a world").current();
        match world.leads_to() {
            Some(path) if path.turn.len() > 1 => with_turn += 1,
            Some(_) => idle += 1,
            None => none += 1,
        }
    }
    assert!(with_turn >= 50, "{with_turn} {idle} {none}");
    assert!(idle >= 200, "{with_turn} {idle} {none}");
    assert!(none >= 200, "{with_turn} {idle} {none}");
}

/// They also prove nothing if strong fairness never makes a difference.
#[test]
fn strong_fairness_changes_some_verdicts_and_some_turns() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut saved, mut longer, mut kept) = (0, 0, 0);
    for _ in 0..4_000 {
        let strong = any_restless_world().new_tree(&mut runner).expect("a world").current();
        let weak = Drawn { strong: vec![], weak: [&strong.weak[..], &strong.strong].concat(), ..strong.clone() };
        match (weak.always_eventually(), strong.always_eventually()) {
            (Some(_), None) => saved += 1,
            (Some(weak), Some(strong)) if strong.turn.len() > weak.turn.len() => longer += 1,
            (Some(_), Some(_)) => kept += 1,
            (None, None) => {}
            (None, Some(path)) => panic!("what is strongly fair is weakly fair: {path:?}"),
        }
    }
    assert!(saved >= 50, "{saved} {longer} {kept}");
    assert!(longer >= 10, "{saved} {longer} {kept}");
    assert!(kept >= 50, "{saved} {longer} {kept}");
}
