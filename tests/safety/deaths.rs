//! How a node dies, and what it finds afterwards: its machine crashes, its process is killed, or it is told to end.

use lockstep_model::config::Fsync;
use lockstep_model::trace::{NodeRole, State};
use lockstep_model::{Action, Config, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand::{history, last, record, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const FSYNC: Action = Action::Fsync { node: 0 };
const SNAPSHOT: Action = Action::Snapshot { node: 0 };
const CRASH: Action = Action::CrashNode { node: 0 };
const KILL: Action = Action::KillNode { node: 0 };
const SHUTDOWN: Action = Action::ShutdownNode { node: 0 };
const FINISH: Action = Action::FinishShutdown { node: 0 };
const RESTART: Action = Action::RestartNode { node: 0 };

/// One client, and a node that may die in each way and restart; `cluster`: its other keys.
fn world(cluster: &str) -> Config {
    let text = format!(
        "story = 'A node dies.'\nlock = 'reentrant'\n[time]\nlease = 9\nwait_limit = 0\n[clients]\ncount = 1\n\
         [cluster]\n{cluster}\n[faults]\ncrash_node = 2\nkill_node = 1\nshutdown_node = 1\nrestart_node = 2\n"
    );
    scenario_of(&text).config
}

fn end(config: &Config, actions: &[Action]) -> State {
    last(&history(config, actions)).clone()
}

fn finds(config: &Config, actions: &[Action]) -> usize {
    end(config, actions).nodes[0].stored.holders.len()
}

/// The step that cannot happen.
fn refused(config: &Config, actions: &[Action]) -> Option<usize> {
    match record(config, actions) {
        Err(TraceError::NotEnabled { step, .. }) => Some(step),
        _ => None,
    }
}

#[test]
fn only_the_death_of_the_machine_loses_what_is_not_on_a_prompt_disk() {
    let config = world("fsync = 'everysec'\nfsync_within = 0");
    assert_eq!(finds(&config, &[ACQUIRE, CRASH, RESTART]), 0);
    assert_eq!(finds(&config, &[ACQUIRE, KILL, RESTART]), 1);
    assert_eq!(finds(&config, &[ACQUIRE, SHUTDOWN, RESTART]), 1);
}

/// A write that waits for an fsync is answered before it is written.
#[test]
fn a_process_killed_beside_a_slow_disk_loses_what_its_machine_loses() {
    let config = world("fsync = 'everysec'\nfsync_within = 1");
    assert_eq!(finds(&config, &[ACQUIRE, KILL, RESTART]), 0);
    assert_eq!(finds(&config, &[ACQUIRE, FSYNC, KILL, RESTART]), 1);
    assert_eq!(finds(&config, &[ACQUIRE, SHUTDOWN, RESTART]), 1);
}

#[test]
fn without_an_aof_and_without_snapshots_every_death_loses_everything() {
    let config = world("fsync = 'none'");
    for death in [CRASH, KILL, SHUTDOWN] {
        assert_eq!(finds(&config, &[ACQUIRE, death, RESTART]), 0, "{death:?}");
    }
}

#[test]
fn a_node_finds_its_last_snapshot_of_any_age() {
    let config = world("fsync = 'snapshot'");
    assert_eq!(config.cluster.fsync, Fsync::Snapshot);
    for death in [CRASH, KILL] {
        assert_eq!(finds(&config, &[ACQUIRE, death, RESTART]), 0, "{death:?}: granted after the snapshot");
        let released = [ACQUIRE, SNAPSHOT, RELEASE, Action::Tick, Action::Tick, death, RESTART];
        assert_eq!(finds(&config, &released), 1, "{death:?}: released after the snapshot, and back");
    }
    // It saves one more before it ends.
    assert_eq!(finds(&config, &[ACQUIRE, SNAPSHOT, RELEASE, SHUTDOWN, RESTART]), 0);
    assert_eq!(finds(&config, &[ACQUIRE, SHUTDOWN, RESTART]), 1);
}

/// The deadline is in the snapshot, and passes while nobody has it in memory.
#[test]
fn the_lease_in_a_snapshot_ends_when_it_would_have_ended() {
    let config = world("fsync = 'snapshot'");
    let passed = |ticks| [&[ACQUIRE, SNAPSHOT, RELEASE][..], &vec![Action::Tick; ticks], &[CRASH, RESTART]].concat();
    assert_eq!(finds(&config, &passed(9)), 1);
    assert_eq!(finds(&config, &passed(10)), 0);
}

#[test]
fn a_master_that_is_told_to_end_waits_for_its_replicas_and_serves_nobody() {
    let config = world("replicas = 1\nlag = 1\nfsync = 'always'\nshutdown_timeout = 2");
    let stopping = end(&config, &[ACQUIRE, SHUTDOWN]);
    assert_eq!(stopping.nodes[0].role, NodeRole::Stopping);
    assert_eq!(refused(&config, &[ACQUIRE, SHUTDOWN, FINISH]), Some(3), "its replica lacks the grant");
    assert_eq!(refused(&config, &[SHUTDOWN, ACQUIRE]), Some(2), "it serves nobody");
    let ended = end(&config, &[ACQUIRE, SHUTDOWN, Action::Replicate { node: 1 }, FINISH, Action::Promote { node: 1 }]);
    assert_eq!(ended.nodes[1].stored.holders.len(), 1);
}

#[test]
fn a_master_that_is_told_to_end_waits_no_longer_than_it_may() {
    let config = world("replicas = 1\nlag = 'any'\nfsync = 'always'\nshutdown_timeout = 2");
    let tick = Action::Tick;
    assert_eq!(refused(&config, &[ACQUIRE, SHUTDOWN, tick, FINISH]), Some(4));
    assert_eq!(refused(&config, &[ACQUIRE, SHUTDOWN, tick, tick, tick]), Some(5), "it must have ended");
    let ended = end(&config, &[ACQUIRE, SHUTDOWN, tick, tick, FINISH, Action::Promote { node: 1 }]);
    assert!(!ended.nodes[1].stored.is_held());
}

/// After a full copy the AOF is written anew, and until that is done the old one is on the disk.
#[test]
fn until_a_rewrite_is_over_the_disk_has_the_files_of_before() {
    let config = world("replicas = 1\nfsync = 'always'\naof_rewrite_within = 2");
    let (crash, restart) = (Action::CrashNode { node: 1 }, Action::RestartNode { node: 1 });
    let (resync, rewritten) = (Action::Resync { node: 1 }, Action::Fsync { node: 1 });
    let returned = [crash, restart, ACQUIRE, resync];
    let holders = |more: &[Action]| {
        let state = end(&config, &[&returned[..], more].concat());
        assert_eq!(state.nodes[0].stored.holders.len(), 1, "the master has the grant");
        state.nodes[1].stored.holders.len()
    };
    assert_eq!(holders(&[]), 1, "the replica has it in memory");
    let again = [crash, restart];
    assert_eq!(holders(&again), 0);
    assert_eq!(holders(&[Action::KillNode { node: 1 }, restart]), 0);
    assert_eq!(holders(&[&[rewritten], &again[..]].concat()), 1);
    // It does not end by itself meanwhile, and the rewrite does not last for ever.
    let steps = |more: &[Action]| refused(&config, &[&returned[..], more].concat());
    assert_eq!(steps(&[Action::ShutdownNode { node: 1 }]), Some(5));
    assert_eq!(steps(&[Action::Tick, Action::Tick, Action::Tick]), Some(7));
    assert_eq!(steps(&[Action::Tick, Action::Tick, rewritten, Action::Tick]), None);
}

#[test]
fn without_an_fsync_during_a_rewrite_the_death_of_the_machine_loses_the_rewrite() {
    let config = world("fsync = 'always'\naof_rewrite_within = 2\nno_appendfsync_on_rewrite = true");
    let later = [ACQUIRE, Action::Tick, Action::Tick];
    let finds_after = |more: &[Action]| finds(&config, &[&later[..], more].concat());
    assert_eq!(finds_after(&[CRASH, RESTART]), 0);
    assert_eq!(finds_after(&[FSYNC, CRASH, RESTART]), 1);
    assert_eq!(finds_after(&[KILL, RESTART]), 1, "the machine still has what was written");
    assert_eq!(refused(&config, &[&later[..], &[Action::Tick]].concat()), Some(4));
}

/// A master and a replica that needs to be heard of; a tick is ten seconds.
fn master_that_needs_a_replica(rest: &str) -> Config {
    let text = format!(
        "story = 'A replica dies.'\nlock = 'plain'\n[time]\nlease = 9\nwait_limit = 0\n[clients]\ncount = 1\n\
         [cluster]\nreplicas = 1\nlag = 0\nmin_replicas = 1\nmin_replicas_max_lag = 1\n{rest}"
    );
    scenario_of(&text).config
}

const REPLICA_CRASHES: Action = Action::CrashNode { node: 1 };
const REPLICA_IS_KILLED: Action = Action::KillNode { node: 1 };

/// A process that dies closes its connections, and a dead machine sends nothing: its last report counts as long as it is
/// fresh, up to the slack.
#[test]
fn a_replica_whose_machine_died_is_counted_until_its_last_report_is_too_old() {
    let config = master_that_needs_a_replica("[faults]\ncrash_node = 1\nkill_node = 1\n");
    let answer = |actions: &[Action]| history(&config, actions).steps.last().map(|step| step.answer);
    assert_eq!(answer(&[REPLICA_IS_KILLED, ACQUIRE]), Some(Reply::NotEnoughReplicas));
    assert_eq!(answer(&[REPLICA_CRASHES, ACQUIRE]), Some(Reply::Acquired));
    let after = |ticks: usize| [&[REPLICA_CRASHES], &vec![Action::Tick; ticks][..], &[ACQUIRE]].concat();
    assert_eq!(answer(&after(1)), Some(Reply::Acquired));
    assert_eq!(answer(&after(2)), Some(Reply::Acquired), "by whole seconds, once a second");
    assert_eq!(answer(&after(3)), Some(Reply::NotEnoughReplicas));
    let counted = [REPLICA_CRASHES, Action::Tick, Action::Tick, Action::Recount { node: 0 }, ACQUIRE];
    assert_eq!(answer(&counted), Some(Reply::NotEnoughReplicas));
}

/// What the master sends to the machine is answered by a reset once that is back.
#[test]
fn a_replica_that_restarts_is_counted_when_it_follows_again() {
    let config = master_that_needs_a_replica("fsync = 'always'\n[faults]\ncrash_node = 1\nrestart_node = 1\n");
    let back = [REPLICA_CRASHES, Action::RestartNode { node: 1 }];
    let answer = |more: &[Action]| history(&config, &[&back[..], more].concat()).steps.last().unwrap().answer;
    assert_eq!(answer(&[ACQUIRE]), Reply::NotEnoughReplicas);
    assert_eq!(answer(&[Action::Resync { node: 1 }, ACQUIRE]), Reply::Acquired);
}

/// The reset does not pass a partition, nor does what a dying process says.
#[test]
fn behind_a_partition_the_master_is_told_nothing() {
    let faults = "[faults]\ncrash_node = 1\nkill_node = 1\nrestart_node = 1\ncut_link = 1\n";
    let config = master_that_needs_a_replica(&format!("fsync = 'always'\n{faults}"));
    for death in [REPLICA_CRASHES, REPLICA_IS_KILLED] {
        let behind = [Action::CutLink { node: 1 }, death, Action::RestartNode { node: 1 }, ACQUIRE];
        let trace = history(&config, &behind);
        assert_eq!(trace.steps.last().unwrap().answer, Reply::Acquired, "{death:?}");
    }
}
