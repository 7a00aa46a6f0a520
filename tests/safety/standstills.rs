//! A node stands still and goes on: histories and verdicts that are worked out by hand
//! (docs/facts/redis.md#a-server-that-stands-still).

use lockstep_model::client::Slot;
use lockstep_model::{Action, Config, Property, Reply, Verdict};
use lockstep_sim::check::Engine;

use crate::by_hand::{history, is_refused, last, last_answer, scenario_of};
use crate::{exhaust, verdict};

const A_ASKS: Action = Action::Acquire { client: 0, thread: 0 };
const B_ASKS: Action = Action::Acquire { client: 1, thread: 0 };
const PAUSE: Action = Action::PauseNode { node: 0 };
const RESUME: Action = Action::ResumeNode { node: 0 };
const COUNT: Action = Action::CountReplicas { node: 0 };
const PROMOTE: Action = Action::Promote { node: 1 };
const CUT: Action = Action::CutLink { node: 0 };

/// Two clients, whose holds are over before their leases are.
fn world(cluster: &str, rest: &str) -> Config {
    let text = format!(
        "story = 'A node stands still.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n\
         [clients]\ncount = 2\nacquires = 2\n[cluster]\n{cluster}\n{rest}"
    );
    scenario_of(&text).config
}

/// In an atomic network a request to it is as one to a dead node.
#[test]
fn a_node_that_stands_still_answers_nothing_and_its_keys_are_over_when_it_goes_on() {
    let config = world("", "[faults]\npause_node = 1");
    assert!(is_refused(&config, &[PAUSE, A_ASKS]));
    let release = Action::Release { client: 0, thread: 0 };
    assert_eq!(last_answer(&history(&config, &[A_ASKS, PAUSE, release])), Reply::Unreachable);
    let four = [Action::Tick, Action::Tick, release, Action::Tick, Action::Tick];
    let trace = history(&config, &[&[A_ASKS, PAUSE][..], &four, &[RESUME, B_ASKS]].concat());
    assert_eq!(last_answer(&trace), Reply::Acquired, "the lease was 3 ticks");
    // A pause may end at the instant at which the lease does: with no time left the key is still there.
    let trace = history(&config, &[&[A_ASKS, PAUSE][..], &four[..4], &[RESUME, B_ASKS]].concat());
    assert_eq!(last_answer(&trace), Reply::Busy { remaining_ticks: Some(0) });
}

/// By the clock of the node the lease is over, and by that of its replica it has not begun: the grant and then its deletion are
/// under way.
#[test]
fn a_deletion_follows_a_grant_that_the_replica_has_not_applied_yet() {
    let config = scenario_of(
        "story = 'A node stands still.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\njump = 4\n\
         [clients]\ncount = 2\n[cluster]\nreplicas = 1\nlag = 'any'\nttls = 'relative'\n\
         [faults]\npause_node = 1\nclock_jump = 1",
    )
    .config;
    let (jump, apply) = (Action::ClockJump { node: 0 }, Action::Replicate { node: 1 });
    let trace = history(&config, &[A_ASKS, PAUSE, jump, RESUME, apply, apply]);
    let stored = trace.steps.iter().map(|step| step.state.nodes[1].stored.holder().is_some());
    assert_eq!(stored.collect::<Vec<_>>(), [false, false, false, false, true, false]);
}

/// What waits in its sockets is executed once it goes on, the newer request first or last; time passes meanwhile.
#[test]
fn requests_wait_in_its_sockets_and_are_served_in_any_order() {
    let config = world("", "[network]\nmode = 'split'\n[faults]\npause_node = 1");
    let [a, b] = [0, 1].map(|client| Action::Execute { client, slot: Slot::Call1 });
    assert!(is_refused(&config, &[PAUSE, A_ASKS, a]));
    for (first, second) in [(a, b), (b, a)] {
        let trace = history(&config, &[PAUSE, A_ASKS, B_ASKS, RESUME, first, second]);
        let answers = trace.steps[4..].iter().map(|step| step.answer).collect::<Vec<_>>();
        assert_eq!(answers, [Reply::Acquired, Reply::Busy { remaining_ticks: Some(3) }]);
    }
    // Its caller gives it up, and it is executed all the same.
    let give_up = Action::Abandon { client: 0, slot: Slot::Call1 };
    let late = Action::Execute { client: 0, slot: Slot::Late };
    assert_eq!(last_answer(&history(&config, &[PAUSE, A_ASKS, Action::Tick, give_up, RESUME, late])), Reply::Acquired);
}

/// The answer may wait in the node: it was executed, and the node stood still before it had written the answer.
#[test]
fn an_answer_may_wait_in_a_node_that_stands_still() {
    let config = world("", "[network]\nmode = 'split'\n[faults]\npause_node = 1");
    let execute = Action::Execute { client: 0, slot: Slot::Call1 };
    assert!(is_refused(&config, &[A_ASKS, execute, Action::Tick]));
    history(&config, &[A_ASKS, execute, PAUSE, Action::Tick]);
}

/// A replica applies what it missed once it goes on, in its order, however prompt replicas are; nothing is lost by that.
#[test]
fn a_replica_that_stood_still_applies_what_waits_for_it() {
    for lag in ["0", "1", "'any'"] {
        let config = world(&format!("replicas = 1\nlag = {lag}"), "[faults]\npause_node = 1");
        let [pause, resume] = [Action::PauseNode { node: 1 }, Action::ResumeNode { node: 1 }];
        let apply = Action::Replicate { node: 1 };
        assert!(is_refused(&config, &[pause, A_ASKS, apply]), "lag {lag}");
        let late = [pause, A_ASKS, Action::Tick, resume];
        assert!(!last(&history(&config, &late)).nodes[1].stored.is_held(), "lag {lag}");
        let applied = history(&config, &[&late[..], &[apply]].concat());
        assert!(last(&applied).nodes[1].stored.is_held(), "lag {lag}");
        let is_due = is_refused(&config, &[&late[..], &[Action::Tick]].concat());
        assert_eq!(is_due, lag != "'any'", "lag {lag}");
    }
}

/// A replica that stands still cannot be promoted, nor can it follow; a master that does can be replaced and not demoted.
#[test]
fn a_failover_treats_a_node_that_stands_still_as_one_that_is_away() {
    let config = world("replicas = 1\nlag = 0", "[faults]\npause_node = 2\ncrash_node = 1");
    assert!(is_refused(&config, &[PROMOTE]));
    assert!(is_refused(&config, &[Action::PauseNode { node: 1 }, Action::CrashNode { node: 0 }, PROMOTE]));
    assert!(is_refused(&config, &[PAUSE, PROMOTE, Action::Demote { node: 0 }]));
    let trace = history(&config, &[A_ASKS, PAUSE, PROMOTE, RESUME]);
    let masters = last(&trace).nodes.iter().filter(|node| node.is_master() && !node.is_paused).count();
    assert_eq!(masters, 2, "it still takes itself for a master");
    let trace = history(&config, &[A_ASKS, PAUSE, PROMOTE, RESUME, Action::Demote { node: 0 }]);
    assert!(!last(&trace).nodes[0].is_master());
}

/// Until it counts its replicas anew, a master goes by the count from before, and that is before time passes.
#[test]
fn a_master_that_stood_still_grants_by_its_last_count_until_it_counts_anew() {
    let cluster = "replicas = 1\nlag = 0\nmin_replicas = 1\nmin_replicas_max_lag = 1";
    let config = world(cluster, "[faults]\npause_node = 1\ncut_link = 1");
    let long = [CUT, PAUSE, Action::Tick, Action::Tick, Action::Tick, Action::Tick, RESUME];
    assert_eq!(last_answer(&history(&config, &[&long[..], &[A_ASKS]].concat())), Reply::Acquired);
    assert_eq!(last_answer(&history(&config, &[&long[..], &[COUNT, A_ASKS]].concat())), Reply::NotEnoughReplicas);
    assert!(is_refused(&config, &[&long[..], &[Action::Tick]].concat()));
    // The count may also have been too low, and the replica has reported meanwhile.
    let low = world(cluster, "[faults]\npause_node = 2");
    let late = [Action::PauseNode { node: 1 }, Action::Tick, Action::Tick, Action::Tick];
    let silent = [&late[..], &[PAUSE, Action::ResumeNode { node: 1 }, RESUME]].concat();
    assert_eq!(last_answer(&history(&low, &[&silent[..], &[A_ASKS]].concat())), Reply::NotEnoughReplicas);
    assert_eq!(last_answer(&history(&low, &[&silent[..], &[COUNT, A_ASKS]].concat())), Reply::Acquired);
}

/// `WAIT` ends at its time-out before the acknowledgements of the time in between are read, or after.
#[test]
fn a_master_that_stood_still_answers_a_wait_with_or_without_what_came_meanwhile() {
    let split = "[network]\nmode = 'split'\n[protocol]\nwait_rule = 'all'\n[faults]\npause_node = 1";
    let config = world("replicas = 1\nwait_for = 1", split);
    let execute = Action::Execute { client: 0, slot: Slot::Call1 };
    let begun = [A_ASKS, execute, PAUSE, Action::Replicate { node: 1 }];
    let confirm = Action::Confirm { client: 0, thread: 0 };
    assert!(is_refused(&config, &[&begun[..], &[confirm]].concat()));
    let early = history(&config, &[&begun[..], &[RESUME, confirm]].concat());
    assert_eq!(last_answer(&early), Reply::TooFewReplicas { replicas: 0 });
    let counted = history(&config, &[&begun[..], &[RESUME, COUNT]].concat());
    assert_eq!(last(&counted).clients[0].requests[0].answer, Some(Reply::Acknowledged { replicas: 1 }));
}

/// A replica that stands still is counted as good until its last report is too old.
#[test]
fn a_replica_that_stands_still_is_counted_until_its_report_is_too_old() {
    let config = world("replicas = 1\nlag = 0\nmin_replicas = 1\nmin_replicas_max_lag = 1", "[faults]\npause_node = 1");
    let pause = Action::PauseNode { node: 1 };
    assert_eq!(last_answer(&history(&config, &[pause, Action::Tick, A_ASKS])), Reply::Acquired);
    // Max-lag 1 and slack 1 are over a tick later.
    let late = [pause, Action::Tick, Action::Tick, Action::Tick];
    assert_eq!(last_answer(&history(&config, &[&late[..], &[A_ASKS]].concat())), Reply::NotEnoughReplicas);
    let resumed = [&late[..], &[Action::ResumeNode { node: 1 }, A_ASKS]].concat();
    assert_eq!(last_answer(&history(&config, &resumed)), Reply::Acquired);
}

/// No partition here lasts so long that it ends a connection (`repl-timeout`). A replica that is to follow the old master still,
/// and cannot because it stands still or is cut off itself, is counted by that master as before; the one that was promoted has
/// left it, and is not.
#[test]
fn a_replaced_master_counts_a_replica_that_stays_and_not_the_one_that_left() {
    let faults = "[network]\nmode = 'split'\n[faults]\npause_node = 1\ncut_link = 1\nhand_over = 1";
    let config = world("replicas = 2\nwait_for = 1\nreplicas_leave = 'one-by-one'", faults);
    let counted =
        |actions: &[Action]| last(&history(&config, &[actions, &[A_ASKS]].concat())).clients[0].replicas_known;
    let [still, goes_on] = [Action::PauseNode { node: 1 }, Action::ResumeNode { node: 1 }];
    let [promote, heal] = [Action::Promote { node: 2 }, Action::Heal { node: 0 }];
    let behind = [still, CUT, promote];
    assert_eq!(counted(&behind), Some(2), "it has noticed nothing");
    let healed = [&behind[..], &[heal]].concat();
    assert_eq!(counted(&healed), Some(1), "the replica stands still, and its connection is open");
    assert_eq!(counted(&[&healed[..], &[goes_on]].concat()), Some(1), "it follows as before");
    let cut_off = Action::CutLink { node: 1 };
    let uncounted = [cut_off, PAUSE, promote, RESUME];
    assert_eq!(counted(&uncounted), Some(2), "it has read nothing of what came meanwhile");
    assert_eq!(
        counted(&[&uncounted[..], &[COUNT]].concat()),
        Some(1),
        "the other replica is cut off, and it does not know"
    );
    assert_eq!(counted(&[cut_off, Action::HandOver { node: 2 }]), Some(1), "as before");
    // That the other has left waits in its sockets, also if it is cut off before it goes on.
    assert_eq!(counted(&[PAUSE, promote, CUT, RESUME]), Some(1), "the replica that stays was cut off with it");
    // Where the replicas leave at once, all have left it.
    let config = world("replicas = 2\nwait_for = 1", faults);
    let together = history(&config, &[&healed[..], &[A_ASKS]].concat());
    assert_eq!(last(&together).clients[0].replicas_known, Some(0));
    let cut_later = history(&config, &[PAUSE, promote, CUT, RESUME, A_ASKS]);
    assert_eq!(last(&cut_later).clients[0].replicas_known, Some(0));
}

/// The requests that wait are the only thing that is out of order: without a pause the same world holds.
#[test]
fn only_the_pause_puts_requests_out_of_order() {
    let text = |faults: &str| {
        format!(
            "story = 'x'\nlock = 'reentrant'\n[time]\nlease = 3\nhold_at_most = 1\nwait_limit = 0\n[clients]\ncount = 2\n\
             acquires = 2\n[network]\nmode = 'split'\ndelay = 0\n{faults}"
        )
    };
    let of = |faults: &str| verdict(&exhaust(&scenario_of(&text(faults)), Engine::Native), Property::OneBeliever);
    assert_eq!(of(""), Verdict::Holds);
    assert_eq!(of("[faults]\npause_node = 1"), Verdict::Violated);
}
