//! A key that has no time left is still there, or gone already: worlds that are worked out by hand
//! (docs/facts/redis.md#ties).

use lockstep_model::client::Slot;
use lockstep_model::trace::Trace;
use lockstep_model::{Action, Reply};
use lockstep_sim::recorder::TraceError;

use crate::by_hand;
use crate::by_hand::{last_answer, scenario_of};

const ACQUIRE: Action = Action::Acquire { client: 0, thread: 0 };
const RELEASE: Action = Action::Release { client: 0, thread: 0 };
const RENEW: Action = Action::Renew { client: 0 };
const OTHER: Action = Action::Acquire { client: 1, thread: 0 };
const HAND_OVER: [Action; 2] = [Action::HandOver { node: 1 }, Action::FinishHandOver { node: 1 }];

const fn expire(node: u8) -> Action {
    Action::Expire { node }
}

fn ticks(count: usize) -> Vec<Action> {
    vec![Action::Tick; count]
}

/// Two clients of a lock with a lease of 3 ticks, and what these lines say; what then happens.
fn record(time: &str, rest: &str, actions: &[&[Action]]) -> Result<Trace, TraceError> {
    let text = format!(
        "story = 'A lease is due.'\nlock = 'reentrant'\n[time]\nlease = 3\nwait_limit = 0\n{time}\n\
         [clients]\ncount = 2\n{rest}\n"
    );
    by_hand::record(&scenario_of(&text).config, &actions.concat())
}

fn recorded(time: &str, rest: &str, actions: &[&[Action]]) -> Trace {
    record(time, rest, actions).expect("each action can happen")
}

#[test]
fn a_key_can_be_gone_when_it_has_no_time_left_and_not_a_tick_earlier() {
    let early = record("", "", &[&[ACQUIRE], &ticks(2), &[expire(0)]]);
    assert_eq!(early.err(), Some(TraceError::NotEnabled { step: 4, action: expire(0) }));
    let gone = recorded("", "", &[&[ACQUIRE], &ticks(3), &[expire(0), OTHER]]);
    assert_eq!(last_answer(&gone), Reply::Acquired);
    let believers = gone.state_after(gone.steps.len()).believers().count();
    assert_eq!(believers, 2, "A has not had the time to release");
}

#[test]
fn who_acts_when_the_lease_is_due_is_in_time_or_too_late() {
    let holder = |then: &[Action]| last_answer(&recorded("", "", &[&[ACQUIRE], &ticks(3), then]));
    assert_eq!(holder(&[RELEASE]), Reply::Released);
    assert_eq!(holder(&[expire(0), RELEASE]), Reply::NotHeld);
    assert_eq!(holder(&[OTHER]), Reply::Busy { remaining_ticks: Some(0) });

    let watchdog = |then: &[Action]| last_answer(&recorded("renew_every = 3", "", &[&[ACQUIRE], &ticks(3), then]));
    assert_eq!(watchdog(&[RENEW]), Reply::Renewed);
    assert_eq!(watchdog(&[expire(0), RENEW]), Reply::RenewalMissed);
}

/// It shows what it has when it is promoted, and finds then that the lease is due.
#[test]
fn a_replica_that_nobody_asks_expires_nothing_before_it_is_promoted() {
    let rest = "[cluster]\nreplicas = 1\nlag = 0\n[faults]\ncrash_node = 1";
    let idle = record("", rest, &[&[ACQUIRE], &ticks(3), &[expire(1)]]);
    assert_eq!(idle.err(), Some(TraceError::NotEnabled { step: 5, action: expire(1) }));
    let failover = [Action::CrashNode { node: 0 }, Action::Promote { node: 1 }];
    let promoted = recorded("", rest, &[&[ACQUIRE], &ticks(3), &failover]);
    assert!(promoted.state_after(promoted.steps.len()).nodes[1].stored.is_held());
    let expired = recorded("", rest, &[&[ACQUIRE], &ticks(3), &failover, &[expire(1)]]);
    assert!(!expired.state_after(expired.steps.len()).nodes[1].stored.is_held());
}

#[test]
fn a_replica_that_clients_take_for_the_master_hides_a_key_by_its_own_clock() {
    let rest = "[cluster]\nreplicas = 1\nlag = 0\npromote = 'coordinated'\n[faults]\nhand_over = 1";
    let hidden = recorded("", rest, &[&[ACQUIRE], &ticks(3), &HAND_OVER, &[expire(0)]]);
    let nodes = &hidden.state_after(hidden.steps.len()).nodes;
    assert!(!nodes[0].stored.is_held(), "the old master is a replica, and both clients ask it");
    assert!(nodes[1].stored.is_held());
}

/// Where clocks differ a replica may still show the key, and where a hand-over waits for everything it waits for this too.
#[test]
fn what_a_master_deletes_is_sent_where_somebody_can_tell() {
    let under_way = |time: &str, rest: &str| {
        let text = format!("[cluster]\nreplicas = 1\nlag = 'any'\n{rest}");
        let deleted = recorded(time, &text, &[&[ACQUIRE, Action::Replicate { node: 1 }], &ticks(3), &[expire(0)]]);
        deleted.state_after(deleted.steps.len()).nodes[1].under_way.len()
    };
    assert_eq!(under_way("jump = 1", "[faults]\nclock_jump = 1"), 1);
    assert_eq!(under_way("", "promote = 'coordinated'\n[faults]\nhand_over = 1"), 1);
    assert_eq!(under_way("", "[faults]\ncrash_node = 1"), 0, "the replica's key is due as well");
}

/// A release whose answer was lost, sent again when its receipt is due.
#[test]
fn a_receipt_that_is_due_is_found_or_gone() {
    let call = Slot::Call1;
    let [execute, answer] = [Action::Execute { client: 0, slot: call }, Action::Answer { client: 0, slot: call }];
    let lost = [ACQUIRE, execute, answer, RELEASE, execute, Action::LoseReply { client: 0, slot: call }, Action::Tick];
    let again = [Action::Resend { client: 0, slot: call }, execute];
    let rest = "[network]\nmode = 'split'\n[protocol]\nresend = 'release'\n[faults]\nlose_reply = 1";
    let time = "answer_within = 1\nreceipt = 1";
    assert_eq!(last_answer(&recorded(time, rest, &[&lost, &again])), Reply::Released);
    let gone = [Action::ExpireReceipts { node: 0 }];
    assert_eq!(last_answer(&recorded(time, rest, &[&lost, &gone, &again])), Reply::NotHeld);
}
