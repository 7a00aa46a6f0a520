//! Histories that take every kind of action at least once: a replay of them on real servers exercises everything that
//! the scenario contains.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use lockstep_model::{Action, ActionKind, Config, InLayout, Layout, World, in_largest_layout, step};

/// How many states are searched for the next action that is still missing.
const MOST_STATES: usize = 200_000;

/// A few histories, each from the first state, which together take every kind of action that can be found within reach.
/// They are short by a greedy search, not provably shortest: each continues to the nearest state in which something new
/// happens.
pub fn covering(config: &Config) -> Vec<Vec<Action>> {
    in_largest_layout(config, Covering)
}

struct Covering;

impl InLayout for Covering {
    type Output = Vec<Vec<Action>>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let actions = Action::all(config);
        let mut missing: HashSet<ActionKind> = actions.iter().map(|action| action.kind()).collect();
        let mut histories = Vec::new();
        loop {
            let mut world = World::<Y>::initial(config);
            let mut history = Vec::new();
            while let Some((path, end)) = nearest(config, &actions, &world, &missing) {
                for action in &path {
                    missing.remove(&action.kind());
                }
                history.extend(path);
                world = end;
            }
            if history.is_empty() {
                return histories;
            }
            histories.push(history);
        }
    }
}

/// The way to the nearest missing action. Faults come last: what they end cannot be covered after them.
fn nearest<Y: Layout>(
    config: &Config,
    actions: &[Action],
    from: &World<Y>,
    missing: &HashSet<ActionKind>,
) -> Option<(Vec<Action>, World<Y>)> {
    let calm: HashSet<ActionKind> = missing.iter().copied().filter(|kind| !kind.is_fault()).collect();
    walk(config, actions, from, &calm).or_else(|| walk(config, actions, from, missing))
}

struct Way {
    action: Action,
    before: Option<Rc<Way>>,
}

fn walk<Y: Layout>(
    config: &Config,
    actions: &[Action],
    from: &World<Y>,
    wanted: &HashSet<ActionKind>,
) -> Option<(Vec<Action>, World<Y>)> {
    if wanted.is_empty() {
        return None;
    }
    let mut met = HashSet::from([*from]);
    let mut queue: VecDeque<(World<Y>, Option<Rc<Way>>)> = VecDeque::from([(*from, None)]);
    while let Some((world, way)) = queue.pop_front() {
        for &action in actions {
            let Some(next) = step(config, &world, action) else { continue };
            let is_wanted = wanted.contains(&action.kind());
            if !is_wanted && (met.len() > MOST_STATES || !met.insert(next.world)) {
                continue;
            }
            let way = Rc::new(Way { action, before: way.clone() });
            if is_wanted {
                let mut path: Vec<Action> =
                    std::iter::successors(Some(&way), |way| way.before.as_ref()).map(|way| way.action).collect();
                path.reverse();
                return Some((path, next.world));
            }
            queue.push_back((next.world, Some(way)));
        }
    }
    None
}
