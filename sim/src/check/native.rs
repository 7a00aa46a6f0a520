//! The native engine: breadth-first, all properties at once.
//!
//! States are looked at in the order of [`Action::all`], layer by layer, so the first state that breaks a property is
//! at the end of a shortest trace, and the same one on every machine.

use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_model::{Action, Config, Happenings, Property, Record, World, step};

use super::fingerprint::{Table, fingerprint};
use super::{Coverage, Limits, Stopped};

/// What a search found.
pub struct Search {
    /// Distinct states.
    pub states: u64,
    /// Successors, the first state included.
    pub generated: u64,
    /// Steps from the first state to the farthest.
    pub depth: u32,
    /// Why it did not look at every state.
    pub stopped: Option<Stopped>,
    /// What was taken and what happened.
    pub coverage: Coverage,
    /// For each property asked for, a shortest list of actions that breaks it.
    pub witnesses: Vec<Option<Vec<Action>>>,
}

/// How a state was reached first.
struct Origin {
    parent: u32,
    /// Into [`Action::all`]: at most 24 kinds times 8 parties.
    action: u8,
}

/// Looks at every state.
pub fn search<R: Record, const C: usize, const N: usize>(
    config: &Config,
    properties: &[Property],
    limits: &Limits<'_>,
) -> Search {
    let started = Instant::now();
    let actions = Action::all(config);
    let initial = World::<R, C, N>::initial(config);

    let mut met = Table::default();
    let mut origins = Vec::new();
    let mut coverage = Coverage::none(config);
    let mut generated = 1;
    let mut depth = 0;
    let mut broken: Vec<Option<u32>> = vec![None; properties.len()];
    let mut stopped = None;

    met.insert(fingerprint(&initial));
    origins.push(Origin { parent: 0, action: 0 });
    look(&initial, 0, properties, &mut broken);
    let mut layer = vec![(initial, 0u32)];
    let mut next_layer = Vec::new();

    'search: while !layer.is_empty() {
        for (world, index) in &layer {
            if index % 1024 == 0 {
                limits.progress.store(origins.len() as u64, Ordering::Relaxed);
                stopped = limits.exceeded(origins.len() as u64, started);
                if stopped.is_some() {
                    break 'search;
                }
            }
            for (number, &action) in (0u8..).zip(&actions) {
                let Some(next) = step(config, world, action) else { continue };
                generated += 1;
                coverage.taken[action.kind() as usize] += 1;
                coverage.happenings = coverage.happenings.and(next.happenings);
                if !met.insert(fingerprint(&next.world)) {
                    continue;
                }
                let Ok(found) = u32::try_from(origins.len()) else {
                    stopped = Some(Stopped::TableFull);
                    break 'search;
                };
                origins.push(Origin { parent: *index, action: number });
                coverage.note_left(next.world.faults);
                look(&next.world, found, properties, &mut broken);
                next_layer.push((next.world, found));
            }
        }
        depth += u32::from(!next_layer.is_empty());
        std::mem::swap(&mut layer, &mut next_layer);
        next_layer.clear();
    }

    let path = |state: u32| {
        let mut path = Vec::new();
        let mut at = state;
        while at != 0 {
            let origin = &origins[at as usize];
            path.push(actions[usize::from(origin.action)]);
            at = origin.parent;
        }
        path.reverse();
        path
    };
    let states = origins.len() as u64;
    limits.progress.store(states, Ordering::Relaxed);
    let witnesses = broken.into_iter().map(|state| state.map(path)).collect();
    Search { states, generated, depth, stopped, coverage, witnesses }
}

/// Notes the first state that breaks each property.
fn look<R: Record, const C: usize, const N: usize>(
    world: &World<R, C, N>,
    index: u32,
    properties: &[Property],
    broken: &mut [Option<u32>],
) {
    for (property, broken) in properties.iter().zip(broken) {
        if broken.is_none() && !property.holds(world) {
            *broken = Some(index);
        }
    }
}

impl Coverage {
    /// Nothing seen yet.
    pub fn none(config: &Config) -> Self {
        Self { taken: [0; _], happenings: Happenings::NONE, least_left: config.faults }
    }
}
