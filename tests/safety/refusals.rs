//! A master refuses writes after a failed save, or because it hears of too few replicas: histories that are worked out by hand
//! (docs/facts/redis.md#a-failed-save, #min-replicas-in-real-time).

use lockstep_model::trace::{NodeRole, Trace};
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand::{history, is_refused, last, last_answer, record, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const ACQUIRE_OF_B: Action = Action::Acquire { client: 1, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const REFUSE: Action = Action::RefuseWrites { node: 0 };
const ACCEPT: Action = Action::AcceptWrites { node: 0 };
const PROMOTE: Action = Action::Promote { node: 1 };
const CUT: Action = Action::CutLink { node: 0 };
const RECOUNT: Action = Action::Recount { node: 0 };
const TICK: Action = Action::Tick;

/// Two clients, whose refused acquires end at once.
fn world(time: &str, cluster: &str, faults: &str) -> Config {
    let text = format!(
        "story = 'Refusals.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n{time}\n[clients]\ncount = 2\n\
         [cluster]\n{cluster}\n[faults]\n{faults}\n"
    );
    scenario_of(&text).config
}

fn answers(trace: &Trace, steps: &[usize]) -> Vec<Reply> {
    steps.iter().map(|step| trace.steps[*step].answer).collect()
}

/// The lease ends three ticks after the grant, as no renewal is accepted, and B is granted as soon as the node writes again.
#[test]
fn a_refused_renewal_leaves_the_lease_as_it_was() {
    let config = world("renew_every = 1", "", "refuse_writes = 1");
    let ticks = [TICK, RENEW, TICK, RENEW, TICK, RENEW, TICK];
    let trace = history(&config, &[&[ACQUIRE, REFUSE][..], &ticks, &[ACCEPT, ACQUIRE_OF_B]].concat());
    assert_eq!(answers(&trace, &[3, 5, 7]), [Reply::SaveFailed; 3]);
    assert_eq!(trace.steps[10].answer, Reply::Acquired);
    assert_eq!(last(&trace).believers().count(), 2);
}

/// A busy lock is read only, so the answer is the same as ever; a free one would be written.
#[test]
fn what_only_reads_is_answered_while_writes_are_refused() {
    let config = world("", "", "refuse_writes = 1");
    let busy = history(&config, &[ACQUIRE, REFUSE, ACQUIRE_OF_B]);
    assert!(matches!(busy.steps[2].answer, Reply::Busy { .. }), "{:?}", busy.steps[2].answer);
    let free = history(&config, &[REFUSE, ACQUIRE_OF_B]);
    assert_eq!(free.steps[1].answer, Reply::SaveFailed);
    assert!(!last(&free).nodes[0].stored.is_held());
    assert!(last(&free).nodes[0].refuses_writes);
}

/// The client gets an error and counts on the lock no more; the key stays until its lease ends.
#[test]
fn a_refused_release_leaves_the_key_until_its_lease_ends() {
    let config = world("", "", "refuse_writes = 1");
    let trace = history(&config, &[ACQUIRE, REFUSE, RELEASE, TICK, TICK, TICK]);
    assert_eq!(trace.steps[2].answer, Reply::SaveFailed);
    assert_eq!(last(&trace).believers().count(), 0);
    assert!(last(&trace).nodes[0].stored.is_held());
    let over = history(&config, &[ACQUIRE, REFUSE, RELEASE, TICK, TICK, TICK, TICK]);
    assert!(!last(&over).nodes[0].stored.is_held());
}

#[test]
fn a_replica_that_is_connected_goes_on_and_none_can_begin() {
    let config = world("", "replicas = 2", "refuse_writes = 1\ncut_link = 1");
    let goes_on = history(&config, &[ACQUIRE, REFUSE, Action::Replicate { node: 1 }]);
    assert!(last(&goes_on).nodes[1].stored.is_held());
    let [cut, heal, resync] = [Action::CutLink { node: 2 }, Action::Heal { node: 2 }, Action::Resync { node: 2 }];
    assert!(is_refused(&config, &[REFUSE, cut, heal, resync]));
    let accepted = history(&config, &[REFUSE, cut, heal, ACCEPT, resync]);
    assert_eq!(last(&accepted).nodes[2].role, NodeRole::Replica);
}

/// Sentinel takes it for dead. It makes a replica of it only once it answers again.
#[test]
fn a_master_that_refuses_writes_may_be_replaced_and_is_demoted_when_it_writes_again() {
    let config = world("", "replicas = 1", "refuse_writes = 1");
    let demote = Action::Demote { node: 0 };
    assert!(is_refused(&config, &[PROMOTE]));
    assert!(is_refused(&config, &[REFUSE, PROMOTE, demote]));
    let moved = [ACQUIRE, REFUSE, PROMOTE, ACCEPT, Action::Discover { client: 1 }, ACQUIRE_OF_B];
    let trace = history(&config, &moved);
    assert_eq!(trace.steps[5].answer, Reply::Acquired);
    assert_eq!(last(&trace).believers().count(), 2);
    assert_eq!(last(&trace).nodes.iter().filter(|node| node.is_master()).count(), 2);
    let demoted = history(&config, &[&moved[..], &[demote]].concat());
    assert_eq!(last(&demoted).nodes[0].role, NodeRole::Unsynced);
}

#[test]
fn a_restart_ends_the_refusal() {
    let config = world("", "", "refuse_writes = 1\ncrash_node = 1\nrestart_node = 1");
    let restart = [Action::CrashNode { node: 0 }, Action::RestartNode { node: 0 }];
    let trace = history(&config, &[&[REFUSE][..], &restart, &[ACQUIRE]].concat());
    assert_eq!(trace.steps[3].answer, Reply::Acquired);
    assert!(is_refused(&config, &[&[REFUSE][..], &restart, &[ACCEPT]].concat()));
}

/// A replica that is never heard of again, with max-lag 1 and a slack of 2: the master certainly writes for one tick, and
/// certainly not after three.
#[test]
fn within_the_slack_a_master_may_write_and_may_refuse() {
    let config = world("", "replicas = 1\nmin_replicas = 1\nmin_replicas_slack = 2", "cut_link = 1");
    let answer = |silence: usize, recounts: bool| {
        let ticks = vec![TICK; silence];
        let counts: &[Action] = if recounts { &[RECOUNT] } else { &[] };
        record(&config, &[&[CUT][..], &ticks, counts, &[ACQUIRE]].concat()).map(|trace| last_answer(&trace))
    };
    for silence in 0..=3 {
        assert_eq!(answer(silence, false), Ok(Reply::Acquired), "{silence}");
    }
    assert_eq!(answer(4, false), Ok(Reply::NotEnoughReplicas));
    for silence in [0, 1, 4] {
        let step = silence + 2;
        assert_eq!(answer(silence, true), Err(TraceError::NotEnabled { step, action: RECOUNT }), "{silence}");
    }
    for silence in [2, 3] {
        assert_eq!(answer(silence, true), Ok(Reply::NotEnoughReplicas), "{silence}");
    }
}

/// An old master behind a partition counts the replica that was promoted in its place.
#[test]
fn an_old_master_counts_by_its_own_silence() {
    let config = world("", "replicas = 1\nmin_replicas = 1", "cut_link = 1");
    let replaced = [CUT, PROMOTE, TICK, TICK];
    let accepted = history(&config, &[&replaced[..], &[ACQUIRE]].concat());
    assert_eq!(last_answer(&accepted), Reply::Acquired);
    let refused = history(&config, &[&replaced[..], &[RECOUNT, ACQUIRE]].concat());
    assert_eq!(last_answer(&refused), Reply::NotEnoughReplicas);
}

/// While it copies it is not online. In the model a copy takes no time: until it ends, nothing was reported.
#[test]
fn a_replica_that_does_not_follow_yet_is_not_counted() {
    let config = world("", "replicas = 1\nmin_replicas = 1", "crash_node = 1\nrestart_node = 1");
    let restart = [Action::CrashNode { node: 0 }, Action::RestartNode { node: 0 }];
    let refused = history(&config, &[&restart[..], &[ACQUIRE]].concat());
    assert_eq!(last_answer(&refused), Reply::NotEnoughReplicas);
    let accepted = history(&config, &[&restart[..], &[Action::Resync { node: 1 }, ACQUIRE]].concat());
    assert_eq!(last_answer(&accepted), Reply::Acquired);
}

/// Two seconds, rounded up to whole ticks; nothing where no replica is needed.
#[test]
fn the_slack_is_two_seconds_unless_the_file_says_otherwise() {
    let slack = |tick_ms: u32, cluster: &str| {
        let time = format!("tick_ms = {tick_ms}");
        world(&time, &format!("replicas = 1\n{cluster}"), "").cluster.min_replicas_slack
    };
    let needed = "min_replicas = 1";
    assert_eq!([10_000, 2000, 1000].map(|tick_ms| slack(tick_ms, needed)), [1, 1, 2]);
    assert_eq!(slack(500, "min_replicas = 1\nmin_replicas_max_lag = 2"), 4);
    assert_eq!(slack(1000, "min_replicas = 1\nmin_replicas_slack = 0"), 0);
    assert_eq!(slack(1000, ""), 0);
}
