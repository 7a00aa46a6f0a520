//! The second opinion: stateright 0.31 over the same model, under the rules of docs/facts/stateright.md#limits.
//!
//! It uses one thread. An extra property that never fails keeps stateright searching to the last state. Traces come
//! from runs with one property each, because with several pending a discovery is overwritten by a later one (fact 3).
//! Every listed action is possible (fact 5), and this module tracks whether every state was visited (fact 6).

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_model::{Action, Config, Layout, Property};
use stateright::{Checker, Model};

use super::adapter::{Adapter, AskedProperties, Watch};
use super::coverage::Coverage;
use super::limits::{Limits, Stopped};
use super::search::Search;

/// How often the limits are checked while stateright runs.
const GLANCE: Duration = Duration::from_millis(2);

/// Visits every state, as [`native::search`](super::native::search) does, and returns the same kind of result.
pub fn search<Y: Layout>(config: &Config, properties: &[Property], limits: &Limits<'_>) -> Search {
    let started = Instant::now();
    limits.begin();
    let whole = run::<Y>(config, AskedProperties::All, limits, started);
    let mut stopped = whole.stopped;
    let witnesses = properties
        .iter()
        .map(|property| {
            // With all properties pending its verdict can be trusted, but its path cannot: run again for this property
            // alone.
            let is_broken = whole.broken.iter().any(|(broken, _)| broken == property);
            limits.begin();
            let alone = is_broken.then(|| run::<Y>(config, AskedProperties::One(*property), limits, started))?;
            let path = alone.broken.into_iter().map(|(_, path)| path).next();
            // Without its path a property that is broken must not be said to hold.
            if path.is_none() {
                stopped = stopped.or(alone.stopped);
            }
            path
        })
        .collect();
    Search {
        states: whole.states,
        generated: whole.generated,
        depth: whole.depth,
        stopped,
        coverage: whole.coverage,
        witnesses,
        left_normal_forms: false,
        peak_bytes: None,
    }
}

/// The order of stateright's search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Breadth first: the order of the second opinion.
    Breadth,
    /// Depth first.
    Depth,
}

/// The counts of an unobserved search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Distinct states.
    pub states: u64,
    /// Successors generated, including the first state.
    pub generated: u64,
}

/// Visits every state as fast as stateright can, on this many threads, with the properties that apply: for a benchmark.
/// There is no coverage, no observer and no limit.
pub fn race<Y: Layout>(config: &Config, order: SearchOrder, threads: usize) -> Counted {
    fn end<M: Model>(checker: impl Checker<M>) -> Counted
    where
        M::State: Hash,
    {
        let done = checker.join();
        Counted { states: done.unique_state_count() as u64, generated: done.state_count() as u64 }
    }
    let checker = Adapter::<Y>::unwatched(config, AskedProperties::All).checker().threads(threads);
    match order {
        SearchOrder::Breadth => end(checker.spawn_bfs()),
        SearchOrder::Depth => end(checker.spawn_dfs()),
    }
}

struct Run {
    states: u64,
    generated: u64,
    depth: u32,
    stopped: Option<Stopped>,
    coverage: Coverage,
    broken: Vec<(Property, Vec<Action>)>,
}

fn run<Y: Layout>(config: &Config, asked: AskedProperties, limits: &Limits<'_>, started: Instant) -> Run {
    let watch = Arc::new(Watch::new(config));
    let adapter = Adapter::<Y>::new(config, asked, Arc::clone(&watch));
    let mut checker = adapter.checker().threads(1).spawn_bfs();
    let mut stopped = None;
    let searching = checker.handles();
    while !searching.iter().all(thread::JoinHandle::is_finished) {
        let states = checker.unique_state_count() as u64;
        limits.progress.store(states, Ordering::Relaxed);
        if stopped.is_none() {
            stopped = limits.exceeded(states, 0, started);
            watch.must_stop.store(stopped.is_some(), Ordering::Relaxed);
        }
        thread::sleep(GLANCE);
    }
    let coverage = watch.coverage().clone();
    // stateright executes the paths of its discoveries again, and must find the same successors as before.
    watch.must_stop.store(false, Ordering::Relaxed);
    let broken = checker.discoveries().into_iter().filter_map(|(name, path)| {
        let property = Property::from_id(name)?;
        Some((property, path.into_actions()))
    });
    Run {
        states: checker.unique_state_count() as u64,
        generated: checker.state_count() as u64,
        // In stateright the first state has depth 1 (fact 7).
        depth: u32::try_from(checker.max_depth().saturating_sub(1)).unwrap_or(u32::MAX),
        stopped,
        coverage,
        broken: broken.collect(),
    }
}
