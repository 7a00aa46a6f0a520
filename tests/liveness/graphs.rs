//! Graphs small enough to be judged by inspection. `A` and `B` are weakly fair, `T` is time, `U` may happen or not; `S`
//! and `R`, where present, are strongly fair.

use crate::drawn::{Drawn, Path};

const A: u16 = 0;
const B: u16 = 1;
const T: u16 = 2;
const U: u16 = 3;

/// A world without time. The obligation is open everywhere except in these states.
fn drawn(edges: &[(u32, u16, u32)], effect: &[u32]) -> Drawn {
    Drawn {
        edges: edges.to_vec(),
        weak: vec![A, B],
        time: vec![],
        strong: vec![],
        cause: vec![],
        effect: effect.to_vec(),
        patient: true,
    }
}

fn timed(edges: &[(u32, u16, u32)], effect: &[u32]) -> Drawn {
    Drawn { time: vec![T], ..drawn(edges, effect) }
}

fn path(stem: &[(u16, u32)], turn: &[(u16, u32)]) -> Path {
    Path { stem: stem.to_vec(), turn: turn.to_vec() }
}

#[test]
fn a_cycle_of_fair_actions_goes_round_for_ever() {
    let world = drawn(&[(0, A, 1), (1, A, 2), (2, A, 1)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(A, 1)], &[(A, 2), (A, 1)])));
}

#[test]
fn a_cycle_that_passes_what_is_owed_breaks_nothing() {
    let world = drawn(&[(0, A, 1), (1, A, 2), (2, A, 1)], &[2]);
    assert_eq!(world.always_eventually(), None);
}

/// Where paths meet again, a search that remembers only states treats the meeting as the end of a path (stateright
/// does).
#[test]
fn a_join_is_no_end() {
    let world = drawn(&[(0, A, 1), (0, B, 2), (1, A, 3), (2, A, 3), (3, A, 4), (4, A, 4)], &[4]);
    assert_eq!(world.always_eventually(), None);
}

/// `A` is enabled everywhere in the loop, and always leads out of it.
#[test]
fn what_is_enabled_for_ever_is_taken_in_the_end() {
    let world = drawn(&[(0, U, 1), (1, U, 0), (0, A, 2), (1, A, 2), (2, A, 2)], &[2]);
    assert_eq!(world.always_eventually(), None);
}

/// The same, but in state 1 `A` is disabled: weak fairness requires no more.
#[test]
fn what_is_disabled_again_and_again_need_not_be_taken() {
    let world = drawn(&[(0, U, 1), (1, U, 0), (0, A, 2), (2, A, 2)], &[2]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(U, 1), (U, 0)])));
}

/// Here staying in state 1 is not fair either: `B` must be taken.
#[test]
fn a_loop_is_fair_to_what_is_disabled_in_one_of_its_states() {
    let world = drawn(&[(0, U, 1), (1, B, 0), (0, A, 2), (2, A, 2)], &[2]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(U, 1), (B, 0)])));
}

/// Going only round the inner loop is unfair to `A`; going round the outer loop as well is fair.
#[test]
fn an_unfair_loop_inside_a_fair_component_is_left_now_and_then() {
    let world = drawn(&[(0, B, 1), (1, B, 0), (0, A, 2), (1, A, 2), (2, B, 0), (2, A, 2)], &[]);
    let found = world.always_eventually().expect("the component has both");
    assert_eq!(found.stem, []);
    assert_eq!(found.turn.len(), 2);
    assert!([A, B].iter().all(|wanted| found.turn.iter().any(|(action, _)| action == wanted)), "{found:?}");
}

/// The same inner loop, but the outer one passes a state where the obligation is met.
#[test]
fn an_unfair_loop_stays_unfair_when_its_component_is_cut() {
    let world = drawn(&[(0, B, 1), (1, B, 0), (0, A, 2), (1, A, 2), (2, B, 0)], &[2]);
    assert_eq!(world.always_eventually(), None);
}

/// Both edges connect the same two states: a set of states cannot tell whether both are taken.
#[test]
fn two_actions_between_two_states_take_two_rounds() {
    let world = drawn(&[(0, A, 1), (0, B, 1), (1, A, 0), (1, B, 0)], &[]);
    assert_eq!(world.always_eventually().map(|path| path.turn.len()), Some(2));
    let one_way = Drawn { edges: vec![(0, A, 1), (0, B, 1), (1, 9, 0)], weak: vec![A, B, 9], ..world };
    // A and B are each disabled in state 1, so a single round is already fair.
    assert_eq!(one_way.always_eventually().map(|path| path.turn.len()), Some(2));
    let never_disabled =
        Drawn { edges: vec![(0, A, 1), (0, B, 1), (1, 9, 0), (1, A, 2), (1, B, 2)], effect: vec![2], ..one_way };
    assert_eq!(never_disabled.always_eventually().map(|path| path.turn.len()), Some(4));
}

/// The same action leads out of one state and stays inside in the other: the loop takes it, so it is fair to it.
#[test]
fn an_action_taken_in_one_state_is_taken() {
    let world = drawn(&[(0, A, 1), (1, U, 0), (1, A, 2), (2, A, 2)], &[2]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(A, 1), (U, 0)])));
}

#[test]
fn a_self_loop_is_a_loop() {
    let world = drawn(&[(0, A, 1), (1, B, 1)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(A, 1)], &[(B, 1)])));
}

#[test]
fn a_self_loop_is_unfair_to_what_leads_out() {
    let world = drawn(&[(0, A, 0), (0, B, 1), (1, B, 1)], &[1]);
    assert_eq!(world.always_eventually(), None);
}

#[test]
fn a_deadlock_owes_for_ever() {
    let world = drawn(&[(0, A, 1), (1, B, 2)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(A, 1), (B, 2)], &[])));
}

#[test]
fn a_deadlock_where_nothing_is_owed_is_harmless() {
    let world = drawn(&[(0, A, 1), (1, B, 2)], &[2]);
    assert_eq!(world.always_eventually(), None);
}

/// An unfair action may never happen: no client is obliged to ask.
#[test]
fn a_state_that_only_unfair_actions_leave_is_a_standstill() {
    let world = drawn(&[(0, A, 1), (1, U, 2), (2, A, 2)], &[2]);
    assert_eq!(world.always_eventually(), Some(path(&[(A, 1)], &[])));
}

/// `A` is enabled in every state of the component, each time by another edge, and always leads out of it.
#[test]
fn an_action_enabled_everywhere_and_never_inside_ends_the_component() {
    let world =
        drawn(&[(0, B, 1), (1, B, 2), (2, B, 0), (0, A, 3), (1, A, 4), (2, A, 3), (3, B, 3), (4, B, 4)], &[3, 4]);
    assert_eq!(world.always_eventually(), None);
}

/// The first component is unfair; a fair one follows it.
#[test]
fn the_stem_passes_through_components_that_are_not_fair() {
    let world = drawn(&[(0, B, 1), (1, B, 0), (0, A, 2), (1, A, 2), (2, A, 3), (3, A, 2)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(A, 2)], &[(A, 3), (A, 2)])));
}

#[test]
fn what_cannot_be_reached_is_not_there() {
    let world = drawn(&[(0, A, 0), (1, A, 1)], &[0]);
    assert_eq!(world.always_eventually(), None);
}

/// The shortest path leads to the far loop; the first edge leads to the near deadlock through a detour.
#[test]
fn the_stem_is_the_shortest_to_any_fair_loop() {
    let world = drawn(&[(0, A, 1), (1, A, 2), (2, A, 3), (0, B, 4), (4, B, 5), (5, B, 4)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(B, 4)], &[(B, 5), (B, 4)])));
}

/// Time cannot pass in state 1, so a loop without a tick would be weakly fair to it. But then no time would pass.
#[test]
fn a_loop_that_takes_no_time_is_no_run() {
    let edges = [(0, U, 1), (1, A, 0), (0, T, 2), (2, T, 2)];
    assert_eq!(timed(&edges, &[2]).always_eventually(), None);
    let weakly = Drawn { weak: vec![A, B, T], ..drawn(&edges, &[2]) };
    assert_eq!(weakly.always_eventually(), Some(path(&[], &[(U, 1), (A, 0)])));
}

#[test]
fn a_loop_that_takes_time_is_one() {
    let world = timed(&[(0, U, 1), (1, A, 0), (0, T, 0)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(T, 0)])));
    let longer = timed(&[(0, A, 1), (1, U, 0), (1, T, 0)], &[]);
    assert_eq!(longer.always_eventually(), Some(path(&[], &[(A, 1), (T, 0)])));
}

#[test]
fn time_may_stand_still_where_nothing_happens_any_more() {
    let world = timed(&[(0, T, 1), (1, U, 1)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[(T, 1)], &[])));
}

/// The obligation begins in state 1 only, and the loop after state 2 is reached through the state that meets it.
#[test]
fn what_was_given_is_not_owed_any_more() {
    let world = Drawn {
        edges: vec![(0, A, 1), (1, A, 2), (2, A, 3), (3, A, 3)],
        weak: vec![A],
        time: vec![],
        strong: vec![],
        cause: vec![1],
        effect: vec![2],
        patient: true,
    };
    assert_eq!(world.leads_to(), None);
    assert!(world.always_eventually().is_some(), "it is never given again");
}

#[test]
fn what_is_owed_in_passing_is_owed_for_ever_if_it_is_never_given() {
    let world = Drawn {
        edges: vec![(0, A, 1), (1, A, 2), (2, A, 3), (3, A, 3)],
        weak: vec![A],
        time: vec![],
        strong: vec![],
        cause: vec![1],
        effect: vec![0],
        patient: true,
    };
    assert_eq!(world.leads_to(), Some(path(&[(A, 1), (A, 2), (A, 3)], &[(A, 3)])));
}

const S: u16 = 4;
const R: u16 = 5;

fn strongly(edges: &[(u32, u16, u32)], effect: &[u32]) -> Drawn {
    Drawn { strong: vec![S, R], ..drawn(edges, effect) }
}

/// The same graph as for weak fairness: that `S` is disabled in state 1 is no excuse, and `S` leads out of the loop.
#[test]
fn what_is_enabled_again_and_again_is_taken_in_the_end() {
    let world = strongly(&[(0, B, 1), (1, B, 0), (0, S, 2), (2, S, 2)], &[2]);
    assert_eq!(world.always_eventually(), None);
    let only_weak = Drawn { strong: vec![], weak: vec![B, S], ..world };
    assert_eq!(only_weak.always_eventually(), Some(path(&[], &[(B, 1), (B, 0)])));
}

/// `S` leads out of one state and stays inside in the other: taking one of its edges is enough.
#[test]
fn a_strongly_fair_action_that_goes_round_somewhere_is_taken_there() {
    let world = strongly(&[(0, B, 1), (1, B, 0), (0, S, 2), (1, S, 0), (2, S, 2)], &[2]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(B, 1), (S, 0)])));
}

/// The whole component is unfair to `S`; the part of it in which `S` is never enabled is fair.
#[test]
fn a_run_may_keep_away_from_where_a_strongly_fair_action_can_happen() {
    let world = strongly(&[(0, B, 1), (1, B, 0), (1, B, 2), (2, B, 1), (0, S, 3), (3, S, 3)], &[3]);
    assert_eq!(world.always_eventually(), Some(path(&[(B, 1)], &[(B, 2), (B, 1)])));
}

/// `R` is taken on the way to the state where `S` is enabled: after the cut for `S` the remaining part is unfair to
/// `R`, and after the cut for `R` no edge remains.
#[test]
fn what_is_left_is_judged_again() {
    let edges = [(0, B, 1), (1, B, 0), (1, B, 2), (2, B, 1), (0, S, 3), (2, R, 0), (3, S, 3)];
    assert_eq!(strongly(&edges, &[3]).always_eventually(), None);
    // With one more state, in which neither is enabled, there is a fair loop.
    let place = [&edges[..], &[(1, B, 4), (4, B, 1)]].concat();
    assert_eq!(strongly(&place, &[3]).always_eventually(), Some(path(&[(B, 1)], &[(B, 4), (B, 1)])));
}

/// The cut leaves two parts. One is unfair to `A`, which is enabled in both of its states; the other is fair.
#[test]
fn the_parts_that_a_cut_leaves_are_judged_each_by_itself() {
    let ring = [(0, B, 1), (1, B, 2), (2, B, 1), (0, B, 3), (3, B, 4), (4, B, 3), (1, B, 0), (3, B, 0), (0, S, 5)];
    let unfair = [&ring[..], &[(1, A, 5), (2, A, 5), (5, B, 5)]].concat();
    assert_eq!(strongly(&unfair, &[5]).always_eventually(), Some(path(&[(B, 3)], &[(B, 4), (B, 3)])));
    let both = [&unfair[..], &[(3, A, 5), (4, A, 5)]].concat();
    assert_eq!(strongly(&both, &[5]).always_eventually(), None);
}

/// A turn that visits a state where `S` is enabled must take `S`, although the shortest turn does not; here every turn
/// visits that state.
#[test]
fn a_turn_takes_what_it_comes_to() {
    let world = strongly(&[(0, B, 1), (1, B, 0), (1, S, 2), (2, B, 0)], &[]);
    let found = world.always_eventually().expect("it goes round").turn;
    assert!(found.contains(&(S, 2)), "{found:?}");
    assert_eq!(found, [(B, 1), (S, 2), (B, 0)]);
    let hasty = Drawn { patient: false, ..world };
    assert!(hasty.always_eventually().expect("it goes round").turn.contains(&(S, 2)));
}

/// An action taken once on the turn need not be taken again where it is enabled a second time.
#[test]
fn a_turn_takes_a_strongly_fair_action_once() {
    let world = strongly(&[(0, S, 1), (1, B, 2), (1, S, 2), (2, B, 0)], &[]);
    assert_eq!(world.always_eventually(), Some(path(&[], &[(S, 1), (B, 2), (B, 0)])));
}

/// A standstill requires that no fair action is enabled; here a strongly fair one is.
#[test]
fn a_state_in_which_a_strongly_fair_action_can_happen_is_no_standstill() {
    let world = strongly(&[(0, S, 1), (1, S, 1)], &[1]);
    assert_eq!(world.always_eventually(), None);
    assert_eq!(Drawn { strong: vec![], ..world }.always_eventually(), Some(path(&[], &[])));
}

/// Time must also pass in the part that remains after a cut.
#[test]
fn a_part_in_which_time_stands_still_is_no_place_to_stay() {
    let edges = [(0, B, 1), (1, B, 0), (1, B, 2), (2, B, 1), (0, S, 3), (0, T, 0), (3, S, 3)];
    let still = Drawn { strong: vec![S], ..timed(&edges, &[3]) };
    assert_eq!(still.always_eventually(), None);
    let passes = Drawn { edges: [&edges[..], &[(2, T, 2)]].concat(), ..still };
    assert_eq!(passes.always_eventually(), Some(path(&[(B, 1)], &[(B, 2), (T, 2), (B, 1)])));
}
