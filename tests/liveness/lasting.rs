//! How long a condition lasts, in graphs that can be judged by inspection and in worlds whose durations are known.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::{Config, Property};
use lockstep_sim::check::Limits;
use lockstep_sim::check::liveness::{Lasting, lasting, longest_wait};
use lockstep_sim::scenario::BuiltIn;

use crate::drawn::Drawn;

const A: u16 = 0;
const T: u16 = 2;

/// The condition holds everywhere except in these states.
fn drawn(edges: &[(u32, u16, u32)], effect: &[u32]) -> Drawn {
    Drawn {
        edges: edges.to_vec(),
        weak: vec![A],
        time: vec![T],
        strong: vec![],
        cause: vec![],
        effect: effect.to_vec(),
        patient: true,
    }
}

#[test]
fn the_longer_of_two_ways_counts_and_the_tick_that_ends_it() {
    let world = drawn(&[(0, T, 1), (0, A, 2), (1, T, 2), (2, T, 3)], &[3]);
    assert_eq!(world.most(T), Some(Lasting::Ticks(3)));
}

#[test]
fn a_loop_without_a_tick_takes_no_time() {
    let world = drawn(&[(0, A, 1), (1, A, 0), (1, T, 2)], &[2]);
    assert_eq!(world.most(T), Some(Lasting::Ticks(1)));
}

#[test]
fn a_loop_with_a_tick_need_never_be_over() {
    assert_eq!(drawn(&[(0, A, 1), (1, T, 0)], &[]).most(T), Some(Lasting::ForEver));
    assert_eq!(drawn(&[(0, A, 1), (1, T, 1)], &[]).most(T), Some(Lasting::ForEver));
    // A loop that is reached later counts too.
    assert_eq!(drawn(&[(0, T, 1), (1, A, 2), (2, T, 2)], &[]).most(T), Some(Lasting::ForEver));
}

#[test]
fn a_loop_through_a_state_where_it_is_not_so_is_left() {
    assert_eq!(drawn(&[(0, T, 1), (1, T, 0)], &[1]).most(T), Some(Lasting::Ticks(1)));
    assert_eq!(drawn(&[(0, T, 0)], &[0]).most(T), None);
}

/// Both believe from the failover until the first must release, at most 2 ticks. Without that limit they believe for
/// ever.
#[test]
fn two_believers_last_until_one_releases() {
    let mut config = named("a-master-and-a-replica");
    config.faults.crash_node = 1;
    assert_eq!(lasts(&config, Property::OneBeliever), Some(Lasting::Ticks(2)));
    config.time.hold_at_most = None;
    assert_eq!(lasts(&config, Property::OneBeliever), Some(Lasting::ForEver));
    config.faults.crash_node = 0;
    assert_eq!(lasts(&config, Property::OneBeliever), None);
    assert_eq!(lasts(&config, Property::GrantSurvives), None, "it is broken at one moment");
}

#[test]
fn a_wait_is_no_longer_than_its_limit() {
    let mut config = named("a-master-and-a-replica");
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let waits = |config: &Config| longest_wait(config, &limits(&stop, &progress)).expect("nothing stops it");
    for limit in 1..4 {
        config.time.wait_limit = Some(limit);
        assert!(waits(&config) <= Some(Lasting::Ticks(limit.into())), "{limit}");
    }
    config.time.wait_limit = Some(0);
    assert_eq!(waits(&config), None, "who asks once does not wait");
}

fn lasts(config: &Config, property: Property) -> Option<Lasting> {
    let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    lasting(config, property, &limits(&stop, &progress)).expect("nothing stops it")
}

fn named(name: &str) -> Config {
    BuiltIn::named(name).expect("a built-in scenario").scenario().config
}

fn limits<'a>(stop: &'a AtomicBool, progress: &'a AtomicU64) -> Limits<'a> {
    Limits::none(stop, progress)
}
