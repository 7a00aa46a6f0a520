//! A state in words is complete: two different states never have the same text.

use std::collections::{BTreeMap, HashSet};

use lockstep_model::config::{Bound, Cluster, Config, PromoteRule};
use lockstep_model::{Action, InLayout, Layout, World, in_layout, step};
use lockstep_sim::render::state;

use crate::traces::{EVERYTHING, FAILOVER, IN_FLIGHT, NAMED, SMALL};

/// The first states of a breadth-first search, about this many, each as our text and as its `Debug` output.
struct Reading {
    most: usize,
}

impl InLayout for Reading {
    type Output = Vec<(String, String)>;

    fn run<Y: Layout>(self, config: &Config) -> Self::Output {
        let actions = Action::all(config);
        let first = World::<Y>::initial(config);
        let (mut seen, mut worlds) = (HashSet::from([first]), vec![first]);
        let mut next = 0;
        while next < worlds.len() && worlds.len() < self.most {
            let world = worlds[next];
            next += 1;
            let reached = actions.iter().filter_map(|&action| Some(step(config, &world, action)?.world));
            worlds.extend(reached.filter(|world| seen.insert(*world)));
        }
        worlds.iter().map(|world| (state::page(config, world), format!("{world:?}"))).collect()
    }
}

/// A reader who sees the same text twice assumes that it is the same state.
#[test]
fn two_states_that_differ_read_differently() {
    let bounded = Cluster { lag: Bound::Ticks(2), promote: PromoteRule::MostData, ..EVERYTHING.cluster };
    for config in [SMALL, FAILOVER, EVERYTHING, Config { cluster: bounded, ..EVERYTHING }, IN_FLIGHT, NAMED] {
        let pages = in_layout(&config, Reading { most: 20_000 });
        let mut known = BTreeMap::new();
        for (page, world) in &pages {
            if let Some(other) = known.insert(page, world) {
                panic!("these two read alike:\n{world}\n{other}\n{page}");
            }
        }
    }
}
