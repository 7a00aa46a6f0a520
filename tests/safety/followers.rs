//! Whom a replica follows after a promotion, and on which side of a partition it is: histories that are worked out by hand
//! (docs/facts/redis.md#who-follows-whom-after-a-promotion).

use lockstep_model::config::{NodeSet, ReplicasLeave};
use lockstep_model::mutants::Mutant;
use lockstep_model::trace::{NodeRole, NodeState, Trace};
use lockstep_model::{Action, Config, Property, Reply, Verdict};
use lockstep_sim::check::Engine;

use crate::by_hand::{history, is_refused, scenario_of};
use crate::{exhaust, scenario, verdict};

const A: Action = Action::Acquire { client: 0, thread: 0 };
const B: Action = Action::Acquire { client: 1, thread: 0 };
const A_CONFIRMS: Action = Action::Confirm { client: 0, thread: 0 };
const B_CONFIRMS: Action = Action::Confirm { client: 1, thread: 0 };
const B_LEARNS: Action = Action::Discover { client: 1 };
const N3_IS_PROMOTED: Action = Action::HandOver { node: 2 };
const N2_IS_TOLD: Action = Action::LeaveMaster { node: 1 };
const N2_COPIES: Action = Action::Resync { node: 1 };

/// Two clients, a master and two replicas.
fn world(cluster: &str, faults: &str) -> Config {
    let text = format!(
        "story = 'Followers.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n[clients]\ncount = 2\n\
         [cluster]\nreplicas = 2\n{cluster}\n[faults]\n{faults}"
    );
    scenario_of(&text).config
}

fn answers(trace: &Trace) -> Vec<&Reply> {
    trace.steps.iter().map(|step| &step.answer).collect()
}

fn node_after(trace: &Trace, steps: usize, node: usize) -> &NodeState {
    &trace.state_after(steps).nodes[node]
}

const ONE_IS_ENOUGH: &str = "lag = 0\nmin_replicas = 1\nreplicas_leave = 'one-by-one'";

/// As run on real servers: the old master writes as long as one replica follows it, and the new one does not.
#[test]
fn a_replica_that_was_not_told_counts_for_the_old_master_and_then_for_the_new_one() {
    let world = world(ONE_IS_ENOUGH, "hand_over = 1");
    let trace = history(&world, &[N3_IS_PROMOTED, B_LEARNS, B, A, N2_IS_TOLD, N2_COPIES, B]);
    let replies = answers(&trace);
    assert_eq!(replies[2..4], [&Reply::NotEnoughReplicas, &Reply::Acquired]);
    assert_eq!(replies[6], &Reply::Acquired);
    let n2 = node_after(&trace, 4, 1);
    assert_eq!((n2.role, n2.follows.as_deref()), (NodeRole::Replica, Some("n1")));
    assert!(n2.stored.is_held(), "what the old master writes reaches it");
    let left = node_after(&trace, 5, 1);
    assert_eq!((left.role, left.follows.as_deref()), (NodeRole::Unsynced, None));
    assert!(left.stored.is_held(), "until it has its copy, it has the old one's");
    let moved = node_after(&trace, 6, 1);
    assert_eq!((moved.role, moved.follows.as_deref()), (NodeRole::Replica, None));
    assert!(!moved.stored.is_held(), "its data is that of the new master");
    assert_eq!(trace.state_after(7).believers().count(), 2);
}

/// Once the replica has moved, the old master hears of nobody.
#[test]
fn the_old_master_refuses_as_soon_as_its_last_replica_has_left() {
    let world = world(ONE_IS_ENOUGH, "hand_over = 1");
    assert_eq!(answers(&history(&world, &[N3_IS_PROMOTED, N2_IS_TOLD, A]))[2], &Reply::NotEnoughReplicas);
}

/// Seen in a free run on real servers: between the two masters it counts for neither, so both refuse.
#[test]
fn a_replica_that_changes_its_master_counts_for_neither_until_it_has_its_copy() {
    let world = world(ONE_IS_ENOUGH, "hand_over = 1");
    let trace = history(&world, &[N3_IS_PROMOTED, B_LEARNS, N2_IS_TOLD, A, B, N2_COPIES, B]);
    let replies = answers(&trace);
    assert_eq!(replies[3..5], [&Reply::NotEnoughReplicas, &Reply::NotEnoughReplicas]);
    assert_eq!(replies[6], &Reply::Acquired);
}

/// As run on real servers (docs/facts/redis.md#who-follows-whom-after-a-promotion): its file names the old master, whom it follows
/// however late it starts, and who goes on writing.
#[test]
fn a_replica_that_was_dead_at_a_promotion_restarts_as_one_of_the_old_master() {
    let world = world("lag = 0\nmin_replicas = 1\nfsync = 'always'", "hand_over = 1\nkill_node = 1\nrestart_node = 1");
    let [dies, returns] = [Action::KillNode { node: 1 }, Action::RestartNode { node: 1 }];
    let actions = [dies, N3_IS_PROMOTED, A, returns, A, B_LEARNS, B, N2_IS_TOLD, N2_COPIES, B];
    let trace = history(&world, &actions);
    let replies = answers(&trace);
    assert_eq!((replies[2], replies[4]), (&Reply::NotEnoughReplicas, &Reply::Acquired));
    let returned = node_after(&trace, 4, 1);
    assert_eq!((returned.role, returned.follows.as_deref()), (NodeRole::Replica, Some("n1")));
    assert_eq!((replies[6], replies[9]), (&Reply::NotEnoughReplicas, &Reply::Acquired));
    assert_eq!(trace.state_after(10).believers().count(), 2);
    let wrong = history(&world.with_mutant(Mutant::DeadReplicaIsTold), &actions[..4]);
    assert_eq!(node_after(&wrong, 4, 1).follows, None);
}

/// Whether they are told one by one or all at once: a dead one hears nothing, and follows its master once both run again.
#[test]
fn a_replica_follows_its_old_master_again_after_both_restart() {
    let faults = "kill_node = 2\nrestart_node = 2";
    let [kill, promote] = [|node| Action::KillNode { node }, |node| Action::Promote { node }];
    let restart = |node| Action::RestartNode { node };
    for leave in ["", "\nreplicas_leave = 'one-by-one'"] {
        let world = world(&format!("lag = 0\nmin_replicas = 1\nfsync = 'always'{leave}"), faults);
        for order in [[0, 1], [1, 0]] {
            let actions = [kill(1), kill(0), promote(2), restart(order[0]), restart(order[1]), A];
            let trace = history(&world, &actions);
            assert_eq!(node_after(&trace, 5, 1).follows.as_deref(), Some("n1"), "{leave} {order:?}");
            assert_eq!(answers(&trace)[5], &Reply::Acquired);
        }
    }
    // One that lived is told of the new master at once, or follows the old one until it is.
    let lived = |leave: &str| {
        let world = world(&format!("lag = 0\nmin_replicas = 1\nfsync = 'always'{leave}"), faults);
        let trace = history(&world, &[kill(0), promote(2), restart(0)]);
        node_after(&trace, 3, 1).follows.clone()
    };
    assert_eq!(lived(""), None);
    assert_eq!(lived("\nreplicas_leave = 'one-by-one'").as_deref(), Some("n1"));
}

#[test]
fn where_replicas_leave_together_the_old_master_refuses_at_once() {
    let world = world("lag = 0\nmin_replicas = 1", "hand_over = 1");
    assert_eq!(answers(&history(&world, &[N3_IS_PROMOTED, A]))[1], &Reply::NotEnoughReplicas);
}

/// As run on real servers: `FAILOVER` tells the other replica nothing, and rewrites no file.
#[test]
fn a_replica_of_a_master_that_handed_over_follows_it_again_after_its_restart() {
    let faults = "hand_over = 1\nkill_node = 1\nrestart_node = 1";
    let cluster = "lag = 0\nmin_replicas = 1\nfsync = 'always'\npromote = 'coordinated'\nreplicas_leave = 'one-by-one'";
    let [begins, ends] = [Action::HandOver { node: 2 }, Action::FinishHandOver { node: 2 }];
    let [dies, returns] = [|node| Action::KillNode { node }, |node| Action::RestartNode { node }];
    let later = world(cluster, faults);
    let trace = history(&later, &[begins, ends, dies(0), returns(0), A, N2_IS_TOLD, N2_COPIES, B_LEARNS, B]);
    assert_eq!(node_after(&trace, 2, 1).follows, None, "the one that handed over is a replica");
    assert_eq!(node_after(&trace, 4, 1).follows.as_deref(), Some("n1"));
    assert_eq!((answers(&trace)[4], answers(&trace)[8]), (&Reply::Acquired, &Reply::Acquired));
    // One that was dead is told nothing either, and all that it knows is in its file.
    let together = world(&cluster.replace("one-by-one", "together"), faults);
    let trace = history(&together, &[dies(1), begins, ends, returns(1), N2_IS_TOLD, N2_COPIES]);
    assert_eq!(node_after(&trace, 6, 1).role, NodeRole::Replica);
}

/// `WAIT 1` is answered 1 by each of two masters in turn, by the same replica.
#[test]
fn one_replica_acknowledges_to_two_masters_in_turn() {
    let world = world("wait_for = 1\nreplicas_leave = 'one-by-one'\n[protocol]\nwait_rule = 'all'", "hand_over = 1");
    let n2_applies = Action::Replicate { node: 1 };
    let at_the_old_one = [N3_IS_PROMOTED, A, n2_applies, A_CONFIRMS];
    let at_the_new_one = [N2_IS_TOLD, N2_COPIES, B_LEARNS, B, n2_applies, B_CONFIRMS];
    let trace = history(&world, &[&at_the_old_one[..], &at_the_new_one].concat());
    assert_eq!(trace.state_after(4).believers().count(), 1);
    assert_eq!(trace.state_after(10).believers().count(), 2);
}

/// What is under way to a replica is lost when it moves, and it acknowledges nothing of it.
#[test]
fn what_was_under_way_from_the_old_master_does_not_arrive_after_the_move() {
    let world = world("wait_for = 1\nreplicas_leave = 'one-by-one'\n[protocol]\nwait_rule = 'all'", "hand_over = 1");
    let trace = history(&world, &[N3_IS_PROMOTED, A, N2_IS_TOLD, A_CONFIRMS]);
    assert_eq!(node_after(&trace, 2, 1).under_way.len(), 1);
    assert!(node_after(&trace, 3, 1).under_way.is_empty());
    assert_eq!(answers(&trace)[3], &Reply::TooFewReplicas { replicas: 0 });
}

/// A partition ends before the replica was told: it returns to the old master by itself, and takes its data.
#[test]
fn a_replica_that_was_not_told_returns_to_the_old_master_after_a_partition() {
    let world = world(ONE_IS_ENOUGH, "cut_link = 1");
    let [cut, heal] = [Action::CutLink { node: 0 }, Action::Heal { node: 0 }];
    let trace = history(&world, &[cut, A, Action::Promote { node: 2 }, heal]);
    let n2 = node_after(&trace, 3, 1);
    assert_eq!((n2.role, n2.follows.as_deref()), (NodeRole::Unsynced, Some("n1")));
    let n2 = node_after(&trace, 4, 1);
    assert_eq!((n2.role, n2.follows.as_deref()), (NodeRole::Replica, Some("n1")));
    assert!(n2.stored.is_held());
}

/// The old master becomes a replica: the one that had stayed with it waits until it is told.
#[test]
fn the_replicas_of_a_demoted_master_wait_for_the_new_one() {
    let world = world(ONE_IS_ENOUGH, "hand_over = 1");
    let trace = history(&world, &[N3_IS_PROMOTED, Action::Demote { node: 0 }, N2_COPIES]);
    let n2 = node_after(&trace, 2, 1);
    assert_eq!((n2.role, n2.follows.as_deref()), (NodeRole::Unsynced, None));
    assert_eq!(node_after(&trace, 3, 1).role, NodeRole::Replica);
}

/// The demoted master shows what it had until it has its copy (docs/facts/redis.md#demotion-of-an-old-master).
#[test]
fn a_demoted_master_keeps_what_it_had_until_it_takes_the_new_one_s_data() {
    let world = world("lag = 'any'", "hand_over = 1");
    let trace = history(&world, &[A, N3_IS_PROMOTED, Action::Demote { node: 0 }, Action::Resync { node: 0 }]);
    let had = |step| {
        let n1 = node_after(&trace, step, 0);
        (n1.role, n1.stored.is_held())
    };
    assert_eq!(had(2), (NodeRole::Master, true));
    assert_eq!(had(3), (NodeRole::Unsynced, true));
    assert_eq!(had(4), (NodeRole::Replica, false));
}

/// Nobody looks at the link of the replica that an operator promotes. As run on real servers: the old master grants as long as
/// another replica follows it, and the new one does not have that grant.
#[test]
fn an_operator_promotes_a_replica_whose_link_is_down() {
    let faults = "hand_over = 1\nbreak_link = 1";
    let waits = world("lag = 0\nmin_replicas = 1\npromote = 'coordinated'", faults);
    let world = world("lag = 0\nmin_replicas = 1", faults);
    let trace = history(&world, &[Action::BreakLink { node: 1 }, A, Action::HandOver { node: 1 }]);
    assert_eq!(answers(&trace)[1], &Reply::Acquired);
    assert!(!node_after(&trace, 3, 1).stored.is_held());
    let actions = [Action::BreakLink { node: 1 }, Action::HandOver { node: 1 }];
    assert!(is_refused(&waits, &actions), "FAILOVER looks at it");
}

/// It is told behind a partition: the old master does not notice, and counts its last report until that is too old.
#[test]
fn an_old_master_does_not_notice_that_a_replica_leaves_behind_a_partition() {
    let world = world(ONE_IS_ENOUGH, "hand_over = 1\ncut_link = 1");
    let cut = Action::CutLink { node: 0 };
    let told = [N3_IS_PROMOTED, cut, N2_IS_TOLD];
    assert_eq!(answers(&history(&world, &[&told[..], &[A]].concat()))[3], &Reply::Acquired);
    // Max-lag 1 and slack 1, and it is still counted; a tick later it is not.
    let later = [&told[..], &[Action::Tick, Action::Tick, Action::Tick, A]].concat();
    assert_eq!(answers(&history(&world, &later))[6], &Reply::NotEnoughReplicas);
}

/// The replica on the old master's side is not promoted, follows it and counts for it, and leaves it after the partition.
#[test]
fn a_replica_that_is_cut_off_with_its_master_follows_it_until_the_partition_ends() {
    let world = world("lag = 0\nmin_replicas = 1\ncut_together = ['n2']", "cut_link = 1");
    let [cut, heal] = [Action::CutLink { node: 0 }, Action::Heal { node: 0 }];
    let mut actions = vec![cut, Action::Promote { node: 2 }];
    actions.extend([Action::Tick; 4]);
    actions.extend([A, heal, N2_COPIES]);
    let trace = history(&world, &actions);
    assert!(node_after(&trace, 1, 1).is_cut);
    assert_eq!(answers(&trace)[6], &Reply::Acquired, "long after the last report from the other side");
    assert!(node_after(&trace, 7, 1).stored.is_held());
    assert_eq!(node_after(&trace, 8, 1).role, NodeRole::Unsynced);
    let moved = node_after(&trace, 9, 1);
    assert!(!moved.is_cut && !moved.stored.is_held());
    assert!(is_refused(&world, &[cut, Action::Promote { node: 1 }]), "it is not reached");
}

/// What the two keys change: the same worlds without them are as safe as they were.
#[test]
fn the_same_worlds_hold_where_replicas_leave_together_or_are_cut_off_alone() {
    let both = ["replicas-leave-one-by-one", "partition-keeps-a-replica", "one-replica-acknowledges-to-two-masters"];
    for name in both {
        let mut scenario = scenario(name);
        assert_eq!(verdict(&exhaust(&scenario, Engine::Native), Property::OneBeliever), Verdict::Violated, "{name}");
        scenario.config.cluster.replicas_leave = ReplicasLeave::Together;
        scenario.config.cluster.cut_together = NodeSet::default();
        assert_eq!(verdict(&exhaust(&scenario, Engine::Native), Property::OneBeliever), Verdict::Holds, "{name}");
    }
}
