//! The shortest histories that tell two protocols apart: each can happen in one world, and in the other one it cannot, or shows
//! something else at its last step. What real clients do in such a history contradicts one of the two.
//!
//! Both worlds start alike and are led through the same actions, breadth first, over pairs of states. If no pair differs, the two
//! show the same in every history, and nobody who watches clients and servers can tell which of them runs.

use std::sync::atomic::{AtomicBool, Ordering};

use foldhash::HashSet;
use lockstep_model::redis::{Node, Role, StoredIn};
use lockstep_model::{Action, Config, InLayout, Layout, Step, World, in_largest_layout, step};

/// What a search over pairs of states has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Histories of the first world, shortest first, each of which shows at its last step what the second world does not.
    Histories(Vec<Vec<Action>>),
    /// There is none: every history of the first world is one of the second, and shows the same there.
    Nowhere,
    /// None was found among so many pairs of states, and there are more.
    NotWithin(usize),
}

/// How far to search.
#[derive(Clone, Copy, Debug)]
pub struct ApartLimits<'a> {
    /// So many histories are enough.
    pub most_histories: usize,
    /// At most so many pairs of states.
    pub most_pairs: usize,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
}

/// Searches for the shortest histories of `world` that `other` does not have, or in which it shows something else. The two differ
/// in switches of the protocol only: lock, clients, servers, times and faults are the same.
pub fn histories_apart(world: &Config, other: &Config, limits: ApartLimits<'_>) -> Apart {
    in_largest_layout(world, PairSearch { other, limits })
}

struct PairSearch<'a> {
    other: &'a Config,
    limits: ApartLimits<'a>,
}

/// A pair of states, and how it was reached.
struct Reached<Y: Layout> {
    one: World<Y>,
    other: World<Y>,
    /// The pair before it, and the action; `None`: it is the first.
    by: Option<(usize, Action)>,
}

impl InLayout for PairSearch<'_> {
    type Output = Apart;

    fn run<Y: Layout>(self, config: &Config) -> Apart {
        let Self { other: other_config, limits } = self;
        let actions = Action::all(config);
        let first = Reached::<Y> { one: World::initial(config), other: World::initial(other_config), by: None };
        let mut seen: HashSet<_> = [(first.one, first.other)].into_iter().collect();
        let mut reached = vec![first];
        let mut histories = Vec::new();
        let mut next = 0;
        while next < reached.len() && histories.len() < limits.most_histories {
            if reached.len() > limits.most_pairs || limits.stop.load(Ordering::Relaxed) {
                break;
            }
            for &action in &actions {
                let Reached { one, other, .. } = &reached[next];
                let Some(after) = step(config, one, action) else { continue };
                match step(other_config, other, action).filter(|other| shows_the_same(&after, other)) {
                    None => histories.push(history(&reached, next, action)),
                    Some(other) if seen.insert((after.world, other.world)) => {
                        reached.push(Reached { one: after.world, other: other.world, by: Some((next, action)) });
                    }
                    Some(_) => {}
                }
            }
            next += 1;
        }
        match (histories.is_empty(), next == reached.len()) {
            (false, _) => Apart::Histories(histories),
            (true, true) => Apart::Nowhere,
            (true, false) => Apart::NotWithin(reached.len()),
        }
    }
}

/// Whether nobody sees a difference: what the party that acted is answered, what the nodes store, and how often each thread
/// believes to hold.
fn shows_the_same<Y: Layout>(one: &Step<Y>, other: &Step<Y>) -> bool {
    one.reply == other.reply
        && nodes(&one.world).map(stored).eq(nodes(&other.world).map(stored))
        && holds(&one.world).eq(holds(&other.world))
}

fn nodes<Y: Layout>(world: &World<Y>) -> impl Iterator<Item = &Node<Y>> {
    world.groups.as_ref().iter().flat_map(|group| group.nodes.as_ref())
}

fn stored<Y: Layout>(node: &Node<Y>) -> (Role, StoredIn<Y>) {
    (node.role, node.stored)
}

fn holds<Y: Layout>(world: &World<Y>) -> impl Iterator<Item = u8> {
    world.threads().map(|(_, _, thread)| thread.holds())
}

/// The actions that lead to a pair, and one more.
fn history<Y: Layout>(reached: &[Reached<Y>], at: usize, last: Action) -> Vec<Action> {
    let mut actions = vec![last];
    let mut at = at;
    while let Some((before, action)) = reached[at].by {
        actions.push(action);
        at = before;
    }
    actions.reverse();
    actions
}

#[cfg(test)]
mod tests {
    use lockstep_model::config::MissedRenewal;

    use super::*;
    use crate::scenario::BuiltIn;

    static GOES_ON: AtomicBool = AtomicBool::new(false);
    const LIMITS: ApartLimits<'_> = ApartLimits { most_histories: 3, most_pairs: 100_000, stop: &GOES_ON };

    #[test]
    fn worlds_that_are_the_same_are_told_apart_by_no_history() {
        let config = BuiltIn::named("two-clients-one-node").expect("it is built in").scenario().config;
        assert_eq!(histories_apart(&config, &config, LIMITS), Apart::Nowhere);
    }

    #[test]
    fn the_shortest_histories_that_tell_two_rules_apart_can_happen_and_the_other_world_has_none_of_them() {
        let right = BuiltIn::named("missed-renewal-of-2026").expect("it is built in").scenario().config;
        let mut wrong = right;
        wrong.protocol.missed_renewal = MissedRenewal::StopTimer;
        let Apart::Histories(found) = histories_apart(&wrong, &right, LIMITS) else { panic!("they differ") };
        assert!(!found.is_empty());
        assert!(found.is_sorted_by_key(Vec::len));
        let again = histories_apart(&wrong, &right, LIMITS);
        assert_eq!(again, Apart::Histories(found));
    }

    #[test]
    fn a_search_that_ends_early_says_so() {
        let config = BuiltIn::named("two-clients-one-node").expect("it is built in").scenario().config;
        let limits = ApartLimits { most_pairs: 3, ..LIMITS };
        assert!(matches!(histories_apart(&config, &config, limits), Apart::NotWithin(_)));
    }
}
