//! When a client reads how many replicas its master has, and what it does with the answer to `WAIT`: histories that are
//! worked out by hand (docs/facts/redisson.md#replica-count).

use lockstep_model::client::Slot;
use lockstep_model::trace::State;
use lockstep_model::{Action, Property, Reply, Verdict};
use lockstep_sim::check::Engine;
use lockstep_sim::scenario::Scenario;

use crate::by_hand::{history, last, scenario_of};
use crate::{exhaust, verdict};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const CONFIRM: Action = Action::Confirm { client: 0, thread: 0 };
const UNDO: Action = Action::Undo { client: 0, thread: 0 };
const REPLICATE: Action = Action::Replicate { node: 1 };
const REPLICA_DIES: Action = Action::CrashNode { node: 1 };
const DEATH_IS_NOTICED: Action = Action::NoticeDeath { node: 1 };

/// Two clients, a master and a replica, and a sync wait.
fn world(cluster: &str, rest: &str) -> Scenario {
    let text = format!(
        "story = 'WAIT.'\nlock = 'reentrant'\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n[clients]\ncount = 2\n\
         [cluster]\nreplicas = 1\nwait_for = 1\n{cluster}\n{rest}"
    );
    scenario_of(&text)
}

/// How many replicas A remembers, and B.
fn known(state: &State) -> [Option<u8>; 2] {
    [0, 1].map(|client: usize| state.clients[client].replicas_known)
}

#[test]
fn a_refused_acquire_reads_the_number_of_replicas_too() {
    let refused = Action::Acquire { client: 1, thread: 0 };
    let busy = history(&world("", "").config, &[ACQUIRE, REPLICATE, CONFIRM, refused]);
    assert_eq!(known(busy.state_after(3)), [Some(1), None]);
    assert!(matches!(busy.steps[3].answer, Reply::Busy { .. }), "{:?}", busy.steps[3].answer);
    assert_eq!(known(last(&busy)), [Some(1), Some(1)]);
}

/// The master refuses to write because it has no replica, and the client has read 0: from then on it sends no `WAIT`, so
/// `min-replicas` and `WAIT` together do not help.
#[test]
fn an_acquire_that_is_refused_for_lack_of_replicas_ends_the_check() {
    let scenario = world("min_replicas = 1", "[faults]\ncrash_node = 1");
    let trace = history(&scenario.config, &[REPLICA_DIES, DEATH_IS_NOTICED, ACQUIRE]);
    assert_eq!(trace.steps[2].answer, Reply::NotEnoughReplicas);
    assert_eq!(known(last(&trace)), [Some(0), None]);
}

/// What the undo reads is what counts: here the replica is gone by then, and the next grant is believed without a `WAIT`.
#[test]
fn after_a_failed_wait_the_number_is_read_with_the_undo() {
    let scenario = world("", "[faults]\ncrash_node = 1");
    let trace = history(&scenario.config, &[ACQUIRE, CONFIRM, REPLICA_DIES, DEATH_IS_NOTICED, UNDO, ACQUIRE]);
    assert_eq!(trace.steps[1].answer, Reply::TooFewReplicas { replicas: 0 });
    let of_a: Vec<_> = (1..=5).map(|steps| known(trace.state_after(steps))[0]).collect();
    assert_eq!(of_a, [Some(1), None, None, None, Some(0)]);
    assert_eq!(trace.steps[5].answer, Reply::Acquired);
    assert!(last(&trace).clients[0].threads[0].believes());
}

/// The answer comes while the client is paused: it is news all the same.
#[test]
fn a_paused_client_reads_the_number_anew_too() {
    let scenario = world("", "[faults]\npause_client = 1");
    let [pause, resume] = [Action::PauseClient { client: 0 }, Action::Resume { client: 0 }];
    let trace = history(&scenario.config, &[ACQUIRE, pause, Action::Tick, resume, UNDO]);
    let of_a: Vec<_> = (2..=5).map(|steps| known(trace.state_after(steps))[0]).collect();
    assert_eq!(of_a, [Some(1), None, None, Some(1)]);
}

/// Where requests travel, the answer that tells of the failure also sends the undo.
#[test]
fn an_undo_that_is_sent_reads_the_number_first() {
    let scenario = world("", "[network]\nmode = 'split'");
    let slot = Slot::Call1;
    let [execute, answer] = [Action::Execute { client: 0, slot }, Action::Answer { client: 0, slot }];
    let trace = history(&scenario.config, &[ACQUIRE, execute, CONFIRM, answer]);
    assert_eq!(trace.steps[3].answer, Reply::TooFewReplicas { replicas: 0 });
    assert_eq!(known(last(&trace)), [Some(1), None]);
}

/// `WAIT` follows every script of the lock, so the number is read before each that finds it unknown. A change of the master keeps
/// what was read.
#[test]
fn every_script_of_a_client_that_does_not_know_the_number_reads_it_and_a_failover_keeps_it() {
    let scenario = world("", "[faults]\ncrash_node = 1\nforce_release = 1\nforeign_release = 1");
    let failover = [
        ACQUIRE,
        REPLICATE,
        CONFIRM,
        Action::CrashNode { node: 0 },
        Action::Promote { node: 1 },
        Action::Discover { client: 0 },
        Action::Discover { client: 1 },
    ];
    assert_eq!(known(last(&history(&scenario.config, &failover))), [Some(1), None]);
    let scripts: [(&[Action], [Option<u8>; 2]); 5] = [
        (&[Action::Acquire { client: 1, thread: 0 }], [Some(1), Some(0)]),
        (&[Action::Release { client: 0, thread: 0 }], [Some(1), None]),
        (&[Action::Tick, Action::Renew { client: 0 }], [Some(1), None]),
        (&[Action::ForeignRelease { client: 1, thread: 0 }], [Some(1), Some(0)]),
        (&[Action::ForceRelease { client: 1 }], [Some(1), Some(0)]),
    ];
    for (script, expected) in scripts {
        let actions = [&failover[..], script].concat();
        assert_eq!(known(last(&history(&scenario.config, &actions))), expected, "{script:?}");
    }
}

/// Redisson 3.15 (docs/facts/redisson.md#redisson-315-does-not-check).
#[test]
fn a_client_that_ignores_the_answer_believes_a_grant_that_no_replica_has() {
    let of_2021 = "[protocol]\nprofile = 'redisson-3.15'\nwait_rule = 'ignored'\n[faults]\ncrash_node = 1";
    let scenario = world("", of_2021);
    let trace = history(&scenario.config, &[ACQUIRE, CONFIRM]);
    assert_eq!(trace.steps[1].answer, Reply::Acknowledged { replicas: 0 });
    assert!(last(&trace).clients[0].threads[0].believes());
    for network in ["", "\n[network]\nmode = 'split'"] {
        let mut scenario = world("", &format!("{of_2021}{network}"));
        scenario.config.clients.acquires = Some(1);
        let outcome = exhaust(&scenario, Engine::Native);
        assert_eq!(verdict(&outcome, Property::OneBeliever), Verdict::Violated, "{network}");
    }
}
