//! Whether the lock can still be had: worlds whose verdict is worked out by hand.

use lockstep_model::{Action, Property, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::check::judge::{Rejection, Witness, judge_dead_end};
use lockstep_sim::scenario::Scenario;

use crate::{exhaust, scenario};

fn read(text: &str) -> Scenario {
    Scenario::parse("a-world", text).unwrap_or_else(|error| panic!("{}", error.report(false)))
}

/// Two clients that ask once at a time, a cluster, and faults.
fn world(cluster: &str, faults: &str) -> Scenario {
    read(&format!(
        "story = 'Can it still be had?'\nlock = 'reentrant'\n[time]\nlease = 2\nwait_limit = 0\n\
         [clients]\ncount = 2\nacquires = 2\n[cluster]\n{cluster}\n[faults]\n{faults}\n"
    ))
}

/// The verdict, the reason, and the actions of the counterexample.
fn found(scenario: &Scenario) -> (Verdict, String, Vec<Action>) {
    let outcome = exhaust(scenario, Engine::Native);
    let found = outcome.properties.iter().find(|found| found.property == Property::Obtainable).expect("it applies");
    let actions = found.trace.as_ref().map_or_else(Vec::new, lockstep_model::trace::Trace::actions);
    (found.verdict, found.why.clone().unwrap_or_default(), actions)
}

/// A refusal is an answer, so nobody waits for ever and no lock stays: nothing else says that nobody is ever served again.
#[test]
fn after_a_failover_a_master_that_needs_a_replica_refuses_for_ever() {
    let scenario = world("replicas = 1\nmin_replicas = 1\nmin_replicas_max_lag = 1", "crash_node = 1");
    let (verdict, why, actions) = found(&scenario);
    assert_eq!(verdict, Verdict::Violated);
    assert_eq!(actions, [Action::CrashNode { node: 0 }], "already the crash: the replica will have none");
    assert_eq!(why, "none of the faults that may still happen would help");
}

#[test]
fn a_node_that_is_left_or_returns_makes_it_possible_again() {
    let of = |cluster, faults| found(&world(cluster, faults));
    assert_eq!(of("replicas = 1", "crash_node = 1").0, Verdict::Holds, "the replica is promoted");
    assert_eq!(of("replicas = 1", "cut_link = 1").0, Verdict::Holds, "the link heals by itself");
    assert_eq!(of("", "crash_client = 1").0, Verdict::Holds, "the lease ends");
    let (verdict, why, actions) = of("", "crash_node = 1");
    assert_eq!((verdict, actions.len()), (Verdict::Violated, 1));
    assert_eq!(why, "none of the faults that may still happen would help");
    let (verdict, why, _) = of("", "crash_node = 1\nrestart_node = 1");
    assert_eq!(verdict, Verdict::Violated, "a restart is nothing to rely on");
    assert_eq!(why, "of the faults that may still happen, only these would help: restart_node");
}

/// Every acquire that was left has been used: nobody may ask any more, and nothing is out of reach.
#[test]
fn who_may_not_ask_is_not_kept_from_asking() {
    let mut scenario = world("", "crash_client = 2");
    scenario.config.clients.acquires = Some(1);
    assert_eq!(found(&scenario).0, Verdict::Holds);
}

/// The judge searches anew from the end of the actions.
#[test]
fn the_judge_rejects_a_dead_end_that_is_none() {
    let scenario = scenario("crashed-holder-is-outlived");
    let (client, thread) = (0, 0);
    let actions = [Action::Acquire { client, thread }, Action::CrashClient { client }];
    let witness = Witness { property: Property::Obtainable, actions: &actions };
    let judged = judge_dead_end(&scenario.config, &witness, &|_| false);
    assert!(matches!(judged, Err(Rejection::StillPossible { .. })), "{judged:?}");
    let witness = Witness { property: Property::Obtainable, actions: &actions[1..] };
    let judged = judge_dead_end(&scenario.config, &witness, &|_| false);
    assert!(matches!(judged, Err(Rejection::StillPossible { steps: 1, .. })), "{judged:?}");
}
