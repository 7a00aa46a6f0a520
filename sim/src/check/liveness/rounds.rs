//! The largest sets of states in which a fair run can stay for ever.

use super::actions::{ActionSet, Fairness};
use super::components::Components;
use super::graph::Graph;

/// The round of each state.
pub(super) struct Rounds {
    /// 0: a fair run does not stay in the state.
    numbers: Vec<u32>,
}

/// Whether a fair run can stay in a component.
pub(super) enum Judged {
    /// It can stay in all of the component.
    Round,
    /// It cannot, nor in any part of it.
    Unfair,
    /// It may be able to stay in a part, without the states in which one of these actions can happen.
    Without(ActionSet),
}

impl Rounds {
    /// The rounds among the selected states.
    pub(super) fn of(graph: &Graph, is_in: impl Fn(u32) -> bool) -> Self {
        let mut rounds = Self { numbers: vec![0; graph.states()] };
        let mut last = 0;
        let mut parts = rounds.look(graph, &is_in, &mut last);
        // What is left after cutting is judged again, until there is nothing left to cut.
        while !parts.is_empty() {
            let mut is_left = vec![false; graph.states()];
            for state in parts {
                is_left[state as usize] = true;
            }
            parts = rounds.look(graph, |state| is_left[state as usize], &mut last);
        }
        rounds
    }

    /// The round of a state; 0: it is in no round.
    pub(super) fn round(&self, state: u32) -> u32 {
        self.numbers[state as usize]
    }

    /// Judges the components of these states, numbers those that are rounds, and returns what is left of those that
    /// must be cut.
    fn look(&mut self, graph: &Graph, is_in: impl Fn(u32) -> bool, last: &mut u32) -> Vec<u32> {
        let mut left = Vec::new();
        let judge = |components: &_, number, members: &_| judge(graph, graph.fairness, (components, number, members));
        Components::of(graph, is_in, |components, number, members| match judge(components, number, members) {
            Judged::Round => {
                *last += 1;
                for &state in members {
                    self.numbers[state as usize] = *last;
                }
            }
            Judged::Unfair => {}
            Judged::Without(actions) => {
                let stays = |state: &u32| graph.enabled(*state).and(actions).is_empty();
                left.extend(members.iter().copied().filter(stays));
            }
        });
        left
    }
}

/// Whether a component, with its number and its members, has everything that a run needs that is fair in this sense, in edges that
/// stay in it. A part of it has fewer edges and fewer states, so if the component fails weak fairness or time, all of its parts fail as
/// well.
pub(super) fn judge(graph: &Graph, fairness: Fairness, component: (&Components, u32, &[u32])) -> Judged {
    let (components, number, members) = component;
    let Fairness { time, strong, .. } = fairness;
    let mut taken = ActionSet::NONE;
    let mut enabled_everywhere = ActionSet::ALL;
    let mut enabled_somewhere = ActionSet::NONE;
    let mut has_edge = false;
    for &state in members {
        let mut enabled = ActionSet::NONE;
        for edge in graph.moves(state) {
            enabled.insert(edge.action);
            if components.component(edge.to) == number {
                taken.insert(edge.action);
                has_edge = true;
            }
        }
        enabled_everywhere = enabled_everywhere.and(enabled);
        enabled_somewhere = enabled_somewhere.or(enabled);
    }
    let never_had = fairness.only_weak().and(enabled_everywhere).or(time).without(taken);
    if !has_edge || !never_had.is_empty() {
        return Judged::Unfair;
    }
    let evaded = strong.and(enabled_somewhere).without(taken);
    if evaded.is_empty() { Judged::Round } else { Judged::Without(evaded) }
}
