//! Hand-overs by `FAILOVER`: without FORCE the master waits for its replica, with FORCE for a time-out only.

use lockstep_model::client::Slot;
use lockstep_model::config::Bound;
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::{NodeState, Trace};
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand;
use crate::by_hand::scenario_of;

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const REPLICATE: Action = Action::Replicate { node: 1 };
const HAND_OVER: Action = Action::HandOver { node: 1 };
const FINISH: Action = Action::FinishHandOver { node: 1 };
const GIVE_UP: Action = Action::GiveUpHandOver { node: 0 };

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
    let waits = record("coordinated", &[ACQUIRE, HAND_OVER, FINISH]);
    assert_eq!(waits.err(), Some(TraceError::NotEnabled { step: 3, action: FINISH }));
    assert_eq!(stored("coordinated", &[ACQUIRE, HAND_OVER, REPLICATE, FINISH]), [1, 1]);
    assert_eq!(stored("forced", &[ACQUIRE, HAND_OVER, FINISH]), [0, 0], "the old master copies what the new one has");
}

#[test]
fn a_replica_that_has_everything_loses_nothing_by_force() {
    for promote in ["coordinated", "forced"] {
        assert_eq!(stored(promote, &[ACQUIRE, REPLICATE, HAND_OVER, FINISH]), [1, 1], "{promote}");
    }
}

/// `FAILOVER` rewrites no configuration (docs/facts/redis.md#the-failover-command).
#[test]
fn a_master_that_handed_over_restarts_as_a_master() {
    let mut world = world("coordinated");
    (world.faults.kill_node, world.faults.restart_node) = (1, 1);
    let [kill, restart] = [Action::KillNode { node: 0 }, Action::RestartNode { node: 0 }];
    let is_master = |config: &Config, actions: &[Action]| {
        let trace = by_hand::record(config, actions).expect("each action can happen");
        trace.steps.last().expect("there are steps").state.nodes[0].is_master()
    };
    let handed_over = [HAND_OVER, FINISH, kill, restart];
    assert!(is_master(&world, &handed_over));
    assert!(!is_master(&world.with_mutant(Mutant::FailoverRewritesFile), &handed_over));
    // Who was demoted was demoted by a sentinel, which rewrites it.
    world.faults.kill_node = 2;
    world.faults.restart_node = 2;
    let demoted = [&handed_over[..], &[Action::Demote { node: 0 }, Action::Resync { node: 0 }, kill, restart]].concat();
    assert!(!is_master(&world, &demoted));
}

/// Run on 7.0.15: n1 hands over to n2, and n2 hands over again. The file of n2 says what it said first, that it is a replica; that of
/// n1, which is the master again, was right all the time.
#[test]
fn a_master_by_failover_that_hands_over_again_restarts_as_a_replica() {
    let mut world = world("coordinated");
    (world.faults.hand_over, world.faults.kill_node, world.faults.restart_node) = (2, 2, 2);
    let back = [Action::HandOver { node: 0 }, Action::FinishHandOver { node: 0 }];
    let twice = [&[HAND_OVER, FINISH][..], &back].concat();
    let restarted = |node: u8| {
        let restart = [Action::KillNode { node }, Action::RestartNode { node }];
        let trace = by_hand::history(&world, &[&twice[..], &restart].concat());
        by_hand::last(&trace).nodes[usize::from(node)].is_master()
    };
    assert!(!restarted(1));
    assert!(restarted(0));
}

#[test]
fn after_a_forced_hand_over_the_old_master_grants_nothing() {
    let other = Action::Acquire { client: 1, thread: 0 };
    let trace = record("forced", &[ACQUIRE, HAND_OVER, FINISH, other]).expect("each action can happen");
    assert_eq!(trace.steps[3].answer, Reply::ReadOnly);
    let asks_the_new_one = [ACQUIRE, HAND_OVER, FINISH, Action::Discover { client: 1 }, other];
    let trace = record("forced", &asks_the_new_one).expect("each action can happen");
    assert_eq!(trace.steps[4].answer, Reply::Acquired, "and there are two believers");
}

/// Until the hand-over is finished or given up nobody is granted anything, and nobody else begins to follow the master.
#[test]
fn a_master_that_hands_over_executes_nothing_until_it_gives_up() {
    let waits = record("coordinated", &[HAND_OVER, ACQUIRE]);
    assert_eq!(waits.err(), Some(TraceError::NotEnabled { step: 2, action: ACQUIRE }));
    let granted = record("coordinated", &[HAND_OVER, Action::Tick, GIVE_UP, ACQUIRE]).expect("each action can happen");
    assert_eq!(granted.steps[3].answer, Reply::Acquired);
    let release = Action::Release { client: 0, thread: 0 };
    let lost = record("coordinated", &[ACQUIRE, HAND_OVER, release]).expect("each action can happen");
    assert_eq!(lost.steps[2].answer, Reply::Unreachable, "a call in one step has no answer");
}

#[test]
fn a_master_that_hands_over_gives_up_at_its_time_out_and_a_forced_one_finishes_not_before() {
    let within = |promote: &str, ticks: usize, end: Action| {
        let mut config = world(promote);
        config.cluster.hand_over_timeout = Bound::Ticks(1);
        let mut actions = vec![ACQUIRE, HAND_OVER];
        actions.extend([Action::Tick].repeat(ticks));
        actions.push(end);
        by_hand::record(&config, &actions).map(drop)
    };
    assert_eq!(within("coordinated", 1, GIVE_UP), Ok(()));
    assert!(within("coordinated", 1, Action::Tick).is_err(), "time waits for it");
    assert!(within("forced", 0, FINISH).is_err(), "the time-out has not come");
    assert_eq!(within("forced", 1, FINISH), Ok(()));
}

/// Where requests are steps of their own they wait in its sockets, and `WAIT` is answered meanwhile.
#[test]
fn what_waits_at_a_master_that_hands_over_is_executed_when_it_gives_up() {
    let mut config = scenario_of(
        "story = 'A hand-over.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 2\n\
         [cluster]\nreplicas = 1\npromote = 'coordinated'\nwait_for = 1\n[network]\nmode = 'split'\n[protocol]\nwait_rule = 'all'\n\
         [faults]\nhand_over = 1\n",
    )
    .config;
    config.cluster.lag = Bound::Any;
    let execute = |client| Action::Execute { client, slot: Slot::Call1 };
    let other = Action::Acquire { client: 1, thread: 0 };
    let early = by_hand::record(&config, &[HAND_OVER, other, execute(1)]);
    assert_eq!(early.err(), Some(TraceError::NotEnabled { step: 3, action: execute(1) }));
    let late = by_hand::record(&config, &[HAND_OVER, other, GIVE_UP, execute(1)]).expect("each action can happen");
    assert_eq!(late.steps[3].answer, Reply::Acquired);
    let refused = [HAND_OVER, other, FINISH, execute(1)];
    let refused = by_hand::record(&config, &refused).expect("each action can happen");
    assert_eq!(refused.steps[3].answer, Reply::ReadOnly);
    let confirmed = [ACQUIRE, execute(0), HAND_OVER, REPLICATE, Action::Answer { client: 0, slot: Slot::Call1 }];
    let confirmed = by_hand::record(&config, &confirmed).expect("each action can happen");
    assert!(confirmed.steps[4].state.believers().next().is_some(), "the replica's answer is heard");
}
