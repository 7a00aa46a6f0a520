//! What is true of the step function whatever the scenario: checked along random histories.

use std::collections::HashSet;

use lockstep_model::action::Party;
use lockstep_model::locks::plain::Plain;
use lockstep_model::locks::reentrant::Reentrant;
use lockstep_model::world::{Client, Subscription};
use lockstep_model::{Action, Classified, Config, Glance, Record, World, in_class, step};
use lockstep_sim::fuzz::drawn;
use lockstep_sim::scenario::{Scenario, builtin};
use proptest::prelude::*;

fn any_scenario() -> impl Strategy<Value = Scenario> {
    proptest::sample::select(builtin())
}

/// A small world is a small value: two clients, a master and a replica within two cache lines (design §2).
#[test]
fn a_small_world_is_under_128_bytes() {
    assert!(size_of::<World<Reentrant, 2, 2>>() < 128);
    assert!(size_of::<World<Plain, 2, 2>>() < 128);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Time passes just when nobody has anything to do at once.
    #[test]
    fn time_waits_for_whoever_is_due(scenario in any_scenario(), draws in prop::collection::vec(any::<u16>(), 1..60)) {
        let actions = drawn(&scenario, &draws).actions();
        in_class(&scenario.config, TimeWaits(&actions));
    }

    /// A trace says the same when it is run again, and notices when it was tampered with.
    #[test]
    fn a_trace_can_be_run_again(scenario in any_scenario(), draws in prop::collection::vec(any::<u16>(), 1..40)) {
        let mut trace = drawn(&scenario, &draws);
        prop_assert_eq!(trace.retrace(), Ok(()));
        let text = serde_json::to_string(&trace).unwrap();
        prop_assert_eq!(&serde_json::from_str::<lockstep_model::trace::Trace>(&text).unwrap(), &trace);
        let last = trace.steps.len() - 1;
        trace.steps[last].state.faults_left.crash_node ^= 1;
        prop_assert!(trace.retrace().is_err());
    }
}

/// What the other side was told is not told again: nobody could know from an old master, once it is demoted, what it
/// granted on its own.
#[test]
fn a_demoted_master_stores_what_the_new_one_stores_and_nobody_hears_of_it_any_more() {
    let mut seen = 0;
    for scenario in builtin().into_iter().filter(|scenario| scenario.config.faults.cut_link > 0) {
        seen += in_class(&scenario.config, Demotions);
    }
    assert!(seen > 0, "an old master that had a lock of its own was demoted");
}

struct Demotions;

impl Classified for Demotions {
    type Output = usize;

    /// Looks at every state, and counts the demotions that erased something.
    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) -> usize {
        let all = Action::all(config);
        let first = World::<R, C, N>::initial(config);
        let (mut met, mut open, mut erased) = (HashSet::from([first]), vec![first], 0);
        while let Some(world) = open.pop() {
            for &action in &all {
                let Some(next) = step(config, &world, action) else { continue };
                if let Action::Demote { node } = action {
                    let master = next.world.acting_master().expect("somebody to follow");
                    assert_eq!(next.world.node(node).record, master.record);
                    let hears = |client: &Client| client.wakeup.subscription == Subscription::on(node);
                    assert!(!next.world.clients.iter().any(hears));
                    erased += usize::from(world.node(node).record != master.record);
                }
                if met.insert(next.world) {
                    open.push(next.world);
                }
            }
        }
        erased
    }
}

struct TimeWaits<'a>(&'a [Action]);

impl Classified for TimeWaits<'_> {
    type Output = ();

    fn run<R: Record, const C: usize, const N: usize>(self, config: &Config) {
        let glance = Glance::new(config);
        let all = glance.actions();
        let mut world = World::<R, C, N>::initial(config);
        for &action in self.0 {
            let mut shown = Vec::new();
            glance.each_possible(&world, |_, action| shown.push(action));
            for &ruled_out in all.iter().filter(|action| !shown.contains(action)) {
                assert!(step(config, &world, ruled_out).is_none(), "{ruled_out:?} can happen in {world:?}");
            }
            assert!(shown.is_sorted_by_key(|shown| all.iter().position(|action| action == shown)), "in their order");
            let can_tick = step(config, &world, Action::Tick).is_some();
            let urgent: Vec<_> = all
                .iter()
                .filter(|&&action| is_urgent(config, &world, action) && step(config, &world, action).is_some())
                .collect();
            assert!(!can_tick || urgent.is_empty(), "time could pass before {urgent:?} in {world:?}");
            world = step(config, &world, action).expect("drawn among what can happen").world;
        }
    }
}

/// What a prompt client, an undelayed message or a bounded lag does before time moves.
fn is_urgent<R: Record, const C: usize, const N: usize>(
    config: &Config,
    world: &World<R, C, N>,
    action: Action,
) -> bool {
    match action {
        Action::Subscribe { .. }
        | Action::SecondAsk { .. }
        | Action::WakeByMessage { .. }
        | Action::WakeByTimer { .. }
        | Action::GiveUp { .. }
        | Action::Renew { .. }
        | Action::Fsync { .. } => true,
        Action::Deliver { .. } => config.network.delay == lockstep_model::config::MessageDelay::None,
        Action::Release { .. } => match action.party() {
            Party::Thread(holder) => world.thread(holder).hold_left.is_due(),
            _ => false,
        },
        _ => false,
    }
}
