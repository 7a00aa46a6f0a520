//! Hand-overs by `FAILOVER`: without FORCE the master waits for its replica, with FORCE for a time-out only.

use lockstep_model::trace::{NodeState, Trace, TraceError};
use lockstep_model::{Action, Config, Reply};

use crate::by_hand;
use crate::by_hand::scenario_of;

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const REPLICATE: Action = Action::Replicate { node: 1 };
const HAND_OVER: Action = Action::HandOver { node: 1 };

fn world(promote: &str) -> Config {
    let text = format!(
        "story = 'A hand-over.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 2\n\
         [cluster]\nreplicas = 1\npromote = '{promote}'\n[faults]\nhand_over = 1\n"
    );
    scenario_of(&text).config
}

fn record(promote: &str, actions: &[Action]) -> Result<Trace, TraceError> {
    by_hand::record(&world(promote), actions)
}

/// How many holders each node stores in the end.
fn stored(promote: &str, actions: &[Action]) -> Vec<usize> {
    let trace = record(promote, actions).expect("each action can happen");
    let last = &trace.steps.last().expect("there are steps").state;
    assert_eq!(last.nodes.iter().map(NodeState::is_master).collect::<Vec<_>>(), [false, true], "one master");
    last.nodes.iter().map(|node| node.stored.holders.len()).collect()
}

#[test]
fn without_force_the_master_waits_for_the_replica_and_with_force_it_does_not() {
    let waits = record("coordinated", &[ACQUIRE, HAND_OVER]);
    assert_eq!(waits.err(), Some(TraceError::NotEnabled { step: 2, action: HAND_OVER }));
    assert_eq!(stored("forced", &[ACQUIRE, HAND_OVER]), [0, 0], "the old master copies what the new one has");
}

#[test]
fn a_replica_that_has_everything_loses_nothing_by_force() {
    for promote in ["coordinated", "forced"] {
        assert_eq!(stored(promote, &[ACQUIRE, REPLICATE, HAND_OVER]), [1, 1], "{promote}");
    }
}

#[test]
fn after_a_forced_hand_over_the_old_master_grants_nothing() {
    let other = Action::Acquire { client: 1, thread: 0 };
    let trace = record("forced", &[ACQUIRE, HAND_OVER, other]).expect("each action can happen");
    assert_eq!(trace.steps[2].answer, Reply::ReadOnly);
    let asks_the_new_one = [ACQUIRE, HAND_OVER, Action::Discover { client: 1 }, other];
    let trace = record("forced", &asks_the_new_one).expect("each action can happen");
    assert_eq!(trace.steps[3].answer, Reply::Acquired, "and there are two believers");
}
